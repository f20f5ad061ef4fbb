"""refind_linux.conf: which rows rEFInd sees, and what is written."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.refind import BACKEND, unread
from rocmcfg.loaders.shared import entry_options, marked_arguments
from rocmcfg.loaders.shared.entry_options import Written
from rocmcfg.loaders.shared.menu import Entry, Role
from rocmcfg.model.kargs import join
from tests.support.hosts import File, make_root

OURS = marked_arguments.part('amdgpu.runpm=0 dyndbg="file amdgpu* +p"')


def entries(text: str) -> list[Entry]:
    found = [one.entry for one in BACKEND.written(LocalHost("/nonexistent"), "", text)]
    return [entry for entry in found if entry is not None]


def with_arguments(content: bytes, ours: bytes | None, role: Role = Role.NORMAL) -> bytes:
    """Every row, taken for one of this role."""

    def written(text: str) -> Iterator[Written]:
        for one in BACKEND.written(LocalHost("/nonexistent"), "", text):
            yield one._replace(entry=Entry("", "", "", "", (), (), role))

    return entry_options.rewritten(content, written, ours, ())


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ('"a"  "b c"', ("a", "b c")),
        ('  a\t"b"  # c', ("a", "b")),
        ('"say ""a"""="x=""1 2"""', ('say "a"', 'x="1 2"')),
        ('"a", "b"\r', ("a", "b")),
        ('"a" ""', ("a", "")),
    ],
)
def test_a_row_is_a_title_and_the_arguments(line: str, row: tuple[str, str]) -> None:
    (found,) = entries(line)
    assert (found.title, join(found.kargs)) == row
    assert not list(unread(line))


@pytest.mark.parametrize("line", ['"a" b', '"a" "b', '"a"', "a b c", '"a" "b" "c"', '"a" "b" c'])
def test_what_is_no_row_is_told(line: str) -> None:
    assert not entries(line)
    assert list(unread(f"# a\n\n{line}\n")) == [3]


def test_our_part_comes_and_goes_without_a_trace() -> None:
    chance = random.Random(1)
    lines = ('"a" "b c"', '"a" "x=""y z"" "', 'a, ""', "", "# comment", '"broken', '"ü" "é"')
    for _ in range(300):
        end = chance.choice(("\n", "\r\n"))
        content = (
            end.join(chance.choice(lines) for _ in range(chance.randrange(8))) + chance.choice(("", end))
        ).encode()
        with_ours = with_arguments(content, OURS)
        found = entries(with_ours.decode())
        assert len(found) == len(entries(content.decode()))
        assert all(join(row.kargs).endswith(OURS.decode().strip()) for row in found)
        assert with_arguments(with_ours, OURS) == with_ours
        assert with_arguments(with_ours, OURS, Role.FOREIGN) == content


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    content = b'"a\xff" "b \xfe"\n'
    assert with_arguments(content, None) == content
    assert with_arguments(content, b" x") == b'"a\xff" "b \xfe x"\n'


@pytest.mark.parametrize(
    ("conf", "titles"),
    [
        ('menuentry "Arch" {\n loader /boot/vmlinuz-linux\n options "root=/dev/sda2"\n}\n', []),
        ("menuentry Arch {\n loader /boot/vmlinuz-linux\n options root=/dev/sda2 rw\n}\n", ["Arch"]),
        ("menuentry Arch {\n  loader \\linux\\bzImage.efi\n}\n", ["Arch"]),
        ('menuentry "Arch" {\n loader /boot/vmlinuz\n disabled\n}\n', []),
        ('#menuentry "Arch" {\n#  loader /boot/vmlinuz\n#}\n', []),
        ('menuentry "Windows" {\n  loader \\EFI\\Microsoft\\Boot\\bootmgfw.efi\n}\n', []),
        ('menuentry "open" {\n  loader /vmlinuz\n', ["open"]),
    ],
)
def test_stanzas_that_cannot_be_written_are_reported(tmp_path: Path, conf: str, titles: list[str]) -> None:
    root = make_root(tmp_path, {"efi/EFI/refind/refind.conf": conf})
    found = [*BACKEND.unmanaged(LocalHost(str(root)))]
    assert [one.id for one in found] == ["RC3127"] * bool(titles)
    assert all(title in found[0].summary for title in titles)


CONF = """timeout 3
scanfor manual
include themes/dark.conf
menuentry "Arch" { # mine
    volume "BOOT"
    options "forgotten by loader"
    LOADER /vmlinuz-linux
    initrd = /initramfs-linux.img
    options "root=UUID=1 rw title=""A B"" "
    submenuentry "Fallback initramfs" {
        initrd /initramfs-linux-fallback.img
    }
    submenuentry "Terminal" {
        add_options "systemd.unit=multi-user.target"
    }
    submenuentry "Repair" {
        options "root=UUID=1 single"
    }
    submenuentry "Gone" {
        options "root=UUID=1"
        disabled
    }
}
menuentry "Old" {
    loader /vmlinuz-old
    options "root=UUID=1"
    disabled
}
menuentry Windows {
    loader \\EFI\\Microsoft\\Boot\\bootmgfw.efi
}
menuentry "Other" {
    loader /vmlinuz-linux
    options "root=UUID=2"
}
"""


def test_stanzas_are_read_as_refind_reads_them(tmp_path: Path) -> None:
    files: dict[str, File] = {
        "efi/EFI/refind/refind.conf": CONF,
        "efi/EFI/refind/themes/dark.conf": 'menuentry "In" {\nloader /vmlinuz-b\noptions "root=UUID=1"\n}\n',
        "etc/fstab": "UUID=1 / ext4 rw 0 1\n",
    }
    host = LocalHost(str(make_root(tmp_path, files)))
    menu = BACKEND.read(host)
    assert {one.title: (join(one.kargs), one.role) for one in menu.entries} == {
        "Arch": ('root=UUID=1 rw title="A B"', Role.NORMAL),
        "Arch: Repair": ("root=UUID=1 single", Role.RECOVERY),
        "Other": ("root=UUID=2", Role.FOREIGN),
    }
    ((path, rewritten),) = BACKEND.rewrites(host, OURS)
    written = rewritten(CONF.encode()).decode()
    assert path == "/efi/EFI/refind/refind.conf"
    ours = OURS.decode().replace('"', '""')
    assert written == CONF.replace('title=""A B"" "', f'title=""A B""{ours} "')
    ((_, back),) = BACKEND.rewrites(host, None)
    assert back(written.encode()).decode() == CONF
    (warned,) = [one for one in BACKEND.remarks(host, menu) if one.id == "RC3185"]
    assert warned.summary.endswith("Arch: Fallback initramfs, Arch: Terminal")
    (left,) = BACKEND.unmanaged(host)
    assert (left.location, "In" in left.summary) == ("/efi/EFI/refind/themes/dark.conf:1", True)


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", False), (b"\x06\0\0\0\x02", False), (b"\x06\0\0\0\x02\0", True), (b"\x06\0\0\0\x03\0", False)],
)
def test_the_firmware_tells_which_program_it_started(tmp_path: Path, content: bytes, says: bool) -> None:
    guid = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
    started = b"\x07\0\0\0" + "\\EFI\\refind\\refind_x64.efi\0".encode("utf-16-le")
    root = make_root(
        tmp_path,
        {
            "boot/refind_linux.conf": '"a" "root=UUID=1"\n',
            f"sys/firmware/efi/efivars/BootCurrent-{guid}": content,
            f"sys/firmware/efi/efivars/Boot0002-{guid}": started,
        },
    )
    found = BACKEND.detect(LocalHost(str(root)))
    assert found is not None
    assert found.proof == says
