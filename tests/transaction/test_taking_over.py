"""`take-over`: the owner's arguments move into a profile, the same values stay in effect, and every way back
puts exactly those words into the files again, also where others wrote in them since."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.change.transaction import undo_script
from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.edit import Moved
from rocmcfg.model.request import Request
from rocmcfg.workflow import taking_over
from tests.support import fake_tools, usecases
from tests.support.hosts import debian_grub_host, other_host
from tests.support.program import rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.tools import HANG, require_tool
from tests.support.trees import Tree, tree

DEFAULTS, DROP_IN = "etc/default/grub", "etc/default/grub.d/site.cfg"
OPTIONS, PROFILE = "etc/modprobe.d/amdgpu.conf", "etc/rocmcfg/profiles/own.toml"
LINE = "quiet amdgpu.runpm=0 splash amdgpu.ppfeaturemask=0xfff7ffff"
BOOTED = "quiet amdgpu.runpm=0 splash amdgpu.ppfeaturemask=0xfff7ffff amdgpu.dcdebugmask=0x10"
MODPROBE = "# mine\noptions amdgpu cwsr_enable=0 noretry=1\noptions snd_hda_intel power_save=0\n"
SHELLS = [("dash",), ("busybox", "sh"), ("bash", "--posix")]
SITE = 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.dcdebugmask=0x10"\n'
RUNNING = {
    "runpm": "0",
    "ppfeaturemask": "0xfff7ffff",
    "dcdebugmask": "16",
    "cwsr_enable": "0",
    "noretry": "1",
}


def debian(folder: Path, **more: Any) -> Path:
    """A host whose owner has set parameters in three files, and has booted with them."""
    given: dict[str, Any] = {
        "cmdline": LINE,
        "booted_with": BOOTED,
        "grub_d": {"site.cfg": SITE},
        "modprobe_d": {"amdgpu.conf": MODPROBE},
        "parameters": RUNNING,
        "amdgpu_in_initramfs": True,
    }
    root = debian_grub_host(folder, **given | more)
    host = QuickHost(str(root))
    host.execute(["update-grub"], timeout=HANG, progress=lambda: None)
    return root


def seen(root: Path) -> Tree:
    """All files but what rocmcfg keeps for itself and what programs generate. Folders that are made go when
    the programs have run, which is not here; tests/cases has that."""
    found = tree(root, state=False, times=False)
    return {path: e for path, e in found.items() if len(e) > 3 and not path.startswith("boot/initrd")}


def undo_sh(root: Path, shell: tuple[str, ...] = ("dash",)) -> None:
    require_tool(shell[0], shell[0])
    done = subprocess.run(
        [*shell, str(root / undo_script.PATH.lstrip("/")), "--root", str(root)],
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    # without the host's /proc its programs are named, and everything else is done
    assert "the files are restored" in done.stderr + done.stdout or done.returncode == 0, done.stderr


def rollback(root: Path) -> None:
    usecases.rollback(QuickHost(str(root)))


def _by_script(shell: tuple[str, ...]) -> Callable[[Path], None]:
    return lambda root: undo_sh(root, shell)


WAYS = pytest.mark.parametrize(
    "back", [rollback, *map(_by_script, SHELLS)], ids=["rollback", *(" ".join(shell) for shell in SHELLS)]
)


def settings(root: Path) -> dict[str, str]:
    return {
        check["name"]: check["status"]
        for check in rocmcfg("verify", "--root", root, "--json").document["checks"]
    }


# -- the same values ------------------------------------------------------------------------------------


def test_what_the_next_boot_gets_is_the_same_and_verify_finds_it_in_effect(tmp_path: Path) -> None:
    root = debian(tmp_path)
    before = {word for word in BOOTED.split() if "." in word}
    taken = usecases.take_over(QuickHost(str(root)))
    assert not taken.left
    made = taken.planned.plan
    assert made.command_line is not None
    assert {word for word in made.command_line.before if "." in word} == before
    now = {word for word in made.command_line.after if "." in word}
    assert now == {*before, "amdgpu.cwsr_enable=0", "amdgpu.noretry=1"}
    lines = [
        line.split() for line in (root / "boot/grub/grub.cfg").read_text().splitlines() if "linux\t" in line
    ]
    lines = [words for words in lines if "single" not in words]
    assert lines
    assert all(words.count(word) == 1 for words in lines for word in now), lines
    assert "amdgpu" not in (root / DEFAULTS).read_text() + (root / DROP_IN).read_text()
    assert (root / OPTIONS).read_text() == "# mine\noptions snd_hda_intel power_save=0\n"
    image = fake_tools.unpacked(next((root / "boot").glob("initrd*")))
    assert image["etc/modprobe.d/amdgpu.conf"] == (root / OPTIONS).read_bytes()
    assert settings(root) == dict.fromkeys(("amdgpu." + name for name in RUNNING), "in_effect")
    assert not made.reboot_required
    again = rocmcfg("apply", "--profile", "own", "--root", root, "--json", "--yes")
    assert again.code == 0
    assert again.document["changes"] == []


def test_settings_that_are_applied_stay_applied(tmp_path: Path) -> None:
    root = debian(tmp_path)
    usecases.apply(QuickHost(str(root)), set=("amdgpu.gpu_recovery=1", "amdgpu.runpm=0", "karg.iommu=pt"))
    usecases.take_over(QuickHost(str(root)))
    assert {"amdgpu.gpu_recovery", "amdgpu.runpm", "amdgpu.dcdebugmask", "karg.iommu"} <= settings(
        root
    ).keys()
    rollback(root)
    assert settings(root).keys() == {"amdgpu.gpu_recovery", "amdgpu.runpm", "karg.iommu"}


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    root = debian(tmp_path)
    before = tree(root)
    shown = rocmcfg("take-over", "--dry-run", "--root", root, tools=root)
    assert shown.code == 0, shown.err
    assert "-options amdgpu cwsr_enable=0 noretry=1" in shown.out
    assert tree(root) == before


# -- and back -------------------------------------------------------------------------------------------


@WAYS
def test_unchanged_files_come_back_byte_for_byte(tmp_path: Path, back: Callable[[Path], None]) -> None:
    root = debian(tmp_path)
    before = seen(root)
    usecases.take_over(QuickHost(str(root)))
    back(root)
    assert seen(root) == before


@WAYS
def test_where_others_wrote_since_only_the_words_come_back(
    tmp_path: Path, back: Callable[[Path], None]
) -> None:
    root = debian(tmp_path)
    usecases.take_over(QuickHost(str(root)))
    text = (root / DEFAULTS).read_text()
    (root / DEFAULTS).write_text(
        text.replace("quiet splash", "splash nosmt amdgpu.runpm=1") + "GRUB_TIMEOUT=1\n"
    )
    (root / DROP_IN).write_text("# a remark\n" + (root / DROP_IN).read_text())
    (root / OPTIONS).write_text("options amdgpu dc=1\n")
    back(root)
    words = "amdgpu.runpm=0 amdgpu.ppfeaturemask=0xfff7ffff"
    expected = text.replace("quiet splash", f"{words} splash nosmt amdgpu.runpm=1") + "GRUB_TIMEOUT=1\n"
    assert (root / DEFAULTS).read_text() == expected
    value = '"amdgpu.dcdebugmask=0x10 $GRUB_CMDLINE_LINUX_DEFAULT"'
    assert (root / DROP_IN).read_text() == f"# a remark\nGRUB_CMDLINE_LINUX_DEFAULT={value}\n"
    assert (root / OPTIONS).read_text() == "options amdgpu cwsr_enable=0 noretry=1\noptions amdgpu dc=1\n"
    assert not (root / PROFILE).exists()


@WAYS
def test_words_that_are_there_again_are_not_written_twice(
    tmp_path: Path, back: Callable[[Path], None]
) -> None:
    root = debian(tmp_path)
    before = {path: (root / path).read_text() for path in (DEFAULTS, DROP_IN, OPTIONS)}
    usecases.take_over(QuickHost(str(root)))
    for path, text in before.items():
        (root / path).write_text("# mine\n" + text)
    back(root)
    assert {path: (root / path).read_text() for path in before} == {
        p: "# mine\n" + t for p, t in before.items()
    }


@WAYS
def test_a_file_that_was_removed_since_comes_back_whole(tmp_path: Path, back: Callable[[Path], None]) -> None:
    root = debian(tmp_path)
    before = seen(root)
    usecases.take_over(QuickHost(str(root)))
    (root / DROP_IN).unlink()
    back(root)
    assert seen(root) == before


@WAYS
def test_a_profile_that_was_edited_since_stays(tmp_path: Path, back: Callable[[Path], None]) -> None:
    root = debian(tmp_path)
    before = seen(root)
    usecases.take_over(QuickHost(str(root)))
    mine = (root / PROFILE).read_text().replace("value = 0\n", "value = 1\n")
    (root / PROFILE).write_text(mine)
    back(root)
    assert (root / PROFILE).read_text() == mine
    left = seen(root)
    assert left.keys() - before.keys() == {PROFILE}
    assert before.items() <= left.items()


@WAYS
def test_several_transactions_are_undone_in_turn(tmp_path: Path, back: Callable[[Path], None]) -> None:
    """The same file has rocmcfg's own lines, too, where GRUB reads no drop-ins."""
    root = other_host(tmp_path, "arch-grub")
    text = (root / DEFAULTS).read_text()
    (root / DEFAULTS).write_text(text.replace('_DEFAULT="', '_DEFAULT="amdgpu.runpm=0 '))
    host = QuickHost(str(root))
    host.execute(["grub-mkconfig", "-o", "/boot/grub/grub.cfg"], timeout=HANG, progress=lambda: None)
    before = seen(root)
    usecases.apply(host, set=("karg.iommu=pt",))
    taken = usecases.take_over(host)
    assert [change.path for change in taken.planned.plan.changes].count("/etc/default/grub") == 1
    usecases.apply(host, profiles=("own",), set=("amdgpu.gpu_recovery=1",))
    if back is rollback:
        back(root)
        back(root)
    back(root)
    assert seen(root) == before


