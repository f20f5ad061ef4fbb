"""Find the editors for files of other programs that hold a part of rocmcfg's."""

from __future__ import annotations

from rocmcfg.files import environment_targets
from rocmcfg.loaders import registry
from rocmcfg.model.edit import Editor


def editors() -> dict[str, Editor]:
    """Return the editor of each such file by its path, for all loaders and readers of variables."""
    owned = [path_editor for chain in registry.backends() for path_editor in chain.OWNED.items()]
    return {path: editor for path, editor in owned if editor is not None} | environment_targets.EDITED


def editor_of(path: str) -> Editor | None:
    """Return the editor for rocmcfg's part of a file; None if the whole file is rocmcfg's, or no part of
    it."""
    return editors().get(path)


def own_part(path: str, content: bytes | None) -> bytes | None:
    """Return rocmcfg's part of a file's content, which is all of it unless the file belongs to another
    program. Return None if there is no such part."""
    editor = editor_of(path)
    return editor.own(content) if editor is not None and content is not None else content
