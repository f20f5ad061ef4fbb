"""Handle profiles for their users and authors: explain, validate and create them, and print or write their
variables, as pairs or for one account."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rocmcfg.change.planning.automatic import expand_auto
from rocmcfg.change.planning.resolve import modules_of, resolve
from rocmcfg.files.environment import is_as_written, user_file
from rocmcfg.host.state_dir import LOCAL_PROFILES
from rocmcfg.host.view import Host, HostView
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, fail
from rocmcfg.model.profile import Profile, Use
from rocmcfg.model.request import Request
from rocmcfg.state.values import Effective
from rocmcfg.workflow.planning import Planned, collect_facts, receipt_or_none, require_no_errors


def every(view: HostView) -> tuple[list[Profile], list[Diagnostic]]:
    """Return all profiles, and what is wrong with others: one broken file must not hide the rest."""
    listed: list[Profile] = []
    problems: list[Diagnostic] = []
    for name in profiles.names(view):
        try:
            listed += profiles.load(view, [name])
        except RocmcfgError as broken:
            problems += broken.diagnostics
    return listed, problems


def explain_profile(view: HostView, name: str) -> Planned:
    """Return a profile's plan on this host, setting by setting, whether or not it could be applied."""
    from rocmcfg.change.planning.plan import Known, make_plan

    loaded = profiles.load(view, [name])
    facts = collect_facts(view)
    request = Request(profiles=(name,), any_gpu=True)
    made = make_plan(view, loaded, request, Known(facts, catalogue.load(), receipt_or_none(view)))
    made = made._replace(diagnostics=(*profiles.standing_in(view, [name]), *made.diagnostics))
    return Planned(made, request, facts, loaded)


def validate_profiles(view: HostView, names: Sequence[str]) -> list[Diagnostic]:
    """Return every problem of the profiles, with everything optional included and no condition evaluated."""
    loaded, problems = profiles.read(view, names)
    remarks = list(problems)
    for profile in loaded:
        facts = collect_facts(view, modules=modules_of(profile.settings))
        everything = tuple(s.id for s in profile.settings if s.optional)
        given = tuple(f"profile.{p.name}={p.low}" for p in profile.parameters)
        request = Request((profile.name,), given, everything, unconditional=True, any_gpu=True)
        as_such = profile._replace(use=Use.NAMED)  # being made for diagnosis is not a fault
        made = resolve([as_such], request, facts, catalogue.load(), lambda _: Effective())
        # rocmcfg chose these numbers, so whether they suit this host does not matter
        remarks += [d for d in made.diagnostics if d.location != "--set"]
    return remarks


def write_profile(host: Host, path: str, extends: str, gfx: tuple[str, ...]) -> None:
    """Write a commented profile to start from. The caller has checked that nothing exists at `path`."""
    host.make_dirs(LOCAL_PROFILES, 0o755)
    content = profiles.skeleton(extends, gfx, schema=host.exists(profiles.SCHEMA))
    host.write(path, host.new_file(content, 0o644), keep_mtime=False)


def variables(view: HostView, request: Request) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the variables as pairs, and what else the profiles set: the part that only an apply does."""
    facts = collect_facts(view, environments=_environments(view), rocm=request.rocm or None)
    names, _ = expand_auto(view, request, facts.gpus)
    whole = profiles.load(view, names)
    loaded = [p._replace(settings=tuple(s for s in p.settings if s.kind is Kind.ENV)) for p in whole]
    concerned = tuple(s for s in request.set if s.startswith(("env.", "profile.")))
    # a container or a build machine may have no GPU; a user who names a profile knows better
    only = request._replace(profiles=names, set=concerned, any_gpu=request.any_gpu or not facts.gpus)
    resolution = resolve(loaded, only, facts, catalogue.load(), lambda _: Effective())
    require_no_errors(resolution.diagnostics)
    every = resolve(whole, only._replace(set=request.set), facts, catalogue.load(), lambda _: Effective())
    left = [s.spelled for s in every.desired if s.kind is not Kind.ENV]
    return [(s.name, s.text or "") for s in resolution.desired], left


def _environments(view: HostView) -> tuple[str, ...]:
    """Return the caller's virtual environment, or else the place of `pip install --user`: its PyTorch, with
    the ROCm that this includes, is the one that will run."""
    if view.offline:
        return ()
    prefixes = [os.environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    prefixes.append(os.environ.get("HOME", "") + "/.local")
    return tuple(p for p in prefixes if p.startswith("/"))[:1]


def write_user_environment(host: Host, path: str, pairs: Sequence[tuple[str, str]]) -> None:
    """Write the variables of one account, which its systemd session reads. Raise RocmcfgError if the file is
    not rocmcfg's."""
    _require_own_file(host, path)
    host.make_dirs(path.rpartition("/")[0], 0o755)
    host.write(path, host.new_file(user_file(pairs), 0o644), keep_mtime=False)


def remove_user_environment(host: Host, path: str) -> bool:
    """Remove the variables of one account. Return False if there was nothing to remove."""
    if not host.exists(path) and not host.is_symlink(path):
        return False
    _require_own_file(host, path)
    host.remove(path)
    return True


def _require_own_file(view: HostView, path: str) -> None:
    content = view.read(path)
    if view.is_symlink(path) or (content is not None and not is_as_written(content)):
        hint = "rename the file, or move your lines to another file; then run the command again"
        raise fail("RC4003", f"{path} differs from what rocmcfg wrote", location=path, hint=hint)
