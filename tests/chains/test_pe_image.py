"""Sections of PE files by their offsets: what real programs make, and what nobody would."""

from __future__ import annotations

import io
import random
import struct
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unreadable
from rocmcfg.loaders.shared import pe_image
from tests.support.hosts.pe import pe, uki
from tests.support.tools import require_tool, run

RELEASE, OSREL = "6.17.9-arch1-1", "ID=arch\n"
_STUB = Path("/usr/lib/systemd/boot/efi/linuxx64.efi.stub")


def parse(content: bytes) -> pe_image.PeImage:
    return pe_image.parse(io.BytesIO(content))


def test_the_sections_of_an_image_are_read_by_their_offsets() -> None:
    content = uki("root=/dev/sda2 quiet", RELEASE, OSREL)
    found = parse(content)
    assert found.texts[".cmdline"] == "root=/dev/sda2 quiet"
    assert (found.texts[".uname"], found.texts[".osrel"]) == (RELEASE, OSREL)
    offset, size = found.sections[".initrd"]
    assert content[offset : offset + size] == b"an initramfs"
    assert not found.signed
    assert parse(uki("a=1", RELEASE, OSREL, signed=True)).signed


def test_a_line_ends_at_its_first_nul_and_the_first_section_of_a_name_counts() -> None:
    assert parse(pe({".cmdline": b"a=1\0b=2"})).texts == {".cmdline": "a=1"}
    twice = pe({".cmdline": b"base", ".profile": b"ID=second"})
    place = twice.index(b".profile")
    twice = twice[:place] + b".cmdline" + twice[place + 8 :]
    assert parse(twice).texts == {".cmdline": "base"}


def test_an_image_larger_than_what_is_read_whole_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.efi"
    content = bytearray(pe({".linux": b"k", ".cmdline": b"root=/dev/sda2"}))
    at = content.index(b".linux\0\0")
    size = 96 << 20
    struct.pack_into("<4I", content, at + 8, size, 0x1000, size, 0x1000)  # over what is a hole below
    with path.open("wb") as stream:
        stream.write(content)
        stream.truncate(0x1000 + size)
    found = pe_image.read(LocalHost(str(tmp_path)), "/large.efi")
    assert found is not None
    assert found.sections[".linux"][1] == size
    assert found.texts[".cmdline"] == "root=/dev/sda2"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "does not begin as a PE file"),
        (b"MZ placeholder\n", "does not begin as a PE file"),
        (b"MZ".ljust(60, b"\0") + b"\xff\xff\xff\xff", "has no PE header"),
        (b"MZ".ljust(60, b"\0") + struct.pack("<I", 64), "has no PE header"),
        (b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0" + bytes(20), "declares 0 sections"),
        (uki("a=1", RELEASE, OSREL)[:0x900], "ends at"),
        (uki("a=1", RELEASE, OSREL, signed=True)[:-4], "signatures end at"),
        (pe({".cmdline": b"x" * 70000}), "has 70000 bytes"),
    ],
)
def test_what_is_no_image_or_is_cut_off_is_named_as_such(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x.efi").write_bytes(content)
    with pytest.raises(Unreadable) as caught:
        pe_image.read(LocalHost(str(tmp_path)), "/x.efi")
    assert said in caught.value.reason
    assert "/x.efi" in caught.value.diagnostics[0].summary


def test_a_file_that_is_not_there_is_no_image(tmp_path: Path) -> None:
    assert pe_image.read(LocalHost(str(tmp_path)), "/x.efi") is None


def test_bytes_at_random_give_an_answer_and_no_traceback() -> None:
    rng = random.Random(3160)
    whole = uki("root=/dev/sda2 quiet", RELEASE, OSREL, signed=True)
    for _ in range(4000):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 6)):
            content[rng.randrange(0x300)] = rng.choice((0, 0xFF, rng.randrange(256)))
        cut = content[: rng.randrange(len(content))] if rng.random() < 0.3 else content
        try:
            found = parse(bytes(cut))
        except ValueError:
            continue
        assert all(len(text) <= pe_image.MOST_TEXT for text in found.texts.values())


def test_it_agrees_with_objdump_on_an_image_by_objcopy(tmp_path: Path) -> None:
    """As mkinitcpio without ukify, and dracut, put an image together: sections added by objcopy."""
    require_tool(str(_STUB), package="systemd-boot-efi")
    objcopy, objdump = (require_tool(name, package="binutils") for name in ("objcopy", "objdump"))
    added: list[str] = []
    texts = {
        ".osrel": OSREL,
        ".cmdline": "root=/dev/sda2 quiet\n\0",
        ".linux": "kernel",
        ".initrd": "initramfs",
    }
    for n, (name, text) in enumerate(texts.items()):
        (tmp_path / name).write_text(text)
        added += ["--add-section", f"{name}={tmp_path / name}"]
        added += ["--change-section-vma", f"{name}={0x150000000 + 0x100000 * n:#x}"]
    image = tmp_path / "x.efi"
    assert run([objcopy, *added, str(_STUB), str(image)]).returncode == 0
    found = pe_image.read(LocalHost(str(tmp_path)), "/x.efi")
    assert found is not None
    lines = [line.split() for line in run([objdump, "-h", str(image)]).stdout.splitlines()]
    listed = {
        words[1]: (int(words[5], 16), int(words[2], 16))
        for words in lines
        if len(words) == 7 and words[0].isdigit()
    }
    assert found.sections == listed
    assert found.texts[".cmdline"] == "root=/dev/sda2 quiet\n"
    assert "systemd-stub" in found.texts[".sdmagic"]
