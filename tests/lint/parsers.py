"""Whether a text is valid in its own language, as that language's own parser says; a test whose parser is not
at hand is skipped, and says which."""

from __future__ import annotations

import ast
import configparser
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from tests.support.tools import HANG, require_tool

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*')
_READ_ALL = "(let loop ((datum (read))) (if (not (eof-object? datum)) (loop (read))))"


class Invalid(Exception):
    """What a parser says of a text that it does not take."""


def check(language: str, text: str) -> None:
    """Raises Invalid."""
    if language in _LIBRARIES:
        try:
            _LIBRARIES[language](text)
        except Exception as problem:
            raise Invalid(f"{problem}") from problem
    elif language in _PROGRAMS:
        package, name, *arguments = _PROGRAMS[language]
        _run(require_tool(name, package) if package else _optional(name), arguments, text)
    else:
        pytest.skip(f"no parser of this format is at hand ({language})")


def _optional(name: str) -> str:
    return shutil.which(name) or pytest.skip(f"no {name} is at hand")


def _run(program: str, arguments: list[str], text: str) -> None:
    """Run a parser with the text as its input, or as the file that `{file}` stands for."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "text")
        file.write_text(text)
        command = [program, *(a.format(file=file, folder=folder) for a in arguments)]
        done = subprocess.run(command, input=text, text=True, capture_output=True, timeout=HANG, cwd=folder)
    if done.returncode != 0:
        raise Invalid(done.stderr or done.stdout)


def _tcl(text: str) -> None:
    """tclsh has no option that parses without running."""
    tcl = pytest.importorskip("tkinter", reason="no Tcl is at hand").Tcl()
    if not tcl.call("info", "complete", text):
        raise Invalid("a brace or a quote is not closed")


def _ini(text: str) -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    parser.read_string(text)


def _kickstart(text: str) -> None:
    parser = pytest.importorskip("pykickstart.parser")
    version = pytest.importorskip("pykickstart.version")
    parser.KickstartParser(version.makeVersion()).readKickstartFromString(text)


def _dotenv(text: str) -> None:
    parser = pytest.importorskip("dotenv.parser", reason="python-dotenv is not installed")
    if any(binding.error for binding in parser.parse_stream(StringIO(text))):
        raise Invalid("a line is no assignment")


_LIBRARIES: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "jsonc": lambda text: json.loads(_COMMENT.sub(lambda match: match[1] or "", text)),
    "toml": tomllib.loads,
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "python": ast.parse,
    "ini": _ini,
    "systemd": _ini,
    "kickstart": _kickstart,
    "xml": ElementTree.fromstring,
    "dotenv": _dotenv,
    "tcl": _tcl,
}
# Debian's package where the tests count on the program, its name and what it is given.
_PROGRAMS: dict[str, tuple[str, ...]] = {
    "bash": ("bash", "bash", "-n"),
    "fish": ("fish", "fish", "--no-execute", "{file}"),
    "nix": ("nix-bin", "nix-instantiate", "--parse", "-"),
    "scheme": ("guile-3.0", "guile", "-c", _READ_ALL.replace("{", "{{")),
    "terraform": ("", "terraform", "fmt", "-"),
    "javascript": ("", "node", "--check", "-"),
    "ruby": ("", "ruby", "-c", "-"),
    "lua": ("", "luac", "-p", "-"),
    "perl": ("", "perl", "-c", "-"),
    "make": ("", "make", "-n", "-f", "{file}"),
    "c": ("", "gcc", "-fsyntax-only", "-x", "c", "-"),
    "rust": ("", "rustc", "--edition", "2021", "--emit=metadata", "-o", "{folder}/x", "{file}"),
}
