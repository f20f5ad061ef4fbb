"""Every command that a transcript prints does what its sentence says: it is typed on a copy of the host."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import case as loader_cases
from tests.golden import transcript
from tests.golden.printed import Printed, misread, on_a_copy, printed, takes_root, words
from tests.support import recorded
from tests.support.stage import Said, Stage, Typed, empty_folder
from tests.support.trees import tree

pytestmark = pytest.mark.bulk
TRANSCRIPTS = transcript.cases(Path(__file__).parent / "cases")
CASES = loader_cases.cases()
# By a boot, or by a program of the host from the files that are compared; tests/cases compares those too.
_MADE = re.compile(r"(proc|sys|run|boot)(/|$)|etc/kernelstub/configuration$")
_USAGE, _REFUSED = 2, 1


def commands_of(name: str) -> Iterator[tuple[Stage, Typed, Said, dict[str, object]]]:
    """Each command of a transcript, or of a case: what was said, and the host before it."""
    if name in CASES:
        case = loader_cases.read(CASES[name])
        with empty_folder() as place:
            yield from _typed(loader_cases.stage_of(case, place), list(case.commands))
        return
    parts = transcript.parse(TRANSCRIPTS[name].read_text())
    host = next((p for p in parts if isinstance(p, str) and p.startswith("Host: ")), "Host: none")
    with empty_folder() as place:
        stage = Stage(place, recorded.build(host.removeprefix("Host: "), place))
        yield from _typed(stage, [part for part in parts if isinstance(part, Typed)])


def _typed(stage: Stage, commands: list[Typed]) -> Iterator[tuple[Stage, Typed, Said, dict[str, object]]]:
    for typed in commands:
        before = _host(stage.place / "host")
        said = stage.run(typed)
        if typed.program == "rocmcfg" and "--json" not in typed.line:
            yield stage, typed, said, before


def _host(root: Path) -> dict[str, object]:
    """The host's own files: neither what a boot makes nor rocmcfg's records."""
    found = tree(root, state=False, times=False) if root.exists() else {}
    return {path: entry for path, entry in found.items() if not _MADE.match(path)}


def wrong(stage: Stage, typed: Typed, said: Said, before: dict[str, object]) -> Iterator[str]:
    for one in dict.fromkeys(printed(said)):
        if not typed.line.startswith("rocmcfg report") and one.label != "Usage":  # the form of a command
            reason = _wrong(stage, typed, one, before) if one.complete else misread(one.command)
            if reason:
                yield f"{typed.line}: {one.label}: {one.command}: {reason}"


def _wrong(stage: Stage, typed: Typed, one: Printed, before: dict[str, object]) -> str:
    """What is wrong with a command that was printed; empty where it does what it says."""
    root = re.search(r"--root \S+", typed.line)
    if root is None:
        return ""  # it would be typed on the machine of the test
    parts = shlex.split(one.command.removeprefix("sudo "))
    if takes_root(parts) and not {"--root", "--help"} & {*parts} and not one.elsewhere:
        return "it is of another host: --root is missing"
    command = words(one.command, root=root[0])
    if "--chroot" in shlex.split(command) and os.geteuid() != 0:
        return ""  # only root may enter a host
    if one.label == "Undo" and typed.line.split()[1] != "apply":
        return ""  # of a plan, which has done nothing yet
    steps = [command]
    verb = shlex.split(command)[1]
    if one.label == "keep":
        steps = [command.replace("rocmcfg apply", "rocmcfg plan", 1).replace(" --yes", "")]
    elif one.label == "Next" and verb == "apply" and "--trial" not in command:
        steps.append(command.replace("rocmcfg apply", "rocmcfg plan", 1).replace(" --yes", " --json"))
    results = [
        (result, _host(host) if one.label == "Undo" else {}) for result, host in on_a_copy(stage, steps)
    ]
    (first, after), last = results[0], results[-1][0]
    if first.code == _USAGE or "Traceback" in first.err:
        return f"exit {first.code}: {first.err[:200]}"
    if one.label in ("Next", "Undo", "keep") and verb != "plan" and first.code == _REFUSED:
        return f"refused: {first.err[:300]}"
    if one.label == "keep" and "Removed (" in first.out:
        return "it removes something"
    if one.label == "Next" and len(results) > 1 and '"changes": []' not in last.out:
        return "afterwards the plan still changes files"
    if one.label == "Undo" and after != before:
        changed = sorted(path for path in {*after, *before} if after.get(path) != before.get(path))
        return f"not as before: {changed}"
    return ""


@pytest.mark.parametrize("name", [*TRANSCRIPTS, *CASES])
def test_every_command_that_is_printed_does_what_it_says(name: str) -> None:
    found = [fault for each in commands_of(name) for fault in wrong(*each)]
    assert not found, "\n".join(found)


def test_a_command_that_cannot_be_typed_as_it_stands_is_read_all_the_same() -> None:
    """One with a placeholder, and one in a pipe: their names and options must exist."""
    right = "Next: rocmcfg apply --profile NAME\n  dmesg | rocmcfg doctor --log -\n"
    wrong = "Next: rocmcfg aply --profile NAME\n  dmesg | rocmcfg docter\n"
    quoted = (
        "help: `rocmcfg verify --profle NAME`, `rocmcfg profile shew NAME`, `rocmcfg lint --fixx A | patch A`"
    )
    for text, misspelt in ((right, 0), (wrong, 2)):
        commands = list(printed(Said(0, text, "")))
        assert not any(each.complete for each in commands)
        assert sum(bool(misread(each.command)) for each in commands) == misspelt
    assert [bool(misread(each.command)) for each in printed(Said(0, "", quoted))] == [True, True, True]
