"""The figures in docs/explanation/knowledge.md are those of the data and of doctor as they are."""

from __future__ import annotations

import pytest

from rocmcfg.knowledge import catalogue
from tests.catalogue.figures import PAGE, page, samples_of


def test_an_issue_of_a_whole_generation_is_asked_of_one_gpu_of_it() -> None:
    issue = next(one for one in catalogue.known_issues() if one.id == "rdna3-mes-unmap-mode1")
    for first, target in (("gfx11*", "gfx1100"), ("gfx9*", "gfx900"), ("gfx1201", "gfx1201")):
        ((_, machine, _),) = samples_of([issue._replace(gfx=(first, *issue.gfx))])
        assert machine[:2] == ["--gfx", target]


@pytest.mark.bulk
def test_the_figures_are_current() -> None:
    assert PAGE.read_text() == page(), "run `make knowledge`, and look at what changed"
