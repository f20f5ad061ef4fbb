"""Two hundred boot entries cost at most twice as much as a hundred, whatever the boot chain.

What is counted are calls, of functions of Python and of those that Python brings: no clock is asked, so that
a busy machine changes nothing. Programs of the host are stand-ins, and their own work counts for nothing.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from rocmcfg.loaders import registry
from tests.benchmarks.chains import HOSTS, KARGS, make
from tests.benchmarks.many_kernels import KERNELS, with_kernels
from tests.cases.case import CASES, Entries, read
from tests.support.program import rocmcfg

SIZES = (50, 100, 200)
AT_MOST = 2.5  # times what came on top from 50 to 100; linear is 2, quadratic 4
AT_MOST_SHOWN = 3  # the same where the diff of one file of all entries is shown: difflib's work grows faster
LEAST = 1_000  # calls, below which growth is none
# The most calls of a command, in multiples of the calls of a plan. The commands that change a host plan,
# change each entry, and read the result again: for these the measured multiple counts, with a margin of a
# tenth.
TIMES_A_PLAN = 2
TIMES_A_PLAN_MEASURED = {
    ("grub/debian-12", "apply"): 2.25,
    ("grub/debian-12", "rollback"): 2.65,
    ("grub-bls/fedora", "apply"): 2.65,
    ("grub-bls/fedora", "rollback"): 2.9,
    ("systemd-boot/kernel-install", "apply"): 2.8,
    ("systemd-boot/kernel-install", "rollback"): 2.5,
    ("limine/cachyos", "apply"): 2.1,
}
pytestmark = pytest.mark.slow


def with_entries(root: Path, many: Entries, count: int) -> Path:
    """A copy of the host with so many more entries."""
    made = root.with_name(f"{root.name}-{count}")
    shutil.copytree(root, made, symlinks=True)
    for path in (made / name for name in many.paths):
        if not many.block:
            for n in range(count):
                shutil.copy(path, path.with_name(f"{path.stem}-{n}{path.suffix}"))
            continue
        text = path.read_text()
        found = re.search(many.block, text, re.DOTALL)
        assert found, f"{path} has no such block"
        path.write_text(text[: found.start()] + found[0] * count + text[found.start() :])
    return made


def calls(work: Callable[[], object]) -> int:
    counted = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


def test_every_host_that_is_compared_has_its_entries_multiplied() -> None:
    assert {name.partition("/")[0] for name in HOSTS} == {*registry.NAMES}


@pytest.mark.parametrize("name", HOSTS)
def test_a_plan_and_a_look_grow_as_the_entries_do(tmp_path: Path, name: str) -> None:
    pristine, applied = make(tmp_path, name)
    entries = read(CASES / name).entries
    assert entries
    commands = (("plan", *KARGS, "--root"), ("verify", "--root"))
    for command, root in zip(commands, (pristine, applied), strict=True):
        tools = CASES / name.partition("/")[0] / "tools"
        rocmcfg(*command, root, tools=tools)  # so that what is imported or compiled once is not counted
        costs = []
        for size in SIZES:
            host = with_entries(root, entries, size)
            costs.append(calls(partial(rocmcfg, *command, host, tools=tools)))
        few, hundred, many = costs
        assert hundred - few > SIZES[0], f"{command[0]} does not look at the entries: {costs}"
        assert many - hundred <= AT_MOST * (hundred - few), f"{command[0]}: {costs}"


def commands(name: str, host: Path, place: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield every command whose work may depend on kernels. What changes a host gets a copy of its own."""
    tools = CASES / name.partition("/")[0] / "tools"
    applied = shutil.copytree(host, place / "applied", symlinks=True)
    done = rocmcfg("apply", *KARGS, "--yes", "--root", applied, tools=tools)
    assert not done.code, done.err
    on_a_copy = {
        "apply": (host, ("apply", *KARGS, "--yes")),
        "rollback": (applied, ("rollback", "--yes")),
        "check-kernel": (applied, ("check-kernel", KERNELS[name].release)),
    }
    looking = ("verify", "status", "lint", "explain amdgpu.runpm", "doctor", "rollback --dry-run", "history")
    yield "plan", partial(rocmcfg, "plan", *KARGS, "--root", host, tools=tools)
    for what, (of, words) in on_a_copy.items():
        copy = shutil.copytree(of, place / what, symlinks=True)
        yield what, partial(rocmcfg, *words, "--root", copy, tools=tools)
    for what in looking:
        yield what, partial(rocmcfg, *what.split(), "--root", applied, tools=tools)
    render = ("render", "--profile", "gfx1201", "--format", "nixos")
    yield "render", partial(rocmcfg, *render, "--root", applied, tools=tools)


@pytest.mark.parametrize("name", KERNELS)
def test_every_command_grows_as_the_kernels_do(tmp_path: Path, name: str) -> None:
    pristine, _ = make(tmp_path, name)
    costs: dict[str, list[int]] = {}
    for size in (1, *SIZES):  # the first one so that what is imported or compiled once is not counted
        place = tmp_path / str(size)
        host = with_kernels(pristine, name, size)
        for what, work in commands(name, host, place):
            costs.setdefault(what, []).append(calls(work))
    plan = costs["plan"]
    for what, (_, few, hundred, many) in costs.items():
        assert many - hundred <= AT_MOST_SHOWN * max(hundred - few, LEAST), (
            f"{what}: calls for {SIZES}: {costs[what]}"
        )
        bar = TIMES_A_PLAN_MEASURED.get((name, what), TIMES_A_PLAN)
        assert hundred <= bar * plan[2], f"{what} takes {hundred} calls with 100 kernels, a plan {plan[2]}"
