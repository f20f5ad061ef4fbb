"""Show many hosts at once, from the documents that were collected from them."""

from __future__ import annotations

import functools
import gc
import time
from collections.abc import Iterable

import rocmcfg
from rocmcfg.advice.fleet.collection import Collection
from rocmcfg.advice.fleet.documents import host_of
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
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.profile import Profile


def fleet(view: HostView, paths: Iterable[str], since: str = "", kernel: str = "") -> Fleet:
    """Return the fleet that the documents in files and folders describe. `since` is a file or folder with
    older ones; `kernel` is the next kernel of every host, empty for the newest one that each has installed.
    `view` is the host whose local profiles are known."""

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
    return survey(now, endings, Kernel(kernel, False) if kernel else None, older, since)


def page(fleet: Fleet) -> str:
    """Return the fleet as an HTML page."""
    folder = f"{PACKAGE}/advice/fleet/parts"
    parts = (read_own_file(f"{folder}/page.{kind}").decode() for kind in ("html", "css", "js"))
    written = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    return html_page(fleet, Template(*parts), rocmcfg.__version__, written)


def _collected(paths: Iterable[str], reader: Reader) -> Collection:
    collection = Collection(reader)
    collects = gc.isenabled()
    gc.disable()  # a document is a tree, which is freed at once; to look for circles takes half of the time
    try:
        for piece in pieces(paths):
            if piece.content is not None:
                collection.add(piece.content, piece.path, piece.folder, piece.time)
            elif piece.kind:
                host = host_of(None, piece.path, piece.folder) if piece.kind == "too large" else piece.folder
                collection.leave_out(piece.kind, piece.path, host, piece.problem)
    finally:
        if collects:
            gc.enable()
    return collection
