"""Run a trial by a second entry: a copy of the default entry with the trial's arguments after its own, chosen
by the EFI variable LoaderEntryOneShot, which names the entry of the next boot only.

The loader deletes the variable before it boots anything (systemd 252 to 262, src/boot/boot.c,
config_load_defaults), so the trial ends even if the kernel hangs. Boot counting is not used: systemd-boot
from 259 on does not count down entries with an `efi` line (systemd#40405), and such a trial would never end.

Nothing else may choose the copy. It has no sort-key, and the lowest of all names: it comes after every other
entry in boot_entry_compare, and so is the last match of a pattern of `default` in loader.conf. The loader
does not remember it (save_selected_entry). `bootctl`, which chooses as the loader does, is queried before and
after.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from typing import Any

from rocmcfg.files.templates import trial_head
from rocmcfg.host.foreign import json_value
from rocmcfg.host.view import CommandResult, HostView, text_or_empty
from rocmcfg.loaders.shared import efi, loader_entries
from rocmcfg.loaders.shared.contract import BootTrial, Files, Keeper, Observed
from rocmcfg.loaders.shared.loader_entries import TRIAL_ID, TRIAL_TITLE
from rocmcfg.loaders.shared.loader_files import SYSTEMD_BOOT, end_of_value, key_of
from rocmcfg.loaders.shared.menu import Menu, no_trial_in, on_the_line, size
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.plan import ToolChange
from rocmcfg.model.shape import NamedTuple

FILE = f"{TRIAL_ID}.conf"
_ONE_SHOT = 1 << 3  # in LoaderFeatures (systemd, src/fundamental/efivars-fundamental.h)
_LIST = ("bootctl", "list", "--json=short", "--no-pager")


class OneShot(Keeper):
    """Keeps the trial in the EFI variable, by bootctl(1). The firmware never keeps half of it."""

    TOOL = "bootctl"
    BLOCK = efi.path("LoaderEntryOneShot")
    KEEPS = "the entry to boot next"
    SHOWS = ("bootctl", "status")
    ARMED = TRIAL_ID

    def held(self, view: HostView, ours: str = "") -> str | None:
        return FILE if efi.text(view, "LoaderEntryOneShot") == FILE else None

    def keep(self, wanted: str | None, held: str | None = None) -> tuple[str, ...]:
        """Return the command. Without a name bootctl deletes the variable
        (src/bootctl/bootctl-set-efivar.c)."""
        return ("bootctl", "set-oneshot", wanted or "")


ONE_SHOT = OneShot()


class Listed(NamedTuple):
    """An entry of `bootctl list`. `id` includes the suffix, `root` is the mount point of its partition."""

    id: str
    path: str
    root: str
    default: bool | None


class SecondEntry(BootTrial):
    """A trial by a second entry. `LOADER` is the beginning of the name that the loader leaves in
    LoaderInfo."""

    LOADER = "systemd-boot"
    PLACES = ()
    FILES = tuple(f"{root}/loader/entries/{FILE}" for root in loader_entries.PARTITIONS)
    KEEPERS = (ONE_SHOT,)
    ACTIVATED = False

    def original(self, view: HostView, chosen: Listed) -> tuple[str, bytes, int] | None:
        """Return the folder, the text and the mode of the default entry, as an entry that is a file; None
        where there is none."""
        state = view.state(chosen.path)
        return None if state is None else (chosen.path.rpartition("/")[0], state.content, state.mode)

    def beaten(self, view: HostView, chosen: Listed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield an error for each argument that would still come after the trial's, and win."""
        return ()

    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        """Return the entry of the trial. It has the mode of the copied entry, since FAT stores none."""
        chosen = _default(view)
        if chosen is None or _not_ours(observed, chosen) or (original := self.original(view, chosen)) is None:
            return {}
        folder, content, mode = original
        return {f"{folder}/{FILE}": (copied(content, arguments), mode)}

    def arming(self, view: HostView, arguments: Sequence[str]) -> ToolChange:
        reason = "the entry for the next boot only, in an EFI variable that the loader deletes"
        argv, after = ONE_SHOT.keep(FILE), f"next boot: {FILE}"
        return ToolChange(ONE_SHOT.TOOL, argv, FILE, "", after, reason, arms=True)

    def problems(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        longest = max((size(k.text for k in entry.kargs) for entry in observed.menu.normal), default=0)
        yield from on_the_line(longest + size(arguments), observed.foreign, observed.menu.path)
        loader_info = efi.text(view, "LoaderInfo")
        why = detail = ""
        if not view.runs_tools:
            why = "the next boot can be chosen only on the running system"
        elif not loader_info.lower().startswith(self.LOADER):
            why = f"it needs {self.LOADER}"
            detail = f"this host was booted by {loader_info}" if loader_info else "no loader reports its name"
        elif not int.from_bytes(efi.value(view, "LoaderFeatures")[:8], "little") & _ONE_SHOT:
            why = "the loader that booted this host does not report that it can boot an entry once"
            detail = "see bit 3 of the EFI variable LoaderFeatures"
        if why:
            yield cannot(why, detail)
            return
        other = efi.text(view, "LoaderEntryOneShot")
        if other and other != FILE:
            summary = f"the next boot has already been chosen by another program: {other}"
            hint = (
                "reboot first, or clear that choice with `bootctl set-oneshot ''`; then run the command again"
            )
            yield error("RC4345", summary, location=ONE_SHOT.BLOCK, hint=hint)
        yield from self.uncopied(view, observed, arguments)

    def uncopied(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield why no entry can be copied for the trial."""
        chosen = _default(view)
        if chosen is None:
            yield cannot("bootctl does not report the default entry", _why_none(view.query(_LIST)))
        elif why := _not_ours(observed, chosen) or self._image_under_secure_boot(view, chosen):
            hint = "make a normal entry the default first (bootctl set-default), or apply without --trial"
            yield no_original(f"boots by default, {chosen.id}, {why}", chosen.path, hint)
        else:
            yield from self.beaten(view, chosen, arguments)

    def _image_under_secure_boot(self, view: HostView, chosen: Listed) -> str:
        _, content, _ = self.original(view, chosen) or ("", b"", 0)
        boots = loader_entries.parse(chosen.path, content.decode("utf-8", "replace")).first
        enforced = efi.starts_only_signed(view) and "linux" not in boots
        return "is an image that accepts no arguments under Secure Boot" if enforced else ""

    def check(self, view: HostView, menu: Menu, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield an error where the copy is missing or incomplete, or where something other than the variable
        will choose it."""
        path = next((entry.path for entry in _listed(view) if entry.id == FILE), "")
        text, chosen = text_or_empty(view, path) if path else "", _default(view)
        if not loader_entries.parse(FILE, text).options.endswith(" ".join(arguments)):
            yield no_trial_in(path or self.FILES[0], "check `bootctl list`, then run the command again")
        elif chosen is None or chosen.id == FILE:
            summary = f"{FILE} would boot by default, every time"
            why = "the trial must be the last choice of the loader"
            hint = "check `default` in loader.conf and `bootctl list`: another entry must be the default"
            yield error("RC4347", summary, detail=why, location=path, hint=hint)


def copied(content: bytes, arguments: Sequence[str]) -> bytes:
    """Return an entry's text with the arguments after all others, and without the key that would sort it
    before other entries."""
    added = " ".join(arguments).encode()
    lines = [line.rstrip(b" \t") for line in content.splitlines() if key_of(line) != b"sort-key"]
    places = [number for number, line in enumerate(lines) if key_of(line) == b"options"]
    if not places:
        places, lines = [len(lines)], [*lines, b"options"]
    for number, more in ((places[-1], b" " + added), *((n, TRIAL_TITLE.encode()) for n in _titles(lines))):
        end = end_of_value(lines[number], SYSTEMD_BOOT)
        lines[number] = lines[number][:end] + more + lines[number][end:]
    return trial_head().encode() + b"\n".join([*lines, b""])


def _titles(lines: Sequence[bytes]) -> list[int]:
    return [number for number, line in enumerate(lines) if key_of(line) == b"title"]


def _default(view: HostView) -> Listed | None:
    """Return the default entry; None where bootctl lists no entries. systemd 252 does not mark it: then it is
    the entry that LoaderEntryDefault names, the first match of the pattern in loader.conf, or else the first
    of all."""
    listed = _listed(view)
    if any(entry.default is not None for entry in listed):
        return next((entry for entry in listed if entry.default), None)
    patterns = loader_entries.choices(view, dict.fromkeys(entry.root for entry in listed))
    named = (e for p in patterns for e in listed if p and fnmatch.fnmatchcase(e.id.lower(), p.lower()))
    return next(iter((*named, *listed)), None)


def _why_none(answer: CommandResult | None) -> str:
    if answer is None:
        return "it is not installed"
    return "it lists no entry" if answer.ok else answer.words[0]


def _listed(view: HostView) -> tuple[Listed, ...]:
    """Return the entries that bootctl lists: as one list from systemd 253 on, before it as one object a
    line."""
    answer = view.query(_LIST)
    lines = answer.stdout.splitlines() if answer is not None and answer.ok else ()
    try:
        documents: list[Any] = [json_value(line) for line in lines if line.strip()]
    except ValueError:
        return ()
    rows = documents[0] if len(documents) == 1 and isinstance(documents[0], list) else documents
    return tuple(
        Listed(str(row["id"]), str(row["path"]), str(row.get("root", "")), row.get("isDefault"))
        for row in rows
        if isinstance(row, dict) and "id" in row and "path" in row
    )


def _not_ours(observed: Observed, chosen: Listed) -> str:
    """Return why the default entry does not get our arguments; empty where it gets them."""
    name = loader_entries.entry_id(chosen.path)
    return (
        "" if any(name == entry.id for entry in observed.menu.normal) else "does not get rocmcfg's arguments"
    )


def cannot(why: str, detail: str) -> Diagnostic:
    summary, hint = f"no trial boot here: {why}", "apply without --trial; `rocmcfg rollback` undoes it"
    return error("RC4344", summary, detail=detail, location=ONE_SHOT.BLOCK, hint=hint)


def no_original(which: str, location: str, hint: str) -> Diagnostic:
    return error("RC4346", f"no trial boot here: the entry that {which}", location=location, hint=hint)