def test_words_are_put_back_by_the_shell_as_by_python(tmp_path: Path) -> None:
    lines = (
        *('V="quiet"', 'V=""', "V='x y'", "V=", "V=abc # c", "V=a;", 'export V="q"', '  V="z" # a.b=1'),
        *('V="${V:+$V }own"', 'V="$V a.b=1"', '#V="x"', 'W="y"', "V=$(x)", 'V="un', "V+=x", "\tV=`a`", ""),
        *(
            "export\tV=1",
            'VV="x"',
            'V="a.b=1 c.d=0x2"',
            'V ="x"',
            "V='a.b=1'",
            'V=a"b"',
            "V=''x",
            "options a b=1",
        ),
    )
    chosen = random.Random(1)
    parts = (Moved("V", ("a.b=1", "c.d=0x2")), Moved("", ("options a b=1", "options a c=1")))
    root, place, changed = tmp_path / "root", tmp_path / "undo.sh", 0
    (root / "etc").mkdir(parents=True)
    for number in range(120):
        part = parts[number % 2]
        fact = ("moved", "/etc/f", "0" * 64, "/none", "1" * 64, "0644", part.variable, *part.words)
        script = undo_script.script([fact])
        place.write_text(script.replace("  *) undo ;;\nesac", "  *) facts move_back ;;\nesac"))
        assert place.read_text() != script
        text = "\n".join(chosen.choice(lines) for _ in range(chosen.randint(1, 5))) + chosen.choice(
            ("", "\n")
        )
        for shell in SHELLS:
            require_tool(shell[0], shell[0])
            (root / "etc/f").write_text(text)
            done = subprocess.run([*shell, str(place), "--root", str(root)], capture_output=True, text=True)
            assert not done.returncode, done.stderr
            assert (root / "etc/f").read_text() == part.back_in(text.encode()).decode(), (text, shell)
            changed += (root / "etc/f").read_text() != text
    assert changed > 200
    shutil.rmtree(root)


