"""Settings as text: values as the kernel reads and prints them, and a setting in the syntax of `--set`.

No other module reads or writes them, for the catalogue, for known issues or for `lint`. Source of the rules
for values: kernel/params.c (`param_set_*`, `param_get_*`), lib/kstrtox.c, and boots of real kernels.
"""

from __future__ import annotations

import re
from enum import Enum

from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
_SWITCHES = {**_TRUTHS, "1": True, "on": True, "y": True, "0": False, "off": False, "n": False}


class ParamType(str, Enum):
    INT = "int"
    UINT = "uint"
    ULONG = "ulong"
    ULLONG = "ullong"
    HEXINT = "hexint"
    BOOL = "bool"
    BINT = "bint"
    CHARP = "charp"
    STRING = "string"


# The only characters that ever reach a boot file. All others have a meaning in a shell, in GRUB, in kmod or
# in systemd.
SAFE_VALUE = regex(r"^[A-Za-z0-9._,:;@%+=/-]+\Z")
# The same for the text before the `=`: a kernel argument or parameter, a module, a variable.
SAFE_NAME = regex(r"^[A-Za-z0-9_][A-Za-z0-9_.-]*\Z")
SAFE_MODULE = regex(r"^[A-Za-z0-9_][A-Za-z0-9_-]*\Z")
SAFE_VARIABLE = regex(r"^[A-Za-z_][A-Za-z0-9_]*\Z")

# unsigned long is taken as 64 bits wide: ROCm has no 32-bit kernels.
_BITS = dict.fromkeys((ParamType.INT, ParamType.UINT, ParamType.HEXINT), 32)
_BITS |= dict.fromkeys((ParamType.ULONG, ParamType.ULLONG), 64)
NUMBERS = frozenset(_BITS)
_NUMBER = regex(r"^[+]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)$")
_TRUE = {"y", "Y", "1", "on", "On", "oN", "ON"}
_FALSE = {"n", "N", "0", "off", "OFF", "Off", "oFF", "oFf"}


class IllegalValue(ValueError):
    """The kernel would refuse this text, and with it the whole module. str() is the reason."""


def unsafe_reason(text: str) -> str:
    """Return why a text must not reach a boot file, with the first character that is not allowed."""
    if not text:
        return "the value is empty"
    bad = next(c for c in text if not SAFE_VALUE.match(c))
    names = {" ": "a blank", "\n": "a line break", "\t": "a tab", "\0": "a NUL"}
    return f"{text!r} holds {names.get(bad, repr(bad))}; values are letters, digits and ._,:;@%+=/-"


def _number(text: str) -> int:
    """Return a number by the rules of kstrtoll with base 0: decimal, 0x hexadecimal, leading-zero octal."""
    digits = text.removeprefix("-")
    if len(digits) > 64 or not _NUMBER.match(digits):  # Python refuses to read thousands of digits
        raise IllegalValue(f"{digits!r} is not a number (decimal, 0x hexadecimal or 0 octal)")
    digits = digits.lstrip("+").lower()
    number = int(digits, 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10)
    return -number if text.startswith("-") else number


def stored(type: ParamType, text: str | None) -> int | bool | str:
    """Return the value that the kernel would store. None stands for a parameter without `=`.

    Raises IllegalValue for a value that keeps the module from loading.
    """
    if text is None:
        if type is ParamType.BOOL:
            return True
        raise IllegalValue(f"type {type.value} needs a value")
    if type in (ParamType.BOOL, ParamType.BINT):
        if text in _TRUE:
            return True
        if text in _FALSE:
            return False
        raise IllegalValue(f"{text!r} is not Y, N, 1 or 0")
    if type in (ParamType.CHARP, ParamType.STRING):
        if len(text) > 255:
            raise IllegalValue(f"longer than 255 characters ({len(text)})")
        return text
    if not text:
        raise IllegalValue("the value is empty")
    if text.startswith("-") and type is not ParamType.INT:
        raise IllegalValue(f"type {type.value} does not accept a minus sign")
    low, high = (-(2**31), 2**31 - 1) if type is ParamType.INT else (0, 2 ** _BITS[type] - 1)
    number = _number(text)
    if not low <= number <= high:
        raise IllegalValue(f"{text} does not fit type {type.value} ({low} to {high})")
    return number


def printed(type: ParamType, text: str) -> str:
    """Return the text that sysfs shows after the kernel has stored `text`."""
    value = stored(type, text)
    if type is ParamType.BOOL:
        return "Y" if value else "N"
    if type is ParamType.BINT:
        return str(int(value))
    return hexint(int(value)) if type is ParamType.HEXINT else str(value)


def hexint(number: int) -> str:
    """Return a number as the kernel prints `%#08x`: 0x and at least six digits (unlike glibc, it keeps the 0x
    of zero)."""
    return f"0x{number:06x}"


def as_number(text: str | None) -> int | None:
    """Return any spelling of a number or truth value as a number; None if it is neither."""
    if text is None:
        return None
    stripped = text.strip()
    if stripped in _TRUE:
        return 1
    if stripped in _FALSE:
        return 0
    try:
        return _number(stripped)
    except IllegalValue:
        return None


