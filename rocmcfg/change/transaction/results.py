"""Check what programs generate: menus, entries and images. Record it before the first program runs, check it
after every apply and undo, because an exit status proves nothing, and restore it if it cannot be used.

The journal holds the earlier state (`Before`, `ToolRun`); the present state is read here and nowhere else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rocmcfg import initramfs
from rocmcfg.change.transaction.noting import booted, generator_of, menu_of
from rocmcfg.change.transaction.programs import menu_problems
from rocmcfg.change.transaction.putting_back import digest_now, is_as_saved, put_files_back, put_images_back
from rocmcfg.files import env_update, environment_targets, modprobe
from rocmcfg.host.view import Host, HostView, Snapshot, Unreadable
from rocmcfg.initramfs import Generator, Image
from rocmcfg.languages import portage
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared import loader_entries, pe_image
from rocmcfg.loaders.shared.menu import Menu
from rocmcfg.model.diagnostic import Diagnostic, Severity, error, has_errors, warning
from rocmcfg.model.plan import Activation
from rocmcfg.model.shape import NamedTuple
from rocmcfg.records import journal
from rocmcfg.records.steps import (
    Before,
    Committed,
    FileChanged,
    ImageFound,
    Journal,
    Saved,
    ToolRan,
    ToolRun,
    UndoBegun,
)

Problems = dict[str, list[Diagnostic]]


class Made(NamedTuple):
    """The earlier state of what one program generates, or of a loader's entries if no program generates them.
    `maker` is the program, empty for such entries. `original` says that this is the state which the apply
    found, so that files equal to it need no undo."""

    maker: str
    files: Mapping[str, Saved | None]
    images: Mapping[str, ImageFound]
    original: bool


class Wanted(NamedTuple):
    """What the menu of this loader must contain, and what it must no longer contain. `variables` are the
    names of variables that must be set as in rocmcfg's file, or no longer be set."""

    loader: str
    wanted: Sequence[str]
    unwanted: Sequence[str]
    variables: Collection[str] = ()


def wanted_of_apply(view: HostView, record: Journal) -> Wanted:
    expect = record.header.expect
    return Wanted(expect.backend, expect.wanted, expect.removed, _variables(view, record))


def wanted_of_undo(view: HostView, record: Journal) -> Wanted:
    expect = record.header.expect
    return Wanted(expect.backend, expect.removed, expect.added, _variables(view, record))


def _variables(view: HostView, record: Journal) -> list[str]:
    """Return the names of the variables that a transaction sets, and of those that it found in rocmcfg's
    file."""
    names = [text.partition("=")[0] for text in record.header.settings if text.startswith("env.")]
    names = [name.removeprefix("env.") for name in names]
    for step in record.of(FileChanged):
        if step.path == environment_targets.GENTOO.path and step.before is not None:
            text = journal.restore(view, record.id, step.before).content.decode("utf-8", "replace")
            names += [assignment.name for assignment in portage.read(text)]
    return list(dict.fromkeys(names))


# -- now ----------------------------------------------------------------------------------------------


def made_by(record: Journal, done: Sequence[Activation]) -> list[Made]:
    """Return the earlier state of the output of these programs, as far as the journal knows it; the entries
    that no program generates come last. An undo of a committed transaction goes back to what the apply found,
    unless the output was regenerated since; then it goes back to the state before the undo."""
    before, committed = record.before or Before(), bool(record.of(Committed))
    runs = {line.tool: line for line in record.of(ToolRun)}
    left = {line.tool: line.outputs for line in record.of(ToolRan)}
    groups: list[Made] = []
    for step in done:
        first = runs[step.tool].outputs if step.tool in runs else {}
        then = {path: before.files[path] for path in (*first, *step.outputs) if path in before.files}
        ours = left.get(step.tool, {})
        unchanged = bool(ours) and all(_sha(then.get(path)) == sha for path, sha in ours.items())
        files = first if unchanged or not committed else then
        images = {path: image for path, image in before.images.items() if image.tool == step.tool}
        original = _noted_by_apply(record) if images else unchanged or not committed
        groups.append(Made(step.tool, files, images, original))
    rest = {path: saved for path, saved in before.files.items() if not any(path in g.files for g in groups)}
    return [*groups, Made("", rest, {}, _noted_by_apply(record))]


