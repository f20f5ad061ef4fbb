"""One name, explained on this host or for a kernel that is not here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocmcfg.engine.explain import Explanation, explain
from rocmcfg.engine.inventory import SetParameter, set_parameters
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.facts import Driver, Kernel
from rocmcfg.model.profile import Profile
from rocmcfg.model.version import parse_kernel


@dataclass(frozen=True, slots=True)
class Explained:
    """`setting` is who sets it on this host, None where nobody does; `running` is what the kernel shows;
    `profiles` are those that use it, with the id of the setting."""

    explanation: Explanation
    setting: SetParameter | None
    running: str | None
    profiles: tuple[tuple[str, str], ...]


def explain_name(view: HostView, text: str, versions: Sequence[str] = ()) -> Explained:
    """`text` is NAME or NAME=VALUE; without `versions` the installed kernels count, else the newest known."""
    from rocmcfg.engine.running import Running
    from rocmcfg.knowledge import catalogue
    from rocmcfg.workflow.planning import collect_facts

    known = catalogue.load()
    name, equals, value = text.partition("=")
    facts = collect_facts(view, ask_modinfo=not versions)
    if versions:
        kernels = tuple(_kernel(version) for version in versions)
    else:
        newest = max(b for p in known.parameters.values() for b in p.builds)
        kernels = facts.driven or (Kernel(f"{newest} (none is installed here)", newest, Driver.MODULE),)
    found = explain(name, value if equals else None, kernels, known)
    set_here = {p.name: p for p in set_parameters(view, known.modules(), facts.boot.loader)}
    feature = known.features.get(found.name.removeprefix("feature."))
    parameter = feature.parameter if found.kind == "feature" and feature else found.name
    running = Running(view).parameter(parameter).value if "." in parameter else None
    return Explained(found, set_here.get(parameter), running, _users(view, found.name))


def _kernel(version: str) -> Kernel:
    parsed = parse_kernel(version)
    if parsed is None:
        raise RocmcfgError(
            error(
                "RC6002",
                f"--kernel {version}: not a kernel version",
                hint="write 6.8 or what `uname -r` prints",
            )
        )
    return Kernel(version, parsed, Driver.MODULE)


def _users(view: HostView, name: str) -> tuple[tuple[str, str], ...]:
    """Profiles that set the name itself, or a feature of its mask; those that only inherit are left out."""
    from rocmcfg.knowledge import catalogue, profiles

    features = {f"feature.{f.name}" for f in catalogue.load().features.values() if f.parameter == name}
    loaded: list[Profile] = []
    for profile in profiles.names(view):
        try:
            loaded += profiles.load(view, [profile])
        except RocmcfgError:
            continue  # a broken local profile is `profile list`'s to tell
    return tuple(
        (profile.name, setting.id)
        for profile in loaded
        if not profile.extends
        for setting in profile.settings
        if setting.id == name or setting.id in features
    )
