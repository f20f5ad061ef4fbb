"""The table of commands. `app` runs them, `parser` declares them to typer, `help` prints them, and
docs/generators read them."""

from __future__ import annotations

import importlib
from typing import Any

from rocmcfg.cli import options
from rocmcfg.model.shape import NamedTuple


class Command(NamedTuple):
    """A command: its function, and the module of `rocmcfg.cli` that has the function. `output` names the
    options of `options.OUTPUT` that it takes. `listed`: `--help` lists it. `passes_on`: the words after the
    first argument are passed on unread."""

    module: str
    function: str
    output: tuple[str, ...] = ("json", "quiet", "verbose", "debug")
    listed: bool = True
    passes_on: bool = False

    def load(self) -> Any:
        return getattr(importlib.import_module(f"rocmcfg.cli.{self.module}"), self.function)

    def declared(self) -> dict[str, options.Option]:
        """Return the options and arguments of the command, by the names of their values."""
        declarations: dict[str, options.Option] = {}
        for name, entry in options.declared(self.load()).items():
            declarations |= {name: entry} if isinstance(entry, options.Option) else entry._asdict()
        declarations |= {name: options.OUTPUT[name] for name in self.output}
        return declarations | ({} if self.passes_on and not self.listed else {"help": options.HELP})


GROUPS = {
    "crashes": "Save crashes of GPUs, and report them.",
    "profile": "List, show, validate and create profiles.",
    "tries": "List, show, resume and forget your tries.",
    "knowledge": "Add your own known issues and parameters.",
}
COMMANDS = {
    "status": Command("status", "status"),
    "profile list": Command("profile", "list_profiles"),
    "profile show": Command("profile", "show"),
    "profile validate": Command("profile", "validate"),
    "profile new": Command("profile", "new"),
    "plan": Command("apply", "plan"),
    "apply": Command("apply", "apply"),
    "take-over": Command("take_over", "take_over"),
    "verify": Command("verify", "verify"),
    "confirm": Command("apply", "confirm"),
    "reject": Command("rollback", "reject"),
    "rollback": Command("rollback", "rollback"),
    "history": Command("rollback", "history"),
    "recover": Command("rollback", "recover"),
    "explain": Command("explain", "explain"),
    "issues": Command("issues", "issues"),
    "doctor": Command("doctor", "doctor"),
    "lint": Command("lint", "lint"),
    "report": Command("report", "report"),
    "facts": Command("facts", "facts"),
    "fleet": Command("fleet", "fleet"),
    "env": Command("profile", "env"),
    "run": Command("run", "run", output=("debug",), passes_on=True),
    "try": Command("trying", "try_", passes_on=True),
    "tries list": Command("tries", "list_tries"),
    "tries show": Command("tries", "show"),
    "tries resume": Command("tries", "resume"),
    "tries forget": Command("tries", "forget"),
    "knowledge check": Command("knowledge", "check"),
    "knowledge new": Command("knowledge", "new"),
    "knowledge export": Command("knowledge", "export"),
    "knowledge install": Command("knowledge", "install"),
    "knowledge remove": Command("knowledge", "remove"),
    "crashes on": Command("crashes", "turn_on"),
    "crashes off": Command("crashes", "turn_off"),
    "crashes list": Command("crashes", "list_crashes"),
    "crashes show": Command("crashes", "show"),
    "crashes report": Command("crashes", "report"),
    "crashes forget": Command("crashes", "forget"),
    "crashes save": Command("crashes", "save", output=("quiet", "debug"), listed=False),
    "render": Command("render", "render"),
    "schema": Command("explain", "schema", output=("debug",)),
    "check-kernel": Command("apply", "check_kernel", listed=False),
    "watch-trial": Command("apply", "watch_trial", listed=False),
    "continue-try": Command("rebooting", "continue_try", listed=False),
    "complete": Command("complete", "complete", output=(), listed=False, passes_on=True),
}
# Other names that people type for a command.
ALIASES = {"undo": ["rollback"], "issues new": ["knowledge", "new"], "knowledge list": ["knowledge", "check"]}
# The words that may be the first argument.
NAMES = tuple(dict.fromkeys(name.partition(" ")[0] for name in COMMANDS))
