"""Who logged in during this boot: people, not services, and no desktop that logs somebody in by itself.

systemd-logind writes a message with an id of its own for each session (SD_MESSAGE_SESSION_START in
sd-messages.h): `SESSION_ID`, `USER_ID` (which is a name), `LEADER` (a process id), and from systemd 258 on
`CLASS` and `TYPE` (session_start() in logind-session.c; background sessions, cron's among them, are left out
unless one asks for debug messages). It names no PAM service: that is known of sessions that are still there,
by `loginctl show-session`, and else from the line of pam_unix(8) that the session's leader wrote, such as
`pam_unix(sshd:session): session opened for user root(uid=0) by root(uid=0)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import islice

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.named_tuple import NamedTuple

_SESSION_START = "8d45620c1a4348dbb17410da57c60c66"
_JOURNAL = ("journalctl", "--no-pager", "--quiet", "-b", "0", "-o", "json")
_LOGIND = "_SYSTEMD_UNIT=systemd-logind.service"  # the underscore: journald says so, not the sender
_UID = re.compile(r"[0-9]{1,10}")  # 32 bits; Python refuses to convert thousands of digits
_FIRST_PERSON, _NOBODY = 1000, 65534  # UID_MIN of login.defs(5); systemd's UIDS-GIDS
_DYNAMIC = range(61184, 65520)  # users of one service while it runs (DynamicUser=): UIDS-GIDS again
_MOST = 200  # sessions that are looked at: enough for anybody, and an end to the work
# Those that ask who somebody is, and are called otherwise where they do not ask. lxdm and slim are not: their
# automatic logins have the same service as all others.
_ASKS = re.compile(
    r"(sshd|login|remote|gdm-(password|fingerprint|smartcard|pin)|sddm|lightdm|xdm|kde|ly|lemurs|plasmalogin"
    r"|greetd|cockpit|xrdp-sesman)$"
)
_OPENED = re.compile(r"^pam_\w+\(([^():]{1,64}):session\): session opened for user ")
# greetd(1): its initial session is begun once, for nobody who asked, and under the name of all the others
_GREETD, _GREETD_ITSELF = "/etc/greetd/config.toml", re.compile(r"^[ \t]*\[initial_session\]", re.M)
# agetty(8) --autologin runs `login -f`, with `--` and the user behind it (agetty.c)
_GETTY_AUTOLOGIN = re.compile(r"(?:^|/)login (?:\S+ )*-f\b")


class Login(NamedTuple):
    """`service` is the PAM service that let them in: sshd, login, gdm-password …"""

    user: str
    service: str


class _Session(NamedTuple):
    """Texts are empty where nothing says them; `uid` is None then. `leader` is a process id, `kind` the
    CLASS."""

    user: str
    leader: str
    kind: str = ""
    service: str = ""
    uid: int | None = None


def logins(view: HostView) -> tuple[Login, ...] | None:
    """Each login of this boot, oldest first; None where neither the journal nor logind can be asked."""
    written = _written(view)
    present = _present(view)
    if written is None and present is None:
        return None
    sessions = dict(islice((written or {}).items(), _MOST)) | (present or {})
    openings = _openings(view, [session.leader for session in sessions.values()])
    itself = _GREETD_ITSELF.search(text_or_empty(view, _GREETD))
    found: list[Login] = []
    for session in sessions.values():
        # the line of PAM says that nobody typed anything, which logind does not know
        login = Login(session.user, openings.get(session.leader) or session.service)
        if _by_a_person(view, login, session) and not (itself and login.service == "greetd"):
            found.append(login)
    return tuple(dict.fromkeys(found))


def _by_a_person(view: HostView, login: Login, session: _Session) -> bool:
    """Without a service a login cannot be told from what a unit did under a person's name."""
    if session.kind and (not session.kind.startswith("user") or session.kind == "user-incomplete"):
        return False
    if not _ASKS.match(login.service):
        return False
    uid = _uid(view, session.user) if session.uid is None else session.uid
    if uid is None or uid == _NOBODY or uid in _DYNAMIC:
        return False
    return uid == 0 or uid >= _FIRST_PERSON


def _written(view: HostView) -> dict[str, _Session] | None:
    """By session id, what the journal of this boot has; None where it cannot be read."""
    fields = ("SESSION_ID", "USER_ID", "LEADER", "CLASS")
    records = _records(view, fields, f"MESSAGE_ID={_SESSION_START}", _LOGIND)
    if records is None:
        return None
    rows = ([record.get(field, "") for field in fields] for record in records)
    return {id: _Session(user, leader, kind) for id, user, leader, kind in rows}


def _openings(view: HostView, leaders: Iterable[str]) -> dict[str, str]:
    """The PAM service by process id. One that was begun without a question is called `NAME-autologin`, as
    display managers call theirs."""
    pids = [f"_PID={pid}" for pid in dict.fromkeys(leaders) if pid.isascii() and pid.isdigit()]
    found: dict[str, str] = {}
    for record in (_records(view, ("MESSAGE", "_PID", "_CMDLINE"), *pids) or ()) if pids else ():
        opened = _OPENED.match(record.get("MESSAGE", ""))
        if opened is not None:
            itself = opened[1] == "login" and _GETTY_AUTOLOGIN.search(record.get("_CMDLINE", ""))
            found.setdefault(record.get("_PID", ""), f"{opened[1]}-autologin" if itself else opened[1])
    return found


def _records(view: HostView, fields: Sequence[str], *matches: str) -> list[dict[str, str]] | None:
    """Matches of one field are alternatives, of several fields conditions (journalctl(1)). A field that is no
    UTF-8, or given twice, is a list and left out: logind and PAM write no such thing."""
    done = view.query((*_JOURNAL, f"--output-fields={','.join(fields)}", *matches))
    if done is None or not done.ok:
        return None
    found = []
    for line in done.stdout.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            found.append({name: value for name, value in record.items() if isinstance(value, str)})
    return found


def _present(view: HostView) -> dict[str, _Session] | None:
    """By session id, those that are there now; None where logind cannot be asked."""
    listed = view.query(("loginctl", "--no-pager", "--no-legend", "list-sessions"))
    if listed is None or not listed.ok:
        return None
    fields = ("Name", "Leader", "Class", "Service", "User")
    found: dict[str, _Session] = {}
    for line in listed.stdout.splitlines()[:_MOST]:
        # the first column is the id in every version; others came and went
        id = next(iter(line.split()), "")
        wanted = [f"--property={field}" for field in fields]
        shown = view.query(("loginctl", "--no-pager", "show-session", *wanted, "--", id)) if id else None
        if shown is None or not shown.ok:
            continue  # it ended meanwhile
        said = dict(row.partition("=")[::2] for row in shown.stdout.splitlines() if "=" in row)
        name, leader, kind, service, uid = (said.get(field, "") for field in fields)
        found[id] = _Session(name, leader, kind, service, int(uid) if _UID.fullmatch(uid) else None)
    return found


def _uid(view: HostView, name: str) -> int | None:
    """By the host's own file, else by what else it knows users from (LDAP, homed)."""
    known = _uids(text_or_empty(view, "/etc/passwd"))
    if name and name not in known:
        asked = view.query(("getent", "passwd", "--", name))
        known = _uids(asked.stdout) if asked is not None and asked.ok else {}
    return known.get(name)


def _uids(text: str) -> dict[str, int]:
    rows = (line.split(":") for line in text.splitlines())
    return {row[0]: int(row[2]) for row in rows if len(row) > 2 and _UID.fullmatch(row[2])}
