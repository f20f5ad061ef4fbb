"""Print everything that commands print. Text fits the terminal. Colours and links go only to a terminal, and
nothing depends on a colour alone. With --json stdout carries one document and nothing else. A terminal gets
no control characters but rocmcfg's own: those in texts from a host or a profile are escaped."""

from __future__ import annotations

import json as json_module
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from rocmcfg.cli.terminal import LEAST, is_styled, linked, spelled, width, wrap, wrapped_at_end
from rocmcfg.cli.unseen import NOT_ASCII_TEXT, OURS, clean, shown_in_json
from rocmcfg.host.nowhere import open_nowhere
from rocmcfg.host.view import HostView, Locked
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, Severity, cut, error, unexpected
from rocmcfg.model.regex import regex
from rocmcfg.model.request import root_option
from rocmcfg.model.shape import encode

if TYPE_CHECKING:
    from rocmcfg.workflow.aftermath import Aftermath

SCHEMA_VERSION = 1
_NAME = 0.6  # of the width, at most, for a name with its text on the same line
_COLOURS = {"error": "31", "warning": "33", "info": "36", "good": "32", "bold": "1", "dim": "2"}
# The style of a word that is a cell of a table, the name of a row, or the part of a line before a colon.
_MEANS = {
    **dict.fromkeys(
        ("in effect", "rewritten by driver", "try now, no root", "permanent fix", "next"), "good"
    ),
    **dict.fromkeys(("pending", "pending reboot", "pending activation", "costs", "cost"), "warning"),
    **dict.fromkeys(
        ("drift", "not set", "overridden", "not in effect", "unknown parameter", "not loaded"), "error"
    ),
}
_gone: list[TextIO] = []  # streams that accepted no more text
_unwritten: list[TextIO] = []  # of these, the streams that failed for another reason than a closed pipe


def write(text: str) -> None:
    """Write to stdout. A reader that went away (head, a pager) or a full disk does not stop the command: an
    apply goes on, and its exit code does not change."""
    try:
        sys.stdout.write(linked(clean(text)))
    except OSError as problem:
        lost(problem)


def flush() -> None:
    try:
        sys.stdout.flush()
    except OSError as problem:
        lost(problem)


def complain(text: str, *, over: bool = False) -> bool:
    """Write to stderr, `over` the line of progress if there is one. Return False if it accepts no more
    text."""
    try:
        sys.stderr.write(("\r\x1b[K" if over else "") + clean(text))
        sys.stderr.flush()
    except OSError:
        _to_nobody(sys.stderr)
        return False
    return True


def _of_the_host() -> Sequence[Diagnostic]:
    """Return the diagnostics on the knowledge that a host adds, if it was loaded."""
    drop_ins = sys.modules.get("rocmcfg.knowledge.drop_ins")
    return drop_ins.problems() if drop_ins is not None else ()


def lost(problem: OSError) -> None:
    """Note that stdout accepts no more text, and discard everything that is still written to it."""
    _gone.append(sys.stdout)
    _to_nobody(sys.stdout)
    if not isinstance(problem, BrokenPipeError):
        _unwritten.append(sys.stdout)
        complain(f"cannot write the output: {problem.strerror or problem}\n")


def _to_nobody(stream: TextIO) -> None:
    # buffered text would fail again at exit, with a traceback
    nobody = open_nowhere()
    os.dup2(nobody, stream.fileno())
    os.close(nobody)


class Misuse(Exception):
    """A usage error: the command line is misspelt, its options exclude each other, or `option` does not
    accept the value. It is raised before anything was done."""

    def __init__(self, text: str, option: str = "", hint: str = "") -> None:
        super().__init__(f"Invalid value for '{option}': {text}" if option else text)
        self.hint = hint

    def diagnostic(self, hint: str) -> Diagnostic:
        """Return the diagnostic for the user, with this `hint` if the error has none of its own."""
        return error("RC0001", str(self), hint=self.hint or hint)


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


_FOR_A_HOST = regex(
    r"`((?:sudo )?rocmcfg (?:apply|confirm|crashes|doctor|env|explain|facts|history|issues|knowledge|lint"
    r"|plan|profile|recover|reject|render|report|rollback|status|take-over|verify)(?: [^`]*)?)`"
)
# A label and a command, which must stay in one piece for copying
_COMMAND = regex(r"([A-Z][a-z]+:) ((?:sudo )?rocmcfg [^`;,]*)")