# -- refused --------------------------------------------------------------------------------------------


def planned(root: Path, name: str = "own", **request: Any) -> taking_over.TakenOver:
    return taking_over.plan_take_over(LocalHost(str(root)), name, Request(**request))


def reasons(root: Path) -> dict[str, str]:
    """Why each occurrence stays, by where it stands; nothing is moved."""
    with pytest.raises(RocmcfgError) as refused:
        planned(root)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.id == "RC2073", diagnostic
    lines = [line.partition(" (")[2].partition("): ") for line in diagnostic.detail.splitlines()]
    return {source: reason for source, _, reason in lines}


def test_nothing_to_move_is_said(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    with pytest.raises(RocmcfgError) as refused:
        planned(root)
    assert refused.value.diagnostics[0].id == "RC2070"


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    root = debian(tmp_path)
    (root / PROFILE).parent.mkdir(parents=True)
    (root / PROFILE).write_text('schema = 1\nsummary = "x"\n')
    with pytest.raises(RocmcfgError) as refused:
        planned(root)
    assert refused.value.diagnostics[0].id == "RC1013"
    assert planned(root, "mine").profile.endswith("/mine.toml")
    assert "is a shipped profile" in rocmcfg("take-over", "--name", "rdna4", "--root", root, "--yes").err


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('GRUB_CMDLINE_LINUX_DEFAULT="amdgpu.runpm=0 $(uname)"', "shell code"),
        ('MINE="amdgpu.runpm=0"\nGRUB_CMDLINE_LINUX_DEFAULT="$MINE"', "not one plain assignment"),
        ('GRUB_CMDLINE_LINUX_DEFAULT="quiet \\\namdgpu.runpm=0"', "not one plain assignment"),
        ('A=\nGRUB_CMDLINE_LINUX_DEFAULT="amdgpu.runpm=${A}0"', "put together by a shell"),
        ('GRUB_CMDLINE_LINUX_DEFAULT="amdgpu.runpm"', "no value"),
        ('GRUB_CMDLINE_LINUX_DEFAULT="amdgpu.no_such_parameter=1"', "a plan refuses it"),
    ],
)
def test_what_cannot_be_moved_is_named_with_its_line_and_stays(tmp_path: Path, line: str, word: str) -> None:
    root = debian_grub_host(tmp_path, grub_default=f"{line}\n", cmdline="amdgpu.runpm=0")
    ((source, reason),) = reasons(root).items()
    assert word in reason
    assert source.startswith(("/etc/default/grub:", "/boot/grub/grub.cfg"))


