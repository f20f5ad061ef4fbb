"""What amdgpu, amdkfd and TTM print when something failed is answered by a fault class with a cause and an
action of its own; so is each line that AMD's node-scraper calls an error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.catalogue import driver_messages
from tests.catalogue.driver_messages import DATA, Coverage, DriverMessage, FaultClass

# A class must answer its share of the texts of Linux 7.3.4. Raise a bar when a class adds to it.
BARS = {"error": 0.98, "warning": 0.93, "info": 0.80}
# Texts that people ask about, with the class that must answer them.
PINNED = {
    "AMD-101": "Failed to get gpu_info firmware",
    "AMD-103": "PSP load sos failed!",
    "AMD-106": "Unable to locate a BIOS ROM",
    "AMD-107": "atombios stuck in loop for more than",
    "AMD-109": "invalid ip discovery binary checksum",
    "AMD-203": "device lost from bus!",
    "AMD-206": "Problem resizing BAR0",
    "AMD-301": "Fatal error during GPU init",
    "AMD-303": "hw_init of IP block <%s> failed %d",
    "AMD-304": "ring %s test failed (%d)",
    "AMD-305": "KIQ failed to set resources",
    "AMD-306": "failed to load MES fw",
    "AMD-401": "[%s] page fault (src_id:%u ring:%u vmid:%u pasid:%u)",
    "AMD-403": "Timeout waiting for VM flush ACK!",
    "AMD-404": "Failed to find memory space for buffer",
    "AMD-405": "Not enough memory for command submission!",
    "AMD-501": "ring %s timeout, signaled seq=%u, emitted seq=%u",
    "AMD-502": "MES failed to respond to msg=%s",
    "AMD-503": "Illegal opcode in command stream",
    "AMD-509": "VCN decode not responding, giving up!!!",
    "AMD-601": "hw_done or flip_done timed out",
    "AMD-602": "DMCUB error - collecting diagnostic data",
    "AMD-604": "displayport link status failed",
    "AMD-605": "No EDID read.",
    "AMD-703": "GPU Recovery Failed: %d",
    "AMD-704": "Ring %s reset succeeded",
    "AMD-705": "Ring %s reset failed",
    "AMD-801": "new correctable hardware errors detected in %s block",
    "AMD-802": "new uncorrectable hardware errors detected in %s block",
    "AMD-803": "Poison is created",
    "AMD-804": "poison is consumed by client %d, kick off gpu reset flow",
    "AMD-805": "Saved bad pages %d reaches threshold value %d",
    "AMD-811": "uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!",
    "AMD-814": "XGMI: Failed to add node %d, hive 0x%llx ret: %d",
    "AMD-905": "qcm fence wait loop timeout expired",
    "AMD-907": "Failed to map bo to gpuvm",
    "AMD-909": "Failed to restore CRIU",
    "AMD-1601": "SMU is in hanged state, failed to send smu message!",
    "AMD-1602": "SMC engine is not correctly up!",
    "AMD-1605": "System is going to shutdown due to GPU HW CTF!",
    "AMD-1606": "WARN: GPU is throttled, expect performance decrease.",
    "AMD-1607": "suspend of IP block <%s> failed %d",
    "AMD-1608": "resume of IP block <%s> failed %d",
}
SOURCE = r"""
static int amdgpu_fox_init(struct amdgpu_device *adev)
{
	/* dev_err(adev->dev, "in a comment"); */
	if (r)
		dev_err_ratelimited(adev->dev, "failed to wake the fox (%d), "
			"ring \"%s\"\n", r, name);
	pr_debug("no error");
	drm_err(adev_to_drm(adev), "fox at 0x%" PRIx64 " is gone\n", address);
	dev_warn(adev->dev, "the fox sleeps\n");
	dev_warn(adev->dev, "the fox failed to sleep\n");
	WARN_ONCE(fox > 3, "Too many foxes: %d", fox);
}
"""


@pytest.fixture(scope="module")
def messages() -> list[DriverMessage]:
    return driver_messages.read_data()


@pytest.fixture(scope="module")
def classes() -> list[FaultClass]:
    return driver_messages.fault_classes()


@pytest.fixture(scope="module")
def coverages(messages: list[DriverMessage], classes: list[FaultClass]) -> dict[str, Coverage]:
    return {
        level: driver_messages.coverage([message for message in messages if message.level == level], classes)
        for level in BARS
    }


def own_classes(line: str, classes: list[FaultClass]) -> list[str]:
    return [fault.id for fault in classes if not fault.general and fault.answers(line)]


@pytest.mark.parametrize("level", BARS)
def test_the_driver_s_texts_are_answered_by_classes_of_their_own(
    level: str, coverages: dict[str, Coverage]
) -> None:
    assert coverages[level].share >= BARS[level], [message.text for message in coverages[level].nothing]


@pytest.mark.parametrize("level", BARS)
def test_no_text_belongs_to_two_classes(level: str, coverages: dict[str, Coverage]) -> None:
    assert not [(ids, message.text) for message, ids in coverages[level].twice]


@pytest.mark.parametrize("id", PINNED)
def test_a_text_that_people_ask_about_has_its_class(
    id: str, messages: list[DriverMessage], classes: list[FaultClass]
) -> None:
    texts = [message for message in messages if PINNED[id] in message.text]
    assert texts, f"Linux does not print {PINNED[id]!r} any more"
    assert {tuple(own_classes(text.line(), classes)) for text in texts} == {(id,)}


def test_each_line_that_node_scraper_looks_for_has_its_class(classes: list[FaultClass]) -> None:
    rows = (DATA / "node-scraper-lines.tsv").read_text().splitlines()
    answered = [
        (message, id, own_classes(line, classes))
        for message, id, line in (row.split("\t") for row in rows if not row.startswith("#"))
    ]
    assert [row for row in answered if row[2] != [row[1]]] == []


def test_the_messages_of_a_source_are_read_with_function_and_whole_text(tmp_path: Path) -> None:
    file = tmp_path / "drivers/gpu/drm/amd/amdgpu/amdgpu_fox.c"
    file.parent.mkdir(parents=True)
    file.write_text(SOURCE)
    read = [*driver_messages.read_source(tmp_path)]
    assert {message.function for message in read} == {"amdgpu_fox_init"}
    assert [(message.level, message.printer, message.text) for message in read] == [
        ("error", "dev", 'failed to wake the fox (%d), ring "%s"'),
        ("error", "drm", "fox at 0x%x is gone"),
        ("warning", "dev", "the fox failed to sleep"),
        ("error", "warn", "Too many foxes: %d"),
    ]
    assert read[0].line() == 'amdgpu 0000:03:00.0: amdgpu: failed to wake the fox (7), ring "gfx"'
    driver_messages.write_data(read, tmp_path / "driver-messages-1.txt")
    assert driver_messages.read_data(tmp_path / "driver-messages-1.txt") == read


def test_a_text_with_a_class_of_its_own_counts_and_a_catch_all_does_not() -> None:
    fox = DriverMessage("error", "dev", "amd/fox.c", "fox", "fox gone")
    hen = fox._replace(text="hen gone")
    own = FaultClass("AMD-1", False, [(re.compile("fox"), ("amdgpu",))])
    general = FaultClass("AMD-99", True, [(re.compile("gone"), ())])
    counted = driver_messages.coverage([fox, hen, hen], [own, general])
    assert (counted.own, counted.general, counted.nothing, counted.share) == ([fox], [hen], [], 0.5)
