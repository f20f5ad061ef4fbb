"""Check before a crash whether its logs would survive it: the journal on a disk, and the kernel's last words
in pstore. A container has neither of its own.

Sources: journald.conf(5) (Storage=), kernel fs/pstore/platform.c (backend), inode.c (/sys/fs/pstore).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, info
from rocmcfg.model.facts import Facts
from rocmcfg.model.regex import regex

_FOLDERS = tuple(f"{base}/systemd/journald.conf.d" for base in ("/etc", "/run", "/usr/local/lib", "/usr/lib"))
_MAIN = ("/etc/systemd/journald.conf", "/run/systemd/journald.conf", "/usr/lib/systemd/journald.conf")
_STORAGE = regex(r"^[ \t]*Storage[ \t]*=[ \t]*(\w+)", re.M)
_JOURNALD = "/usr/lib/systemd/systemd-journald"
_KEPT = regex(r"(kern\.log|kernel\.log|messages|syslog)$")
_BACKEND = "/sys/module/pstore/parameters/backend"


def check(view: HostView, facts: Facts) -> Iterator[Diagnostic]:
    """Note logs that a crash would take along."""
    if not facts.container:
        yield from _volatile_journal(view)
        yield from _no_pstore(view)


def _volatile_journal(view: HostView) -> Iterator[Diagnostic]:
    """Note a journal that is lost at a reboot, unless a syslog daemon keeps the kernel's log in a file."""
    if not view.exists(_JOURNALD) or any(_KEPT.match(name) for name in view.names("/var/log")):
        return
    storage, source = _storage(view)
    if storage in ("volatile", "none") or (storage == "auto" and not view.is_dir("/var/log/journal")):
        why = f"Storage={storage} ({source})" if source else "there is no /var/log/journal"
        hint = (
            "set Storage=persistent there"
            if source
            else "create the folder: `sudo mkdir -p /var/log/journal`"
        )
        yield info(
            "RC8150",
            "the journal does not survive a reboot, so the log of a crash is lost",
            detail=why,
            location=source or "/var/log/journal",
            hint=f"{hint}, then `sudo systemctl restart systemd-journald`",
        )


def _storage(view: HostView) -> tuple[str, str]:
    """Return where the journal is kept, and the file that says so; auto, which is the default, without a
    file. A drop-in wins over the main file, of which only the first counts."""
    main = next((path for path in _MAIN if view.exists(path)), "")
    values = [
        (match[1].lower(), path)
        for path in filter(None, (main, *drop_ins(view, _FOLDERS, ".conf")))
        for match in _STORAGE.finditer(text_or_empty(view, path))
    ]
    return values[-1] if values and values[-1][0] != "auto" else ("auto", "")


def _no_pstore(view: HostView) -> Iterator[Diagnostic]:
    """Note a kernel that has no place for its last words when it panics."""
    systems, backend = view.names("/sys/fs"), text_or_empty(view, _BACKEND).strip()
    if backend == "(null)" or (systems and "pstore" not in systems):
        yield info(
            "RC8151",
            "the kernel cannot save its last messages, so nothing shows the cause of a panic",
            detail="pstore has no backend" if backend else "the kernel has no pstore",
            location=_BACKEND,
            hint="load a backend, `sudo modprobe efi_pstore` on a UEFI host, and name it in "
            "/etc/modules-load.d/pstore.conf; or set up kdump",
        )
