"""GRUB on Debian: the drop-in as grub-mkconfig sources it, and the menu that it generates."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unreadable
from rocmcfg.loaders.grub import BACKEND as GRUB
from rocmcfg.loaders.shared.grub_files.mkconfig import parse_entries
from rocmcfg.loaders.shared.menu import Role, check
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.kargs import Karg
from tests.support.hosts import debian_grub_cfg, debian_grub_host, make_root
from tests.support.settings import KARGS, SETTINGS, parameter
from tests.support.tools import require_tool, run

SAMPLE = Path(__file__).parents[2] / "docs" / "demo" / "sample-host"
DROP_IN = "zz-rocmcfg.cfg"


def view(root: Path) -> LocalHost:
    return LocalHost(str(root))


def texts(kargs: Sequence[Karg]) -> list[str]:
    return [k.text for k in kargs]


def write_drop_in(root: Path, content: bytes) -> None:
    path = root / "etc/default/grub.d" / DROP_IN
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


def proposed(settings: Sequence[DesiredSetting]) -> Mapping[str, bytes | None]:
    return GRUB.propose(view(Path("/nonexistent")), settings)


def drop_in(settings: Sequence[DesiredSetting] = SETTINGS) -> bytes:
    content = proposed(settings)[next(iter(GRUB.OWNED))]
    assert content is not None
    return content


@pytest.mark.parametrize("shell", ["dash", "bash"])
@pytest.mark.parametrize("before", ["", "quiet splash"])
def test_the_drop_in_appends_and_survives_set_e(tmp_path: Path, shell: str, before: str) -> None:
    (tmp_path / "drop-in").write_bytes(drop_in())
    script = (
        f'set -e; GRUB_CMDLINE_LINUX_DEFAULT="{before}"; . "$1"; printf "<%s>" "$GRUB_CMDLINE_LINUX_DEFAULT"'
    )
    result = run([require_tool(shell, package=shell), "-c", script, "sh", str(tmp_path / "drop-in")])
    assert (result.stderr, result.returncode) == ("", 0)
    assert result.stdout == f"<{before} {' '.join(KARGS)}>"


def test_the_menu_of_an_ubuntu_host_is_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(SAMPLE, root, symlinks=True)
    found = GRUB.observe(view(root))
    assert [e.role.value for e in found.menu.entries] == [
        *("normal", "normal", "recovery", "normal", "recovery"),
        *("foreign", "foreign"),  # memory tests
    ]
    assert {(e.release, e.initrds) for e in found.menu.normal} == {
        (release, (f"/boot/initrd.img-{release}",)) for release in ("6.14.0-37-generic", "6.8.0-90-generic")
    }
    assert {e.path for e in found.menu.normal} == {
        "/boot/vmlinuz-6.14.0-37-generic",
        "/boot/vmlinuz-6.8.0-90-generic",
    }
    assert not found.unknown_at
    assert not found.menu.unreadable


@pytest.mark.parametrize(
    ("line", "kargs"),
    [
        ("ro a=\\\n1 quiet", ["ro", "a=1", "quiet"]),
        ("ro quiet \\\n  a=1", ["ro", "quiet", "a=1"]),
        ("ro 'a=1\n' quiet", ["ro", "a=1", "quiet"]),
        ("ro ; echo x", ["ro"]),
        ("ro # quiet", ["ro"]),
    ],
)
def test_a_line_of_a_menu_is_a_command_of_grub(line: str, kargs: list[str]) -> None:
    text = f"menuentry x {{\n\tlinux /vmlinuz {line}\n\tinitrd /initrd.img\n}}\n"
    (entry,) = parse_entries(text, "/boot/grub/grub.cfg", "/etc/grub.d/40_custom")
    assert texts(entry.kargs) == kargs
    assert (entry.path, entry.initrds) == ("/vmlinuz", ("/initrd.img",))


@pytest.mark.parametrize("odd", ["a='1", 'a="1', "a={1}", "a=1}", "a=1&", "a=1|2", "a=1<2"])
def test_a_menu_of_which_grub_reads_nothing_is_not_read(tmp_path: Path, odd: str) -> None:
    text = debian_grub_cfg(["6.12.107+deb13-amd64"]).replace(" quiet", f" {odd} quiet", 1)
    read = GRUB.read(menu(tmp_path, text))
    assert "GRUB reads nothing of the menu" in read.unreadable
    assert not read.entries
    by_hand = text.replace("10_linux", "40_custom")
    assert [*GRUB.unmanaged(menu(tmp_path / "by-hand", by_hand))] == []


def test_a_variable_of_grub_in_the_defaults_is_named_and_no_value(tmp_path: Path) -> None:
    default = "\nGRUB_CMDLINE_LINUX_DEFAULT='quiet amdgpu.runpm=${y}0'\n"
    host = view(debian_grub_host(tmp_path, cmdline="quiet amdgpu.runpm=${y}0", grub_default=default))
    observed = GRUB.observe(host)
    assert [(karg.text, karg.value) for karg in observed.foreign if karg.untold] == [
        ("amdgpu.runpm=${y}0", None)
    ]
    (said,) = GRUB.preflight(host, observed, ())
    assert (said.id, said.location) == ("RC3186", "/etc/default/grub:2")


# -- observe ---------------------------------------------------------------------------------------------


def test_who_wrote_an_argument_is_known_by_file_and_line(tmp_path: Path) -> None:
    root = debian_grub_host(
        tmp_path,
        grub_default='\nGRUB_CMDLINE_LINUX="root=/dev/a"\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\n',
        grub_d={
            "50-cloud.cfg": 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT console=ttyS0"\n',
            "ignored.conf": "GRUB_CMDLINE_LINUX_DEFAULT=ignored\n",
            ".hidden.cfg": "GRUB_CMDLINE_LINUX_DEFAULT=hidden\n",
        },
    )
    assert [(k.text, k.source) for k in GRUB.observe(view(root)).foreign] == [
        ("root=/dev/a", "/etc/default/grub:2"),
        ("quiet", "/etc/default/grub:3"),
        ("console=ttyS0", "/etc/default/grub.d/50-cloud.cfg:1"),
    ]


def test_an_argument_of_a_drop_in_after_ours_is_told_apart(tmp_path: Path) -> None:
    late = 'GRUB_CMDLINE_LINUX_DEFAULT="${GRUB_CMDLINE_LINUX_DEFAULT} amdgpu.runpm=1"\n'
    root = debian_grub_host(tmp_path, grub_d={"zzz.cfg": late, DROP_IN: drop_in().decode()})
    found = GRUB.observe(view(root))
    assert texts(found.later) == ["amdgpu.runpm=1"]
    assert texts(found.foreign) == ["quiet", "amdgpu.runpm=1"]
    assert texts(found.ours) == list(KARGS)


def test_defaults_that_need_a_shell_are_read_from_the_menu_instead(tmp_path: Path) -> None:
    root = debian_grub_host(
        tmp_path,
        cmdline="quiet amdgpu.runpm=0",
        grub_default="\nGRUB_CMDLINE_LINUX_DEFAULT=$(cat /etc/args)\n",
    )
    write_drop_in(root, drop_in([parameter("amdgpu.runpm", "0")]))
    found = GRUB.observe(view(root))
    assert found.unknown_at
    assert found.unknown_at == "/etc/default/grub:2"
    assert "quiet" in texts(found.foreign)
    assert "amdgpu.runpm=0" not in texts(found.foreign)
    assert [d.id for d in GRUB.preflight(view(root), found, ())] == ["RC3106"]


def test_files_that_cannot_be_read_are_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = debian_grub_host(tmp_path)
    (root / "boot/grub/grub.cfg").unlink()
    assert "no such file" in GRUB.observe(view(root)).menu.unreadable
    assert [d.id for d in check(GRUB.read(view(root)), (), ())] == ["RC3101"]

    def refuse(self: LocalHost, path: str) -> bytes | None:
        raise Unreadable(path, "Permission denied")

    monkeypatch.setattr(LocalHost, "read", refuse)
    found = GRUB.observe(view(root))
    assert (found.menu.unreadable, found.foreign, found.menu.entries) == ("Permission denied", (), ())


# -- preflight -------------------------------------------------------------------------------------------


def test_a_command_line_that_a_kernel_would_cut_off_is_refused(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, cmdline="quiet " + "x" * 1800)
    found = GRUB.observe(view(root))
    entry = max(found.menu.normal, key=lambda e: len(" ".join(texts(e.kargs))))
    line = f"BOOT_IMAGE={entry.path} " + " ".join(texts(entry.kargs))
    room = 2047 - len(line) - 1
    assert [*GRUB.preflight(view(root), found, ["y" * room])] == []
    assert [d.id for d in GRUB.preflight(view(root), found, ["y" * (room + 1)])] == ["RC3104"]


def test_a_later_drop_in_that_starts_anew_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for number, (text, bad) in enumerate(
        {
            'GRUB_CMDLINE_LINUX_DEFAULT="console=ttyS0"\n': True,
            " export GRUB_CMDLINE_LINUX_DEFAULT=\n": True,
            'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT a"\n': False,
            'GRUB_CMDLINE_LINUX_DEFAULT="a ${GRUB_CMDLINE_LINUX_DEFAULT}"\n': False,
            "# GRUB_CMDLINE_LINUX_DEFAULT=a\nGRUB_TIMEOUT=1\n": False,
        }.items()
    ):
        root = debian_grub_host(tmp_path, grub_d={"zzz.cfg": text, "00.cfg": text}, name=str(number))
        found = GRUB.preflight(view(root), GRUB.observe(view(root)), KARGS)
        assert [(d.id, d.location) for d in found] == [("RC3105", "/etc/default/grub.d/zzz.cfg")] * bad


# -- check -----------------------------------------------------------------------------------------------


def menu(tmp_path: Path, text: str) -> LocalHost:
    return view(make_root(tmp_path, {"boot/grub/grub.cfg": text}))


def test_every_entry_is_looked_at_and_not_only_the_first(tmp_path: Path) -> None:
    text = debian_grub_cfg(["6.1.0-1-amd64", "6.12.107+deb13-amd64"], default="quiet amdgpu.runpm=0")
    older = "linux\t/boot/vmlinuz-6.1.0-1-amd64 root=UUID=3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3 ro  quiet"
    assert older in text
    broken = menu(tmp_path, text.replace(f"{older} amdgpu.runpm=0", older))
    (problem,) = check(GRUB.read(broken), ["amdgpu.runpm=0"], [])
    assert "with Linux 6.1.0-1-amd64” is missing amdgpu.runpm=0" in problem.summary
    (left,) = [
        p for p in check(GRUB.read(broken), [], ["amdgpu.runpm=0"]) if "Debian GNU/Linux”" in p.summary
    ]
    assert "still has" in left.summary


@pytest.mark.parametrize(
    "text", ["amdgpu.runpm=01", "xamdgpu.runpm=0", "amdgpu.runpm=0,1", '"amdgpu.runpm=0 x"']
)
def test_an_argument_does_not_count_as_a_part_of_another(tmp_path: Path, text: str) -> None:
    found = menu(tmp_path, debian_grub_cfg(["6.12.107+deb13-amd64"], default=text))
    assert len([*check(GRUB.read(found), ["amdgpu.runpm=0"], [])]) == 2


def test_an_argument_with_dashes_is_the_same_one(tmp_path: Path) -> None:
    found = menu(tmp_path, debian_grub_cfg(["6.12.107+deb13-amd64"], default="amdgpu.cwsr-enable=0"))
    assert [*check(GRUB.read(found), ["amdgpu.cwsr_enable=0"], [])] == []


def test_a_menu_without_linux_is_a_problem(tmp_path: Path) -> None:
    assert [d.id for d in check(GRUB.read(menu(tmp_path, "")), [], [])] == ["RC3102"]
    recovery = "menuentry 'D (recovery mode)' {\n linux /vmlinuz ro single\n}\n"
    only = f"### BEGIN /etc/grub.d/10_linux ###\n{recovery}### END /etc/grub.d/10_linux ###\n"
    assert [d.id for d in check(GRUB.read(menu(tmp_path / "b", only)), [], [])] == ["RC3102"]


@pytest.mark.parametrize(
    "noise",
    [
        "",
        "linux\n",
        "linux /orphan a=b\n",
        "menuentry {\n",
        "menuentry 'x\n linux\n",
        "\x00\n",
        "submenu 'a' {\n",
    ],
)
def test_lines_that_are_no_entry_are_passed_over(tmp_path: Path, noise: str) -> None:
    text = debian_grub_cfg(["6.12.107+deb13-amd64"]).replace("10_linux ###\n", "10_linux ###\n" + noise, 1)
    read = [e for e in GRUB.read(menu(tmp_path, text)).entries if e.role is not Role.FOREIGN]
    assert len(read) == 3


@pytest.mark.parametrize(
    ("written", "title"),
    [("'Mine' --id x", "Mine"), ('"It\'s mine"', "It's mine"), ("mine --class os", "mine"), ("", "{")],
)
def test_an_entry_by_hand_is_called_by_its_title_however_it_is_quoted(written: str, title: str) -> None:
    text = f"menuentry {written} {{\n linux /vmlinuz ro"
    (entry,) = parse_entries(text, "/boot/grub/grub.cfg", "/etc/grub.d/40_custom")
    assert entry.title == title
