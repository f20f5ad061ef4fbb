"""The keys that the host's owner signs images with, where a file of theirs names them.

sbctl(8) keeps its own and signs in place; uki.conf (ukify(1)) and dracut.conf(5) name a key and a
certificate, with which sbsign(1) signs. Keys are used where they are and never read.
"""

from __future__ import annotations

import re

from rocmcfg.backends.boot.uki.built_in import DRACUT_FOLDERS, UKI_CONF, first_file
from rocmcfg.host.view import HostView, drop_ins, text_or_empty

_SBCTL_KEYS = ("/var/lib/sbctl/keys", "/usr/share/secureboot/keys")  # the latter up to sbctl 0.14
_SBCTL_CONF = re.compile(r"^keydir:[ \t]*[\"']?(/[^\"'\s]+)", re.MULTILINE)
_NAMED = (
    re.compile(
        r"^[ \t]*(?:SecureBootPrivateKey|uefi_secureboot_key)[ \t]*=[ \t]*[\"']?(/[^\"'\n]*[^\"'\s])", re.M
    ),
    re.compile(
        r"^[ \t]*(?:SecureBootCertificate|uefi_secureboot_cert)[ \t]*=[ \t]*[\"']?(/[^\"'\n]*[^\"'\s])", re.M
    ),
)


def command(view: HostView, path: str) -> tuple[str, ...]:
    """What signs this file in place; empty where no key is known, or its program is missing."""
    configured = _SBCTL_CONF.search(text_or_empty(view, "/etc/sbctl/sbctl.conf"))
    folders = (configured[1],) if configured else _SBCTL_KEYS
    if view.has_tool("sbctl") and any(view.exists(f"{folder}/db/db.key") for folder in folders):
        return ("sbctl", "sign", path)
    if not view.has_tool("sbsign"):
        return ()
    places = ("/etc/dracut.conf", *drop_ins(view, DRACUT_FOLDERS, ".conf"))
    for text in (first_file(view, UKI_CONF)[1], *(text_or_empty(view, place) for place in places)):
        found = [pattern.search(text) for pattern in _NAMED]
        key, certificate = (one[1] if one else "" for one in found)
        if key and certificate and view.exists(key) and view.exists(certificate):
            return ("sbsign", "--key", key, "--cert", certificate, "--output", path, path)
    return ()
