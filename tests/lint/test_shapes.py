"""Every shape in which people set things: what is set is read, nothing else is, and what --fix proposes
leaves a file that its own language still reads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocmcfg.advice.lint.assignment import Assignment, What
from rocmcfg.advice.lint.check import mended
from rocmcfg.advice.lint.wording import Knowledge
from rocmcfg.knowledge import catalogue
from rocmcfg.model.facts import Machine
from tests.lint import parsers
from tests.lint.judging import judged
from tests.lint.shapes import Shape, settings, shapes

KNOWLEDGE = Knowledge(catalogue.load(), Machine())
# Names of which lint proposes another one, or nothing, in place of each setting.
SLIPS = {
    What.PARAMETER: ("exp_hw_suport", "nosuch"),
    What.ARGUMENT: ("pcie_asmp",),
    What.VARIABLE: ("HIP_LAUNCH_BLOKCING", "PYTORCH_ROCM_ARCH"),
}


@pytest.mark.parametrize("name", shapes())
def test_what_is_set_is_read_and_nothing_else(name: str) -> None:
    shape = shapes()[name]
    assert settings(judged(shape.file, shape.text)) == sorted(shape.read)


@pytest.mark.parametrize("name", shapes())
def test_a_mended_file_is_valid_in_its_own_language(name: str) -> None:
    """A slip is planted in place of each setting in turn."""
    shape = shapes()[name]
    parsers.check(shape.language, shape.text)
    for text in _with_a_slip(shape):
        after = mended(judged(shape.file, text), KNOWLEDGE)
        if after != text:
            parsers.check(shape.language, after)


@pytest.mark.parametrize("name", shapes())
def test_a_slip_is_mended_and_nothing_else(name: str) -> None:
    """But for what lint proposes for the text without a slip."""
    shape = shapes()[name]
    without = mended(judged(shape.file, shape.text), KNOWLEDGE)
    for text in _with_a_slip(shape):
        before = judged(shape.file, text)
        after = mended(before, KNOWLEDGE)
        for each in before.assignments:
            token = text[each.start : each.stop]
            if token in shape.text and token in without:
                assert after.count(token) == text.count(token), (text, after)


def _with_a_slip(shape: Shape) -> Iterator[str]:
    for each in judged(shape.file, shape.text).assignments:
        for slip in SLIPS.get(each.what, ()):
            start, stop = each.name_at
            yield shape.text[:start] + _spelt(each, slip) + shape.text[stop:]


def _spelt(each: Assignment, slip: str) -> str:
    of_module = each.what is What.PARAMETER and each.dotted
    return f"{each.name.partition('.')[0]}.{slip}" if of_module else slip
