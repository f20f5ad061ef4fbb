"""An edit of somebody else's file: taken back byte for byte, whatever others wrote beside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.loaders.shared import appended_assignment, marked_arguments
from rocmcfg.model.edit import Edit

FOREIGN = st.lists(st.sampled_from([b"A=1", b"", b"# c", b'B="x y"', b"\xff\x00"]), max_size=4).map(
    b"\n".join
)
OURS, OTHER = appended_assignment.lines("X", "a=1"), appended_assignment.lines("X", "b=2 c=3")


@given(FOREIGN)
def test_what_is_put_in_comes_out_again_byte_for_byte(content: bytes) -> None:
    written, edit = appended_assignment.put(content, OURS)
    assert appended_assignment.own(written) == OURS
    assert edit.undone(written) == content
    assert appended_assignment.put(written, OURS)[0] == written


@given(FOREIGN, FOREIGN, st.booleans())
def test_what_others_write_since_stays(before: bytes, after: bytes, ends: bool) -> None:
    content = before + b"\n" * ends
    written, edit = appended_assignment.put(content, OURS)
    left = edit.undone(b"FIRST=1\n" + written + after)
    expected = b"FIRST=1\n" + content
    if after and not expected.endswith(b"\n"):
        expected += b"\n"
    assert left == expected + after


@given(FOREIGN, FOREIGN)
def test_a_second_edit_is_taken_back_to_the_first_and_that_one_too(before: bytes, after: bytes) -> None:
    first, one = appended_assignment.put(before, OURS)
    second, two = appended_assignment.put(first + after, OTHER)
    assert appended_assignment.own(second) == OTHER
    assert two.undone(second) == first + after
    gone, three = appended_assignment.put(second, None)
    assert appended_assignment.own(gone) is None
    again = three.undone(gone)
    assert again is not None
    assert appended_assignment.own(again) == OTHER
    assert one.undone(first) == before


@pytest.mark.parametrize(
    "altered",
    [
        OURS.replace(b"a=1", b"a=2"),
        OURS.replace(b"# Written", b"# written"),
        OURS.split(b"\n")[0] + b"\n",
        OURS.split(b"\n")[1] + b"\n",
        b"#" + OURS,
        OURS + OURS,
        OURS.replace(b"\n", b"\r\n"),
        OURS.removesuffix(b"\n") + b" # mine\n",
        OURS.replace(b"\n", b"\nY=1\n", 1),
    ],
)
def test_ours_that_others_altered_is_not_touched(altered: bytes) -> None:
    _, edit = appended_assignment.put(b"A=1\n", OURS)
    assert edit.undone(b"A=1\n" + altered + b"B=2\n") is None


def test_ours_that_others_took_out_is_gone_already() -> None:
    assert Edit(b"", OURS).undone(b"A=1\n") == b"A=1\n"
    assert Edit(OTHER, OURS).undone(b"A=1") == b"A=1\n" + OTHER  # the older lines are in force again
    assert Edit(OTHER, OURS).undone(b"A=1\n" + OTHER) == b"A=1\n" + OTHER


@given(FOREIGN, FOREIGN)
def test_every_copy_of_ours_is_ours_and_one_takes_their_place(between: bytes, after: bytes) -> None:
    content = b"A=1\n" + OURS + between + b"\n" + OURS + after
    assert appended_assignment.own(content) == OURS + OURS, "not as it was left"
    written, edit = appended_assignment.put(content, OTHER)
    assert written == b"A=1\n" + OTHER + between + b"\n" + after
    assert edit.undone(written) == content


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        ("A=a\\", True),
        ("A=a\\\n", True),
        ("A=a\\\\\n", False),
        ("A=a # x\\\n", False),
        ("A=a\\\n\n", False),
        ("", False),
    ],
)
def test_a_line_that_takes_the_next_for_a_part_of_itself(text: str, goes_on: bool) -> None:
    assert bool([*appended_assignment.continued(text, "/f")]) is goes_on


def test_the_lines_around_ours_keep_their_numbers() -> None:
    text = "A=1\n" + OURS.decode() + "B=2\nC=3"
    before, ours, after = appended_assignment.around(text)
    assert (before, ours.count("\n"), after.splitlines()[3:]) == ("A=1\n", 3, ["B=2", "C=3"])
    assert appended_assignment.blanked(text).splitlines() == ["A=1", "", "", "B=2", "C=3"]
    assert appended_assignment.around("A=1\n") == ("A=1\n", "", "")


def test_a_line_of_others_behind_our_comment_alone_is_not_ours() -> None:
    comment, _ = OURS.split(b"\n", 1)
    content = comment + b"\nMINE=1\n"
    assert appended_assignment.own(content) == comment + b"\n"
    assert appended_assignment.put(content, OTHER)[0] == OTHER + b"MINE=1\n"


@pytest.mark.parametrize("torn", [b"root=x a=1 rocmcfg.end\n", b"root=x rocmcfg.begin a=1\n"])
def test_a_part_that_lost_one_of_its_marks_is_altered_and_not_gone(torn: bytes) -> None:
    assert Edit(b"", b" rocmcfg.begin a=1 rocmcfg.end").undone(torn) is None
    assert marked_arguments.own(torn)
    assert marked_arguments.at_end(torn, None) == torn
