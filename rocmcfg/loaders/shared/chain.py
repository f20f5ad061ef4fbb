"""What backends share: each declares its names and how it is found, and says what it does otherwise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import ClassVar

from rocmcfg.files.traces import Maker, Traces, maker_of, on
from rocmcfg.host.view import Host, HostView, Unreadable, text_or_empty
from rocmcfg.loaders.shared import appended_assignment, entry_options, loader_entries, marked_arguments
from rocmcfg.loaders.shared.contract import BootReader, BootTrial, Observed, Owned
from rocmcfg.loaders.shared.efi import handed_over
from rocmcfg.loaders.shared.entry_options import CARRIER, CMDLINE, Written
from rocmcfg.loaders.shared.loader_files import SYSTEMD_BOOT
from rocmcfg.loaders.shared.menu import MISSING, Menu, Role, behind_separator, size, too_long
from rocmcfg.loaders.shared.shell_assignments import arguments
from rocmcfg.loaders.shared.specials import Special, not_handed_on
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import Karg, contains, join, split
from rocmcfg.model.plan import Activation, FileChange

Rewrite = tuple[str, Callable[[bytes], bytes]]  # a file with entries, and how its content is to become


class Chain(BootReader, ABC):
    """`OWNED` are the files that hold something of ours. `MANUAL` says what somebody does by hand, with
    `{path}` for what is found first; `NO_TRIAL` why there is no `TRIAL`, `EDIT_KEY` the key that edits an
    entry in the menu, empty where none does. `LOADER` is how the name begins that the loader leaves in
    LoaderInfo; without one, what is found is proof. `SPECIAL` is all that an argument must not hold, since
    the loader or a program on the way to it would not hand it on as it is.

    `PROGRAM` is the program without which a host does not have this loader. A `DECISIVE` loader excludes all
    others, whatever files of theirs lie around. `INSTEAD_OF` names loaders that are not chosen where this one
    is, although the same evidence speaks for both. `PACKAGE` is the package of the program that makes the
    menu, where its name is not the program's; `MOUNT_POINTS` are where the partitions with the menu are
    mounted."""

    OWNED: ClassVar[Owned] = {CARRIER: None}
    SPECIAL: tuple[Special, ...]
    TITLE: str
    MANUAL: str
    EDIT_KEY = "e"
    TRIAL: BootTrial | None = None
    NO_TRIAL = "rocmcfg does not know how it boots something once"
    LOADER = ""
    PROGRAM = ""
    DECISIVE = False
    INSTEAD_OF: tuple[str, ...] = ()
    PACKAGE = ""
    MOUNT_POINTS: tuple[str, ...] = ("/boot",)

    def evidence(self, view: HostView, proof: tuple[str, ...]) -> tuple[str, ...]:
        """Return what shows that this loader is here, the firmware's `proof` of the boot included; empty
        where nothing does."""
        paths = self.here(view)
        return (*paths, *proof) if paths else ()

    def menu(self, view: HostView) -> Menu:
        """Return what `read` returns; a snapshot of a host has it read once."""
        return view.once(("menu", self.NAME), lambda: self.read(view))

    @abstractmethod
    def observe(self, view: HostView) -> Observed: ...

    @abstractmethod
    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        """Return by path what shall be ours: the whole file, or a part of one that others own; None for what
        shall not be there. Equal settings give equal bytes."""

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        """Return the steps by which our files take effect. An undo asks anew: kernels may have come and
        gone."""
        return ()

    def traces(self, view: HostView) -> Traces:
        """Return what an undo that a shell runs looks for. Programs copy what is marked in CMDLINE into
        entries."""
        copied = loader_entries.PATTERNS if CMDLINE in self.OWNED else ()
        return Traces(self.MOUNT_POINTS, copied)

    def makers(self, view: HostView) -> tuple[Maker, ...]:
        """Return what makes the menu anew once our files are gone, as a shell runs it."""
        return tuple(maker_of(step, self.PACKAGE) for step in self.activations(view, "") if step.commands)

    def entry_changes(self, view: HostView, kargs: Sequence[str]) -> tuple[FileChange, ...]:
        """Return what `write_entries` would change once these are ours, where it rewrites files of others."""
        return ()

    def entry_files(self, view: HostView) -> tuple[str, ...]:
        """Return the files with entries that no program generates: an activation of our own rewrites them."""
        return ()

    def cut_off(self, view: HostView) -> str:
        """Say why the menu cannot be all that its program meant to write; empty where nothing shows that."""
        return ""

    @abstractmethod
    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield what would go wrong, before anything is written. There is at least one argument."""

    def lines(self, view: HostView, observed: Observed) -> Iterable[Sequence[Karg]]:
        """Return the command lines that get our arguments, those of kernels to come as well."""
        return (observed.foreign, *(entry.kargs for entry in observed.menu.normal))

    def refused(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield the arguments that would not reach the kernel as they are: by this loader, or behind an open
        quote of others."""
        yield from not_handed_on(self.SPECIAL, kargs, observed.menu.carrier or observed.menu.path)
        yield from unclosed(view, self.lines(view, observed))

    def unmanaged(self, view: HostView) -> Iterable[Diagnostic]:
        """Yield remarks on entries that boot without our arguments, whatever we do."""
        return ()

    def remarks(self, view: HostView, menu: Menu) -> Iterable[Diagnostic]:
        """Yield what there is to say of entries that are for no everyday use."""
        return ()

    def proof_of_boot(self, view: HostView) -> tuple[str, ...]:
        """Return what proves that this loader booted the host: the loader's own name in LoaderInfo, or
        systemd-boot, which started it."""
        if program := loader_entries.passed_on(view):
            is_this = self.LOADER and self.LOADER in program.rpartition("/")[2].lower()
            return (f"systemd-boot started {program}",) if is_this else ()
        return handed_over(view, "LoaderInfo", self.LOADER) if self.LOADER else ()

    def detect(self, view: HostView) -> Detection | None:
        proof = self.proof_of_boot(view)
        evidence = self.evidence(view, proof)
        if not evidence:
            return None
        manual = self.MANUAL.replace("{path}", evidence[0])
        return Detection(self.NAME, self.TITLE, evidence, bool(proof) or not self.LOADER, True, manual)


class EntryChain(Chain):
    """Shares what loaders have whose entries no program generates: we put our part into them, an activation
    of our `own`. As it stands it is for entries of the Boot Loader Specification. `ASSIGNED`: the shell file,
    and the variable in it, of which entries of later kernels are made. `LEFT`: roles of entries that are left
    alone. `NO_ENTRY` is the hint where none is for us."""

    ASSIGNED: tuple[str, str] = ("", "")
    RULES = SYSTEMD_BOOT
    MOUNT_POINTS: tuple[str, ...] = loader_entries.PARTITIONS
    LEFT: tuple[Role, ...] = (Role.TRIAL, Role.FOREIGN)  # another system may have a rocmcfg of its own
    NO_ENTRY = (
        "an entry is for this system where its machine-id is that of /etc/machine-id, and its root= that of "
        "/etc/fstab: mend what differs, or have the entries written anew"
    )

    def assigned(self, view: HostView) -> tuple[str, str]:
        return self.ASSIGNED

    def to_come(self, view: HostView) -> Iterable[Sequence[Karg]]:
        """Return the lines of which entries of later kernels are made."""
        return entry_options.from_cmdline(view)

    def lines(self, view: HostView, observed: Observed) -> Iterable[Sequence[Karg]]:
        path, name = self.assigned(view)
        assigned = arguments(name, path, text_or_empty(view, path)) if path else None
        return (*super().lines(view, observed), *self.to_come(view), assigned or ())

    def read(self, view: HostView) -> Menu:
        return entry_options.menu(view, self.RULES)

    def observe(self, view: HostView) -> Observed:
        """Return the configured line. An argument of others counts where every entry has it, those of later
        kernels as well."""
        menu = self.menu(view)
        lines = [_around(kargs) for kargs in (*(entry.kargs for entry in menu.normal), *self.to_come(view))]
        first, _ = lines[-1] if lines else ((), ())
        foreign = [karg for karg in first if all(contains(before, karg.text) for before, _ in lines)]
        later = tuple({karg.text: karg for _, after in lines for karg in after}.values())
        ours = split(entry_options.asked(view), CARRIER)
        return Observed(menu, (*foreign, *later), ours, later)

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        proposed = entry_options.propose(settings)
        part, (path, name) = proposed[CMDLINE], self.assigned(view)
        proposed[path] = appended_assignment.lines(name, part.decode().strip()) if part else None
        return {path: proposed.get(path) for path in self.OWNED}

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        return (Activation(self.NAME, (), reason, writes_at=self.folders(view), own=True),)

    def traces(self, view: HostView) -> Traces:
        return Traces(self.MOUNT_POINTS, loader_entries.PATTERNS, shown=loader_entries.PATTERNS)

    def folders(self, view: HostView) -> tuple[str, ...]:
        return loader_entries.folders(view)

    def entry_files(self, view: HostView) -> tuple[str, ...]:
        return tuple(dict.fromkeys(view.real_path(path) for path, _ in self.rewrites(view, None)))

    def may_write(self, path: str) -> bool:
        """Return whether a file of this name is one of `entry_files`, on this host or on another day."""
        return loader_entries.is_entry(path)

    def variable(self, view: HostView) -> str:
        """Return the variable of the loader that stands behind what is applied, for a trial; empty without
        one."""
        return ""

    def write_entries(self, host: Host) -> None:
        """Give every normal entry our part as the carrier has it, those too that were made since, and take it
        out of those that shall stay as they are. Raises Unwritable; done twice, it changes nothing."""
        wanted = (entry_options.asked(host), self.variable(host))
        for named, rewritten in self.rewrites(host, _part(wanted), tried=True):
            path = host.real_path(named)
            host.discard_temporary(path)
            before = host.state(path)
            if before is not None and (content := rewritten(before.content)) != before.content:
                self.require_change(host, path)
                host.write(path, before._replace(content=content), keep_mtime=False)

    def entry_changes(self, view: HostView, kargs: Sequence[str]) -> tuple[FileChange, ...]:
        changes = []
        for path, rewritten in self.rewrites(view, _part(kargs)):
            with suppress(Unreadable):  # the menu says so
                before = view.state(view.real_path(path))
                if before is not None and (content := rewritten(before.content)) != before.content:
                    changes.append(FileChange(path, before, content, "kernel arguments of its entries"))
        return tuple(changes)

    def rewrites(self, view: HostView, ours: bytes | None, *, tried: bool = False) -> Iterator[Rewrite]:
        """Yield each file with entries and how its content is to become. `tried`: with what a trial that is
        on record has there."""
        for path, entry in loader_entries.files(view, entry_options.machine_id(view), self.RULES):
            if entry.role not in self.LEFT:
                part = ours if entry.role is Role.NORMAL else None
                yield path, partial(loader_entries.with_arguments, ours=part, rules=self.RULES)

    def taken_from_others(self, view: HostView) -> Iterator[Rewrite]:
        """Yield the files of entries that name another system, and what they are without our part there."""
        for path, entry in loader_entries.files(view, entry_options.machine_id(view), self.RULES):
            if entry.role is Role.FOREIGN:
                yield path, partial(loader_entries.with_arguments, ours=None, rules=self.RULES)

    def require_change(self, view: HostView, path: str) -> None:
        """Refuse to change a file that would not boot then. Raises Unwritable."""

    def remarks(self, view: HostView, menu: Menu) -> Iterable[Diagnostic]:
        return loader_entries.left_out(view, menu)

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        menu, marked = observed.menu, marked_arguments.part(" ".join(kargs)).decode().split()
        lines = [_around(entry.kargs) for entry in menu.normal]
        lengths = (size([*(k.text for k in (*before, *after)), *marked]) for before, after in lines)
        first = (karg for before, _ in lines for karg in before)
        yield from too_long(max(lengths, default=0), menu.path, "shorten the options of the entries")
        yield from behind_separator((*observed.foreign, *first), kargs)
        yield from marked_arguments.torn(menu.normal)
        if menu.unreadable == MISSING:
            hint = "mount the EFI system partition, then run the command again"
            yield error("RC3121", f"cannot use {menu.path}: {menu.unreadable}", location=menu.path, hint=hint)
        elif not menu.unreadable and not menu.normal:
            summary = f"no entry of {menu.path} is for everyday use of this system"
            roles = "\n".join(
                f"{entry.title}: {entry.role.value}, {entry.why}".rstrip(", ") for entry in menu.entries
            )
            yield error("RC3122", summary, location=menu.path, detail=roles, hint=self.NO_ENTRY)
        yield from self.of_later_kernels(view, kargs)

    def of_later_kernels(self, view: HostView, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield what would keep the arguments from the entries of later kernels."""
        path, name = self.assigned(view)
        if path:
            content = appended_assignment.with_arguments(text_or_empty(view, path), name, kargs)
            yield from appended_assignment.continued(content, path)
            left = arguments(name, path, content)
            if left is not None and not all(contains(left, text) for text in kargs):
                yield set_anew(name, path)


def unclosed(view: HostView, lines: Iterable[Sequence[Karg]]) -> Iterator[Diagnostic]:
    """Yield an error for each argument with a quote that is not closed: the kernel takes what follows for a
    part of it."""
    unclosed_kargs = dict.fromkeys(karg for line in lines for karg in line if karg.leaves_quote_open)
    for karg in unclosed_kargs:
        before, _, ours = karg.text.partition(f" {marked_arguments.BEGIN}")
        summary = (
            "a quote is not closed, so that the kernel would take every argument behind it for a part of "
        )
        yield error(
            "RC3170",
            f"{summary}{before.partition('=')[0]}",
            detail=before,
            location=_line_of(view, karg.source, before),
            hint="close the quote there"
            + (", then apply again: rocmcfg's part is in it now" if ours else ""),
        )


def _line_of(view: HostView, source: str, text: str) -> str:
    """Return the `file:line` where a text stands first; `source` itself where that cannot be told."""
    lines = text_or_empty(view, source).split("\n") if source.startswith("/") and " " not in source else []
    numbers = (number for number, line in enumerate(lines, start=1) if text in line)
    return next((f"{source}:{number}" for number in numbers), source)


def _part(wanted: Iterable[str]) -> bytes | None:
    return marked_arguments.part(kargs) if (kargs := " ".join(filter(None, wanted))) else None


def _around(kargs: Sequence[Karg]) -> tuple[tuple[Karg, ...], tuple[Karg, ...]]:
    """Return the arguments before our part of a command line, and those after it."""
    source = kargs[0].source if kargs else ""
    before, _, after = marked_arguments.around(join(kargs))
    return split(before, source), split(after, source)


class MenuChain(EntryChain):
    """Shares what loaders have whose file, called `FILE`, holds several entries; `FILES` are all names that
    it may have, `FOLDERS` those in which it may lie on a partition, beside its top and the folders of EFI."""

    FILE: str
    FILES: tuple[str, ...]
    FOLDERS: tuple[str, ...] = ()

    def may_write(self, path: str) -> bool:
        name = path.rpartition("/")[2].lower()  # FAT makes no difference between capitals and small letters
        return loader_entries.on_partition(path) and name in self.FILES

    @abstractmethod
    def files(self, view: HostView) -> tuple[str, ...]: ...

    def patterns(self) -> tuple[str, ...]:
        """Return the patterns of a shell that find `files`, wherever they may lie."""
        folders = ("", *self.FOLDERS, "EFI/*/")
        return on(
            loader_entries.PARTITIONS, *(f"{folder}{name}" for folder in folders for name in self.FILES)
        )

    def traces(self, view: HostView) -> Traces:
        copied = loader_entries.PATTERNS if CMDLINE in self.OWNED else ()
        return Traces(self.MOUNT_POINTS, (*self.patterns(), *copied), shown=self.patterns())

    @abstractmethod
    def written(self, view: HostView, path: str, text: str) -> Iterable[Written]: ...

    def read(self, view: HostView) -> Menu:
        return entry_options.menu_of(view, self.files(view), self.FILE, self.written)

    def folders(self, view: HostView) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path.rpartition("/")[0] for path in self.files(view)))

    def rewrites(self, view: HostView, ours: bytes | None, *, tried: bool = False) -> Iterator[Rewrite]:
        for path in self.files(view):
            written = partial(self.written, view, path)
            yield path, partial(entry_options.rewritten, written=written, ours=ours, left=self.LEFT)

    def taken_from_others(self, view: HostView) -> Iterator[Rewrite]:
        left = [role for role in Role if role is not Role.FOREIGN]
        for path in self.files(view):
            written = partial(self.written, view, path)
            yield path, partial(entry_options.rewritten, written=written, ours=None, left=left)


def with_their_own(images: Sequence[str]) -> Iterator[Diagnostic]:
    if images:
        summary = f"{len(images)} unified kernel images do not get the arguments: {', '.join(images[:3])}"
        hint = "boot an entry instead of them, or write module parameters to modprobe.d: --via modprobe"
        yield warning("RC3110", summary, hint=hint)


def set_anew(name: str, path: str, cure: str = "move it above the lines of rocmcfg") -> Diagnostic:
    summary = f"a line behind rocmcfg's sets {name} anew: a later kernel would lose its arguments"
    hint = f"{cure}, or make it append"
    return error("RC3120", summary, location=path, hint=hint)
