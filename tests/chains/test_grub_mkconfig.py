"""GRUB without drop-ins: the lines at the end of /etc/default/grub, as grub-mkconfig reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg import initramfs
from rocmcfg.host.local import LocalHost
from rocmcfg.loaders import detection
from rocmcfg.loaders.grub_mkconfig import BACKEND
from rocmcfg.loaders.shared import appended_assignment
from rocmcfg.loaders.shared.menu import Role
from rocmcfg.model.facts import Detection
from tests.support.hosts import MKCONFIG, File, debian_grub_host, other_host, programs
from tests.support.program import rocmcfg
from tests.support.real_mkconfig import Mkconfig
from tests.support.settings import KARGS, SETTINGS
from tests.support.tools import require_tool, run

DEFAULTS = "etc/default/grub"
DEBIANS = MKCONFIG.text + "for x in ${sysconfdir}/default/grub.d/*.cfg ; do . $x; done\n"


def view(root: Path) -> LocalHost:
    return LocalHost(str(root))


def wanted(root: Path) -> bytes:
    content = BACKEND.propose(view(root), SETTINGS)["/etc/default/grub"]
    assert content is not None
    return content


def write(root: Path, content: bytes | None) -> None:
    place = root / DEFAULTS
    place.write_bytes(appended_assignment.put(place.read_bytes(), content)[0])


def without_drop_ins(tmp_path: Path, **more: str) -> tuple[Path, Mkconfig]:
    """Debian's tree, whose grub-mkconfig has no loop over /etc/default/grub.d."""
    root = debian_grub_host(tmp_path, **more)  # type: ignore[arg-type]
    mkconfig = Mkconfig(root, drop_ins=False)
    (root / "usr/sbin/grub-mkconfig").write_text(mkconfig.text)
    mkconfig.run()
    return root, mkconfig


def loader(root: Path) -> Detection | None:
    return detection.detect(view(root), initramfs.detect(view(root))).loader


# -- whose it is ---------------------------------------------------------------------------------------


def test_what_the_installed_grub_mkconfig_reads_tells_the_two_apart(tmp_path: Path) -> None:
    root, _ = without_drop_ins(tmp_path)
    found = loader(root)
    assert found is not None
    assert (found.name, found.supported) == ("grub-mkconfig", True)
    assert "/usr/sbin/grub-mkconfig" in found.evidence

    drop_ins = Mkconfig(debian_grub_host(tmp_path / "debian"))
    (root / "usr/sbin/grub-mkconfig").write_text(drop_ins.text)
    found = loader(root)
    assert found is not None
    assert (found.name, found.supported) == ("grub", True)


@pytest.mark.parametrize(
    ("extra", "name"),
    [
        ({"usr/bin/grub-mkconfig": "\x7fELF"}, "grub-mkconfig"),  # no script that would say what it reads
        ({"usr/bin/grub-mkconfig": "#!/bin/sh\n# reads ${sysconfdir}/default/grub\n"}, "grub-mkconfig"),
        ({"usr/bin/grub-mkconfig": DEBIANS}, "grub-mkconfig"),  # drop-ins, and no update-grub that runs it
        ({"boot/grub/grub.cfg": "insmod blscfg\nblscfg\n"}, "grub-mkconfig"),  # the entries are elsewhere
        (programs("usr/sbin/grubby"), None),
    ],
)
def test_what_is_not_clear_is_not_configured(
    tmp_path: Path, extra: dict[str, File], name: str | None
) -> None:
    found = loader(other_host(tmp_path, "arch-grub", extra=extra))
    assert (found.name if found else None) == name
    assert found is None or not found.supported


@pytest.mark.parametrize(
    ("chain", "argv"),
    [
        ("arch-grub", ("grub-mkconfig", "-o", "/boot/grub/grub.cfg")),
        ("gentoo-builtin", ("grub-mkconfig", "-o", "/boot/grub/grub.cfg")),
        ("opensuse-grub2", ("grub2-mkconfig", "-o", "/boot/grub2/grub.cfg")),
    ],
)
def test_the_program_and_its_menu_are_those_of_the_host(
    tmp_path: Path, chain: str, argv: tuple[str, ...]
) -> None:
    host = view(other_host(tmp_path, chain))
    (step,) = BACKEND.activations(host, "why")
    assert (step.argv, step.outputs, step.scratch) == (argv, argv[2:], (f"{argv[2]}.new",))
    assert [entry.role for entry in BACKEND.read(host).entries] == [Role.NORMAL]


