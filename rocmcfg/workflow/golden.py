"""Read the facts of a host, and compare a host with the facts of another one, the golden host."""

from __future__ import annotations

import fnmatch
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rocmcfg.advice.gate.golden import advice, compared, differences, is_ignored
from rocmcfg.facts.host_facts import compose, read_gpu_fact, read_host_fact
from rocmcfg.facts.packages import read_packages
from rocmcfg.facts.system import read_hardware
from rocmcfg.files import environment
from rocmcfg.host.files import read_callers_file
from rocmcfg.host.view import HostView, Snapshot, Unreadable
from rocmcfg.knowledge import catalogue
from rocmcfg.knowledge.host_facts import fact_groups, fact_rows
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, cut, error, fail, info, warning
from rocmcfg.model.difference import Difference
from rocmcfg.model.facts import Facts
from rocmcfg.model.host_facts import CannotBeTold, ComparedFacts, GpuFacts, HostFacts, Reading, step
from rocmcfg.model.kargs import canonical
from rocmcfg.model.shape import Malformed, NamedTuple
from rocmcfg.records import dialect
from rocmcfg.state.values import Running
from rocmcfg.workflow.planning import collect_facts

SCHEMA = 1  # the version of the documents that this rocmcfg reads
_LARGEST = 4 << 20  # bytes; the document of a host with eight GPUs has 10 KiB
# Each pattern is compared with each fact, so that the time grows with their product.
_MOST_FACTS, _MOST_IGNORED, _LONGEST_IGNORED = 5_000, 250, 255
_AGAIN = "save it again on the golden host: `rocmcfg facts --save FILE`"


class Compared(NamedTuple):
    """A host compared with the golden one. `total` is the number of facts that were compared."""

    differences: tuple[Difference, ...]
    total: int
    diagnostics: tuple[Diagnostic, ...]


def facts(view: HostView) -> tuple[HostFacts, tuple[Diagnostic, ...]]:
    """Return the facts of the host, and what AMD's guides ask for and the host does not have."""
    view = Snapshot(view)
    facts = collect_facts(view)
    host = _facts(view, facts)
    untold = (each for each in host.cannot_be_told if _needs_root(each.reason))
    diagnostics = [*_advice(host, facts), *_untold(untold)]
    if host.compared.values.get("gpus") == "none":
        hint = "`rocmcfg doctor` says at which layer a GPU is lost"
        diagnostics.insert(0, warning("RC4706", "this host has no AMD GPU", hint=hint))
    return host, tuple(diagnostics)


def compare(view: HostView, path: str) -> Compared:
    """Compare the host with the golden host of a file. Raises RocmcfgError if the file is not the document of
    `rocmcfg facts`, or has no fact to compare."""
    golden = read_golden(path)
    view = Snapshot(view)
    host = _facts(view, collect_facts(view), golden.ignore)
    total = compared(golden, host, fact_rows(), fact_groups())
    strange = tuple(_strange(golden, path))
    if not total:
        summary = f"{path} has no fact that this host is compared by"
        hint = "look at its `ignore`, or update rocmcfg on this host"
        raise RocmcfgError(error("RC4711", summary, location=path, hint=hint), *strange)
    differing = differences(golden, host, fact_rows(), fact_groups())
    untold = [CannotBeTold(each.fact, each.reason) for each in differing if each.reason]
    return Compared(differing, total, (*strange, *_untold(untold)))


