"""Run programs of the host for a transaction: list them, run them, and wait for those that outlive it."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress

from rocmcfg import initramfs
from rocmcfg.files import env_update, environment_targets, modprobe
from rocmcfg.host import interrupts
from rocmcfg.host.view import Host, HostView, ToolFailed, Unreadable
from rocmcfg.loaders import detection, registry
from rocmcfg.loaders.shared import menu as menus
from rocmcfg.loaders.shared.menu import Entry, Menu
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, fail
from rocmcfg.model.kargs import contains
from rocmcfg.model.plan import Activation

Progress = Callable[[str], None]
AGAIN = "the files that it reads were restored"
_LONGEST = 1e6  # seconds; longer times, and inf, overflow clocks
_DEFAULT_TIMEOUT = 1800.0  # seconds; update-initramfs for many kernels on a slow disk takes minutes


def programs(view: HostView) -> dict[str, Activation]:
    """Return every program that a transaction may run, by name. An undo takes the commands from here, because
    a journal names programs but does not say how to run them."""
    return view.once(("programs",), lambda: _programs(view))


def generators() -> frozenset[str]:
    """Return the names of the programs that write menus, entries or images. If the user started one of them
    before rocmcfg, it would write what it has read before."""
    return registry.generators() | {generator.TOOL for generator in initramfs.backends()}


def _programs(view: HostView) -> dict[str, Activation]:
    steps = [step for backend in registry.backends() for step in backend.activations(view, AGAIN)]
    entries: tuple[Entry, ...] = ()
    with suppress(Unreadable):  # a program may have damaged an entry; the undo restores it later
        entries = detection.entries_here(view)
    steps += [
        step for generator in initramfs.backends() for step in generator.activations(view, AGAIN, entries)
    ]
    steps += [env_update.activation(AGAIN), environment_targets.daemon_reload(view, AGAIN)]
    return {activation.tool: activation for activation in steps}


def reading(
    view: HostView, paths: AbstractSet[str], reason: str, loaders: Iterable[str] = registry.NAMES
) -> list[Activation]:
    """Return the programs that generate something from these files of rocmcfg, whichever of the `loaders` the
    host may have."""
    due: list[Activation] = []
    for name in loaders:
        if paths & registry.inputs(name) and detection.may_be_here(view, name):
            due += registry.backend(name).activations(view, reason)
    generator = initramfs.backend(initramfs.detect(view)) if modprobe.PATH in paths else None
    if generator is not None:
        due += generator.activations(view, reason, detection.entries_here(view))
    due += environment_targets.activations(view, paths, reason)
    return due


def timeout() -> float:
    """Return the seconds that a program may take. ROCMCFG_TOOL_TIMEOUT changes them if it is a valid time."""
    try:
        wanted = float(os.environ.get("ROCMCFG_TOOL_TIMEOUT", ""))
    except ValueError:
        return _DEFAULT_TIMEOUT
    return wanted if 0 < wanted < _LONGEST else _DEFAULT_TIMEOUT


def run_tool(
    host: Host, argv: Sequence[str], progress: Progress, mark: str, fine: Sequence[int] = ()
) -> None:
    """Run a program of the host until it finishes, with the mark of its transaction. Raise ToolFailed, except
    for an exit status that is `fine`."""
    started = time.monotonic()
    limit = timeout()

    def report() -> None:
        interrupts.check()
        progress(f"{time.monotonic() - started:.0f} s: {shlex.join(argv)}")

    result = host.execute(argv, timeout=limit, progress=report, mark=mark)
    if result.status is None:
        hint = "run it by hand and see what it waits for; set ROCMCFG_TOOL_TIMEOUT=SECONDS to allow more time"
        raise ToolFailed(result, f"did not finish within {limit:.0f} s and was stopped", hint)
    if not result.ok and result.status not in fine:
        reason = f"failed with exit status {result.status}"
        raise ToolFailed(result, reason, "run it by hand, and fix what it reports")


def generate(host: Host, step: Activation, progress: Progress, mark: str) -> None:
    """Run all commands of a derived step. Raise ToolFailed, and Unwritable for files that rocmcfg itself
    writes."""
    if step.own:
        registry.write_entries(host, step.tool)
    for argv in step.commands:
        run_tool(host, argv, progress, mark)


def wait_for_survivors(host: Host, mark: str, progress: Progress) -> None:
    """Wait for programs that outlived the transaction that ran them. A kill -9 of rocmcfg leaves its program
    running, and a program that hangs in the kernel survives its own kill -9: it would overwrite what an undo
    restores. Raise RocmcfgError if such a program does not end."""
    started = time.monotonic()
    while left := host.survivors(mark):
        interrupts.check()
        waited = time.monotonic() - started
        if waited > timeout():
            summary = f"{', '.join(left)} of the interrupted run is still running"
            hint = "wait until it finishes, or stop it, then run `rocmcfg recover` again"
            raise fail("RC4025", summary, hint=hint, exit_code=ExitCode.RECOVERY_REQUIRED)
        progress(f"{waited:.0f} s: waiting for {left[0]} of the interrupted run")
        time.sleep(0.3)


def menu_problems(
    view: HostView, loader: str, menu: Menu, wanted: Sequence[str], unwanted: Sequence[str]
) -> list[Diagnostic]:
    """Return the problems that `menus.check` finds, except unwanted arguments that others request as well."""
    others = detection.asked_by_others(view, loader, menu)
    return [*menus.check(menu, wanted, [text for text in unwanted if not contains(others, text)])]
