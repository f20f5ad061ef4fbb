"""Write a fleet as one HTML page that needs no network.

Everything in it that comes from a host is data: in the page's own tables it is escaped as HTML, and for the
script it is JSON in a block that no browser runs. The Content-Security-Policy of the page lets only its own
script and style count, by their checksums.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from rocmcfg.advice.fleet.collection import WORST
from rocmcfg.advice.fleet.host import Change, Fleet, Host, Odd
from rocmcfg.model.shape import NamedTuple

_MOST_ROWS = 200  # of a table that the script does not page through
_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


class Template(NamedTuple):
    """The parts of the page."""

    html: str
    style: str
    script: str


class _Facet(NamedTuple):
    """What hosts are told apart by. `list`: its values are listed beside the table, from the beginning if
    `open`."""

    key: str
    title: str
    labels: Callable[[Host], Iterable[str]]
    list: bool = True
    open: bool = False


def page(fleet: Fleet, template: Template, version: str, written: str) -> str:
    """Return the page. `written` is the time at which it is written, in words."""
    facets = _facets(fleet)
    numbers: list[dict[str, int]] = [{} for _ in facets]
    numbers[0] = {label: at for at, label in enumerate(map(_words, WORST))}
    rows = [_row(host, facets, numbers) for host in fleet.hosts]
    described = [
        {
            "key": facet.key,
            "title": facet.title,
            "values": [*values],
            "list": facet.list,
            "open": facet.open,
            "classes": [*WORST] if facet.key == "state" else [],
        }
        for facet, values in zip(facets, numbers, strict=True)
    ]
    data = json.dumps({"facets": described, "hosts": rows}, separators=(",", ":"))
    parts = {
        "TITLE": f"Fleet: {_counted(len(fleet.hosts), 'host')}",
        "ABOUT": escape(_about(fleet, written)),
        "VERSION": escape(version),
        "TILES": "\n".join(_tiles(fleet, numbers[0], numbers[1])),
        "SECTIONS": "\n".join(_sections(fleet)),
        "STYLE": template.style,
        "SCRIPT": template.script,
        "STYLE_HASH": _hash(template.style),
        "SCRIPT_HASH": _hash(template.script),
        "DATA": re.sub("[<>&]", lambda match: _IN_SCRIPT[match[0]], data),
    }
    return re.sub("@([A-Z_]+)@", lambda match: parts[match[1]], template.html)


# -- the data of the script -----------------------------------------------------------------------------


def _facets(fleet: Fleet) -> Sequence[_Facet]:
    titles = {row.id: row.title for row in (*fleet.faults, *fleet.issues)}
    ends = {row.setting: row.ends_with for row in fleet.workarounds}
    return (
        _Facet("state", "State", lambda host: (_words(host.state),), list=False),
        _Facet("attention", "Attention", _attention, list=False),
        _Facet("faults", "Faults", lambda host: (f"{id} {titles[id]}" for id in host.faults), open=True),
        _Facet("wrong", "Settings not in effect", lambda host: host.verified.wrong),
        _Facet("odd", "Odd: differs from most", lambda host: map(_odd, host.odd), open=True),
        _Facet("changes", f"Changed since {fleet.since}", lambda host: map(_change, host.changes)),
        _Facet(
            "ending", "Ends with the next kernel", lambda h: (f"{id} ({ends.get(id, '')})" for id in h.ending)
        ),
        _Facet("unnecessary", "No longer needed", lambda host: host.machine.unnecessary),
        _Facet("kernel", "Kernel", lambda host: (host.kernel,), open=True),
        _Facet("next", "Next kernel", lambda host: (host.next_kernel,)),
        _Facet("gpus", "GPUs", lambda host: (host.gpus,), open=True),
        _Facet("profiles", "Profiles", lambda host: host.verified.profiles, open=True),
        _Facet("rocm", "ROCm", lambda host: (host.machine.rocm,)),
        _Facet("system", "System", lambda host: (host.machine.system,)),
        _Facet(
            "issues", "Known issues in the logs", lambda host: (f"{id}: {titles[id]}" for id in host.issues)
        ),
        _Facet("written", "Written (UTC)", lambda host: (host.written,), list=False),
        _Facet("problems", "Problems with documents", lambda host: host.problems),
    )


def _row(host: Host, facets: Sequence[_Facet], numbers: Sequence[dict[str, int]]) -> list[Any]:
    """Return the name of a host, and for each facet the number of its value, -1 without one, or the numbers
    of several."""
    row: list[Any] = [host.name]
    for facet, number_of in zip(facets, numbers, strict=True):
        labels = dict.fromkeys(filter(None, facet.labels(host)))
        values = [number_of.setdefault(label, len(number_of)) for label in labels]
        row.append(values[0] if len(values) == 1 else values or -1)
    return row


def _attention(host: Host) -> Iterator[str]:
    if host.faults or host.issues:
        yield "faults in the logs"
    if host.odd:
        yield "odd among peers"
    if host.ending:
        yield "next kernel ends workarounds"
    if host.changes:
        yield "changed since"
    if host.problems:
        yield "problems with documents"


def _odd(odd: Odd) -> str:
    return f"{odd.what}: {odd.value} (usual: {odd.usual})"


def _change(change: Change) -> str:
    if change.what == "host":
        return "new host"
    return f"{change.what}: {change.before or 'none'} → {change.now or 'none'}"


# -- the tables of the page -------------------------------------------------------------------------------


def _tiles(fleet: Fleet, states: Mapping[str, int], attention: Mapping[str, int]) -> Iterator[str]:
    for share in fleet.states:
        number = states[_words(share.value)]
        yield _tile("state", number, share.hosts, _words(share.value), f' data-state="{share.value}"')
    counts = dict.fromkeys(attention, 0)
    for host in fleet.hosts:
        for label in _attention(host):
            counts[label] += 1
    for label, number in attention.items():
        yield _tile("attention", number, counts[label], label)


def _tile(key: str, value: int, count: int, label: str, more: str = "") -> str:
    data = f'data-key="{key}" data-value="{value}"{more}'
    return (
        f'<button type="button" class="tile" aria-pressed="false" {data}>'
        f"<b>{count:,}</b>{escape(label)}</button>"
    )


def _sections(fleet: Fleet) -> Iterator[str]:
    faults = [
        (row.id, row.title, row.severity, row.step or f"rocmcfg explain {row.id}", row.hosts)
        for row in (*fleet.faults, *fleet.issues)
    ]
    yield from _table("Faults by class", ("Fault", "What", "Severity", "Next step", "Hosts"), faults)
    workarounds = [(row.setting, row.ends_with, row.hosts, row.ending) for row in fleet.workarounds]
    heads = ("Workaround", "Ends with", "Hosts", "Ends with their next kernel")
    yield from _table("Workarounds, and the releases that end them", heads, workarounds)
    yield from _table(f"Hosts that are gone since {fleet.since}", ("Host",), [(n,) for n in fleet.vanished])
    unused = [(row.kind, row.host, row.file, row.reason) for row in fleet.unused]
    yield from _table("Documents that were not used", ("Kind", "Host", "File", "Reason"), unused)


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    if not rows:
        return
    shown = rows[:_MOST_ROWS]
    yield f'<section class="part"><h2>{escape(title)}</h2><table role="table">'
    cells = "".join(f'<th role="columnheader" scope="col">{escape(head)}</th>' for head in heads)
    yield f'<thead role="rowgroup"><tr role="row">{cells}</tr></thead><tbody role="rowgroup">'
    for row in shown:
        cells = "".join(_cell(head, value) for head, value in zip(heads, row, strict=True))
        yield f'<tr role="row">{cells}</tr>'
    left = f"<p>And {len(rows) - len(shown):,} more.</p>" if len(rows) > len(shown) else ""
    yield f"</tbody></table>{left}</section>"


def _cell(head: str, value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else escape(str(value))
    return f'<td role="cell" data-label="{escape(head)}">{text}</td>'


def _about(fleet: Fleet, written: str) -> str:
    parts = [f"{_counted(fleet.documents, 'document')}, {written}"]
    if fleet.unused:
        parts.append(f"{_counted(len(fleet.unused), 'document')} not used")
    if fleet.since:
        parts.append(f"compared with {fleet.since}")
    return "; ".join(parts)


def _words(state: str) -> str:
    return state.replace("_", " ")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
