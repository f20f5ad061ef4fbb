"""Print `--help`: the commands by task, or the arguments and options of one command."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rocmcfg.cli import options
from rocmcfg.cli.commands import COMMANDS, GROUPS
from rocmcfg.cli.options import Option
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.cli.unseen import clean
from rocmcfg.model.diagnostic import ExitCode
from rocmcfg.model.spelling import closest

TASKS = {
    "Start": ("status", "doctor", "lint"),
    "Change": ("plan", "apply", "verify", "rollback", "history", "take-over"),
    "Try for one boot: apply --trial, then": ("confirm", "reject"),
    "Look up": ("explain", "issues", "profile", "knowledge", "report", "crashes"),
    "Variables only, without root": ("env", "run", "try", "tries"),
    "Repair and scripting": ("recover", "render", "facts", "fleet", "schema"),
}
_FIRST = ("Start", "Change")  # the tasks that are shown where no command is named
EXAMPLES = {
    "": ("rocmcfg doctor fault.log", "rocmcfg plan", "sudo rocmcfg apply"),
    "doctor": ("rocmcfg doctor", "rocmcfg doctor fault.log --gfx gfx1201", "dmesg | rocmcfg doctor"),
    "plan": ("rocmcfg plan", "rocmcfg plan rx9070xt", "rocmcfg plan --add karg.iommu=pt"),
    "apply": ("sudo rocmcfg apply", "sudo rocmcfg apply --trial", "sudo rocmcfg apply --add runpm=0"),
    "verify": ("rocmcfg verify", "rocmcfg verify --pid 4711", "rocmcfg verify --against golden.json"),
    "facts": ("rocmcfg facts", "sudo rocmcfg facts --save golden.json"),
    "rollback": ("sudo rocmcfg rollback", "sudo rocmcfg undo", "sudo rocmcfg rollback --root /mnt --chroot"),
    "lint": ("rocmcfg lint", "rocmcfg lint --fix forum.txt"),
    "explain": (
        "rocmcfg explain ppfeaturemask=0xfffd3fff",
        "rocmcfg explain rdna4-expert-sched-cwsr",
        "rocmcfg explain gfx1201",
        "rocmcfg explain RC3015",
    ),
    "issues": ("rocmcfg issues", "rocmcfg issues suspend --gfx 9070xt"),
    "env": ("rocmcfg env", "rocmcfg env --profile rdna4 --format docker"),
    "run": ("rocmcfg run -- python train.py", "rocmcfg run --profile rdna4 -- python train.py"),
    "try": (
        "rocmcfg try --set env.HSA_ENABLE_SDMA=0 -- python train.py",
        "rocmcfg try --drop -- python train.py",
        "rocmcfg try --which --profile rdna4 -- python train.py",
    ),
}
_EVERYWHERE = {"root", "chroot", *options.OUTPUT, "help"}
_LONG = 24  # characters; a longer list of choices goes into the text


def page(path: str) -> str:
    """Return the help of the program (an empty path), of a group of commands, or of one command."""
    printer = Printer("help")
    printer.kept = []
    _print(printer, path)
    return clean("".join(printer.kept)).rstrip("\n")


def first_steps() -> str:
    """Return what the program prints without a command: the tasks to begin with, on 24 lines or fewer."""
    printer = Printer("help")
    printer.kept = []
    _print_program(printer, _FIRST)
    _examples(printer, "")
    printer.line()
    printer.paragraph("All commands: rocmcfg --help.")
    return clean("".join(printer.kept)).rstrip("\n")


def summary(path: str) -> str:
    """Return the first sentence of a command's help, without the full stop."""
    return (GROUPS.get(path) or COMMANDS[path].load().__doc__).partition("\n")[0].rstrip(".")


