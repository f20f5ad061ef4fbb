"""What backends share: each declares its names and how it is found, and says what it does otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from rocmcfg.backends.boot import appended_assignment, entry_options, loader_entries, marked_arguments
from rocmcfg.backends.boot.contract import BootReader, Observed
from rocmcfg.backends.boot.entry_options import CARRIER, CMDLINE, Written
from rocmcfg.backends.boot.menu import Role
from rocmcfg.backends.boot.recognised import handed_over
from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import Karg
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting


class Chain:
    """A `contract.BootBackend`. `MANUAL` says what somebody does by hand, with `{path}` for what is found
    first; `LOADER` is how the name begins that the loader leaves in LoaderInfo. Without one, what is found
    is proof."""

    OWNED: tuple[str, ...] = (CARRIER,)
    TITLE: str
    MANUAL: str
    LOADER = ""

    def __init__(self, reader: BootReader) -> None:
        self.reader, self.NAME = reader, reader.NAME

    def evidence(self, view: HostView, told: tuple[str, ...]) -> tuple[str, ...]:
        """What shows that this loader is here, `told` by the firmware included; empty where nothing does."""
        raise NotImplementedError

    def told(self, view: HostView) -> tuple[str, ...]:
        """What the firmware says of it."""
        return handed_over(view, "LoaderInfo", self.LOADER) if self.LOADER else ()

    def detect(self, view: HostView) -> Detection | None:
        told = self.told(view)
        found = self.evidence(view, told)
        if not found:
            return None
        manual = self.MANUAL.replace("{path}", found[0])
        return Detection(self.NAME, self.TITLE, found, bool(told) or not self.LOADER, True, manual)

    def unmanaged(self, view: HostView) -> list[Diagnostic]:
        del view
        return []


class EntryChain(Chain):
    """A `contract.EntryWriter`: entries of the Boot Loader Specification. `ASSIGNED` is the shell file, and
    the variable in it, that entries of later kernels are made of, besides /etc/kernel/cmdline; `LEFT` are the
    roles of entries that keep what they have of ours. `NO_ENTRY` is what to do where none is for us."""

    ASSIGNED: tuple[str, str] = ("", "")
    LEFT: tuple[Role, ...] = (Role.TRIAL, Role.FOREIGN)  # another system may have a rocmcfg of its own
    NO_ENTRY = (
        "an entry is for this system where its machine-id is that of /etc/machine-id, and its root= that of "
        "/etc/fstab: mend what differs, or have the entries written anew"
    )

    def to_come(self, view: HostView) -> Iterable[Sequence[Karg]]:
        """The lines of which entries of later kernels are made."""
        return entry_options.from_cmdline(view)

    def observe(self, view: HostView) -> Observed:
        return entry_options.observe(view, self.reader.read(view), self.to_come(view))

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        del view
        proposed = entry_options.propose(settings)
        part, (path, name) = proposed[CMDLINE], self.ASSIGNED
        proposed[path] = appended_assignment.lines(name, part.decode().strip()) if part else None
        return {path: proposed[path] for path in (*self.OWNED, *self.reader.EDITED)}

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        return (Activation(self.NAME, (), reason, writes_at=self.folders(view), own=True),)

    def folders(self, view: HostView) -> tuple[str, ...]:
        return loader_entries.folders(view)

    def variable(self, view: HostView) -> str:
        """A variable of the loader that stands behind what is applied, for a trial."""
        del view
        return ""

    def write_entries(self, host: Host) -> None:
        """What came into an entry that shall stay as it is, is taken out of it."""
        kargs = f"{entry_options.asked(host)} {self.variable(host)}".strip()
        for named, rewritten in self.rewrites(host, marked_arguments.part(kargs) if kargs else None):
            path = host.real_path(named)
            host.discard_temporary(path)
            before = host.state(path)
            content = rewritten(before.content) if before else b""
            if before is not None and content != before.content:
                self.require_change(host, path)
                host.write(path, replace(before, content=content), keep_mtime=False)

    def rewrites(self, host: Host, ours: bytes | None) -> Iterator[tuple[str, Callable[[bytes], bytes]]]:
        """Each file with entries, and how its content is to become."""
        for path, entry in loader_entries.files(host, entry_options.machine_id(host)):
            if entry.role not in self.LEFT:
                part = ours if entry.role is Role.NORMAL else None
                yield path, partial(loader_entries.with_arguments, ours=part)

    def require_change(self, view: HostView, path: str) -> None:
        """Raises Unwritable where a changed file would not boot."""

    def unusable(self, view: HostView) -> Iterable[Diagnostic]:
        """What of the files the loader does not read as somebody meant it."""
        del view
        return ()

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
        menu = observed.menu
        problems = [*entry_options.preflight(observed, kargs), *self.unusable(view)]
        if menu.unreadable == entry_options.MISSING:
            hint = "mount the EFI system partition, then run the command again"
            problems.append(
                error("RC3121", f"cannot use {menu.path}: {menu.unreadable}", location=menu.path, hint=hint)
            )
        elif not menu.unreadable and not menu.normal:
            problems.append(
                error(
                    "RC3122",
                    f"no entry of {menu.path} is for everyday use of this system",
                    location=menu.path,
                    detail="\n".join(f"{entry.title}: {entry.role.value}" for entry in menu.entries),
                    hint=self.NO_ENTRY,
                )
            )
        return problems


class MenuReader(BootReader, Protocol):
    """Of a loader whose files hold several entries each."""

    def files(self, view: HostView) -> tuple[str, ...]: ...

    def written(self, view: HostView, path: str, text: str) -> Iterable[Written]: ...


class MenuChain(EntryChain):
    """The same where a file holds several entries."""

    reader: MenuReader

    def folders(self, view: HostView) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path.rpartition("/")[0] for path in self.reader.files(view)))

    def rewrites(self, host: Host, ours: bytes | None) -> Iterator[tuple[str, Callable[[bytes], bytes]]]:
        for path in self.reader.files(host):
            written = partial(self.reader.written, host, path)
            yield path, partial(entry_options.rewritten, written=written, ours=ours, left=self.LEFT)
