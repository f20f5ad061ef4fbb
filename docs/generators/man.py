"""packaging/man: the manual pages, from the command line, the profile format, the README and the diagnostics.

roff is written by the templates alone; what is put into them goes through `roff` below. groff and mandoc read
the result the same way: no macro beyond man(7), no character beyond ASCII.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import rocmcfg
from generators import commands, completions, diagnostics, profile_keys
from generators.commands import Argument, Command, Option
from rocmcfg.cli import help as cli_help

REPOSITORY = Path(__file__).resolve().parents[2]
# Nearly every command has these.
COMMON = ("--root", "--chroot", "--json", "--quiet", "--verbose", "--debug", "--help")
# The other pages that a command's page names.
SEE_ALSO = {
    "profile": (("rocmcfg-profile", 5),),
    "plan": (("rocmcfg-apply", 1), ("rocmcfg-profile", 5)),
    "apply": (("rocmcfg-plan", 1), ("rocmcfg-verify", 1), ("rocmcfg-rollback", 1), ("rocmcfg-confirm", 1)),
    "verify": (("rocmcfg-status", 1),),
    "rollback": (("rocmcfg-history", 1), ("rocmcfg-recover", 1)),
    "confirm": (("rocmcfg-reject", 1),),
    "reject": (("rocmcfg-confirm", 1),),
    "doctor": (("rocmcfg-issues", 1), ("rocmcfg-report", 1)),
    "env": (("rocmcfg-run", 1),),
    "run": (("rocmcfg-env", 1), ("rocmcfg-try", 1)),
    "try": (("rocmcfg-run", 1), ("rocmcfg-tries", 1)),
}
# What a page shows as usage; the test holds each against the command line.
EXAMPLES = (
    ("Show this host, and the profile that fits:", ("rocmcfg status",)),
    (
        "See what a profile would change; apply it; after the reboot, check it:",
        (
            "rocmcfg plan --profile gfx1201",
            "sudo rocmcfg apply --profile gfx1201",
            "sudo reboot",
            "rocmcfg verify",
        ),
    ),
    (
        "Try a profile for one boot; after the reboot, confirm or reject it:",
        (
            "sudo rocmcfg apply --profile gfx1201 --trial",
            "sudo reboot",
            "sudo rocmcfg confirm",
            "sudo rocmcfg reject",
        ),
    ),
    (
        "Apply the profiles of this host's GPUs without one setting; apply one parameter alone:",
        ("sudo rocmcfg apply --profile auto --without karg.iommu", "sudo rocmcfg apply --set amdgpu.runpm=0"),
    ),
    (
        "Find the cause of a crash in the log of another machine:",
        ("rocmcfg doctor --log dmesg.txt --gfx gfx1100",),
    ),
    ("Show what a line from a forum does:", ("rocmcfg explain ppfeaturemask=0xffffffff",)),
    (
        "Look for mistakes in the boot files of this host, or in a script:",
        ("rocmcfg lint", "rocmcfg lint start-training.sh --fix"),
    ),
    (
        "Run a program, or a container, with the variables of a profile:",
        (
            "rocmcfg run --profile rdna4 -- python3 train.py",
            "rocmcfg env --profile rdna4 --format docker > amd.env",
        ),
    ),
    (
        "Undo the last change, or all changes:",
        ("sudo rocmcfg rollback", "sudo rocmcfg rollback --pristine"),
    ),
)


def program_page() -> str:
    program = commands.program()
    options = {option.name: option for command in program.all() for option in command.options}
    return _render(
        "rocmcfg.1.j2",
        commands=program.commands,
        common=[options[name] for name in COMMON],
        examples=EXAMPLES,
        codes=_exit_codes(),
        black_screen=_black_screen(),
    )


def command_pages() -> dict[str, Callable[[], str]]:
    """Return the pages of the commands; a group of commands has one for all of them."""
    return {
        f"packaging/man/man1/{_page(command)}.1": partial(command_page, command)
        for command in commands.program().commands
    }


def command_page(command: Command) -> str:
    parts = command.commands or (command,)
    everywhere = {option.name: option for part in parts for option in part.options if option.name in COMMON}
    return _render(
        "rocmcfg-command.1.j2",
        page=_page(command),
        about=f"{command.summary[:1].lower()}{command.summary[1:]}",
        commands=parts,
        common=COMMON,
        everywhere=[everywhere[name] for name in COMMON if name in everywhere],
        examples=cli_help.EXAMPLES.get(command.path, ()),
        also=[(name, section) for name, section in SEE_ALSO.get(command.path, ())],
    )


def _page(command: Command) -> str:
    return f"rocmcfg-{command.path}"


def profile_page() -> str:
    return _render(
        "rocmcfg-profile.5.j2",
        keys=dict(profile_keys.sections()),
        diagnostics=_diagnostics("RC1"),
    )


def _render(template: str, **facts: object) -> str:
    environment = completions.environment()
    environment.filters |= {
        "roff": roff,
        "option": _option,
        "usage": _usage,
        "page": _page,
        "literal": _literal,
    }
    text = environment.get_template(template).render(version=rocmcfg.__version__, date=_date(), **facts)
    return re.sub(r"\n{2,}", "\n", text)


# -- text as roff ---------------------------------------------------------------------------------------


def roff(text: str) -> str:
    """Prose as one line: `code` becomes bold, and what begins with a dot stays text."""
    said = _escaped(" ".join(text.replace("**", "").split()))
    said = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", said)
    return r"\&" + said if said.startswith((".", "'")) else said


def _literal(text: str) -> str:
    """Lines of an example, as they are."""
    lines = (_escaped(line) for line in text.splitlines())
    return "\n".join(r"\&" + line if line.startswith((".", "'")) else line for line in lines)


def _escaped(text: str) -> str:
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("~", r"\(ti").replace("^", r"\(ha")
    return "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)


def _option(option: Option) -> str:
    metavar = f" \\fI{_escaped(option.value)}\\fP" if option.value else ""
    return ", ".join(f"\\fB{_escaped(name)}\\fP{metavar}" for name in sorted(option.names, key=len))


def _usage(command: Command) -> str:
    """`rocmcfg plan [OPTIONS]`, set in bold and italics."""
    words = [f"\\fBrocmcfg {_escaped(command.path)}\\fP", r"[\fIOPTIONS\fP]"]
    words += [_argument(argument) for argument in command.arguments]
    return " ".join(words)


def _argument(argument: Argument) -> str:
    before = "-- " if argument.takes == "command" else ""
    return _escaped(before) + f"\\fI{_escaped(argument.metavar)}\\fP"


# -- from other pages -----------------------------------------------------------------------------------


def _exit_codes() -> list[tuple[str, str]]:
    return re.findall(
        r"^\| (\d) \| (.+) \|$", (REPOSITORY / "docs/reference/exit-codes.md").read_text(), flags=re.M
    )


def _black_screen() -> list[str]:
    """The README's steps, and at their end what is to be done by hand: who reads this may have no network."""
    pages = ("README.md", "The screen stays black"), ("docs/how-to/rescue-shell.md", "By hand")
    text = "".join(re.sub(r"^ *<!-- .* -->\n", "", _section(*page), flags=re.M) for page in pages)
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)
    steps = re.split(r"^\d\. ", text, flags=re.M)[1:]
    return [step.strip() for step in steps]


def _section(page: str, title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)^## ", (REPOSITORY / page).read_text(), re.M | re.S)
    if not found:
        sys.exit(f"{page} has no section {title!r}, which the manual page takes its text from")
    return found[1]


def _diagnostics(prefix: str) -> list[tuple[str, str, str]]:
    rows = re.findall(rf"^\| ({prefix}\d+) \| [^|]+ \| (.+?) \| (.*?) \|$", diagnostics.page(), flags=re.M)
    return [(id, summary.replace("\\|", "|"), hint.replace("\\|", "|")) for id, summary, hint in rows]


def _date() -> str:
    """That of the release, so that the page changes with the program and not with the day."""
    heading = re.search(r"^## \[[^]]+\] - (\S+)", (REPOSITORY / "CHANGELOG.md").read_text(), re.M)
    return heading[1] if heading and heading[1][0].isdigit() else ""
