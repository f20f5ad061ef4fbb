"""GRUB's own script engine, grub-emu, on the line of a menu entry that starts the kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from random import Random

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.detection import reader_on
from rocmcfg.loaders.shared.menu import Role
from rocmcfg.model.kargs import read_by_kernel
from tests.peers import debian, kernel
from tests.peers.judgement import CANNOT_TELL, Answer, CannotTell, Refused
from tests.peers.programs import words
from tests.peers.programs.next_arg import numbered
from tests.peers.programs.program import Files, Program, Sample
from tests.support.hosts import debian_grub_host

MENU = "boot/grub/grub.cfg"
# A function cannot take the place of the command `linux`, so lines of it are given another name.
_SHOW = 'function show {\n  for word in "$@"; do echo "<$word>"; done\n}\n'
# grub-emu needs a terminal, of which a line must hold a word.
_SCRIPT = """
ls in | while read -r n; do
  mkdir -p menu/$n; cp in/$n menu/$n/grub.cfg
  if grub-script-check in/$n 2>/dev/null; then
    emulate="stty cols 4000; TERM=dumb timeout --foreground 60 grub-emu -d /w/menu/$n"
    script -qec "$emulate" /dev/null </dev/null >out/$n 2>&1 || true
  fi
done
"""


def words_of(lines: Mapping[str, str], folder: Path) -> dict[str, list[str] | None]:
    """By its key, the words that GRUB gives its command `linux`, from the text behind that word; None where
    GRUB refuses the menu. A menu of its own for each: what is wrong in one may take others along."""
    files = {f"in/{name}": f"{_SHOW}{text}\nexit\n" for name, text in lines.items()}
    out = debian.run(folder, _SCRIPT, files) / "out"
    return {name: _printed(out / name) for name in lines}


def _printed(file: Path) -> list[str] | None:
    if not file.exists():
        return None
    shown = file.read_bytes().decode("utf-8", "replace")
    return re.findall(r"^(?:\x1b\[[0-9;]*m|\r)*<([^\n]*)>\r*$", shown, re.MULTILINE)


def _ordinary(random: Random) -> Files:
    return _menu(
        " ".join(["root=UUID=3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3", "ro", *words.arguments(random, 8)])
    )


def _menu(line: str, before: str = "") -> Files:
    """As 10_linux writes it."""
    id = "gnulinux-simple-3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3"
    return {
        MENU: f"{before}### BEGIN /etc/grub.d/10_linux ###\n"
        f"menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option '{id}' {{\n"
        f"\tlinux\t/boot/vmlinuz-6.12.107+deb13-amd64 {line}\n"
        "\tinitrd\t/boot/initrd.img-6.12.107+deb13-amd64\n}\n### END /etc/grub.d/10_linux ###\n"
    }


def _with(*forms: str, before: str = "") -> words.Made:
    def made(random: Random) -> Files:
        name, value = words.parameter(random)
        odd = random.choice(forms)
        for mark, text in (("{n}", f"amdgpu.{name}"), ("{v}", value)):
            odd = odd.replace(mark, text)
        return _menu(" ".join([*words.arguments(random, 2), odd, *words.arguments(random, 2)]), before)

    return made


def theirs(samples: Sequence[Sample], folder: Path) -> list[Answer]:
    lines = {}
    for number, sample in enumerate(samples):
        text = sample.files[MENU]
        command = text[text.index("\tlinux\t") + len("\tlinux\t") : text.index("\tinitrd\t")]
        lines[str(number)] = text[: text.index("### BEGIN")] + f"show {command}"
    return [as_kernel(words) for words in words_of(lines, folder).values()]


def as_kernel(found: list[str] | None) -> Answer:
    """What the kernel makes of the words of GRUB's command, of which the first is the kernel itself."""
    if found is None:
        return Refused("GRUB's script check")
    return numbered(kernel.arguments(kernel.loader_line(found[1:])))


def ours(sample: Sample, folder: Path) -> Answer:
    root = debian_grub_host(folder, extra=sample.files)
    view = LocalHost(str(root))
    reader = reader_on(view)
    assert reader is not None
    menu = reader.read(view)
    entries = [entry for entry in menu.entries if entry.role is Role.NORMAL]
    if menu.unreadable or not entries:
        return Refused(menu.unreadable)
    kargs = read_by_kernel(entries[0].kargs)
    clear = [*takewhile(lambda karg: not karg.untold, kargs)]
    answer: dict[str, str | CannotTell | None] = {**numbered([(karg.key, karg.value) for karg in clear])}
    if len(clear) < len(kargs):  # how many arguments the variable holds cannot be told
        answer |= {str(number): CANNOT_TELL for number in range(len(clear), 2 * len(kargs))}
    return answer


PROGRAM = Program(
    name="grub-emu",
    package="grub-emu",
    reads="the menu's line, as GRUB's script engine does",
    ordinary=_ordinary,
    odd={
        "a backslash": _with("{n}=\\{v}", "\\{n}={v}", "{n}={v}\\ 7"),
        "a backslash in quotes": _with('{n}="\\{v}"', '{n}="\\"{v}\\""', "{n}='\\{v}'", '{n}="\\$x"'),
        "a comment": _with("{n}={v}#x", "{n}={v} #x"),
        "a continued line": _with("{n}=\\\n{v}", "{n}={v} \\\n quiet"),
        "a dash": _with("amdgpu.virtual-display={v}"),
        "a semicolon": _with("{n}={v};7", "{n}='{v};7'", '"{n}={v};7"', "{n}={v}\\;7", "{n}={v} ; echo x"),
        "a separator": _with("-- {n}={v}", '"--" {n}={v}'),
        "a variable that is set": _with(
            "{n}=$x", "{n}=${x}", '{n}="$x"', "$y", '"$y"', before="set x=1\nset y='a b'\n"
        ),
        "a variable that is not set": _with("{n}={v}$zz", "$zz {n}={v}", "{n}={v}${zz}", "{n}=$zz"),
        "an open quote": _with('{n}="{v}', "{n}='{v}"),
        "blanks": _with("  {n}={v}\t\tquiet  "),
        "braces": _with("{n}={{v}}", "{ {n}={v}", "{n}={v}}", "} {n}={v}"),
        "double quotes": _with('{n}="{v}"', '"{n}={v}"', '{n}="{v} {v}"', '"{n}"={v}', '{n}=""'),
        "other signs": _with("{n}={v}&", "{n}={v}|7", "{n}={v}<7", "{n}=*", "{n}=[a]", "{n}=~", "{n}=!x"),
        "quotes within double quotes": _with("{n}=\"'{v}'\"", '{n}="a\'{v}"'),
        "single quotes": _with("{n}='{v}'", "'{n}={v}'", "{n}='{v} {v}'", "'{n}'={v}", "{n}=''"),
        "single quotes around double ones": _with("{n}='\"{v}\"'", "'{n}=\"{v} {v}\"'"),
    },
    theirs=theirs,
    ours=ours,
)
