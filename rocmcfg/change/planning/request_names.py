"""Translate a request into rocmcfg's names for profiles and settings. A name that is already right does not
change."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rocmcfg.change.planning.profile_names import Instead, profile
from rocmcfg.change.planning.setting_names import setting
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, info
from rocmcfg.model.request import Request
from rocmcfg.model.spelling import parse


def instead_in(command: Sequence[str]) -> Instead:
    def instead(old: str, new: str) -> str:
        words = [
            w.removesuffix(old) + new if w in (old, f"-p{old}") or w.endswith(f"={old}") else w
            for w in command
        ]
        return shlex.join(words)

    return instead


def understood(
    view: HostView, request: Request, instead: Instead, *, alone: bool = True
) -> tuple[Request, list[Diagnostic]]:
    """Return the request in rocmcfg's names, and a remark on each name that was translated. If the request
    stands `alone`, and names neither a profile nor a setting that works without one, use `auto`. Raise
    RocmcfgError for a name that fits nothing, or several things."""
    settings = [setting(view, text, instead) for text in request.set]
    wrong = [parsed for parsed in map(parse, settings) if isinstance(parsed, Diagnostic)]
    if any(problem.id == "RC2001" for problem in wrong):
        raise RocmcfgError(*wrong)
    called = [profile(view, name, instead) for name in request.profiles]
    readings = [*zip(request.profiles, map(" and ".join, called), strict=True)]
    readings += zip(request.set, settings, strict=True)
    wanted = [name for names in called for name in names]
    if alone and not wanted and all(text.startswith("profile.") for text in settings):
        wanted = ["auto"]
    return request._replace(profiles=tuple(dict.fromkeys(wanted)), set=tuple(settings)), [
        info("RC2058", f"{old} is read as {new}")
        for old, new in readings
        if new not in (old, f"profile.{old}", f"env.{old}")
    ]