def octal(text: str | None) -> int | None:
    """Return the number that a kernel reads if a leading 0 makes it octal and different from the apparent
    number."""
    digits = (text or "").lstrip("+-")
    if len(digits) < 2 or digits[0] != "0" or digits[1] in "xX":
        return None
    number = as_number(text)
    return number if number is not None and abs(number) > 7 else None


def truth(text: str | None) -> bool | None:
    """Return whether a value switches something on: a word, or a number above 0; None if it is neither."""
    if text is not None and text.strip().lower() in _TRUTHS:
        return _TRUTHS[text.strip().lower()]
    number = as_number(text)
    return None if number is None else number > 0


def same(a: str | None, b: str | None) -> bool:
    """Return whether two spellings are the same value: numbers modulo their width, truth values, or else
    text.

    The kernel prints uint -1 as 4294967295 and a bool as Y, so text is never compared with text first.
    """
    left, right = as_number(a), as_number(b)
    if left is None or right is None:
        return (a or "").strip() == (b or "").strip()
    return left == right or ((left - right) % 2**32 == 0 and abs(left) < 2**32 > abs(right))


def closest(name: str, candidates: list[str]) -> list[str]:
    """Return up to three names similar to `name`, best first. difflib is imported late, since it is slow to
    load."""
    import difflib

    plain = {c.lower().replace("-", "_"): c for c in candidates}
    wanted = name.lower().replace("-", "_")
    return [plain[m] for m in difflib.get_close_matches(wanted, list(plain), n=3, cutoff=0.6)]


_SCOPES = {kind.value: kind for kind in (Kind.FEATURE, Kind.KARG, Kind.ENV)}
_SWITCH = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}


class Spelling(NamedTuple):
    """A setting such as `amdgpu.runpm=0`, `feature.gfxoff=false`, `karg.iommu=pt`, `env.NAME=VALUE`.

    `value` is None for a name alone: a kernel argument without a value, or a name to look up. For a feature
    it is "true" or "false". `module` is set only for parameters.
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
        """Return whether a feature should be on."""
        return self.value == "true"


def switched(value: str | None) -> bool | None:
    """Return whether a value is a plain switch that is on; None if it is no switch, such as the number 5."""
    return None if value is None else _SWITCHES.get(value.lower())


class ProfileValue(NamedTuple):
    """The user's value for a profile's parameter: `profile.gtt_gib=96`."""

    name: str
    value: int


def parameter(id: str, value: str | None = None) -> Spelling:
    """Return the spelling of a module parameter's id, in which `-` and `_` are equal."""
    module, _, name = id.replace("-", "_").partition(".")
    return Spelling(Kind.PARAMETER, name, value, module)


def feature(name: str, enabled: bool) -> Spelling:
    return Spelling(Kind.FEATURE, name, "true" if enabled else "false")


_LONGEST = 128  # characters of a name; a part of a path may have 255


def well_named(spelling: Spelling) -> bool:
    """Return whether the name of a setting, and of its module, may be used in a file or in a path."""
    names = SAFE_VARIABLE if spelling.kind is Kind.ENV else SAFE_NAME
    if len(spelling.name) > _LONGEST:
        return False
    return bool(names.match(spelling.name) and (not spelling.module or SAFE_MODULE.match(spelling.module)))


def split(text: str) -> Spelling:
    """Return the setting of a text without checks: for the catalogue and the known issues, whose texts are
    checked by tests, and for names that a user looks up. A name without a scope is a parameter without a
    module."""
    key, equals, value = text.partition("=")
    given = value if equals else None
    scope, dot, name = key.partition(".")
    if scope in _SCOPES and dot:
        spelling = Spelling(_SCOPES[scope], name, given)
        switched = _SWITCH.get(value.lower()) if spelling.kind is Kind.FEATURE else None
        return spelling if switched is None else feature(name, switched)
    return parameter(key if dot else f".{key}", given)


def parse(text: str) -> Spelling | ProfileValue | Diagnostic:
    """Return the setting of one `--set` option, or the error in it."""
    key, equals, value = text.partition("=")
    scope, dot, name = key.partition(".")
    if not dot or not name or not scope:
        hint = (
            "write amdgpu.runpm=0, feature.gfxoff=false, karg.iommu=pt, env.NAME=VALUE or profile.NAME=NUMBER"
        )
        return error("RC2001", f"--set {text!r} does not say what to set", hint=hint)
    if not equals and scope != "karg":
        return error("RC2001", f"--set {text!r} has no value", hint=f"write --set {key}=VALUE")
    spelling = split(text)
    if not SAFE_MODULE.match(scope) or not well_named(spelling._replace(name=name)):
        hint = "use letters, digits and _, in names of kernel arguments and parameters also . and -"
        return error("RC2002", f"--set {key!r}: not a name", location="--set", hint=hint)
    if equals and not SAFE_VALUE.match(value):
        hint = "use the bare value; no file that rocmcfg writes needs quotes around it"
        return error("RC2002", f"--set {key}: {unsafe_reason(value)}", location="--set", hint=hint)
    if scope == "profile" and re.fullmatch("[0-9]{1,10}", value):
        return ProfileValue(name, int(value))
    wanted = {"profile": "a whole number", "feature": "true or false"}.get(scope)
    if wanted is not None and spelling.value not in ("true", "false"):
        summary = f"--set {key} takes {wanted}, not {value!r}"
        return error("RC2002", summary, location="--set", hint=f"`rocmcfg explain {key}` explains the values")
    return spelling
