"""systemd-boot: the options of its entries, and /etc/kernel/cmdline for kernels to come.

What we ask for is in a file of our own, and our part of the entries follows it. `kernel-install add` would
write an entry anew as well, and copy kernel and initramfs with it: a full partition, or a power cut in
between, leaves a kernel that does not boot.

90-loaderentry.install makes an entry's options of /etc/kernel/cmdline, and where there is none of the running
kernel's own line (systemd 252 to 262). That file is never created here: with our arguments alone in it the
next entry would have no root=. Without it, the hook of each installed kernel writes our part
(`write_entries`) in place of what came along from the running kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from rocmcfg.backends.boot import loader_entries, marked_arguments
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.menu import behind_separator, size, too_long
from rocmcfg.backends.boot.menu import check as check_menu
from rocmcfg.backends.boot.recognised import handed_over
from rocmcfg.backends.boot.systemd_boot import reader
from rocmcfg.host.view import Host, HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import Karg, contains, split
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting, unique_kargs

NAME = reader.NAME
OWNED: tuple[str, ...] = (reader.CARRIER,)


def detect(view: HostView) -> Detection | None:
    loader = reader.installed(view)
    told = handed_over(view, "LoaderInfo", NAME)
    folders = loader_entries.folders(view)
    if not folders or not (loader or told):
        return None
    return Detection(
        NAME,
        "systemd-boot",
        (*(path for path in (*folders, loader) if path), *told),
        proof=bool(told),
        supported=True,
        manual="append to the options of each entry, and to /etc/kernel/cmdline where there is one: {kargs}",
    )


def observe(view: HostView) -> Observed:
    """What others ask for counts where every entry has it, those of kernels to come as well."""
    menu = reader.read(view)
    text = view.text(reader.CMDLINE)
    future = split(text, reader.CMDLINE) if text is not None else None
    lines = [
        _around(line) for line in (*(entry.kargs for entry in menu.normal), *([future] if future else ()))
    ]
    foreign = (
        [karg for karg in lines[-1][0] if all(contains(line[0], karg.text) for line in lines)]
        if lines
        else []
    )
    later = {karg.text: karg for line in lines for karg in line[2]}
    ours = split(_ours(text_or_empty(view, reader.CARRIER)), reader.CARRIER)
    return Observed(
        menu, (*foreign, *later.values()), ours, tuple(later.values()), (*foreign, *ours, *later.values())
    )


class _Line(NamedTuple):
    """A command line: what stands before our part of it, our part, and what stands after it."""

    before: tuple[Karg, ...]
    ours: tuple[Karg, ...]
    after: tuple[Karg, ...]


def _around(kargs: Sequence[Karg]) -> _Line:
    source = kargs[0].source if kargs else ""
    return _Line(*(split(part, source) for part in marked_arguments.around(" ".join(k.text for k in kargs))))


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    del view
    from rocmcfg.backends.templates import HEAD, reason

    kargs = [s.karg for s in unique_kargs(settings)]
    part = marked_arguments.part(" ".join(kargs)) if kargs else None
    carrier = "".join([HEAD, *map(reason, settings), " ".join(kargs), "\n"]).encode() if kargs else None
    return {reader.CARRIER: carrier, reader.CMDLINE: part}


def _ours(text: str) -> str:
    return " ".join(line for line in text.splitlines() if not line.startswith("#"))


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    return (Activation(NAME, (), reason, writes_at=loader_entries.folders(view), own=True),)


def write_entries(host: Host) -> None:
    kargs = _ours(host.text(reader.CARRIER) or "")
    ours = marked_arguments.part(kargs) if kargs else None
    for path in loader_entries.normal_files(host, reader.machine_id(host)):
        before = host.state(path)
        content = loader_entries.with_arguments(before.content, ours) if before else b""
        if before is not None and content != before.content:
            host.write(path, replace(before, content=content), keep_mtime=False)


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    del view
    marked = marked_arguments.part(" ".join(kargs)).decode().split()
    lines = [[k.text for part in _around(entry.kargs)[::2] for k in part] for entry in observed.menu.normal]
    longest = max(size([*line, *marked]) for line in (*lines, [k.text for k in observed.foreign]))
    found = list(too_long(longest, observed.menu.path, "shorten the options of the entries"))
    return [*found, *behind_separator(observed.foreign, kargs)]


def unmanaged(view: HostView) -> list[Diagnostic]:
    """Unified kernel images beside the entries: they hold their own arguments."""
    images = [
        f"{folder}/{name}"
        for folder in (f"{mounted}/EFI/Linux" for mounted in loader_entries.PARTITIONS)
        for name in view.names(folder)
        if name.endswith(".efi")
    ]
    if not images:
        return []
    return [
        warning(
            "RC3110",
            f"{len(images)} unified kernel images do not get the arguments: {', '.join(images[:3])}",
            hint="boot an entry instead of them, or write module parameters to modprobe.d: --via modprobe",
        )
    ]


def check(view: HostView, wanted: Sequence[str], unwanted: Sequence[str]) -> list[Diagnostic]:
    return check_menu(reader.read(view), wanted, unwanted)
