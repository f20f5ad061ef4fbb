"""Make nouns from a profile's document, which `profile_schema` checked and completed, and find mistakes other
than wrong types. `planning.resolve` decides whether a value is legal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from rocmcfg.knowledge.compiled import noun
from rocmcfg.model.desired import Channel, Kind
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.profile import Doubt, Multiple, Profile, ProfileParameter, Setting
from rocmcfg.model.spelling import SAFE_MODULE, SAFE_NAME, SAFE_VARIABLE, closest

Row = tuple[Kind, str, str, dict[str, Any], tuple[str, ...]]
Wrong = tuple[tuple[str | int, ...], str, str]  # key path, message, hint
MOST = 300  # settings of a profile; the longest shipped one has about 30
_SECTIONS = ((Kind.FEATURE, "features"), (Kind.KARG, "cmdline"), (Kind.ENV, "env"))


def rows(document: dict[str, Any]) -> Iterator[Row]:
    """Yield every setting: kind, module, name, row, key path."""
    for module, table in document["module"].items():
        for name, row in table.items():
            yield Kind.PARAMETER, module, name, row, ("module", module, name)
    for kind, section in _SECTIONS:
        for name, row in document[section].items():
            yield kind, "", name, row, (section, name)


def profile(
    document: dict[str, Any], located: Callable[[Sequence[str]], str], name: str, doubt: Doubt | None
) -> Profile:
    """Return the profile of a document. `located` returns the place of a key path. The caller sets the
    location."""
    settings = (
        noun(
            Setting,
            row,
            kind=kind,
            module=module,
            name=key.replace("-", "_") if kind is Kind.PARAMETER else key,
            value=_value(row["value"]),
            location=located(path),
            profile=name,
            doubt=doubt,
        )
        for kind, module, key, row, path in rows(document)
    )
    parameters = (
        noun(ProfileParameter, row, name=key, location=located(("parameters", key)))
        for key, row in document["parameters"].items()
    )
    return noun(
        Profile,
        document,
        name=name,
        settings=tuple(settings),
        location="",
        parameters=tuple(parameters),
        doubts=(doubt,) if doubt else (),
    )


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return Multiple(value["from"], value["times"])
    return tuple(value) if isinstance(value, list) else value


def unwritable_name(name: str) -> Diagnostic | None:
    """Return an error for a name with unprintable characters: names and paths are written into records, logs
    and lists of one line each."""
    bad = next((c for c in name if not c.isprintable()), None)
    if bad is None:
        return None
    what = "bytes that are not UTF-8" if "\udc80" <= bad <= "\udcff" else f"the character {bad!a}"
    hint = "use names for the file and its folders that can be printed on one line"
    return error("RC1017", f"a profile's file name cannot hold {what}", location=ascii(name)[1:-1], hint=hint)


def mismatched_parameters(profile: Profile) -> Iterable[Diagnostic]:
    """Yield an error for each value computed from a parameter that neither this profile nor one that it
    extends declares, and for each declared parameter from which no value is computed."""
    declared = [p.name for p in profile.parameters]
    for setting in profile.settings:
        parameter = setting.multiple_of
        if parameter not in (None, *declared):
            summary = f"{setting.id}: the profile has no parameter {parameter!r}"
            hint = f"declare it: [parameters.{parameter}]"
            yield error("RC1007", summary, location=setting.location, hint=hint)
    used = {setting.multiple_of for setting in profile.settings}
    for declaration in profile.parameters:
        if declaration.name not in used:
            summary = f"parameters.{declaration.name}: no setting of the profile takes its value from it"
            hint = f'use it: value = {{ from = "{declaration.name}" }}, or remove it'
            yield error("RC1008", summary, location=declaration.location, hint=hint)


def with_known_values(profile: Profile) -> Profile:
    """Return the profile without settings that it cannot compute by itself, since their parameter may be
    declared in a profile that it extends."""
    declared = (None, *(p.name for p in profile.parameters))
    return profile._replace(settings=tuple(s for s in profile.settings if s.multiple_of in declared))


def unknown_fixes(settings: Sequence[Setting]) -> Iterable[Diagnostic]:
    from rocmcfg.knowledge.catalogue import load as load_catalogue

    for setting, name in ((s, condition.lacks_fix) for s in settings for condition in s.when):
        if name and name not in load_catalogue().fixes:
            fixes = list(load_catalogue().fixes)
            summary = f"{setting.id}: no fix has the name {name!r}"
            hint = "known: " + ", ".join(closest(name, fixes) or fixes)
            yield error("RC1005", summary, location=setting.location, hint=hint)


def too_many(settings: Sequence[Setting], place: str) -> Iterator[Diagnostic]:
    if len(settings) > MOST:
        summary = f"{place} has {len(settings)} settings, and a profile may have at most {MOST}"
        yield error(
            "RC1018", summary, location=place, hint="no host needs that many: remove the unwanted ones"
        )


def duplicates(settings: Sequence[Setting]) -> Iterator[Diagnostic]:
    """Yield an error for each duplicate: `cwsr-enable` and `cwsr_enable`, or a parameter also under
    [cmdline]."""
    seen: dict[str, str] = {}
    for setting in settings:
        key = setting.name if setting.kind is Kind.KARG and "." in setting.name else setting.id
        key = key.replace("-", "_")
        if key in seen:
            summary = f"{key} is set twice"
            hint = "keep one of them; module parameters belong under [module.NAME]"
            yield error(
                "RC1004", summary, location=setting.location, detail=f"first at {seen[key]}", hint=hint
            )
        seen.setdefault(key, setting.location)


def misdeclared(name: str, row: dict[str, Any]) -> Iterator[Wrong]:
    path = ("parameters", name)
    if not SAFE_VARIABLE.match(name):
        yield path, "not a name of a parameter", "use letters, digits and _, and no digit first"
    if (row["within"] == "memory" or row["unset"]) and row["unit"] not in ("GiB", "MiB"):
        yield path, "an amount within memory needs the unit GiB or MiB", ""
    if row["max"] is not None and row["max"] < row["min"]:
        yield path, f"max {row['max']} is below min {row['min']}", ""


def misused(kind: Kind, name: str, row: dict[str, Any], path: tuple[str, ...]) -> Iterator[Wrong]:
    value, via = row["value"], row["via"]
    if kind is Kind.ENV:
        if not SAFE_VARIABLE.match(name):
            yield (
                path,
                "not a name of an environment variable",
                "use letters, digits and _, and no digit first",
            )
        if isinstance(value, list | bool):
            yield path, "the value of a variable is a text", 'put it in quotes: "1"'
    elif not SAFE_NAME.match(name):
        yield path, "not a name: letters, digits, _ - and . only", ""
    if kind is Kind.PARAMETER and not SAFE_MODULE.match(path[1]):
        yield path[:2], "not a name of a kernel module", ""
    if isinstance(value, dict) and kind in (Kind.FEATURE, Kind.KARG):
        yield path, "only a module parameter or a variable takes a multiple of a profile's parameter", ""
    elif kind is Kind.FEATURE and not isinstance(value, bool):
        yield path, "a feature is true or false", ""
    if kind is Kind.KARG and value is False:
        summary = "an argument cannot be removed with false"
        yield path, summary, "use true for a bare flag; otherwise leave the argument out"
    if kind is Kind.PARAMETER and isinstance(value, list):
        yield path, "a parameter has one value; join the parts with commas in one text", ""
    if via == Channel.ENVIRONMENT.value or (via is not None and kind in (Kind.KARG, Kind.ENV)):
        yield path, "`via` is cmdline or modprobe, for module parameters and features", ""
