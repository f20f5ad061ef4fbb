"""What the shell files with GRUB's defaults come to: /etc/default/grub, and whatever is sourced after it.

util/grub.d/10_linux.in (GRUB 2.06 to 2.14) puts GRUB_CMDLINE_LINUX and then GRUB_CMDLINE_LINUX_DEFAULT on the
line of every entry but the recovery ones, which get the former alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub_files.shell_assignments import Environment
from rocmcfg.backends.boot.menu import Menu
from rocmcfg.model.kargs import Karg, contains, split, tokens

PATH = "/etc/default/grub"
DEFAULT = "GRUB_CMDLINE_LINUX_DEFAULT"
_VARIABLES = ("GRUB_CMDLINE_LINUX", DEFAULT)


class Sourced(NamedTuple):
    """A file, or a part of one, as the shell sources it."""

    path: str
    text: str


def observed(
    menu: Menu,
    without: Sequence[Sourced],
    whole: Sequence[Sourced],
    ours: tuple[Karg, ...],
    is_later: Callable[[str], bool],
    token: str = "",
) -> Observed:
    """`without` are the sourced files without our lines, `whole` the same files with them. `is_later` tells
    of a `file:line` whether the shell reads it after our lines. `token` is a trial's word on each entry."""
    alone = _evaluate(without)
    always, default = (_kargs(alone, name) for name in _VARIABLES)
    if always is None or default is None:
        seen = menu.normal[0].kargs if menu.normal else ()
        left = tuple(k for k in seen if k.text != token and not contains(ours, k.text))
        at = alone.opaque or next((alone.unknown[v] for v in _VARIABLES if v in alone.unknown), "")
        return Observed(menu, left, ours, (), None, at)
    # only what is added to the same variable after us stands behind us
    later = tuple(k for k in default if is_later(k.source))
    together = _evaluate(whole)
    both = [_kargs(together, name) for name in _VARIABLES]
    future = None if None in both else tuple(k for kargs in both if kargs for k in kargs)
    return Observed(menu, (*always, *default), ours, later, future)


def own_kargs(text: str, path: str) -> tuple[Karg, ...]:
    """What the lines of ours add."""
    return split(_evaluate([Sourced(path, text)]).text(DEFAULT) or "", path)


def dropped_by(sources: Sequence[Sourced], ours: int, kargs: Sequence[str]) -> str:
    """Where our arguments are lost again, of `sources` after the one with the index `ours`; empty where they
    are not, or where only a shell can tell."""
    environment = _evaluate(sources[: ours + 1])
    judged: object = environment
    for path, text in sources[ours + 1 :]:
        environment.read(path, text)
        value = environment.values.get(DEFAULT)
        if value is judged:
            continue  # most files set something else
        judged = value
        found = _kargs(environment, DEFAULT)
        if found is None:
            return ""
        if not all(contains(found, text) for text in kargs):
            return path
    return ""


def _evaluate(sources: Sequence[Sourced]) -> Environment:
    environment = Environment()
    for path, text in sources:
        environment.read(path, text)
    return environment


def _kargs(environment: Environment, name: str) -> tuple[Karg, ...] | None:
    text = environment.text(name)
    if text is None:
        return None
    origin = [segment.source for segment in environment.values.get(name, ()) for _ in segment.text]
    return tuple(Karg(token, origin[at]) for token, at in tokens(text))
