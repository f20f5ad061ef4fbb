"""Run a trial with Limine: by an entry after all others, a copy of the running one, and LoaderEntryOneShot.

Limine from 11.4 on deletes that variable, then boots the entry that the variable names by the titles on the
way to it (common/lib/bli.c, common/menu.c). With `remember_last_entry` Limine would boot the trial again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from rocmcfg.files import marked_lines
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.loaders.limine import reader, templates
from rocmcfg.loaders.shared import efi
from rocmcfg.loaders.shared.contract import Files, Observed
from rocmcfg.loaders.shared.menu import Menu, Role, no_trial_in
from rocmcfg.loaders.shared.one_shot import SecondEntry, cannot, no_original
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.plan import FileChange
from rocmcfg.model.regex import regex

COPY = "/etc/rocmcfg/limine-trial"  # the trial's entry for each limine.conf, for as long as there is a trial
_LEFT_OUT = regex(r"#|comment:", re.IGNORECASE)  # limine-entry-tool recognises its entries by their comments
# the value may be a macro, and Limine removes carriage returns (common/lib/config.c)
_REMEMBERS = regex(r"^[ \t]*remember_last_entry:[ \t]*(?:yes|.*\$\{.*)[ \t\r]*$", re.I | re.M)
_OF_A_PATH = regex(r"([\\/#])")  # escape_name of common/menu.c puts a backslash before these


class LimineTrial(SecondEntry):
    LOADER = "limine"
    FILES = (COPY,)
    ACTIVATED = True

    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        booted = _booted(view)
        if booted is None:
            return {}
        text, entry = booted
        cmdline = text[entry.start : entry.end]
        before = text[entry.at : entry.start].split("\n")[1:]
        after = text[entry.end : entry.until].split("\n")
        added = f"{cmdline.rstrip()} {' '.join(arguments)}"
        lines = (line.strip() for line in (*before, added, *after))
        kept = [line for line in lines if line and not _LEFT_OUT.match(line)]
        return {COPY: (templates.trial(title=reader.TRIAL, lines=kept).encode(), 0o644)}

    def entry_changes(self, view: HostView, proposed: Files) -> tuple[FileChange, ...]:
        copy = "".join(content.decode() for content, _ in proposed.values())
        states = {path: view.state(view.real_path(path)) for path in reader.files(view)}
        return tuple(
            FileChange(path, before, with_copy(before.content, copy, bytes), "the entry of one boot")
            for path, before in states.items()
            if before is not None
        )

    def uncopied(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        selected = efi.text(view, "LoaderEntrySelected")
        remembering = [path for path in reader.files(view) if _REMEMBERS.search(text_or_empty(view, path))]
        if remembering:
            why = "Limine would boot the trial again, even after a hang"
            yield cannot(why, f"{remembering[0]}: remember_last_entry")
        elif _booted(view) is None:
            which = (
                f"is running, {selected or 'which Limine does not name'}, does not get rocmcfg's arguments"
            )
            hint = "boot a normal entry first, or apply without --trial"
            yield no_original(which, observed.menu.path, hint)

    def check(self, view: HostView, menu: Menu, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        hint = "check whether a program of Limine wrote it meanwhile, then try again"
        for path in reader.files(view):
            every = reader.sections(text_or_empty(view, path))
            lines = [section.cmdline for section in every if section.titles == (reader.TRIAL,)]
            if [line.endswith(" ".join(arguments)) for line in lines] != [True]:
                yield no_trial_in(path, hint)


def with_copy(content: bytes, copy: str, rewritten: Callable[[bytes], bytes]) -> bytes:
    """Return a limine.conf with the trial's entry at its end if `copy`, the content of COPY, has one;
    otherwise without any such entry, even if a program that wrote the file dropped the comments around it.
    The text ends as the file did: a file without a line break at its end shows that the break before our
    entry is ours as well."""
    lines = (f"{line}\n" for line in copy.removesuffix("\n").split("\n") if line and line[0] != "#")
    entry, content = "".join(lines), rewritten(content)
    ended, own = content.endswith(b"\n"), marked_lines.own(content)
    content = marked_lines.put(content, None)[0]
    content = content.removesuffix(b"\n") if own is not None and not own.endswith(b"\n") else content
    text = content.decode("utf-8", "surrogateescape")
    for section in reversed([*reader.sections(text)]):
        text = text[: section.at] + text[section.until :] if section.titles == (reader.TRIAL,) else text
    added = marked_lines.part(entry) if entry else b""
    if added and text and not ended:
        added = b"\n" + added.removesuffix(b"\n")
    return text.encode("utf-8", "surrogateescape") + added


def _booted(view: HostView) -> tuple[str, reader.Section] | None:
    """Return the text of a limine.conf and the running entry in it; None where that entry does not get our
    arguments."""
    selected = efi.text(view, "LoaderEntrySelected")
    for path in reader.files(view):
        text = text_or_empty(view, path)
        for entry, role in reader.judged_in(view, text):
            if (
                role is Role.NORMAL
                and "/".join(_OF_A_PATH.sub(r"\\\1", title) for title in entry.titles) == selected
            ):
                return text, entry
    return None
