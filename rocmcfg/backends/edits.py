"""Which files that somebody else owns hold a part of ours, and who knows that part."""

from __future__ import annotations

from rocmcfg.backends import marked_lines
from rocmcfg.backends.boot import registry
from rocmcfg.backends.environment_targets import ENVIRONMENT
from rocmcfg.model.edit import Editor


def editor(path: str, likely: str = "") -> Editor | None:
    """None for a path that is ours as a whole. `likely` is the loader that reads it, where one is known."""
    return marked_lines if path == ENVIRONMENT.path else registry.editor(path, likely)


def own_part(path: str, content: bytes | None, likely: str = "") -> bytes | None:
    """What of a file's content is ours: all of it, but for a file that others own. None: nothing."""
    known = editor(path, likely)
    return known.own(content) if known is not None and content is not None else content
