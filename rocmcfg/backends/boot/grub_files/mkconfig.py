"""The installed grub-mkconfig, a shell script: where it lies, what it reads, and how it is run.

Debian, and who follows it, patch a loop over /etc/default/grub.d into it. GRUB itself, Arch, Gentoo and
openSUSE source /etc/default/grub alone (util/grub-mkconfig.in of GRUB 2.06 to 2.14).
"""

from __future__ import annotations

import re

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.plan import Activation

_PLACES = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_SOURCES = re.compile(r"^[ \t]*(?:\.|source)[ \t]+\S*/default/grub\"?[ \t]*$", re.MULTILINE)
_LOOPS = re.compile(r"^[ \t]*for\b.*/default/grub\.d/", re.MULTILINE)


def program(view: HostView, name: str) -> str:
    """Its path; empty where there is none."""
    return next((f"{place}/{name}" for place in _PLACES if view.exists(f"{place}/{name}")), "")


def reads_drop_ins(view: HostView, name: str = "grub-mkconfig") -> bool | None:
    """Whether /etc/default/grub.d counts; None where there is no script that would say so."""
    path = program(view, name)
    text = text_or_empty(view, path) if path else ""
    return bool(_LOOPS.search(text)) if _SOURCES.search(text) else None


def activation(argv: tuple[str, ...], menu: str, reason: str) -> Activation:
    """It removes MENU.new, writes it anew and takes it away at its end; where it failed on a full /boot, that
    file is what fills it."""
    folder = menu.rpartition("/")[0]
    return Activation(argv[0], argv, reason, (menu,), scratch=(f"{menu}.new",), writes_at=(folder,))
