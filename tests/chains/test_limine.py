"""limine.conf, and the configuration of limine-entry-tool: what their readers see, and what is written."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import text_or_empty
from rocmcfg.loaders.limine import BACKEND, entry_tool, reader, trial
from rocmcfg.loaders.shared import entry_options, marked_arguments
from rocmcfg.loaders.shared.entry_options import Written
from rocmcfg.loaders.shared.menu import Entry, Role
from rocmcfg.model.kargs import join
from tests.support.growth import Work, grows_too_fast
from tests.support.hosts import File, make_root

OURS = marked_arguments.part("amdgpu.runpm=0")
SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
TREE = """
timeout: 3
/+Arch
comment: machine-id=abc
//linux
protocol: linux
path: boot():/vmlinuz-linux#00ff
module_path: boot(1):/a.img
module_path: guid(1-2):/b.img
cmdline: root=UUID=1 rw
//Snapshots
///yesterday
////linux
protocol: linux
path: boot():/old
cmdline: root=UUID=1 rw
/Windows
protocol: efi
path: boot():/EFI/Microsoft/Boot/bootmgfw.efi
"""


def read(tmp_path: Path, conf: str, **more: str) -> dict[str, Role]:
    root = make_root(tmp_path, {"boot/limine.conf": conf, **more})
    return {one.id: one.role for one in BACKEND.read(LocalHost(str(root))).entries}


def test_titles_options_and_comments_of_a_tree() -> None:
    found = list(reader.sections(TREE))
    assert [one.titles for one in found] == [
        ("Arch",),
        ("Arch", "linux"),
        ("Arch", "Snapshots"),
        ("Arch", "Snapshots", "yesterday"),
        ("Arch", "Snapshots", "yesterday", "linux"),
        ("Windows",),
    ]
    linux = found[1]
    assert (linux.kernel, linux.cmdline) == ("/vmlinuz-linux", "root=UUID=1 rw")
    assert linux.comments.split() == ["machine-id=abc"]
    assert linux.initrds == ("/a.img", "/b.img")
    assert found[5].comments.split() == []


def test_which_entries_are_this_system_s(tmp_path: Path) -> None:
    assert read(tmp_path, TREE) == {
        "Arch/linux": Role.NORMAL,
        "Arch/Snapshots/yesterday/linux": Role.SNAPSHOT,
        "Windows": Role.FOREIGN,
    }


@pytest.mark.parametrize(
    ("entry", "role"),
    [
        ("/a\nprotocol: linux\ncmdline: root=UUID=1", Role.NORMAL),
        ("/a\nPROTOCOL: EFI\nCmdLine:root=UUID=1", Role.NORMAL),
        ("/a fallback\nprotocol: linux\ncmdline: root=UUID=1", Role.NORMAL),
        ("/a\nprotocol: linux\nmodule_path: boot():/linux-fallback.img\ncmdline: x", Role.NORMAL),
        ("/a\nprotocol: linux\ncmdline: root=UUID=1 single", Role.RECOVERY),
        ("/a\nprotocol: linux\ncmdline: root=UUID=1 systemd.unit=emergency.target", Role.RECOVERY),
        ("/a\nprotocol: linux\ncmdline: root=UUID=2", Role.FOREIGN),
        ("/a\nprotocol: linux\ncmdline: root=/dev/sda9", Role.NORMAL),
        ("/a\nprotocol: linux\ncmdline: root=PARTUUID=9", Role.NORMAL),
        ("/a\nprotocol: linux\ncmdline: root=UUID=1 rootflags=subvol=@/.snapshots/7/snapshot", Role.SNAPSHOT),
        ("/a\nprotocol: linux", Role.FOREIGN),
        ("/a\nprotocol: limine\ncmdline: root=UUID=1", Role.FOREIGN),
        ("/a\nprotocol: linux\ncomment: machine-id=another\ncmdline: root=UUID=1", Role.FOREIGN),
        ("/a\nprotocol: linux\ncomment: machine-id=mine\ncmdline: root=UUID=1", Role.NORMAL),
    ],
)  # fmt: skip
def test_what_an_entry_is_for(tmp_path: Path, entry: str, role: Role) -> None:
    host = {"etc/fstab": "# /\nUUID=1 / ext4 rw 0 1\nUUID=2 /home ext4 rw 0 2\n", "etc/machine-id": "mine\n"}
    assert list(read(tmp_path, entry, **host).values()) == [role]


@pytest.mark.parametrize("lines", ["", "module_path: boot():/linux-fallback.img\n"])
def test_a_fallback_is_spare_beside_another_entry_of_its_kernel(tmp_path: Path, lines: str) -> None:
    usual = "/a\nprotocol: linux\npath: boot():/linux\nmodule_path: boot():/linux.img\ncmdline: x\n"
    name = "b" if lines else "b (Fallback)"
    spare = f"/{name}\nprotocol: linux\npath: boot():/linux\n{lines}cmdline: x\n"
    alone = "/c\nprotocol: linux\npath: boot():/lts\nmodule_path: boot():/lts-fallback.img\ncmdline: x\n"
    found = read(tmp_path, usual + spare + alone)
    assert found == {"a": Role.NORMAL, name: Role.RECOVERY, "c": Role.NORMAL}


def test_the_running_root_counts_beside_that_of_fstab(tmp_path: Path) -> None:
    conf = "/a\nprotocol: linux\ncmdline: root=UUID=1\n/b\nprotocol: linux\ncmdline: root=UUID=2\n"
    found = read(tmp_path, conf, **{"etc/fstab": "UUID=3 / ext4 rw\n", "proc/cmdline": "root=UUID=2 ro\n"})
    assert found == {"a": Role.FOREIGN, "b": Role.NORMAL}


def test_the_first_line_counts_and_kernel_cmdline_wins() -> None:
    text = "/a\nprotocol: linux\ncmdline: one\nkernel_cmdline: two\nkernel_cmdline: three"
    (section,) = reader.sections(text)
    assert (section.cmdline, text[section.start : section.end]) == ("two", "kernel_cmdline: two")


def test_macros_stand_for_their_text_and_lines_keep_their_number() -> None:
    text = "${A}=root=UUID=1\n/${B}x\n  cmdline: ${A} ${UNKNOWN}quiet\n${B}=y\n"
    (section,) = reader.sections(text)
    assert (section.titles, section.cmdline) == (("yx",), "root=UUID=1 quiet")
    assert text[section.start : section.end] == "  cmdline: ${A} ${UNKNOWN}quiet"


@pytest.mark.parametrize(
    ("program", "firmware", "said"),
    [
        ("BOOTX64.EFI", "", "x86-64 UEFI"),
        ("limine_aa64.efi", "", "aarch64 UEFI"),
        ("limine-bios.sys", "sys/firmware/acpi/tables/x", "x86-64 BIOS"),
    ],
)
def test_limine_defines_two_macros_itself(tmp_path: Path, program: str, firmware: str, said: str) -> None:
    text = "/a\nprotocol: linux\ncmdline: ${ARCH} ${FW_TYPE}\n"
    files = {
        "boot/limine.conf": text,
        f"boot/EFI/limine/{program}": "",
        **({firmware: ""} if firmware else {}),
    }
    host = LocalHost(str(make_root(tmp_path, files)))
    assert [one.cmdline for one, _ in reader.judged(host)] == [said]


def with_arguments(content: bytes, ours: bytes | None, role: Role) -> bytes:
    """Every entry of a limine.conf, taken for one of this role."""

    def written(text: str) -> Iterator[Written]:
        for one in reader.sections(text):
            yield Written(Entry("", "", "", "", (), (), role), one.start, one.end)

    return entry_options.rewritten(content, written, ours, (Role.SNAPSHOT,))


def test_our_part_comes_and_goes_without_a_trace() -> None:
    chance = random.Random(1)
    words = (
        "/a",
        "//b",
        "///c",
        "cmdline: x y",
        "KERNEL_CMDLINE:z",
        "# cmdline: n",
        "",
        "${M}=1",
        "protocol: linux ",
    )
    for _ in range(300):
        end = chance.choice(("\n", "\r\n"))
        lines = [chance.choice(("", "  ", "\t")) + chance.choice(words) for _ in range(chance.randrange(12))]
        content = (end.join(lines) + chance.choice(("", end))).encode()
        with_ours = with_arguments(content, OURS, Role.NORMAL)
        ready = [one for one in reader.sections(content.decode()) if one.start >= 0]
        assert with_ours.count(OURS.strip()) == len(ready)
        assert with_arguments(with_ours, OURS, Role.NORMAL) == with_ours
        assert with_arguments(with_ours, None, Role.SNAPSHOT) == with_ours
        assert with_arguments(with_ours, OURS, Role.FOREIGN) == content


def test_many_entries_take_linear_time() -> None:
    def work(count: int) -> Work:
        text = "".join(f"//linux-{n}\nprotocol: linux\ncmdline: root=UUID=1\n" for n in range(count))
        return lambda: with_arguments(text.encode(), OURS, Role.NORMAL)

    assert not grows_too_fast(work, 1 << 16)


def tool(tmp_path: Path, **files: str) -> LocalHost:
    return LocalHost(str(make_root(tmp_path, {"usr/bin/limine-entry-tool": "", **files})))


def test_the_last_layer_of_the_tool_wins(tmp_path: Path) -> None:
    view = tool(
        tmp_path,
        **{
            "usr/share/limine-entry-tool.d/00.conf": "KERNEL_CMDLINE[default]=one\nKERNEL_CMDLINE[a]='x'",
            "etc/limine-entry-tool.conf": '#KERNEL_CMDLINE[a]=no\n  KERNEL_CMDLINE["default"] += "two" \n',
            "etc/limine-entry-tool.d/b.conf": 'KERNEL_CMDLINE[default]+=" three"\n',
            "etc/limine-entry-tool.d/a.conf": 'KERNEL_CMDLINE[default]+=" four"\nKERNEL_CMDLINE[a]=y\n',
            "etc/default/limine": 'ESP_PATH="/boot"\nKERNEL_CMDLINE[fallback]=\n',
        },
    )
    found = {name: join(kargs) for name, kargs in entry_tool.lines(view).items()}
    assert found == {"default": "one two four three", "a": "y", "fallback": ""}
    assert entry_tool.edits_defaults(view, ["fallback"])
    assert not entry_tool.edits_defaults(view, ["default", "a"])


def test_our_own_lines_say_nothing_of_what_others_want(tmp_path: Path) -> None:
    ours = entry_tool.appended(["default"], OURS).decode()
    view = tool(tmp_path, **{"etc/default/limine": ours, "etc/limine-entry-tool.d/zz-rocmcfg.conf": ours})
    assert entry_tool.lines(view, without_ours=True) == {}
    assert not entry_tool.edits_defaults(view, ["default"])


def image(*sections: bytes) -> bytes:
    """The headers of a PE file, as far as they are read."""
    head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64)
    optional = struct.pack("<H110x", 0x20B)
    coff = b"PE\0\0" + struct.pack("<2H3I2H", 0x8664, len(sections), 0, 0, 0, len(optional), 0)
    return head + coff + optional + b"".join(struct.pack("<8s32x", name) for name in sections)


@pytest.mark.parametrize(
    ("content", "enforced", "refused"),
    [
        (image(b".linux", b".cmdline"), 1, True),
        (image(b".linux"), 1, False),  # as limine-mkinitcpio builds them where sbctl and Snapper are there
        (image(b".linux", b".cmdline"), 0, False),
        (b"damaged", 1, True),
        (None, 1, True),
    ],
)
def test_under_secure_boot_an_image_must_hold_no_arguments(
    tmp_path: Path, content: bytes | None, enforced: int, refused: bool
) -> None:
    files: dict[str, File] = {
        "efi/limine.conf": "/a\nprotocol: efi\npath: boot():/EFI/Linux/a.efi\ncmdline: root=UUID=1\n",
        SECURE_BOOT: bytes([6, 0, 0, 0, enforced]),
    }
    if content is not None:
        files["efi/EFI/Linux/a.efi"] = content
    view = LocalHost(str(make_root(tmp_path, files)))
    problems = BACKEND.preflight(view, BACKEND.observe(view), ["iommu=pt"])
    assert [one.id for one in problems] == ["RC3124"] * refused


@pytest.mark.parametrize(
    ("program", "digits", "refused"),
    [
        ("limine/limine_x64.efi", b"0" * 128, False),
        ("limine/limine_x64.efi", b"0" * 127 + b"5", True),
        ("BOOT/grubx64.efi", b"5a" * 64, True),  # a copy behind shim
        ("Microsoft/bootmgfw.efi", b"5a" * 64, False),
    ],
)
def test_an_enrolled_checksum_is_found_in_limine_itself(
    tmp_path: Path, program: str, digits: bytes, refused: bool
) -> None:
    files: dict[str, File] = {
        "boot/limine.conf": "/a\nprotocol: linux\npath: boot():/a\ncmdline: root=UUID=1\n",
        f"boot/EFI/{program}": b"MZ ++CONFIG_B2SUM_SIGNATURE++" + digits + b" and more",
    }
    view = LocalHost(str(make_root(tmp_path, files)))
    problems = BACKEND.preflight(view, BACKEND.observe(view), ["iommu=pt"])
    assert [one.id for one in problems] == ["RC3123"] * refused


def test_an_entry_below_nothing_is_in_no_menu() -> None:
    text = "//a\ncmdline: x\n/b\n//c\ncmdline: y\n/d\n///e\ncmdline: z\n"
    assert [one.titles for one in reader.sections(text)] == [("b",), ("b", "c"), ("d",)]


def test_the_snapshot_that_runs_is_no_snapshot_among_others(tmp_path: Path) -> None:
    flags = "root=UUID=1 rootflags=subvol=@/.snapshots/{}/snapshot"
    conf = "".join(f"/{n}\nprotocol: linux\ncmdline: {flags.format(n)}\n" for n in (1, 2))
    found = read(tmp_path, conf, **{"proc/cmdline": flags.format(2)})
    assert found == {"1": Role.SNAPSHOT, "2": Role.NORMAL}


PIECES = (
    *("/Arch\n", "/+Dir\n", "  //linux\n", "///deep\n", "/a\\/b #1\n", "//x", "/_-rocmcfg-trial.conf\n"),
    *(
        "    protocol: linux\n",
        "    path: boot():/vmlinuz\r\n",
        "    cmdline: root=x quiet\n",
        "cmdline: ${X} c\n",
    ),
    *("${X}=a b\n", "# c\n", "\n", "  \t\n", "comment: machine-id=1\n", "\udcff\udcfe\n", "timeout: 5\n"),
)


@pytest.mark.parametrize("seed", range(8))
def test_the_entry_of_a_trial_comes_and_goes_without_a_trace(tmp_path: Path, seed: int) -> None:
    """Whatever stands in the file: no line of others changes, and it ends as it did."""
    chance, root, copy = random.Random(seed), tmp_path, tmp_path / trial.COPY.strip("/")
    copy.parent.mkdir(parents=True)
    view = LocalHost(str(root))
    for _ in range(150):
        text = "".join(chance.choice(PIECES) for _ in range(chance.randrange(9)))
        before = text[: len(text) - chance.randrange(2)].encode("utf-8", "surrogateescape")
        copy.unlink(missing_ok=True)
        without = trial.with_copy(before, text_or_empty(view, trial.COPY), bytes)
        assert without == before or b"/_-rocmcfg-trial.conf" in before
        copy.write_text(f"# ours\n/{reader.TRIAL}\n    protocol: linux\n    cmdline: root=x\n")
        tried = trial.with_copy(before, text_or_empty(view, trial.COPY), bytes)
        assert tried.startswith(without)
        assert trial.with_copy(tried, text_or_empty(view, trial.COPY), bytes) == tried
        found = [
            one for one in reader.sections(tried.decode("utf-8", "replace")) if one.titles == (reader.TRIAL,)
        ]
        assert [one.cmdline for one in found] == ["root=x"]
        copy.unlink()
        assert trial.with_copy(tried, text_or_empty(view, trial.COPY), bytes) == without
