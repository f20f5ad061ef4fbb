"""cloud-init: what its reader of shell variables, and that of arguments, are tested with."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from rocmcfg.loaders.shared import shell_assignments
from tests.peers import reading
from tests.peers.judgement import CANNOT_TELL, Case
from tests.peers.suites.suite import Suite


def _cases(sources: Path) -> list[Case]:
    return list(_found((sources / "tests/unittests/test_util.py").read_text()))


def _found(source: str) -> Iterator[Case]:
    """`assertEqual(EXPECTED, util.load_shell_content("\\n".join([…])))`, and the line of
    test_keyval_str_to_dict."""
    for call in ast.walk(ast.parse(source)):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) == 2):
            continue
        asked = call.args[1]
        if (
            call.func.attr == "assertEqual"
            and isinstance(asked, ast.Call)
            and "load_shell_content" in ast.unparse(asked)
        ):
            joined = asked.args[0]
            assert isinstance(joined, ast.Call)
            text = "\n".join(ast.literal_eval(joined.args[0]))
            environment = shell_assignments.Environment()
            environment.read("/etc/default/grub", text)
            for name, value in ast.literal_eval(call.args[0]).items():
                found = environment.text(name)
                yield Case(
                    f"load_shell_content {name}",
                    text,
                    {name: value},
                    {name: CANNOT_TELL if found is None else found},
                )
    for function in ast.walk(ast.parse(source)):
        if (
            isinstance(function, ast.FunctionDef)
            and "keyval_str" in ast.unparse(function)
            and function.name.startswith("test")
        ):
            given = {
                ast.unparse(step.targets[0]): ast.literal_eval(step.value)
                for step in function.body
                if isinstance(step, ast.Assign) and isinstance(step.value, ast.Dict | ast.Constant)
            }
            if {"expected", "cmdline"} <= given.keys():
                read = {karg.name: karg.value for karg in reading.arguments(given["cmdline"])}
                for name, value in given["expected"].items():
                    theirs = {name: None if value is True else value}  # a name alone
                    yield Case(f"keyval_str_to_dict {name}", given["cmdline"], theirs, {name: read.get(name)})


SUITE = Suite("cloud-init", ("*/tests/unittests/test_util.py",), _cases)
