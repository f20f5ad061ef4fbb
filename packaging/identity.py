#!/usr/bin/env python3
"""Writes the version and the addresses of pyproject.toml into every other file that repeats them.

    packaging/identity.py                # after a change of pyproject.toml
    packaging/identity.py --check        # exit 1, and the files that differ, also those that others write
    packaging/identity.py --tag TAG      # exit 1 if the tag is not that of a release of this version
    packaging/identity.py --published    # exit 1 while the addresses are placeholders

The addresses are those of [project.urls] and of the first maintainer. `.invalid` (RFC 2606) can never exist,
so an address there is a placeholder.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Mapping
from email.utils import formatdate
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCE = "pyproject.toml"
VERSION = r"[0-9]+(?:\.[0-9]+)+(?:(?:a|b|rc)[0-9]+)?"


class Identity(NamedTuple):
    version: str
    maintainer: str
    email: str
    urls: Mapping[str, str]

    @property
    def contact(self) -> str:
        return f"{self.maintainer} <{self.email}>"

    @property
    def placeholders(self) -> list[str]:
        return [
            address for address in (self.email, *self.urls.values()) if re.search(r"\.invalid\b", address)
        ]


class Part(NamedTuple):
    """A text that repeats the identity. `pattern` has one group for what is written, or none to be replaced
    whole; it must match in the file."""

    file: str
    pattern: str
    text: str


def read(root: Path) -> Identity:
    project: dict[str, Any] = tomllib.loads((root / SOURCE).read_text(encoding="utf-8"))["project"]
    maintainer = project["maintainers"][0]
    return Identity(project["version"], maintainer["name"], maintainer["email"], project["urls"])


def parts(own: Identity) -> Iterator[Part]:
    """Yield every part of a file that repeats the identity."""
    version, urls = own.version, own.urls
    home, code = urls["Homepage"], urls["Repository"]
    yield Part("rocmcfg/__init__.py", r'^__version__ = "(.*)"$', version)
    yield Part("rocmcfg/__init__.py", r'^__url__ = "(.*)"$', code)
    yield Part("packaging/pytest/pyproject.toml", r'^version = "(.*)"$', version)
    yield Part("packaging/pytest/pyproject.toml", r'^urls = \{ Repository = "(.*)" \}$', code)
    yield Part("packaging/debian/control", r"^Maintainer: (.*)$", own.contact)
    yield Part("packaging/debian/control", r"^Homepage: (.*)$", home)
    yield Part("packaging/debian/control", r"^Vcs-Browser: (.*)$", code)
    yield Part("packaging/debian/control", r"^Vcs-Git: (.*)$", f"{code}.git")
    yield Part("packaging/debian/copyright", r"^Upstream-Contact: (.*)$", own.contact)
    yield Part("packaging/debian/copyright", r"^Source: (.*)$", code)
    yield Part("packaging/debian/watch", r"^(https?://\S+) \S+$", f"{code}/releases")
    yield Part("packaging/rpm/rocmcfg.spec", r"^Version: +(.*)$", version)
    yield Part("packaging/rpm/rocmcfg.spec", r"^URL: +(.*)$", home)
    yield Part("packaging/arch/PKGBUILD", r"^# Maintainer: (.*)$", own.contact)
    yield Part("packaging/arch/PKGBUILD", r"^pkgver=(.*)$", version)
    yield Part("packaging/arch/PKGBUILD", r"^url='(.*)'$", home)
    yield Part("packaging/arch/.SRCINFO", r"^\tpkgver = (.*)$", version)
    yield Part("packaging/arch/.SRCINFO", r"^\turl = (.*)$", home)
    yield Part("packaging/arch/.SRCINFO", r"^\tsource = rocmcfg-(.*)\.tar\.gz$", version)
    collection = "packaging/ansible/galaxy.yml"
    yield Part(collection, r"^version: (.*)$", version)
    yield Part(collection, r"^repository: (.*)$", code)
    yield Part(collection, r"^documentation: (.*)$", f"{code}/blob/main/packaging/ansible/README.md")
    yield Part(collection, r"^homepage: (.*)$", home)
    yield Part(collection, r"^issues: (.*)$", urls["Issues"])
    yield Part("SECURITY.md", r"<(https://[^>]*)>", urls["Security"])
    yield Part("CODE_OF_CONDUCT.md", r"<([^>@]*@[^>]*)>", own.email)
    repository_check = "docs/how-to/check-a-repository.md"
    yield Part(repository_check, r"^  - repo: (.*)$", code)
    yield Part(repository_check, r"^    rev: v(.*)$", version)
    yield Part(repository_check, r"\bgit\+(\S*)@v", code)
    yield Part(repository_check, rf"\bgit\+\S*@v({VERSION})$", version)
    for page in ("README.md", "packaging/README.md", "packaging/ansible/README.md"):
        yield Part(page, rf"rocmcfg[_-](?:amdgpu-)?({VERSION})(?=_(?:amd64|all)\.deb|\.tar\.gz)", version)


def written(text: str, part: Part) -> str:
    """Return the text of a file with its part up to date. Raises SystemExit if the file has no such part."""

    def replaced(match: re.Match[str]) -> str:
        start, end = match.span(1)
        return text[match.start() : start] + part.text + text[end : match.end()]

    changed, count = re.subn(part.pattern, replaced, text, flags=re.MULTILINE)
    if not count:
        raise SystemExit(f"packaging/identity.py: {part.file} has nothing that matches {part.pattern}")
    return changed


def with_entry(text: str, own: Identity, now: float) -> str:
    """Return a changelog of Debian, or the spec of the rpm, whose newest entry has this version and
    maintainer. For another version an entry is added."""
    start = text.index("%changelog\n") + len("%changelog\n") if "%changelog\n" in text else 0
    if start:
        day = time.strftime("%a %b %d %Y", time.gmtime(now))
        version = rf"\* [^\n]* - {re.escape(own.version)}-1\n"
        entry = f"* {day} {own.contact} - {own.version}-1\n- New release\n\n"
        author = r"(?m)^(\* \w+ \w+ \d+ \d+ ).*?( - )"
    else:
        version = rf"rocmcfg \({re.escape(own.version)}\) "
        entry = f"rocmcfg ({own.version}) unstable; urgency=medium\n\n  * New release; see CHANGELOG.md.\n\n"
        entry += f" -- {own.contact}  {formatdate(now)}\n\n"
        author = r"(?m)^( -- ).*?(  )"
    entries = text[start:] if re.match(version, text[start:]) else entry + text[start:]
    return text[:start] + re.sub(author, rf"\g<1>{own.contact}\g<2>", entries, count=1)


def outdated(root: Path, own: Identity) -> dict[str, str]:
    """Return the files that differ, and what they should hold."""
    texts: dict[str, str] = {}
    for part in parts(own):
        texts.setdefault(part.file, (root / part.file).read_text(encoding="utf-8"))
        texts[part.file] = written(texts[part.file], part)
    for file in ("packaging/debian/changelog", "packaging/rpm/rocmcfg.spec"):
        text = texts.get(file) or (root / file).read_text(encoding="utf-8")
        texts[file] = with_entry(text, own, time.time())
    return {f: text for f, text in texts.items() if text != (root / f).read_text(encoding="utf-8")}


def outdated_by_others(root: Path, own: Identity) -> Iterator[str]:
    """Yield the files with the version that this script does not write, and what writes them."""
    pages = (page.read_text(encoding="utf-8") for page in (root / "packaging/man").glob("man?/*"))
    if any(f'"rocmcfg {own.version}"' not in text for text in pages):
        yield "packaging/man: run docs/generate.py"
    changes = "packaging/ansible/changelogs/changelog.yaml"
    if f"\n  {own.version}:\n" not in (root / changes).read_text(encoding="utf-8"):
        yield f"{changes}: run `antsibull-changelog release` in packaging/ansible"


def wrong_with(tag: str, root: Path, own: Identity) -> str:
    """Return why the tag cannot be that of a release; empty if it can."""
    if tag != f"v{own.version}":
        return f"the tag {tag} is not v{own.version}, as the version in {SOURCE} asks for"
    if not re.search(
        rf"(?m)^## \[{re.escape(own.version)}\] - \d{{4}}-\d\d-\d\d$",
        (root / "CHANGELOG.md").read_text(encoding="utf-8"),
    ):
        return f"the tag is {tag}, but CHANGELOG.md has no section `## [{own.version}] - YYYY-MM-DD`"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="packaging/identity.py", description="Write version and addresses.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file differs")
    parser.add_argument("--published", action="store_true", help="exit 1 while an address is a placeholder")
    parser.add_argument("--tag", help="write nothing; exit 1 if this cannot be the tag of this version")
    options = parser.parse_args()
    own = read(REPOSITORY)
    if options.tag is not None:
        problem = wrong_with(options.tag, REPOSITORY, own)
        if problem:
            print(problem, file=sys.stderr)
        return 1 if problem else 0
    if options.published:
        for address in own.placeholders:
            print(f"{SOURCE}: {address} is a placeholder", file=sys.stderr)
        return 1 if own.placeholders else 0
    differing = outdated(REPOSITORY, own)
    for file, text in differing.items():
        print(file if options.check else f"written: {file}")
        if not options.check:
            (REPOSITORY / file).write_text(text, encoding="utf-8")
    by_others = list(outdated_by_others(REPOSITORY, own))
    for line in by_others:
        print(line)
    return 1 if options.check and (differing or by_others) else 0


if __name__ == "__main__":
    sys.exit(main())
