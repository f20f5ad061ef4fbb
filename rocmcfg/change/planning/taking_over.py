"""Find the module parameters that the owner of a host has set in files out of which they can be moved, and
the changes that move them into a profile. Pure over a read-only view."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from rocmcfg.change.planning.wording import worded
from rocmcfg.files import modprobe
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.judging.judge import judge
from rocmcfg.loaders import registry
from rocmcfg.loaders.shared.contract import Observed
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, Severity, error, info
from rocmcfg.model.edit import Edit, Moved, joined
from rocmcfg.model.facts import Facts
from rocmcfg.model.file_state import FileState
from rocmcfg.model.kargs import Karg, canonical, split
from rocmcfg.model.plan import FileChange, Plan
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.spelling import SAFE_VALUE, parameter, same, well_named
from rocmcfg.records.receipt import Receipt
from rocmcfg.state.values import effective, read_configured

_BUILT_IN = "the driver is built into the kernel and does not read it"
_STEP = "settings of yours that move into the profile"


@published("parameter", "value", "source", "reason")
class Occurrence(NamedTuple):
    """A module parameter as its owner set it in a file; `source` is file and line. `reason` says why it stays
    there, empty if it is moved."""

    parameter: str
    value: str | None
    source: str
    text: str
    line: int
    in_modprobe: bool
    reason: str = ""

    @property
    def path(self) -> str:
        return self.source.rpartition(":")[0] if self.line else self.source


class TakenOut(NamedTuple):
    """What a take-over moves, and what stays. `values` are the texts of the parameters that are moved, and
    `files` the changes of the files out of which they are moved."""

    moved: tuple[Occurrence, ...]
    left: tuple[Occurrence, ...]
    values: dict[str, str]
    files: tuple[FileChange, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(occurrence.path for occurrence in self.moved))


def take_out(view: HostView, facts: Facts, catalogue: Catalogue, receipt: Receipt | None) -> TakenOut:
    """Return what can be moved out of the files of the host. A parameter is moved if the line whose value
    counts can be changed, and if that value may be in a profile."""
    configured = read_configured(view, facts)
    every = [*_in_modprobe(view, catalogue), *_on_the_line(view, facts, configured.boot, catalogue)]
    counts = (n for n, occurrence in enumerate(every) if not (occurrence.in_modprobe and configured.builtin))
    winners = {every[n].parameter: n for n in counts}
    stays = {id: _refused(every[n], facts, catalogue, receipt) for id, n in winners.items()}
    every, stays = _settled(every, stays, winners)
    moved = tuple(occurrence for occurrence in every if _goes(occurrence, stays))
    left = tuple(
        occurrence._replace(reason=occurrence.reason or stays.get(occurrence.parameter, _BUILT_IN))
        for occurrence in every
        if not _goes(occurrence, stays)
    )
    values = {id: str(every[n].value) for id, n in winners.items() if not stays[id]}
    return TakenOut(moved, left, values, tuple(_changes(view, facts, moved)))


def _goes(occurrence: Occurrence, stays: Mapping[str, str]) -> bool:
    return not occurrence.reason and not stays.get(occurrence.parameter, _BUILT_IN)


def _settled(
    every: list[Occurrence], stays: dict[str, str], winners: Mapping[str, int]
) -> tuple[list[Occurrence], dict[str, str]]:
    """Return both with what follows from them: a parameter stays if the line whose value counts stays, and an
    `options` line is moved as a whole or not at all."""
    while True:
        stays = {id: reason or every[winners[id]].reason for id, reason in stays.items()}
        held = {
            occurrence.source: occurrence.parameter
            for occurrence in every
            if occurrence.in_modprobe and not _goes(occurrence, stays)
        }
        settled = [
            occurrence._replace(reason=f"its line also sets {held[occurrence.source]}, which stays")
            if occurrence.in_modprobe and occurrence.source in held and _goes(occurrence, stays)
            else occurrence
            for occurrence in every
        ]
        if settled == every:
            return settled, stays
        every = settled


def _refused(occurrence: Occurrence, facts: Facts, catalogue: Catalogue, receipt: Receipt | None) -> str:
    """Say why a parameter with this value may not be in a profile; empty if it may."""
    spelling = parameter(occurrence.parameter, occurrence.value)
    if occurrence.value is None or not SAFE_VALUE.match(occurrence.value) or not well_named(spelling):
        return "it has no value that a profile can hold"
    for setting in receipt.settings if receipt is not None else ():
        if setting.parameter == occurrence.parameter and not same(setting.text, occurrence.value):
            return f"rocmcfg applies {setting.karg} already"
    for verdict in judge(spelling, facts.machine, catalogue):
        diagnostic = worded(verdict, spelling, occurrence.source, catalogue, facts.machine)
        if diagnostic is not None and diagnostic.severity is Severity.ERROR:
            return f"a plan refuses it: {diagnostic.summary}"
    return ""


def _in_modprobe(view: HostView, catalogue: Catalogue) -> Iterator[Occurrence]:
    for options in modprobe.lines(view, include_ours=False):
        if options.module in catalogue.modules():
            path, _, line = options.source.rpartition(":")
            reason = _of_the_file(view, path) or modprobe.immovable(view.read(path) or b"", int(line))
            for karg in split(options.text):
                id = f"{options.module}.{canonical(karg.name)}"
                yield Occurrence(id, karg.value, options.source, karg.text, int(line), True, reason)


def _on_the_line(
    view: HostView, facts: Facts, boot: Observed | None, catalogue: Catalogue
) -> Iterator[Occurrence]:
    if boot is None or facts.boot.loader is None:
        return
    chain = registry.backend(facts.boot.loader.name)
    for karg in dict.fromkeys(boot.foreign):
        module, dot, name = karg.key.partition(".")
        if not dot or module not in catalogue.modules():
            continue
        path, _, number = karg.source.rpartition(":")
        line = int(number) if number.isdecimal() else 0
        if boot.unknown_at:
            reason = f"the shell code at {boot.unknown_at} may change it"
        else:
            reason = _of_the_file(view, path) if line else ""
            reason = reason or chain.immovable(view, path, line, karg)
        yield Occurrence(f"{module}.{name}", karg.value, karg.source, karg.text, line, False, reason)


def _of_the_file(view: HostView, path: str) -> str:
    """Say why nothing can be moved out of a file; empty if something can."""
    if not path.startswith("/etc/"):
        return "its file belongs to a package"
    if view.is_symlink(path):
        return "its file is a symbolic link"
    if not path.isprintable():
        return "the name of its file cannot be printed"
    try:
        view.state(path)
    except Unreadable as problem:
        return problem.reason
    return ""


def _changes(view: HostView, facts: Facts, moved: Sequence[Occurrence]) -> Iterator[FileChange]:
    for path in dict.fromkeys(occurrence.path for occurrence in moved):
        before = view.state(path)
        assert before is not None  # its lines were read
        content, parts = before.content, list[Moved]()
        here = [occurrence for occurrence in moved if occurrence.path == path]
        if here[0].in_modprobe:
            content, part = modprobe.moved_out(content, {occurrence.line for occurrence in here})
            parts = [part]
        else:
            assert facts.boot.loader is not None
            chain = registry.backend(facts.boot.loader.name)
            for line in sorted({occurrence.line for occurrence in here}):
                words = {occurrence.text for occurrence in here if occurrence.line == line}
                content, part = chain.moved_out(content, line, words)
                parts.append(part)
        yield FileChange(path, before, content, _STEP, before.mode, Edit(b"", b"", joined(parts)))


# -- the profile ---------------------------------------------------------------------------------------


def profile(taken: TakenOut, catalogue: Catalogue) -> bytes:
    """Return the text of the profile: each value as its owner wrote it, and where it was."""
    where = {occurrence.parameter: occurrence.path for occurrence in taken.moved}
    *first, last = sorted(set(where.values()))
    summary = (
        f"Settings taken over from {', '.join(first)} and {last}"
        if first
        else f"Settings taken over from {last}"
    )
    lines = [
        "# Written by `rocmcfg take-over`; edit it as you like.",
        "schema = 1",
        f"summary = {json.dumps(summary)}",
    ]
    for id, text in sorted(taken.values.items()):
        module, _, name = id.partition(".")
        entry = catalogue.parameters.get(id)
        plain = re.fullmatch("-?(0|[1-9][0-9]{0,17})", text) and not (entry is not None and entry.mask)
        key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
        lines += ["", f"[module.{module}.{key}]", f"value = {text if plain else json.dumps(text)}"]
        lines.append(f"because = {json.dumps('taken over from ' + where[id])}")
    return ("\n".join(lines) + "\n").encode()


# -- the plan ------------------------------------------------------------------------------------------


def instead(files: Sequence[FileChange]) -> dict[str, FileState | None]:
    """Return the files as these changes leave them."""
    return {change.path: _after(change) for change in files}


def _after(change: FileChange) -> FileState | None:
    if change.after is None:
        return None
    if change.before is None:
        return FileState(change.after, change.mode, 0, 0, 0)
    return change.before._replace(content=change.after)


def merged(plan: Plan, files: Sequence[FileChange], before: Sequence[str]) -> Plan:
    """Return the plan, which was made for the host without the owner's arguments, with the changes that move
    these out. There is one change for each file. `before` is the present command line of the host."""
    of_plan = {change.path: change for change in plan.changes}
    first = []
    for change in files:
        later = of_plan.pop(change.path, None)
        first.append(change if later is None else _joined(change, later))
    line = plan.command_line
    if line is not None:
        line = line._replace(before=tuple(before))
    return plan._replace(changes=(*first, *of_plan.values()), command_line=line, may_try=False)


def _joined(moves: FileChange, later: FileChange) -> FileChange:
    """Return the change that moves words out of a file and then writes rocmcfg's lines into it."""
    assert moves.edit is not None  # only a file of the owner's has both
    assert later.edit is not None
    edit = later.edit._replace(moved=moves.edit.moved)
    return moves._replace(after=later.after, edit=edit, reason=f"{moves.reason}; {later.reason}")


