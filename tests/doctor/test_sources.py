"""Which logs of a running host are read: the journal of two boots, else the ring buffer, else files."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import pytest

from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.host.local import LocalHost
from rocmcfg.workflow import diagnosing
from tests.support.hosts import debian_grub_host

BOOT = "Linux version 6.12.107+deb13-amd64 (b)\n"
FAULT = "amdgpu 0000:03:00.0: amdgpu: failed to unmap legacy queue *ERROR*\n"


class RunningHost(LocalHost):
    """A tree that stands for the running system; `printed` is what its programs print."""

    printed: Mapping[str, str]

    @property
    def runs_tools(self) -> bool:
        return True

    @property
    def offline(self) -> bool:
        return False

    def query(self, argv: Sequence[str]) -> None:
        del argv

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        text = next((text for key, text in self.printed.items() if " ".join(argv).endswith(key)), None)
        return None if text is None else io.BytesIO(text.encode())


@pytest.mark.parametrize(
    ("printed", "read", "ids"),
    [
        (
            {"-b -1": BOOT + FAULT, "-b 0": BOOT, "dmesg": BOOT},
            ["the journal of the previous boot", "the journal of this boot"],
            [],
        ),
        ({"-b -1": "", "-b 0": BOOT, "dmesg": BOOT}, ["the journal of this boot"], []),
        ({"-b -1": "", "-b 0": "", "dmesg": BOOT}, ["dmesg"], []),
        ({"dmesg": BOOT}, ["dmesg"], []),  # no systemd
        ({"dmesg": ""}, ["/var/log/kern.log"], []),
    ],
)
def test_the_first_way_that_gives_anything_is_taken(
    tmp_path: Path, printed: Mapping[str, str], read: list[str], ids: list[str]
) -> None:
    host = RunningHost(str(debian_grub_host(tmp_path, extra={"var/log/kern.log": BOOT})))
    host.printed = printed
    found = diagnosing.diagnose(host, (), Options(), {})
    assert [log.name for log in found.logs if log.size] == read
    assert [d.id for d in found.diagnostics] == ids
    assert (len(found.unknown) == 1) == any(FAULT in text for text in printed.values())


def test_a_host_that_shows_no_log_says_how_to_see_one(tmp_path: Path) -> None:
    host = RunningHost(str(debian_grub_host(tmp_path)))
    host.printed = {"-b 0": "", "dmesg": ""}
    (problem,) = diagnosing.diagnose(host, (), Options(), {}).diagnostics
    assert problem.id == "RC8001"
    assert "sudo rocmcfg doctor" in problem.hint
