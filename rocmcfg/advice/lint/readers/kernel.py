"""Read command lines of the kernel, entries of boot loaders, and modprobe.d.

`loaders.shared.grub_files.mkconfig` reads the entries that will boot; this reader needs the place of every
argument, in any file that looks like such an entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from os.path import basename

from rocmcfg.advice.lint.assignment import Reading, Trust, Unread, What, Where
from rocmcfg.advice.lint.kinds import DIRECTIVES
from rocmcfg.advice.lint.remark import warning
from rocmcfg.advice.lint.source import Span, joined
from rocmcfg.files import modprobe
from rocmcfg.judging import names
from rocmcfg.knowledge import catalogue
from rocmcfg.loaders.shared.grub_files import script
from rocmcfg.model.diagnostic import Severity
from rocmcfg.model.kargs import Karg, canonical, tokens
from rocmcfg.model.regex import regex

_OPTIONS = regex(r"""[ \t]*options[ \t]+(?:"([^"\n]*)"[ \t]*$|'([^'\n]*)'[ \t]*$|(.*))""")
# Keys that only GRUB reads, and variables that only GRUB expands (grub-core/commands/blscfg.c, tuned)
_OF_BLSCFG = regex(
    r"^[ \t]*grub_(?:users|class|arg|hotkey)[ \t]|^options[^\n]*\$(?:kernelopts|tuned_params)\b", re.M
)
_OF_LIMINES_ENTRY = regex(r"[ \t]*(?:kernel_)?cmdline[ \t]*:[ \t]*(.*)", re.IGNORECASE)  # limine.conf
_FIRST_CMDLINE = "It reads the first `kernel_cmdline` of an entry, or without one the first `cmdline`."
# Each line is an entry of its own, with its arguments in the group.
_ENTRIES = (
    # GRUB; under Xen the kernel is its first module
    regex(r"[ \t]*(?:linux(?:16|efi)?|module2?)[ \t]+(?:\S*vmlinu\S*|\S*[kK]ernel\S*|/\S+)[ \t]*(.*)"),
    regex(r"[ \t]*set[ \t]+(?:default_)?kernelopts=[\"']?(.*?)[\"']?$"),
    _OF_LIMINES_ENTRY,
)
_TITLED = regex(r'[ \t]*("[^"\n]*"|[^\s"#]+)[ \t]+"([^"\n]*)"')  # a title before them: refind_linux.conf
# The title of the entry whose lines follow: of GRUB and rEFInd, of an entry in a file of its own.
_TITLE = regex(r"[ \t]*(?:menuentry|title)[ \t]+(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^\s{][^{\n]*))")
_OF_LIMINE = regex(r"[ \t]*(/+|:+)\+?[ \t]*([^\s/:].*)")  # a title for each level: `/System`, `//Kernel`
# Expansions of a shell: a blank in them separates no arguments, and the output of a command is unknown.
_EXPANDED = regex(r"\$\{[^{}\s]*[ \t][^{}\n]*\}|\$\((?:[^()\n]|\([^()\n]*\))*\)|`[^`\n]*`")
_ARGUMENT = regex(r"[\w.:/@%{}$+-]+|[\w.,:/@%{}$()\[\]+-]+=\S*")
_OF_PATTERNS = frozenset("[(\\^*")  # signs of what looks for a value
_NOTHING = regex(r"/(?:false|true)\b")  # in place of a module
_SOURCE = ("modprobe.d(5)",)
_NEXT_ARG = ("kernel lib/cmdline.c (next_arg)",)
_PARSE_ARGS = ("kernel kernel/params.c (parse_args)", "kernel kernel/module/main.c (load_module)")
_SCRIPT = ("GRUB grub-core/script/yylex.l",)


