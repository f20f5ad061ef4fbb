"""What stands between a redactor and a secret: colours, line ends, blocks, cuts, escapes, other logs."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from rocmcfg.advice.report.redact import Redactor
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg

BODY = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2"
LAST = "gtZWQyNTUxOQAAACDx"
STAMP = "Nov 21 12:42:56 tower7 deploy[4]: "


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[32mpassword\x1b[0m=\x1b[31mhunter2\x1b[0m",
        "\x1b[1;36m'api_key'\x1b[0m\x1b[39m:\x1b[49m \x1b[33m'hunter2'\x1b[0m",
        "password=hunt\x1b[0mer2",
        "#033[32mpassword#033[0m=hunter2",
        "\\u001b[32mpassword\\u001b[0m=hunter2",
        "\x1b]0;title\x07password=hunter2",
        "p\0a\0s\0s\0w\0o\0r\0d\0=\0h\0u\0n\0t\0e\0r\0002\0",
        "password=hun\u200bter2 \u00adpassword=hunter2",
        "a: b\r\npassword=hunter2\r\n",
        "10%\rpassword=hunter2\r20%",
        "password=hunter2\u2028x",
        "password =\thunter2",
        'x {"password": "hunter2',
        "\ufffd\ufffdpassword=\ufffdhunter2\ufffd",
        "password=\U000f0000\U00100000hunter2",
        "password=<user-1>hunter2",
    ],
)
def test_nothing_between_key_and_value_hides_it(text: str) -> None:
    assert "hunter2" not in Redactor()(text)


@pytest.mark.parametrize("stamp", ["", "    ", STAMP, "+"], ids=["bare", "indented", "logged", "diff"])
@pytest.mark.parametrize(
    "lines",
    [
        ["-----BEGIN OPENSSH PRIVATE KEY-----", BODY, BODY, LAST, "-----END OPENSSH PRIVATE KEY-----"],
        [BODY, BODY, LAST, "-----END RSA PRIVATE KEY-----"],
        ["-----BEGIN RSA PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED", "", BODY, BODY],
        ["x", BODY, "y"],
    ],
    ids=["whole", "begins elsewhere", "ends elsewhere", "a line of it"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_private_key_goes_with_all_its_lines(stamp: str, lines: list[str], end: str) -> None:
    said = Redactor()(end.join(stamp + line for line in lines))
    assert BODY[:20] not in said
    assert LAST not in said
    assert said.count(end) == len(lines) - 1


def test_what_follows_a_key_that_was_cut_stays() -> None:
    text = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\namdgpu\nring gfx_0.0.0 timeout"
    assert Redactor()(text).endswith("\namdgpu\nring gfx_0.0.0 timeout")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key hf_AbCd…", "AbCd"),
        ("from 192.168.1…", "192.168"),
        ("with 04:42:1a:0b…", "04:42"),
        ("root=UUID=0c1f7a52-1b2c-4d…", "0c1f7a52"),
        ("uuid 0c1f7a52-1b2c-4d…", "0c1f7a52"),
        ("/home/mallo…", "mallo"),
        ("'password': 'hunt…", "hunt"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJz…", "hbGci"),
    ],
)
def test_of_what_was_cut_nothing_is_left(text: str, secret: str) -> None:
    assert secret not in Redactor()(text)


@pytest.mark.parametrize(
    "text",
    [
        "home-mallory\\x2dx.mount",
        "%2Fhome%2Fx%2Fmallory%2Fy",
        '{"a": "x\\nmallory\\tb"}',
        "\\u001bmallory",
        "ünder_mallory-x",
        "MALLORY",
        "a mal\u200blory",
    ],
)
def test_a_known_name_goes_in_whatever_way_it_is_written(text: str) -> None:
    assert "mallory" not in Redactor(users=["mallory"])(text).lower().replace("\u200b", "")


@pytest.mark.parametrize("name", ["secret", "mail", "uuid", "user1", "host"])
def test_a_name_like_a_kind_does_not_reach_into_placeholders(name: str) -> None:
    redact = Redactor(users=[name])
    once = redact(f"{name} a@b.example password=x1y2z3 0c1f7a52-1b2c-4d3e-9f00-abcdefabcdef")
    assert "<<" not in once
    assert redact(once) == once


PS = """USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root           1  0.0  0.1 168140 11000 ?        Ss   12:42   0:01 /sbin/init
trudy+ 99 1 2 x x pts/1 python train.py"""
PS_FULL = "UID          PID    PPID  C STIME TTY          TIME CMD\ntrudy  4711  1  0 12:42 ?  0:00 python"
TOP = "    PID USER      PR  NI    VIRT\n   4711 trudy      x   x    12,3g\n\n   4712 trudy      x   x    1"
WHO = "USER     TTY      FROM             LOGIN@\ntrudy    pts/0    x                12:42"
LOGINCTL = "SESSION  UID USER SEAT  TTY \n      3 1000 trudy seat0 tty2"


@pytest.mark.parametrize(
    "table", [PS, PS_FULL, TOP, WHO, LOGINCTL], ids=["ps", "ps -f", "top", "w", "loginctl"]
)
def test_the_column_of_accounts_goes_and_is_learnt(table: str) -> None:
    redact = Redactor()
    assert "trudy" not in redact(table)
    redact.learn(table)
    assert "trudy" not in redact("process of trudy")
    assert redact(table).splitlines()[0] == table.splitlines()[0]


def test_what_follows_a_table_is_no_row_of_it() -> None:
    text = f"{PS}\namdgpu: ring timeout\nring 12 x\nUSER PID: none\nring 13 x"
    assert Redactor()(text).endswith("\namdgpu: ring timeout\nring 12 x\nUSER PID: none\nring 13 x")


@pytest.mark.parametrize(
    "text",
    [
        "- name: DB_PASSWORD\n  value: hunter2",
        "- value: hunter2\n  name: DB_PASSWORD\n- value: x\n  name: MODEL",
        f"{STAMP}- name: DB_PASSWORD\n{STAMP}  value: 'hunter2'",
        '{\n  "name": "DB_PASSWORD",\n\n  "value": "hunter2"\n}',
        '{"value": "hunter2",\n "name": "DB_PASSWORD"},\n{"value": "x", "name": "MODEL"}',
        "  <key>Password</key>\r\n  <string>hunter2</string>",
        "[user]\n\tname = Hunter2 Tester\n\temail = x",
        "[user]\n\temail = x\n\tname = Hunter2",
        "[author]\nname = hunter2",
        "db:\n  password:\n    hunter2",
        "- api_key: |\n    hunter2",
        "  'client_secret': >-\n      hunter2 and more\n",
    ],
)
def test_what_the_line_beside_it_says_of_a_value_counts(text: str) -> None:
    redact = Redactor()
    assert "hunter2" not in redact(text).lower()
    assert redact(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "- name: MODEL\n  value: llama\n- name: DB_PASSWORD\n  valueFrom: x",
        "- name: DB_PASSWORD\n- value: plain\n  name: MODEL",
        "<key>Level</key>\n<string>debug</string>",
        "secrets:\n  db:\n    file: ./db.txt",
        "secrets:\n  - db_file\nPassword:\nLast line",
        "password:\n  ${DB_PASSWORD}\n",
        "[device]\nname = AMD Radeon RX 7900\nmemory = 24",
    ],
)
def test_of_the_lines_beside_it_only_its_own_counts(text: str) -> None:
    assert Redactor()(text) == text


def test_a_directory_of_the_session_is_not_one_of_an_account_until_its_name_is_known() -> None:
    redact = Redactor()
    assert redact("/run/user/1000/trudy") == "/run/user/1000/trudy"
    redact.learn("/home/trudy/x")
    assert "trudy" not in redact("/run/user/1000/trudy")


def test_a_log_level_is_no_host() -> None:
    redact = Redactor()
    lines = "2025-11-21 12:42:56 INFO vllm: INFO x\n2025-11-21T12:42:56Z WARNING torch[3]: WARNING x"
    redact.learn(lines)
    assert redact(lines) == lines


def test_the_domain_of_a_host_goes_from_its_neighbours() -> None:
    redact = Redactor(["tower7.lab.acme.example"])
    assert "acme" not in redact("mail.lab.acme.example and tower7 and tower7.lab.acme.example")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path / "root", kernels=("6.14.0-37-generic",), gfx="gfx1201")


def bundled(root: Path, packed: Path, *logs: Path) -> str:
    named = [word for log in logs for word in ("--log", log)]
    found = rocmcfg("report", "--root", root, *named, "--bundle", packed)
    assert found.code == 0, found.err
    with tarfile.open(fileobj=io.BytesIO(packed.read_bytes())) as archive:
        return found.out + "".join(archive.extractfile(name).read().decode() for name in archive.getnames())  # type: ignore[union-attr]


FAULT = "amdgpu 0000:03:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x0080113B"


def test_what_one_log_gives_away_goes_from_all_others(root: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "trudy-node07.log", tmp_path / "b.log"
    one.write_text(
        f"Nov 21 12:42:56 node07 sshd[1]: Accepted publickey for trudy from 10.0.0.9\n{FAULT} trudy\n"
    )
    other.write_text(f"{FAULT} on node07 of trudy, zugang99x\npassword=zugang99x\n")
    said = bundled(root, tmp_path / "x.tar.gz", one, other)
    assert "GCVM_L2_PROTECTION_FAULT_STATUS:0x0080113B" in said
    assert [name for name in ("node07", "trudy", "10.0.0.9", "zugang99x") if name in said] == []


def test_a_report_without_a_bundle_learns_from_the_whole_log_too(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text(f"/home/trudy/x\n{FAULT} of trudy\n")
    found = rocmcfg("report", "--root", root, "--log", log)
    assert "GCVM_L2_PROTECTION_FAULT_STATUS:0x0080113B" in found.out
    assert "trudy" not in found.out


@pytest.mark.parametrize("before", [4075, 4085, 4096, 9000, 65530])
def test_a_long_line_is_not_parted_between_a_key_and_its_value(
    root: Path, tmp_path: Path, before: int
) -> None:
    log = tmp_path / "x.log"
    log.write_text(f'{FAULT}\n{{{"x" * before} "api_key": "plain-words-only", {"y" * 70000}}}\nend {FAULT}\n')
    said = bundled(root, tmp_path / "x.tar.gz", log)
    assert "plain-words" not in said
    assert "words-only" not in said
    assert f"end {FAULT}" in said


def test_the_owner_of_an_account_goes_by_his_real_name(root: Path, tmp_path: Path) -> None:
    with (root / "etc/passwd").open("a") as passwd:
        passwd.write("mm:x:1000:1000:Mallory Model,,,:/home/mm:/bin/sh\n")
    log = tmp_path / "x.log"
    log.write_text(f"{FAULT} Mallory's model\n")
    said = bundled(root, tmp_path / "x.tar.gz", log)
    assert "Mallory" not in said
    assert "model" in said
