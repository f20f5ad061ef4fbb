"""ukify, which builds a command line into an image, and objcopy, which takes it out again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.uki import reader
from tests.peers import debian, kernel, reading
from tests.peers.judgement import Answer
from tests.peers.programs import words
from tests.peers.programs.next_arg import numbered
from tests.peers.programs.program import Files, Program, Sample

_FILE = "etc/kernel/cmdline"
_SCRIPT = "PYTHONDONTWRITEBYTECODE=1 python3 images.py {} >out/log 2>&1"


def _ordinary(random: Random) -> Files:
    line = ["root=UUID=3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3", *words.arguments(random, 8)]
    return {_FILE: " ".join(line) + random.choice(("", "\n"))}


def _with(*forms: str) -> words.Made:
    def made(random: Random) -> Files:
        odd = (
            random.choice(forms).replace("{a}", words.argument(random)).replace("{b}", words.argument(random))
        )
        return {_FILE: odd}

    return made


def theirs(samples: Sequence[Sample], folder: Path) -> list[Answer]:
    files = {f"in/{number}": sample.files[_FILE] for number, sample in enumerate(samples)}
    files["images.py"] = Path(__file__).with_name("ukify_images.py").read_text()
    out = debian.run(folder, _SCRIPT.format(len(samples)), files) / "out"
    return [_line(out / f"{number}.cmdline") for number in range(len(samples))]


def _line(section: Path) -> Answer:
    if not section.exists():
        return {}
    text = section.read_bytes().decode("utf-8", "surrogateescape").rstrip("\0")
    # systemd-stub makes blanks of control characters: src/boot/util.c, mangle_stub_cmdline (systemd 257)
    return numbered(kernel.arguments("".join(" " if char < " " else char for char in text)))


def ours(sample: Sample, folder: Path) -> Answer:
    """Of the image that `theirs` has made of the same text, which is beside it."""
    number = folder.name.rpartition("-")[2]
    made = folder.parent / f"theirs/upper/w/out/{number}.efi"
    root = reading.host(folder, {})
    if made.exists():
        image = root / "efi/EFI/Linux/linux.efi"
        image.parent.mkdir(parents=True)
        image.write_bytes(made.read_bytes())
    menu = reader.read(LocalHost(str(root)))
    kargs = menu.entries[0].kargs if menu.entries else ()
    return numbered([(karg.key, karg.value) for karg in kargs])


PROGRAM = Program(
    name="ukify, objcopy",
    package="systemd-ukify",
    reads="command lines in unified kernel images",
    ordinary=_ordinary,
    odd={
        "blanks": _with("  {a}   {b}  ", "{a}\t{b}"),
        "carriage returns": _with("{a}\r\n{b}\r\n"),
        "comments": _with("# why\n{a}\n", "{a} # {b}\n"),
        "many lines": _with("{a}\n{b}\n", "{a}\n\n{b}\n", "\n\n{a}"),
        "nothing": _with("", "\n", " "),
        "other letters": _with("{a} x=ü", "x=\u2028 {a}", "x=\x01 {a}"),
        "quotes": _with('{a} dyndbg="file a +p"', "x='a b' {a}", '{a} x="{b}"'),
        "what looks like a file": _with("@/etc/hostname {a}"),
    },
    theirs=theirs,
    ours=ours,
)
