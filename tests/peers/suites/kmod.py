"""kmod: command lines and modprobe.d of its test suite, with what `modprobe -c` is to print of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rocmcfg.files import modprobe
from rocmcfg.host.local import LocalHost
from rocmcfg.model.kargs import canonical
from tests.peers import kernel, reading
from tests.peers.judgement import Answer, Case
from tests.peers.suites.suite import Suite

_FOLDER = "testsuite/rootfs-pristine"


def _cases(sources: Path) -> list[Case]:
    return [*_command_lines(sources / _FOLDER), *_options(sources / _FOLDER), *_others(sources)]


def _command_lines(folder: Path) -> Iterator[Case]:
    """One for each option of a module; what is no option of one, in a line of its own."""
    for file in sorted(folder.glob("test-modprobe/*/proc/cmdline")):
        name, line = file.parents[1].name, file.read_text().strip()
        shown = (file.parents[1] / "correct.txt").read_text()
        expected = dict(_shown(shown))
        modules = {module for module, _ in expected}
        found = {}
        for karg in reading.arguments(line):
            if karg.of_module is not None and karg.of_module[0] in modules:
                found[karg.of_module] = karg.value
        for module, parameter in dict.fromkeys([*expected, *found]):
            key = (module, parameter)
            theirs: Answer = {parameter: repr(expected[key])} if key in expected else {}
            ours: Answer = {parameter: repr(found[key])} if key in found else {}
            yield Case(f"{name} {module}.{parameter}", line, theirs, ours)


def _shown(text: str) -> Iterator[tuple[tuple[str, str], str | None]]:
    for module, options in re.findall(r"^options (\S+) (.*)$", text, re.MULTILINE):
        for name, value in kernel.arguments(options):
            yield (module, name), value
    for path, options in re.findall(r"^insmod \S*/(\S+)\.ko (.*)$", text, re.MULTILINE):
        for name, value in kernel.arguments(options):
            yield (canonical(path), name), value


def _options(folder: Path) -> Iterator[Case]:
    """Files of modprobe.d, none of which sets an option: that none is read is what they tell."""
    for file in sorted(folder.rglob("etc/modprobe.d/*.conf")):
        text = file.read_text()
        root = file.parents[2]
        found = {karg.name: karg.value for karg in modprobe.read_options(LocalHost(str(root)))}
        expected = dict(kernel.arguments(" ".join(re.findall(r"^options \S+ (.*)$", text, re.MULTILINE))))
        yield Case(f"{file.relative_to(folder)}", text, expected, found)


def _others(sources: Path) -> Iterator[Case]:
    """Tests of loading, of dependencies and of the library's own strings."""
    for file in sorted((sources / "testsuite").glob("test-*.c")):
        for name in re.findall(r"^DEFINE_TEST\w*\((\w+)", file.read_text(), re.MULTILINE):
            if "kcmdline" not in name:
                yield Case(f"{file.stem} {name}", "", None, None)


SUITE = Suite("kmod", ("*/testsuite/*",), _cases)
