"""Take from a document what is shown of a host. Anyone may have written a document: a value of another type
than it should have counts as absent, and a long text is cut."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar

from rocmcfg.advice.fleet.documents import Document, shortened
from rocmcfg.knowledge.host_facts import fact_name
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.version import parse_kernel

State = Literal["drifting", "unknown", "pending", "nothing_applied", "in_effect"]
_STATES: dict[Any, State] = {
    "in_effect": "in_effect",
    "pending": "pending",
    "differences": "drifting",
    "nothing_applied": "nothing_applied",
}
_PASSES = ("in_effect", "rewritten_by_driver")
_TELLING = 0.5  # the score from which on doctor reports a known issue
_LONGEST = 1000  # characters of a text
_MOST = 256  # elements of a list
T = TypeVar("T")


class Verified(NamedTuple):
    """What a document of verify, or the same part of a document of status, says of the applied settings.
    `wrong` are those that are not in effect, in words, and `values` are the settings with their running
    values."""

    state: State
    transaction: int | None
    profiles: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()


class Kernel(NamedTuple):
    release: str
    dkms: bool


class Described(NamedTuple):
    """What a document says of the machine. `gpus` are the instruction sets of the GPUs, sorted; `next` is the
    newest installed kernel."""

    system: str = ""
    kernel: Kernel | None = None
    next: Kernel | None = None
    rocm: str = ""
    gpus: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()
    reboot: bool = False
    unnecessary: tuple[str, ...] = ()


class Fault(NamedTuple):
    """A fault class, or a known issue, in which `layer` and `step` are empty."""

    id: str
    title: str
    layer: str = ""
    severity: str = ""
    step: str = ""


class Diagnosed(NamedTuple):
    """What doctor says of the logs of a host."""

    faults: tuple[Fault, ...]
    issues: tuple[Fault, ...]


class Report(NamedTuple):
    """What is shown of a document. `failure` is why the command failed on the host, and `facts` are the facts
    of a document of `facts`, with the values that all GPUs of the host have."""

    command: str
    verified: Verified | None = None
    described: Described | None = None
    diagnosed: Diagnosed | None = None
    failure: str = ""
    facts: tuple[tuple[str, str], ...] = ()


class Pool:
    """Keeps one of several equal values: thousands of hosts have the same."""

    def __init__(self) -> None:
        self._kept: dict[Any, Any] = {}

    def __call__(self, value: T) -> T:
        kept: T = self._kept.setdefault(value, value)
        return kept


class Reader:
    """Reads documents. Equal parts of different documents become one object."""

    def __init__(self) -> None:
        self._pool = Pool()
        self._texts: dict[str, str] = {}

    def read(self, document: Document) -> Report:
        """Return what is shown of a document that `documents.kind_of` accepts."""
        command = self._text(document, "command")
        if "outcome" in document and "status" not in document and "logs" not in document:
            first = next(self._rows(document, "diagnostics"), {})
            return Report(command, failure=self._text(first, "summary") or "it failed")
        if command == "doctor":
            return Report(command, None, self._of_log(document), self._pool(self._diagnosed(document)))
        if command == "facts":
            facts = self._pool(tuple(sorted(self._facts(document))))
            return Report(command, None, self._described(document), facts=facts)
        verified = self._verified(document)
        return Report(command, verified and self._pool(verified), self._described(document))

    # -- the parts ----------------------------------------------------------------------------------------

    def _verified(self, document: Document) -> Verified | None:
        state = _STATES.get(self._text(document, "status"))
        if state is None:
            return None
        transaction = document.get("transaction")
        values = [*self._settings(document, "parameters"), *self._settings(document, "checks")]
        return Verified(
            state,
            transaction if type(transaction) is int else None,
            self._list(document, "profiles"),
            tuple(self._wrong(document)),
            tuple(sorted(dict(values).items())),
        )

    def _settings(self, document: Document, key: str) -> Iterator[tuple[str, str]]:
        for row in self._rows(document, key):
            value = self._text(row, "running") or self._text(row, "configured")
            if name := self._text(row, "name"):
                yield self._pool((name, value))

    def _wrong(self, document: Document) -> Iterator[str]:
        for row in self._rows(document, "checks"):
            status = self._text(row, "status")
            if status and status not in _PASSES:
                name, runs, desired = (self._text(row, key) for key in ("name", "running", "desired"))
                words = (
                    f"{name}: {status.replace('_', ' ')}, is {runs or 'not set'}, not {desired or 'unset'}"
                )
                yield self._pool(shortened(words, _LONGEST // 4))
        for row in self._rows(document, "differences"):
            if not self._text(row, "reason") and row.get("severity") != "info":
                name, here, golden = (self._text(row, key) for key in ("name", "here", "golden"))
                words = f"{name}: is {here or 'not set'}, golden host has {golden or 'none'}"
                yield self._pool(shortened(words, _LONGEST // 4))

    def _facts(self, document: Document) -> Iterator[tuple[str, str]]:
        """Yield the facts that `_described` does not have."""
        of_gpus: dict[str, list[str]] = {}
        for gpu in self._rows(document, "gpus"):
            for name, value in self._table(gpu, "values"):
                of_gpus.setdefault(name, []).append(value)
        for name, values in of_gpus.items():
            yield self._pool(
                (
                    self._kept(fact_name(name)),
                    values[0] if len({*values}) == 1 else counted_gpus(sorted(values)),
                )
            )
        for name, value in self._table(document, "values"):
            if name not in ("gpus", "kernel", "rocm", "os"):
                yield self._pool((self._kept(fact_name(name)), value))

    def _table(self, row: Document, key: str) -> Iterator[tuple[str, str]]:
        values = row.get(key)
        table: Document = values if isinstance(values, dict) else {}
        for name in [*table][:_MOST]:
            if value := self._text(table, name):
                yield self._kept(name), value

    def _described(self, document: Document) -> Described | None:
        facts = document.get("facts")
        if not isinstance(facts, dict):
            return None
        kernels = [
            (Kernel(release, row.get("dkms") is True), row.get("running") is True)
            for row in self._rows(facts, "kernels")
            if (release := self._text(row, "release"))
        ]
        running = self._text(facts, "running_kernel")
        kernel = next((each for each, runs in kernels if runs), Kernel(running, False) if running else None)
        system = facts.get("os")
        gpus = [*self._rows(facts, "gpus")]
        unnecessary = (self._text(row, "setting") for row in self._rows(document, "unnecessary"))
        described = Described(
            self._text(system, "name") if isinstance(system, dict) else "",
            kernel,
            max((each for each, _ in kernels), key=_age, default=None),
            self._text(facts, "rocm"),
            tuple(sorted(self._text(row, "gfx") or "unknown" for row in gpus)),
            tuple(dict.fromkeys(filter(None, (self._text(row, "name") for row in gpus)))),
            document.get("reboot_required") is True,
            tuple(filter(None, unnecessary)),
        )
        return self._pool(described)

    def _of_log(self, document: Document) -> Described | None:
        """Return the machine of doctor's document, if it is the host and not only that of a log."""
        facts = document.get("facts")
        if not isinstance(facts, dict):
            return None
        kernel = self._text(facts, "kernel") if facts.get("kernel_source") == "this host" else ""
        rocm = self._text(facts, "rocm") if facts.get("rocm_source") == "this host" else ""
        described = Described(kernel=Kernel(kernel, False) if kernel else None, rocm=rocm)
        return self._pool(described) if described != Described() else None

    def _diagnosed(self, document: Document) -> Diagnosed:
        faults = (
            Fault(id, *(self._text(row, key) for key in ("title", "layer", "severity", "step")))
            for row in self._rows(document, "faults")
            if (id := self._text(row, "id")) and row.get("severity") != "note"
        )
        issues = (
            Fault(id, self._text(row, "title"))
            for row in self._rows(document, "matches")
            if (id := self._text(row, "issue")) and _is_telling(row.get("score"))
        )
        return Diagnosed(self._each(faults), self._each(issues))

    def _each(self, faults: Iterable[Fault]) -> tuple[Fault, ...]:
        return tuple({fault.id: self._pool(fault) for fault in faults}.values())

    # -- values of a document -----------------------------------------------------------------------------

    def _text(self, row: Document, key: str) -> str:
        value = row.get(key)
        return self._texts.get(value) or self._kept(value) if value.__class__ is str else ""

    def _kept(self, text: str) -> str:
        kept = self._texts.get(text)
        if kept is None:
            kept = self._texts[text] = shortened(text, _LONGEST)
        return kept

    def _list(self, row: Document, key: str) -> tuple[str, ...]:
        values = row.get(key)
        if not isinstance(values, list):
            return ()
        return self._pool(tuple(self._kept(value) for value in values[:_MOST] if isinstance(value, str)))

    @staticmethod
    def _rows(row: Document, key: str) -> Iterator[Document]:
        values = row.get(key)
        if isinstance(values, list):
            yield from (value for value in values[:_MOST] if isinstance(value, dict))


def _is_telling(score: Any) -> bool:
    return isinstance(score, (int, float)) and score >= _TELLING


@functools.cache
def _age(kernel: Kernel) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return a key that sorts the newest kernel last, as `rocmcfg.model.facts.Kernel.age`."""
    version = parse_kernel(kernel.release)
    return version.numbers if version else (), tuple(map(int, re.findall("[0-9]{1,18}", kernel.release)))


def counted_gpus(gpus: Sequence[str]) -> str:
    """Return `8 × gfx942, 1 × gfx1036` for the instruction sets of GPUs."""
    return ", ".join(f"{number} × {gfx}" for gfx, number in Counter(gpus).items())