def read_arguments(
    piece: Span,
    out: Reading,
    where: Where,
    statement: tuple[int, int] | None = None,
    *,
    by_grub: bool = False,
    whole: bool = False,
) -> None:
    """Read the arguments of a kernel command line. After `--` come arguments for init, but kmod reads module
    parameters there, too (libkmod-config.c). `by_grub`: the text becomes part of a GRUB script, which removes
    a level of quotes first. `whole`: it is a whole command line, with the quotes that the kernel sees."""
    for_init, where = False, where._replace(listed=piece.at(0))
    if not where.scope and where.once < 0:
        where = where._replace(once=piece.place[1])
    text = _EXPANDED.sub(lambda match: "$" * len(match[0]), piece.text)
    by_grub = by_grub and "$$" not in text and "`" not in text  # the text that a shell inserts is unknown
    as_kernel = whole and where.trust is Trust.FILE
    if by_grub:
        words = list(_words_of_grub(text))
    else:
        words = [(word, at, word) for word, at in tokens(text)] if as_kernel else list(_unquoted(text))
    before = len(out.assignments)
    for token, start, read in words:
        argument = Karg(read)
        name, stop = argument.name.strip('"'), start + len(token)
        for_init = for_init or (argument.name == "--" and argument.value is None)
        span = piece.cut(start, stop)
        if as_kernel and _slipped(span, argument, out):
            continue
        read_as = argument.value if by_grub or whole else None
        if parameter := names.split_parameter(name):
            out.add(
                What.PARAMETER,
                span,
                name=".".join(parameter),
                where=where,
                statement=statement,
                read_as=read_as,
                quotes="\"'" if by_grub else '"',
            )
        elif not for_init and names.concerns_argument(name):
            out.add(What.ARGUMENT, span, where=where, statement=statement, read_as=read_as)
        elif "=" in token and name.isupper() and names.concerns(name):
            out.add(What.VARIABLE, span, where=where, statement=statement, quotes="\"'")
    if by_grub and where.trust is Trust.FILE and (problem := script.command(text)).problem:
        summary = f"{problem.problem}: the kernel gets nothing that follows"
        why = "GRUB reads the arguments as a line of a script."
        rest = piece.cut(problem.at, len(piece.text.rstrip()) or problem.at + 1)
        out.slip(rest, warning("RC7118", summary, why, sources=_SCRIPT))
    out.only_if_all(before, len(words))


def _slipped(span: Span, argument: Karg, out: Reading) -> bool:
    """Return whether misplaced quotes change an argument; add a slip if they do."""
    name = argument.name.strip('"')
    concerns = names.split_parameter(name) or names.concerns_argument(name)
    if argument.name.endswith('"') and argument.value is not None and concerns:
        summary = f"the quote after {name} is part of the name, and the kernel does not know that name"
        plain = span.text.partition("=")[0].strip('"')
        out.slip(span, warning("RC7118", summary, literal=f"{plain}={argument.value}", sources=_NEXT_ARG))
        return True
    inside = span.text[1:-1] if span.text[:1] == span.text[-1:] == '"' and "=" in span.text else ""
    if any(names.split_parameter(Karg(word).name) for word, at in tokens(inside) if at):
        summary = "the quotes make one argument of several, and the kernel does not know it"
        out.slip(span, warning("RC7118", summary, literal=inside.strip(), sources=_NEXT_ARG))
        return True
    if argument.leaves_quote_open:
        summary = "a quote is not closed: everything that follows becomes part of this argument"
        why = "Arguments added after it are lost, and change this value."
        out.slip(span, warning("RC7118", summary, why, sources=_NEXT_ARG))
    return False


