"""The commands that rocmcfg prints for its reader to copy: found in what a command printed, and typed on a
copy of the host."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rocmcfg.cli import app
from rocmcfg.cli.commands import COMMANDS, NAMES
from rocmcfg.cli.printer import Misuse
from tests.support.stage import Said, Stage, Typed, empty_folder

# What stands for something that the reader has to choose.
_CHOSEN = re.compile(r"(?:^|[ =.@])(?:[A-Z][A-Z0-9_]{1,}(?:=[A-Z]+)?|[KV])(?=$|[ =@])|…|\.\.\.")
_NEAR = 80  # characters of a sentence beside a command
_ASKS = ("apply", "rollback", "confirm", "reject")
_ONE = r"(?:sudo )?rocmcfg [a-z][^`\n]*"
_QUOTED = re.compile(r"`((?:sudo )?rocmcfg [^`]+)`")
_BEHIND_A_LABEL = re.compile(rf"^(?P<label>[A-Z][A-Za-z ,]*): +(?P<command>{_ONE})$", re.MULTILINE)
_ALONE = re.compile(rf"^ +(?P<command>{_ONE})$", re.MULTILINE)
_PIPED = re.compile(r"\| (?P<command>(?:sudo )?rocmcfg [^`|;\n]*)")
_REST = re.compile(r"(?:, or |; | \(|, then | <<< | \| | > ).*")


class Printed(NamedTuple):
    """A command, and what stands before it: `Next`, `Undo`, `keep`; empty for one inside a sentence.
    `elsewhere`: the sentence is about the host itself, or about what is done there after a reboot. `piped`:
    it reads what another program prints."""

    label: str
    command: str
    elsewhere: bool = False
    piped: bool = False

    @property
    def complete(self) -> bool:
        """Whether nothing is left to the reader's choice, or to another program."""
        return not self.piped and not _CHOSEN.search(
            re.sub(r"env\.\w+=\S*|\b[A-Z]\w*=[\w.,:/-]+", "", self.command)
        )


def printed(said: Said) -> Iterator[Printed]:
    text = re.sub(r" *\\\n *", " ", f"{said.out}\n{said.err}")
    text = re.sub(r"(?m)^[+ |-]*# .*$", "", text)  # the head of a file says of itself which command wrote it
    for match in _QUOTED.finditer(text):
        sentence = text[max(0, match.start() - _NEAR) : match.end() + _NEAR]
        elsewhere = re.search(r"\bthere\b|\breboot|\bboot\b", sentence) is not None
        yield Printed("", " ".join(match[1].split()).partition(" | ")[0], elsewhere)
    for match in _PIPED.finditer(text):
        yield Printed("", match["command"].strip(), piped=True)
    for match in _BEHIND_A_LABEL.finditer(text):
        yield Printed(match["label"], _REST.sub("", match["command"]).strip())
    above = ""
    sentences = re.compile(rf"^ +rocmcfg (?!(?:{'|'.join(NAMES)})\b).*$", re.MULTILINE)
    text = sentences.sub("", text)
    for line in text.splitlines():
        if alone := _ALONE.match(line):
            keeps = above.strip().startswith("To keep ")
            yield Printed("keep" if keeps else "", _REST.sub("", alone["command"]).strip())
        above = line


def words(command: str, *, root: str) -> str:
    """The command as it is typed on the copy: as root, without a question."""
    parts = shlex.split(command.removeprefix("sudo "))
    behind = parts[parts.index("--") :] if "--" in parts else []
    parts = parts[: len(parts) - len(behind)]
    parts += ["--yes"] if parts[1] in _ASKS and not {"--yes", "-y"} & {*parts} else []
    parts += root.split() if "--root" not in parts and takes_root(parts) else []
    return shlex.join([*parts, *behind])


def misread(command: str) -> str:
    """Return why the program would not understand a command, whatever stands in it for the reader's choice;
    empty where it would."""
    parts = [part for part in shlex.split(command.removeprefix("sudo ")) if part not in ("…", "...")]
    name, words = app.split(app.meant(parts[1:]))
    try:
        app.read(name, words)
    except Misuse as problem:
        return str(problem)
    return ""


def takes_root(parts: list[str]) -> bool:
    """Return whether the words of a command name one with --root."""
    found = COMMANDS.get(" ".join(parts[1:3])) or COMMANDS.get(parts[1])
    return found is not None and "root" in found.declared() and not found.passes_on


def on_a_copy(stage: Stage, commands: list[str]) -> Iterator[tuple[Said, Path]]:
    """Type the commands on a copy of the host; yield what each says, and the copy."""
    with empty_folder() as place:
        for entry in stage.place.iterdir():
            if entry.name.startswith("."):
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.copytree(entry, place / entry.name, symlinks=True)
            else:
                shutil.copy2(entry, place / entry.name, follow_symlinks=False)
        copy = Stage(place, stage.host, stage.tools)
        for command in commands:
            yield copy.run(Typed(command.replace(str(stage.place), str(place)))), place / "host"
