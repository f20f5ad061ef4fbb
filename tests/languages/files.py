"""Random files of variables: as people write them, and with every trick of a language. Each is made from
a seed alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

NAMES = ("AMD_LOG_LEVEL", "HSA_ENABLE_SDMA", "X", "B_2")
VALUES = (
    "0",
    "1",
    "11.0.0",
    "gfx1100,gfx1030",
    "/opt/rocm/lib:/usr/lib",
    "a=b",
    "0xfff7ffff",
    "%h;i"[:2],
    "max:128",
)


def several(seed: int, count: int, file: Callable[[random.Random], str]) -> list[str]:
    chance = random.Random(seed)
    return [file(chance) for _ in range(count)]


def _lines(chance: random.Random, kinds: Sequence[Callable[[random.Random], str]], most: int = 6) -> str:
    text = "".join(chance.choice(kinds)(chance) + "\n" for _ in range(chance.randint(1, most)))
    return text if chance.random() < 0.9 else text.rstrip("\n")


def _name(chance: random.Random) -> str:
    return chance.choice(NAMES)


def _value(chance: random.Random) -> str:
    return chance.choice(VALUES)


def _soup(chance: random.Random, characters: str, most: int = 8) -> str:
    return "".join(chance.choice(characters) for _ in range(chance.randint(0, most)))


# -- profile.d ------------------------------------------------------------------------------------------------


def _export(c: random.Random) -> str:
    value = _value(c)
    written = c.choice((value, f'"{value}"', f"'{value}'"))
    return f"export {_name(c)}={written}" + c.choice(("", "", "  # for ROCm"))


def _several_exports(c: random.Random) -> str:
    return f"export {_name(c)}={_value(c)} {_name(c)}={_value(c)}"


def _condition(c: random.Random) -> str:
    return f'if [ -n "$ZZ" ]; then\n    export {_name(c)}={_value(c)}\nfi'


ORDINARY_PROFILE = (
    _export,
    _export,
    _export,
    _several_exports,
    lambda c: f"{(n := _name(c))}={_value(c)}\nexport {n}",
    lambda c: f"{(n := _name(c))}={_value(c)}; export {n}",
    lambda c: "# export X=7",
    lambda c: "",
    lambda c: f"unset {_name(c)}",
    lambda c: 'export PATH="$PATH:/opt/rocm/bin"',
    lambda c: f"{_name(c)}={_value(c)}",
    lambda c: f"export {_name(c)}={_value(c)}/lib:/usr",
    lambda c: f'A={_value(c)}\nexport {_name(c)}="$A"',
    lambda c: "echo hello >/dev/null",
    _condition,
)
_ODD_SHELL = "ab1 =$'\"\\`{}()#;&|<>~*?[]:-+/\t!%@^,._X"
ODD_PROFILE = (
    *ORDINARY_PROFILE,
    lambda c: f"export {_name(c)}={_soup(c, _ODD_SHELL)}",
    lambda c: f"{_name(c)}={_soup(c, _ODD_SHELL)}",
    lambda c: f'export {_name(c)}="{_soup(c, _ODD_SHELL)}"',
    lambda c: f"export {_name(c)}={_soup(c, 'ab$X{}:-+')}",
    lambda c: _soup(c, _ODD_SHELL, 20),
    lambda c: (
        f"export {_name(c)}=${{{_name(c)}{c.choice((':-', '-', ':+', '+', ':=', '=', ':?', '#', '%', '/'))}v}}"
    ),
    lambda c: f"export {_name(c)}=${_name(c)}{c.choice(('', 'x', '/y', ' z'))}",
    lambda c: f'export {_name(c)}="${{{_name(c)}}}b"',
    lambda c: (
        f"{_name(c)}={_value(c)} {c.choice(('true', ':', 'export X', 'eval :', 'unset X', 'env >/dev/null'))}"
    ),
    lambda c: f'eval "export {_name(c)}={_value(c)}"',
    lambda c: f'n={_name(c)}; eval "$n={_value(c)}"',
    lambda c: (
        f"set {c.choice(('-a', '+a', '-f', '-e', '-u', '--', '-o allexport', '+o allexport', '-- a b'))}"
    ),
    lambda c: f"readonly {_name(c)}={_value(c)}",
    lambda c: f"({_export(c)})",
    lambda c: f"{{ {_export(c).partition('  #')[0]}; }}",
    lambda c: f"f() {{ {_export(c).partition('  #')[0]}; }}",
    lambda c: c.choice(("f", "f || true", "f | cat", "g 2>/dev/null")),
    lambda c: (
        f"{c.choice(('true', 'false', '[ a = b ]', 'test -n a'))} {c.choice(('&&', '||', ';', '|', '&'))} export {_name(c)}={_value(c)}"
    ),
    lambda c: (
        f"export {_name(c)}={_value(c)} {c.choice(('&&', '||', ';', '|', '&'))} export {_name(c)}={_value(c)}"
    ),
    lambda c: f"for {_name(c)} in a b; do :; done",
    lambda c: f"for i in a b\ndo\n {_name(c)}=$i\ndone",
    lambda c: f"case {_value(c)} in\n 0|1) export {_name(c)}={_value(c)} ;;\n *) {_name(c)}=2\nesac",
    lambda c: f"while {c.choice(('false', 'true'))}; do export {_name(c)}=9; break; done",
    lambda c: (
        f"cat >/dev/null <<{c.choice(('', '-'))}{c.choice(('EOF', chr(39) + 'EOF' + chr(39)))}\nexport {_name(c)}=doc\nEOF"
    ),
    lambda c: f"export {_name(c)}=a\\\nb",
    lambda c: f"export \\\n  {_name(c)}={_value(c)}",
    lambda c: f"export {_name(c)}='a\nb'",
    lambda c: f"export {_name(c)}=$(echo {_value(c)})",
    lambda c: f"export {_name(c)}=`echo {_value(c)}`",
    lambda c: f": ${{{_name(c)}:={_value(c)}}}",
    lambda c: f": $(({_name(c)}=5))",
    lambda c: f"export {_name(c)}=$((1+2))",
    lambda c: f"read {_name(c)} </dev/null",
    lambda c: f"export {_name(c)}=$'a'",
    lambda c: f"{c.choice(('command', 'builtin', 'exec', 'time', 'env'))} export {_name(c)}={_value(c)}",
    lambda c: (
        f"{c.choice(('declare -x', 'typeset', 'local', 'export -n', 'export -p', 'export --'))} {_name(c)}={_value(c)}"
    ),
    lambda c: f"{_name(c)}+={_value(c)}",
    lambda c: (
        f"alias {c.choice(('ll', 'export', 'echo'))}='{_export(c).partition('  #')[0].replace(chr(39), '')}'"
    ),
    lambda c: c.choice(
        ("ll", "return", "[ -z a ] || return", "[ -n a ] && return 0", "false && return", "shift")
    ),
    lambda c: f"export {_name(c)}",
    lambda c: f"unset -{c.choice('vf')} {_name(c)}",
    lambda c: f"export {_name(c)}={_value(c)}\r",
    lambda c: f"export {_name(c)}={_value(c)} 2>/dev/null",
    lambda c: f"export {_name(c)}={_value(c)} >/nonexistent/x",
    lambda c: f"if true; then\n  {_name(c)}=3\nelse\n  unset {_name(c)}\nfi",
    lambda c: f"! export {_name(c)}=4",
    lambda c: f"IFS={c.choice((':', '1', ''))}",
)


def profile(c: random.Random) -> str:
    return _lines(c, ORDINARY_PROFILE)


def odd_profile(c: random.Random) -> str:
    return _lines(c, ODD_PROFILE)


# -- files of NAME=VALUE --------------------------------------------------------------------------------------


def _plain(c: random.Random) -> str:
    value = _value(c)
    return f"{_name(c)}={c.choice((value, value, chr(34) + value + chr(34), chr(39) + value + chr(39)))}"


ORDINARY = (_plain, _plain, _plain, _plain, lambda c: "# a comment", lambda c: "", lambda c: f"#{_plain(c)}")
_ODD_VALUE = "ab1 =$'\"\\#;{}:-+\t%X"
ODD = (
    *ORDINARY,
    lambda c: f"{_name(c)}={_soup(c, _ODD_VALUE)}",
    lambda c: f'{_name(c)}="{_soup(c, _ODD_VALUE)}"',
    lambda c: f"{_name(c)}='{_soup(c, _ODD_VALUE)}'{_soup(c, ' #ab', 3)}",
    lambda c: _soup(c, _ODD_VALUE, 16),
    lambda c: f"export {_plain(c)}",
    lambda c: f"export\t{_plain(c)}",
    lambda c: f"  {_plain(c)}",
    lambda c: f"{_plain(c)}{c.choice((' ', chr(9), ' # c', chr(9) + '# c', '#c', chr(13)))}",
    lambda c: f"{_name(c)} = {_value(c)}",
    lambda c: f"{_name(c)}=",
    lambda c: f"{_name(c)}={c.choice((chr(34) * 2, chr(39) * 2))}",
    lambda c: f"{_name(c)}",
    lambda c: f"{_name(c)}=${_name(c)}",
    lambda c: f"{_name(c)}=${{{_name(c)}}}/x",
    lambda c: (
        f"{_name(c)}=${{{_name(c)}{c.choice((':-', ':+', '-', '+'))}{c.choice(('', 'v', 'a b', '$X', '${X}', '}'))}}}"
    ),
    lambda c: f"{_name(c)}=a$$b$",
    lambda c: f"{_plain(c)}\\",
    lambda c: f"{_name(c)}=a\\\n  b",
    lambda c: f"# comment\\\n{_plain(c)}",
    lambda c: f"; {_plain(c)}",
    lambda c: f"{_name(c)}: {_value(c)}",
    lambda c: f'{_name(c)}="a\nb"',
    lambda c: f"{_name(c)}='a\n\nb",
    lambda c: "=x",
    lambda c: f"1{_plain(c)}",
    lambda c: f"{_name(c)}={'v' * c.choice((1020, 1100, 9000))}",
    lambda c: f"{_name(c)}=ä{_value(c)}",
)


def assignments(c: random.Random) -> str:
    return _lines(c, ORDINARY)


def odd_assignments(c: random.Random) -> str:
    return _lines(c, ODD)


# -- fish, units ----------------------------------------------------------------------------------------------


def _set(c: random.Random) -> str:
    value = _value(c)
    written = c.choice((value, f'"{value}"', f"'{value}'"))
    return (
        f"set {c.choice(('-gx', '-gx', '-x', '-g -x', '--global --export', '-xg'))} {_name(c)} {written}"
        + c.choice(("", "", " # c"))
    )


ORDINARY_FISH = (_set, _set, _set, lambda c: "# c", lambda c: "", lambda c: f"set -e {_name(c)}")
_ODD_FISH = "ab1 =$'\"\\#;{}()*?~%<>&|:-\tX"
ODD_FISH = (
    *ORDINARY_FISH,
    lambda c: f"set -gx {_name(c)} {_soup(c, _ODD_FISH)}",
    lambda c: f"set -gx {_name(c)} '{_soup(c, _ODD_FISH)}'",
    lambda c: f'set -gx {_name(c)} "{_soup(c, _ODD_FISH)}"',
    lambda c: f"set -gx {_name(c)} a b",
    lambda c: f"set -gx {_name(c)}",
    lambda c: f"set {c.choice(('-g', '-l', '-gu', '-ax', '-px', '-gxa', '-lx', ''))} {_name(c)} {_value(c)}",
    lambda c: f"if true; {_set(c).partition(' #')[0]}; end",
    lambda c: f"begin\n {_set(c)}\nend",
    lambda c: f"{c.choice(('true', 'false'))}; {c.choice(('and', 'or'))} set -gx {_name(c)} 5",
    lambda c: f"{c.choice(('true', 'false'))} {c.choice(('&&', '||'))} set -gx {_name(c)} 6",
    lambda c: f"set -gx {_name(c)} ${_name(c)}",
    lambda c: f"set -gx {_name(c)} (echo 3)",
    lambda c: f"export {_name(c)}={_value(c)}",
    lambda c: f"function f\n {_set(c)}\nend\nf",
    lambda c: f"set -gx {_name(c)} a\\\nb",
    lambda c: f"{_set(c).partition(' #')[0]}; {_set(c)}",
    lambda c: f"eval set -gx {_name(c)} 3",
    lambda c: f"{_name(c)}=3 true",
    lambda c: f"for {_name(c)} in 1 2; end",
    lambda c: f"read -gx {_name(c)} </dev/null",
    lambda c: f"set -q {_name(c)}",
    lambda c: f"set -gx {_name(c)}[1] 3",
    lambda c: "return",
    lambda c: f"set -eg {_name(c)}",
    lambda c: f"not set -gx {_name(c)} 3",
)


def fish(c: random.Random) -> str:
    return _lines(c, ORDINARY_FISH)


def odd_fish(c: random.Random) -> str:
    return _lines(c, ODD_FISH)


_ODD_WORDS = "ab1 =$'\"\\#;%h:-\tX"
ORDINARY_UNIT = (
    lambda c: f"Environment={_name(c)}={_value(c)}",
    lambda c: f'Environment="{_name(c)}={_value(c)}"',
    lambda c: f"Environment={_name(c)}={_value(c)} {_name(c)}={_value(c)}",
    lambda c: f"Environment='{_name(c)}=a b'",
    lambda c: "# Environment=X=7",
    lambda c: "",
)
ODD_UNIT = (
    *ORDINARY_UNIT,
    lambda c: f"Environment={_name(c)}={_soup(c, _ODD_WORDS)}",
    lambda c: f'Environment="{_name(c)}={_soup(c, _ODD_WORDS)}"',
    lambda c: f"Environment={_name(c)}={_value(c)} \\\n  {_name(c)}={_value(c)}",
    lambda c: f"Environment={_name(c)}={_value(c)} \\\n# c\n  {_name(c)}={_value(c)}",
    lambda c: "Environment=",
    lambda c: f"  Environment = {_name(c)}={_value(c)}",
    lambda c: f"Environment={_name(c)}=a%%b",
    lambda c: f"Environment={_name(c)}=%u",
    lambda c: f"UnsetEnvironment={_name(c)}",
    lambda c: (
        f"Environment={_name(c)}={_value(c)} \\{c.choice((' ', chr(92), chr(13)))}\n  {_name(c)}={_value(c)}"
    ),
    lambda c: (
        f"Environment={_name(c)}={_value(c)}{c.choice((chr(13), chr(92) * 2))}\nEnvironment={_name(c)}={_value(c)}"
    ),
    lambda c: f"Environment={_name(c)}={_value(c)}\rEnvironment={_name(c)}={_value(c)}",
    lambda c: f"Environment={_name(c)}={_value(c)};{_name(c)}=3 # {_name(c)}=4",
    lambda c: f"[Service] # c\nEnvironment={_name(c)}=3" if c.random() < 0.2 else "",
    lambda c: f"[Unit]\nEnvironment={_name(c)}=3\n[Service]",
    lambda c: f"Environment={_name(c)}",
    lambda c: f'Environment={_name(c)}=\'a\' "b" {_name(c)}="x y"z',
)


def unit(c: random.Random) -> str:
    return f"[Service]\n{_lines(c, ORDINARY_UNIT)}"


def odd_unit(c: random.Random) -> str:
    return f"[Service]\n{_lines(c, ODD_UNIT)}"
