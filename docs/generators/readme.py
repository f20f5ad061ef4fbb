"""README.md: its commands are run (`pages`), and between `<!-- generated: stock values -->` and
`<!-- end -->` stand the driver's stock values."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from generators import knowledge, pages

REPOSITORY = Path(__file__).resolve().parents[2]


def page() -> str:
    text = (REPOSITORY / "README.md").read_text()
    block = re.compile(r"(^ *<!-- generated: stock values -->\n).*?(^ *<!-- end -->)", re.S | re.M)
    if len(block.findall(text)) != 1:
        sys.exit("README.md needs the markers of the stock values exactly once")
    text = block.sub(lambda match: f"{match[1]}{knowledge.stock_values()}\n{match[2]}", text)
    return pages.executed("README.md", text)