def _noted_by_apply(record: Journal) -> bool:
    """Return whether the recorded state is the one that the apply found, rather than the one that an undo
    found."""
    if record.before is None:
        return False
    kinds = [type(line) for line in record.lines]
    return Committed not in kinds and UndoBegun not in kinds[: kinds.index(Before)]


def _sha(saved: Saved | None) -> str:
    return saved.sha256 if saved is not None else ""


def same(view: HostView, made: Made) -> bool:
    """Return whether every file is byte for byte as it was. Return False if there is no file."""
    return bool(made.files or made.images) and not any(_unlike(view, made))


def _unlike(view: HostView, made: Made) -> Iterator[str]:
    for path, saved in made.files.items():
        if not is_as_saved(view, path, saved):
            yield path
    for path, image in made.images.items():
        if view.hollow(path) or view.size(path) != image.size or digest_now(view, path) != image.file.sha256:
            yield path


def regenerated(view: HostView, record: Journal) -> list[str]:
    """Return the files that programs generate and that are not byte for byte as the apply of this transaction
    found them."""
    steps = [Activation(line.tool, (), "") for line in record.of(ToolRun)]
    return sorted({path for made in made_by(record, steps) if made.original for path in _unlike(view, made)})


def look_at_results(
    host: Host, id: int, wanted: Wanted, made: Sequence[Made], kernels: Mapping[str, tuple[str, ...]]
) -> Problems:
    """Return the problems with generated files, by program: an error, or a warning if something could not be
    checked. `kernels` are those that had entries before, with the words that these entries had. `id` is the
    transaction that recorded the earlier state."""
    problems: Problems = {}
    look = Snapshot(host)
    try:
        menu = menu_of(look, wanted.loader)
    except Unreadable as problem:
        menu, problems[""] = None, list(problem.diagnostics)
    for group in made:
        diagnostics = problems.setdefault(group.maker, [])
        diagnostics += _about_files(host, id, group)
        diagnostics += _about_variables(host, id, group, wanted.variables)
        diagnostics += _about_images(host, look, id, group, menu)
    # If no program generates the menu, the images that the loader's step builds may be its entries.
    if menu is not None and (menu.tool in problems or (not menu.tool and wanted.loader in problems)):
        diagnostics = problems.setdefault(menu.tool, [])
        diagnostics += menu_problems(look, wanted.loader, menu, wanted.wanted, wanted.unwanted)
        diagnostics += _about_menu(look, wanted.loader, menu, kernels)
    return problems


def _about_files(view: HostView, id: int, made: Made) -> Iterator[Diagnostic]:
    for path, saved in made.files.items():
        if path.endswith(".efi"):  # only rocmcfg's own images, which an undo removes
            continue
        why = view.hollow(path) or _unreadable(view, path)
        if why and not (why == "gone" and (saved is None or _without_kernel(view, id, path, saved))):
            ran = made.maker or "the program that builds the images"
            summary, hint = (
                f"{path} is {why} since {ran} ran",
                f"run {ran} by hand and read what it prints",
            )
            yield error("RC4031", summary, location=path, hint=hint)


def _about_variables(view: HostView, id: int, made: Made, variables: Collection[str]) -> Iterator[Diagnostic]:
    for path, saved in made.files.items() if made.maker == env_update.TOOL else ():
        if not view.hollow(path):
            before = journal.restore(view, id, saved).content if saved is not None else b""
            yield from env_update.look(view, path, before, variables)


def _unreadable(view: HostView, path: str) -> str:
    try:
        view.read(path)
    except Unreadable as problem:
        return f"not readable: {problem.reason};"
    return ""


