"""List the files that belong to rocmcfg alone, with the content that each must have, and detect whether
someone else changed them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg import initramfs
from rocmcfg.files import environment_targets, keep_list, kernel_hook, modprobe
from rocmcfg.host.state_dir import LOCAL_PROFILES
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders import registry
from rocmcfg.model.desired import Channel, DesiredSetting, Kind
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.edit import Editor, matches
from rocmcfg.model.plan import FileChange
from rocmcfg.model.shape import NamedTuple
from rocmcfg.records import journal
from rocmcfg.records.receipt import Receipt
from rocmcfg.state import edits

MARK = b"rocmcfg"  # in the first lines of every file that rocmcfg writes


class OwnedFile(NamedTuple):
    """A file that belongs to rocmcfg alone. `content` is its wanted content, or None if it must not exist. A
    file with an `editor` belongs to another program; its `content` is the part that rocmcfg must have in
    it."""

    path: str
    content: bytes | None
    reason: str
    mode: int = 0o644

    @property
    def editor(self) -> Editor | None:
        return edits.editor_of(self.path)


def owned_files(
    view: HostView,
    loader: str,
    desired: Sequence[DesiredSetting],
    on_line: Sequence[DesiredSetting],
    env_targets: Sequence[str] = (),
) -> list[OwnedFile]:
    """Return the files that rocmcfg must have, or must not have, for these settings. `loader` is the backend
    that gets the arguments; those of every other loader are removed, and so are the variables of every reader
    that is not in `env_targets`."""
    options = [s for s in desired if s.channel is Channel.MODPROBE]
    variables = [s for s in desired if s.kind is Kind.ENV]
    driver = any(s.parameter for s in desired)
    # The kernel hook writes the arguments into entries that are created later.
    written = registry.entry_writer(loader) is not None
    why = "kernel command line: " + _ids(on_line)
    on_boot: dict[str, bytes | None] = {}
    for backend in registry.backends():
        for path, content in backend.propose(view, on_line if loader == backend.NAME else ()).items():
            on_boot[path] = content or on_boot.get(path)  # two loaders may read the same file
    owned = [OwnedFile(path, on_boot[path], why) for path in on_boot]
    owned += [OwnedFile(path, None, "the trial is over: this makes it permanent") for path in trial_paths()]
    owned.append(OwnedFile(modprobe.PATH, modprobe.propose(options), "module options: " + _ids(options)))
    generator = initramfs.backend(initramfs.detect(view)) if options else None
    for candidate in initramfs.backends():
        copied = candidate.propose(wanted=candidate is generator)
        owned += [
            OwnedFile(path, copied[path], f"makes {candidate.NAME} copy {modprobe.PATH}") for path in copied
        ]
    owned += _targets(view, env_targets, variables)
    checked = driver or (written and bool(on_line))
    hooks = kernel_hook.propose(view, wanted=checked, after_entries=written)
    later = "checks the applied values against each kernel installed later"
    owned += [OwnedFile(path, hooks[path], later, kernel_hook.MODE) for path in hooks]
    kept = keep_list.propose(
        view, (file.path for file in owned if file.content is not None and not file.editor)
    )
    return [*owned, OwnedFile(keep_list.PATH, kept, "makes a system update keep the files listed above")]


def _targets(view: HostView, names: Sequence[str], variables: Sequence[DesiredSetting]) -> list[OwnedFile]:
    targets = environment_targets.chosen(names)
    gone = "variables that this service no longer gets"
    owned: dict[str, OwnedFile] = {}
    for target in (*environment_targets.EVERY, *targets):
        content = environment_targets.propose(target, variables) if target in targets else None
        reason = f"variables for {target.readers}"
        reason += f" (--env-target {target.name})" if target.name else ""
        owned[target.path] = OwnedFile(target.path, content, reason)
    for path in environment_targets.unit_files(view):
        owned.setdefault(path, OwnedFile(path, None, gone))
    return list(owned.values())


def _ids(settings: Sequence[DesiredSetting]) -> str:
    return ", ".join(dict.fromkeys(s.id for s in settings)) or "no settings left"


def kernel_paths() -> tuple[str, ...]:
    """Return the paths of rocmcfg's files that determine which arguments and module options the next kernel
    gets."""
    by_loader = dict.fromkeys(path for name in registry.NAMES for path in registry.paths(name))
    copied = (path for generator in initramfs.backends() for path in generator.propose(wanted=False))
    return (*by_loader, modprobe.PATH, *copied)


def replaces(changes: Iterable[FileChange]) -> bool:
    """Return whether the changes remove something that the running kernel may have been booted with."""
    paths = kernel_paths()
    return any(
        change.path in paths and change.before is not None and (change.edit is None or change.edit.removed)
        for change in changes
    )


def owned_paths() -> tuple[str, ...]:
    """Return every path that rocmcfg may write on a host, as a whole or in part, except its own state. One of
    them is a shell pattern: the drop-ins of services."""
    return (
        *kernel_paths(),
        *trial_paths(),
        *(target.path for target in environment_targets.EVERY),
        environment_targets.UNIT_FILES,
        *kernel_hook.PATHS,
        keep_list.PATH,
    )


def may_be_moved_from(path: str) -> bool:
    """Return whether a take-over may have moved the owner's arguments out of a file of this name."""
    return registry.may_be_source(path) or matches(path, modprobe.SOURCES)


