"""`rocmcfg try --reboots` and the commands around it, as root types them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from rocmcfg.cli import rebooting
from rocmcfg.cli.documents import DOCUMENTS
from rocmcfg.host.other_user import require_startable
from rocmcfg.model.diagnostic import RocmcfgError
from tests.support.hosts import make_root
from tests.support.program import Result, as_nobody, command, problem, rocmcfg, too_wide, unfolded
from tests.support.rebooting import CURE, Lab
from tests.support.tool_host import QuickHost
from tests.support.trials import configuration

WORDS = ("try", "--reboots", "3", "--user", "root", "--set", CURE)


@contextlib.contextmanager
def on(lab: Lab) -> Iterator[type[QuickHost]]:
    """Whatever opens this machine opens the tree of the lab, and nothing reboots this machine."""

    class Here(QuickHost):
        def __init__(self, root: str, chroot: bool = False) -> None:
            del root, chroot
            super().__init__(str(lab.root))

    variables = {"VALUE": str(lab.link), "NOTES": str(lab.notes), "HOME": str(lab.folder)}
    with mock.patch.object(rebooting, "machine_of", return_value=lab), mock.patch.dict(os.environ, variables):
        yield Here


def run(lab: Lab, *words: str | Path, answer: str | None = None) -> Result:
    with on(lab) as here:
        return rocmcfg(*words, host=here, answer=answer)


def test_it_says_before_what_it_can_decide_and_asks(lab: Lab) -> None:
    before = configuration(lab.root)
    no = run(lab, *WORDS, "--", lab.program, answer="n\n")
    assert no.code == 1
    printed = unfolded(no.out)
    assert "in 90 % of boots 73 % 5 + 5 boots" in printed
    assert "in 50 % of boots 12 % 12 + 12 boots" in printed
    assert "One more reboot ends the last boot with the settings." in printed
    assert "Reboot this host now, and up to 7 times in all?" in printed + no.err
    assert f"{lab.program}, once in each boot, as root" in printed
    assert not lab.reboots_due
    assert not (lab.root / "var/lib/rocmcfg/tries/1").exists()
    assert configuration(lab.root) == before
    yes = run(lab, *WORDS, "--", lab.program, answer="y\n")
    assert (yes.code, lab.reboots_due) == (0, True)
    assert "Try R1 has begun: this host reboots now." in yes.out
    assert too_wide("\n".join((no.out, no.err, yes.out, yes.err))) == []


def test_a_try_from_its_command_to_its_sentence(lab: Lab) -> None:
    begun = run(lab, *WORDS, "--yes", "--json", "--", lab.program)
    assert (begun.code, begun.document["verdict"]) == (0, None)
    assert "RC4600" in run(lab, "status", "--json").ids
    assert "under way" in run(lab, "status").out + run(lab, "status").err
    shown = run(lab, "tries", "show", "R1")
    assert "Try R1 is under way, and goes on by itself: 0 of 6 boots." in shown.out
    refused = run(lab, *WORDS, "--yes", "--", lab.program)
    problem(refused, "RC4601", 1)
    lab.to_the_end()
    for words in (("tries", "list"), ("tries", "show", "R1"), ("status",)):
        result = run(lab, *words)
        assert (result.code, too_wide(result.out)) == (0, []), words
        assert "Traceback" not in result.err
    listed = run(lab, "tries", "list", "--json").document["tries"]
    assert [(row["try"], row["kind"], row["verdict"]) for row in listed] == [(1, "reboots", "cures")]
    shown = run(lab, "tries", "show")
    assert shown.out == run(lab, "tries", "show", "R1").out, "the newest of root is one with reboots"
    assert "cures the fault here: the program failed in 3 of 3 boots without" in unfolded(shown.out)
    assert "Each boot file of this host was compared, and is byte for byte" in unfolded(shown.out)
    assert f"sudo rocmcfg apply --add {CURE}" in unfolded(shown.out)
    assert "measured" not in run(lab, "status").err
    assert "try R1" in run(lab, "status").out
    tracker = run(lab, "tries", "show", "R1", "--tracker")
    assert "| arm | settings | boots |" in tracker.out
    over = run(lab, "tries", "resume", answer="y\n")
    problem(over, "RC4508", 1)
    assert "Reboot this host" not in over.err, "there is nothing to agree to"
    forgotten = run(lab, "tries", "forget", "R1")
    assert (forgotten.code, forgotten.out) == (0, "Removed: try R1.\n")
    problem(run(lab, "tries", "show", "R1"), "RC4503", 1)


def test_each_document_is_of_its_schema(lab: Lab) -> None:
    def seen(command: str, *words: str) -> dict[str, object]:
        result = run(lab, *command.split(), *words, "--json")
        DOCUMENTS[command].model_validate(result.document)
        return result.document

    begun = run(lab, *WORDS, "--yes", "--json", "--", lab.program).document
    DOCUMENTS["try"].model_validate(begun)
    assert begun["boots"] == {"of_each_arm": 3, "came_not_up": 0, "lost": {}, "restored": None}
    lab.recovers()
    seen("continue-try")
    lab.comes_up()
    seen("tries show", "R1")
    for each in ("tries list", "status", "history"):
        seen(each)
    seen("reject", "--yes")
    assert seen("tries show", "R1")["obstacle"] == "ended"
    assert seen("tries forget", "R1")["number"] == 1


def test_its_unit_goes_on_with_its_command(lab: Lab) -> None:
    nothing = run(lab, "continue-try")
    assert nothing.out == "Nothing to do: no try with reboots is under way.\n"
    run(lab, *WORDS, "--yes", "--", lab.program)
    lab.recovers()
    result = run(lab, "continue-try")
    assert (result.code, result.out) == (0, "Try R1: boot 2 of 6 comes next.\n")
    assert lab.ran_with() == ["1"]
    assert "continue-try" not in run(lab, "--help").out


@pytest.mark.parametrize("boots", [0, 1, 2])
@pytest.mark.parametrize("words", [("reject", "--yes"), ("tries", "forget", "R1")])
def test_it_is_ended_by_its_owner(lab: Lab, boots: int, words: tuple[str, ...]) -> None:
    before = configuration(lab.root)
    run(lab, *WORDS, "--yes", "--", lab.program)
    for _ in range(boots):
        lab.comes_up()
    ended = run(lab, *words)
    assert ended.code == 0, ended.err
    assert configuration(lab.root) == before
    assert lab.under_way() is None
    assert lab.comes_up() is None
    assert (lab.root / "var/lib/rocmcfg/tries/1").exists() == (words[0] == "reject")


REFUSED = {
    "too few": (("--reboots", "2", "--set", CURE), "RC4614", "--reboots 3 can"),
    "a variable": (("--reboots", "3", "--set", "env.HSA_ENABLE_SDMA=0"), "RC4604", "without --reboots"),
    "what runs already": (("--reboots", "3", "--set", "amdgpu.cwsr_enable=1"), "RC4605", "in force already"),
    "nobody": (("--reboots", "3", "--user", "no-such", "--set", CURE), "RC4607", "getent passwd"),
}


@pytest.mark.parametrize(("words", "id", "text"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_come_to_an_end_is_refused(lab: Lab, words: tuple[str, ...], id: str, text: str) -> None:
    before = configuration(lab.root)
    user = () if "--user" in words else ("--user", "root")
    result = run(lab, "try", *words, *user, "--yes", "--", lab.program)
    assert text in unfolded(problem(result, id, 1))
    assert configuration(lab.root) == before
    assert lab.under_way() is None
    assert not (lab.root / "var/lib/rocmcfg/tries/1").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--reboots", "0"),
        ("--reboots", "101"),
        ("--reboots", "3", "--drop"),
        ("--reboots", "3", "--cost"),
        ("--reboots", "3", "--log", "file"),
        ("--reboots", "3", "--runs", "9"),
        ("--user", "root"),
        ("--crashed",),
    ],
)
def test_options_that_do_not_go_together_are_named(lab: Lab, words: tuple[str, ...]) -> None:
    result = run(lab, "try", *words, "--set", CURE, "--", lab.program)
    assert result.code == 2
    assert not lab.reboots_due


def test_a_host_that_would_not_go_on_is_refused(lab: Lab) -> None:
    link = lab.root / "etc/systemd/system/multi-user.target.wants/rocmcfg-try.service"
    link.unlink()
    result = run(lab, *WORDS, "--yes", "--", lab.program)
    assert "systemctl enable rocmcfg-try.service" in unfolded(problem(result, "RC4612", 1))


def test_a_host_without_systemd_is_refused(lab: Lab) -> None:
    with mock.patch("rocmcfg.workflow.reboot_start.has_systemd", return_value=False):
        problem(run(lab, *WORDS, "--yes", "--", lab.program), "RC4611", 1)


def test_a_loader_without_trials_is_refused_with_those_that_have_them(lab: Lab) -> None:
    with mock.patch("rocmcfg.loaders.registry.trial", return_value=None):
        result = run(lab, *WORDS, "--yes", "--", lab.program)
    assert "these loaders can boot one: grub" in unfolded(problem(result, "RC4613", 1))


def test_a_trial_or_an_open_transaction_is_in_the_way(lab: Lab) -> None:
    with on(lab) as here:
        assert rocmcfg("apply", "--trial", "--set", CURE, "--yes", host=here).code == 0
    problem(run(lab, *WORDS, "--yes", "--", lab.program), "RC4316", 1)


def test_a_clock_that_is_set_back_is_named(lab: Lab) -> None:
    run(lab, "apply", "--set", "amdgpu.runpm=0", "--yes")
    run(lab, "rollback", "--yes")
    with mock.patch("rocmcfg.workflow.reboot_start.now", return_value="2001-01-01T00:00:00Z"):
        problem(run(lab, *WORDS, "--yes", "--", lab.program), "RC4606", 1)


def test_a_stop_before_the_first_reboot_leaves_nothing(lab: Lab) -> None:
    before = configuration(lab.root)
    with mock.patch.object(lab, "reboot", side_effect=KeyboardInterrupt):
        result = run(lab, *WORDS, "--yes", "--", lab.program)
    assert result.code != 0
    assert configuration(lab.root) == before
    assert lab.under_way() is None
    assert not (lab.root / "var/lib/rocmcfg/tries/1").exists()


def test_a_full_disk_begins_nothing(lab: Lab) -> None:
    with mock.patch("rocmcfg.host.user_state._ROOM", 1 << 60):
        result = run(lab, *WORDS, "--yes", "--", lab.program)
    assert result.code != 0
    assert "No space left" in result.err
    assert lab.under_way() is None
    assert not (lab.root / "var/lib/rocmcfg/tries/1").exists()


def test_only_root_compares_boots() -> None:
    result = as_nobody(command("try", "--reboots", "3", "--set", CURE, "--", "true"))
    assert (result.code, "RC3023" in result.err) == (1, True), result.err
    shown = as_nobody(command("tries", "show", "R1"))
    assert "RC4615" in shown.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root looks as another user")
@pytest.mark.parametrize("where", ["program", "missing", "folder"])
def test_a_program_that_its_user_cannot_start_is_refused(tmp_path: Path, where: str) -> None:
    import pwd

    folder = make_root(tmp_path, {"program": "#!/bin/sh\n"}, name="work")
    program = folder / "program"
    program.chmod(0o755)
    for part in (*tmp_path.parents, tmp_path):
        if str(part).startswith(os.environ.get("TMPDIR", "/tmp")) and part.owner() == "root":
            part.chmod(0o755 if part.stat().st_mode & 0o1000 == 0 else 0o1777)
    nobody = pwd.getpwnam("nobody")
    require_startable(nobody, str(folder), "./program", {"PATH": "/usr/bin:/bin"})
    require_startable(nobody, str(folder), "sh", {"PATH": "/usr/bin:/bin"})
    if where == "program":
        program.chmod(0o700)
    elif where == "folder":
        folder.chmod(0o700)
    name = "no-such-program" if where == "missing" else "./program"
    with pytest.raises(RocmcfgError) as stop:
        require_startable(nobody, str(folder), name, {"PATH": "/usr/bin:/bin"})
    assert [d.id for d in stop.value.diagnostics] == ["RC4608"]


def test_a_shell_line_is_not_a_program_with_reboots_either(lab: Lab) -> None:
    refused = run(lab, *WORDS, "--yes", "--", "sh -c true")
    problem(refused, "RC0001", 2)
    assert "shell command line" in unfolded(refused.err)
    assert not lab.reboots_due
