"""What is said of single settings: facts that were wrong once, each with its right value.

A verdict is `about`, or the kind of its trap; with `?` behind it where it cannot be told on the machine.
"""

from __future__ import annotations

import pytest

from rocmcfg.judging.judge import judge
from rocmcfg.knowledge import catalogue
from rocmcfg.model.facts import Machine
from rocmcfg.model.spelling import split
from rocmcfg.model.version import parse_version
from tests.judging.test_conditions import gpu, kernel, torch

CACHING = "env.PYTORCH_NO_HIP_MEMORY_CACHING"


def verdicts(setting: str, gfx: str = "", release: str = "", pytorch: str = "") -> list[str]:
    machine = Machine(
        (kernel(release),) if release else (),
        (gpu(gfx),) if gfx else (),
        (torch(parse_version(pytorch) or ()),) if pytorch else (),
    )
    judged = judge(split(setting), machine, catalogue.load(), catalogue.known_issues())
    names = ((verdict.trap_kind or verdict.about.name.lower(), verdict.holds) for verdict in judged)
    return [name if holds else f"{name}?" for name, holds in names]


@pytest.mark.parametrize(
    ("setting", "pytorch", "said"),
    [
        # pytorch pull request 145905, in 2.7; c10/util/env.cpp (check_env)
        (f"{CACHING}=0", "2.6.0", ["presence_only"]),
        (f"{CACHING}=0", "2.7.0", []),
        (f"{CACHING}=0", "2.12.0", []),
        (f"{CACHING}=0", "", ["presence_only?"]),
        (f"{CACHING}=false", "", ["presence_only?"]),
        (f"{CACHING}=false", "2.9.1", ["illegal"]),
        (f"{CACHING}=1", "", []),
        (f"{CACHING}=1", "2.6.0", []),
        (f"{CACHING}=1", "2.9.1", []),
        (f"{CACHING}=yes", "2.6.0", []),
        (f"{CACHING}=yes", "2.9.1", ["illegal"]),
        (f"{CACHING}=yes", "", ["illegal"]),
        ("env.PYTORCH_NO_CUDA_MEMORY_CACHING=0", "", ["presence_only?"]),
        ("env.PYTORCH_NO_CUDA_MEMORY_CACHING=0", "2.8.0", []),
    ],
)
def test_what_pytorch_makes_of_a_value_depends_on_its_release(
    setting: str, pytorch: str, said: list[str]
) -> None:
    assert verdicts(setting, pytorch=pytorch) == said
