"""Our part of somebody else's command line: found again, and taken out without touching more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.loaders.shared import marked_arguments
from rocmcfg.loaders.shared.loader_entries import with_arguments

WORDS = st.sampled_from(
    ["root=UUID=x", "quiet", 'dyndbg="file a +p"', "rocmcfg.beginning=1", "a.rocmcfg.end", "--"]
)
LINES = st.lists(WORDS, max_size=4).map(" ".join)
FILES = st.tuples(LINES, st.sampled_from(["", "\n", "\nsecond line\n", " \n"])).map("".join).map(str.encode)
OURS = st.lists(st.sampled_from(["amdgpu.runpm=0", "iommu=pt", "x"]), min_size=1, max_size=3).map(" ".join)


@given(content=FILES, ours=OURS)
def test_what_is_put_is_found_and_its_undo_gives_the_file_back(content: bytes, ours: str) -> None:
    part = marked_arguments.part(ours)
    after, edit = marked_arguments.put(content, part)
    assert marked_arguments.own(after) == part
    assert marked_arguments.around(after.decode())[1].split() == ours.split()
    assert edit.undone(after) == content
    assert edit.undone(content) == content, "done twice it does nothing more"
    without, gone = marked_arguments.put(after, None)
    assert without == content
    assert gone.undone(without) == after, "the undo of a removal puts it back into the line"


@given(content=FILES, ours=OURS, more=st.sampled_from(["user=1", 'a="b c"']), before=st.booleans())
def test_an_edit_beside_ours_survives_the_undo(content: bytes, ours: str, more: str, before: bool) -> None:
    part = marked_arguments.part(ours)
    after, edit = marked_arguments.put(content, part)
    place = after.index(part) if before else after.index(part) + len(part)
    edited = after[:place] + f" {more}".encode() + after[place:]
    left = edit.undone(edited)
    assert left is not None
    assert left == edited.replace(part, b"")


def test_altered_by_others_it_is_not_taken_out() -> None:
    content = b"root=x\n"
    after, edit = marked_arguments.put(content, marked_arguments.part("amdgpu.runpm=0"))
    assert edit.undone(after.replace(b"runpm=0", b"runpm=1")) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("title A\noptions root=x  quiet \nlinux /l\n", "title A\noptions root=x  quiet OURS \nlinux /l\n"),
        ("options a\noptions b", "options a\noptions b OURS"),
        ("options a\r\nlinux /l\r\n", "options a OURS\r\nlinux /l\r\n"),
        ("title none\nefi /shell.efi\n", "title none\nefi /shell.efi\n"),
        ("\toptions\troot=x\n", "\toptions\troot=x OURS\n"),
        ("# options root=x\noptions y\n", "# options root=x\noptions y OURS\n"),
    ],
)
def test_an_entry_gets_our_part_on_its_last_line_of_options(before: str, after: str) -> None:
    part = marked_arguments.part("amdgpu.runpm=0")
    made = with_arguments(before.encode(), part)
    assert made.decode() == after.replace(" OURS", part.decode())
    assert with_arguments(made, part) == made
    assert with_arguments(made, None) == before.encode()
