"""Commands `profile …`: list, show, validate and create profiles. Command `env`: print the variables of
profiles, or write them for one account. `env` needs no rights."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shlex
from collections.abc import Sequence

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.machines import targets
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.model.diagnostic import ExitCode, fail, has_errors
from rocmcfg.model.facts import Facts
from rocmcfg.model.plan import Plan
from rocmcfg.model.profile import Profile, ProfileParameter, Use
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple, published

_USER_FILE = ".config/environment.d/90-rocmcfg.conf"
# A value may contain `;`, which ends a command in a shell, and `%`, which systemd expands, but no other
# character that is special in one of these formats (model.spelling.SAFE_VALUE).
_LINES = {
    "sh": lambda name, value: f"export {name}={shlex.quote(value)}",
    "fish": lambda name, value: f"set -gx {name} " + (f"'{value}'" if set(value) & {";", "%"} else value),
    "systemd": lambda name, value: f"Environment={name}={value.replace('%', '%%')}",
    "docker": lambda name, value: f"{name}={value}",
    "python": lambda name, value: f'os.environ.setdefault("{name}", "{value}")',
}


class ProfileListDocument(NamedTuple):
    profiles: tuple[Profile, ...]


@published(
    "profile settings=plan.rows skipped=plan.skipped notes=profile.notes parameters=profile.parameters",
)
class ProfileShowDocument(NamedTuple):
    profile: Profile
    plan: Plan


class ProfileValidateDocument(NamedTuple):
    valid: bool


class ProfileNewDocument(NamedTuple):
    path: str


def list_profiles(printer: Printer, *, root: str = opt.ROOT) -> None:
    """List the profiles, those for this host first."""
    from rocmcfg.workflow.planning import collect_facts
    from rocmcfg.workflow.profiles import every

    view = hosts.open_host(printer, root)
    listed, problems = every(view)
    printer.document(problems, ProfileListDocument(tuple(listed)))
    if not printer.json:
        _show_list(printer, listed, collect_facts(view, name_system=False))
    printer.problems(problems)
    if problems:
        raise SystemExit(int(ExitCode.ERROR))


def _show_list(printer: Printer, listed: Sequence[Profile], facts: Facts) -> None:
    """Print the profiles, those for this host's GPUs first. A GPU's own profile that only extends a family's
    is listed only on a host with that GPU."""
    here = [p for p in listed if any(p.fits(gpu.gfx, gpu.integrated) for gpu in facts.gpus)]
    own = {gpu.gfx for gpu in facts.gpus}
    families = {p.extends for p in here if p.name in own}
    here = [p for p in here if p.name in own or (p.name not in families and p.name[:3] != "gfx")]
    rest = [p for p in listed if p not in here]
    parts = {
        "For this host": here,
        "Local": [p for p in rest if not p.shipped],
        "By family": [p for p in rest if p.shipped and p.use is Use.AUTO and not p.extends],
        "By name only": [p for p in rest if p.shipped and p.use is Use.NAMED],
        "To find the cause of a fault": [p for p in rest if p.shipped and p.use is Use.DIAGNOSIS],
    }
    for title, profiles in parts.items():
        rows = [(p.name.ljust(12), p.summary + ("" if p.shipped else "  (local)")) for p in profiles]
        printer.section(title, rows)
    for profile in here:
        optional = ", ".join(setting.id for setting in profile.settings if setting.optional)
        if optional:
            printer.line()
            printer.paragraph(f"{profile.name}, optional (--with): {optional}")
        for parameter in profile.parameters:
            printer.paragraph(f"{profile.name} needs a number from you: {_number_to_give(parameter)}")
    printer.line()
    printer.paragraph(
        "`rocmcfg profile show NAME` explains each setting. NAME may also be the name of a GPU."
    )


def show(
    printer: Printer,
    *,
    name: str = opt.argument("NAME", "A profile's name, or a .toml file.", "profile-file"),
    root: str = opt.ROOT,
) -> None:
    """Explain each setting of a profile."""
    from rocmcfg.cli import plan_view
    from rocmcfg.workflow import profiles as workflow

    host = hosts.open_host(printer, root)
    if name != "auto":
        name = hosts.understood(printer, host, Request((name,))).profiles[0]
    planned = workflow.explain_profile(host, name)
    profile = planned.profiles[0]
    printer.document(planned.plan.diagnostics, ProfileShowDocument(profile, planned.plan))
    printer.wrapped(f"{profile.name}: {profile.summary}", indent="")
    kind = {True: " (APUs)", False: " (no APUs)", None: ""}[profile.apu]
    gfx = ", ".join(profile.gfx) + kind if profile.gfx else "any GPU"
    printer.wrapped(f"For {gfx}; from {profile.location}", indent="")
    printer.section("You choose", [(f"profile.{p.name}", _number_to_give(p)) for p in profile.parameters])
    here = not profile.gfx or any(profile.fits(gpu.gfx, gpu.integrated) for gpu in planned.facts.gpus)
    printer.heading(
        "On this host it sets" if here else "This host has no GPU for it; with --any-gpu it would set"
    )
    for row in planned.plan.rows:
        plan_view.show_setting(printer, row)
    if not planned.plan.rows:
        printer.line("  nothing")
    if planned.plan.skipped:
        printer.heading("and leaves out")
    plan_view.show_left_out(printer, planned.plan.skipped)
    plan_view.show_notes(printer, planned.profiles)
    plan_view.remarks(printer, [d for d in planned.plan.diagnostics if d.id.startswith("RC2")])


def validate(
    printer: Printer,
    *,
    names: tuple[str, ...] = opt.argument("NAME…", "Names, or .toml files.", "profile-file", "texts"),
    root: str = opt.ROOT,
) -> None:
    """Check profiles against this host's kernels."""
    from rocmcfg.workflow import profiles as workflow

    problems = workflow.validate_profiles(hosts.open_host(printer, root), names)
    printer.document(problems, ProfileValidateDocument(not has_errors(problems)))
    printer.problems(problems)
    if has_errors(problems):
        raise SystemExit(int(ExitCode.ERROR))
    printer.line(f"Valid: {', '.join(names)}.")


