"""Whose an entry of a menu is and what for, told by its title and its arguments: for menus that people write
by hand, and that no tool marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocmcfg.backends.boot.menu import Role
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.kargs import Karg, last, split

_SPARE = re.compile(r"\b(?:fallback|rescue|recovery|emergency|single[- ]user|minimal)\b", re.IGNORECASE)
# what makes a system start without its services: bootparam(7), systemd(1)
_SINGLE = {"single", "s", "S", "1", "emergency", "rescue", "-b"}
_SINGLE_UNITS = ("rescue.target", "emergency.target")
_MEDIUM = ("archisobasedir", "archisolabel", "archisosearchuuid", "boot=live", "rd.live.image")


def told(titles: Sequence[str], kargs: Sequence[Karg], roots: frozenset[str]) -> Role:
    """`titles` are all names that tell what the entry is, `roots` those of `known_roots`."""
    if another_root(kargs, roots) or any(karg.text in _MEDIUM or karg.name in _MEDIUM for karg in kargs):
        return Role.FOREIGN
    flags = last(kargs, "rootflags")
    if flags is not None and "/.snapshots/" in (flags.value or ""):
        return Role.SNAPSHOT  # snapper's, which keeps them in this folder
    unit = last(kargs, "systemd.unit")
    single = any(karg.text in _SINGLE for karg in kargs) or (unit and unit.value in _SINGLE_UNITS)
    return Role.RECOVERY if single or any(map(_SPARE.search, titles)) else Role.NORMAL


def known_roots(view: HostView) -> frozenset[str]:
    """How the root file system of this host is named: in its fstab, and by the kernel that runs. In a chroot
    the latter is another one's, so that either counts."""
    lines = (line.split() for line in text_or_empty(view, "/etc/fstab").splitlines())
    found = {words[0] for words in lines if len(words) > 1 and words[1] == "/" and words[0][0] != "#"}
    running = last(split(text_or_empty(view, "/proc/cmdline")), "root")
    return frozenset(map(str.lower, {*found, (running.value if running else "") or ""} - {""}))


def another_root(kargs: Sequence[Karg], roots: frozenset[str]) -> bool:
    """Whether the arguments name another file system than ours. What names it in another way (by UUID, by
    PARTUUID, by its device) cannot be compared, and counts as ours."""
    named = last(kargs, "root")
    value = (named.value if named else "") or ""
    kind, equals, _ = value.lower().partition("=")
    alike = [root for root in roots if equals and root.startswith(f"{kind}=")]
    return bool(alike) and value.lower() not in alike
