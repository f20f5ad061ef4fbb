"""Which files that somebody else owns hold a part of ours, and who knows that part."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rocmcfg.backends import marked_lines
from rocmcfg.backends.boot import registry
from rocmcfg.backends.environment_targets import ENVIRONMENT

if TYPE_CHECKING:
    from rocmcfg.backends.boot.contract import Editor


def editor(path: str) -> Editor | None:
    """None for a path that is ours as a whole."""
    if path == ENVIRONMENT.path:
        return cast("Editor", marked_lines)
    return registry.editor(path)


def own_part(path: str, content: bytes | None) -> bytes | None:
    """What of a file's content is ours: all of it, but for a file that others own. None: nothing."""
    known = editor(path)
    return known.own(content) if known is not None and content is not None else content
