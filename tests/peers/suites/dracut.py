"""dracut: TEST-80-GETARG, the command lines that its getarg reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rocmcfg.model.kargs import canonical, last
from tests.peers import reading
from tests.peers.judgement import Answer, Case
from tests.peers.suites.suite import Suite


def _cases(sources: Path) -> list[Case]:
    source = (sources / "test/TEST-80-GETARG/test.sh").read_text()
    return [*_program(source), *_library(source)]


def _program(source: str) -> Iterator[Case]:
    """dracut-util, which is told its line in CMDLINE."""
    found = re.search(r"export CMDLINE='(.*?)'\n", source, re.DOTALL)
    table = re.search(r"TEST=\((.*?)\n +\)", source, re.DOTALL)
    missing = re.search(r"INVALIDKEYS=\((.*?)\)", source)
    assert found
    assert table
    assert missing
    line = found[1]
    for first, second, value in re.findall(
        r"\[(?:\"(.*?)\"|'(.*?)')\]=(\".*?\"|'.*?')$", table[1], re.MULTILINE
    ):
        key = first or second
        yield Case(f"key {key!r}", line, {key: value[1:-1]}, _value(line, key))
    for key in re.findall(r"\"(.*?)\"|'\"'", missing[1]):
        name = key or '"'
        yield Case(f"no key {name!r}", line, {}, _value(line, name))
    for value in ("val", "val2"):  # key2= twice
        yield Case(f"getargs key2 {value}", line, {"has": "yes"}, _has(line, "key2", value))


def _library(source: str) -> Iterator[Case]:
    """The shell's getarg and its kin, one case for each question after a line."""
    parts = re.split(r"getcmdline\(\) \{\s*echo \"(.*?)\"\s*\}", source)[1:]
    for line, asked in zip(parts[::2], parts[1::2], strict=True):
        for key, value in re.findall(r"=\$\(getarg ([\w.]+)\)\s*\[\[ \$\w+ == \"(.*?)\" \]\]", asked):
            yield Case(f"getarg {key}", line, {key: value}, _value(line, key))
        for key, value, joined in re.findall(r"^ +getarg ([\w.]+)=(\w+) (\|\||&&)", asked, re.MULTILINE):
            theirs = {"has": "yes" if joined == "||" else "no"}
            yield Case(f"getarg {key}={value}", line, theirs, _has(line, key, value))
        for default, key, joined in re.findall(r"^ +getargbool (\d) ([\w.]+) (\|\||&&)", asked, re.MULTILINE):
            yield Case(
                f"getargbool {default} {key}", line, {key: "1" if joined == "||" else "0"}, _flag(line, key)
            )
        for key, wanted in re.findall(r"getargs ([\w.]+)=?(?: -d \w+=)?\)\s*RESULT=\((.*?)\)", asked):
            for value in re.findall(r"\"(.*?)\"", wanted):
                yield Case(f"getargs {key} {value}", line, {"has": "yes"}, _has(line, key, value))


def _value(line: str, key: str) -> Answer:
    karg = last(reading.arguments(line), key)
    return {} if karg is None else {key: karg.value}


def _has(line: str, key: str, value: str) -> Answer:
    """Of an argument of this name, the value; dracut takes a bare name as its own value."""
    held = [karg.value or karg.name for karg in reading.arguments(line) if karg.key == canonical(key)]
    return {"has": "yes" if value in held else "no"}


def _flag(line: str, key: str) -> Answer:
    karg = last(reading.arguments(line), key)
    return {key: None if karg is None else karg.value or "1"}


SUITE = Suite("dracut", ("*/test/TEST-80-GETARG/*",), _cases)
