"""Renders the templates of this folder. Written by docs/generate.py: change them, then run it."""

from __future__ import annotations

from typing import Any

from rocmcfg.files.filters import reason


def appended_assignment_sh(*, added: Any, name: Any) -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg, with the next line. Undo: sudo rocmcfg rollback\n']
    out += [str(name), '="$', str('{'), str(name), ':+$', str(name), ' }', str(added), '"']
    out += ['\n']
    return "".join(out)


def appended_comment() -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg, with the next line. Undo: sudo rocmcfg rollback\n']
    return "".join(out)


def appended_element_sh(*, added: Any, name: Any) -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg, with the next line. Undo: sudo rocmcfg rollback\n']
    out += [str(name), '+=" ', str(added), ' "\n']
    return "".join(out)


def assignment_sh(*, added: Any, name: Any) -> str:
    out: list[str] = []
    out += [str(name), '="$', str('{'), str(name), ':+$', str(name), ' }', str(added), '"']
    return "".join(out)


def carrier(*, line: Any, settings: Any) -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
    for setting in settings:
        out += ['# ', str(reason(setting)), '\n']
    out += [str(line), '\n']
    return "".join(out)
