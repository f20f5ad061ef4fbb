"""A record of a newer rocmcfg is refused by every command, in the same words, and nothing is changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support import usecases as use
from tests.support.boots import reboot
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.tools import require_tool
from tests.support.trees import tree
from tests.support.trials import CWSR, journal_file

RECEIPT, TRIAL = "var/lib/rocmcfg/receipt.json", "var/lib/rocmcfg/trial.json"
KERNEL = "6.12.107+deb13-amd64"
CHANGES = ("apply --set amdgpu.runpm=1 --any-gpu --yes", "rollback --yes", "recover")
LOOKS = ("verify", "status", "plan --set amdgpu.runpm=1 --any-gpu")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Something is applied, and something else is tried in this boot."""
    require_tool("grub-editenv", "grub-common")
    found = debian_grub_host(tmp_path)
    use.apply(QuickHost(str(found)), set=("amdgpu.runpm=0",))
    reboot(found)
    use.attempt(QuickHost(str(found)), **CWSR)
    reboot(found)
    use.recover(QuickHost(str(found)))
    return found


def of_format_2(path: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        file = root / path
        file.write_text(json.dumps({**json.loads(file.read_text()), "schema_version": 2}))

    return change


def with_an_option(path: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        file = root / path
        document = json.loads(file.read_text())
        document["request"]["per_gpu"] = True
        file.write_text(json.dumps(document))

    return change


def journal_of_format_2(root: Path) -> None:
    file = journal_file(root, 2)
    body = json.dumps({"v": 2, "kind": "commit"}, separators=(",", ":"))
    line = f'{body[:-1]},"sum":"{sha256(body.encode()).hexdigest()[:16]}"}}\n'
    file.write_text(file.read_text() + line)


RECORDS = {
    "receipt": (of_format_2(RECEIPT), ("check-kernel " + KERNEL, *CHANGES[:1], *LOOKS)),
    "receipt-option": (with_an_option(RECEIPT), ("check-kernel " + KERNEL, *CHANGES[:1], *LOOKS)),
    "trial": (of_format_2(TRIAL), ("watch-trial", "confirm --yes", "recover", *CHANGES[:1], *LOOKS)),
    "trial-option": (with_an_option(TRIAL), ("watch-trial", "confirm --yes", "recover", *LOOKS)),
    "journal": (
        journal_of_format_2,
        (*CHANGES, *LOOKS, "confirm --yes", "reject --yes", "history", "rollback --dry-run"),
    ),
}


@pytest.mark.parametrize("record", RECORDS)
def test_a_newer_record_is_refused_in_one_way(root: Path, record: str) -> None:
    change, commands = RECORDS[record]
    if record.startswith("receipt"):  # a trial alone is refused for being one
        use.reject(QuickHost(str(root)))
    change(root)
    before = tree(root)
    for command in commands:
        found = rocmcfg(*command.split(), "--root", root, host=QuickHost)
        said = found.out + found.err
        assert "RC4029" in said, f"{command}: {said}"
        assert "RC9000" not in said, f"{command}: {said}"
        assert not {"RC4020", "RC4030", "RC4300"} & set(re.findall(r"RC\d+", said)), f"{command}: {said}"
        assert tree(root) == before, command


@pytest.mark.parametrize("record", RECORDS)
def test_a_report_and_the_doctor_go_on_without_a_newer_record(root: Path, record: str) -> None:
    RECORDS[record][0](root)
    for command in ("report", "doctor"):
        found = rocmcfg(*command.split(), "--root", root, host=QuickHost)
        said = " ".join((found.out + found.err).split())
        assert "RC9000" not in said
        assert ("a newer rocmcfg" in said) == (command == "report" or record.startswith("receipt")), command


def test_the_doctor_reads_the_logs_and_tells_of_a_damaged_receipt(root: Path) -> None:
    (root / RECEIPT).write_text("{")
    found = rocmcfg("doctor", "--root", root, host=QuickHost)
    assert "warning[RC4030]" in found.out + found.err
