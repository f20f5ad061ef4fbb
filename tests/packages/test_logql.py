"""The rules for Loki, parsed by Grafana's own grammar of LogQL."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.packages.npm import npm_packages
from tests.support.program import rocmcfg
from tests.support.tools import HANG

LOGQL = Path(__file__).parent / "logql"


def errors(expressions: list[str]) -> list[str]:
    """Return the number and the place of each mistake in the expressions."""
    environment = {**os.environ, "NODE_PATH": str(npm_packages(LOGQL))}
    parse = ["node", str(LOGQL / "parse.js")]
    text = "\n".join(expressions)
    done = subprocess.run(parse, input=text, capture_output=True, text=True, timeout=HANG, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_each_expression_of_the_rules_is_logql() -> None:
    rules = rocmcfg("issues", "--export", "loki").out
    expressions = [json.loads(text) for text in re.findall(r"^ +expr: (.*)$", rules, flags=re.M)]
    assert len(expressions) > 5
    assert not errors(expressions)


@pytest.mark.parametrize("wrong", ["count_over_time({job=~`a` [5m])", "{job=} |~ `x`", "{a=`b`} |~ `x"])
def test_the_grammar_refuses_what_is_no_logql(wrong: str) -> None:
    assert errors([wrong])
