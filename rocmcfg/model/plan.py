"""A plan: frozen data that leads from the configured to the desired state. Only `planning.plan` makes plans,
and only `transaction.transaction` carries them out."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from enum import Enum
from typing import Literal

from rocmcfg.model.activation import ActivationState
from rocmcfg.model.desired import DesiredSetting, Skipped
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.edit import Edit
from rocmcfg.model.file_state import FileState
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.unified_diff import quoted, unified_diff


class ChangeKind(str, Enum):
    CREATE = "create"
    MODIFY = "modify"
    REMOVE = "remove"


@published("path", "kind", "before=text_before", "after=text_after", "diff", "reason")
class FileChange(NamedTuple):
    """A change to a file. `before` is None for a new file, `after` for one that is removed. `mode` is the
    mode of a new file. `edit` is the change to a foreign file, whose owner, mode and other content stay."""

    path: str
    before: FileState | None
    after: bytes | None
    reason: str
    mode: int = 0o644
    edit: Edit | None = None

    @property
    def kind(self) -> ChangeKind:
        if self.before is None:
            return ChangeKind.CREATE
        return ChangeKind.REMOVE if self.after is None else ChangeKind.MODIFY

    @property
    def text_before(self) -> str | None:
        return self.before.content.decode("utf-8", "replace") if self.before else None

    @property
    def text_after(self) -> str | None:
        return self.after.decode("utf-8", "replace") if self.after is not None else None

    @property
    def diff(self) -> str:
        """Return the change in the format of `diff -u`; /dev/null stands for a missing file."""
        before, after = self.text_before, self.text_after
        changed = unified_diff(
            (before or "").splitlines(keepends=True),
            (after or "").splitlines(keepends=True),
            (
                "/dev/null" if before is None else self.path,
                "/dev/null" if after is None else self.path,
            ),
        )
        if not changed and self.before is not None:
            return f"{quoted(self.path)}: mode {self.before.mode:04o} → {self.mode:04o}\n"
        return changed


@published("tool", "kind", "before", "after", "diff", "reason")
class ToolChange(NamedTuple):
    """A change to the data that the program `tool` keeps for the host; the `Keeper` of that name
    (`loaders.shared.contract`) knows how to read and to undo it. `holds` is the text that the program must
    hold afterwards; `before` and `after` are shown to the user. `ours` are all arguments that are or become
    ours, if the program keeps them among others. `arms`: the change makes the next boot a trial, so nothing
    may come after it."""

    tool: str
    argv: tuple[str, ...]
    holds: str | None
    before: str
    after: str
    reason: str
    kind: Literal["modify"] = "modify"
    diff: str = ""
    ours: str = ""
    arms: bool = False

    @property
    def step(self) -> Activation:
        """Return the run of the program as an activation."""
        return Activation(self.tool, (self.argv,), self.reason)

    @property
    def programs(self) -> tuple[str, ...]:
        return self.argv[:1]


@published("tool", "argv", "commands", "reason", "state", "changes")
class Activation(NamedTuple):
    """A derived step. It has no undo and runs again after a rollback. `commands` are run one after another.
    There are none if the step is our `own` work, done by the backend named `tool`.

    `outputs` are files that the tool writes and that are small enough to be saved, so that a rollback can
    restore them if the tool itself is broken. `scratch` are its temporary files, which it leaves behind when
    it fails. `writes_at` are files or folders on each file system that it writes to, which are synced
    afterwards. `images` are outputs that are too large for `outputs`, and are copied before the run if there
    is space. For the `state` SKIPPED, `reason` says why. `changes` are shown to the user: the effect of `own`
    work on the present files, which may be different when it is done.
    """

    tool: str
    commands: tuple[tuple[str, ...], ...]
    reason: str
    outputs: tuple[str, ...] = ()
    state: ActivationState = ActivationState.PLANNED
    scratch: tuple[str, ...] = ()
    writes_at: tuple[str, ...] = ()
    own: bool = False
    changes: tuple[FileChange, ...] = ()
    images: tuple[str, ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """Return the first command, which is the only one of most steps."""
        return self.commands[0] if self.commands else ()

    @property
    def programs(self) -> tuple[str, ...]:
        """Return the names of the programs that are run, once each, without `env`, which only sets a
        variable."""
        words = ([word for word in argv if word != "env" and "=" not in word] for argv in self.commands)
        return tuple(dict.fromkeys(first for first, *_ in words))

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the commands as a user types them."""
        return tuple(map(shlex.join, self.commands))


def left_to_user(steps: Iterable[Activation]) -> list[str]:
    """Return the names of the programs that could not be run."""
    return [step.tool for step in steps if step.state is ActivationState.LEFT_TO_USER]


class CommandLine(NamedTuple):
    """The boot loader's kernel command line before and after, for display."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def marked(self) -> list[tuple[str, str]]:
        """Return the arguments in order, each with " " (kept), "-" (removed) or "+" (added)."""
        import difflib

        words: list[tuple[str, str]] = []
        matcher = difflib.SequenceMatcher(a=self.before, b=self.after, autojunk=False)
        for tag, a1, a2, b1, b2 in matcher.get_opcodes():
            words += [(" " if tag == "equal" else "-", word) for word in self.before[a1:a2]]
            words += [("+", word) for word in self.after[b1:b2] if tag != "equal"]
        return words


class RowOutcome(str, Enum):
    """The outcome of a setting. ADOPTED: the user's own argument has the same value. OVERRIDDEN: a foreign
    value wins."""

    APPLIED = "applied"
    ADOPTED = "adopted"
    OVERRIDDEN = "overridden"


@published(
    "setting: setting=id value=text parameter target=channel",
    "outcome current source",
    "setting: because decision evidence cost confidence location",
)
class SettingRow(NamedTuple):
    """One line of the table of settings."""

    setting: DesiredSetting
    current: str | None
    source: str
    outcome: RowOutcome


class Plan(NamedTuple):
    """A plan. `by_hand` are settings that the user must make, since no program here does. `may_try`: the boot
    loader can pass the new arguments to one boot only."""

    profiles: tuple[str, ...]
    changes: tuple[FileChange, ...]
    activations: tuple[Activation, ...]
    rows: tuple[SettingRow, ...]
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]
    command_line: CommandLine | None
    reboot_required: bool
    boot_backend: str
    tools: tuple[ToolChange, ...] = ()
    by_hand: tuple[DesiredSetting, ...] = ()
    may_try: bool = False

    @property
    def settings(self) -> tuple[DesiredSetting, ...]:
        return tuple(row.setting for row in self.rows)

    @property
    def empty(self) -> bool:
        return not self.changes and not self.due and not self.tools

    @property
    def due(self) -> tuple[Activation, ...]:
        """Return the activations that are not skipped."""
        return tuple(a for a in self.activations if a.state is not ActivationState.SKIPPED)
