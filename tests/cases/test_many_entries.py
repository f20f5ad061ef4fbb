"""Two hundred boot entries cost at most twice as much as a hundred, whatever the boot chain.

What is counted are calls, of functions of Python and of those that Python brings: no clock is asked, so that
a busy machine changes nothing. Programs of the host are stand-ins, and their own work counts for nothing.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from rocmcfg.loaders import registry
from tests.benchmarks.chains import HOSTS, KARGS, make
from tests.cases.case import CASES, Entries, read
from tests.support.program import rocmcfg

SIZES = (50, 100, 200)
AT_MOST = 2.5  # times what came on top from 50 to 100; linear is 2, quadratic 4
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


def with_kernels(root: Path, count: int) -> Path:
    """A copy of a Debian host with so many more kernels, each with its image."""
    made = root.with_name(f"{root.name}-{count}-kernels")
    shutil.copytree(root, made, symlinks=True)
    modules, boot = made / "lib/modules", made / "boot"
    (release,) = (path.name for path in modules.iterdir())
    files = [path for path in boot.iterdir() if path.name.endswith(release)]
    for number in range(count):
        shutil.copytree(modules / release, modules / f"{release}-{number}", symlinks=True)
        for path in files:
            shutil.copy(path, boot / f"{path.name}-{number}")
    return made


def test_a_rollback_grows_as_the_kernels_do(tmp_path: Path) -> None:
    _, applied = make(tmp_path, "grub/debian-12")
    tools = CASES / "grub/tools"
    command = ("rollback", "--dry-run", "--root")
    rocmcfg(*command, applied, tools=tools)
    costs = []
    for size in SIZES:
        host = with_kernels(applied, size)
        costs.append(calls(partial(rocmcfg, *command, host, tools=tools)))
    few, hundred, many = costs
    assert hundred - few > SIZES[0], f"it does not look at the kernels: {costs}"
    assert many - hundred <= AT_MOST * (hundred - few), f"calls for {SIZES} more kernels: {costs}"
