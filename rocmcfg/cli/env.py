"""`rocmcfg env`: the environment part of profiles, as text or for one account. Needs no rights."""

from __future__ import annotations

import os
import shlex
from enum import Enum
from typing import TYPE_CHECKING, Annotated, NamedTuple

from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Misuse
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.published import published

if TYPE_CHECKING:
    import typer

_USER_FILE = ".config/environment.d/90-rocmcfg.conf"


class Format(str, Enum):
    sh = "sh"
    fish = "fish"
    systemd = "systemd"
    docker = "docker"
    python = "python"


# A value may hold `;`, which ends a command in a shell, and `%`, which systemd expands; nothing else that
# any of these formats would read as its own (model.value.SAFE_VALUE).
_LINES = {
    Format.sh: lambda name, value: f"export {name}={shlex.quote(value)}",
    Format.fish: lambda name, value: (
        f"set -gx {name} " + (f"'{value}'" if set(value) & {";", "%"} else value)
    ),
    Format.systemd: lambda name, value: f"Environment={name}={value.replace('%', '%%')}",
    Format.docker: lambda name, value: f"{name}={value}",
    Format.python: lambda name, value: f'os.environ.setdefault("{name}", "{value}")',
}
_FIRST = {Format.python: "import os\n"}


@published("variables?", "text?", "path?", "removed?")
class EnvDocument(NamedTuple):
    """`text` where the variables were printed, `path` where they were written or removed."""

    variables: dict[str, str] | None = None
    text: str | None = None
    path: str | None = None
    removed: bool | None = None


def env(
    profile: opt.Profiles = None,
    set: opt.Set = None,
    with_: opt.With = None,
    without: opt.Without = None,
    unconditional: opt.Unconditional = False,
    any_gpu: opt.AnyGpu = False,
    format: Annotated[Format, typer.Option("--format", "-f", help="For whom the lines are.")] = Format.sh,
    user: Annotated[
        bool, typer.Option("--user", help=f"Write them for this account, to ~/{_USER_FILE}.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="With --user: take that file away again.")] = False,
    root: opt.Root = "/",
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Print the variables of a profile, or write them for your own account."""
    with opt.session("env", json, quiet, verbose, debug) as printer:
        from rocmcfg.cli import plan_view
        from rocmcfg.workflow import environment as workflow

        if remove and not user:
            raise Misuse("--remove goes with --user")
        if not remove and not profile and not set:
            raise Misuse("say which variables: --profile NAME (or auto)")
        if user and root != "/":
            raise Misuse("--user writes to your own home directory: leave --root away")
        request = plan_view.request(profile, set, with_, without, unconditional, any_gpu, None, "")
        path = os.path.join(_home(), _USER_FILE) if user else ""
        if remove:
            gone = workflow.remove_user_environment(opt.open_host("/"), path)
            printer.document((), EnvDocument(path=path, removed=gone))
            printer.line(f"Removed: {path}" if gone else f"Nothing to remove: {path} is not there.")
            return
        pairs = workflow.variables(opt.open_host(root), request)
        text = _FIRST.get(format, "") if pairs else ""
        text += "".join(_LINES[format](n, v) + "\n" for n, v in pairs)
        if user and not pairs:
            raise fail(
                "RC2030",
                "the profile sets no variable on this host",
                hint="`rocmcfg profile show NAME` says why; --unconditional takes all of them",
            )
        if user:
            workflow.write_user_environment(opt.open_host("/"), path, pairs)
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
    """$HOME where it is a whole path, else what the account database says (environment of a service)."""
    import pwd

    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            home = ""
    if not home.startswith("/"):
        raise fail("RC2032", "this account has no home directory", hint="set HOME to one")
    return os.path.normpath(home)
