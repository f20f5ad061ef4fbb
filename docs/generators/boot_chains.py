"""What rocmcfg configures of boot chains, and what showed that it does: from the backends and their tests."""

from __future__ import annotations

import csv
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from rocmcfg import initramfs
from rocmcfg.loaders import recognised, registry

_TESTS = Path(__file__).resolve().parents[2] / "tests"
_NOT_CASES = ("trees", "tools", "__pycache__")
_HEAD = """# Boot chains

This page lists the boot chains that rocmcfg configures, how each was tested, and the chains that it refuses.
`docs/generate.py` writes this page from the backends and their tests.

There are four kinds of proof:

- **Real machine**: a virtual machine boots with real firmware, loader, kernel and amdgpu module. The settings
  are applied, are in effect after a reboot, and are gone after a rollback. All these machines run Debian with
  Debian's packages; they do not show what another distribution adds to a loader.
- **Loader alone**: the loader boots with real firmware, with a small program in place of the kernel. This
  shows which arguments a boot gets, and that a trial is one boot, for the versions in Debian. No package
  index has Limine; its test is run by hand (`tests/loaders/test_limine.py`).
- **Recorded**: rocmcfg works on a tree of files like those of a host, with stand-ins for the host's programs
  that follow the source of each program. This shows what rocmcfg reads, writes and prints. It does not show
  that the loader boots the result.
- **Refused**: rocmcfg recognises the chain, writes nothing, and says what to do by hand.

These rules hold for all chains. Arguments take effect at the next boot, in the normal entries of this system
and in the entries of kernels installed later. rocmcfg does not change entries for rescue and fallback, of
snapshots and of other systems. The exceptions are entries that GRUB's scripts generate from the arguments of
all entries: the sections below name them, and the plan warns about them. An undo removes rocmcfg's part, also
from entries made later, and leaves what others wrote. In a line of another owner, rocmcfg's part is between
`rocmcfg.begin` and `rocmcfg.end`.

If the loader, or a program before it, would read a value differently (GRUB ends a command at a semicolon),
rocmcfg refuses the value (RC3108); it never quotes it. It does not repair the files of others: after an open
quote, or a line of GRUB's script that ends too early, it writes nothing (RC3170, RC3172).

With systemd-boot and Limine, a trial is a copy of an entry with the trial's arguments after all others. The
loader boots the copy once (`bootctl set-oneshot`): it deletes the EFI variable before it boots anything. With
GRUB, every normal entry gets the word `$rocmcfg_trial`. At the next boot, GRUB moves the trial's arguments
from its environment block (grubenv) to that word, so the boot after it has none. There is no trial if GRUB
cannot write that block: on Btrfs, LVM and RAID.
"""


def page() -> str:
    lines = [
        _HEAD,
        "## At a glance",
        "",
        "| chain | real machine | recorded | trial boots |",
        "|---|---|---|---|",
    ]
    for name in registry.NAMES:
        real = f"{len(_machines(name))}" if _machines(name) else "no"
        recorded = _counted(name)
        lines.append(f"| [{name}](#{name}) | {real} | {recorded} | {_trial(name)} |")
    lines += [f"| {row.name} | no | refused, {_counted(row.name)} | no |" for row in _refused()]
    for name in registry.NAMES:
        lines += ["", *_chain(name)]
    lines += ["", "## Refused", "", "rocmcfg does not configure these systems. Add the arguments by hand:"]
    for row in _refused():
        lines += ["", f"### {row.title}", "", "```", _by_hand(row.manual), "```"]
        if row.renders:
            lines += [
                "",
                f"`rocmcfg render --format {row.renders}` prints a profile in the format of this system.",
            ]
    lines += ["", *_peers()]
    lines += ["", "## Initramfs", ""]
    for generator in initramfs.backends():
        lines += [f"- **{generator.NAME}**: {_sentence(importlib.import_module(type(generator).__module__))}"]
    return "\n".join(lines) + "\n"


