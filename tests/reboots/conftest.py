"""A host whose boots are played as GRUB would boot it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.rebooting import Lab
from tests.support.tools import require_tool


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    require_tool("grub-editenv", "grub-common")
    return Lab(tmp_path)
