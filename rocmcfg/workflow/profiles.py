"""Profiles for their reader and their author: explained on a host, validated, started."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import Diagnostic, info
from rocmcfg.model.facts import Facts
from rocmcfg.model.profile import Profile
from rocmcfg.workflow.planning import Planned, collect_facts, receipt_or_none


def explain_profile(view: HostView, name: str, boot_backend: str = "") -> Planned:
    """A profile on this host, setting by setting, whether or not it could be applied."""
    from rocmcfg.knowledge import catalogue, profiles
    from rocmcfg.model.state import Request
    from rocmcfg.planning.plan import Known, make_plan

    loaded = profiles.load(view, [name])
    facts = collect_facts(view, boot_backend=boot_backend)
    request = Request(profiles=(name,), any_gpu=True)
    made = make_plan(view, loaded, request, Known(facts, catalogue.load(), receipt_or_none(view)))
    remarks = [*profiles.standing_in(view, [name]), *_elsewhere(loaded, facts)]
    made = made._replace(diagnostics=(*remarks, *made.diagnostics))
    return Planned(made, request, facts, loaded)


def _elsewhere(loaded: Sequence[Profile], facts: Facts) -> Iterable[Diagnostic]:
    for profile in loaded:
        if profile.gfx and not any(profile.fits(gpu.gfx, gpu.integrated) for gpu in facts.gpus):
            yield info(
                "RC2054",
                f"no GPU of profile {profile.name} is on this host",
                location=profile.location,
                hint="plan and apply refuse it here; with --any-gpu they take it all the same",
            )


def validate_profiles(view: HostView, names: Sequence[str]) -> list[Diagnostic]:
    """Every problem of the profiles, with everything optional included and no condition asked."""
    from rocmcfg.knowledge import catalogue, profiles
    from rocmcfg.model.profile import Use
    from rocmcfg.model.state import Request
    from rocmcfg.planning.resolve import modules_of, resolve
    from rocmcfg.state.configured import Effective

    loaded, problems = profiles.read(view, names)
    found = list(problems)
    for profile in loaded:
        facts = collect_facts(view, modules=modules_of(profile.settings))
        everything = tuple(s.id for s in profile.settings if s.optional)
        given = tuple(f"profile.{p.name}={p.low}" for p in profile.parameters)
        request = Request((profile.name,), given, everything, unconditional=True, any_gpu=True)
        as_such = profile._replace(use=Use.NAMED)  # that it is for diagnosis is no fault of it
        made = resolve([as_such], request, facts, catalogue.load(), lambda _: Effective())
        # the numbers are ours, and whether they suit this host is nobody's question
        found += [d for d in made.diagnostics if d.location != "--set"]
    return found


def write_profile(host: Host, path: str, extends: str, gfx: tuple[str, ...]) -> None:
    """A commented profile to start from. The caller has checked that nothing is at `path`."""
    from rocmcfg.knowledge.profiles import LOCAL_DIR, SCHEMA, skeleton
    from rocmcfg.records.journal import make_dirs

    make_dirs(host, LOCAL_DIR, 0o755)
    content = skeleton(extends, gfx, schema=host.exists(SCHEMA))
    host.write(path, host.new_file(content, 0o644), keep_mtime=False)