def _without_kernel(view: HostView, id: int, path: str, saved: Saved) -> bool:
    """Return whether the file was an entry whose kernel no longer exists."""
    if not loader_entries.is_entry(path):
        return False
    text = journal.restore(view, id, saved).content.decode("utf-8", "replace")
    return not loader_entries.located(view, loader_entries.parse(path, text).boots)


def _about_menu(
    view: HostView, loader: str, menu: Menu, kernels: Mapping[str, tuple[str, ...]]
) -> Iterator[Diagnostic]:
    maker = menu.tool or "a program"
    hint = f"run {maker} by hand and read what it prints"
    if why := registry.backend(loader).cut_off(view):
        summary = f"{maker} left an incomplete boot menu: {why}"
        yield error("RC4032", summary, location=menu.path, hint=hint)
    now = booted(menu.normal)
    # If there is no entry, the check of the menu reports it.
    for kernel, had in kernels.items() if now else ():
        lost = [word for word in had if word not in now.get(kernel, ())]
        if loader_entries.located(view, kernel) and (kernel not in now or lost):
            summary = f"the boot menu has lost its entry for {kernel}, which still exists"
            if kernel in now:
                summary = (
                    f"the boot entry for {kernel} has lost its {lost[0]}{'=' if lost[0] == 'root' else ''}"
                )
            yield error("RC4033", summary, location=menu.path, hint=hint)


def _about_images(host: Host, look: HostView, id: int, made: Made, menu: Menu | None) -> Iterator[Diagnostic]:
    """Yield the problems with images. Each earlier image must still exist, be intact and for its kernel, and
    have every module that it had. Each image with the driver must hold rocmcfg's file unchanged."""
    generator = generator_of(made.maker)
    looked: dict[str, Image] = {}
    if generator is not None:
        looked = {image.path: image for image in generator.images(look, menu.entries if menu else ())}
    for path, was in made.images.items():
        if generator is not None and path not in looked and not host.hollow(path):
            looked[path] = generator.looked_into(host, Image(path, was.release))
        problem = _about_image(host, id, path, was, looked.get(path), generator)
        if problem is not None:
            looked.pop(path, None)
            yield problem
    if generator is not None:
        yield from generator.check(host, [*looked.values()], host.read(modprobe.PATH))


def _about_image(
    view: HostView, id: int, path: str, was: ImageFound, now: Image | None, generator: Generator | None
) -> Diagnostic | None:
    ran = f"{was.tool} has just run"
    manual = generator.MANUAL if generator is not None else "rebuild it"
    hint = f"do not reboot unless another image boots; read the output of this command: {manual}"
    why = view.hollow(path)
    if not why and generator is None:
        why = _damaged(view, path)
    elif not why and generator is not None and was.holds and (now is None or now.carries is None):
        why = f"not readable by {generator.LOOKS.split()[0]}, which could read the previous one"
    if why:
        return error("RC3209", f"{path} is {why}", detail=ran, location=path, hint=hint)
    had = _list(view, id, was)
    lost = initramfs.lacking(view, had, now.holds) if now is not None else []
    if not lost or now is None:
        return None
    before, after = ({name.partition("/")[0] for name in names if "/" in name} for names in (had, now.holds))
    if after and before.isdisjoint(after):
        summary = f"{path} has the modules of kernel {min(after)}, but had those of {min(before)} before"
        return error("RC3210", summary, detail=ran, location=path, hint=hint)
    more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
    summary = f"{path} is missing {lost[0]}{more}, which the previous image had"
    hint = f"if the host boots without it: {manual}, reboot, then run the command again"
    return error("RC3211", summary, location=path, detail=ran, hint=hint)


def _damaged(view: HostView, path: str) -> str:
    try:
        record = pe_image.read(view, path)
    except Unreadable as problem:
        return f"damaged: {problem.reason}"
    return "" if record is not None and ".linux" in record.sections else "not an image that contains a kernel"


