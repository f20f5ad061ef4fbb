"""What is wrong with a profile as a whole: settings that stand twice, parameters that are declared and not
used, or used and not declared.

The format of the file is `profile_schema`'s business; whether a value is legal, `planning.resolve` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.profile import Profile, Setting
from rocmcfg.model.state import Kind
from rocmcfg.model.value import closest


def unwritable_name(name: str) -> Diagnostic | None:
    """The name of a profile, and the path of its file, go into records, logs and lists of one line each."""
    bad = next((c for c in name if not c.isprintable()), None)
    if bad is None:
        return None
    what = "bytes that are not UTF-8" if "\udc80" <= bad <= "\udcff" else f"the character {bad!a}"
    return error(
        "RC1017",
        f"a profile's file name cannot hold {what}",
        location=ascii(name)[1:-1],
        hint="give the file, and the folders that you name, names that can be printed on one line",
    )


def parameters(profile: Profile) -> Iterable[Diagnostic]:
    """Values that are a multiple of what neither this profile nor one that it extends declares; parameters
    from which no value comes."""
    known = [p.name for p in profile.parameters]
    for setting in profile.settings:
        parameter = setting.multiple_of
        if parameter not in (None, *known):
            yield error(
                "RC1007",
                f"{setting.id}: the profile has no parameter {parameter!r}",
                location=setting.location,
                hint=f"declare it: [parameters.{parameter}]",
            )
    used = {setting.multiple_of for setting in profile.settings}
    for one in profile.parameters:
        if one.name not in used:
            yield error(
                "RC1008",
                f"parameters.{one.name}: no setting of the profile takes its value from it",
                location=one.location,
                hint=f'use it: value = {{ from = "{one.name}" }}, or take it away',
            )


def declared(profile: Profile) -> Profile:
    """With the settings whose value can be had, as far as this profile tells: not those that are a multiple
    of what only a profile that it extends may declare."""
    known = (None, *(p.name for p in profile.parameters))
    return profile._replace(settings=tuple(s for s in profile.settings if s.multiple_of in known))


def unknown_fixes(settings: Sequence[Setting]) -> Iterable[Diagnostic]:
    from rocmcfg.knowledge.catalogue import load as load_catalogue

    for setting, name in ((s, condition.lacks_fix) for s in settings for condition in s.when):
        if name and name not in load_catalogue().fixes:
            known = list(load_catalogue().fixes)
            yield error(
                "RC1005",
                f"{setting.id}: no fix is called {name!r}",
                location=setting.location,
                hint="known: " + ", ".join(closest(name, known) or known),
            )


MOST = 300  # settings of a profile; the longest shipped one has some 30


def too_many(settings: Sequence[Setting], place: str) -> list[Diagnostic]:
    if len(settings) <= MOST:
        return []
    return [
        error(
            "RC1018",
            f"{place} has {len(settings)} settings, and a profile may have {MOST}",
            location=place,
            hint="no host needs as many: take out what is not meant",
        )
    ]


def duplicates(settings: Sequence[Setting]) -> list[Diagnostic]:
    """One thing said twice: `cwsr-enable` and `cwsr_enable`, or a parameter also under [cmdline]."""
    seen: dict[str, Setting] = {}
    problems = []
    for setting in settings:
        key = setting.name if setting.kind is Kind.KARG and "." in setting.name else setting.id
        key = key.replace("-", "_")
        if key in seen:
            problems.append(
                error(
                    "RC1004",
                    f"{key} is set twice",
                    location=setting.location,
                    detail=f"first at {seen[key].location}",
                    hint="keep one of them; module parameters belong under [module.NAME]",
                )
            )
        seen.setdefault(key, setting)
    return problems
