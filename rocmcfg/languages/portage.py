"""Read /etc/env.d of Gentoo in the same way as env-update (portage, lib/portage/util/__init__.py,
`getconfig`, without expansion, and env_update.py). A file with an error sets nothing at all."""

from __future__ import annotations

import shlex
import string
from collections.abc import Iterator

from rocmcfg.languages import Statement, is_damaged
from rocmcfg.model.regex import regex

_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*")


def read(text: str) -> Iterator[Statement]:
    lexer = shlex.shlex(text if text.endswith("\n") else f"{text}\n", posix=True)
    lexer.wordchars = string.digits + string.ascii_letters + r"~!@#$%*_\:;?,./-+{}"
    lexer.quotes = "\"'"
    statements: list[Statement] = []
    damaged = is_damaged(text) or not text.isascii()
    try:
        while (name := lexer.get_token()) is not None:
            line = lexer.lineno
            name = lexer.get_token() if name == "export" else name
            equals, value = lexer.get_token(), lexer.get_token()
            if name is None or equals != "=" or value is None or not _NAME.fullmatch(name):
                return iter(())
            # profile.env has values in single quotes, and a "$" at their beginning means $'...' there
            plain = not damaged and "'" not in value and not value.startswith("$")
            statements.append(Statement(name, value if plain else None, line, 0, 0))
    except ValueError:  # an unclosed quote
        return iter(())
    return iter(statements)