def _list(view: HostView, id: int, was: ImageFound) -> list[str]:
    """Return the recorded list of what an image held, or nothing if the list itself is gone."""
    content = view.read(f"{journal.folder(id)}/backups/{was.holds}") if was.holds is not None else None
    return (content or b"").decode().split("\n") if content else []


# -- back ---------------------------------------------------------------------------------------------


class Mended(NamedTuple):
    """What is still wrong after an undo, by program, and the remarks. `whole` are the programs whose files
    are byte for byte as the apply found them."""

    problems: Problems
    remarks: tuple[Diagnostic, ...]
    whole: frozenset[str]


def mend(
    host: Host, record: Journal, wanted: Wanted, done: Sequence[Activation], failed: Collection[str]
) -> Mended:
    """Check what programs generated during an undo, and restore the recorded state where the result cannot be
    used. `failed` are the programs that reported a failure. Raise Unwritable, BadJournal."""
    made, kernels = made_by(record, done), (record.before or Before()).kernels

    def look() -> Problems:
        unlike = [output for output in made if not (output.original and same(host, output))]
        return look_at_results(host, record.id, wanted, unlike, kernels)

    problems = look()
    wrong = {maker for maker, problem in problems.items() if has_errors(problem)}
    back = [
        output for output in made if output.maker in wrong or (output.maker in failed and output.original)
    ]
    if "" in wrong and made[-1].files:  # limine.conf may hold a checksum of each image
        back += [output for output in made if output.images and output not in back]
    useless = {d.location for problem in problems.values() for d in problem if d.severity is Severity.ERROR}
    remarks = [problem for output in back for problem in _put_back(host, record.id, output, useless, failed)]
    if back:
        for step in done:
            if step.own:
                registry.write_entries(host, step.tool)
        problems = look()
    whole = frozenset(output.maker for output in made if output.original and same(host, output))
    return Mended(problems, tuple(remarks), whole)


def _put_back(
    host: Host, id: int, made: Made, useless: Collection[str], failed: Collection[str]
) -> Iterator[Diagnostic]:
    """Restore what one program generated, and yield remarks on it. `useless` are files that cannot be used,
    `failed` the programs that ended with an error."""
    paths = [*_unlike(host, made)]
    put_files_back(host, id, made.files)
    put_images_back(host, id, made.images, useless)
    back = [path for path in paths if path not in [*_unlike(host, made)]]
    if back:
        when = f"before transaction {id}" if made.original else "before this undo"
        more = f" and {len(back) - 1} more" if len(back) > 1 else ""
        maker = made.maker or "the program that builds the images"
        did = "failed" if made.maker in failed else "left unusable files"
        summary = f"{maker} {did}: {back[0]}{more} was restored as it was {when}"
        hint = f"run {maker} by hand and read what it prints, before another program runs it"
        yield warning("RC4034", summary, location=back[0], hint=hint)
    lost = [path for path, image in made.images.items() if path in paths and not image.copied]
    if lost and host.hollow(lost[0]):
        summary = f"{lost[0]} cannot be restored: there was no room to keep a copy of it"
        yield warning("RC3212", summary, location=lost[0], hint="build it manually before you reboot")


def restore_cut_off_images(host: Host, record: Journal) -> None:
    """Restore, if no program can be run, the images at which a program of an apply was cut off."""
    if _noted_by_apply(record) and record.before is not None:
        ended = {line.tool for line in record.of(ToolRan)}
        images = {path: image for path, image in record.before.images.items() if image.tool not in ended}
        put_images_back(host, record.id, images, images.keys())


def restore_unreadable_files(host: Host, record: Journal) -> None:
    """Restore what a program that failed or was cut off left unreadable, such as a directory or a pipe in
    place of a file: a menu cannot be judged before that. Raise Unwritable, BadJournal."""
    steps = [Activation(line.tool, (), "", tuple(line.outputs)) for line in record.of(ToolRun)]
    for made in made_by(record, steps):
        files = {path: saved for path, saved in made.files.items() if saved and _unreadable(host, path)}
        put_files_back(host, record.id, files)
