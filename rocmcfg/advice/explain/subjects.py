"""Explain ids that are not settings: known issues, fault classes, GPUs, profiles, numbers, and diagnostics.
Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rocmcfg.advice.explain.explanation import Explanation, Meaning
from rocmcfg.judging.fault_words import SEVERITIES, blamed, outlook
from rocmcfg.model.catalogue import GpuModel, matches
from rocmcfg.model.fault import Fault, Layer
from rocmcfg.model.fix import Fix
from rocmcfg.model.issue import KnownIssue, cause
from rocmcfg.model.profile import Profile, ProfileParameter
from rocmcfg.model.regex import search

_SHOWN = 8  # known issues that mention a topic


def issue(entry: KnownIssue, here: bool, gfx: Sequence[str] = ()) -> Explanation:
    """Explain a known issue. `here`: the GPU, kernel and ROCm match it, those of this host or of a machine
    with the GPUs `gfx`."""
    machine = f"a machine with {' and '.join(gfx)}" if gfx else "this host"
    cure = entry.workaround
    no_cure = [] if cure.settings or cure.unset or cure.steps else ["no parameter cures this"]
    rows = [
        ("here", [f"{machine} matches" if here else f"{machine} does not match, or rocmcfg cannot tell"]),
        ("GPUs", [", ".join(entry.gfx)] if entry.gfx else []),
        ("kernel", [*([entry.kernel.text] if entry.kernel else []), *entry.kernels_by_fix]),
        ("ROCm", [entry.rocm.text] if entry.rocm else []),
        ("cure", [*map(str, cure.settings), *(f"unset {name}" for name in cure.unset), *no_cure]),
        ("do", cure.steps),
        ("see", [f"rocmcfg plan --profile {cure.profile}"] if cure.profile else []),
        ("costs", [entry.cost] if entry.cost else []),
        ("fixed", [entry.fixed_in] if entry.fixed_in else []),
        ("no help", entry.does_not_help),
        ("note", entry.notes),
    ]
    summary = f"{entry.title} ({cause(entry.kind, entry.confidence)})\n{entry.summary}"
    return Explanation(entry.id, "issue", summary, details=_details(rows), sources=entry.evidence)


def fix(entry: Fix, here: Mapping[str, bool | None], issues: Iterable[KnownIssue]) -> Explanation:
    """Explain a fix of the kernel. `here` says which kernels of the machine have it; None is unknown."""
    about = [fault.id for fault in issues if fault.lacks_fix == entry.name]
    has = {True: "has it", False: "does not have it", None: "does not show whether it has it"}
    rows = [
        ("here", [f"kernel {release} {has[fixed]}" for release, fixed in here.items()]),
        ("kernels", [entry.history]),
        ("issues", [", ".join(about)] if about else []),
    ]
    return Explanation(entry.name, "fix", entry.summary, details=_details(rows), sources=entry.evidence)


def topic(text: str, issues: Sequence[KnownIssue]) -> Explanation:
    """Explain a text that is the name of nothing, but that known issues mention."""
    rows = [(entry.id, [entry.title]) for entry in issues[:_SHOWN]]
    rows += [("and more", [f"rocmcfg issues {text}"])] if len(issues) > _SHOWN else []
    summary = "Not the name of a setting. Known issues that mention it:"
    return Explanation(text, "topic", summary, details=_details(rows))


def gpu(models: Sequence[GpuModel], profiles: Iterable[str], issues: Iterable[KnownIssue]) -> Explanation:
    """Explain a gfx target, which several models may share."""
    named = [f"{model.codename} ({model.products})" if model.products else model.codename for model in models]
    about = [fault.id for fault in issues if fault.kind == "fault" and matches(models[0].gfx, fault.gfx)]
    rows = [
        ("GPUs", list(dict.fromkeys(filter(None, named)))),
        ("see", [f"rocmcfg profile show {name}" for name in profiles]),
        ("issues", [", ".join(about)] if about else []),
    ]
    sources = tuple(dict.fromkeys(source for model in models for source in model.sources))
    return Explanation(models[0].gfx, "gpu", models[0].family, details=_details(rows), sources=sources)


def profile(entry: Profile) -> Explanation:
    details = _details([("see", [f"rocmcfg profile show {entry.name}"])])
    return Explanation(entry.name, "profile", entry.summary, entry.notes, details=details)


def number(entry: ProfileParameter, profile: str) -> Explanation:
    setting = f"profile.{entry.name}={(entry.unit or 'number').upper()}"
    details = _details([("see", [f"rocmcfg plan --profile {profile} --set {setting}"])])
    return Explanation(f"profile.{entry.name}", "number", entry.summary, unit=entry.unit, details=details)


def status(name: str, row: Mapping[str, Any], issues: Iterable[KnownIssue]) -> Explanation:
    """Explain an error code of a library: its `number`, and the text that the library `prints` for it."""
    number, prints = int(row["number"]), str(row.get("prints", ""))
    signs = [(entry.id, sign.pattern) for entry in issues for sign in entry.signatures]
    about = dict.fromkeys(id for id, text in signs if name in text or (prints and search(text, prints)))
    rows = [
        ("from", [f"{'HIP' if prints else 'ROCr'}, number {number} ({number:#x})"]),
        ("printed", [prints] if prints else []),
        ("issues", [f"{', '.join(about)}: these print it"] if about else []),
        ("see", ["rocmcfg doctor FILE, with the log: the first error in it is the one that matters"]),
    ]
    summary = str(row.get("means", "A call of the program failed; the name of the error says how."))
    return Explanation(name, "status", summary, details=_details(rows))


def fault(entry: Fault, layer: Layer) -> Explanation:
    """Explain a fault class."""
    rows = [
        ("layer", [layer.title]),
        ("next", [entry.step]),
        ("severe", [f"{entry.severity}: {SEVERITIES[entry.severity]}"]),
        ("blame", [f"probably {blamed(entry)}"]),
        ("work", [outlook(entry)]),
        ("after", [f"it can be a consequence of {id}" for id in entry.after]),
        ("issues", [", ".join(entry.issues)] if entry.issues else []),
        ("log", [line.text for line in entry.lines]),
        ("report", [layer.tracker]),
    ]
    summary = f"{entry.title[0].upper()}{entry.title[1:]}.\n{entry.meaning}"
    sources = tuple(dict.fromkeys(line.origin for line in entry.lines if line.origin.startswith("https:")))
    return Explanation(entry.id, "fault", summary, details=_details(rows), sources=sources)


def diagnostic(id: str, severity: str, summary: str, hint: str) -> Explanation:
    details = _details([("kind", [severity]), ("help", [hint] if hint else [])])
    return Explanation(id, "diagnostic", summary, details=details)


def _details(rows: Iterable[tuple[str, Iterable[str]]]) -> tuple[Meaning, ...]:
    return tuple(Meaning(name, text) for name, texts in rows for text in texts)
