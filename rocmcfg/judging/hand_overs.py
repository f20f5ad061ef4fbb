"""Find settings that hand over the machine, and profiles that root must not trust.

Root follows nothing that a less privileged user can write: another user's profile must not choose what runs
as root or as other users, and a local profile that others can change is not followed at all. A setting that
root wrote, or passed with --set, is root's decision and only mentioned. Nothing is refused if the caller is
not root, because variables for the caller's own process hand over nothing; a plan shows the message that root
would get.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from rocmcfg.judging.judge import legal
from rocmcfg.model.catalogue import Catalogue, HandOver, Parameter
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.profile import Profile, Setting
from rocmcfg.model.regex import fullmatch, regex
from rocmcfg.model.spelling import ParamType, Spelling, truth

# The value of a kernel argument without a pattern of its own: words, numbers, lists of them, and paths below
# one of the kernel's own folders, as for drm.edid_firmware. No absolute path, and no path upwards.
_WORDS = regex(r"(?!.*(?<![\w.])\.\.(?![\w.]))[\w.,:@=+-]+(?:/[\w.,:@=+-]+)*", re.ASCII)
_BY_ROOT = "read the profile and copy it to /etc/rocmcfg/profiles as root, or set it yourself: --set "


def disbelieved(profiles: Sequence[Profile]) -> Iterable[Diagnostic]:
    """Yield an error for each local profile that root must not follow, including those that are extended."""
    for profile in profiles:
        for doubt in (d for d in profile.doubts if d.whole and d.binds):
            summary = f"users other than root can change {doubt.place}, so root does not follow it"
            hint = (
                "read the profile, then let only root write the file or directory above: chown root:root, "
                "chmod go-w"
            )
            yield error("RC2056", summary, location=doubt.place, detail=doubt.why, hint=hint)


def hand_overs(settings: Sequence[Setting], catalogue: Catalogue) -> Iterable[Diagnostic]:
    """Yield a diagnostic for each setting that hands over the machine: an error if root must not trust it,
    else a warning."""
    for setting in settings:
        for text in _texts(setting):
            met, doubt = hand_over(setting, text, catalogue), setting.doubt
            spelled = setting.id if text is None else f"{setting.id}={text}"
            if met is not None:
                yield _told(setting, spelled, met)
            elif doubt is not None and doubt.binds and not _known(setting, catalogue):
                summary = f"{spelled}: its effect is unknown, and a user other than root may have written it"
                hint = _BY_ROOT + shlex.quote(spelled)
                yield error("RC2057", summary, detail=doubt.why, location=setting.location, hint=hint)
            elif doubt is not None and doubt.binds and not _well_formed(setting, text, catalogue):
                summary = (
                    f"{spelled}: its value has no known form, and a user other than root may have written it"
                )
                hint = _BY_ROOT + shlex.quote(spelled)
                yield error("RC2111", summary, detail=doubt.why, location=setting.location, hint=hint)


def _known(setting: Setting, catalogue: Catalogue) -> bool:
    """Return whether the catalogue knows a setting. No list of settings that hand over a machine is ever
    complete, so of another user's settings root follows only known ones."""
    if setting.kind is Kind.KARG:
        return setting.name in catalogue.arguments or setting.name.partition(".")[0] in catalogue.modules()
    if setting.kind is Kind.ENV:
        return setting.name in catalogue.variables
    return setting.kind is Kind.FEATURE or setting.module in catalogue.modules()


def _well_formed(setting: Setting, text: str | None, catalogue: Catalogue) -> bool:
    """Return whether a value has the form that its parameter's type or its argument's grammar allows:
    otherwise a known name could carry any text to the boot loader. The value of a variable reaches only
    programs; `hand_over` judges it."""
    if text is None or setting.kind in (Kind.ENV, Kind.FEATURE) or not isinstance(setting.value, str | tuple):
        return True
    if setting.kind is Kind.KARG and setting.name in catalogue.arguments:
        argument = catalogue.arguments[setting.name]
        return legal(text, argument) is not False and _WORDS.fullmatch(text) is not None
    name = setting.id if setting.module else setting.name
    return _fits(catalogue.parameters.get(name.replace("-", "_")), text)


def _fits(parameter: Parameter | None, text: str) -> bool:
    """Return whether a text is a number or a switch, or fits the grammar of its parameter, if the catalogue
    has one."""
    if truth(text) is not None:
        return True
    types = {epoch.type for epoch in parameter.epochs} if parameter is not None else set()
    if parameter is not None and types & {ParamType.CHARP, ParamType.STRING} and parameter.pattern:
        return fullmatch(parameter.pattern, text) is not None  # a host may have added it
    return False


def hand_overs_first(diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with those of settings that hand over the machine before all others."""
    return tuple(sorted(diagnostics, key=lambda d: d.id not in ("RC2055", "RC2056", "RC2057", "RC2111")))


def _told(setting: Setting, spelled: str, met: HandOver) -> Diagnostic:
    doubt = setting.doubt
    summary, location = f"{spelled} gives control of the machine: {met.gives}", setting.location
    if doubt is None or doubt.whole:
        hint = f"leave it out unless you want it: --without {setting.id}"
        return warning("RC2055", summary, location=location, hint=hint)
    detail = f"a user other than root may have written it: {doubt.why}"
    if not doubt.binds:
        return warning("RC2055", summary, detail=detail, location=location, hint="`apply` as root refuses it")
    hint = f"ask its author what it is for; if you want it, {_BY_ROOT}{shlex.quote(spelled)}"
    return error("RC2055", summary, detail=detail, location=location, hint=hint)


def _texts(setting: Setting) -> Iterable[str | None]:
    values = setting.value if isinstance(setting.value, tuple) else (setting.value,)
    return [None if value is True and setting.kind is Kind.KARG else str(value) for value in values]


def hand_over(setting: Setting | Spelling, text: str | None, catalogue: Catalogue) -> HandOver | None:
    """Return how a setting with the value `text` hands over the machine; None if it does not."""
    variable = setting.kind is Kind.ENV
    if setting.kind is Kind.FEATURE or (setting.module and setting.module in catalogue.modules()):
        return None
    name = setting.name if not setting.module else setting.id
    table = catalogue.hand_overs["variable" if variable else "argument"]
    # the kernel (kernel/params.c, parameq) and systemd treat - and _ in a name as the same
    met = [row for row in table if row.meets(name if variable else name.replace("-", "_"), text)]
    if setting.kind is Kind.KARG and text is not None and "." not in name:
        # the kernel passes an unknown argument to the first process as a variable: kernel-parameters.rst
        met += [row for row in catalogue.hand_overs["variable"] if row.meets(name, text)]
    return met[0] if met else None
