"""Judge the kernel arguments with which a log was written, or with which this host runs, by the one judge,
and keep those that certainly do harm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.judging.judge import judge
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.desired import Kind
from rocmcfg.model.facts import Machine
from rocmcfg.model.kargs import Karg, last
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling, parameter


class Harmful(NamedTuple):
    """A kernel argument that does harm: its text, the place that shows it, what is wrong, why, and what to
    do."""

    argument: str
    place: str
    summary: str
    why: str
    cure: str


def harmful(kargs: Sequence[Karg], machine: Machine, catalogue: Catalogue) -> tuple[Harmful, ...]:
    """Return the arguments that are a grave trap on a machine, each once. Of several values of one name only
    the last counts."""
    names = dict.fromkeys(karg.name for karg in kargs)
    counting = (karg for name in names if (karg := last(kargs, name)) is not None and not karg.untold)
    return tuple(one for karg in counting for one in _judged(karg, machine, catalogue))


def _judged(karg: Karg, machine: Machine, catalogue: Catalogue) -> Iterator[Harmful]:
    module, dot, _ = karg.key.partition(".")
    is_parameter = bool(dot) and module in catalogue.modules()
    setting = parameter(karg.key, karg.value) if is_parameter else Spelling(Kind.KARG, karg.name, karg.value)
    for verdict in judge(setting, machine, catalogue):
        if verdict.is_grave:
            from rocmcfg.judging.words import words

            worded = words(verdict, setting, catalogue, machine)
            yield Harmful(karg.text, karg.source, worded.summary, worded.why, worded.cure)
            return
