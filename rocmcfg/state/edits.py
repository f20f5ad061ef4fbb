"""Which files that somebody else owns hold a part of ours, and who knows that part."""

from __future__ import annotations

from rocmcfg.files import environment_targets
from rocmcfg.loaders import registry
from rocmcfg.model.edit import Editor


def editors() -> dict[str, Editor]:
    """Return the editor of each such file by its path, of all loaders and readers of variables."""
    owned = [path_editor for chain in registry.backends() for path_editor in chain.OWNED.items()]
    return {path: editor for path, editor in owned if editor is not None} | environment_targets.EDITED


def editor_of(path: str) -> Editor | None:
    """Return the editor that knows our part of a file; None where the whole file is ours, or no part of
    it."""
    return editors().get(path)


def own_part(path: str, content: bytes | None) -> bytes | None:
    """Return the part of a file's content that is ours: all of it, but for a file that others own. None where
    nothing is."""
    editor = editor_of(path)
    return editor.own(content) if editor is not None and content is not None else content
