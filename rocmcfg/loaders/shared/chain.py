"""Base classes of backends: each backend declares its names and how it is found, and overrides what
differs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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
from rocmcfg.model.edit import Moved
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import Karg, contains, join, split
from rocmcfg.model.plan import Activation, FileChange

Rewrite = tuple[
    str, Callable[[bytes], bytes]
]  # a file with entries, and the function that returns its new content


class Chain(BootReader, ABC):
    """The base of all backends. `OWNED` are the files that hold something of ours. `MANUAL` is the
    instruction for a change by hand, with `{path}` for the first evidence; `NO_TRIAL` is the reason why there
    is no `TRIAL`; `EDIT_KEY` is the key that edits an entry in the menu, empty where there is none. `LOADER`
    is the beginning of the name that the loader leaves in LoaderInfo; without one, the evidence is proof.
    `SPECIAL` lists the texts that an argument must not hold, since the loader or a program on the way to it
    would change them.

    `PROGRAM` is the program without which a host does not have this loader. A `DECISIVE` loader excludes all
    others, even where their files exist. `INSTEAD_OF` names loaders that are not chosen where this one is,
    although the same evidence points to both. `PACKAGE` is the package of the program that generates the
    menu, if it does not have the program's name; `MOUNT_POINTS` are the mount points of the partitions with
    the menu. `SOURCES` are patterns of the files out of which the owner's arguments can be moved.
    `GENERATORS` are the names of the programs that write this loader's menu or entries, whoever runs them."""

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
    SOURCES: tuple[str, ...] = ()
    GENERATORS: tuple[str, ...] = ()

    def evidence(self, view: HostView, proof: tuple[str, ...]) -> tuple[str, ...]:
        """Return the evidence that this host has this loader, including the firmware's `proof` of the boot;
        empty where there is none."""
        paths = self.here(view)
        return (*paths, *proof) if paths else ()

    def menu(self, view: HostView) -> Menu:
        """Return the result of `read`; a snapshot of a host reads the menu once."""
        return view.once(("menu", self.NAME), lambda: self.read(view))

    @abstractmethod
    def observe(self, view: HostView) -> Observed: ...

    @abstractmethod
    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        """Return the wanted content of our files by path: the whole file, or our part of a foreign file; None
        for a file or part that is not wanted. Equal settings give equal bytes."""

    def activations(self, view: HostView, reason: str) -> tuple[Activation, ...]:
        """Return the steps that make our files take effect. An undo asks again, since kernels may have been
        installed or removed."""
        return ()

    def traces(self, view: HostView) -> Traces:
        """Return the patterns that an undo in shell looks for. Programs copy the marked part of CMDLINE into
        entries."""
        copied = loader_entries.PATTERNS if CMDLINE in self.OWNED else ()
        return Traces(self.MOUNT_POINTS, copied)

    def makers(self, view: HostView) -> tuple[Maker, ...]:
        """Return the commands, for a shell, that regenerate the menu once our files are removed."""
        return tuple(maker_of(step, self.PACKAGE) for step in self.activations(view, "") if step.commands)

    def entry_changes(self, view: HostView, kargs: Sequence[str]) -> tuple[FileChange, ...]:
        """Return the changes that `write_entries` would make to foreign files for these arguments."""
        return ()

    def entry_files(self, view: HostView) -> tuple[str, ...]:
        """Return the files with entries that no program generates, which rocmcfg's own activation
        rewrites."""
        return ()

    def cut_off(self, view: HostView) -> str:
        """Return why the menu must be incomplete; empty where nothing shows that it is."""
        return ""

    @abstractmethod
    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield the expected failures, before anything is written. There is at least one argument."""

    def lines(self, view: HostView, observed: Observed) -> Iterable[Sequence[Karg]]:
        """Return the command lines that get our arguments, including those of kernels installed later."""
        return (observed.foreign, *(entry.kargs for entry in observed.menu.normal))

    def immovable(self, view: HostView, path: str, line: int, karg: Karg) -> str:
        """Say why an argument of the owner's cannot be moved out of the line where it stands; empty if it
        can."""
        return f"rocmcfg does not edit the arguments of {self.TITLE}"

    def moved_out(self, content: bytes, line: int, words: Collection[str]) -> tuple[bytes, Moved]:
        """Return a file of `SOURCES` without these arguments of a line, and what was moved out. The caller
        has asked `immovable` about each."""
        raise NotImplementedError

    def refused(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield an error for each argument that would not reach the kernel unchanged: because of this loader,
        or after an open quote in foreign arguments."""
        yield from not_handed_on(self.SPECIAL, kargs, observed.menu.carrier or observed.menu.path)
        yield from unclosed(view, self.lines(view, observed))

    def unmanaged(self, view: HostView) -> Iterable[Diagnostic]:
        """Yield remarks on entries that boot without our arguments in any case."""
        return ()

    def remarks(self, view: HostView, menu: Menu) -> Iterable[Diagnostic]:
        """Yield remarks on entries that are not for everyday use."""
        return ()

    def proof_of_boot(self, view: HostView) -> tuple[str, ...]:
        """Return the proof that this loader booted the host: the loader's own name in LoaderInfo, or the
        entry by which systemd-boot started it."""
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
    """The base of loaders whose entries no program generates: rocmcfg writes its part into them in an
    activation of its `own`. As it is, it handles entries of the Boot Loader Specification. `ASSIGNED` is the
    shell file, and the variable in it, from which entries of kernels installed later are made. `LEFT` are the
    roles of entries that are left alone. `NO_ENTRY` is the hint where no entry is for this system."""

    ASSIGNED: tuple[str, str] = ("", "")
    GENERATORS: tuple[str, ...] = ("kernel-install",)
    RULES = SYSTEMD_BOOT
    MOUNT_POINTS: tuple[str, ...] = loader_entries.PARTITIONS
    LEFT: tuple[Role, ...] = (Role.TRIAL, Role.FOREIGN)  # another system may have a rocmcfg of its own
    NO_ENTRY = (
        "an entry is for this system if its machine-id is the one in /etc/machine-id and its root= the one "
        "in /etc/fstab: fix the difference, or regenerate the entries"
    )

    def assigned(self, view: HostView) -> tuple[str, str]:
        return self.ASSIGNED

    def to_come(self, view: HostView) -> Iterable[Sequence[Karg]]:
        """Return the lines from which entries of kernels installed later are made."""
        return entry_options.from_cmdline(view)

    def lines(self, view: HostView, observed: Observed) -> Iterable[Sequence[Karg]]:
        path, name = self.assigned(view)
        assigned = arguments(name, path, text_or_empty(view, path)) if path else None
        return (*super().lines(view, observed), *self.to_come(view), assigned or ())

    def read(self, view: HostView) -> Menu:
        return entry_options.menu(view, self.RULES)

    def observe(self, view: HostView) -> Observed:
        """Return the configured line. A foreign argument counts if every entry has it, including those of
        kernels installed later."""
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
        """Return whether a file of this name may be one of `entry_files`, now or later."""
        return loader_entries.is_entry(path)

    def variable(self, view: HostView) -> str:
        """Return the loader's variable that follows the applied arguments during a trial; empty where there
        is none."""
        return ""

    def write_entries(self, host: Host) -> None:
        """Write our part, as in the carrier, into every normal entry, including entries made since, and
        remove it from entries that must not have it. Raises Unwritable. A second run changes nothing."""
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
            with suppress(Unreadable):  # the error of the menu says so
                before = view.state(view.real_path(path))
                if before is not None and (content := rewritten(before.content)) != before.content:
                    changes.append(FileChange(path, before, content, "kernel arguments of its entries"))
        return tuple(changes)

    def rewrites(self, view: HostView, ours: bytes | None, *, tried: bool = False) -> Iterator[Rewrite]:
        """Yield each file with entries, and the function that returns its new content. `tried`: with the part
        of a recorded trial."""
        for path, entry in loader_entries.files(view, entry_options.machine_id(view), self.RULES):
            if entry.role not in self.LEFT:
                part = ours if entry.role is Role.NORMAL else None
                yield path, partial(loader_entries.with_arguments, ours=part, rules=self.RULES)

    def taken_from_others(self, view: HostView) -> Iterator[Rewrite]:
        """Yield the files of entries for another system, and the function that removes our part from each."""
        for path, entry in loader_entries.files(view, entry_options.machine_id(view), self.RULES):
            if entry.role is Role.FOREIGN:
                yield path, partial(loader_entries.with_arguments, ours=None, rules=self.RULES)

    def require_change(self, view: HostView, path: str) -> None:
        """Refuse to change a file that would not boot afterwards. Raises Unwritable."""

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
        """Yield an error where entries of kernels installed later would not get the arguments."""
        path, name = self.assigned(view)
        if path:
            content = appended_assignment.with_arguments(text_or_empty(view, path), name, kargs)
            yield from appended_assignment.continued(content, path)
            left = arguments(name, path, content)
            if left is not None and not all(contains(left, text) for text in kargs):
                yield set_anew(name, path)


