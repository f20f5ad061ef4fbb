"""Metadata hook of hatchling: the README as PyPI shows it, where no file of the repository lies beside it.

A link to a file or a heading becomes one into the repository at the tag of the version, and a relative
picture one to the picture itself: PyPI gives headings no names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# [text](target) and ![text](target): a target with a scheme is left.
_LINK = re.compile(r"(?P<picture>!?)(?P<text>\[[^\[\]]*\])\((?![a-z][a-z0-9+.-]*:)(?P<target>[^()\s]+)\)")


class Readme(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        shown = absolute(text, metadata["urls"]["Repository"], metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}


def absolute(text: str, repository: str, version: str) -> str:
    """Return the text with an absolute address in place of every relative one. Code is left as it is."""
    blocks = re.split(r"(?ms)(^```.*?^```$)", text)
    blocks[::2] = [
        _LINK.sub(lambda link: _absolute(link, repository, version), block) for block in blocks[::2]
    ]
    return "".join(blocks)


def _absolute(link: re.Match[str], repository: str, version: str) -> str:
    kind = "raw" if link["picture"] else "blob"
    target = f"README.md{link['target']}" if link["target"].startswith("#") else link["target"]
    return f"{link['picture']}{link['text']}({repository}/{kind}/v{version}/{target})"
