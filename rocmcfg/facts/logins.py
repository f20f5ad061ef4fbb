"""Find out whether a person logged in during this boot, other than a service or an automatic login to a
desktop.

The evidence is the line that pam_unix(8) writes for each session, such as `pam_unix(sshd:session): session
opened for user root(uid=0) by root(uid=0)`. Every user may write such a text into the journal, so only lines
from a process of root count (journald itself sets `_UID`, not the sender) that are in the log of logins
(pam_vsyslog() of libpam).
"""

from __future__ import annotations

import re

from rocmcfg.host.foreign import json_value
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.regex import regex

_AUTHPRIV = 10  # its facility in syslog(3)
_JOURNAL = (
    *("journalctl", "--no-pager", "--quiet", "-b", "0", "-o", "json", "--output-fields=MESSAGE,_CMDLINE"),
    *("_UID=0", f"SYSLOG_FACILITY={_AUTHPRIV}"),
)
_OPENED = regex(r"pam_\w+\(([^():]{1,64}):session\): session opened for user ([^\s(]{1,256})")
_UID = regex(r"[^:]*:[^:]*:([0-9]{1,10}):")
_FIRST_PERSON, _NOBODY = 1000, 65534  # UID_MIN of login.defs(5); systemd's UIDS-GIDS
_DYNAMIC = range(61184, 65520)  # users of one service while it runs (DynamicUser=): UIDS-GIDS again
# Services that authenticate the user, and that have another name for an automatic login. lxdm and slim are
# not among them: their automatic logins use the same service as all others.
_ASKS = regex(
    r"(sshd|login|remote|gdm-(password|fingerprint|smartcard|pin)|sddm|lightdm|xdm|kde|ly|lemurs|plasmalogin"
    r"|greetd|cockpit|xrdp-sesman)$"
)
# greetd(1): its initial session begins once, without authentication, under the same service as all others
_GREETD, _GREETD_ITSELF = "/etc/greetd/config.toml", re.compile(r"^[ \t]*\[initial_session\]", re.M)
# agetty(8) --autologin runs `login -f`, followed by `--` and the user (agetty.c)
_GETTY_AUTOLOGIN = regex(r"(?:^|/)login (?:\S+ )*-f\b")


def somebody_logged_in(view: HostView) -> bool | None:
    """Return whether a person logged in during this boot; None where the journal cannot be read."""
    done = view.query(_JOURNAL)
    if done is None or not done.ok:
        return None
    users = dict.fromkeys(user for line in done.stdout.splitlines() if (user := _who_was_asked(view, line)))
    return any(_is_a_person(view, user) for user in users)


def _who_was_asked(view: HostView, line: str) -> str:
    """Return the user who logged in with authentication; empty for every other line of the journal."""
    try:
        record = json_value(line)
        opened = _OPENED.match(record["MESSAGE"])
    except (
        ValueError,
        TypeError,
        KeyError,
    ):  # a text that is not UTF-8 is a list of numbers, which PAM does not write
        return ""
    if opened is None or not _ASKS.match(opened[1]):
        return ""
    by_itself = {
        "login": _GETTY_AUTOLOGIN.search(str(record.get("_CMDLINE"))),
        "greetd": _GREETD_ITSELF.search(text_or_empty(view, _GREETD)),
    }
    return "" if by_itself.get(opened[1]) else opened[2]


def _is_a_person(view: HostView, user: str) -> bool:
    """Return whether a user is a person, according to all databases of the host (passwd, LDAP, homed)."""
    answer = view.query(("getent", "passwd", "--", user))
    match = _UID.match(answer.stdout) if answer is not None and answer.ok else None
    uid = int(match[1]) if match else _NOBODY
    return uid == 0 or (uid >= _FIRST_PERSON and uid != _NOBODY and uid not in _DYNAMIC)