class Printer:
    """Print the output of a command in the requested format. `root` is the root folder of the command's
    host."""

    def __init__(
        self, command: str, *, json: bool = False, quiet: bool = False, verbose: bool = False
    ) -> None:
        self.command, self.json, self.quiet, self.verbose = command, json, quiet, verbose
        self.root = "/"
        self.runs_tools = True  # the tools of that host
        self.identity: Mapping[str, str] = {}  # fields of the document that say which host this is, and when
        self.understood: Sequence[Diagnostic] = ()  # how the request was understood
        self.kept: list[str] | None = None  # collects the text instead of printing it
        self.exit_style = ""  # of the caller that gets an answer, whatever stops the command
        self._told: list[Diagnostic] = []  # the diagnostics that `problems` has printed
        self._progress_shown = self._begun = False
        self._aftermath: Callable[[ExitCode], Aftermath] | None = None

    @property
    def root_option(self) -> str:
        """The option that another command needs for the same host, with a blank before it."""
        return root_option(self.root)

    def for_host(self, command: str) -> str:
        """Return a command with the --root of this one, and with its --chroot if the command changes a
        host."""
        if "--root" in command or "--help" in command or not self.root_option:
            return command
        changes = re.search("rocmcfg (apply|recover|reject|rollback)(?!.* --chroot)", command)
        return f"{command}{self.root_option}{' --chroot' if self.runs_tools and changes else ''}"

    def may_change(self, host: HostView) -> None:
        """Note that from here on the command may change this host, so that an error reports the host's
        state."""
        from rocmcfg.workflow.aftermath import aftermath, on_record

        before = on_record(host)
        self._aftermath = lambda code: aftermath(host, before, code)

    def document(self, diagnostics: Sequence[Diagnostic], body: object = None) -> None:
        """Print the JSON document of the command, with the fields that the noun `body` publishes; nothing in
        text mode. The line of progress is removed, because the work is done."""
        self.end_progress()
        if not self.json:
            return
        write(self.as_json(diagnostics, body))

    def as_json(self, diagnostics: Sequence[Diagnostic], body: object = None) -> str:
        """Return the JSON document of the command."""
        document = {
            "schema_version": SCHEMA_VERSION,
            "command": self.command,
            **self.identity,
            "diagnostics": [
                {**encode(problem), "hint": self._hint(problem)}
                for problem in (*self.understood, *diagnostics, *_of_the_host())
            ],
            **(encode(body) or {}),
        }
        text = json_module.dumps(document, indent=1, ensure_ascii=False)
        return NOT_ASCII_TEXT.sub(shown_in_json, text) + "\n"

    @contextmanager
    def errors(self, *, debug: bool) -> Iterator[None]:
        """Turn every exception into diagnostics and an exit code. No traceback without --debug."""
        try:
            try:
                yield
            finally:
                self.problems(_of_the_host())
                flush()
            if sys.stdout in _unwritten and self._aftermath is None:  # the output was the whole purpose
                raise SystemExit(int(ExitCode.ERROR))
        except RocmcfgError as stop:
            if debug:
                raise
            self._stop(stop.diagnostics, stop.exit_code, began=not isinstance(stop, Locked))
        except KeyboardInterrupt:
            self._stop([], ExitCode.ERROR)
        except Misuse as misuse:
            self._stop([misuse.diagnostic(f"see `rocmcfg {self.command} --help`")], ExitCode.USAGE)
        except Exception as defect:
            if debug:
                raise
            self._stop([unexpected(defect)], ExitCode.ERROR)

    def _stop(self, causes: Sequence[Diagnostic], code: ExitCode, *, began: bool = True) -> None:
        """Print why the command stopped, and exit. `causes` is empty if a signal stopped it. `began` is False
        if the command did not get the lock, and so did nothing."""
        remarks: Sequence[Diagnostic] = ()
        outcome = ""
        if self._aftermath is not None and began:
            aftermath = self._aftermath(code)
            code, outcome, remarks = aftermath.code, aftermath.outcome.value, aftermath.remarks
        interrupted = "interrupted" + ("; nothing was changed" if outcome == "nothing_changed" else "")
        if not outcome:  # the command changes nothing, but may have met an interrupted transaction
            outcome = "recovery_required" if code is ExitCode.RECOVERY_REQUIRED else "nothing_changed"
        diagnostics = [*(causes or [error("RC9001", interrupted)]), *remarks]
        self.document(diagnostics, {"outcome": outcome})
        # when a command stops, remarks that ask for nothing are noise
        self.problems([d for d in diagnostics if d.severity is not Severity.INFO or self.verbose])
        if self.exit_style:
            from rocmcfg.advice.gate.answers import STYLES, answer

            if self.exit_style in STYLES:
                for_caller = answer(self.exit_style, None, diagnostics[0].summary)
                self.result(for_caller.line)
                raise SystemExit(for_caller.code)
        raise SystemExit(int(code))

    def _hint(self, of: Diagnostic) -> str:
        """Return the hint of a diagnostic, with its commands for the host of this command."""
        return _FOR_A_HOST.sub(lambda quoted: f"`{self.for_host(quoted[1])}`", of.hint)

    @property
    def _silent(self) -> bool:
        return self.json or self.quiet

    def line(self, text: str = "") -> None:
        """Print a line of ordinary output; nothing with --json or --quiet."""
        if not self._silent:
            self._begun = True
            label, colon, rest = text.partition(":")
            text = (self._meant(label + colon) + rest if colon else text) + "\n"
            write(text) if self.kept is None else self.kept.append(text)

    def result(self, text: str) -> None:
        """Print the text that a command exists to print (env, schema), also with --quiet."""
        if not self.json:
            write(text if text.endswith("\n") else text + "\n")

    def gap(self) -> None:
        """Print an empty line, unless nothing was printed before it."""
        if self._begun:
            self.line()

    def heading(self, text: str) -> None:
        self.gap()
        self.line("\n".join(self.paint(line, "bold") for line in wrap(text)))

    def wrapped(self, text: str, indent: str = "  ") -> None:
        for paragraph in () if self._silent else text.splitlines():
            if command := _COMMAND.fullmatch(paragraph):
                self.to_copy(f"{indent}{command[1]}", command[2])
            else:
                self.line("\n".join(wrap(paragraph, indent, indent)))

    def paragraph(self, text: str) -> None:
        """Print a paragraph whose further lines are indented."""
        indent = " " * (len(text) - len(text.lstrip()))
        self.line("\n".join(wrap(text.lstrip(), indent, indent + "  ")))

    def pairs(self, rows: Sequence[tuple[str, str]], indent: str = "  ") -> None:
        """Print names and texts in two columns, the texts wrapped. A name that leaves no room for a text is
        printed whole on its own line, so that a command can be copied."""
        rows = [(spelled(name, sys.stdout), text) for name, text in rows]
        most = int(_NAME * width(sys.stdout))
        column = max((len(name) for name, _ in rows if len(name) <= most), default=0) + 2
        for name, text in () if self._silent else rows:
            if len(name) > most:
                self.line(indent + name)
                self.wrapped(text, indent=indent + "    ")
                continue
            first = f"{indent}{name:<{column}}"
            lines = "\n".join(wrap(text, first, " " * len(first)) or [first.rstrip()])
            self.line(indent + self._meant(name) + lines[len(indent + name) :])

    def to_copy(self, label: str, command: str) -> None:
        """Print a label and a command to be copied. A command that is too long is continued with a
        backslash."""
        lines = [label]
        for part in re.split(r" (?=-)", command):
            if len(lines[-1]) + len(part) + 3 > width(sys.stdout) and lines[-1] != label:
                lines[-1] += " \\"
                lines.append("   ")
            lines[-1] += f" {part}"
        self.line("\n".join(lines))

    def facts(self, rows: Iterable[tuple[str, str]]) -> None:
        """Print pairs in columns of a fixed width; a name that equals the one before is not repeated."""
        last = ""
        for name, text in rows:
            self.pairs([(("" if name == last else name).ljust(7), text)])
            last = name

    def section(self, title: str, rows: Sequence[tuple[str, str]]) -> None:
        """Print pairs below a heading, if there are any."""
        if rows:
            self.heading(title)
            self.pairs(rows)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table. Columns are as wide as their longest cell. The last one is wrapped if that leaves
        room for the first one; else a first cell that leaves no room is printed on its own line. If the other
        columns alone are too wide, each row becomes a block."""
        rows = [[spelled(cut(cell.replace("\n", "\\n")), sys.stdout) for cell in row] for row in rows]
        widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
        left = width(sys.stdout) - sum(w + 2 for w in widths[:-1])
        if LEAST <= left < widths[-1]:
            rows, widths[-1] = [line for row in rows for line in wrapped_at_end(row, left)], left
        room = width(sys.stdout) - sum(w + 2 for w in widths[1:])
        if room < len(header[0]):
            for name, *cells in rows:
                self.line(self.paint(name, "bold"))
                self.pairs([(h.lower(), cell) for h, cell in zip(header[1:], cells, strict=True)])
            return
        widths[0] = min(widths[0], room)
        for at, (name, *cells) in enumerate((header, *rows)):
            last = max((i for i, cell in enumerate(cells) if cell), default=0)
            rest = "  ".join(
                self._meant(cell) + " " * (wide - len(cell) if i < last else 0)
                for i, (cell, wide) in enumerate(zip(cells[: last + 1], widths[1:], strict=False))
            )
            if len(name) > widths[0] + 1:
                self.line(name)
                name = ""  # noqa: PLW2901  # it has its own line
            text = f"{name:<{widths[0] + 2}}{rest}"
            self.line(self.paint(text, "dim") if at == 0 else text)

    def _meant(self, text: str) -> str:
        """Return a text in the colour of its meaning, if it has one in `_MEANS`."""
        style = _MEANS.get(text.strip(" :").lower())
        return self.paint(text, style) if style else text

    def diff(self, text: str) -> None:
        for line in text.rstrip("\n").split("\n"):
            colour = {"+": "good", "-": "error", "@": "info"}.get(line[:1], "")
            self.line(self.paint(line, colour) if colour else line)

    def problems(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Print errors and warnings to stderr, and remarks (info) unless quiet; each only once, and nothing
        with --json."""
        diagnostics = [] if self.json else [new for new in diagnostics if new not in self._told]
        self._told += diagnostics
        for at, diagnostic in enumerate(diagnostics):
            severity = diagnostic.severity.value
            if severity == "info" and self.quiet:
                continue
            label = f"{'note' if severity == 'info' else severity}[{diagnostic.id}]"
            lines = wrap(f"{label}: {diagnostic.summary}", "", "  ", sys.stderr)
            lines[0] = lines[0].replace(label, self.paint(label, severity, sys.stderr), 1)
            if diagnostic.location and diagnostic.location not in diagnostic.summary:
                lines.append(f"  at {diagnostic.location}")
            again = any((d.id, d.hint) == (diagnostic.id, diagnostic.hint) for d in diagnostics[at + 1 :])
            hint = "" if again else self._hint(diagnostic)  # shown once, with the last of them
            for text, prefix in ((diagnostic.detail, "  "), (hint, "  help: ")):
                for number, paragraph in enumerate(text.splitlines()):
                    first = prefix if number == 0 else " " * len(prefix)
                    lines += wrap(paragraph, first, " " * len(prefix), sys.stderr) or [""]
            flush()
            complain("\n".join(lines) + "\n")

    def aside(self, text: str) -> None:
        """Print a sentence on stderr among the output of another program; nothing for an empty text."""
        if text:
            complain("\n".join(wrap(f"rocmcfg: {text}", "", "  ", sys.stderr)) + "\n")

    def ask(self, question: str) -> bool:
        """Ask a yes-or-no question; the default is no. An end of input is a no, and so is a plan that could
        not be shown."""
        flush()
        if sys.stdout in _gone or not complain(f"{question} [y/N] "):
            return False
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def progress(self, text: str) -> None:
        """Show a line of progress, which overwrites the one before."""
        if not self._silent and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._progress_shown = True
            complain(text[: width(sys.stderr) - 1], over=True)

    def end_progress(self) -> None:
        if self._progress_shown:
            complain("", over=True)
            self._progress_shown = False

    def paint(self, text: str, style: str, stream: TextIO | None = None) -> str:
        on = is_styled(stream or sys.stdout)
        return f"\x1b{OURS}[{_COLOURS[style]}m{text}\x1b{OURS}[0m" if on else text
