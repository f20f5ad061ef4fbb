"""What of an issue's workaround is still to be done on a host, and the command that applies it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rocmcfg.doctor.judging.ranking import Match
from rocmcfg.host.view import HostView
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.facts import Facts
from rocmcfg.model.spelling import Spelling, same
from rocmcfg.model.state import Request, command_line


class Cure(NamedTuple):
    """What of a workaround is still to be done. `command` applies what rocmcfg can apply of it, on top of
    what is applied; empty where that is nothing."""

    settings: tuple[Spelling, ...]
    unset: tuple[str, ...]
    steps: tuple[str, ...]
    profile: str
    command: str


def cure(match: Match, applied: Request, by_profile: Mapping[str, Mapping[Spelling, str]], root: str) -> Cure:
    """`applied` is what rocmcfg was asked for on this host, if anything."""
    workaround = match.issue.workaround
    command = ""
    if match.remaining or not (match.in_force or match.applied or not workaround.profile):
        profiles = applied.profiles or ((workaround.profile,) if workaround.profile else ())
        options = by_profile.get(workaround.profile, {}) if workaround.profile in profiles else {}
        wanted = [*applied.set, *(str(s) for s in match.remaining if s not in options)]
        with_ = [*applied.with_, *(options[s] for s in match.remaining if options.get(s))]
        request = applied._replace(
            profiles=profiles,
            set=tuple(dict.fromkeys(wanted)),
            with_=tuple(dict.fromkeys(with_)),
        )
        command = f"sudo {command_line(request, root)}"
    return Cure(match.remaining, workaround.unset, workaround.steps, workaround.profile, command)


def by_profile(
    view: HostView, ranked: Sequence[Match], facts: Facts, known: Catalogue
) -> dict[str, dict[Spelling, str]]:
    """By profile, the settings of workarounds that a profile sets on this host: by itself (empty text), or
    with the option --with and the text. A setting whose conditions do not hold here is not among them."""
    from rocmcfg.judging.conditions import decide
    from rocmcfg.knowledge import profiles

    found: dict[str, dict[Spelling, str]] = {}
    for match in ranked:
        name = match.issue.workaround.profile
        if not name or not match.told:
            continue
        try:
            (profile,) = profiles.load(view, [name])
        except RocmcfgError:
            continue  # a local file of that name is wrong: the settings are named one by one
        for asked in match.remaining:
            for setting in profile.settings:
                if (
                    setting.id == asked.id
                    and same(str(setting.value), asked.value or "True")
                    and decide(setting.when, facts, known).holds is not False
                ):
                    found.setdefault(name, {})[asked] = setting.id if setting.optional else ""
    return found