def read_golden(path: str) -> ComparedFacts:
    """Return the facts of the golden host from its document. Raises RocmcfgError."""
    content = read_callers_file(path, _LARGEST).content
    if content is None:
        raise Unreadable(path, "it is not a regular file")
    if len(content) > _LARGEST:
        raise fail("RC4701", f"{path} is larger than {_LARGEST >> 20} MiB", location=path, hint=_AGAIN)
    try:
        document = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as problem:
        reason = (
            "its values are nested too deeply" if isinstance(problem, RecursionError) else cut(str(problem))
        )
        raise fail("RC4702", f"{path} is not JSON", detail=reason, location=path, hint=_AGAIN) from None
    _require_facts(document, path)
    try:
        golden = dialect.read(ComparedFacts, document)
    except Malformed as problem:
        raise fail(
            "RC4704", f"{path} is damaged", detail=cut(str(problem)), location=path, hint=_AGAIN
        ) from None
    if not golden.total:
        raise fail("RC4704", f"{path} has no fact", location=path, hint=_AGAIN)
    longest = max(map(len, golden.ignore), default=0)
    if golden.total > _MOST_FACTS or len(golden.ignore) > _MOST_IGNORED or longest > _LONGEST_IGNORED:
        detail = (
            f"it has {golden.total} facts and {len(golden.ignore)} patterns in `ignore`, of up to {longest} "
            f"characters; rocmcfg compares at most {_MOST_FACTS} with {_MOST_IGNORED}, of up to "
            f"{_LONGEST_IGNORED} characters"
        )
        hint = "ignore a group with one pattern, such as packages.*"
        raise fail("RC4704", f"{path} has too much to compare", detail=detail, location=path, hint=hint)
    texts = (text for table in golden.tables for fact in table.items() for text in fact)
    strange = next((text for text in texts if not text.isprintable()), "")
    if strange:  # it would end a line, and what follows could pass for a remark of rocmcfg
        detail = f"{cut(ascii(strange))} has characters that no fact has"
        raise fail("RC4704", f"{path} is damaged", detail=detail, location=path, hint=_AGAIN)
    return golden