def is_local_profile(path: str) -> bool:
    """Return whether a file of this name is a local profile. A take-over creates one, which its owner may
    edit."""
    return matches(path, f"{LOCAL_PROFILES}/*.toml")


def owned_on(view: HostView) -> tuple[str, ...]:
    """Return the same paths for one host, with the drop-ins of services that exist there in place of the
    pattern."""
    fixed = (path for path in owned_paths() if path != environment_targets.UNIT_FILES)
    return (*fixed, *environment_targets.unit_files(view))


def trial_paths() -> tuple[str, ...]:
    """Return the paths of rocmcfg's files that exist only during a trial."""
    return tuple(dict.fromkeys(path for trial in registry.trials().values() for path in trial.FILES))


def changes_to(
    view: HostView, owned: Sequence[OwnedFile], receipt: Receipt | None
) -> tuple[list[FileChange], list[Diagnostic]]:
    digests = receipt.files if receipt else {}
    outcomes = [_change_to(view, file, digests.get(file.path)) for file in owned]
    changes = [outcome for outcome in outcomes if isinstance(outcome, FileChange)]
    return changes, [outcome for outcome in outcomes if isinstance(outcome, Diagnostic)]


def _change_to(view: HostView, file: OwnedFile, recorded: str | None) -> FileChange | Diagnostic | None:
    """Return the change that gives a file its wanted content, or the error that prevents it, or None if the
    file already has that content."""
    if file.content is None and not _holds_ours(view, file):
        return None
    if view.is_symlink(file.path):
        summary = f"{file.path} is a symbolic link, and rocmcfg does not write through symbolic links"
        return error(
            "RC4001", summary, location=file.path, hint="remove the link, then run the command again"
        )
    try:
        before = view.state(file.path)
    except Unreadable as problem:
        return problem.diagnostics[0]
    if file.editor is not None and before is None:
        return None  # rocmcfg does not create a file that belongs to another program
    current = edits.own_part(file.path, before.content if before else None)
    foreign = None if current is None else _not_ours(file, current, recorded)
    if foreign is not None:
        return foreign
    change = FileChange(file.path, before, file.content, file.reason, file.mode)
    if file.editor is not None and before is not None:
        content, edit = file.editor.put(before.content, file.content)
        change = change._replace(after=content, mode=before.mode, edit=edit)
    now = (before.content, before.mode) if before is not None else (None, file.mode)
    return None if now == (change.after, change.mode) else change


def _holds_ours(view: HostView, file: OwnedFile) -> bool:
    """Return whether there is something to remove, as far as the user may see: in a file that belongs to
    another program, rocmcfg's part. A folder that only root may read, such as the EFI system partition, hides
    its files."""
    if file.editor is None:
        return view.exists(file.path) or view.is_symlink(file.path)
    try:
        content = view.read(file.path)
    except Unreadable:
        return False
    return content is not None and file.editor.put(content, None)[0] != content


def _not_ours(file: OwnedFile, content: bytes, recorded: str | None) -> Diagnostic | None:
    """Return an error if writing the file would lose someone else's work."""
    if recorded:
        if recorded == journal.digest(content) or content == file.content:
            return None
        return error(
            "RC4002",
            f"{file.path} was edited since rocmcfg wrote it",
            location=file.path,
            hint="move your changes to another file and delete the lines that rocmcfg wrote, then run the "
            "command again; or discard the edit with `rocmcfg rollback --force`",
        )
    if content == file.content or MARK in content[:400]:
        return None
    summary = f"{file.path} exists and rocmcfg did not write it"
    return error("RC4003", summary, location=file.path, hint="rename the file, then run the command again")
