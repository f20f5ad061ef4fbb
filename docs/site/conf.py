"""The manual as a site, for Sphinx: the Markdown pages of docs/ as they are, without anything from a network.

The order of the pages is the order of the links in docs/index.md, under its headings. Sphinx warns of a page
that has no link there, and of a link that leads nowhere; the build takes each warning as an error.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]

project = "rocmcfg"
copyright = "the rocmcfg authors"
version = release = PROJECT["version"]
root_doc = "index"
exclude_patterns = ["demo", "generators", "pictures", "site"]

extensions = ["myst_parser"]
myst_heading_anchors = 6
myst_links_external_new_tab = False
suppress_warnings = ["myst.header"]  # a page of the reference may skip a level of headings

html_theme = "furo"
html_title = f"rocmcfg {version}"
html_show_sphinx = False
html_show_search_summary = False  # a browser may not fetch a page that it read from a disk
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "default"
pygments_dark_style = "github-dark"

_LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)]*)?\)")


def _address() -> str:
    """Return the address of the repository, or nothing while pyproject.toml has only a placeholder."""
    address = str(PROJECT["urls"]["Repository"])
    return "" if ".invalid" in address else address


def _is_page(path: str) -> bool:
    return path.endswith((".md", ".svg")) and not path.startswith("..")


def _links_out(docname: str, text: str) -> str:
    """Point the links that leave the manual at the repository, or drop them if it has no address."""
    folder = posixpath.dirname(docname)
    address = _address()

    def replaced(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, match[1]))
        if _is_page(path):
            return match[0]
        return f"]({address}/blob/main/{posixpath.normpath(posixpath.join('docs', path))}{match[2] or ''})"

    text = _LINK.sub(replaced, text)
    return text if address else re.sub(r"\[([^]]+)\]\(/blob/main/[^)]*\)", r"\1", text)


def _trees(text: str) -> str:
    """Return a table of contents for each heading of the index, from the links below the heading."""
    trees = []
    for part in text.split("\n## ")[1:]:
        caption, _, body = part.partition("\n")
        pages = []
        for path, _anchor in _LINK.findall(body):
            if path.endswith("/"):
                pages += [str(page.relative_to(DOCS)) for page in sorted((DOCS / path).glob("*.md"))]
            elif _is_page(path):
                pages.append(path)
        if pages:
            trees.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"]))
    return "\n\n".join(trees)


def _read(_app: Any, docname: str, source: list[str]) -> None:
    text = source[0]
    source[0] = _links_out(docname, text) + ("\n\n" + _trees(text) + "\n" if docname == root_doc else "")


def setup(app: Any) -> None:
    app.connect("source-read", _read)
