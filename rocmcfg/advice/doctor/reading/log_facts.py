"""Read from logs facts about the machine that wrote them, which may be another machine than this host."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rocmcfg.model.catalogue import GpuModel, matches
from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.version import Version, parse_kernel, parse_version

if TYPE_CHECKING:
    from rocmcfg.advice.doctor.reading.scan import Scanner
    from rocmcfg.knowledge.diagnosis import LogKnowledge

_GFX = regex(r"gfx\d{1,2}[0-9a-f]{2}")


class Said(NamedTuple):
    """A statement in a log, and its position."""

    text: str
    position: int
    weight: int


class LogFacts(NamedTuple):
    """Facts that a log shows. `gfx` are the targets that it names; `family` are the targets that it may be
    about if only names of driver functions show them. `rocm_named`: it names a release of ROCm; if `rocm` is
    None, it is unknown which release ran. `kernels` and `command_lines` are sorted by position. `addresses`
    are those of GPUs on the PCI bus, `boots` the ids of boots without dashes, `host_names` the names of hosts
    that a system log has in each line, and `gtt` is the memory that the GPU may map, in MiB."""

    gfx: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    kernels: tuple[Said, ...] = ()
    command_lines: tuple[Said, ...] = ()
    rocm: Version | None = None
    rocm_named: bool = False
    dkms: str = ""
    mes: int | None = None
    unknown_parameters: tuple[Said, ...] = ()
    illegal_values: tuple[Said, ...] = ()
    kernel_names: tuple[Said, ...] = ()
    other_vendor: bool = False
    addresses: tuple[str, ...] = ()
    host_names: tuple[str, ...] = ()
    gtt: int | None = None
    boots: tuple[str, ...] = ()
    this_vendor: bool = False

    @property
    def is_another_vendors(self) -> bool:
        ours = self.gfx or self.family or self.rocm or self.rocm_named or self.dkms or self.kernel_names
        return self.other_vendor and not (ours or self.this_vendor)

    def kernel_at(self, position: int) -> str:
        """Return the release of the boot that wrote the line, or of any boot if the log does not have the
        beginning of that one."""
        statement = _before(self.kernels, position) or next(reversed(self.kernels), None)
        return statement.text if statement else ""

    def kargs_at(self, position: int) -> tuple[Karg, ...] | None:
        """Return the kernel arguments of the boot that wrote the line; None if no log shows them. A command
        line that comes after the line belongs to a later boot."""
        statement = _before(self.command_lines, position)
        return split(statement.text, "the log's command line") if statement else None


def _before(statements: Sequence[Said], position: int) -> Said | None:
    index = bisect_right([statement.position for statement in statements], position)
    return statements[index - 1] if index else None


def read_facts(scanner: Scanner, knowledge: LogKnowledge, models: Sequence[GpuModel]) -> LogFacts:
    """Return the facts in the logs that a scanner has read. It must have searched for `knowledge.facts`, in
    their order."""
    statements: dict[str, list[Said]] = {}
    hits = [hit for hit in scanner.hits if hit.probe.role == "fact"]
    for hit, pattern in zip(hits, knowledge.facts, strict=True):
        for position, line in zip(hit.positions, hit.lines, strict=True):
            for match in re.finditer(pattern.pattern, line, re.ASCII):
                statement = Said(match[pattern.group], position, pattern.weight)
                statements.setdefault(pattern.kind, []).append(statement)
    rocm, rocm_named = _rocm(statements.get("rocm", ()), statements.get("rocm_prose", ()))
    named = [knowledge.families.get(s.text.partition("_v")[2], ()) for s in statements.get("family", ())]
    mes = [int(statement.text, 16) for statement in statements.get("mes", ())]
    return LogFacts(
        _gfx(statements, models),
        tuple(sorted({m.gfx for m in models if any(matches(m.gfx, patterns) for patterns in named)})),
        _sorted(s for s in statements.get("kernel", ()) if parse_kernel(s.text)),
        _sorted(s for s in statements.get("cmdline", ()) if _is_kernels(s.text, knowledge.boot_words)),
        rocm,
        rocm_named,
        next((statement.text for statement in statements.get("dkms", ())), ""),
        mes[-1] if mes else None,
        _unique(statements.get("unknown_parameter", ())),
        _unique(statements.get("illegal_value", ())),
        _unique(statements.get("kernel_name", ())),
        "other_vendor" in statements,
        _texts(statements.get("address", ())),
        _texts(statements.get("host_name", ())),
        next((int(statement.text) for statement in reversed(statements.get("gtt", []))), None),
        _texts(statements.get("boot", ())),
        "this_vendor" in statements,
    )


def _is_kernels(command_line: str, boot_words: tuple[str, ...]) -> bool:
    words = command_line.split()
    return any(w.startswith(m) if m.endswith("=") else w == m for w in words for m in boot_words)


def _sorted(statements: Iterable[Said]) -> tuple[Said, ...]:
    return tuple(sorted(statements, key=lambda statement: statement.position))


def _unique(statements: Iterable[Said]) -> tuple[Said, ...]:
    return tuple({statement.text: statement for statement in reversed(_sorted(statements))}.values())[::-1]


def _texts(statements: Iterable[Said]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(statement.text for statement in statements))


def _gfx(by_kind: Mapping[str, Sequence[Said]], models: Sequence[GpuModel]) -> tuple[str, ...]:
    """Return the targets that the statements of the highest weight name. Mentions in passing count only if
    most of them agree."""
    by_pci = {pci: model.gfx for model in models for pci in model.pci}
    statements = [s._replace(text=by_pci.get(s.text.lower(), "")) for s in by_kind.get("pci", ())]
    statements += by_kind.get("gfx", ())
    statements += [s._replace(text=f"gfx{s.text}") for s in by_kind.get("isa", ())]
    statements = [s for s in statements if _GFX.fullmatch(s.text)]
    if not statements:
        return ()
    heaviest = max(statement.weight for statement in statements)
    counted = Counter(statement.text for statement in statements if statement.weight == heaviest)
    names = list(counted)
    if heaviest == 1:
        name, count = counted.most_common(1)[0]
        if len(names) > 1 and count < 0.75 * counted.total():
            return ()
        names = [name]
    return tuple(names)


def _rocm(printed: Sequence[Said], prose: Sequence[Said]) -> tuple[Version | None, bool]:
    """Return the newest release that programs print, by the statements of the highest weight; None if a
    sentence names another one. Also return whether sentences name any release: then the log is about a
    certain release, known or not."""
    named = {parse_version(statement.text) for statement in prose} - {None}
    if not printed:
        return None, bool(named)
    heaviest = max(statement.weight for statement in printed)
    releases = (parse_version(statement.text) for statement in printed if statement.weight == heaviest)
    newest = max(filter(None, releases))
    if any(other and any(a != b for a, b in zip(newest, other, strict=False)) for other in named):
        return None, True
    return newest, bool(named)
