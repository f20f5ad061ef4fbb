"""`rocmcfg report`: what is in it, what must never be, and that it stays Markdown whatever a log holds."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.advice.doctor.log_lines import LogLines
from rocmcfg.advice.report.markdown import markdown, pack
from rocmcfg.facts.system import HostHardware
from rocmcfg.model.facts import BootChain, Facts, Os
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg

FAULTS = """\
Nov 21 12:42:56 tower7 kernel: [    0.000000] Linux version 6.14.0-37-generic (buildd@lcy02) #37-Ubuntu
Nov 21 12:42:57 tower7 kernel: amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:153 vmid:8 pasid:32791)
Nov 21 12:42:57 tower7 kernel: amdgpu 0000:03:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x0080113B
Nov 21 12:42:58 tower7 sshd[81]: Accepted publickey for mallory from 192.168.17.4 port 50022
Nov 21 12:42:59 tower7 kernel: usb 1-2: SerialNumber: 0A1B2C3D4E
Nov 21 12:43:00 tower7 train.sh: /home/mallory/train Cijk_Ailk_Bjlk_BBS_BH_UserArgs_MT64x64x64_DTVA0_DTVB1_ISA1201_IU1
Memory access fault by GPU node-1 (Agent handle: 0x55d0c1f7a520) on address 0x7f6459a00000. Reason: Page not present or supervisor privilege.
"""  # noqa: E501
SECRETS = (
    "tower7",
    "mallory",
    "192.168.17.4",
    "0A1B2C3D4E",
    "7e57c0de",
    "PF3XYZ12",
    "0123456789abcdef",
    "b0b0b0b0",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A host with everything that a report must not tell."""
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",), gfx="gfx1201")
    files = {
        "etc/hostname": "tower7\n",
        "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
        "etc/passwd": "root:x:0:0::/root:/bin/sh\nmallory:x:1000:1000:M.,,,:/home/mallory:/bin/sh\n",
        "etc/environment": "MIOPEN_USER_DB_PATH=/home/mallory/miopen\nHSA_XNACK=0\nPATH=/usr/bin\n",
        "etc/modprobe.d/mine.conf": "options amdgpu runpm=0\n",
        "sys/class/dmi/id/board_serial": "PF3XYZ12\n",
        "sys/class/dmi/id/board_name": "X870 PF3XYZ12\n",
        "sys/module/amdgpu/parameters/runpm": "-1\n",
        "proc/cmdline": "root=UUID=7e57c0de-1b2c-4d3e-9f00-abcdefabcdef ro quiet iommu=pt ip=b0b0b0b0\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "fault.log").write_text(FAULTS)
    return root


def test_a_report_has_what_a_maintainer_asks_for_and_nothing_of_the_owner(root: Path, tmp_path: Path) -> None:
    packed = tmp_path / "report.tar.gz"
    found = rocmcfg("report", "--root", root, "--log", root / "fault.log", "--bundle", packed)
    assert found.code == 0, found.err
    for wanted in (
        "Ubuntu" if "Ubuntu" in found.out else "Debian",
        "6.14.0-37-generic",
        "gfx1201",
        "| `amdgpu.runpm` | -1 | 0 | -1 | /etc/modprobe.d/mine.conf:1 |",
        "`iommu=pt` (4 more not shown)",
        "| `HSA_XNACK` | 0 | /etc/environment:2 |",
        "GRUB",
        "**rdna4-hipblaslt-gltr-overread**",
        "GCVM_L2_PROTECTION_FAULT_STATUS:0x0080113B",
    ):
        assert wanted in found.out
    with tarfile.open(packed) as archive:
        names = archive.getnames()
        texts = [archive.extractfile(name).read().decode() for name in names]  # type: ignore[union-attr]
    assert names == ["rocmcfg-report/log-1.txt", "rocmcfg-report/report.md"]
    assert texts[1] == found.out
    assert "page fault" in texts[0]
    for secret in SECRETS:
        for text in (found.out, *texts):
            assert secret.lower() not in text.lower(), secret


def test_a_report_says_the_same_as_json(root: Path) -> None:
    plain = rocmcfg("report", "--root", root, "--log", root / "fault.log").out
    document = json.loads(rocmcfg("report", "--root", root, "--log", root / "fault.log", "--json").out)
    assert document["report"] == plain
    assert document["bundle"] is None


def test_a_bundle_replaces_no_file(root: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.tar.gz"
    mine.write_text("precious")
    found = rocmcfg("report", "--root", root, "--bundle", mine, "--json")
    assert (found.code, found.ids) == (1, ["RC3002"])
    assert mine.read_text() == "precious"
    assert rocmcfg("report", "--root", root, "--bundle", tmp_path / "no/such/x.tar.gz", "--json").ids == [
        "RC3002"
    ]
    assert rocmcfg("report", "--root", root, "--log", tmp_path / "none", "--json").code == 1


def test_a_bundle_of_the_same_host_has_the_same_bytes_and_only_its_owner_reads_it(
    root: Path, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        found = rocmcfg("report", "--root", root, "--log", root / "fault.log", "--bundle", tmp_path / name)
        assert found.code == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_of_its_own_log_a_host_bundles_what_concerns_a_gpu(root: Path, tmp_path: Path) -> None:
    (root / "var/log").mkdir(parents=True, exist_ok=True)
    (root / "var/log/kern.log").write_text(FAULTS)
    assert rocmcfg("report", "--root", root, "--bundle", tmp_path / "a").code == 0
    log = _bundled(tmp_path / "a")
    assert "page fault" in log
    assert "sshd" not in log


def _bundled(path: Path) -> str:
    with tarfile.open(path) as archive:
        log = archive.extractfile("rocmcfg-report/log-1.txt")
        assert log is not None
        return log.read().decode()


def test_a_damaged_log_is_bundled_as_far_as_it_goes(root: Path, tmp_path: Path) -> None:
    lines = "".join(f"amdgpu 0000:03:00.0: {number} {number * 7919 % 65537:x}\n" for number in range(9000))
    packed = bytearray(gzip.compress((FAULTS + lines).encode()))
    middle = len(packed) // 2
    packed[middle : middle + 20] = b"\xff" * 20
    (tmp_path / "a.gz").write_bytes(packed)
    found = rocmcfg("report", "--root", root, "--log", tmp_path / "a.gz", "--bundle", tmp_path / "a")
    assert (found.code, "RC8006" in found.err) == (0, True)
    assert "page fault" in _bundled(tmp_path / "a")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_end_of_a_very_long_line_is_left_out_and_no_next_line_begins_with_it(
    root: Path, tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    long = b"x" * 200_000 + b" password=hunter2"
    (tmp_path / "log").write_bytes(pack(long + b"\n" + b"y" * 65_535 + b"\nlast"))
    assert rocmcfg("report", "--root", root, "--log", tmp_path / "log", "--bundle", tmp_path / "a").code == 0
    first, second, last = _bundled(tmp_path / "a").splitlines()[2:]
    assert (first[-8:], len(first)) == ("xx [...]", 65_542)
    assert (second, last) == ("y" * 65_535, "last")


def test_a_named_log_is_bundled_with_its_context_but_without_its_secrets(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        "ssh carol@node07 'export OPENAI_API_KEY=sk-proj-0123456789abcdef TORCH_USE_HIPBLASLT=1; "
        "x --password hunter2'\n"
        "Traceback (most recent call last):\n"
        "RuntimeError: HIP error: an illegal memory access was encountered\n"
    )
    found = rocmcfg("report", "--root", root, "--log", log, "--bundle", tmp_path / "a")
    bundled = _bundled(tmp_path / "a")
    assert "Traceback" in bundled
    assert "illegal memory access" in bundled
    assert "TORCH_USE_HIPBLASLT" in bundled
    for secret in ("carol", "node07", "sk-proj", "0123456789abcdef", "hunter2"):
        assert secret not in found.out + bundled


def test_the_log_of_another_machine_is_said_to_be_one(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "other.log"
    log.write_text("[drm] initializing kernel modesetting (IP DISCOVERY 0x1002:0x744C 0x1EAE:0x7901 0xC8).\n")
    found = rocmcfg("report", "--root", root, "--log", log)
    assert "The logs are from another machine than the one above: gfx1100" in found.out
    assert "another machine" not in rocmcfg("report", "--root", root, "--log", root / "fault.log").out


def test_what_only_this_boot_was_given_is_shown_known_or_not(root: Path) -> None:
    line = "root=/dev/sda1 amdgpu.gfxoff=0 ttm.pages_limit=25165824 amdgpu.cwsr_enable=0 quiet\n"
    (root / "proc/cmdline").write_text(line)
    (root / "sys/module/amdgpu/parameters/cwsr_enable").write_text("0\n")
    found = rocmcfg("report", "--root", root)
    assert "| `amdgpu.gfxoff` | 0, ignored |  |  | /proc/cmdline |" in found.out
    assert "| `amdgpu.cwsr_enable` | 0 |  | 1 | /proc/cmdline |" in found.out
    assert "| `ttm.pages_limit` |" in found.out


def test_a_host_without_a_gpu_or_a_log_still_has_a_report(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    found = rocmcfg("report", "--root", tmp_path)
    assert found.code == 0
    assert "## Environment" in found.out


_EMPTY: dict[str, Any] = {
    **dict.fromkeys(("parameters", "arguments", "variables", "matches", "trackers", "checks"), ()),
    **dict.fromkeys(("version", "applied", "trouble", "elsewhere"), ""),
    "devices": {},
    "packages": {},
    "tries": (),
    "facts": Facts(Os("", "", ""), (), "", (), None, "", BootChain(None, (), ()), "", True),
    "kernel": None,
    "hardware": HostHardware("", None, "", "", "", ()),
    "other_arguments": 0,
}


@given(st.lists(st.text(max_size=60), max_size=8))
def test_no_line_of_a_log_ends_its_block(lines: list[str]) -> None:
    excerpt = [LogLines("x.log", number, number, 1, False, line) for number, line in enumerate(lines)]
    made = markdown({**_EMPTY, "excerpts": {"x.log": excerpt}}, lambda text: text)
    block = re.search(r"^(`{3,})text\n(.*?)^\1$", made, re.M | re.S)
    if not any(line.splitlines() for line in lines):
        return
    assert block is not None
    assert made.split(block[0])[1].startswith("\n\n</details>")


def test_a_packed_file_unpacks() -> None:
    with tarfile.open(fileobj=io.BytesIO(pack({"x": "y"}))) as archive:
        assert archive.getnames() == ["rocmcfg-report/x"]


PAGE_FAULT = """\
amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:153 vmid:8 pasid:32791)
amdgpu 0000:03:00.0: amdgpu:   in page starting at address 0x00007f6459a00000 from client 10
amdgpu 0000:03:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x0080113B
amdgpu 0000:03:00.0: amdgpu: \t Faulty UTCL2 client ID: DCEDMC (0x0)
"""


def test_a_report_links_the_known_issue_and_shows_where_the_fault_was(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "fault.log"
    log.write_text(FAULTS + PAGE_FAULT)
    said = rocmcfg("report", "--log", log, "--root", root).out
    matches = said.partition("## Known issues that match")[2]
    assert "- **rdna4-hipblaslt-gltr-overread**" in matches
    link = "https://github.com/ROCm/rocm-libraries/issues/7992"
    assert f"  - <{link}>\n" in matches
    assert f"<!-- Post it at {link}" in matches, (
        "seen in the terminal, and not on the page where it is posted"
    )
    assert "in page starting at address 0x00007f6459a00000 from client 10" in matches
    assert "Faulty UTCL2 client ID: DCEDMC" in matches


def test_a_report_of_no_known_issue_says_where_to_post_it(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "fault.log"
    log.write_text("amdgpu 0000:03:00.0: amdgpu: Something new failed\n")
    said = rocmcfg("report", "--log", log, "--root", root).out
    for place in ("https://github.com/ROCm/ROCm/issues", "https://gitlab.freedesktop.org/drm/amd/-/issues"):
        assert place in said


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("etc/profile.d/rocm.sh", b"export HSA_XNACK=$WANTED\n"),
        ("etc/profile.d/rocm.sh", b"export HSA_XNACK=$(wanted)\n"),
        ("etc/environment", b"HSA_XNACK=1\n# caf\xe9\n"),
    ],
)
def test_a_variable_that_only_a_program_can_tell_is_reported(root: Path, path: str, content: bytes) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(content)
    made = rocmcfg("report", "--root", root)
    assert made.code == 0, made.err
    assert "| `HSA_XNACK` | (cannot be told without running the file) |" in made.out
