"""What rocmcfg knows, as pages: profiles, parameters, kernel arguments and variables, known issues."""

from __future__ import annotations

import re
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rocmcfg.host.local import LocalHost
from rocmcfg.knowledge import catalogue
from rocmcfg.knowledge import profiles as shipped
from rocmcfg.model.desired import Kind
from rocmcfg.model.profile import Condition, Profile, ProfileParameter, Setting, Use

GENERATED = "`docs/generate.py` writes this page from the data in `{}`."


# -- profiles -------------------------------------------------------------------------------------------


def profile_list() -> str:
    """The GPUs by the names that are on their boxes, the profile, and what it is against."""
    loaded = all_profiles()
    found = []
    for profile in sorted(loaded, key=_newest_first):
        if profile.extends or profile.use is Use.DIAGNOSIS:
            continue
        aliases = [p.name for p in loaded if p.extends == profile.name]
        names = ", ".join(f"`{name}`" for name in (profile.name, *aliases))
        against = profile.summary.partition(": ")[2]
        found.append(f"* **{_products(profile)}**: {names}. {against[:1].upper()}{against[1:]}.")
    diagnosis = ", ".join(f"`{p.name}`" for p in loaded if p.use is Use.DIAGNOSIS)
    found.append(f"* To find a fault, with `rocmcfg run`: {diagnosis}.")
    return "\n".join(_folded(line, "  ") for line in found)


def _newest_first(profile: Profile) -> tuple[bool, int]:
    """By the number of the GPU, which is hexadecimal (gfx90a). Those that are chosen by name come last."""
    return profile.use is not Use.AUTO, -max((int(gfx[3:], 16) for gfx in profile.gfx), default=0)


def _products(profile: Profile) -> str:
    """As they are sold; of a profile that is chosen by name, what its summary says that it is for."""
    if profile.use is not Use.AUTO:
        return profile.summary.partition(": ")[0]
    models = [m for m in catalogue.gpu_models() if m.gfx in profile.gfx and profile.apu in (None, m.apu)]
    return ", ".join(m.products for m in models if m.products)


def stock_values() -> str:
    """For the README: what the driver's parameters are without a profile, as words for the kernel's line."""
    known = catalogue.load()
    named = {
        s.id for p in all_profiles() for s in p.settings if s.kind is Kind.PARAMETER and s.module == "amdgpu"
    }
    named |= {
        known.features[s.name].parameter for p in all_profiles() for s in p.settings if s.kind is Kind.FEATURE
    }
    defaults = {name: known.parameters[name].epochs[-1].default for name in sorted(named)}
    words = [f"`{name}={default}`" for name, default in defaults.items() if default]
    return _folded(f"   {' '.join(words)}", "   ")


def _folded(text: str, indent: str) -> str:
    return textwrap.fill(text, 118, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def profiles() -> str:
    lines = [
        "# Profiles",
        "",
        "This page lists every shipped profile and every setting in it, with its reason, evidence and cost.",
        "`rocmcfg profile show` shows the same for your host, and which settings apply there. "
        + GENERATED.format("profiles/*.toml"),
        "",
        "## Which profile for which GPU",
        "",
        profile_list(),
    ]
    for profile in all_profiles():
        lines += ["", f"## {profile.name}", "", f"{profile.summary}."]
        kind = {True: " (APUs)", False: " (no APUs)", None: ""}[profile.apu]
        lines += [f"For {', '.join(profile.gfx)}{kind}." if profile.gfx else "For any GPU."]
        if profile.use is not Use.AUTO:
            lines += ["`--profile auto` does not choose this profile."]
        if profile.use is Use.DIAGNOSIS:
            lines += ["Use it for one command with `rocmcfg run`, not for a whole host."]
        if profile.extends:
            lines += [f"It has all settings of {profile.extends}."]
        else:
            lines += [text for note in profile.notes for text in ("", f"> {note}")]
            lines += [text for p in profile.parameters for text in ("", _parameter(p))]
        for setting in profile.settings:
            if setting.location.partition(":")[0] == profile.location:  # what it inherits stands there
                lines += ["", *_setting(setting)]
    return "\n".join(lines) + "\n"


def all_profiles() -> tuple[Profile, ...]:
    with tempfile.TemporaryDirectory(prefix="rocmcfg-docs-") as empty:
        nobody = LocalHost(empty)  # no local profiles
        return shipped.load(nobody, shipped.names(nobody))


def _parameter(parameter: ProfileParameter) -> str:
    end = f" to {parameter.high}" if parameter.high is not None else " or more"
    limits = {"memory": ", and at most the memory of the host", "gpus": ", and at most the GPUs of the host"}
    within = limits.get(parameter.within, "")
    unit = f" {parameter.unit}" if parameter.unit else ""
    return (
        f"You choose `--set profile.{parameter.name}=NUMBER`: {_sentence(parameter.summary)} "
        f"Allowed: {parameter.low}{end}{unit}{within}. Without the number, rocmcfg leaves out the settings "
        "that need it."
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
        yield f"  * Only with: {', or '.join(map(_condition, setting.when))}."
    if setting.cost:
        yield f"  * Cost: {_sentence(setting.cost)}"
    if setting.evidence:
        yield f"  * Evidence: {links(setting.evidence)}"


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


# -- Markdown -------------------------------------------------------------------------------------------


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def anchor(heading: str) -> str:
    """What GitHub makes of a heading for links to it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def links(urls: Sequence[str]) -> str:
    return ", ".join(f"<{url}>" if re.match(r"https?://", url) else url for url in urls)
