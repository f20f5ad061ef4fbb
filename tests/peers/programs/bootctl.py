"""`bootctl list --json` on files of loader/entries, for what systemd-boot reads. Where bootctl is known to
read otherwise than the loader it gets the text as the loader divides it (systemd 257, src/boot)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.shared import loader_entries
from rocmcfg.model.kargs import split
from tests.peers import debian, kernel, reading
from tests.peers.judgement import Answer
from tests.peers.programs import words
from tests.peers.programs.next_arg import numbered
from tests.peers.programs.program import Files, Program, Sample

_FOLDER = "loader/entries"
# A pair of quotes around a whole value: efi-string.c, line_get_key_value
_QUOTED = re.compile(r"^([ \t]*\S+[ \t]+)(['\"])(.*)\2(?=[ \t]*$)", re.MULTILINE)
# bootctl takes only the root of a file system for the partition.
_SCRIPT = """
mkdir /efi && mount -t tmpfs tmpfs /efi && cp -r in/. /efi
SYSTEMD_RELAX_ESP_CHECKS=1 bootctl list --json=short --esp-path=/efi >out/list 2>out/errors
"""


def _ordinary(random: Random) -> Files:
    build = random.choice(("arch1-1", "300.fc43.x86_64", "amd64"))
    release = f"6.{random.randint(1, 19)}.{random.randint(0, 99)}-{build}"
    lines = [
        f"title {random.choice(('Arch Linux', 'Fedora Linux 43 (Workstation Edition)', 'Debian GNU/Linux'))}",
        f"version {release}",
        f"linux /vmlinuz-{release}",
        *random.choice(([], ["initrd /amd-ucode.img"])),
        f"initrd /initramfs-{release}.img",
    ]
    options = ["root=UUID=3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3", *words.arguments(random)]
    lines += [f"options {' '.join(part)}" for part in random.choice(([options], [options[:1], options[1:]]))]
    lines += random.choice(([], ["sort-key fedora"], ["# by hand"], ["grub_users $grub_users"]))
    separator = random.choice((" ", " ", "\t", "   "))
    return _file("entry.conf", "".join(line.replace(" ", separator, 1) + "\n" for line in lines))


def _file(name: str, text: str) -> Files:
    return {f"{_FOLDER}/{name}": text}


def _named(*names: str) -> words.Made:
    def made(random: Random) -> Files:
        return _file(random.choice(names), _entry(random, "options {a}"))

    return made


def _with(*lines: str) -> words.Made:
    return lambda random: _file("entry.conf", _entry(random, random.choice(lines)))


def _entry(random: Random, lines: str) -> str:
    argument, other = words.argument(random), words.argument(random)
    odd = lines.replace("{a}", argument).replace("{b}", other)
    return f"title Linux\nlinux /vmlinuz\ninitrd /initramfs.img\n{odd}\n"


def theirs(samples: Sequence[Sample], folder: Path) -> list[Answer]:
    files = {
        f"in/{_FOLDER}/{_apart(path, number)}": _QUOTED.sub(r"\1\3", text)
        for number, sample in enumerate(samples)
        for path, text in sample.files.items()
        if not path.startswith(f"{_FOLDER}/auto-")  # boot.c, config_load_type1_entries
    }
    out = debian.run(folder, _SCRIPT, {**files, "in/EFI/Linux/.keep": ""}) / "out"
    listed = {entry["path"].rpartition("/")[2]: entry for entry in json.loads((out / "list").read_text())}
    return [_shown(listed.get(_apart(path, n))) for n, sample in enumerate(samples) for path in sample.files]


def _apart(path: str, number: int) -> str:
    """The name of a sample's file among those of all: what is special of it is where it begins and ends."""
    return path.rpartition("/")[2].replace("entry", f"entry-{number}", 1)


def _shown(entry: dict[str, object] | None) -> Answer:
    if entry is None:
        return {}
    initrds = entry.get("initrd") or []
    assert isinstance(initrds, list)
    arguments = numbered(kernel.arguments(str(entry.get("options") or "")))
    kernel_file = str(entry.get("linux") or entry.get("efi") or "")
    return {
        "title": str(entry.get("title", "")),
        "kernel": kernel_file,
        "initrds": " ".join(initrds),
        **arguments,
    }


def ours(sample: Sample, folder: Path) -> Answer:
    root = reading.host(folder, {f"efi/{path}": text for path, text in sample.files.items()})
    for entry in loader_entries.read(LocalHost(str(root))):
        arguments = numbered(
            [(karg.key, karg.value) for karg in split(" ".join(k.text for k in entry.kargs))]
        )
        title = "" if entry.title == entry.id else entry.title  # the name stands for it
        return {"title": title, "kernel": entry.path, "initrds": " ".join(entry.initrds), **arguments}
    return {}


PROGRAM = Program(
    name="bootctl list",
    package="systemd-boot-tools",
    reads="boot entries that are files",
    ordinary=_ordinary,
    odd={
        "a boot counter": _named("entry+3.conf", "entry+3-1.conf", "entry+0-3.conf", "entry+3-0.conf"),
        "a boot counter beyond reason": _named(
            "entry+99999999999.conf", "entry+3-99999999999.conf", "entry+-1.conf"
        ),
        "a hidden file": _named(".entry.conf"),
        "a name that begins with auto-": _named("auto-entry.conf"),
        "a name with a blank": _named("entry 1.conf", "entry$1.conf"),
        "a name with other letters": _named("entry-ü.conf"),
        "another ending": _named("entry.conf.bak", "entry.conf~", "entry.cfg"),
        "an ending in capitals": _named("entry.CONF", "entry.Conf"),
        "a comment": _with(
            "#options {a}", "# options {a}\noptions {b}", "options {a} # {b}", "  # x\noptions {a}"
        ),
        "a key in capitals": _with("OPTIONS {a}", "Options {a}\noptions {b}"),
        "a key that nobody knows": _with("foo bar\noptions {a}", "options{a}", "optionsx {a}"),
        "a key without a value": _with(
            "options", "options \noptions {a}", "title\noptions {a}", "linux\noptions {a}"
        ),
        "a vertical tab": _with("options {a}\x0b{b}", "options {a}\x0c{b}", "options\x0b{a}"),
        "a line separator": _with("options {a}\u2028options {b}", "options {a}\x85options {b}"),
        "another kernel": _with(
            "options {a}\nlinux /other", "linux\t/x  \noptions {a}", "linux other\noptions {a}"
        ),
        "another system": _with(
            "options {a}\narchitecture aa64", "options {a}\nmachine-id 00000000000000000000000000000001"
        ),
        "blanks": _with("  options   {a}  ", "\toptions\t{a}\t{b}\t", "options {a}   {b}"),
        "carriage returns": _with("options {a}\r\noptions {b}\r"),
        "many options": _with("options {a}\noptions {b}", "options {a}\n\n\noptions {b}\noptions {a}"),
        "quotes": _with('options "{a}"', "options '{a}'", 'options {a} x="{b}', 'title "Linux"\noptions {a}'),
        "no kernel": lambda random: _file("entry.conf", f"title Linux\noptions {words.argument(random)}\n"),
        "no title": lambda random: _file("entry.conf", f"linux /vmlinuz\noptions {words.argument(random)}\n"),
        "nothing": lambda random: _file("entry.conf", random.choice(("", "\n", "# nothing\n"))),
        "what is no kernel": lambda _: _file("entry.conf", "title Shell\nefi /shellx64.efi\noptions -v\n"),
    },
    theirs=theirs,
    ours=ours,
)