def usage(path: str) -> str:
    """Return the line that shows how to call a command."""
    command = COMMANDS[path]
    arguments = [option for option in command.declared().values() if not option.names]
    words = [a.metavar if a.required or a.metavar[:1] == "[" else f"[{a.metavar}]" for a in arguments]
    return " ".join(["Usage: rocmcfg", path, "[OPTIONS]", *["--"] * command.passes_on, *words])


def answer(name: str) -> None:
    """Write the help page of the program or of a group and raise SystemExit, if `name` asks for help or names
    no command. The program alone prints its first steps."""
    group, word = _parted(name)
    if word in ("", *options.HELP.names):
        sys.stdout.write((page(group) if word or group else first_steps()) + "\n")
        raise SystemExit(int(ExitCode.DONE))


def unknown(name: str) -> Misuse:
    """Return the error for an unknown command; its hint names the most similar command."""
    group, word = _parted(name)
    before = f"{group} " if group else ""
    listed = [path for path, command in COMMANDS.items() if command.listed and path.startswith(before)]
    words = dict.fromkeys(path.removeprefix(before).partition(" ")[0] for path in listed)
    near = closest(word, list(words))
    hint = f"did you mean `rocmcfg {before}{near[0]}`?" if near else f"see `rocmcfg {before}--help`"
    return Misuse(f"No such {'option' if word[:1] == '-' else 'command'} {word!r}.", hint=hint)


def _parted(name: str) -> tuple[str, str]:
    """Return the group of commands, empty for none, and the word that comes after it."""
    first, _, second = name.partition(" ")
    return (first, second) if first in GROUPS else ("", first)


def _print(printer: Printer, path: str) -> None:
    if path and path not in GROUPS:
        _print_command(printer, path)
        return
    if path:
        printer.line(f"Usage: rocmcfg {path} COMMAND [OPTIONS]")
        inner = [name for name, command in COMMANDS.items() if command.listed and name.startswith(f"{path} ")]
        printer.section("Commands", [(name.partition(" ")[2], summary(name)) for name in inner])
        return
    _print_program(printer, TASKS)
    _examples(printer, path)
    printer.line()
    printer.paragraph("For one command: rocmcfg help COMMAND. For the version: rocmcfg --version.")
    printer.paragraph("The manual: man rocmcfg, man rocmcfg-COMMAND; of profiles: man 5 rocmcfg-profile.")


def _print_program(printer: Printer, tasks: Iterable[str]) -> None:
    printer.line("Usage: rocmcfg COMMAND [OPTIONS]")
    printer.line()
    printer.paragraph("Manages amdgpu kernel parameters and related environment variables.")
    wide = max(len(name) for names in TASKS.values() for name in names)
    for task in tasks:
        printer.section(task, [(name.ljust(wide), summary(name)) for name in TASKS[task]])


def _print_command(printer: Printer, path: str) -> None:
    command = COMMANDS[path]
    declared = command.declared()
    arguments = [option for option in declared.values() if not option.names]
    printer.paragraph(usage(path))
    for paragraph in (command.load().__doc__ or "").strip().split("\n\n"):
        printer.line()
        printer.wrapped(" ".join(paragraph.split()), indent="")
    _examples(printer, path)
    printer.section("Arguments", [(option.metavar, option.help) for option in arguments if option.help])
    own = {name: option for name, option in declared.items() if option.names and name not in _EVERYWHERE}
    printer.section("Options", list(map(_row, own.values())))
    common = (option for name, option in declared.items() if name in _EVERYWHERE)
    printer.section("Common options", list(map(_row, common)))


def _examples(printer: Printer, path: str) -> None:
    if path in EXAMPLES:
        printer.heading("Examples")
    for example in EXAMPLES.get(path, ()):
        printer.line(f"  {example}")


def _row(option: Option) -> tuple[str, str]:
    takes, text = option.metavar or "|".join(option.choices), option.help
    if len(takes) > _LONG:
        takes, text = "NAME", f"{text} One of {', '.join(option.choices)}."
    return " ".join(filter(None, (", ".join(sorted(option.names, key=len)), takes))), text
