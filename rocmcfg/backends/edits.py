"""Which files that somebody else owns hold a part of ours, and who knows that part."""

from __future__ import annotations

from rocmcfg.backends import marked_lines
from rocmcfg.backends.boot import appended_assignment, marked_arguments
from rocmcfg.model.edit import Editor

EDITORS: dict[str, Editor] = {
    "/etc/default/grub": appended_assignment,
    "/etc/default/limine": appended_assignment,
    "/etc/environment": marked_lines,
    "/etc/kernel/cmdline": marked_arguments,
    "/etc/sdboot-manage.conf": appended_assignment,
}


def own_part(path: str, content: bytes | None) -> bytes | None:
    """What of a file's content is ours: all of it, but for a file that others own. None: nothing."""
    known = EDITORS.get(path)
    return known.own(content) if known is not None and content is not None else content
