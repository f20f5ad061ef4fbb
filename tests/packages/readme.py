"""The commands by which the README, and that of the packages, install: as they are run in the tests."""

from __future__ import annotations

import re

from .roots import REPOSITORY


def commands(name: str) -> list[str]:
    """The lines of the block behind `<!-- tested: NAME -->`, without their comments."""
    text = "".join((REPOSITORY / page).read_text() for page in ("README.md", "packaging/README.md"))
    block = re.search(rf"<!-- tested: {re.escape(name)} -->\n```sh\n(.*?)```\n", text, re.DOTALL)
    assert block, f"no README has a block tested: {name}"
    return [re.sub(r"\s+#.*", "", line) for line in block[1].splitlines()]
