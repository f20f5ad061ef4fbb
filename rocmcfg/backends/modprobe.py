"""/etc/modprobe.d: our one file, and what all files together would give a module, by the rules of kmod
(modprobe.d(5), libkmod-config.c): of a base name the first directory wins; files in order of their base names
across directories; of `options` the last value wins, and the kernel command line over all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rocmcfg.backends.templates import HEAD, reason
from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.model.kargs import Karg, canonical, tokens
from rocmcfg.model.state import DesiredSetting

PATH = "/etc/modprobe.d/zz-rocmcfg.conf"
_DIRECTORIES = [f"{place}/modprobe.d" for place in ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib")]


def read_options(view: HostView, *, include_ours: bool = True) -> tuple[Karg, ...]:
    """All options of all modules in kmod's order, each as the kernel command line would have it:
    `module.name=value`. Files that cannot be read are left out."""
    read = (path for path in files(view) if include_ours or path != PATH)
    return tuple(one for path in read for one in _parse(path, text_or_empty(view, path)))


def files(view: HostView) -> tuple[str, ...]:
    """The files that kmod reads, in its order."""
    return drop_ins(view, _DIRECTORIES, ".conf")


def _parse(path: str, text: str) -> Iterable[Karg]:
    for number, line in _logical_lines(text) if "options" in text else ():
        words = tokens(line)
        if len(words) < 3 or words[0][0] != "options":
            continue
        module = canonical(words[1][0])
        for word, _ in words[2:]:
            quote = '"' if word.startswith('"') else ""
            yield Karg(f"{quote}{module}.{word.removeprefix(quote)}", f"{path}:{number}")


def _logical_lines(text: str) -> Iterable[tuple[int, str]]:
    """Lines with the number they start at. kmod drops a backslash and takes the character behind it as it is;
    a line break it drops too (freadline_wrapped in kmod, shared/util.c)."""
    number = 1
    for line in re.finditer(r"((?:[^\\\n]+|\\.|\\\Z)*)(?:\n|\Z)", text, re.DOTALL):
        yield number, re.sub(r"\\(.?)", lambda found: found[1].strip("\n"), line[1], flags=re.DOTALL)
        number += line[0].count("\n")


def propose(settings: Sequence[DesiredSetting]) -> bytes | None:
    """Our file; None where no setting goes to modprobe.d."""
    if not settings:
        return None
    options = dict.fromkeys(map(line, settings))
    return "".join([HEAD, *map(reason, settings), *(f"{one}\n" for one in options)]).encode()


def line(setting: DesiredSetting) -> str:
    return f"options {setting.module} {setting.parameter.partition('.')[2]}={setting.text}"
