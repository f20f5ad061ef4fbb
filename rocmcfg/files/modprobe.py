"""Write our one file in /etc/modprobe.d, and evaluate all files together by the rules of kmod (modprobe.d(5),
libkmod-config.c): among files with the same base name the first directory wins; files are read in the order
of their base names across directories; the last value in `options` wins, and the kernel command line
overrides all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from rocmcfg.files import templates
from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.edit import Moved
from rocmcfg.model.kargs import Karg, canonical, read_by_kernel, separator, split, tokens
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

PATH = "/etc/modprobe.d/zz-rocmcfg.conf"
SOURCES = "/etc/modprobe.d/*.conf"  # the files of the owner out of which lines can be moved
_DIRECTORIES = [f"{place}/modprobe.d" for place in ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib")]


class Options(NamedTuple):
    """The options that one line gives a module: their text, and its `file:line`."""

    module: str
    text: str
    source: str


def read_options(view: HostView, *, include_ours: bool = True) -> tuple[Karg, ...]:
    """Return all options of all modules in kmod's order, each in the form of the kernel command line:
    `module.name=value`. kmod joins the lines of a module with blanks between them, and the kernel drops the
    text after a `--`. Unreadable files are left out."""
    by_module: dict[str, list[Options]] = {}
    for line in lines(view, include_ours=include_ours):
        by_module.setdefault(line.module, []).append(line)
    return tuple(karg for given in by_module.values() for karg in read_by_kernel(_joined(given)))


def lines(view: HostView, *, include_ours: bool = True) -> tuple[Options, ...]:
    """Return the `options` lines of all files in kmod's order."""
    read = (path for path in files(view) if include_ours or path != PATH)
    return tuple(options for path in read for options in _parse(path, text_or_empty(view, path)))


def unfit(view: HostView, modules: Collection[str]) -> Iterator[Diagnostic]:
    """Yield an error for each foreign line that would hide an option of ours in any file: kmod joins all
    options of a module, those of the kernel command line last, before the kernel reads them
    (libkmod-module.c, kmod_module_get_options; kernel/module/main.c, load_module)."""
    for line in lines(view, include_ours=False):
        if line.module not in modules:
            continue
        given = split(line.text)
        if any(karg.leaves_quote_open for karg in given):
            summary = f"a quote is not closed, so the kernel would take every later option of {line.module} "
            summary += "as part of this one"
            yield error(
                "RC3170", summary, detail=line.text, location=line.source, hint="close the quote there"
            )
        elif separator(given):
            summary = f"the kernel reads no option of {line.module} after this “--”, including rocmcfg's"
            yield error(
                "RC3171", summary, detail=line.text, location=line.source, hint="remove the “--” there"
            )


def files(view: HostView) -> tuple[str, ...]:
    """Return the files that kmod reads, in its order."""
    return drop_ins(view, _DIRECTORIES, ".conf")


def _parse(path: str, text: str) -> Iterable[Options]:
    for number, line in _logical_lines(text) if "options" in text else ():
        words = tokens(line)
        if len(words) > 2 and words[0][0] == "options":
            yield Options(canonical(words[1][0]), line[words[2][1] :], f"{path}:{number}")


def _joined(given: Sequence[Options]) -> tuple[Karg, ...]:
    text, origin = " ".join(options.text for options in given), list[str]()
    for options in given:
        origin += [options.source] * (len(options.text) + 1)
    return tuple(_argument(word, origin[at], given[0].module) for word, at in tokens(text))


def _argument(word: str, source: str, module: str) -> Karg:
    if word in ("--", '"--"'):
        return Karg(word, source)
    quote = '"' if word.startswith('"') else ""
    return Karg(f"{quote}{module}.{word.removeprefix(quote)}", source)


# kmod drops a backslash and takes the next character literally, but also drops a line break after it
# (freadline_wrapped in kmod, shared/util.c).
ESCAPED = regex(r"\\(.?)", re.DOTALL)


def _logical_lines(text: str) -> Iterable[tuple[int, str]]:
    """Yield each logical line with the number at which it starts."""
    number = 1
    for line in re.finditer(r"((?:[^\\\n]+|\\.|\\\Z)*)(?:\n|\Z)", text, re.DOTALL):
        yield number, ESCAPED.sub(lambda match: match[1].strip("\n"), line[1])
        number += line[0].count("\n")


_MOVABLE = re.compile(rb"[ \t]*options[ \t]+[\w-]+(?:[ \t]+[A-Za-z0-9._,:;@%+=/-]+)+[ \t]*")


def immovable(content: bytes, line: int) -> str:
    """Say why the line of this number, counted from 1, cannot be moved out of a file; empty if it can."""
    lines = content.split(b"\n")
    if _MOVABLE.fullmatch(lines[line - 1]) is None or (
        lines[: line - 1][-1:] and lines[line - 2].endswith(b"\\")
    ):
        return "its line has quotes, backslashes or a comment in it"
    return ""


def moved_out(content: bytes, numbers: Collection[int]) -> tuple[bytes, Moved]:
    """Return a file without the lines of these numbers, and what was moved out. The caller has asked
    `immovable` about each."""
    lines = content.split(b"\n")
    taken = tuple(lines[number - 1].decode() for number in sorted(numbers))
    return b"\n".join(text for n, text in enumerate(lines, 1) if n not in numbers), Moved("", taken)


def propose(settings: Sequence[DesiredSetting]) -> bytes | None:
    """Return our file; None where no setting goes to modprobe.d."""
    if not settings:
        return None
    return templates.modprobe_conf(settings=settings, lines=dict.fromkeys(map(line, settings))).encode()


def line(setting: DesiredSetting) -> str:
    return f"options {setting.module} {setting.parameter.partition('.')[2]}={setting.text}"
