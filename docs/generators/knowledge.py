"""What rocmcfg knows, as pages: profiles, parameters, kernel arguments and variables, known issues."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rocmcfg.host.local import LocalHost
from rocmcfg.knowledge import catalogue
from rocmcfg.knowledge import profiles as shipped
from rocmcfg.model.catalogue import Epoch, Parameter, ValueTrap
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.profile import Condition, Profile, ProfileParameter, Setting, Use

_GENERATED = "`docs/generate.py` writes this page from the data in `{}`."


# -- profiles -------------------------------------------------------------------------------------------


def profile_list() -> str:
    """For the README: one row per profile."""
    loaded = _profiles()
    rows = []
    for profile in loaded:
        if profile.extends:
            continue
        also = [p.name for p in loaded if p.extends == profile.name]
        name = f"**{profile.name}**" + (f" ({', '.join(also)})" if also else "")
        settings = ", ".join(f"`{_spelled(s)}`" for s in profile.settings if not s.optional)
        rows.append((name, profile.summary, settings))
    return "\n".join(_table(("profile", "for", "sets (where the host needs it)"), rows))


def profiles() -> str:
    lines = [
        "# Profiles",
        "",
        "Every shipped profile with every setting: why, on what evidence, at what cost. `rocmcfg profile",
        "show` says the same for one host, with what applies there. " + _GENERATED.format("profiles/*.toml"),
    ]
    for profile in _profiles():
        lines += ["", f"## {profile.name}", "", f"{profile.summary}."]
        kind = {True: " (APUs)", False: " (no APUs)", None: ""}[profile.apu]
        lines += [f"For {', '.join(profile.gfx)}{kind}." if profile.gfx else "For any GPU."]
        if profile.use is not Use.AUTO:
            lines += ["`--profile auto` does not choose it."]
        if profile.use is Use.DIAGNOSIS:
            lines += ["For one command with `rocmcfg run`, not for a whole host."]
        if profile.extends:
            lines += [f"Takes everything from {profile.extends}."]
        else:
            lines += [text for note in profile.notes for text in ("", f"> {note}")]
            lines += [text for p in profile.parameters for text in ("", _parameter(p))]
        for setting in profile.settings:
            if setting.location.partition(":")[0] == profile.location:  # what it inherits stands there
                lines += ["", *_setting(setting)]
    return "\n".join(lines) + "\n"


def _profiles() -> tuple[Profile, ...]:
    with tempfile.TemporaryDirectory(prefix="rocmcfg-docs-") as empty:
        nobody = LocalHost(empty)  # no local profiles
        return shipped.load(nobody, shipped.names(nobody))


def _parameter(parameter: ProfileParameter) -> str:
    end = f" to {parameter.high}" if parameter.high is not None else " or more"
    limits = {"memory": ", and no more than the memory of the host", "gpus": ", and no more than are there"}
    within = limits.get(parameter.within, "")
    unit = f" {parameter.unit}" if parameter.unit else ""
    return (
        f"You give `--set profile.{parameter.name}=NUMBER`: {_sentence(parameter.summary)} "
        f"It takes {parameter.low}{end}{unit}{within}; without it, what needs it is left out."
    )


def _spelled(setting: Setting) -> str:
    value = setting.value
    if value is True and setting.kind.value == "karg":
        return setting.id
    if isinstance(value, bool):
        return f"{setting.id}={str(value).lower()}"
    if isinstance(value, tuple):
        return " ".join(f"{setting.id}={one}" for one in value)
    return f"{setting.id}={value}"


def _setting(setting: Setting) -> Iterator[str]:
    marks = [setting.confidence or "no confidence given", *(["optional"] if setting.optional else [])]
    yield f"* `{_spelled(setting)}` ({', '.join(marks)})"
    yield f"  * {_sentence(setting.because)}"
    if setting.when:
        yield f"  * Only where: {', or '.join(map(_condition, setting.when))}."
    if setting.cost:
        yield f"  * Cost: {_sentence(setting.cost)}"
    if setting.evidence:
        yield f"  * Evidence: {_links(setting.evidence)}"


def _condition(condition: Condition) -> str:
    said = []
    for name in condition._fields:
        value = getattr(condition, name)
        if value is None or value in ("", ()):
            continue
        if isinstance(value, bool):
            what = {"igpu": "an integrated GPU", "dkms": "AMD's DKMS driver"}[name]
            said.append(what if value else f"a kernel without {what}" if name == "dkms" else f"not {what}")
            continue
        words = name.replace("_", " ")
        text = getattr(value, "text", None) or (", ".join(value) if isinstance(value, tuple) else str(value))
        said.append(f"{words} {text}")
    return "; ".join(said)


# -- parameters -----------------------------------------------------------------------------------------


def parameters() -> str:
    known = catalogue.load()
    lines = [
        "# Module parameters",
        "",
        "Kernels are those that were read; a distribution may backport. `rocmcfg explain NAME` asks those",
        "that are installed. " + _GENERATED.format("rocmcfg/knowledge/data"),
    ]
    for module in known.modules():
        lines += ["", f"## {module}", ""]
        rows = [
            (f"`{p.name}`", p.summary, _kernels(p), _types(p), _defaults(p), _remarks(p))
            for p in known.parameters.values()
            if p.module == module
        ]
        lines += _table(("parameter", "meaning", "kernels", "type", "default", "remarks"), rows)
    lines += ["", "## Bits of the masks", ""]
    bits = [
        (f"`{f.name}`", f"`{f.parameter}`", f"`{f.bit:#x}`", "on" if f.set_means_on else "off", f.summary)
        for f in known.features.values()
    ]
    lines += _table(("feature", "parameter", "bit", "set means", "meaning"), bits)
    return "\n".join(lines) + "\n"


def _kernels(parameter: Parameter) -> str:
    spans = []
    for epoch in parameter.epochs:
        if spans and _adjacent(parameter, spans[-1], epoch):
            spans[-1] = (spans[-1][0], epoch)
        else:
            spans.append((epoch, epoch))
    newest = max(parameter.builds, default=None)
    return ", ".join(
        f"{first.first} on" if last.last == newest else f"{first.first} to {last.last}"
        for first, last in spans
    )


def _adjacent(parameter: Parameter, span: tuple[Epoch, Epoch], epoch: Epoch) -> bool:
    return not any(span[1].last < build < epoch.first for build in parameter.builds)


def _types(parameter: Parameter) -> str:
    return _eras([(e.first, e.type.value) for e in parameter.epochs])


def _defaults(parameter: Parameter) -> str:
    return _eras([(e.first, e.default or "empty") for e in parameter.epochs])


def _eras(values: Sequence[tuple[Any, str]]) -> str:
    """`10`, or `10; 20 from 6.17.8` where it changed."""
    said: list[str] = []
    last = None
    for first, value in values:
        if value != last:
            said.append(f"`{value}` from {first}" if said else f"`{value}`")
        last = value
    return "; ".join(said)


def _remarks(parameter: Parameter) -> str:
    unit = parameter.describe().unit
    said = [f"unit {unit}"] if unit else []
    said += ["taints the kernel"] if any(e.taints for e in parameter.epochs) else []
    said += ["the driver may replace the value"] if parameter.rewritten else []
    said += ["root only"] if any(e.permission == "0600" for e in parameter.epochs) else []
    said += ["can change at run time"] if any(e.permission == "0644" for e in parameter.epochs) else []
    said += [f"deprecated: {parameter.deprecated}"] if parameter.deprecated else []
    said += [f"needs {parameter.config}"] if parameter.config else []
    said += [f"acts on {parameter.acts_on.words()}"] if parameter.acts_on else []
    return "; ".join([*said, *_meanings(parameter.meanings), *_traps(parameter.traps)])


def _meanings(meanings: Mapping[str, str]) -> list[str]:
    return [f"`{value}`: {text}" for value, text in meanings.items()]


def _traps(traps: Iterable[ValueTrap]) -> list[str]:
    return [f"`{' '.join(trap.values)}` {trap.kind.replace('_', ' ')}: {trap.summary}" for trap in traps]


# -- kernel arguments and variables ---------------------------------------------------------------------


def environment() -> str:
    known = catalogue.load()
    lines = [
        "# Kernel arguments and environment variables",
        "",
        _GENERATED.format("rocmcfg/knowledge/data"),
        "",
        "## Kernel arguments",
        "",
    ]
    rows = [
        (
            f"`{a.name}`",
            a.summary,
            _legal(a.values, a.pattern, a.flag),
            "; ".join([*_meanings(a.meanings), *_traps(a.traps), *a.notes]),
        )
        for a in known.arguments.values()
    ]
    lines += _table(("argument", "meaning", "values", "remarks"), rows)
    lines += ["", "## Environment variables", ""]
    variables = []
    for v in known.variables.values():
        said = ["nothing reads it"] if v.unknown else []
        said += ["read at build time only"] if v.build_only else []
        said += ["any value, also 0, counts as set"] if v.presence_only else []
        said += [f"since {v.since}"] if v.since else []
        said += [f"until {v.until}"] if v.until else []
        said += [f"deprecated: {v.deprecated}"] if v.deprecated else []
        said += [f"instead: `{v.instead.name}`"] if v.instead else []
        said += [*_meanings(v.meanings), *_traps(v.traps), *v.notes]
        row = (f"`{v.name}`", v.reader, v.summary, _legal(v.values, v.pattern, False), "; ".join(said))
        variables.append(row)
    lines += _table(("variable", "read by", "meaning", "values", "remarks"), variables)
    return "\n".join(lines) + "\n"


def _legal(values: Sequence[str], pattern: str, flag: bool) -> str:
    said = [f"`{value}`" for value in values] or ([f"as `{pattern}`"] if pattern else [])
    return ", ".join([*said, *(["no value"] if flag else [])]) or "any text"


# -- known issues ---------------------------------------------------------------------------------------


def issues() -> str:
    known = catalogue.known_issues()
    lines = [
        "# Known issues",
        "",
        "What `rocmcfg doctor` recognises. " + _GENERATED.format("rocmcfg/knowledge/data/issues"),
        "",
    ]
    rows = [(f"[{i.id}](#{i.id})", i.title, ", ".join(i.gfx) or "any", i.confidence, _cure(i)) for i in known]
    lines += _table(("id", "what", "on", "confidence", "helps"), rows)
    for issue in known:
        lines += ["", f"## {issue.id}", "", f"**{issue.title}**", "", issue.summary, ""]
        lines += _issue(issue)
    return "\n".join(lines) + "\n"


def _issue(issue: KnownIssue) -> Iterator[str]:
    where = [", ".join(issue.gfx) or "any GPU"]
    where += [f"kernel {issue.kernel.text}"] if issue.kernel else []
    where += [f"ROCm {issue.rocm.text}"] if issue.rocm else []
    where += ["several GPUs"] if issue.several_gpus else []
    where += [issue.firmware] if issue.firmware else []
    yield f"* Where: {'; '.join(where)} ({issue.confidence})"
    yield f"* Helps: {_cure(issue)}"
    yield from (f"  * {step}" for step in issue.workaround.steps)
    if issue.cost:
        yield f"* Cost: {issue.cost}"
    if issue.does_not_help:
        yield f"* Does not help: {'; '.join(issue.does_not_help)}"
    if issue.fixed_in:
        yield f"* Fixed in: {issue.fixed_in}"
    for signature in issue.signatures:
        yield f"* Log ({signature.strength}): `{signature.pattern}`"
    yield from (f"* {note}" for note in issue.notes)
    yield f"* Evidence: {_links(issue.evidence)}"


def _cure(issue: KnownIssue) -> str:
    said = [f"`{setting}`" for setting in issue.workaround.settings]
    said += [f"unset `{name}`" for name in issue.workaround.unset]
    if said:
        return ", ".join(said)
    return "no parameter; see the steps" if issue.workaround.steps else "no parameter is known to help"


# -- Markdown -------------------------------------------------------------------------------------------


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _links(urls: Sequence[str]) -> str:
    return ", ".join(f"<{url}>" if re.match(r"https?://", url) else url for url in urls)
