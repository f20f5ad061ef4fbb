"""What holds for every trial, whichever way the loader gives arguments to one boot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.backends.boot.menu import separator
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import COMMAND_LINE_LIMIT, Karg, adds_up


def on_the_line(length: int, foreign: Sequence[Karg], location: str) -> Iterable[Diagnostic]:
    """Whether the trial's arguments fit, and reach the kernel. `length` is of the whole line, in bytes."""
    if length >= COMMAND_LINE_LIMIT:
        yield error(
            "RC4301",
            f"the trial's command line would have {length} bytes; kernels take {COMMAND_LINE_LIMIT - 1}",
            location=location,
            hint="try fewer settings at a time, or apply them without --trial",
        )
    behind = separator(foreign)
    if behind is not None:
        yield error(
            "RC4302",
            "the trial's arguments would stand behind a “--”, where the kernel passes them on to init",
            location=behind.source,
            hint="move the “--” and what follows it out of that file",
        )


def beaten(
    later: Sequence[Karg],
    arguments: Sequence[str],
    hint: str = "take it out of the file that sets it, then run the command again",
) -> list[Diagnostic]:
    own = {Karg(text).key: Karg(text).value for text in arguments}
    return [
        error(
            "RC4309",
            f"{karg.text} stands behind the trial's arguments and would win",
            location=karg.source,
            hint=hint,
        )
        for karg in later
        if karg.key in own and own[karg.key] != karg.value and not adds_up(karg.name)
    ]