class Values(NamedTuple):
    """All that the next boot gives the kernel: the arguments, and the options of modprobe.d."""

    line: tuple[str, ...]
    options: tuple[Karg, ...]
    builtin: bool

    def of(self, id: str) -> str | None:
        return effective(id, self.options, split(" ".join(self.line)), builtin=self.builtin).value


def differences(before: Values, after: Values, catalogue: Catalogue) -> Iterator[Diagnostic]:
    """Yield an error for each value that the next boot would not have as before."""
    every = [karg for values in (before, after) for karg in (*values.options, *split(" ".join(values.line)))]
    modules = catalogue.modules()
    for id in dict.fromkeys(karg.key for karg in every if karg.key.partition(".")[0] in modules):
        if before.of(id) != after.of(id) and not same(before.of(id), after.of(id)):
            was, becomes = before.of(id), after.of(id)
            summary = f"this would change {id} from {was or 'unset'} to {becomes or 'unset'}"
            yield error("RC2071", summary, hint="move the lines that set it manually; see `rocmcfg status`")
    rest = [
        [text for text in values.line if canonical(text).partition(".")[0] not in modules]
        for values in (before, after)
    ]
    if rest[0] != rest[1]:
        others = " ".join(sorted({*rest[0]} ^ {*rest[1]})) or " ".join(rest[1])
        yield error(
            "RC2074", f"other kernel arguments would change: {others}", hint="move the lines manually"
        )


def recovery_entries(taken: TakenOut, view: HostView, facts: Facts) -> Iterator[Diagnostic]:
    """Yield a remark if entries that get GRUB_CMDLINE_LINUX alone lose arguments."""
    lost = [part for change in taken.files if change.edit for part in change.edit.moved]
    words = [word for part in lost if part.variable == "GRUB_CMDLINE_LINUX" for word in part.words]
    loader = facts.boot.loader
    entries = registry.entries(view, loader.name) if loader is not None else ()
    if words and any(entry.role.value == "recovery" for entry in entries):
        summary = f"recovery entries will no longer have {' '.join(words)}"
        detail = "they get GRUB_CMDLINE_LINUX alone, and rocmcfg adds to GRUB_CMDLINE_LINUX_DEFAULT"
        yield info(
            "RC2072", summary, detail=detail, hint="add them there again if a recovery entry needs them"
        )
