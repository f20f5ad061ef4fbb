"""Show many hosts at once, from the documents that were collected from them."""

from __future__ import annotations

import functools
import gc
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import rocmcfg
from rocmcfg.advice.fleet.collection import Collection
from rocmcfg.advice.fleet.documents import Kind, host_of_file
from rocmcfg.advice.fleet.endings import Endings
from rocmcfg.advice.fleet.host import Fleet
from rocmcfg.advice.fleet.page import Template
from rocmcfg.advice.fleet.page import page as html_page
from rocmcfg.advice.fleet.reports import Kernel, Reader
from rocmcfg.advice.fleet.survey import survey
from rocmcfg.host.collected import pieces
from rocmcfg.host.files import read_own_file
from rocmcfg.host.view import HostView
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.knowledge.compiled import PACKAGE
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, cut, error, warning
from rocmcfg.model.profile import Profile

_NAMED = 3  # files in a warning; the document and the page name all
_NO_HOST = error(
    "RC7302",
    "found no document of a host",
    hint="collect them with `rocmcfg verify --json`, `rocmcfg status --json` and `rocmcfg doctor --json` "
    "on each host, as HOST.verify.json and so on, or with --name-host",
)
_AGAIN = "collect the document again"
_HINTS: Mapping[Kind, str] = {
    "unreadable": "check its path, and that the user who runs rocmcfg may read it",
    "too large": "name files that rocmcfg has printed",
    "empty": _AGAIN,
    "broken": _AGAIN,
    "newer": "run fleet with a rocmcfg as new as that of the host",
    "older": "install this rocmcfg on the host",
    "other command": "collect documents of verify, status, doctor and facts",
    "foreign": "name files that rocmcfg has printed",
    "duplicate": "keep one document of each command for a host",
}


def fleet(
    view: HostView, paths: Iterable[str], since: str = "", kernel: str = ""
) -> tuple[Fleet, tuple[Diagnostic, ...]]:
    """Return the fleet that the documents in files and folders describe, and a warning for each kind of
    documents that were not used. `since` is a file or folder with older ones; `kernel` is the next kernel of
    every host, empty for the newest one that each has installed. `view` is the host whose local profiles are
    known. Raises RocmcfgError if no document describes a host."""

    @functools.cache
    def profile_of(name: str) -> Profile | None:
        try:
            return None if profiles.is_path(name) else profiles.load(view, [name])[0]
        except RocmcfgError:  # of another host, and not here
            return None

    reader = Reader()
    now = _collected(paths, reader)
    older = _collected([since], reader) if since else None
    endings = Endings(profile_of, catalogue.load())
    shown = survey(now, endings, Kernel(kernel, False) if kernel else None, older, since)
    problems = (*_left_out(now, ""), *(_left_out(older, since) if older is not None else ()))
    if not shown.hosts:
        raise RocmcfgError(_NO_HOST, *problems)
    return shown, problems


def _left_out(collection: Collection, since: str) -> Iterator[Diagnostic]:
    """Yield a warning for each kind of documents that were not used, with the first of them."""
    for kind in dict.fromkeys(unused.kind for unused in collection.unused):
        several = [unused for unused in collection.unused if unused.kind == kind]
        files = [*dict.fromkeys(cut(unused.file) for unused in several)]
        more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
        number = "1 document is" if len(several) == 1 else f"{len(several)} documents are"
        below = f" in {since}" if since else ""
        summary = f"{number} not used{below} ({kind}): {', '.join(files[:_NAMED])}{more}"
        yield warning("RC7301", summary, detail=several[0].reason, hint=_HINTS[kind])


def page(fleet: Fleet) -> str:
    """Return the fleet as an HTML page."""
    folder = f"{PACKAGE}/advice/fleet/parts"
    parts = (read_own_file(f"{folder}/page.{kind}").decode() for kind in ("html", "css", "js"))
    written = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    return html_page(fleet, Template(*parts), rocmcfg.__version__, written)


@contextmanager
def without_circles() -> Iterator[None]:
    """Let Python look for no circles of objects meanwhile, which takes a tenth of the time: documents and
    hosts are trees."""
    looks = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looks:
            gc.enable()


def _collected(paths: Iterable[str], reader: Reader) -> Collection:
    collection = Collection(reader)
    for piece in pieces(paths):
        if piece.content is not None:
            collection.add(piece.content, piece.path, piece.folder, piece.time)
        elif piece.kind:
            host = host_of_file(piece.path, piece.folder) if piece.kind == "too large" else piece.folder
            collection.leave_out(piece.kind, piece.path, host, piece.problem)
    return collection
