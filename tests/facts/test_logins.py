"""Who counts as logged in. What the programs print has the form of systemd 252 (Debian 12), 255 (Ubuntu
24.04) and 257 (Debian 13), which agree, or 258: session_start() in logind-session.c."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rocmcfg.facts.logins import Login, logins
from rocmcfg.host.view import CommandResult
from tests.support.asked_host import Answer, AskedHost, answer
from tests.support.hosts import make_root

PASSWD = (
    "root:x:0:0:root:/root:/bin/bash\n"
    "gdm:x:114:120::/var/lib/gdm3:/bin/false\n"
    "postgres:x:115:121::/var/lib/postgresql:/bin/bash\n"
    "alice:x:1000:1000::/home/alice:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
)


@dataclass(frozen=True)
class Session:
    """One that logind wrote of; `there` while it lasts. `said`: what pam_unix wrote for its leader."""

    user: str
    service: str
    uid: int = 0
    kind: str = "user"
    there: bool = False
    said: bool = True
    cmdline: str = ""


def answers(*sessions: Session, journal: bool = True, logind: bool = True, new: bool = False) -> list[Answer]:
    def journalctl(call: tuple[str, ...]) -> str | int | None:
        if call[0] != "journalctl":
            return None
        if not journal:
            return 1
        records = []
        wanted = {word.partition("=")[2] for word in call if word.startswith("_PID=")}
        for number, one in enumerate(sessions, 1):
            leader = str(1000 + number)
            if "MESSAGE_ID=8d45620c1a4348dbb17410da57c60c66" in call and one.kind != "background":
                assert "_SYSTEMD_UNIT=systemd-logind.service" in call, "or anybody could say so"
                fields = {"SESSION_ID": str(number), "USER_ID": one.user, "LEADER": leader}
                records.append(fields | ({"CLASS": one.kind, "TYPE": "tty"} if new else {}))
            elif leader in wanted and one.said:
                opened = f"session opened for user {one.user}(uid={one.uid}) by {one.user}(uid=0)"
                for text in ("Accepted publickey for somebody", f"pam_unix({one.service}:session): {opened}"):
                    records.append({"MESSAGE": text, "_PID": leader, "_CMDLINE": one.cmdline})
        return "".join(json.dumps(record) + "\n" for record in records)

    def loginctl(call: tuple[str, ...]) -> str | int | None:
        if call[0] != "loginctl":
            return None
        if not logind:
            return 1
        if "list-sessions" in call:
            form = (
                "{0:>7} {2:>4} {1} seat0 1234 user tty2 no -\n" if new else "{0:>7} {2:>4} {1} seat0 tty2\n"
            )
            rows = enumerate(sessions, 1)
            return "".join(form.format(n, one.user, one.uid) for n, one in rows if one.there)
        number = int(call[-1])
        one = sessions[number - 1]
        return (
            f"User={one.uid}\nName={one.user}\nService={one.service}\nLeader={1000 + number}\n"
            f"Class={one.kind}\n"
        )

    return [journalctl, loginctl]


def seen(tmp_path: Path, *sessions: Session, **how: bool) -> tuple[Login, ...] | None:
    return logins(AskedHost(make_root(tmp_path, {"etc/passwd": PASSWD}), *answers(*sessions, **how)))


@pytest.mark.parametrize("new", [False, True], ids=["252", "258"])
@pytest.mark.parametrize("there", [False, True], ids=["gone", "there"])
@pytest.mark.parametrize(
    ("user", "uid", "service"),
    [
        ("root", 0, "sshd"),  # Ansible's, too
        ("alice", 1000, "gdm-password"),
        ("alice", 1000, "login"),
        ("alice", 1000, "sddm"),
        ("alice", 1000, "cockpit"),
    ],
)
def test_a_person_who_logged_in_counts_also_when_they_left(
    tmp_path: Path, user: str, uid: int, service: str, there: bool, new: bool
) -> None:
    session = Session(user, service, uid, there=there, cmdline="/bin/login -p --")
    assert seen(tmp_path, session, new=new) == (Login(user, service),)


@pytest.mark.parametrize("there", [False, True], ids=["gone", "there"])
@pytest.mark.parametrize(
    "session",
    [
        Session("gdm", "gdm-launch-environment", 114, "greeter"),
        Session("alice", "greetd-greeter", 1000),
        Session("alice", "gdm-autologin", 1000),
        Session("alice", "sddm-autologin", 1000),
        Session("alice", "lxdm", 1000),
        Session("alice", "slim", 1000),
        Session("alice", "kde-np", 1000),
        Session("root", "login", cmdline="/bin/login -f -- root"),
        Session("root", "login", cmdline="login -p -f root"),
        Session("alice", "systemd-user", 1000, "manager"),
        Session("root", "cron", 0, "background"),
        Session("postgres", "su-l", 115),
        Session("alice", "su-l", 1000),  # what a unit does under a person's name
        Session("alice", "runuser", 1000),
        Session("nobody", "sshd", 65534),
    ],
    ids=lambda session: f"{session.user}-{session.service}-{session.kind}",
)
def test_greeters_services_and_desktops_that_log_in_by_themselves_are_no_login(
    tmp_path: Path, session: Session, there: bool
) -> None:
    assert seen(tmp_path, replace(session, there=there)) == ()


def test_a_session_that_waits_for_its_home_is_no_login_yet(tmp_path: Path) -> None:
    assert seen(tmp_path, Session("alice", "sshd", 1000, "user-incomplete", there=True)) == ()


def test_a_session_whose_service_nothing_tells_is_no_login(tmp_path: Path) -> None:
    assert seen(tmp_path, Session("alice", "sshd", 1000, said=False)) == ()


def test_a_greeter_does_not_hide_the_login_after_it(tmp_path: Path) -> None:
    greeter = Session("gdm", "gdm-launch-environment", 114, "greeter")
    alice = Session("alice", "gdm-password", 1000, there=True)
    assert seen(tmp_path, greeter, alice, alice) == (Login("alice", "gdm-password"),)


def test_greetd_is_not_believed_where_it_logs_somebody_in_by_itself(tmp_path: Path) -> None:
    alice = Session("alice", "greetd", 1000, there=True)
    assert seen(tmp_path, alice) == (Login("alice", "greetd"),)
    asked = 'vt = 1\n# [initial_session]\n[default_session]\nuser = "greeter"\n'
    itself = asked + '[initial_session]\nuser = "alice"\n'
    for config, expected in ((asked, 1), (itself, 0)):
        files = {"etc/passwd": PASSWD, "etc/greetd/config.toml": config}
        found = logins(AskedHost(make_root(tmp_path, files), *answers(alice)))
        assert found is not None
        assert len(found) == expected


def test_without_a_journal_those_who_are_still_there_count(tmp_path: Path) -> None:
    gone, there = Session("root", "sshd"), Session("alice", "sshd", 1000, there=True)
    assert seen(tmp_path, gone, there, journal=False) == (Login("alice", "sshd"),)


def test_without_logind_the_journal_alone_tells(tmp_path: Path) -> None:
    assert seen(tmp_path, Session("root", "sshd"), logind=False) == (Login("root", "sshd"),)


def test_no_source_at_all_is_not_nobody(tmp_path: Path) -> None:
    assert seen(tmp_path, Session("root", "sshd", there=True), journal=False, logind=False) is None
    assert logins(AskedHost(make_root(tmp_path, {}))) is None


def test_users_that_the_host_knows_from_elsewhere_are_asked_for(tmp_path: Path) -> None:
    bob = Session("bob", "sshd", 200001)
    known = answer("getent", "bob", text="bob:*:200001:200001:Bob:/home/bob:/bin/bash\n")
    root = make_root(tmp_path, {"etc/passwd": PASSWD})
    assert logins(AskedHost(root, *answers(bob), known)) == (Login("bob", "sshd"),)
    service = answer("getent", "bob", text="bob:*:61500:61500::/:/usr/sbin/nologin\n")
    assert logins(AskedHost(root, *answers(bob), service)) == ()
    assert logins(AskedHost(root, *answers(bob))) == ()


def test_output_that_makes_no_sense_is_no_login(tmp_path: Path) -> None:
    class Odd(AskedHost):
        def query(self, argv: Sequence[str]) -> CommandResult | None:
            return CommandResult(tuple(argv), 0, 'x\n{"LEADER": ["1"], "SESSION_ID": 4}\n[]\n\n=\n"s"\n', "")

    assert logins(Odd(make_root(tmp_path, {"etc/passwd": "alice\n:::\n"}))) == ()
