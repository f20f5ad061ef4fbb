"""docs/pictures: what a terminal shows of a command, as SVG. The command is run in a real pseudo-terminal.

A picture brings its own background, so that it can be read on a light and on a dark page, and each piece of
text its own length, so that columns stay columns whichever monospaced font there is.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from html import escape
from itertools import groupby

from generators.shell import Shell, shell

COLUMNS = 84
ROWS, LAST = 34, 8  # of what is longer, the lines in the middle are left out
ITEM = 2  # blanks before a setting; what is said about it has more
SIZE, WIDTH, HEIGHT, MARGIN = 14, 8.4, 19, 16
PAPER, INK, FAINT, FRAME = "#1b1f27", "#d8dee9", "#8e99ab", "#4a5263"
# By the number of SGR that asks for it; the bright ones of 90 to 97 are the same.
COLOURS = {
    30: "#6b7689",
    31: "#ff8080",
    32: "#8fd18f",
    33: "#f2c879",
    34: "#8fb8f5",
    35: "#d7a6e8",
    36: "#7fd3dc",
    37: "#ffffff",
}
_PIECE = re.compile(
    r"\x1b\]8;.*?(?:\x1b\\|\x07)|\x1b\[(?P<numbers>[\d;]*)(?P<what>[A-Za-z])|(?P<char>[^\x1b])", re.S
)

Cell = tuple[str, frozenset[int]]


def doctor() -> str:
    return _picture("rocmcfg doctor --log crash.log")


def plan() -> str:
    return _picture("rocmcfg plan --profile gfx1201")


def _picture(command: str) -> str:
    with shell() as here:
        lines = screen(seen(here, command))
    prompt: list[Cell] = [(char, frozenset({1})) for char in f"$ {command}"]
    return drawn([prompt, *shortened(lines)], command)


def shortened(lines: list[list[Cell]]) -> list[list[Cell]]:
    """The lines, without those in the middle of what is too long: whole items, so that no sentence is cut."""
    if len(lines) <= ROWS:
        return lines
    start = next(at for at in range(ROWS - LAST - 1, 0, -1) if _indent(lines[at]) <= ITEM)
    end = next(at for at in range(len(lines) - LAST, len(lines)) if not _indent(lines[at]))
    more: list[Cell] = [(char, frozenset({2})) for char in f"[{end - start} more lines]"]
    return [*lines[:start], more, [], *lines[end:]]


def _indent(line: list[Cell]) -> int:
    text = "".join(char for char, _ in line)
    return len(text) - len(text.lstrip())


def seen(here: Shell, command: str) -> str:
    """What the command writes to a terminal of 84 columns, with its control characters."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["sh", "-c", command],
        cwd=here.work,
        env=here.environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:  # EIO: nobody writes there any more
        pass
    finally:
        os.close(ours)
        process.wait()
    return said.decode()


def screen(text: str) -> list[list[Cell]]:
    """The lines as they stand in the end: of a line that was written over, the last one."""
    lines: list[list[Cell]] = [[]]
    column, style = 0, frozenset[int]()
    for piece in _PIECE.finditer(text):
        if piece["what"] == "m":
            style = _styled(style, [int(number or 0) for number in piece["numbers"].split(";")])
        elif piece["what"] == "K":
            del lines[-1][column:]
        elif piece["char"] == "\n":
            lines.append([])
            column = 0
        elif piece["char"] == "\r":
            column = 0
        elif piece["char"]:
            lines[-1][column : column + 1] = [(piece["char"], style)]
            column += 1
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _styled(style: frozenset[int], numbers: list[int]) -> frozenset[int]:
    for number in numbers:
        if number == 0:
            style = frozenset()
        elif number == 22:
            style -= {1, 2}
        elif number == 39:
            style -= {one for one in style if one >= 30}
        else:
            style |= {number - 60 if number >= 90 else number}
    return style


def drawn(lines: list[list[Cell]], title: str) -> str:
    width, height = COLUMNS * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" '
        f'height="{height}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect x="1" y="1" width="{width - 2:g}" height="{height - 2}" rx="8" '
        f'fill="{PAPER}" stroke="{FRAME}"/>',
        f"<g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" "
        f'font-size="{SIZE}" fill="{INK}">',
    ]
    for row, line in enumerate(lines):
        column = 0
        for style, cells in groupby(line, key=lambda cell: cell[1]):
            text = "".join(char for char, _ in cells)
            out += [_text(text, style, column, row)] if text.strip() else []
            column += len(text)
    return "\n".join([*out, "</g>", "</svg>"]) + "\n"


def _text(text: str, style: frozenset[int], column: int, row: int) -> str:
    column += len(text) - len(text.lstrip())
    text = text.strip()
    colour = next(
        (COLOURS[number] for number in sorted(style) if number in COLOURS), FAINT if 2 in style else ""
    )
    look = f' fill="{colour}"' if colour else ""
    look += ' font-weight="bold"' if 1 in style else ""
    look += ' text-decoration="underline"' if 4 in style else ""
    x, y = MARGIN + column * WIDTH, MARGIN + row * HEIGHT + SIZE
    shown = escape(text, quote=False).replace(" ", "\u00a0")  # SVG makes one blank of many
    return f'<text x="{x:.1f}" y="{y}" textLength="{len(text) * WIDTH:.1f}"{look}>{shown}</text>'
