"""A trial at the keyboard: what is asked, what is said, and with which exit code it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import fake_tools
from tests.support.boots import enable_unit, next_boot, reboot
from tests.support.hosts import debian_grub_host
from tests.support.program import Result, rocmcfg, too_wide
from tests.support.tools import require_tool
from tests.support.trees import tree

CWSR = ("--set", "amdgpu.cwsr_enable=0")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    require_tool("grub-editenv", "grub-common")
    return debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))


def run(root: Path, *arguments: str, answer: str | None = None) -> Result:
    found = rocmcfg(*arguments, "--root", root, tools=root / "none", answer=answer)
    assert "--json" in arguments or too_wide(found.out + found.err) == []
    assert "Traceback" not in found.err
    return found


def test_a_trial_says_at_each_stage_what_it_is_and_what_is_next(root: Path) -> None:
    before = tree(root)
    refused = run(root, "apply", *CWSR, "--trial", "--confirm-after", "10m", "--yes")
    assert (refused.code, "RC4328" in refused.err, tree(root) == before) == (1, True, True)
    enable_unit(root)
    begun = run(root, "apply", *CWSR, "--trial", "--confirm-after", "10m", "--yes")
    assert begun.code == 0
    assert "The next boot is a trial (transaction 1)." in begun.out
    armed = run(root, "status").out
    assert "waits for the next boot, and confirms itself 0:10:00 later" in " ".join(armed.split())
    assert run(root, "verify").code == 6
    reboot(root)
    running = run(root, "status").out
    assert "is this boot, until the next one; in effect: all 1 settings" in running
    assert "Next: sudo rocmcfg confirm" in running
    verified = run(root, "verify")
    assert (verified.code, "Trial (transaction 1)" in verified.out) == (0, True)
    assert run(root, "verify", "--profile", "rdna4", "--json").document["trial"] is None
    assert "trial: running" in run(root, "history").out
    reboot(root)
    assert "is over: the old configuration boots again" in " ".join(run(root, "status").out.split())
    over = run(root, "verify")
    assert (over.code, "RC4326" in over.err) == (0, True)
    ended = run(root, "recover")
    assert (ended.code, "RC4327" in ended.err) == (0, True)
    assert "trial: not confirmed" in run(root, "history").out
    assert "Trial" not in run(root, "status").out


def test_a_no_changes_nothing(root: Path) -> None:
    before = tree(root)
    asked = run(root, "apply", *CWSR, "--trial", answer="n\n")
    assert (asked.code, "at the next boot?" in asked.out + asked.err) == (1, True)
    assert tree(root) == before
    run(root, "apply", *CWSR, "--trial", "--yes")
    reboot(root)
    before = tree(root)
    for verb, question in (("confirm", "Keep this?"), ("reject", "Drop this trial?")):
        asked = run(root, verb, answer="n\n")
        assert (asked.code, question in asked.out + asked.err) == (1, True)
        assert tree(root) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--confirm-after", "10m"), "require --trial"),
        (("--health-check", "true"), "require --trial"),
        (("--trial", "--health-check", "true"), "--confirm-after TIME"),
        (("--trial", "--confirm-after", "10"), "specify a time such as 90s"),
        (("--trial", "--confirm-after", "-5m"), "specify a time such as 90s"),
        (("--trial", "--confirm-after", "5s"), "from 30s to 24h"),
        (("--trial", "--confirm-after", "99h"), "from 30s to 24h"),
        (("--trial", "--confirm-after", "10m", "--health-check", "a\nb"), "one line"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(root: Path, arguments: tuple[str, ...], said: str) -> None:
    before = tree(root)
    for verb in ("plan", "apply"):
        found = rocmcfg(verb, *CWSR, *arguments, "--root", root)
        assert found.code == 2
        assert said in " ".join(found.err.replace("│", "").split())
    assert tree(root) == before


def test_without_a_trial_there_is_nothing_to_confirm_and_nothing_to_reject(root: Path) -> None:
    found = run(root, "confirm", "--yes")
    assert (found.code, "RC4320" in found.err) == (1, True)
    found = run(root, "reject", "--yes")
    assert (found.code, found.out) == (0, "Nothing to reject: no trial is on record.\n")


@pytest.mark.parametrize("damage", ["{", "[]", "{}", "\x00", '{"schema_version": 1}'])
def test_a_damaged_record_is_told_and_can_be_rejected(root: Path, damage: str) -> None:
    before = tree(root, state=False, times=False)
    run(root, "apply", *CWSR, "--trial", "--yes")
    (root / "var/lib/rocmcfg/trial.json").write_text(damage)
    for verb in (("verify",), ("confirm", "--yes"), ("apply", *CWSR, "--yes")):
        found = run(root, *verb)
        assert (found.code, "RC4300" in found.err) == (1, True), verb
    assert run(root, "status").code == 0
    assert run(root, "recover").code == 0
    assert run(root, "reject", "--yes").code == 0
    left = tree(root, state=False, times=False)
    left.pop("boot/grub/grubenv")  # grub-editenv made it, and empty it is nobody's
    assert left == before


def test_what_is_in_force_already_needs_no_trial(root: Path) -> None:
    assert run(root, "apply", *CWSR, "--yes").code == 0
    found = run(root, "apply", *CWSR, "--trial", "--yes", "--json")
    document = json.loads(found.out)
    assert (found.code, document["transaction"], document["trial"]) == (0, None, None)


def test_a_menu_without_the_commands_of_a_trial_stops_it(root: Path, tmp_path: Path) -> None:
    """update-grub ends with status 0 and has left out what the script of the trial printed."""
    tools = tmp_path / "tools"
    tools.mkdir()
    program = tools / "update-grub"
    program.write_text(f"""#!/usr/bin/env python3
import re, subprocess, sys
menu = sys.argv[1] + "/boot/grub/grub.cfg"
subprocess.run([sys.executable, "-IS", {fake_tools.__file__!r}, "update-grub", sys.argv[1]], check=True)
text = open(menu).read()
trial = "### BEGIN /etc/grub.d/01_rocmcfg.*### END /etc/grub.d/01_rocmcfg_trial ###\\n\\n"
left = re.sub(trial, "", text, flags=re.S)
open(menu, "w").write(left)
""")
    program.chmod(0o755)
    before = tree(root, state=False, times=False)
    stopped = rocmcfg("apply", *CWSR, "--trial", "--yes", "--root", root, tools=tools)
    assert stopped.code == 4, stopped.err
    assert "error[RC4308]: the boot menu does not contain the trial boot" in stopped.err
    assert next_boot(root) == ""
    assert tree(root, state=False, times=False) == before
