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

What rocmcfg configures, how each was shown to work, and what it refuses. `docs/generate.py` writes this page
from the backends and from the tests that there are of them.

Not every proof is worth the same:

- **Real machine**: a virtual machine boots by real firmware, loader, kernel and amdgpu module; settings are
  applied, in effect after a reboot, and gone after a rollback. All of them are Debian with parts of Debian:
  what another distribution adds around a loader is not shown by them.
- **Loader alone**: the loader boots by real firmware, with a small program in the place of the kernel. That
  shows which arguments a boot gets, and that a trial is one boot, on the versions that Debian has; of Limine,
  which no package index has, by hand (`tests/loaders/test_limine.py`).
- **Recorded**: a tree of files like that of a host, and stand-ins for the host's programs that do what the
  source of each says. That shows what rocmcfg reads, writes and says, and not that the loader boots it.
- **Refused**: rocmcfg tells the chain apart from all others, writes nothing, and says what to do by hand.

What holds for all of them is said here once. Arguments take effect at the next boot, in the entries for
everyday use of this system and in those of kernels installed later. Entries for rescue and
fallback, of snapshots and of other systems stay as they are, but for those that GRUB's scripts make of the
arguments of all entries: each loader says which, and the plan warns of them. An undo takes out what is
ours, also of entries that were made since, and leaves what others wrote. In a line that is somebody else's,
ours stands between rocmcfg.begin and rocmcfg.end.

A value that the loader, or a program on the way to it, would read as something else is refused (RC3108), as
GRUB reads a semicolon: it is never put in quotes. What others wrote is not mended: where a quote of theirs
stays open, or a line of GRUB's script ends too early, nothing is written behind it (RC3170, RC3172).

A trial with systemd-boot, or Limine, is a copy of an entry with the trial's arguments behind all others,
which the loader boots once (`bootctl set-oneshot`): it deletes the EFI variable before it boots anything.
With GRUB it is the word $rocmcfg_trial on every normal entry, and commands with which GRUB takes the
arguments of one boot out of its environment block (grubenv) and fills them in: the boot after it has none.
There is none where GRUB cannot write that block: on Btrfs, LVM and RAID.
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
    lines += ["", "## Refused", "", "What is said there to do by hand:"]
    for row in _refused():
        lines += ["", f"### {row.title}", "", "```", _by_hand(row.manual), "```"]
        if row.renders:
            lines += ["", f"`rocmcfg render --format {row.renders}` prints a profile in its own words."]
    lines += ["", *_peers()]
    lines += ["", "## Initramfs", ""]
    for generator in initramfs.backends():
        lines += [f"- **{generator.NAME}**: {_sentence(importlib.import_module(type(generator).__module__))}"]
    return "\n".join(lines) + "\n"


_PEERS = """## Peers and the real programs

`make peers` holds what rocmcfg reads against what others make of the same text, and `make peers ARGS=--write`
notes the figures that stand here. Each row says of which version they are.

**Random files.** A program reads files that are made by chance, and so does rocmcfg. *Ordinary* files are as
people write them: all have to agree. In each *odd* one is one trick. There rocmcfg may refuse, or say that it
cannot be told; a wrong value, or a wrong promise of `plan`, is a fault.

| program: what it reads | version | ordinary: agree | odd: agree | not told | faults | theirs, scope |
|---|---|---|---|---|---|---|"""
_SUITES = """
**Cases of peers' own tests**, taken out of their sources, which are not kept here. *Theirs*: the reader of
the peer is not that of the program that the file is for. *Scope*: what is read is not the same thing.
Those that are not expressible are about something else.

| sources of | version | cases | agree | cannot be told | faults | theirs | scope | not expressible |
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
    yield f"\n{told} cases can be expressed. Which of them differ, and why: `tests/peers/differences.toml`."


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