_PEERS = """## Peers and the real programs

`make peers` compares how rocmcfg and other programs read the same text; `make peers ARGS=--write` records the
figures below. Each row names the version of the program.

**Random files.** A program and rocmcfg read the same randomly generated files. *Ordinary* files are like
those that people write: both must agree on all of them. Each *odd* file has one peculiarity. rocmcfg may
refuse an odd file, or say that the value is unknown; a wrong value, or a wrong promise of `plan`, is a fault.

| program: what it reads | version | ordinary: agree | odd: agree | unknown | faults | theirs, scope |
|---|---|---|---|---|---|---|"""
_SUITES = """
**Cases of peers' own tests**, from their sources, which this project does not keep. *Theirs*: the peer reads
the file differently from the program that the file is for. *Scope*: the two read different things. Cases that
are *not expressible* test something that rocmcfg does not read.

| sources of | version | cases | agree | unknown | faults | theirs | scope | not expressible |
|---|---|---|---|---|---|---|---|---|"""
_COUNTED = ("cases", "agree", "refused", "ours", "theirs", "scope", "not expressible")


def _peers() -> Iterator[str]:
    with (_TESTS / "peers/figures.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    yield _PEERS
    ordinary = {row["name"]: row for row in rows if row["kind"] == "ordinary"}
    for row in (row for row in rows if row["kind"] == "odd"):
        usual, others = ordinary[row["name"]], int(row["theirs"]) + int(row["scope"])
        agreeing = [f"{one['agree']} of {one['cases']}" for one in (usual, row)]
        cells = (f"{row['name']}: {row['reads']}", row["version"], *agreeing, row["refused"], row["ours"])
        yield f"| {' | '.join(cells)} | {others} |"
    yield _SUITES
    suites = [row for row in rows if row["kind"] == "suite"]
    for row in suites:
        yield f"| {row['name']} | {row['version']} | {' | '.join(row[name] for name in _COUNTED)} |"
    told = sum(int(row["cases"]) - int(row["not expressible"]) for row in suites)
    yield f"\n{told} cases can be expressed."
    yield "`tests/peers/differences.toml` lists the differences, with their reasons."


def _chain(name: str) -> Iterator[str]:
    package = importlib.import_module(f"rocmcfg.loaders.{name.replace('-', '_')}")
    first, _, rest = (package.__doc__ or "").strip().partition("\n\n")
    yield f"## {name}"
    yield ""
    yield _flat(first)
    for paragraph in rest.split("\n\n") if rest else ():
        yield ""
        yield paragraph.strip()
    yield ""
    machines = ", ".join(f"`tests/vm/{file.name}`" for file in _machines(name)) or "none"
    yield f"- Real machine: {machines}."
    yield f"- Recorded: {_counted(name)} in `tests/cases/{name}`."
    yield f"- Trial boots: {_trial(name)}."


def _by_hand(manual: str) -> str:
    for mark, shown in (("{kargs}", "ARGUMENTS"), ("{strings}", '"ARGUMENT" …'), ("{list}", '"ARGUMENT", …')):
        manual = manual.replace(mark, shown)
    return manual


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _sentence(module: ModuleType) -> str:
    return _flat((module.__doc__ or "").strip().partition("\n\n")[0])


def _refused() -> tuple[recognised.Row, ...]:
    return recognised.CHAINS


def _trial(name: str) -> str:
    if registry.trial(name) is None:
        return "no"
    if any("--trial" in file.read_text() or "trial" in file.name for file in _machines(name)):
        return "yes, on a real machine"
    alone = any(f'"{name}"' in file.read_text() for file in (_TESTS / "loaders").glob("test_*.py"))
    return "yes, on the loader alone" if alone else "yes, recorded"


def _counted(name: str) -> str:
    found = len(_cases(name))
    return f"{found} case" if found == 1 else f"{found} cases"


def _cases(name: str) -> list[Path]:
    folder = _TESTS / "cases" / name
    found = folder.iterdir() if folder.is_dir() else ()
    return [path for path in found if path.is_dir() and path.name not in _NOT_CASES]


def _machines(name: str) -> list[Path]:
    """The scenarios in real guests that name this loader; those that name none are Debian's own GRUB."""
    found = []
    for path in sorted((_TESTS / "vm").glob("test_*.py")):
        if path.name in ("test_harness.py", "test_ansible.py"):
            continue
        text = path.read_text()
        named = [one for one in registry.NAMES if f'"{one}"' in text] or ["grub"]
        if name in named:
            found.append(path)
    return found