def new(
    printer: Printer,
    *,
    name: str = opt.argument("NAME", "The name of the new profile: letters, digits, - and _.", "free"),
    extends: str = opt.text("--extends", metavar="NAME", help="The profile to extend.", takes="profile"),
    gfx: tuple[str, ...] = opt.GFX,
    root: str = opt.ROOT,
) -> None:
    """Create a profile in /etc/rocmcfg/profiles."""
    from rocmcfg.knowledge import profiles
    from rocmcfg.workflow import profiles as workflow

    opt.require_profile_name(name)
    if profiles.is_path(extends):
        raise Misuse("--extends takes a profile's name, not a path")
    # the profile may be for a chip that is newer than the table
    named = tuple(
        target if re.fullmatch("gfx[0-9a-f]{3,5}", target) else targets([target])[0] for target in gfx
    )
    host = hosts.open_host(printer, root)
    hosts.require_rights(printer, host)
    if extends:
        profiles.load(host, [extends])
    path = profiles.local_path(name)
    if os.path.isfile(profiles.shipped_path(name)):
        summary = f"{name} is a shipped profile, which a local profile of that name would replace"
        raise fail("RC1013", summary, hint=f"extend it: `rocmcfg profile new my-{name} --extends {name}`")
    if host.exists(path) or host.is_symlink(path):
        raise fail("RC1013", f"{path} already exists", location=path, hint="edit it, or choose another name")
    workflow.write_profile(host, path, extends, named)
    printer.document((), ProfileNewDocument(path))
    printer.line(f"Written: {path}")
    check = f"rocmcfg profile validate {name}{printer.root_option}"
    printer.wrapped(f"Next: edit it, then `{check}`.", indent="")


def _number_to_give(parameter: ProfileParameter) -> str:
    unit = f" {parameter.unit}" if parameter.unit else ""
    end = f" or more{unit}" if parameter.high is None else f" to {parameter.high}{unit}"
    within = {"memory": ", within the memory of the host", "gpus": ", at most as many as this host has"}
    limits = f"{parameter.low}{end}{within.get(parameter.within, '')}"
    return f"{parameter.summary.rstrip('.')} ({limits}; --set profile.{parameter.name}=NUMBER)"


@published("variables?", "text?", "path?", "removed?")
class EnvDocument(NamedTuple):
    """The variables of profiles: `text` if they were printed, `path` if they were written or removed."""

    variables: dict[str, str] | None = None
    text: str | None = None
    path: str | None = None
    removed: bool | None = None


def env(
    printer: Printer,
    *,
    named: tuple[str, ...] = opt.NAMED,
    requested: opt.RequestOptions = opt.RequestOptions(),
    format: str = opt.text(
        "--format", "-f", help="The format of the lines.", default="sh", choices=tuple(_LINES)
    ),
    user: bool = opt.switch("--user", help=f"Write them for this account, to ~/{_USER_FILE}."),
    remove: bool = opt.switch("--remove", help="With --user: remove that file."),
    root: str = opt.ROOT,
) -> None:
    """Print or write the variables of a profile."""
    from rocmcfg.workflow import profiles as workflow

    if remove and not user:
        raise Misuse("--remove requires --user")
    if user and root != "/":
        raise Misuse("--user writes to your own home directory: leave --root out")
    host = hosts.open_host(printer, root)
    path = os.path.join(_home(), _USER_FILE) if user else ""
    weak = host.weakness(path) if user else None
    if weak is not None:
        raise fail(
            "RC2059",
            f"{weak.words(here=True)}, and root does not write where other users can change the path",
            location=path,
            hint="run the command as that account, without sudo; for root `sudo -H` or `su -` sets HOME",
        )
    if remove:
        gone = workflow.remove_user_environment(host, path)
        printer.document((), EnvDocument(path=path, removed=gone))
        printer.line(f"Removed: {path}" if gone else f"Nothing to remove: {path} does not exist.")
        return
    pairs, _ = workflow.variables(host, hosts.understood(printer, host, requested.request(named)))
    text = "import os\n" if pairs and format == "python" else ""
    text += "".join(_LINES[format](n, v) + "\n" for n, v in pairs)
    if user and not pairs:
        hint = "`rocmcfg profile show NAME` says why; rocmcfg env --user --remove removes the file"
        raise fail("RC2030", "the profile sets no variable on this host", hint=hint)
    if user:
        workflow.write_user_environment(host, path, pairs)
        printer.document((), EnvDocument(dict(pairs), path=path))
        printer.line(f"Written: {path}")
        printer.line("Next: log out and in again.  Undo: rocmcfg env --user --remove")
        return
    printer.document((), EnvDocument(dict(pairs), text))
    if pairs:
        printer.result(text)
    else:
        printer.line("# the profile sets no variable on this host")


def _home() -> str:
    """Return $HOME if it is an absolute path, else the home directory in the account database; a service may
    have no HOME."""
    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        with contextlib.suppress(KeyError):
            home = pwd.getpwuid(os.getuid()).pw_dir
    if not home.startswith("/") or not os.path.isdir(home):
        raise fail("RC2032", "this account has no home directory", hint="set HOME to one")
    return os.path.normpath(home)
