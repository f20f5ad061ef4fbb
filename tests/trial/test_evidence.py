"""What a trial's boot left behind. The journals are those of the real systemd-journald; the files of pstore
have the form that fs/pstore/platform.c gives them, at the places where systemd-pstore puts them."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from rocmcfg.change.trial.evidence import boots_between, evidence, panicked, was_shut_down
from rocmcfg.host.local import LocalHost
from rocmcfg.model.request import Request
from rocmcfg.model.trial import Terms, Trial
from rocmcfg.records.steps import Evidence
from tests.support import journald
from tests.support.asked_host import Answer, AskedHost, answer
from tests.support.hosts import FileMap, make_root
from tests.support.journald import Boot, JournalHost

APPLY, TRIED, NOW = (f"{n}{n}{n}{n}{n}{n}{n}{n}-1111-4111-8111-111111111111" for n in "123")
TOKEN = "1a2b3c4d"
START = "6 Linux version 6.12.107+deb13-amd64 (b)"
PLAIN = "6 Command line: BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro quiet"
MARKED = f"{PLAIN} amdgpu.cwsr_enable=0 panic=10 rocmcfg.trial={TOKEN}"
RESET = "amdgpu 0000:03:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=5, emitted seq=7"
UNSURE = "; it does not say in which boot since the apply"


def trial(token: str = TOKEN, when: float = 0) -> Trial:
    moment = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(when or time.time() - 600))
    return Trial(3, ("p",), Request(), "grub", APPLY, moment, (), (), token, Terms(600), ())


def root(tmp_path: Path, extra: FileMap | None = None) -> Path:
    files = {"proc/sys/kernel/random/boot_id": f"{NOW}\n", "var/log/journal/x": ""}
    return make_root(tmp_path, files | dict(extra or {}))


def from_journal(tmp_path: Path, *boots: Boot, extra: FileMap | None = None) -> Evidence:
    view = JournalHost(str(root(tmp_path, extra)))
    view.journal = journald.write(tmp_path / "journal", *boots, Boot(NOW, [START, PLAIN], orderly=False))
    return evidence(view, trial())


@journald.usable
def test_a_boot_that_broke_off_is_found_by_its_command_line(tmp_path: Path) -> None:
    said = [START, MARKED, "6 usb 1-1: new device", f"3 {RESET}", "6 amdgpu: GPU reset begin!", "6 the end"]
    found = from_journal(
        tmp_path, Boot(APPLY, [START, PLAIN, "3 not this one"]), Boot(TRIED, said, orderly=False)
    )
    assert (found.source, found.boot_id) == ("journal", TRIED.replace("-", ""))
    assert re.match(
        r"its boot lasted [0-9].* and ended abruptly: its journal contains no shutdown", found.text
    )
    assert found.lines == (RESET,)


@journald.usable
def test_a_boot_that_was_shut_down_is_told_from_one_that_broke_off(tmp_path: Path) -> None:
    found = from_journal(tmp_path, Boot(APPLY, [START, PLAIN]), Boot(TRIED, [START, MARKED, "6 fine"]))
    assert found.source == "journal"
    assert "was shut down properly; the trial had not been confirmed" in found.text
    assert found.lines[-1] == "fine", "without an error, the last that the kernel said"


@journald.usable
def test_the_journal_of_the_initramfs_that_stopped_is_no_shutdown(tmp_path: Path) -> None:
    first, then = Boot(TRIED, [START, MARKED]), Boot(TRIED, ["6 systemd is up"], orderly=False)
    assert "ended abruptly" in from_journal(tmp_path, Boot(APPLY, [START, PLAIN]), first, then).text


@journald.usable
def test_it_is_found_without_the_boot_before_it(tmp_path: Path) -> None:
    assert from_journal(tmp_path, Boot(TRIED, [START, MARKED])).source == "journal"


@journald.usable
def test_a_boot_that_left_nothing_is_not_taken_for_another(tmp_path: Path) -> None:
    other = f"{PLAIN} rocmcfg.trial={TOKEN}5"
    found = from_journal(tmp_path, Boot(APPLY, [START, MARKED]), Boot(TRIED, [START, other]))
    assert (found.source, found.boot_id, found.lines) == ("none", "", ())
    assert "never began, or ended before its journal reached the disk" in found.text


@journald.usable
def test_a_panic_is_in_pstore_and_its_boot_in_the_journal(tmp_path: Path) -> None:
    found = from_journal(tmp_path, Boot(TRIED, [START, MARKED], orderly=False), extra=PANIC)
    assert (found.source, found.boot_id) == ("pstore", TRIED.replace("-", ""))
    assert found.text.startswith("its boot lasted ")
    assert found.text.endswith("the kernel ended with: Kernel panic - not syncing: sysrq triggered crash")


PANIC: FileMap = {
    # Part1 is the end of the log: kmsg_dump_get_buffer() goes backwards
    "var/lib/systemd/pstore/1795291669/001/dmesg-efi_pstore-179529166901001": (
        "Panic#1 Part1\n"
        "<4>[   61.100000] Call Trace:\n"
        "<0>[   61.200000] Kernel panic - not syncing: sysrq triggered crash\n"
    ),
    "var/lib/systemd/pstore/1795291669/001/dmesg-efi_pstore-179529166902001": (
        "Panic#1 Part2\n<6>[   60.000000] usb 1-1: new device\n<3>[   60.500000] amdgpu: page fault\n"
    ),
    "var/lib/systemd/pstore/1795291669/001/dmesg.txt": "Panic#1 Part2\nboth joined\n",
    "var/lib/systemd/pstore/console-ramoops-0": "not a dump",
}


def test_of_two_dumps_with_one_name_the_newest_alone_is_read(tmp_path: Path) -> None:
    """Each boot counts its dumps from 1."""
    older, newer = "var/lib/systemd/pstore/1/001/dmesg-efi-1", "var/lib/systemd/pstore/2/001/dmesg-efi-2"
    dump = "Panic#1 Part1\n<0>[   9.0] Kernel panic - not syncing: "
    place = root(tmp_path, {older: f"{dump}of long ago\n", newer: f"{dump}new\n"})
    os.utime(place / older, (time.time() - 60, time.time() - 60))
    found = evidence(AskedHost(place), trial())
    assert found.lines == ("Kernel panic - not syncing: new",)
    assert found.text == f"the kernel ended with: {found.lines[0]}{UNSURE}"


def test_a_panic_is_read_from_pstore_without_any_journal(tmp_path: Path) -> None:
    found = evidence(AskedHost(root(tmp_path, PANIC)), trial())
    assert (found.source, found.boot_id) == ("pstore", "")
    assert found.text == f"the kernel ended with: Kernel panic - not syncing: sysrq triggered crash{UNSURE}"
    assert found.lines == (
        "amdgpu: page fault",
        "Kernel panic - not syncing: sysrq triggered crash",
    )


def test_what_was_not_moved_yet_and_an_oops_count_too(tmp_path: Path) -> None:
    oops = {"sys/fs/pstore/dmesg-ramoops-0": "Oops#2 Part1\n<1>[    9.0] BUG: unable to handle page fault\n"}
    found = evidence(AskedHost(root(tmp_path, oops)), trial())
    assert (found.source, found.text) == ("pstore", f"the kernel left a dump of its log (Oops){UNSURE}")
    both = evidence(AskedHost(root(tmp_path, oops | dict(PANIC))), trial())
    assert "Kernel panic" in both.text, "of several, the panic is what ended it"


def test_a_dump_from_before_the_trial_proves_nothing(tmp_path: Path) -> None:
    place = root(tmp_path, PANIC)
    for path in (place / "var/lib/systemd/pstore").rglob("dmesg-*"):
        os.utime(path, (time.time() - 3600, time.time() - 3600))
    assert evidence(AskedHost(place), trial()).source == "none"


@pytest.mark.parametrize(
    ("answers", "kept", "why"),
    [
        ([], True, "its journal cannot be read"),
        ([answer("journalctl", text=1)], True, "its journal cannot be read"),
        (
            [answer("journalctl", text="")],
            False,
            "does not keep its journal across boots (there is no /var/log/journal)",
        ),
        ([answer("journalctl", text="[]")], True, "it never began, or ended before its journal reached"),
        ([answer("journalctl", text='{"a": [1]}')], True, "it never began"),
    ],
)
def test_nothing_that_is_left_says_why(tmp_path: Path, answers: list[Answer], kept: bool, why: str) -> None:
    place = root(tmp_path)
    if not kept:
        (place / "var/log/journal/x").unlink()
        (place / "var/log/journal").rmdir()
    found = evidence(AskedHost(place, *answers), trial())
    assert (found.source, found.boot_id, found.lines) == ("none", "", ())
    assert why in found.text, found.text


def test_a_disk_whose_programs_are_not_run_says_so(tmp_path: Path) -> None:
    found = evidence(LocalHost(str(root(tmp_path))), trial())
    assert "no program of that host can be run" in found.text
    assert evidence(LocalHost(str(root(tmp_path, PANIC))), trial()).source == "pstore"


def test_the_table_of_boots_is_read(tmp_path: Path) -> None:
    """As releases from 249 on print it: list_boots() in journalctl.c."""
    id = TRIED.replace("-", "")
    table = (
        f"-2 {APPLY.replace('-', '')} Fri 2026-11-20 10:00:00 UTC—Fri 2026-11-20 10:10:00 UTC\n"
        f"-1 {id} Fri 2026-11-20 10:10:30 UTC—Fri 2026-11-20 10:14:00 UTC\n"
        f" 0 {NOW.replace('-', '')} Fri 2026-11-20 10:15:00 UTC—Fri 2026-11-20 10:15:10 UTC\n"
    )
    last = json.dumps({"__MONOTONIC_TIMESTAMP": "252000000", "MESSAGE_ID": "x"}) + "\n"
    host = AskedHost(
        root(tmp_path),
        answer("--list-boots", text=table),
        answer(f"_BOOT_ID={id}", "cat", text=f"Linux version\n{MARKED}\n"),
        answer(
            f"_BOOT_ID={id}",
            "_TRANSPORT=kernel",
            text='{"MESSAGE": [65, 255], "PRIORITY": "3"}\n{"\n[]\n{"MESSAGE": "A", "PRIORITY": "3"}\n',
        ),
        answer(f"_BOOT_ID={id}", text=last),
    )
    found = evidence(host, trial())
    assert found.text.startswith("its boot lasted 0:04:12 and ended abruptly")
    assert found.lines == ("A",)
    assert not any(f"_BOOT_ID={NOW.replace('-', '')}" in call for call in host.asked)


def test_a_host_with_a_thousand_boots_is_searched_within_bounds(tmp_path: Path) -> None:
    ids = [*(f"{n:032x}" for n in range(1000)), NOW.replace("-", "")]
    listed = "".join(f"{n - 1000:>5} {id} Fri 2026\n" for n, id in enumerate(ids))
    host = AskedHost(root(tmp_path), answer("--list-boots", text=listed), answer("cat", text=PLAIN))
    assert evidence(host, trial()).source == "none"
    asked = [word for call in host.asked for word in call if word.startswith("_BOOT_ID=")]
    assert asked[0] == f"_BOOT_ID={999:032x}"
    assert len(asked) == 20


@journald.usable
def test_how_any_boot_ended_and_which_came_between(tmp_path: Path) -> None:
    view = JournalHost(str(root(tmp_path, PANIC)))
    boots = (Boot(APPLY, [START]), Boot(TRIED, [START], orderly=False), Boot(NOW, [START], orderly=False))
    view.journal = journald.write(tmp_path / "journal", *boots)
    assert was_shut_down(view, APPLY)
    assert not was_shut_down(view, TRIED)
    assert not was_shut_down(view, "f" * 32), "a boot that the journal does not have"
    assert [boots_between(view, boot) for boot in (APPLY, TRIED, NOW, "f" * 32)] == [1, 0, 0, 0]


def test_a_panic_counts_from_its_time_on(tmp_path: Path) -> None:
    view = LocalHost(str(root(tmp_path, PANIC)))
    assert panicked(view, trial().time)
    assert not panicked(view, trial(when=time.time() + 600).time)
    assert not panicked(LocalHost(str(make_root(tmp_path, {}, name="bare"))), trial().time)
