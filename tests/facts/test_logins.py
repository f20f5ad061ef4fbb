"""Who counts as logged in. Lines of the journal have the form that pam_unix and journald of Debian 12 and 13
give them; before Linux-PAM 1.4 the user's number is not said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from rocmcfg.facts.logins import somebody_logged_in
from rocmcfg.host.view import CommandResult
from tests.support.asked_host import Answer, AskedHost, answer
from tests.support.hosts import make_root

USERS = {"root": 0, "git": 998, "alice": 1000, "unit": 61500, "nobody": 65534, "bob": 200001}


def known(call: tuple[str, ...]) -> str | int | None:
    if call[:3] != ("getent", "passwd", "--"):
        return None
    return f"{call[3]}:x:{USERS[call[3]]}:100::/:/bin/sh\n" if call[3] in USERS else 2


def said(*lines: str, cmdline: str = "x") -> Answer:
    """What the journal has of root's processes."""
    records = ({"MESSAGE": text, "_CMDLINE": cmdline} for text in lines)
    return answer("_UID=0", "SYSLOG_FACILITY=10", text="".join(json.dumps(r) + "\n" for r in records))


def opened(user: str, service: str, more: str = "(uid=1) by x(uid=0)") -> str:
    return f"pam_unix({service}:session): session opened for user {user}{more}"


def seen(tmp_path: Path, *answers: Answer, files: dict[str, str] | None = None) -> bool | None:
    return somebody_logged_in(AskedHost(make_root(tmp_path, files or {}), *answers, known))


@pytest.mark.parametrize("more", ["(uid=1) by x(uid=0)", " by (uid=0)"], ids=["1.4", "1.3"])
@pytest.mark.parametrize(
    ("user", "service"),
    [
        ("root", "sshd"),  # Ansible's, too
        ("alice", "gdm-password"),
        ("alice", "login"),
        ("alice", "sddm"),
        ("bob", "cockpit"),
    ],
)
def test_a_person_who_logged_in_counts(tmp_path: Path, user: str, service: str, more: str) -> None:
    greeter = opened("gdm", "gdm-launch-environment")
    before = "Accepted publickey for somebody"
    line = opened(user, service, more)
    assert seen(tmp_path, said(greeter, before, line, cmdline="/bin/login -p --")) is True


@pytest.mark.parametrize(
    ("user", "service", "cmdline"),
    [
        ("gdm", "gdm-launch-environment", ""),
        ("alice", "greetd-greeter", ""),
        ("alice", "gdm-autologin", ""),
        ("alice", "sddm-autologin", ""),
        ("alice", "lxdm", ""),
        ("alice", "slim", ""),
        ("alice", "kde-np", ""),
        ("root", "login", "/bin/login -f -- root"),
        ("root", "login", "login -p -f root"),
        ("alice", "systemd-user", ""),
        ("root", "cron", ""),
        ("alice", "su-l", ""),  # what a unit does under a person's name
        ("alice", "runuser", ""),
        ("git", "sshd", ""),
        ("unit", "sshd", ""),
        ("nobody", "sshd", ""),
        ("of-no-list", "sshd", ""),
    ],
)
def test_greeters_services_and_desktops_that_log_in_by_themselves_are_no_login(
    tmp_path: Path, user: str, service: str, cmdline: str
) -> None:
    assert seen(tmp_path, said(opened(user, service), cmdline=cmdline)) is False


def test_greetd_is_not_believed_where_it_logs_somebody_in_by_itself(tmp_path: Path) -> None:
    alice = said(opened("alice", "greetd"))
    assert seen(tmp_path, alice) is True
    asked = 'vt = 1\n# [initial_session]\n[default_session]\nuser = "greeter"\n'
    itself = asked + '[initial_session]\nuser = "alice"\n'
    for config, expected in ((asked, True), (itself, False)):
        assert seen(tmp_path, alice, files={"etc/greetd/config.toml": config}) is expected


def test_a_login_that_ended_or_failed_is_told_from_one(tmp_path: Path) -> None:
    closed = "pam_unix(sshd:session): session closed for user alice"
    failed = "pam_unix(sshd:auth): authentication failure; user=alice"
    quoted = "Invalid user pam_unix(sshd:session): session opened for user root from ::1"
    assert seen(tmp_path, said(closed, failed, quoted)) is False


def test_no_journal_is_not_nobody(tmp_path: Path) -> None:
    assert seen(tmp_path, answer("journalctl", text=1)) is None
    assert seen(tmp_path) is None


def test_output_that_makes_no_sense_is_no_login(tmp_path: Path) -> None:
    class Odd(AskedHost):
        def query(self, argv: Sequence[str]) -> CommandResult | None:
            text = 'x\n{"MESSAGE": [1]}\n{"_CMDLINE": 4}\n[]\n\n=\n"s"\n4\n'
            return CommandResult(tuple(argv), 0, text, "")

    assert somebody_logged_in(Odd(make_root(tmp_path, {}))) is False
