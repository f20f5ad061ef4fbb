"""Read shell scripts and profiles: find what their commands set in the environment, in files and in the
kernel.

GRUB's defaults are shell scripts, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from os.path import basename

from rocmcfg.advice.lint.assignment import Reading, Trust, Unread, What, Where
from rocmcfg.advice.lint.readers import kernel, lines, spaced
from rocmcfg.advice.lint.readers.reach import Fate, Reach
from rocmcfg.advice.lint.readers.words import Command, add_word, has_lines
from rocmcfg.advice.lint.readers.words import commands as split_commands
from rocmcfg.advice.lint.readers.written import printed_text, read_sed, write_parameters
from rocmcfg.advice.lint.remark import warning
from rocmcfg.advice.lint.source import Span, joined
from rocmcfg.judging import names
from rocmcfg.model.regex import regex

_ASSIGNMENT = regex(r"([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=")
# Variables whose value is a kernel command line: of GRUB, Limine, dracut, sdboot-manage. Those for Xen itself
# are not.
_COMMAND_LINE = regex(
    r"^(?!.*XEN(?!_REPLACE))\w*cmdline(?:_\w*)?$|^LINUX_(?:FALLBACK_)?OPTIONS$", re.IGNORECASE
)
_KEYWORD = regex(r"then|do|else|elif|if|while|until|!|\{|time|begin|and|or|not")
_BEFORE_COMMAND = regex(r"sudo|doas|env|nohup|exec|command|builtin|nice|setsid|stdbuf|xargs")
_DECLARE = {"export", "declare", "typeset", "readonly", "local"}
# 10_linux passes the kernel the first and then the second, and a recovery entry only the first
# (GRUB's util/grub.d/10_linux.in), whichever comes first in the file.
_TOGETHER = ("GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT")
# Their programs read or write the value line by line.
_ON_ONE_LINE = regex(r"LINUX_(?:FALLBACK_)?OPTIONS$|KERNEL_CMDLINE\[")
_SWALLOWED = regex(r"\n[ \t]*(?:export[ \t]+)?GRUB_\w+=")
# These commands search for, show or unset their arguments, and set nothing.
_SETS_NOTHING = regex(r"cat|[ef]?grep|rg|ag|:|true|false|test|\[\[?|awk|case|unset|modinfo|dmesg")
# Functions that take settings away, or show a message.
_TAKES_AWAY = regex(r"(?:.*[_-])?(?:remove|delete|unset|drop|purge|del|rm)(?:[_-].*)?", re.IGNORECASE)
_SHOWS = regex(
    r"(?:.*[_-])?(?:msg|message|log|info|warn|warning|error|err|die|fail|ok|success|note|notice|debug|say|print"
    r"|header|title|step|status|ask|confirm)(?:[_-].*)?",
    re.IGNORECASE,
)
# Variables that hold options or a command, and patterns, which look for any value.
_HELD = regex(r"(?:-\S|(?:env|docker|podman|mpirun|srun|sudo|exec)\s|[A-Za-z_]\w*=\S)\S*\s")
_SCRIPT = regex(r"(?:\w*_)?(?:cmd|command)", re.IGNORECASE)
_LOOKED_FOR = regex(r"=\\?[\[(.]|\.\*")
_REPORT = regex(r"^/dev/|(?:log|result|report)[^/]*$", re.IGNORECASE)  # a file of what a script has to say
_JOB = regex(r"#(?:SBATCH|PBS|BSUB)[ \t]")  # a comment to the shell, options to whoever runs the job
# Tools that add arguments to a kernel command line, and the options behind which those stand.
_BOOT_TOOLS = regex(
    r"grubby|kernelstub|rpm-ostree|bootc|efibootmgr|kexec|grub2?-editenv|qemu-system-x86_64|ukify"
)
_ADDS = regex(
    r"-[aou@]|--(?:args|(?:add-)?options|append(?:-if-missing)?|replace|unicode|command-line|cmdline)|-append"
    r"|kernelopts"
)
_REMOVES = regex(r"-d|--(?:remove|delete)[\w-]*")
_OLD_VALUE = regex(r"[\w.-]+=([^=\s]+=)[^=\s]+")  # rpm-ostree kargs --replace=KEY=OLD=NEW
_HANDS_ON = regex(
    r"-[eEx]|--(?:set)?env"
)  # options of docker, systemd-run, mpirun: a variable is behind them
_DEPTH = 4  # scripts in scripts


def read(piece: Span, out: Reading, where: Where, *, sourced: bool = False) -> None:
    """Read a script; `sourced`: another shell reads it, and it is not a program of its own."""
    # in an example `exit` may leave a shell that a command above began
    reach = Reach(piece.text, sourced=sourced, ends=where.trust is Trust.FILE)
    waiting: list[Span] = []  # the output of the command before, in a pipe
    filled: dict[str, list[int]] = {}
    groups: list[list[Span]] = []
    for line in piece.lines() if "#" in piece.text else ():
        if job := _JOB.match(line.text):
            lines.read_tokens(line.cut(job.end()), out, where)
    for command in split_commands(piece):
        if (fate := reach.take(command)) is not Fate.MAY_RUN:
            _read_unreached(piece, command, out, where, reach.end if fate is Fate.BEHIND else -1)
            continue
        reader = _Reader(piece, out, where, command, waiting, filled, groups)
        printed = reader.run()
        waiting = printed if command.piped else []
        if where.once >= 0 and not reader.only_sets:  # a variable set after a command is too late for it
            where = where._replace(once=reader.mark + 1)
    out.passed += [text.place for group in groups for text in group]


def _read_unreached(piece: Span, command: Command, out: Reading, where: Where, end: int) -> None:
    """Read a command that never runs. What its author has switched off is no setting; what stands behind the
    end of the script, at the offset `end`, is one without effect."""
    if end >= 0:
        apart = Reading()
        _Reader(piece, apart, where._replace(scope=""), command, [], {}, []).run()
        unread = Unread(piece.at(end), "the script ends before it", "No shell reads what follows.")
        out.assignments += [each._replace(unread=unread) for each in apart.assignments]
    parts = (*command.words, *command.targets, *command.documents)
    out.passed += [piece.cut(part.start, part.stop).place for part in parts]


class _Reader:
    """One command. `waiting` is what a pipe brings to its input; `filled` are the command lines that
    variables of this file hold, as numbers of the assignments found; `groups` are what the commands in the
    braces around this one have printed so far."""

    def __init__(
        self,
        piece: Span,
        out: Reading,
        where: Where,
        command: Command,
        waiting: list[Span],
        filled: dict[str, list[int]],
        groups: list[list[Span]],
    ) -> None:
        self.piece, self.out, self.where, self.command, self.filled = piece, out, where, command, filled
        self.groups = groups
        self.mark = piece.at([*command.words, *command.targets, *command.documents][0].start)
        self.alone = where._replace(scope="", once=self.mark)
        self.only_sets = False
        self.words = [word.span(piece) for word in command.words]
        self.input = waiting + [word.span(piece) for word in command.documents]
        self.targets = [word.span(piece) for word in command.targets]

    def run(self) -> list[Span]:
        """Read the command, and return its output, as far as its words show it."""
        if len(self.words) == len(self.targets) == 0 and not self.input:
            return []
        for span in self.words:
            lines.read_paths(span, self.out, self.where)
        first = self.words[0].text if self.words else ""
        if first == "{":
            self.groups.append([])
        elif first == "}" and self.groups:
            return self._end_group(self.groups.pop())
        raw = [self.piece.cut(word.start, word.stop) for word in self.command.words]
        if first in _DECLARE or self.where.scope or self.piece.text.startswith("#!"):  # surely of a shell
            spaced.read_command(raw, self.out, declares=first in _DECLARE)
        at = self._assignments()
        name = basename(self.words[at].text) if at < len(self.words) else ""
        # an example may have lines of modprobe.d and kernel arguments among its commands
        self.only_sets = self.command.depth == 0 and (name in ("", "options") or "=" in name)
        rest = self.words[at + 1 :]
        printed = self.input
        if name in ("echo", "printf"):
            escapes = name == "printf" or any(word.text == "-e" for word in rest)
            printed = [printed_text(rest, escapes=escapes)]
        elif name == "tee":
            self.targets += [word for word in rest if not word.text.startswith("-")]
        elif name == "unset":
            self._unset(rest)
        elif _SETS_NOTHING.fullmatch(name) or _TAKES_AWAY.fullmatch(name) or _SHOWS.fullmatch(name):
            self._pass_over(rest)
        else:
            self._command(name, at)
        if name in ("echo", "printf", "cat") and not self.targets and not self.command.piped:
            self._show(printed, rest)
        self._write(printed, name)
        return printed

    def _show(self, printed: list[Span], words: Sequence[Span]) -> None:
        """What goes to the output of the script is for somebody to read, but in a group that has another."""
        if self.groups:
            self.groups[-1] += printed
        elif self.where.prints and self.where.depth < _DEPTH:
            for text in printed:
                read(text, self.out, self.where.inside(scope="", once=text.at(0), prints=False))
        else:
            self._pass_over([*words, *printed])

    def _end_group(self, printed: list[Span]) -> list[Span]:
        """Write what the commands in braces have printed, each on lines of its own."""
        ends = (Span("\n", ((0, text.place[1]),)) for text in printed)
        text = joined(part for pair in zip(printed, ends, strict=True) for part in pair)
        if self.targets and printed:
            self._write([text], "")
        elif not self.command.piped:
            self._show(printed, printed)
        return [text] if printed else []

    def _pass_over(self, words: Sequence[Span]) -> None:
        self.out.passed += [word.place for word in words]

    def _unset(self, words: Sequence[Span]) -> None:
        self._pass_over(words)
        for name in [word.text for word in words] if self._surely_in_file() else ():
            self.out.drop_variables(self.mark, name)
            self.out.drop(self.filled.get(name, ()), self.mark)
            self.out.anew.add(name)

    def _surely_in_file(self) -> bool:
        """Return whether the command is run whenever the file is read as a whole."""
        in_file = self.where.scope and self.where.trust is Trust.FILE and not self.where.depth
        return bool(in_file) and not self._depends()

    def _depends(self) -> bool:
        """Return whether the command is run only if another one lets it, or in a subshell."""
        return bool(self.command.depth) or self.command.follows in "(&|"

    def _assignments(self) -> int:
        """Read the assignments before a command's name, after `export`, `sudo` and `env`; return the index of
        the name."""
        at, declared = 0, False
        assignments: list[tuple[int, re.Match[str], bool, Where]] = []
        while at < len(self.words) and _KEYWORD.fullmatch(self.words[at].text):
            at += 1
        while at < len(self.words):
            text = self.words[at].text
            if assigned := _ASSIGNMENT.match(text):
                assignments.append((at, assigned, declared, self.alone))
            elif _BEFORE_COMMAND.fullmatch(basename(text)) or text in _DECLARE or (declared and text):
                declared = declared or text in _DECLARE
                self.alone = self.alone._replace(once=self.words[at].at(0))  # sudo passes no variables on
            elif not (text.startswith("-") and at > 0):
                break
            at += 1
        # a command without a name is removed with its last assignment, if no other command depends on it
        bare = at == len(self.words) and all(names.concerns(assigned[1]) for _, assigned, _, _ in assignments)
        goes = not bare or not self._depends()
        for number, assigned, declared, alone in assignments:
            self._assign(number, assigned, declared, alone._replace(removable=alone.removable and goes), bare)
        return at

    def _assign(self, at: int, match: re.Match[str], declared: bool, alone: Where, bare: bool) -> None:
        name, word = match[1], self.words[at]
        if _COMMAND_LINE.match(name):
            self._command_line(match.group().rstrip("+="), word, match)
        elif not names.concerns(name):
            if "XEN" not in name and kernel.is_command_line(word.text[match.end() :]):
                self._command_line(match.group().rstrip("+="), word, match)
            elif _SCRIPT.fullmatch(name) and " " in word.text and self.where.depth < _DEPTH:
                read(word.cut(match.end()), self.out, self.where.inside(scope="", once=-1))
            elif _HELD.match(word.text, match.end()) and not _LOOKED_FOR.search(word.text, match.end()):
                lines.read_tokens(word.cut(match.end()), self.out, alone)
            elif self.command.follows == "(" and kernel.is_command_line(word.text):  # an array
                kernel.read_arguments(word, self.out, alone)
        else:
            lasting = declared or len(self.words) == 1
            statement = self._range(0, len(self.words) - 1) if bare else None
            lasts = lasting and not self.command.depth and (self.where.scope or self._has_lines())
            where = self.where._replace(removable=alone.removable) if lasts else alone
            add_word(self.piece, self.command.words[at], self.out, where, statement)

    def _has_lines(self) -> bool:
        return self.where.once >= 0 and has_lines(self.piece.text, self.command)

    def _range(self, first: int, last: int) -> tuple[int, int]:
        """Return the range of some words, including the quote that closes the last one."""
        return self.words[first].at(0), self.piece.at(self.command.words[last].stop - 1) + 1

    def _command_line(self, name: str, word: Span, match: re.Match[str]) -> None:
        """Read a kernel command line in a variable. A second plain assignment of the variable replaces the
        first, whose arguments then have no effect."""
        out, value, end = self.out, match.end(), word.text.find("\n")
        if end >= 0 and self.where.scope and _ON_ONE_LINE.match(name):
            summary = f"a line break ends the value of {name}: no boot entry gets the text after it"
            out.slip(word.cut(end + 1), warning("RC7118", summary))
            word = word.cut(0, end)
        text = word.text
        itself = re.search(rf"\$(?:{re.escape(name)}(?!\w)|{{{re.escape(name)}\W)", text)
        adds = match.group().endswith("+=") or itself is not None
        called = match.group().rstrip("+=")  # with its index, as in KERNEL_CMDLINE[fallback]
        if self.command.depth or (self.where.scope and self._depends()):
            kernel.read_arguments(word.cut(value), out, self.alone._replace(title=called))
            return
        replaces = not adds and name in self.filled  # what was there, though it set nothing
        held = self.filled.setdefault(name, [])
        once = self.where.once
        if not self.where.scope and (once < 0 or name not in _TOGETHER or replaces):
            once = self.mark  # in an example, too: another boot gets it
        if not adds:
            for number in held:
                held_before = out.assignments[number]
                out.assignments[number] = held_before._replace(where=held_before.where._replace(scope=""))
            if self._surely_in_file():
                out.drop(held, self.mark)
            held.clear()
            out.anew.add(name)
        scope = self.where.scope if name in _TOGETHER else self.where.scope and f"{self.where.scope} {name}"
        later = _TOGETHER.index(name) if name in _TOGETHER else 0
        before = len(out.assignments)
        # `grub_defaults` reports misplaced quotes
        by_grub = name in _TOGETHER and not self.command.unclosed and not _SWALLOWED.search(text)
        if itself is not None:  # arguments before the old value are read before it
            turn = later, min((out.assignments[number].where.turn[1] for number in held), default=0) - 1
            first = self.where._replace(scope=scope, once=once, carrier=name, turn=turn, title=called)
            kernel.read_arguments(word.cut(value, itself.start()), out, first, by_grub=by_grub)
            value = itself.start()
        last = self.where._replace(scope=scope, once=once, carrier=name, turn=(later, 0), title=called)
        kernel.read_arguments(word.cut(value), out, last, by_grub=by_grub)
        held += range(before, len(out.assignments))

    def _command(self, name: str, at: int) -> None:
        rest = self.words[at + 1 :]
        if name == "options" and len(rest) > 1:
            first, last = self.command.words[at], self.command.words[-1]
            kernel.read_options_line(self.piece.cut(first.start, last.stop), self.out, self.where)
        elif name in ("modprobe", "insmod"):
            kernel.read_command(rest, self.out, self.where._replace(once=self.mark, part=True))
        elif name == "set":
            self._fish(rest)
        elif name == "setenv":  # of csh
            self._pair(rest)
        elif name == "sed":
            self._pass_over(rest)  # what it looks for; what it writes is read
            for word in rest:
                read_sed(word, self.out, self.where)
        elif _BOOT_TOOLS.fullmatch(name):
            self._boot_tool(at + 1)
        else:
            self._any_command(at)

    def _fish(self, rest: Sequence[Span]) -> None:
        """Read `set -gx NAME VALUE`; several values make a list."""
        exports = any(re.match(r"--export|-\w*x", word.text) for word in rest)
        if exports:
            self._pair([word for word in rest if not word.text.startswith("-")])

    def _pair(self, words: Sequence[Span]) -> None:
        """A name and its values, in words of their own."""
        if words[1:] and names.concerns(words[0].text):
            pair = joined([words[0], Span("=", ((0, words[0].place[1] - 1),)), words[1]])
            where = self.alone._replace(removable=not self._depends())
            whole, opaque = self._range(0, len(self.words) - 1), words[2:] != [] or not words[1].text
            end, add = whole[1], self.out.add
            add(What.VARIABLE, pair, where=where, statement=whole, written_to=end, quotes="", opaque=opaque)

    def _boot_tool(self, first: int) -> None:
        """Read the kernel arguments after the options of a boot tool; an option is removed together with its
        arguments."""
        for number, word in enumerate(self.words[first:], first):
            option, equals, _ = word.text.partition("=")
            if _REMOVES.fullmatch(option):
                self._pass_over(self.words[number : number + 2 - bool(equals)])
            behind = number > first and _ADDS.fullmatch(self.words[number - 1].text) is not None
            if behind or (equals and _ADDS.fullmatch(option)):
                arguments = word if behind else word.cut(len(option) + 1)
                given = self.words[number - 1].text if behind else option
                if given == "--replace" and (old := _OLD_VALUE.fullmatch(arguments.text)):
                    arguments = joined([arguments.cut(0, old.start(1)), arguments.cut(old.end(1))])
                statement = self._range(number - behind, number)
                kernel.read_arguments(arguments, self.out, self._given(word), statement)

    def _given(self, word: Span) -> Where:
        """Return the place of an option's argument: a command may have several such options, for several
        kernels or programs."""
        return self.where._replace(once=word.at(0), part=True)

    def _any_command(self, first: int) -> None:
        """Read an unknown command: kernel arguments among its words, and variables that are passed to it."""
        words = self.words[first:]
        bare = [w for w in words if names.split_parameter(w.text.partition("=")[0]) and "=" in w.text]
        of_shell = self.words[first].text in ("trap", "eval") if words else False
        for number, word in enumerate(words, first):
            inside = 6 if word.text.startswith("--env=") else 0
            name, equals, _ = word.text[inside:].partition("=")
            before = self.words[number - 1].text if number > first else ""
            handed = bool(inside) or _HANDS_ON.fullmatch(before) is not None
            # `bash -c "A=b command"`, `ssh host "A=b command"`
            script = of_shell or re.fullmatch(r"-\w{0,2}c", before) or (names.concerns(name) and not handed)
            if script and " " in word.text and self.where.depth < _DEPTH:
                read(word, self.out, self.where.inside(scope="", once=-1))
            elif word.text.startswith("--export="):  # of Slurm, with others behind commas
                lines.read_tokens(word.cut(len("--export=")), self.out, self._given(word))
            elif bare and equals and not name.startswith("-") and not names.concerns(name):
                # without this word, an option before it would take the next one
                alone = self.alone._replace(removable=self.alone.removable and before[:1] != "-")
                kernel.read_arguments(word, self.out, alone)
            elif equals and before != "--build-arg" and names.concerns(name):
                goes = self._range(number - (not inside), number) if handed else None
                raw, alone = self.command.words[number], self._given(word)._replace(scope="")
                if handed and not inside and _HANDS_ON.fullmatch(self.words[number - 2].text):
                    alone = alone._replace(removable=False)  # the option before would take the next word
                add_word(self.piece, raw, self.out, alone, goes, inside)
            elif equals and re.search(r"[\s\"']", word.text):
                lines.read(word, self.out, self.alone)

    def _write(self, printed: list[Span], name: str) -> None:
        """Read texts that are written into a file, as the kind of that file."""
        from rocmcfg.advice.lint import readers

        if self.where.depth >= _DEPTH:
            return
        target = next((t.text for t in self.targets if not _REPORT.search(t.text)), "")
        written = [t for t in self.targets if "/parameters/" in t.text]
        for text in printed:
            inner = self.where.inside(scope="", once=text.at(0))
            if written:
                write_parameters(written, text, self.out, self.where)
            elif target:
                readers.read_as(target, text, self.out, inner)
            elif name in ("python", "python3", "sh", "bash", "ssh", "zsh"):
                readers.read_as(f"-.{'py' if name.startswith('python') else 'sh'}", text, self.out, inner)
            elif text in self.input and name != "tee" and not _SETS_NOTHING.fullmatch(name):
                # it is fed to a program, which reads some format
                readers.read_as("-", text, self.out, inner)
