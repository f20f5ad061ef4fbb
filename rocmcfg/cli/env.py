"""`rocmcfg env` and `run`: the variables of profiles, as text, for one account or for one program. Neither
needs any rights."""

from __future__ import annotations

import contextlib
import os
import shlex
from typing import NamedTuple

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Misuse, Printer
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.published import published

_MISSING = "say which variables: --profile NAME (or auto)"
_USER_FILE = ".config/environment.d/90-rocmcfg.conf"
# A value may hold `;`, which ends a command in a shell, and `%`, which systemd expands; nothing else that
# any of these formats would read as its own (model.spelling.SAFE_VALUE).
_LINES = {
    "sh": lambda name, value: f"export {name}={shlex.quote(value)}",
    "fish": lambda name, value: f"set -gx {name} " + (f"'{value}'" if set(value) & {";", "%"} else value),
    "systemd": lambda name, value: f"Environment={name}={value.replace('%', '%%')}",
    "docker": lambda name, value: f"{name}={value}",
    "python": lambda name, value: f'os.environ.setdefault("{name}", "{value}")',
}


@published("variables?", "text?", "path?", "removed?")
class EnvDocument(NamedTuple):
    """`text` where the variables were printed, `path` where they were written or removed."""

    variables: dict[str, str] | None = None
    text: str | None = None
    path: str | None = None
    removed: bool | None = None


def env(
    printer: Printer,
    asked: opt.Asked = opt.Asked(),
    format: str = opt.text(
        "--format", "-f", help="For whom the lines are.", default="sh", choices=tuple(_LINES)
    ),
    user: bool = opt.switch("--user", help=f"Write them for this account, to ~/{_USER_FILE}."),
    remove: bool = opt.switch("--remove", help="With --user: take that file away again."),
    root: str = opt.ROOT,
) -> None:
    """Print the variables of a profile, or write them for your own account."""
    from rocmcfg.workflow import profiles

    if remove and not user:
        raise Misuse("--remove goes with --user")
    if user and root != "/":
        raise Misuse("--user writes to your own home directory: leave --root away")
    request = asked.request("" if remove else _MISSING)
    host = hosts.open_host(printer, root)
    path = os.path.join(_home(), _USER_FILE) if user else ""
    if remove:
        gone = profiles.remove_user_environment(host, path)
        printer.document((), EnvDocument(path=path, removed=gone))
        printer.line(f"Removed: {path}" if gone else f"Nothing to remove: {path} is not there.")
        return
    pairs = profiles.variables(host, request)
    text = "import os\n" if pairs and format == "python" else ""
    text += "".join(_LINES[format](n, v) + "\n" for n, v in pairs)
    if user and not pairs:
        raise fail(
            "RC2030",
            "the profile sets no variable on this host",
            hint="`rocmcfg profile show NAME` says why; --unconditional takes all of them",
        )
    if user:
        profiles.write_user_environment(host, path, pairs)
        printer.document((), EnvDocument(dict(pairs), path=path))
        printer.line(f"Written: {path}")
        printer.line("Next: log out and in again.  Undo: rocmcfg env --user --remove")
        return
    printer.document((), EnvDocument(dict(pairs), text))
    if pairs:
        printer.result(text)
    else:
        printer.line("# the profile sets no variable on this host")


def run(
    printer: Printer,
    command: tuple[str, ...] = opt.argument("CMD [ARG…]", "What to run, after --.", "command", "texts"),
    asked: opt.Asked = opt.Asked(),
) -> None:
    """Run a command with the variables of a profile: rocmcfg run -p rdna4 -- python train.py"""
    from rocmcfg.workflow import profiles

    pairs = profiles.variables(hosts.open_host(printer, "/"), asked.request(_MISSING))
    try:
        os.execvpe(command[0], command, {**os.environ, **dict(pairs)})
    except OSError as problem:
        raise fail(
            "RC2031",
            f"cannot run {command[0]}: {problem.strerror}",
            hint="check the name and that it is executable",
        ) from problem


def _home() -> str:
    """$HOME where it is a whole path, else what the account database says (environment of a service)."""
    import pwd

    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        with contextlib.suppress(KeyError):
            home = pwd.getpwuid(os.getuid()).pw_dir
    if not home.startswith("/"):
        raise fail("RC2032", "this account has no home directory", hint="set HOME to one")
    return os.path.normpath(home)
