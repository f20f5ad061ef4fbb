"""Load what is known about the facts that hosts are compared by.

The file is ours and tests check it, so nothing is validated at run time.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from rocmcfg.knowledge import compiled
from rocmcfg.knowledge.compiled import noun
from rocmcfg.model.host_facts import Advice, FactGroup, FactRow

_FILE = "knowledge/data/host_facts.toml"


@functools.cache
def fact_rows() -> tuple[FactRow, ...]:
    """Return the facts in the order in which a difference matters."""
    rows = compiled.packaged(_FILE)["fact"]
    return tuple(
        noun(FactRow, row, advised=tuple(noun(Advice, each) for each in row.get("advised", ())))
        for row in rows
    )


def fact_name(id: str) -> str:
    """Return the name of a fact, such as `firmware smc` for `firmware.smc`; the id itself of an unknown
    one."""
    kind, _, detail = id.partition(".")
    name = _names().get(kind, kind)
    return f"{name} {detail}" if detail else name


@functools.cache
def _names() -> Mapping[str, str]:
    return {row.id: row.name for row in fact_rows()}


@functools.cache
def fact_groups() -> Mapping[str, FactGroup]:
    """Return the groups of facts by their ids."""
    return {row["id"]: noun(FactGroup, row) for row in compiled.packaged(_FILE)["group"]}
