"""grub-mkconfig on /etc/default/grub, with what rocmcfg's plan would write; then GRUB's script engine on
the menu.

What `plan` promises, the command line afterwards, is held against what the kernel would get.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from tests.peers import debian, kernel, reading
from tests.peers.judgement import CANNOT_TELL, Answer, CannotTell, Refused
from tests.peers.programs import grub_script, words
from tests.peers.programs.next_arg import numbered
from tests.peers.programs.program import Files, Program, Sample
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg

_FILE, _DROP_INS = "etc/default/grub", "etc/default/grub.d"
_OURS = f"{_DROP_INS}/zz-rocmcfg.cfg"
_SET = "amdgpu.dcdebugmask=0x10"  # none of words.PARAMETERS
_SCRIPT = """
ls in | while read -r n; do
  rm -rf /etc/default/grub.d; mkdir /etc/default/grub.d
  cp in/$n/etc/default/grub /etc/default/grub
  cp in/$n/etc/default/grub.d/* /etc/default/grub.d
  mkdir -p /boot/grub; rm -f /boot/grub/grub.cfg
  if (cd /; timeout 60 grub-mkconfig -o /boot/grub/grub.cfg >/w/log 2>&1 </dev/null); then
    cp /boot/grub/grub.cfg out/$n
  fi
done
"""


def _ordinary(random: Random) -> Files:
    quote = random.choice(('"', '"', "'"))
    rest = [
        "GRUB_DEFAULT=0",
        "GRUB_TIMEOUT=5",
        "# If you change this file, run 'update-grub' afterwards to update",
        "",
        "GRUB_DISABLE_OS_PROBER=false",
        "GRUB_GFXMODE=1920x1080",
        "#GRUB_TERMINAL=console",
        "GRUB_DISTRIBUTOR=`lsb_release -i -s 2> /dev/null || echo Debian`",
    ]
    lines = random.sample(rest, random.randint(1, 5))
    lines.append(f"GRUB_CMDLINE_LINUX_DEFAULT={quote}{' '.join(words.arguments(random))}{quote}")
    lines += random.choice(
        ([], ['GRUB_CMDLINE_LINUX=""'], [f'GRUB_CMDLINE_LINUX="{" ".join(words.arguments(random, 2))}"'])
    )
    files = {_FILE: "\n".join(lines) + "\n"}
    if random.random() < 0.3:
        added = f'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {words.argument(random)}"\n'
        files[f"{_DROP_INS}/50-local.cfg"] = random.choice((added, f"GRUB_TIMEOUT=1\n{added}"))
    return files


def _with(*texts: str, later: str = "") -> words.Made:
    """`{a}` and `{b}` are arguments, `{D}` is the name of the variable; `later` is a drop-in behind ours."""

    def made(random: Random) -> Files:
        text = random.choice(texts)
        marks = {
            "{a}": words.argument(random),
            "{b}": words.argument(random),
            "{D}": "GRUB_CMDLINE_LINUX_DEFAULT",
        }
        after = later
        for mark, word in marks.items():
            text, after = text.replace(mark, word), after.replace(mark, word)
        return {
            _FILE: f"GRUB_TIMEOUT=5\n{text}\n",
            **({f"{_DROP_INS}/zzz.cfg": f"{after}\n"} if later else {}),
        }

    return made


def theirs(samples: Sequence[Sample], folder: Path) -> list[Answer]:
    """With the file that rocmcfg would write, or a like one where it refuses to."""
    files: dict[str, str] = {}
    for number, sample in enumerate(samples):
        files |= {f"in/{number}/{path}": text for path, text in sample.files.items()}
        files[f"in/{number}/{_OURS}"] = f'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {_SET}"\n'
    (folder / "menus").mkdir()
    out = debian.run(folder / "menus", _SCRIPT, files) / "out"
    lines = {str(n): _line(text) for n in range(len(samples)) if (text := _read(out / str(n))) is not None}
    (folder / "lines").mkdir()
    found = grub_script.words_of(lines, folder / "lines")
    return [_arguments(found.get(str(number))) for number in range(len(samples))]


def _read(file: Path) -> str | None:
    return file.read_bytes().decode("utf-8", "surrogateescape") if file.exists() else None


def _line(menu: str) -> str:
    """The first entry's command, with what follows it before the next that 10_linux writes."""
    start = menu.index("\tlinux\t") + len("\tlinux\t")
    return f"show {menu[start : menu.index(chr(10) + chr(9), start)]}"


def _arguments(found: list[str] | None) -> Answer:
    """Without what 10_linux adds itself."""
    if found is None:
        return Refused("grub-mkconfig fails, or GRUB refuses its menu")
    line = kernel.arguments(kernel.loader_line(found[1:]))
    return numbered(line[2:] if [name for name, _ in line[:2]] == ["root", "ro"] else line)


def ours(sample: Sample, folder: Path) -> Answer:
    root = debian_grub_host(folder, extra=dict(sample.files))
    result = rocmcfg("plan", "--set", _SET, "--via", "cmdline", "--json", "--root", root)
    if result.code:
        return Refused(reading.errors(result.document))
    promised: list[str] = result.document["command_line"]["after"]
    found: dict[str, object] = dict(numbered(kernel.arguments(" ".join(promised))))
    if "RC3106" in result.ids:  # the arguments of others are read from the menu as it is
        return {"0": CANNOT_TELL} if not found else dict.fromkeys(found, CANNOT_TELL)
    assert any(change["path"] == f"/{_OURS}" for change in result.document["changes"])
    answer: dict[str, str | CannotTell | None] = {**_as_values(found)}
    if "RC3186" in result.ids:  # how many arguments the variable holds cannot be told
        first = next(n for n, text in enumerate(promised) if "$" in text)
        answer |= {str(number): CANNOT_TELL for number in range(first, 2 * len(promised))}
    return answer


def _as_values(found: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in found.items()}


PROGRAM = Program(
    name="grub-mkconfig",
    package="grub2-common",
    reads="/etc/default/grub, up to the kernel",
    ordinary=_ordinary,
    odd={
        "a backslash": _with('{D}="{a} x=\\\\{b}"', '{D}="{a} x=\\\\\\\\y"', "{D}='{a} x=\\y'"),
        "a command's output": _with('{D}="$(echo {a})"', '{D}="`echo {a}` {b}"', '{D}="{a} x=$(uname -s)"'),
        "a comment behind it": _with('{D}="{a}" # why', "{D}={a} # why", '{D}="{a} #x"', '{D}="{a} x=#y"'),
        "a condition": _with(
            'if true; then\n  {D}="{a}"\nfi', '[ -z "$ZZ" ] && {D}="{a}"', 'if false; then {D}="{a}"; fi'
        ),
        "a continued line": _with('{D}="{a} \\\n{b}"', '{D}=\\\n"{a}"'),
        "a dollar sign": _with("{D}='{a} x=$y'", '{D}="{a} x=\\$y"', "{D}='{a} $y'", "{D}='x=${y}z'"),
        "a drop-in behind ours that adds": _with('{D}="{a}"', later='{D}="${D} {b}"'),
        "a drop-in behind ours that sets": _with('{D}="{a}"', later='{D}="{b}"'),
        "a drop-in behind ours with code": _with('{D}="{a}"', later='if true; then {D}="{b}"; fi'),
        "a function": _with('f() { {D}="{a}"; }\nf', 'f() {\n  {D}="{a}"\n}'),
        "a line break": _with('{D}="{a}\n{b}"', "{D}='{a}\n\n{b}'"),
        "a semicolon": _with('{D}="{a}"; X=1', "{D}={a};", '{D}="{a};x"', "{D}='{a} x=\"a;b\"'"),
        "a separator": _with('{D}="{a} -- {b}"', '{D}="-- {a}"'),
        "a sign of GRUB's script": _with(
            '{D}="{a} x=&"',
            '{D}="{a} x=|y"',
            '{D}="{a} { }"',
            '{D}="{a} x={y}"',
            '{D}="{a} <x>"',
            '{D}="{a} x=y}"',
        ),
        "a value of another": _with(
            'X="{a}"\n{D}="$X {b}"', '{D}="{a}"\n{D}="${D} {b}"', '{D}="$NOT_SET {a}"'
        ),
        "an expansion with a default": _with(
            '{D}="${ZZ:-{a}}"', '{D}="${{D}:+{a} }{b}"', '{D}="{a}${ZZ:+ {b}}"'
        ),
        "an open quote": _with("{D}='{a} x=\"y'", '{D}="{a} x=\'y"', '{D}="{a}'),
        "blanks": _with('  {D}="  {a}\t{b}  "  ', '{D} ="{a}"', '{D}= "{a}"'),
        "carriage returns": _with('{D}="{a}"\r'),
        "double quotes": _with(
            '{D}="{a} x=\\"y z\\""', "{D}='{a} x=\"y z\"'", "{D}='\"{a}\"'", "{D}='x=\"\" {a}'"
        ),
        "export": _with('export {D}="{a}"', '{D}="{a}"\nexport {D}'),
        "nothing": _with("", '{D}=""', "{D}=", "{D}=\nGRUB_CMDLINE_LINUX='{a}'"),
        "parts in quotes": _with("{D}=\"{a}\"' x=y'", '{D}={a}" x=y"', "{D}={a}\\ x=y"),
        "single quotes": _with("{D}=\"{a} x='y z'\"", "{D}=\"{a} 'x=y'\"", "{D}=\"x='y'z {a}\""),
        "added by a shell's sign": _with('{D}="{a}"\n{D}+=" {b}"'),
        "taken away again": _with('{D}="{a}"\nunset {D}', '{D}="{a}"\n{D}="{b}"', '{D}="{a}"; {D}='),
        "what is no shell": _with('{D}="{a}")', '{D}: "{a}"', '{D}="{a}"\n<<<<', 'fi\n{D}="{a}"'),
        "an exit": _with('{D}="{a}"\nexit 0', 'return\n{D}="{a}"', 'set -e\nfalse\n{D}="{a}"'),
    },
    theirs=theirs,
    ours=ours,
)