# -- what it writes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["dash", "bash"])
@pytest.mark.parametrize("before", ["", "GRUB_CMDLINE_LINUX_DEFAULT=", "GRUB_CMDLINE_LINUX_DEFAULT='a b'\n"])
def test_the_line_keeps_what_the_variable_holds(tmp_path: Path, shell: str, before: str) -> None:
    (tmp_path / "grub").write_bytes(appended_assignment.put(before.encode(), wanted(tmp_path))[0])
    script = 'set -e; . "$1"; printf "<%s>" "$GRUB_CMDLINE_LINUX_DEFAULT"'
    result = run([require_tool(shell, package=shell), "-c", script, "sh", str(tmp_path / "grub")])
    assert (result.stderr, result.returncode) == ("", 0)
    assert result.stdout == f"<{'a b ' if 'a b' in before else ''}{' '.join(KARGS)}>"


# -- what others write behind it -----------------------------------------------------------------------


def test_what_others_add_behind_ours_is_told_apart(tmp_path: Path) -> None:
    root = other_host(tmp_path, "arch-grub")
    write(root, wanted(root))
    with (root / DEFAULTS).open("a") as stream:
        stream.write('GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.runpm=1"\n')
    found = BACKEND.observe(view(root))
    assert [(k.text, k.source) for k in found.later] == [("amdgpu.runpm=1", "/etc/default/grub:8")]
    assert [k.text for k in found.foreign] == ["loglevel=3", "quiet", "amdgpu.runpm=1"]
    assert [*BACKEND.preflight(view(root), found, KARGS)] == []


def test_what_would_take_our_lines_for_a_part_of_itself_is_refused(tmp_path: Path) -> None:
    root = other_host(tmp_path, "arch-grub")
    with (root / DEFAULTS).open("a") as stream:
        stream.write("FOO=a\\")
    found = rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes", "--json")
    assert (found.code, found.ids[0]) == (1, "RC3119")
    assert (root / DEFAULTS).read_text().endswith("FOO=a\\")


def test_a_copy_of_our_lines_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    root = other_host(tmp_path, "arch-grub")
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes").code == 0
    with (root / DEFAULTS).open("a") as stream:
        stream.writelines((root / DEFAULTS).read_text().splitlines(keepends=True)[-2:])
    before = (root / DEFAULTS).read_bytes()
    found = rocmcfg("apply", "--set", "amdgpu.runpm=1", "--root", root, "--yes", "--json")
    assert found.code == 1
    assert "RC4002" in found.ids
    assert (root / DEFAULTS).read_bytes() == before


def test_a_file_of_defaults_that_is_gone_is_asked_for(tmp_path: Path) -> None:
    root = other_host(tmp_path, "arch-grub")
    settings = ("--set", "amdgpu.runpm=0", "--root", root)
    assert rocmcfg("apply", *settings, "--yes").code == 0
    (root / DEFAULTS).unlink()
    assert "and /etc/default/grub is missing" in " ".join(rocmcfg("plan", *settings).err.split())
    said = rocmcfg("verify", "--root", root, "--json").document["diagnostics"]
    (gone,) = [d for d in said if d["id"] == "RC5001"]
    assert gone["hint"].startswith("restore it from its package or a copy; then `rocmcfg apply --root")
    (root / DEFAULTS).write_text("GRUB_TIMEOUT=1\n")
    assert rocmcfg("apply", *settings, "--yes").code == 0, "as both hints say"
    assert "amdgpu.runpm=0" in (root / DEFAULTS).read_text()


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        ('GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n', ["RC3105"]),
        ("GRUB_TIMEOUT=1\n", []),
        ("[ -e /etc/x ] && . /etc/x\n", ["RC3106"]),
    ],
)
def test_a_later_line_that_starts_anew_is_refused(tmp_path: Path, line: str, ids: list[str]) -> None:
    root = other_host(tmp_path, "arch-grub")
    write(root, wanted(root))
    with (root / DEFAULTS).open("a") as stream:
        stream.write(line)
    found = BACKEND.preflight(view(root), BACKEND.observe(view(root)), KARGS)
    assert [d.id for d in found] == ids
    write(root, None)
    assert "RC3105" not in [d.id for d in BACKEND.preflight(view(root), BACKEND.observe(view(root)), KARGS)]


@pytest.mark.parametrize("argument", ["iommu=pt;x", "iommu=pt|x"])
def test_what_grub_does_not_hand_on_is_no_later_lines_doing(tmp_path: Path, argument: str) -> None:
    """Two errors were told, and the second, which sent its reader to a line that is not there, was false."""
    root = other_host(tmp_path, "arch-grub")
    observed = BACKEND.observe(view(root))
    refused = BACKEND.refused(view(root), observed, [argument])
    assert [d.id for d in (*refused, *BACKEND.preflight(view(root), observed, [argument]))] == ["RC3108"]
