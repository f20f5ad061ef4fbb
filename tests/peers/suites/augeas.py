"""augeas: the trees that its lenses make of shell files, modprobe.d, grubenv, command lines and systemd's
units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from rocmcfg.files import modprobe
from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.shared import shell_assignments
from rocmcfg.loaders.shared.grub_files import environment_block
from rocmcfg.model.kargs import canonical
from tests.peers import literals, reading
from tests.peers.judgement import CANNOT_TELL, Answer, CannotTell, Case
from tests.peers.suites.suite import Suite

_TOKEN = re.compile(rf"\(\*.*?\*\)|{literals.ONE}|[{{}}=]", re.DOTALL)


def _unescaped(text: str) -> str:
    """A literal of augeas: of an escape that it does not know the backslash stays (internal.c, unescape)."""
    return re.sub(r"\\([abfnrtv\\\"])", lambda found: literals.unescaped(found[0]), text)


class Node(NamedTuple):
    label: str
    value: str | None
    children: list[Node]


def _cases(sources: Path) -> list[Case]:
    found = []
    for name, read in (
        ("test_shellvars.aug", _shell),
        ("test_sysconfig.aug", _sysconfig),
        ("test_modprobe.aug", _modprobe),
        ("test_modules_conf.aug", _modprobe),
        ("test_grubenv.aug", _grubenv),
        ("test_cmdline.aug", _command_line),
        ("test_systemd.aug", _unit),
    ):
        source = re.sub(r"\(\*.*?\*\)", "", (sources / "lenses/tests" / name).read_text(), flags=re.DOTALL)
        for number, (text, tree) in enumerate(_tests(source)):
            answers = [] if tree is None else list(read(text, tree))
            where = f"{name.removeprefix('test_').removesuffix('.aug')} {number}"
            for key, theirs, ours in answers:
                found.append(Case(f"{where} {key}", text, theirs, ours))
            if not answers:
                found.append(Case(where, text, None, None))
    return found


def _tests(source: str) -> Iterator[tuple[str, list[Node] | None]]:
    """The input and the tree of each test that gets one; no tree of those that put, or that are to fail."""
    named = {name: _unescaped(text) for name, text in re.findall(rf"let (\w+)\s*=\s*{literals.ONE}", source)}
    heads = list(
        re.finditer(rf"\btest\s+\(?[\w.\s|]+\)?\s+(get|put)\s+(?:{literals.ONE}|(\w+))\s*(=)?", source)
    )
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        text = named.get(head[3], "") if head[3] else _unescaped(head[2])
        body = source[head.end() : following.start() if following else len(source)]
        if head[1] == "get" and head[4] and body.lstrip().startswith("{"):
            yield text, _tree([found[0] for found in _TOKEN.finditer(body)])
        else:
            yield text, None


def _tree(tokens: list[str]) -> list[Node]:
    """Nodes are { "label" = "value" { … } }, of which each part may be missing."""
    roots: list[Node] = []
    stack: list[tuple[str, str | None, list[Node]]] = []
    after_equals = False
    for token in tokens:
        if token == "{":
            stack.append(("", None, []))
        elif token == "}":
            if not stack:
                break
            node = Node(*stack.pop())
            (stack[-1][2] if stack else roots).append(node)
        elif token == "=":
            after_equals = True
            continue
        elif stack and after_equals:
            stack[-1] = (stack[-1][0], _unescaped(token[1:-1]), stack[-1][2])
        elif stack:
            stack[-1] = (_unescaped(token[1:-1]), stack[-1][1], stack[-1][2])
        after_equals = False
    return roots


Answers = Iterator[tuple[str, Answer, Answer]]


def _sysconfig(text: str, tree: list[Node]) -> Answers:
    """The same of a lens that takes quotes away."""
    for node in tree:
        if node.value is not None and not node.label.startswith(("#", "@")):
            found = _environment(text).text(node.label)
            yield node.label, {node.label: node.value}, {node.label: CANNOT_TELL if found is None else found}


def _environment(text: str) -> shell_assignments.Environment:
    environment = shell_assignments.Environment()
    environment.read("/etc/default/grub", text)
    return environment


def _shell(text: str, tree: list[Node]) -> Answers:
    """The last value of each variable. The lens keeps quotes, escapes and expansions as they stand."""
    values = {
        node.label: node.value
        for node in tree
        if node.label.isidentifier() and not node.label.startswith("@")
    }
    environment = _environment(text)
    for name, value in values.items():
        if value is not None and not any(node.children and node.children[0].label == "1" for node in tree):
            found = environment.text(name)
            yield name, {name: _unquoted(value)}, {name: CANNOT_TELL if found is None else found}


def _unquoted(value: str) -> str:
    """Of a value as the lens keeps it, what quotes and escapes come to in a shell."""
    out, quote, at = "", "", 0
    while at < len(value):
        char = value[at]
        if quote != "'" and char == "\\" and (not quote or value[at + 1 : at + 2] in tuple('$`"\\\n')):
            at += 1
            out += value[at : at + 1].strip("\n")
        elif char == quote:
            quote = ""
        elif not quote and char in "\"'":
            quote = char
        else:
            out += char
        at += 1
    return out


def _modprobe(text: str, tree: list[Node]) -> Answers:
    """Each option of each module, of which the last one counts."""
    expected: dict[str, str | None] = {}
    for node in tree:
        if node.label == "options" and node.value:
            for option in node.children:
                if option.label != "#comment":
                    value = None if option.value is None else option.value.strip('"')
                    expected[canonical(f"{node.value}.{option.label}")] = value
    with reading.tree({"etc/modprobe.d/test.conf": text}) as root:
        read = {karg.key: karg.value for karg in modprobe.read_options(LocalHost(str(root)))}
    for name in dict.fromkeys([*expected, *read]):
        theirs: Answer = {name: repr(expected[name])} if name in expected else {}
        yield name, theirs, {name: repr(read[name])} if name in read else {}


def _grubenv(text: str, tree: list[Node]) -> Answers:
    read = environment_block.variables(text.encode())
    for node in tree:
        parts = {child.label: child.value for child in node.children}
        name, value = parts.get("name"), parts.get("value")
        if name and value is not None:
            # the lens keeps escapes; grub-core/lib/envblk.c takes the character behind a backslash as it is
            yield name, {name: re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL)}, {name: read.get(name)}


def _command_line(text: str, tree: list[Node]) -> Answers:
    expected = {f"{number} {node.label}": repr(node.value) for number, node in enumerate(tree)}
    read = {f"{n} {karg.name}": repr(karg.value) for n, karg in enumerate(reading.arguments(text))}
    for name in dict.fromkeys([*expected, *read]):
        yield name, {name: expected.get(name)}, {name: read.get(name)}


def _unit(text: str, tree: list[Node]) -> Answers:
    """What the lines Environment= of a service set."""
    values: dict[str, str] = {}
    for section in tree:
        for node in section.children if section.label == "Service" else ():
            if node.label == "Environment":
                values |= {child.label: child.value or "" for child in node.children}
    known: Mapping[str, str | CannotTell | None] | Answer = reading.written("x.service", text, values)
    for name, value in values.items():
        yield name, {name: value.strip("\"'")}, reading.only(known, [name])


SUITE = Suite("augeas", ("*/lenses/tests/test_*.aug",), _cases)