def test_files_that_are_links_or_a_packages_stay(tmp_path: Path) -> None:
    root = debian_grub_host(
        tmp_path,
        modprobe_d={"own.conf": '# mine\noptions amdgpu dc="1"\n'},
        extra={
            "usr/lib/modprobe.d/vendor.conf": "options amdgpu noretry=1\n",
            "srv/linked.conf": "options amdgpu runpm=0\n",
        },
    )
    (root / "etc/modprobe.d/linked.conf").symlink_to("../../srv/linked.conf")
    found = reasons(root)
    assert found["/usr/lib/modprobe.d/vendor.conf:1"] == "its file belongs to a package"
    assert found["/etc/modprobe.d/linked.conf:1"] == "its file is a symbolic link"
    assert "quotes" in found["/etc/modprobe.d/own.conf:2"]


def test_nothing_is_moved_where_another_value_would_count_then(tmp_path: Path) -> None:
    """What has to stay is read after rocmcfg's drop-in, and the owner's last value is what beats it today."""
    value = "$GRUB_CMDLINE_LINUX_DEFAULT"
    lines = (f'"{value} amdgpu.runpm=1 a=\\\\b"', f'"{value} amdgpu.runpm=0"')
    site = "".join(f"GRUB_CMDLINE_LINUX_DEFAULT={line}\n" for line in lines)
    root = debian_grub_host(tmp_path, grub_d={"zzz.cfg": site})
    before = tree(root)
    with pytest.raises(RocmcfgError) as refused:
        usecases.take_over(QuickHost(str(root)))
    assert [d.id for d in refused.value.diagnostics] == ["RC2071"]
    assert refused.value.diagnostics[0].summary.startswith("this would change amdgpu.runpm from 0 to 1")
    assert tree(root) == before


def test_an_options_line_is_moved_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    options = "options amdgpu runpm=0 no_such_parameter=1\noptions amdgpu cwsr_enable=0\n"
    root = debian_grub_host(tmp_path, modprobe_d={"own.conf": options})
    taken = planned(root)
    assert [found.parameter for found in taken.moved] == ["amdgpu.cwsr_enable"]
    stays = {found.parameter: found.reason for found in taken.left}
    assert stays["amdgpu.runpm"] == "its line also sets amdgpu.no_such_parameter, which stays"


def test_a_file_whose_name_no_record_can_hold_stays(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, modprobe_d={"a\x7fb.conf": "options amdgpu runpm=0\n"})
    assert [*reasons(root).values()] == ["the name of its file cannot be printed"]


def test_arguments_of_recovery_entries_are_remarked_on_and_come_back(tmp_path: Path) -> None:
    defaults = 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\nGRUB_CMDLINE_LINUX="amdgpu.runpm=0 nosmt"\n'
    root = debian(tmp_path, grub_default=defaults, grub_d=None, modprobe_d=None)
    before = seen(root)
    taken = usecases.take_over(QuickHost(str(root)))
    assert "RC2072" in {remark.id for remark in taken.planned.plan.diagnostics}
    assert (root / DEFAULTS).read_text() == defaults.replace("amdgpu.runpm=0 ", "")
    rollback(root)
    assert seen(root) == before


def test_a_trial_that_is_not_confirmed_is_in_the_way(tmp_path: Path) -> None:
    require_tool("grub-editenv", "grub-common")
    root = debian(tmp_path)
    usecases.attempt(QuickHost(str(root)), set=("amdgpu.gpu_recovery=1",))
    with pytest.raises(RocmcfgError) as refused:
        usecases.take_over(QuickHost(str(root)))
    assert refused.value.diagnostics[0].id == "RC4316"


def test_arguments_of_another_loader_stay(tmp_path: Path) -> None:
    root = other_host(tmp_path, "fedora-bls")
    for entry in (root / "boot/loader/entries").iterdir():
        entry.write_text(entry.read_text().replace("\noptions ", "\noptions amdgpu.runpm=0 "))
    (root / "etc/kernel").mkdir(exist_ok=True)
    (root / "etc/kernel/cmdline").write_text("amdgpu.runpm=0 quiet\n")
    found = reasons(root)
    assert set(found.values()) == {
        "rocmcfg does not edit the arguments of GRUB with BLS entries (Fedora, RHEL)"
    }
