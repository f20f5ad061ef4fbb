"""How the kernel reads a command line and a module's options, and how GRUB writes the former, from their
sources: there is no program to ask."""

from __future__ import annotations

from collections.abc import Iterable

# lib/ctype.c of the kernel: bytes that isspace() takes, of which 0xa0 is one
_SPACES = b"\t\n\v\f\r \xa0"
Argument = tuple[str, str | None]


def arguments(line: str) -> list[Argument]:
    """Names, with `-` as `_`, and values, up to a `--`: kernel/params.c, parse_args and parameq."""
    found: list[Argument] = []
    left = line.encode("utf-8", "surrogateescape").lstrip(_SPACES)
    while left:
        name, value, left = _next_arg(left)
        if name == b"--" and value is None:
            break
        found.append((_text(name).replace("-", "_"), None if value is None else _text(value)))
    return found


def _next_arg(left: bytes) -> tuple[bytes, bytes | None, bytes]:
    """lib/cmdline.c, next_arg (6.12), step by step; the last is what is left of the line."""
    quoted = in_quote = left.startswith(b'"')
    args = bytearray(left[1:] if quoted else left) + b"\0"
    equals = stop = 0
    while args[stop] and not (args[stop] in _SPACES and not in_quote):
        if not equals and args[stop] == ord("="):
            equals = stop  # one at the very beginning counts as none
        if args[stop] == ord('"'):
            in_quote = not in_quote
        stop += 1
    value = equals + 1
    if equals:
        args[equals] = 0
        if args[value] == ord('"'):
            value += 1
            if args[stop - 1] == ord('"'):
                args[stop - 1] = 0
    if quoted and stop > 0 and args[stop - 1] == ord('"'):
        args[stop - 1] = 0
    rest = bytes(args[stop + 1 : -1]) if args[stop] else b""
    args[stop] = 0
    return _string(args, 0), _string(args, value) if equals else None, rest.lstrip(_SPACES)


def _string(memory: bytearray, start: int) -> bytes:
    return bytes(memory[start : memory.index(0, start)])


def loader_line(words: Iterable[str]) -> str:
    """The command line that GRUB makes of a command's words: grub-core/lib/cmdline.c of GRUB 2.12,
    grub_create_loader_cmdline."""
    made = []
    for word in words:
        escaped = "".join(f"\\{char}" if char in "\\'\"" else char for char in word)
        made.append(f'"{escaped}"' if " " in word else escaped)
    return " ".join(made)


def _text(found: bytes) -> str:
    return found.decode("utf-8", "surrogateescape")
