"""The commands of the README's install section, as they are run in the tests."""

from __future__ import annotations

import re

from .roots import REPOSITORY


def commands(name: str) -> list[str]:
    """The lines of the block behind `<!-- tested: NAME -->`, without their comments."""
    text = (REPOSITORY / "README.md").read_text()
    block = re.search(rf"<!-- tested: {re.escape(name)} -->\n```sh\n(.*?)```\n<!-- end -->", text, re.DOTALL)
    assert block, f"README.md has no block tested: {name}"
    return [re.sub(r"\s+#.*", "", line) for line in block[1].splitlines()]