def _words_of_grub(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield each word as it is written, its offset, and the word as the kernel gets it, without quotes around
    the whole word."""
    for word in script.command(text).words:
        start, stop = word.start, word.stop
        if stop - start > 2 and text[start] in "\"'" and text[start + 1 : stop - 1] == word.text:
            start, stop = start + 1, stop - 1
        read = script.written(word.text)  # of several arguments in it, the first one is at this place
        yield text[start:stop], start, next((token for token, _ in tokens(read)), read)


def _unquoted(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield tokens, also those of a list that is quoted as a whole: no argument that lint knows has a
    blank."""
    for token, start in tokens(text):
        if token[:1] == token[-1:] == '"' and " " in token:
            yield from ((inner, start + 1 + at, inner) for inner, at in tokens(token[1:-1]))
        else:
            yield token, start, token


def is_command_line(text: str) -> bool:
    """Say whether a string is a kernel command line: nothing but words as arguments are, one of them a
    parameter of a module of ours or a known argument, with a value."""
    words = [word for word, _ in tokens(text)]
    if not all(_ARGUMENT.fullmatch(word.strip("\"'")) for word in words):
        return False
    return any(_is_argument(word.strip("\"'"), alone=len(words) == 1) for word in words)


def holds_arguments(text: str) -> bool:
    """Return whether one of some words is a module's parameter with a value."""
    return "=" in text and any(
        names.split_parameter(part) or names.misspelt_parameter(part)
        for word, _ in tokens(text)
        if not word.endswith("=")
        for part in word.split("=")[:-1]
    )


def _is_argument(word: str, *, alone: bool) -> bool:
    name, equals, value = word.partition("=")
    if not _OF_PATTERNS.isdisjoint(value):
        return False
    if names.split_parameter(name) or names.misspelt_parameter(name):
        return bool(equals and value)
    argument = names.argument(name)
    if argument is None or (alone and not ("." in name or "_" in name or argument.distinct)):
        return False
    return bool(value) or (not equals and argument.distinct and argument.flag)


def read_cmdline(piece: Span, out: Reading, where: Where) -> None:
    """Read a file of arguments, on one or more lines, with comments that begin with `#`. In an example each
    line may be another command line."""
    where = where._replace(once=-1)
    for line in piece.lines():
        if not line.text.lstrip().startswith("#"):
            read_arguments(line, out, where, whole=True)
            if where.for_entries:
                _ended_by_grub(line, out, "an entry made of this line", certain=False)


def read_entries(piece: Span, out: Reading, where: Where, *, titled: bool = True) -> None:
    """Read the menus and entries of all boot loaders. Several `options` lines add up, but in an example each
    may belong to another entry. `titled`: lines may consist of a title and its arguments; in GRUB's menu such
    lines would look like commands."""
    where = where._replace(once=-1)
    by_blscfg = _OF_BLSCFG.search(piece.text) is not None
    entries = (*_ENTRIES, _TITLED) if titled else _ENTRIES
    levels: list[str] = []
    limine = _Limine()
    # of all these files only GRUB's menus have continued lines
    continued = not titled or where.trust is not Trust.FILE
    for number, line in enumerate(piece.logical_lines() if continued else piece.lines()):
        if match := _TITLE.match(line.text):
            where = where._replace(title=match[match.lastindex or 0].strip())
        elif titled and (match := _OF_LIMINE.match(line.text)):
            levels[len(match[1]) - 1 :] = [match[2].strip()]
            limine = _Limine()
            where = where._replace(title=" ".join(levels))
        elif match := _OPTIONS.match(line.text):
            options = line.cut(*match.span(match.lastindex or 0))
            read_arguments(options, out, where, whole=True)
            if match[3] and where.trust is Trust.FILE:
                _ended_by_grub(options, out, "this entry", certain=by_blscfg)
        elif match := next(filter(None, (entry.match(line.text) for entry in entries)), None):
            by_grub, own_title = _ENTRIES[0].match(line.text) is not None, match.lastindex == 2
            entry = where._replace(
                scope=where.scope and f"{where.scope} entry {number}",
                title=match[1].strip('"') if own_title else where.title,
            )
            arguments = line.cut(*match.span(match.lastindex or 0))
            before = len(out.assignments)
            read_arguments(arguments, out, entry, by_grub=by_grub, whole=True)
            if titled and where.scope and _OF_LIMINES_ENTRY.match(line.text):
                limine.take(line, range(before, len(out.assignments)), out)


class _Limine:
    """The command lines of an entry of Limine (common/menu.c, `boot`): it reads the first `kernel_cmdline`,
    or without one the first `cmdline`."""

    def __init__(self) -> None:
        self.counts: tuple[str, Span, range] | None = None

    def take(self, line: Span, numbers: range, out: Reading) -> None:
        key = line.text.partition(":")[0].strip().lower()
        before, loses = self.counts, numbers
        if before is None or before[0] < key == "kernel_cmdline":
            loses = before[2] if before is not None else range(0)
            self.counts = key, line, numbers
        winner = self.counts[1] if self.counts is not None else line
        for number in loses:
            unread = Unread(winner.at(0), "Limine reads another line of the entry", _FIRST_CMDLINE)
            each = out.assignments[number]
            out.assignments[number] = each._replace(unread=unread, where=each.where._replace(scope=""))


def _ended_by_grub(options: Span, out: Reading, entry: str, *, certain: bool) -> None:
    """Report a character in an entry's options that ends the command which GRUB's blscfg makes of them.
    systemd-boot also reads entries and passes that character on: if no other line shows which of them reads
    the entry, the report is a note."""
    problem = script.command(options.text)
    if problem.problem and options.text[problem.at] != '"':  # an open quote is a slip for every reader
        whose = "GRUB reads" if certain else f"If GRUB, not systemd-boot, reads {entry} (blscfg), it reads"
        summary = f"{problem.problem} if GRUB reads {entry}: the kernel gets nothing that follows"
        why = f"{whose} the options as a line of a script, and runs the text after a semicolon."
        rest = options.cut(problem.at, len(options.text.rstrip()) or problem.at + 1)
        remark = warning("RC7118", summary, why, sources=_SCRIPT)
        out.slip(rest, remark if certain else remark._replace(severity=Severity.INFO))


def read_modprobe(piece: Span, out: Reading, where: Where) -> None:
    # kmod joins continued lines before it looks for a comment (freadline_wrapped in shared/util.c)
    by_kmod = where.trust is Trust.FILE
    for line in _without_backslashes(piece).lines() if by_kmod else piece.logical_lines():
        if not line.text.lstrip().startswith("#"):
            read_options_line(line, out, where)


def _without_backslashes(piece: Span) -> Span:
    parts, at = [], 0
    for match in modprobe.ESCAPED.finditer(piece.text):
        parts.append(piece.cut(at, match.start()))
        at = match.end() if match[1] == "\n" else match.start(1)
    return joined([*parts, piece.cut(at)])


def read_options_line(line: Span, out: Reading, where: Where) -> None:
    words = tokens(_EXPANDED.sub(lambda match: "$" * len(match[0]), line.text))
    if len(words) < 2:
        return
    (directive, at), (subject, subject_at) = words[:2]
    first, second = line.cut(at, at + len(directive)), line.cut(subject_at, subject_at + len(subject))
    near = names.nearest(directive, DIRECTIVES, 1) if directive not in DIRECTIVES else directive
    module = near_module(subject, [word for word, _ in words[2:]])
    if directive == "options" and names.split_parameter(subject.partition("=")[0]):
        summary = "kmod requires a blank between module and parameter, and ignores this line"
        out.slip(second, warning("RC7118", summary, literal=subject.replace(".", " ", 1), sources=_SOURCE))
        return
    if near != directive and near and module:
        summary = f"modprobe.d has no directive {directive!r}"
        why = "kmod ignores the line."
        out.slip(first, warning("RC7118", summary, why, literal=near, sources=_SOURCE))
    if near == "options" and module and module != canonical(subject):
        summary, why = f"there is no module {subject}; nothing reads its options", f"The module is {module}."
        out.slip(second, warning("RC7102", summary, why, literal=module, sources=_SOURCE))
    kept_out = directive == "blacklist" or (directive == "install" and _NOTHING.search(line.text))
    if module == "amdgpu" and kept_out:
        summary = "this keeps amdgpu from loading automatically"
        why = "The screen and ROCm need the driver; this is right only if a virtual machine gets the GPU."
        whole = line.cut(at, len(line.text.rstrip()))
        out.slip(whole, warning("RC7109", summary, why, literal="", sources=_SOURCE))
    elif near == "options" and module:
        read_options(line, module, words[2:], out, where)


def near_module(name: str, words: list[str]) -> str:
    """Return the known module of that name, or the one that a misspelt name means, which has one of the
    parameters in `words`; empty if there is none."""
    module = canonical(name) if canonical(name) in names.modules() else names.near_module(name)
    if module == canonical(name):
        return module
    parameters = catalogue.load().parameters
    ids = (f"{module}.{canonical(word.partition('=')[0])}" for word in words)
    return module if any(id in parameters for id in ids) else ""


def read_options(line: Span, module: str, words: list[tuple[str, int]], out: Reading, where: Where) -> None:
    """Read the parameters after a module's name, also after `modprobe` or `insmod`."""
    statement, where = line.place, where._replace(listed=line.at(0))
    for word, start in words:
        if word.startswith("#"):
            if where.trust is Trust.FILE:
                summary = "no comment is possible here: kmod passes its words to the module as parameters"
                rest = line.cut(start, len(line.text.rstrip()))
                out.slip(rest, warning("RC7118", summary, literal="", sources=_SOURCE))
            break
        token = line.cut(start, start + len(word))
        argument = Karg(f'"{module}.{word[1:]}' if word.startswith('"') else f"{module}.{word}")
        if Karg(word).name == "--":
            if where.trust is Trust.FILE:
                summary = f"the kernel drops everything after this “--”, and every later option of {module}"
                out.slip(token, warning("RC7118", summary, literal="", sources=_PARSE_ARGS))
            break
        if where.trust is Trust.FILE and _slipped(token, argument, out):
            continue
        name = canonical(argument.name.strip('"'))
        read_as = argument.value if where.trust is Trust.FILE else None
        out.add(
            What.PARAMETER,
            token,
            name=name,
            dotted=False,
            where=where,
            statement=statement,
            read_as=read_as,
        )


def read_command(words: Sequence[Span], out: Reading, where: Where) -> None:
    """Read `modprobe amdgpu runpm=0` or `insmod ./amdgpu.ko runpm=0`; with -r nothing is set."""
    rest = [word for word in words if not word.text.startswith("-")]
    module = canonical(basename(rest[0].text).partition(".ko")[0]) if rest else ""
    if module in names.modules() and not {"-r", "--remove"} & {word.text for word in words}:
        for word in rest[1:]:
            read_options(word, module, [(word.text, 0)], out, where)
