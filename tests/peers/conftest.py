"""`--write` has the tests note their figures."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write", action="store_true", help="note the figures in tests/peers/figures.tsv")
