"""How the kernel reads a command line, step by step as it does it: `next_arg` of lib/cmdline.c and
`parse_args` of kernel/params.c in Linux 6.12. An oracle for tests, to be compared with that text."""

from __future__ import annotations

# lib/ctype.c: blanks of the kernel, which reads bytes
_SPACE = {chr(c) for c in (*range(9, 14), 32, 160)}


def arguments(line: str) -> list[tuple[str, str | None]]:
    """Each parameter and its value, None for one without; up to a `--`."""
    found: list[tuple[str, str | None]] = []
    rest = _skip_spaces(line)
    while rest:
        parameter, value, rest = _next_arg(rest)
        if value is None and parameter == "--":
            break
        found.append((parameter, value))
    return found


def _next_arg(args: str) -> tuple[str, str | None, str]:
    in_quote = quoted = args[0] == '"'
    if quoted:
        args = args[1:]
    chars, equals, i = [*args, ""], 0, 0
    while chars[i]:
        if chars[i] in _SPACE and not in_quote:
            break
        if equals == 0 and chars[i] == "=":
            equals = i
        if chars[i] == '"':
            in_quote = not in_quote
        i += 1
    ended = chars[i]
    value_at = None
    if equals:
        chars[equals] = "\0"
        value_at = equals + 1
        if chars[value_at] == '"':
            value_at += 1
            if chars[i - 1] == '"':
                chars[i - 1] = "\0"
    if quoted and i > 0 and chars[i - 1] == '"':
        chars[i - 1] = "\0"
    chars[i] = "\0"
    memory = "".join(chars)
    value = None if value_at is None else memory[value_at:].partition("\0")[0]
    return memory.partition("\0")[0], value, _skip_spaces(args[i + 1 :] if ended else "")


def _skip_spaces(text: str) -> str:
    at = 0
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return text[at:]
