"""Decide why a program sees no GPU: walk the layers between the PCI bus and the program from the bottom up,
by facts of the host and by what a log shows. Pure.

A layer passes only if something proves it; a layer that cannot be read is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from rocmcfg.knowledge.no_gpu import AccessCause, AccessLayer
from rocmcfg.model.shape import NamedTuple, published

LayerStatus = Literal["passed", "failed", "unknown", "not checked"]
Source = Literal["the host", "the log"]
_STATUS: Mapping[bool | None, LayerStatus] = {True: "passed", False: "failed", None: "unknown"}


class Evidence(NamedTuple):
    """What a host shows of a layer or of a cause: whether it is so, None if that is unknown; and in
    which words."""

    holds: bool | None
    detail: str = ""


class LayerState(NamedTuple):
    """The state of a layer. `passes` says what is so if it has passed."""

    id: str
    name: str
    passes: str
    status: LayerStatus
    detail: str


@published("cause: id title meaning command cure", "layer source detail")
class AccessAnswer(NamedTuple):
    """The cause for which a program sees no GPU, its layer, and what shows it."""

    cause: AccessCause
    layer: str
    source: Source
    detail: str


class Access(NamedTuple):
    """How far a program gets on its way to the GPU: the layers from the bottom up, and the cause at the first
    that fails; None if none is seen to fail."""

    layers: tuple[LayerState, ...]
    answer: AccessAnswer | None

    def with_status(self, status: LayerStatus) -> tuple[LayerState, ...]:
        return tuple(layer for layer in self.layers if layer.status == status)


def walk(
    layers: Sequence[AccessLayer],
    host: Mapping[str, Evidence],
    in_log: Collection[str],
    *,
    own_log: bool = False,
) -> Access:
    """Return the states of the layers. `host` is what this host shows, by ids of layers and of causes; it is
    empty if the log is from another machine. `in_log` are the fault classes and known issues of the log. An
    `own_log` is one that the host keeps: it may tell of an earlier boot, so that it names the cause at a
    layer that fails, and nothing at a layer that passes now."""
    by_log = {layer.id: cause for layer in layers if (cause := _in_log(layer, in_log)) is not None}
    top = next((layer.id for layer in layers if layer.id in by_log), "")
    states: list[LayerState] = []
    answer: AccessAnswer | None = None
    for layer in layers:
        if answer is not None:
            states.append(LayerState(layer.id, layer.name, layer.passes, "not checked", ""))
            continue
        shown, held = _shown(layer, host)
        named = by_log.get(layer.id)
        if shown.holds is False and layer.optional and top and layer.id != top:
            shown, held = Evidence(None, shown.detail), None  # another kind of program wrote the log
        if shown.holds is False:
            cause = held or named or layer.causes[-1]
            answer = AccessAnswer(cause, layer.id, "the host", shown.detail)
        elif named is not None and not (own_log and shown.holds):
            answer = AccessAnswer(named, layer.id, "the log", shown.detail)
        status = _STATUS[shown.holds] if answer is None else "failed"
        states.append(LayerState(layer.id, layer.name, layer.passes, status, shown.detail))
    return Access(tuple(states), answer)


def _in_log(layer: AccessLayer, in_log: Collection[str]) -> AccessCause | None:
    return next(
        (cause for cause in layer.causes if any(i in in_log for i in cause.faults + cause.issues)), None
    )


def _shown(layer: AccessLayer, host: Mapping[str, Evidence]) -> tuple[Evidence, AccessCause | None]:
    """Return what the host shows of a layer, and the first cause that it shows. A layer of which the host
    shows nothing but causes passes if each of these is seen to be absent."""
    of_causes = [(cause, host[cause.id]) for cause in layer.causes if cause.id in host]
    held, evidence = next(((c, e) for c, e in of_causes if e.holds), (None, None))
    whole = host.get(layer.id)
    if whole is not None and whole.holds:
        return whole, None
    if evidence is not None:
        return Evidence(False, evidence.detail), held
    if whole is not None:
        return whole, None
    details = "; ".join(e.detail for _, e in of_causes if e.detail)
    return Evidence(
        True if of_causes and all(e.holds is False for _, e in of_causes) else None, details
    ), None
