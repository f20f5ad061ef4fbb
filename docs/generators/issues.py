"""docs/reference/issues.md: what doctor recognises, to be found by what one sees and by the GPU; then what
lint finds, and what vendors advise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from generators.knowledge import GENERATED, anchor, links
from rocmcfg.knowledge import catalogue
from rocmcfg.model.issue import KnownIssue, cause

# An issue stands under the first of these whose words its title has, or else its summary.
_SYMPTOMS = (
    ("Several GPUs", r"several GPUs|RCCL|Ray on|two or more|direct copies|split over both|xgmi"),
    ("Sleep, black screens, flicker", r"suspend|sleep|black|flicker|login screen|panel|FreeSync|page ?flip"),
    ("Not enough memory", r"half of the memory|out of (GPU )?memory|not enough memory|mmap|does not fit|VAE"),
    (
        "The driver gives up the GPU, or the GPU is gone",
        r"gives the |gives up|not loaded|not build|discovery|gone|PCIe atomics|no graphics|MI50|guest"
        r"|power controller|display firmware|PCIe completion|virtual machine|DMUB",
    ),
    (
        "A program does not find the GPU, or a library",
        r"librar|no code|no kernels|not see|sees no|not supported|No right|on the processor|packages|linker"
        r"|does not know|leave integrated|No devices|WSL|another GPU|arguments|not found|\.ids|built for",
    ),
    (
        "Hangs, time-outs, resets",
        r"hang|time-?out|reset|answer|stall|freez|deadlock|queue|too many processes|stops",
    ),
    ("Memory faults, crashes", r"fault|crash|illegal|INVALID_ISA|exception|oops|panic|page|Memory in use"),
    ("Slow, hot, or odd readings", ""),
)
_ANY = "Any GPU"
_PARTS = (
    (
        "spelling",
        "What lint finds",
        "`rocmcfg lint` finds these names and values, which people often get wrong.",
    ),
    (
        "advice",
        "What AMD advises",
        "AMD's own guides recommend these settings. They belong to no fault in a log.",
    ),
)


def page() -> str:
    known = catalogue.known_issues()
    faults = [issue for issue in known if issue.kind == "fault"]
    lines = [
        "# Known issues",
        "",
        "This page lists the issues that `rocmcfg doctor` recognises in a log. The log lines are samples:",
        "the addresses and numbers in your log differ.",
        GENERATED.format("rocmcfg/knowledge/data/issues"),
        "",
        "[By symptom](#by-symptom) · [by GPU](#by-gpu) · [all faults](#faults) · "
        + " · ".join(f"[{title[0].lower()}{title[1:]}](#{anchor(title)})" for _, title, _ in _PARTS),
        "",
        "## By symptom",
    ]
    for symptom, _ in _SYMPTOMS:
        found = [issue for issue in faults if _symptom(issue) == symptom]
        lines += ["", f"### {symptom}", "", *(f"* {_link(issue)}: {_cure(issue)}" for issue in found)]
    lines += ["", "## By GPU"]
    for family, targets in _families():
        found = [issue for issue in faults if _concerns(issue, targets)]
        if found:
            lines += [
                "",
                f"### {family}",
                "",
                *(f"* {_link(issue)}{_where(issue, targets)}" for issue in found),
            ]
    lines += ["", "## Faults"]
    for issue in faults:
        lines += _issue(issue)
    for kind, title, text in _PARTS:
        lines += ["", f"## {title}", "", text]
        for issue in known:
            lines += _issue(issue) if issue.kind == kind else []
    return "\n".join(lines) + "\n"


def _symptom(issue: KnownIssue) -> str:
    """By the title, which says what one sees; by the summary where the title has none of the words."""
    for text in (issue.title, f"{issue.title} {issue.summary}"):
        for symptom, words in _SYMPTOMS:
            if words and re.search(words, text, re.I):
                return symptom
    return _SYMPTOMS[-1][0]


def _families() -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is so of any GPU, then the newest first; each with its gfx targets."""
    yield _ANY, ()
    targets: dict[str, list[str]] = {}
    for model in sorted(catalogue.gpu_models(), key=lambda m: int(m.gfx[3:], 16), reverse=True):
        targets.setdefault(model.family, []).append(model.gfx)
    for family in sorted(targets, key=lambda name: not name.startswith("RDNA")):
        if family:
            yield family, tuple(dict.fromkeys(targets[family]))
    yield "Older", ("gfx803",)


def _concerns(issue: KnownIssue, targets: Sequence[str]) -> bool:
    return bool(_of(issue, targets)) if targets else not issue.gfx


def _of(issue: KnownIssue, targets: Iterable[str]) -> list[str]:
    patterns = [re.compile(re.escape(gfx).replace(r"\*", ".*")) for gfx in issue.gfx]
    return [target for target in targets if any(pattern.fullmatch(target) for pattern in patterns)]


def _where(issue: KnownIssue, targets: Sequence[str]) -> str:
    found = _of(issue, targets)
    return f" ({', '.join(found)})" if found else ""


def _link(issue: KnownIssue) -> str:
    return f"[{issue.title}](#{issue.id})"


def _issue(issue: KnownIssue) -> Iterator[str]:
    yield from ("", f"### {issue.id}", "", f"**{issue.title}**", "", issue.summary, "")
    where = [", ".join(issue.gfx) or _ANY]
    where += [f"kernel {issue.kernel.text}"] if issue.kernel else []
    where += [f"kernel {text}" for text in issue.kernels_by_fix]
    where += [f"ROCm {issue.rocm.text}"] if issue.rocm else []
    where += ["several GPUs"] if issue.several_gpus else []
    where += ["AMD's DKMS driver"] if issue.dkms else []
    where += [issue.firmware] if issue.firmware else []
    yield f"* Where: {'; '.join(where)} ({cause(issue.kind, issue.confidence)})"
    yield f"* Helps: {_cure(issue)}"
    yield from (f"  * {step}" for step in issue.workaround.steps)
    if issue.cost:
        yield f"* Cost: {issue.cost}"
    if issue.does_not_help:
        yield f"* Does not help: {'; '.join(issue.does_not_help)}"
    if issue.fixed_in:
        yield f"* Fixed in: {issue.fixed_in}"
    yield from (f"* {note}" for note in issue.notes)
    yield f"* Evidence: {links(issue.evidence)}"
    samples = [f"{signature.samples[0]}" for signature in issue.signatures if signature.samples]
    if samples:
        yield from ("", "In a log, for example:", "", "```text", *dict.fromkeys(samples), "```")


def _cure(issue: KnownIssue) -> str:
    said = [f"`{setting}`" for setting in issue.workaround.settings]
    said += [f"unset `{name}`" for name in issue.workaround.unset]
    if said:
        return ", ".join(said)
    if issue.workaround.profile:
        return f"the profile `{issue.workaround.profile}` with a value that you choose; see the steps"
    return "no parameter; see the steps" if issue.workaround.steps else "no parameter is known to help"