def unclosed(view: HostView, lines: Iterable[Sequence[Karg]]) -> Iterator[Diagnostic]:
    """Yield an error for each argument with an unclosed quote: the kernel takes the text after it as part of
    that argument."""
    unclosed_kargs = dict.fromkeys(karg for line in lines for karg in line if karg.leaves_quote_open)
    for karg in unclosed_kargs:
        before, _, ours = karg.text.partition(f" {marked_arguments.BEGIN}")
        summary = "a quote is not closed, so the kernel would take all following arguments as part of "
        in_image = karg.source.endswith(".efi")
        yield error(
            "RC3170",
            f"{summary}{before.partition('=')[0]}",
            detail=before,
            location=karg.source if in_image else _line_of(view, karg.source, before),
            hint="close the quote where the image gets its line, then rebuild it"
            if in_image
            else "close the quote there"
            + (", then apply again: rocmcfg's arguments are inside it now" if ours else ""),
        )


def _line_of(view: HostView, source: str, text: str) -> str:
    """Return the `file:line` where a text first occurs; `source` itself where it is not known."""
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
    """The base of loaders with a file, named `FILE`, that holds several entries. `FILES` are all names that
    the file may have; `FOLDERS` are the folders of a partition where it may be, besides its top and the
    folders of EFI."""

    FILE: str
    FILES: tuple[str, ...]
    FOLDERS: tuple[str, ...] = ()

    def may_write(self, path: str) -> bool:
        name = path.rpartition("/")[2].lower()  # FAT ignores case
        return loader_entries.on_partition(path) and name in self.FILES

    @abstractmethod
    def files(self, view: HostView) -> tuple[str, ...]: ...

    def patterns(self) -> tuple[str, ...]:
        """Return the shell patterns that find `files` in all places where they may be."""
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
        hint = (
            "boot an entry instead of these images, or write module parameters to modprobe.d: --via modprobe"
        )
        yield warning("RC3110", summary, hint=hint)


def set_anew(name: str, path: str, cure: str = "move it above the lines of rocmcfg") -> Diagnostic:
    summary = f"a line after rocmcfg's overwrites {name}: kernels installed later would not get the arguments"
    hint = f"{cure}, or make it append"
    return error("RC3120", summary, location=path, hint=hint)
