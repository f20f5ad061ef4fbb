"""/etc/modprobe.d: our one file, and what all files together would give a module, by the rules of kmod
(modprobe.d(5), libkmod-config.c): of a base name the first directory wins; files in order of their base names
across directories; of `options` the last value wins, and the kernel command line over all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from rocmcfg.files.templates import HEAD, reason
from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import Karg, canonical, read_by_kernel, separator, split, tokens
from rocmcfg.model.shape import NamedTuple

PATH = "/etc/modprobe.d/zz-rocmcfg.conf"
_DIRECTORIES = [f"{place}/modprobe.d" for place in ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib")]


class Options(NamedTuple):
    """What one `options` line gives a module: its text, and the `file:line` where it stands."""

    module: str
    text: str
    source: str


def read_options(view: HostView, *, include_ours: bool = True) -> tuple[Karg, ...]:
    """All options of all modules in kmod's order, each as the kernel command line would have it:
    `module.name=value`. kmod joins the lines of a module with blanks between them, and the kernel drops what
    stands behind a `--`. Files that cannot be read are left out."""
    by_module: dict[str, list[Options]] = {}
    for line in lines(view, include_ours=include_ours):
        by_module.setdefault(line.module, []).append(line)
    return tuple(karg for given in by_module.values() for karg in read_by_kernel(_joined(given)))


def lines(view: HostView, *, include_ours: bool = True) -> tuple[Options, ...]:
    """The `options` lines of all files in kmod's order."""
    read = (path for path in files(view) if include_ours or path != PATH)
    return tuple(options for path in read for options in _parse(path, text_or_empty(view, path)))


def unfit(view: HostView, modules: Collection[str]) -> Iterator[Diagnostic]:
    """Lines of others that would swallow an option of ours, wherever it is written: kmod joins all options of
    a module, those of the kernel command line last, before the kernel reads them (libkmod-module.c,
    kmod_module_get_options; kernel/module/main.c, load_module)."""
    for line in lines(view, include_ours=False):
        if line.module not in modules:
            continue
        given = split(line.text)
        if any(karg.leaves_quote_open for karg in given):
            summary = (
                f"a quote is not closed, so that the kernel would take every option of {line.module} behind "
            )
            summary += "it for a part of this one"
            yield error(
                "RC3170", summary, detail=line.text, location=line.source, hint="close the quote there"
            )
        elif separator(given):
            summary = (
                f"behind this “--” the kernel reads no option of {line.module}, and so none of rocmcfg's"
            )
            yield error(
                "RC3171", summary, detail=line.text, location=line.source, hint="take the “--” out there"
            )


def files(view: HostView) -> tuple[str, ...]:
    """The files that kmod reads, in its order."""
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


def _logical_lines(text: str) -> Iterable[tuple[int, str]]:
    """Lines with the number they start at. kmod drops a backslash and takes the character behind it as it is;
    a line break it drops too (freadline_wrapped in kmod, shared/util.c)."""
    number = 1
    for line in re.finditer(r"((?:[^\\\n]+|\\.|\\\Z)*)(?:\n|\Z)", text, re.DOTALL):
        yield number, re.sub(r"\\(.?)", lambda match: match[1].strip("\n"), line[1], flags=re.DOTALL)
        number += line[0].count("\n")


def propose(settings: Sequence[DesiredSetting]) -> bytes | None:
    """Our file; None where no setting goes to modprobe.d."""
    if not settings:
        return None
    options = dict.fromkeys(map(line, settings))
    return "".join([HEAD, *map(reason, settings), *(f"{option}\n" for option in options)]).encode()


def line(setting: DesiredSetting) -> str:
    return f"options {setting.module} {setting.parameter.partition('.')[2]}={setting.text}"
