"""README.md: its commands are run (`pages`), and between `<!-- generated: NAME -->` and `<!-- end -->` stand
the profiles and the driver's stock values."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from generators import knowledge, pages

REPOSITORY = Path(__file__).resolve().parents[2]


def page() -> str:
    text = (REPOSITORY / "README.md").read_text()
    for name, body in (("stock values", knowledge.stock_values()), ("profiles", knowledge.profile_list())):
        block = re.compile(rf"(<!-- generated: {re.escape(name)} -->\n).*?(<!-- end -->)", re.S)
        if len(block.findall(text)) != 1:
            sys.exit(f"README.md needs the markers of {name!r} exactly once")
        text = block.sub(lambda found, body=body: f"{found[1]}{body}\n{found[2]}", text)  # type: ignore[misc]
    return pages.executed("README.md", text)