def _require_facts(document: Any, path: str) -> None:
    """Raise RocmcfgError for a document of another command, or of another version."""
    fields = document if isinstance(document, dict) else {}
    version, command = fields.get("schema_version"), fields.get("command")
    if type(version) is not int or not isinstance(command, str):
        raise fail("RC4703", f"{path} is no document of rocmcfg", location=path, hint=_AGAIN)
    if command != "facts":
        summary = f"{path} is a document of `rocmcfg {cut(command, 40)}`, not of `rocmcfg facts`"
        raise fail("RC4703", summary, location=path, hint=_AGAIN)
    if version != SCHEMA:
        age = "newer" if version > SCHEMA else "older"
        summary = f"{path} comes from {'a' if age == 'newer' else 'an'} {age} rocmcfg"
        detail = f"its schema_version is {version}, and this rocmcfg reads {SCHEMA}"
        hint = "update rocmcfg on this host" if age == "newer" else _AGAIN
        raise fail("RC4705", summary, detail=detail, location=path, hint=hint)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        (repeated, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {cut(repeated, 40)!r} stands twice")
    return table


def _facts(view: HostView, facts: Facts, ignored: Iterable[str] = ()) -> HostFacts:
    """Return the facts of a host. Those that are ignored as a group are not read."""
    untold: list[CannotBeTold] = []
    values = dict(_of_host(view, facts, untold))
    gpus = tuple(_of_gpus(view, facts, untold))
    groups = fact_groups()
    packages: Mapping[str, str] = {}
    if not is_ignored("packages.", tuple(ignored)):
        packages, reason = read_packages(view, groups["packages"].also)
        untold += [CannotBeTold("packages", reason)] if reason else []
    compared = ComparedFacts(
        values,
        gpus,
        dict(_parameters(view, untold)),
        _arguments(view, groups["arguments"].also, untold),
        dict(_variables(view, untold)),
        packages,
    )
    return HostFacts(facts, compared, tuple(dict.fromkeys(untold)))


def _of_host(view: HostView, facts: Facts, untold: list[CannotBeTold]) -> Iterator[tuple[str, str]]:
    composed = compose(view, facts, read_hardware(view, ()))
    for row in fact_rows():
        if row.of == "host":
            yield from _told(row.id, read_host_fact(view, row, composed), untold)


def _of_gpus(view: HostView, facts: Facts, untold: list[CannotBeTold]) -> Iterator[GpuFacts]:
    """Yield the facts of each GPU. Partitions of one have its address, and are not counted again."""
    by_address = {gpu.address: gpu for gpu in reversed(facts.gpus) if gpu.address}
    for address, gpu in sorted(by_address.items()):
        rows = (row for row in fact_rows() if row.of == "gpu" and row.concerns(gpu))
        readings = (each for row in rows for each in read_gpu_fact(view, row, gpu))
        values = {name: value for id, each in readings for name, value in _told(id, each, untold)}
        yield GpuFacts(address, gpu.gfx, values)


def _told(id: str, reading: Reading, untold: list[CannotBeTold]) -> Iterator[tuple[str, str]]:
    """Yield the fact of a reading; without a value, note why it cannot be told."""
    if reading.reason or not reading.value.isprintable():
        reason = reading.reason or "its value has characters that cannot be printed"
        untold.append(CannotBeTold(id, reason))
    else:
        yield id, reading.value


def _parameters(view: HostView, untold: list[CannotBeTold]) -> Iterator[tuple[str, str]]:
    """Yield the running values of the parameters of the GPU's modules that everybody may read."""
    running = Running(view)
    for module in catalogue.load().modules():
        for name in view.names(f"/sys/module/{module}/parameters")[:1000]:
            value = running.parameter(f"{module}.{name}")
            if value.value is not None and value.value.isprintable() and len(value.value) <= 200:
                yield f"{module}.{name}", value.value
            elif not value.readable:
                untold.append(CannotBeTold(f"parameters.{module}.{name}", "only root may read it"))


def _arguments(view: HostView, also: Iterable[str], untold: list[CannotBeTold]) -> dict[str, str]:
    """Return the arguments of the running kernel that rocmcfg knows. Others may hold an address, a name or a
    secret, and parameters of modules are among the parameters."""
    running = Running(view)
    if not running.known:
        untold.append(CannotBeTold("arguments", "there is no /proc/cmdline"))
    names = {canonical(name): name for name in (*catalogue.load().arguments, *also)}
    values: dict[str, list[str]] = {}
    for karg in running.kargs:
        if karg.key in names:
            values.setdefault(names[karg.key], []).append(karg.value or "set")
    return {name: ",".join(values[name])[:200] for name in sorted(values)}


def _variables(view: HostView, untold: list[CannotBeTold]) -> Iterator[tuple[str, str]]:
    """Yield the variables that rocmcfg knows and that a file sets for all users."""
    by_name = {assignment.name: assignment for assignment in environment.for_everybody(view)}
    for name in sorted({*by_name} & {*catalogue.load().variables}):
        value = by_name[name].value
        if value is None:
            untold.append(
                CannotBeTold(f"variables.{name}", f"{by_name[name].source} does not give a plain value")
            )
        elif value.isprintable() and len(value) <= 200:
            yield name, value


def _advice(host: HostFacts, facts: Facts) -> Iterator[Diagnostic]:
    for row, advised, value in advice(host.compared, facts.gpus, fact_rows()):
        summary = (
            f"{row.name}: {value}, and AMD's guide for {', '.join(advised.gfx)} asks for {advised.value}"
        )
        detail = f"{row.why} ({advised.source})"
        yield warning("RC4708", summary, detail=detail, hint=step(row.fix, value=advised.value, here=value))


def _untold(untold: Iterable[CannotBeTold]) -> Iterator[Diagnostic]:
    by_reason: dict[str, list[str]] = {}
    for each in untold:
        names = by_reason.setdefault(each.reason, [])
        if each.fact not in names:
            names.append(each.fact)
    for reason, names in by_reason.items():
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        by_hand = "compare it by hand, or list it in `ignore` of the golden host"
        hint = "run the command as root" if _needs_root(reason) else by_hand
        yield info("RC4707", f"cannot tell {', '.join(names[:4])}{more}: {reason}", hint=hint)


def _needs_root(reason: str) -> bool:
    return any(word in reason for word in ("only root", "Permission denied", "not permitted"))


def _strange(golden: ComparedFacts, path: str) -> Iterator[Diagnostic]:
    """Yield a remark about facts that this rocmcfg does not know: the document may come from a newer one."""
    ids = {row.id for row in fact_rows()}
    names = {*golden.values, *(id.partition(".")[0] for gpu in golden.gpus for id in gpu.values)}
    strange = sorted(name for name in names - ids if not is_ignored(name, golden.ignore))
    if strange:
        summary = f"not compared, as this rocmcfg does not know it: {cut(', '.join(strange))}"
        yield info("RC4709", summary, location=path, hint="update rocmcfg on this host")
    idle = [p for p in golden.ignore if not any(fnmatch.fnmatchcase(n, p) for n in _names(golden))]
    if idle:
        summary = f"`ignore` names no fact of the golden host: {cut(', '.join(idle))}"
        yield info(
            "RC4710", summary, location=path, hint="write ids as the document has them, such as packages.*"
        )


def _names(golden: ComparedFacts) -> Iterator[str]:
    yield from golden.values
    yield from (id for gpu in golden.gpus for id in gpu.values)
    for id in fact_groups():
        yield from (f"{id}.{name}" for name in golden.group(id))
