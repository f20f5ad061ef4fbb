"""One setting as `--set` takes it. Nothing else reads or writes this spelling: not the catalogue, not the
workarounds of known issues, not what `lint` proposes."""

from __future__ import annotations

import re
from typing import NamedTuple

from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.published import as_text
from rocmcfg.model.state import Kind
from rocmcfg.model.value import SAFE_MODULE, SAFE_NAME, SAFE_VALUE, SAFE_VARIABLE, unsafe_reason

_SCOPES = {kind.value: kind for kind in (Kind.FEATURE, Kind.KARG, Kind.ENV)}
_SWITCH = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}


@as_text
class Spelling(NamedTuple):
    """`amdgpu.runpm=0`, `feature.gfxoff=false`, `karg.iommu=pt`, `env.NAME=VALUE`.

    `value` is None for a name alone: a kernel argument without a value, or a name to look up. That of a
    feature is "true" or "false". `module` is set for parameters only.
    """

    kind: Kind
    name: str
    value: str | None = None
    module: str = ""

    @property
    def id(self) -> str:
        return f"{self.module or self.kind.value}.{self.name}"

    def __str__(self) -> str:
        return self.id if self.value is None else f"{self.id}={self.value}"

    @property
    def enabled(self) -> bool:
        """Of a feature: whether it is to be on."""
        return self.value == "true"


class ProfileValue(NamedTuple):
    """What the user gives for a profile's parameter: `profile.gtt_gib=96`."""

    name: str
    value: int


def parameter(id: str, value: str | None = None) -> Spelling:
    """Of a module parameter's id; `-` and `_` are one in it."""
    module, _, name = id.replace("-", "_").partition(".")
    return Spelling(Kind.PARAMETER, name, value, module)


def feature(name: str, enabled: bool) -> Spelling:
    return Spelling(Kind.FEATURE, name, "true" if enabled else "false")


def split(text: str) -> Spelling:
    """What a text names, unchecked: for the catalogue and the known issues, whose texts tests hold right, and
    for names that somebody asks about. A name without a scope is a parameter without a module."""
    key, equals, value = text.partition("=")
    given = value if equals else None
    scope, dot, name = key.partition(".")
    if scope in _SCOPES and dot:
        return Spelling(_SCOPES[scope], name, given)
    return parameter(key if dot else f".{key}", given)


def parse(text: str) -> Spelling | ProfileValue | Diagnostic:
    """One `--set` option, or what is wrong with it."""
    key, equals, value = text.partition("=")
    scope, dot, name = key.partition(".")
    if not dot or not name or not scope:
        return error(
            "RC2001",
            f"--set {text!r} does not say what to set",
            hint="write amdgpu.runpm=0, feature.gfxoff=false, karg.iommu=pt, env.NAME=VALUE "
            "or profile.NAME=NUMBER",
        )
    if not equals and scope != "karg":
        return error("RC2001", f"--set {text!r} has no value", hint=f"write --set {key}=VALUE")
    names = SAFE_VARIABLE if scope == "env" else SAFE_NAME
    if not SAFE_MODULE.match(scope) or not names.match(name):
        return error(
            "RC2002",
            f"--set {key!r}: not a name",
            location="--set",
            hint="names are letters, digits and _, those of kernel arguments and parameters also . and -",
        )
    if equals and not SAFE_VALUE.match(value):
        return _wrong(
            f"{key}: {unsafe_reason(value)}",
            "give the bare value; no file that rocmcfg writes needs quotes around it",
        )
    if scope == "profile":
        if re.fullmatch("[0-9]{1,10}", value):
            return ProfileValue(name, int(value))
        return _wrong(
            f"{key}: a profile's parameter is a whole number, not {value!r}",
            f"write --set {key}=NUMBER; `rocmcfg profile show NAME` says of what",
        )
    if scope == "feature":
        enabled = _SWITCH.get(value.lower())
        if enabled is not None:
            return feature(name, enabled)
        return _wrong(
            f"{key}: a feature is true or false, not {value!r}",
            f"write --set {key}=true or --set {key}=false",
        )
    return split(text)


def _wrong(what: str, hint: str) -> Diagnostic:
    return error("RC2002", f"--set {what}", location="--set", hint=hint)
