"""`facts --save` and `verify --against`: which facts, what differs, what of it matters, and what to do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.knowledge.host_facts import fact_groups, fact_rows
from rocmcfg.model.host_facts import step
from tests.gate.golden_hosts import (
    GPUS,
    broken,
    instinct_host,
    port_of,
    set_of_gpu,
    slot_of,
    write,
)
from tests.support.hosts import debian_grub_host, partitioned_instinct_host
from tests.support.program import Result, rocmcfg


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return instinct_host(tmp_path)


@pytest.fixture
def golden(tmp_path: Path, root: Path) -> Path:
    file = tmp_path / "golden.json"
    assert rocmcfg("facts", "--save", file, "--root", root).code == 0
    return file


def against(golden: Path, root: Path, *options: str | Path) -> Result:
    return rocmcfg("verify", "--against", golden, "--root", root, *options)


def differences(golden: Path, root: Path) -> dict[str, dict[str, Any]]:
    rows = against(golden, root, "--json").document["differences"]
    assert len({row["fact"] for row in rows}) == len(rows)
    return {row["fact"]: row for row in rows}


# -- the facts ------------------------------------------------------------------------------------------


def test_a_host_is_as_itself(golden: Path, root: Path) -> None:
    result = against(golden, root)
    assert (result.code, result.out) == (0, "As the golden host: 122 facts compared.\n")
    assert against(golden, root, "--json").document["differences"] == []


def test_what_amds_guides_ask_for_is_read(golden: Path) -> None:
    document = json.loads(golden.read_text())
    assert document["values"]["numa_balancing"] == "0"
    assert document["values"]["idle_states"] == "POLL on, C1 on, C2 off"
    assert document["values"]["huge_pages"] == "madvise"
    assert document["values"]["gpus"] == "8 × gfx942"
    assert document["values"]["memory"] == "1510.6 GiB"
    assert document["arguments"] == {"iommu": "pt", "pci": "realloc=off"}
    assert document["variables"] == {"HSA_XNACK": "1"}
    assert document["packages"] == {"linux-firmware": "20260101", "rocm-core": "7.0.1-42"}
    assert document["parameters"]["amdgpu.runpm"] == "-1"
    assert [gpu["address"] for gpu in document["gpus"]] == [slot_of(at) for at in range(GPUS)]
    assert document["gpus"][0]["values"] == {
        "compute_partition": "SPX",
        "memory_partition": "NPS1",
        "vram": "196592 MiB",
        "link_width": "16",
        "link_speed": "32.0 GT/s",
        "window": "all",
        "iommu": "identity",
        "acs": "off",
        "firmware.smc": "0x00554500",
        "firmware.sdma": "0x00000018",
        "vbios": "113-M3000100-102",
    }


def test_no_secret_no_serial_number_and_no_name_is_in_it(golden: Path, root: Path) -> None:
    text = golden.read_text()
    for secret in ("SECRET", "hunter2", "API_TOKEN", "node17", "secret-agent"):
        assert secret not in text
    named = rocmcfg("facts", "--json", "--name-host", "--root", root).document
    assert named["host"] == "node17.cluster.example"
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", named["written"])


def test_a_value_that_cannot_be_read_has_a_reason_and_no_value(root: Path) -> None:
    (root / "proc/sys/kernel/numa_balancing").unlink()
    write(root, "sys/kernel/mm/transparent_hugepage/enabled", "x" * 300)
    set_of_gpu(root, 0, "current_link_width", 0)
    bridge = root / "sys/bus/pci/devices" / port_of(0) / "config"
    bridge.write_bytes(bridge.read_bytes()[:64])
    document = rocmcfg("facts", "--json", "--root", root).document
    reasons = {row["fact"]: row["reason"] for row in document["cannot_be_told"]}
    assert reasons["numa_balancing"] == "there is no /proc/sys/kernel/numa_balancing"
    assert "does not hold one short line" in reasons["huge_pages"]
    assert reasons["link_width"] == "the kernel does not know it"
    assert reasons["acs"] == "only root may read the settings of PCI bridges"
    assert not {"numa_balancing", "huge_pages"} & {*document["values"]}
    assert not {"link_width", "acs"} & {*document["gpus"][0]["values"]}
    assert document["gpus"][1]["values"]["acs"] == "off"


def test_the_state_of_a_rescue_system_is_not_taken_for_the_hosts(root: Path) -> None:
    """A rescue system binds its own /proc and /sys into the host that it repairs."""

    class Lent(LocalHost):
        kernel_is_lent = True

    document = rocmcfg("facts", "--json", "--root", root, host=Lent).document
    of_the_boot = {"numa_balancing", "huge_pages", "idle_states", "governor", "compaction", "kernel"}
    assert not of_the_boot & {*document["values"]}
    assert of_the_boot <= {row["fact"] for row in document["cannot_be_told"]}
    assert document["parameters"] == document["arguments"] == {}
    assert not {"compute_partition", "memory_partition", "iommu"} & {*document["gpus"][0]["values"]}
    assert document["gpus"][0]["values"]["link_width"] == "16", "the machine is the same"
    assert document["packages"]


def test_partitions_are_devices_of_one_card(tmp_path: Path) -> None:
    document = rocmcfg("facts", "--json", "--root", partitioned_instinct_host(tmp_path)).document
    assert document["values"]["gpus"] == "8 × gfx942 as 64 devices"
    assert len(document["gpus"]) == 8


def test_a_host_without_a_gpu_is_named(tmp_path: Path) -> None:
    bare = debian_grub_host(tmp_path, gfx=[])
    (bare / "sys/bus/pci/devices").mkdir(parents=True)
    result = rocmcfg("facts", "--root", bare)
    assert result.code == 0
    assert "RC4706" in result.err


def test_a_golden_host_that_is_not_as_amd_asks_is_named(root: Path) -> None:
    assert "RC4708" not in rocmcfg("facts", "--root", root).err
    broken(root)
    diagnostics = rocmcfg("facts", "--json", "--root", root).document["diagnostics"]
    assert [d["summary"].partition(":")[0] for d in diagnostics if d["id"] == "RC4708"] == [
        "access control (ACS) above the GPU",
        "automatic NUMA balancing",
        "idle states of the processors (C-states)",
    ]
    assert "sysctl -w kernel.numa_balancing=0" in diagnostics[1]["hint"]


def test_every_row_of_the_data_has_a_reader(root: Path, golden: Path) -> None:
    document = json.loads(golden.read_text())
    shown = {*document["values"], *(id.partition(".")[0] for gpu in document["gpus"] for id in gpu["values"])}
    untold = {row["fact"] for row in document["cannot_be_told"]}
    assert {row.id for row in fact_rows()} == shown | untold
    assert untold == {"board", "secure_boot"}
    for row in fact_rows():
        assert all(source.startswith(("https://", "kernel ")) for source in row.sources), row.id
        assert step(row.fix, value="V", here="H")
    for group in fact_groups().values():
        assert step(group.fix, name="N", value="V") + step(group.unset, name="N")


# -- the differences ------------------------------------------------------------------------------------


def test_what_matters_most_comes_first_each_with_a_step(golden: Path, root: Path) -> None:
    broken(root)
    write(root, "proc/sys/vm/compaction_proactiveness", 0)
    write(root, "proc/meminfo", "MemTotal:       792000000 kB")
    rows = against(golden, root, "--json").document["differences"]
    assert [(row["fact"], row["severity"], row["golden"], row["here"], row["gpus"]) for row in rows] == [
        ("link_width", "error", "16", "7 × 16, 1 × 8", [slot_of(2)]),
        ("acs", "warning", "off", "7 × off, 1 × on", [slot_of(5)]),
        ("numa_balancing", "warning", "0", "1", []),
        ("idle_states", "warning", "POLL on, C1 on, C2 off", "POLL on, C1 on, C2 on (1), off (3)", []),
        ("memory", "warning", "1510.6 GiB", "755.3 GiB", []),
        ("compaction", "info", "20", "0", []),
    ]
    assert all(row["fix"] and row["why"] for row in rows)
    assert "kernel.numa_balancing=0" in rows[2]["fix"]
    text = against(golden, root).out
    assert "PCIe width: 7 × 16, 1 × 8 (0000:05:00.0); golden host: 16" in text


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({}, (0, 0, 0, 0)),
        ({"os": "info"}, (0, 0, 0, 0)),
        ({"numa_balancing": "warning"}, (3, 1, 1, 1)),
        ({"link_width": "error"}, (3, 2, 1, 1)),
    ],
)
def test_the_exit_codes_say_what_matters(
    golden: Path, root: Path, change: dict[str, str], codes: tuple[int, ...]
) -> None:
    """The exit code alone, and those for Nagios, node-problem-detector and Slurm."""
    if "numa_balancing" in change:
        write(root, "proc/sys/kernel/numa_balancing", 1)
    if "link_width" in change:
        set_of_gpu(root, 0, "current_link_width", 4)
    if "os" in change:
        write(root, "etc/os-release", 'ID=debian\nPRETTY_NAME="Debian GNU/Linux 14"')
    rows = differences(golden, root)
    assert {id: row["severity"] for id, row in rows.items()} == change
    styles = [against(golden, root, "--exit-style", style) for style in ("nagios", "npd", "slurm")]
    assert (against(golden, root).code, *(style.code for style in styles)) == codes
    assert all(len(style.out.rstrip()) <= 80 and style.out.isascii() for style in styles)


def test_a_golden_host_that_cannot_be_read_is_unknown_to_monitors(tmp_path: Path, root: Path) -> None:
    codes = [
        against(tmp_path / "none", root, "--exit-style", style).code for style in ("nagios", "npd", "slurm")
    ]
    assert codes == [3, 2, 1]


def test_a_lost_gpu_is_one_difference_and_not_one_for_each_fact(golden: Path, tmp_path: Path) -> None:
    seven = instinct_host(tmp_path, gpus=7, name="seven")
    rows = differences(golden, seven)
    assert {id: (row["golden"], row["here"]) for id, row in rows.items()} == {
        "gpus": ("8 × gfx942", "7 × gfx942")
    }


def test_a_disk_that_runs_no_kernel_shows_no_gpus_and_has_lost_none(golden: Path, tmp_path: Path) -> None:
    disk = debian_grub_host(tmp_path, gfx=[], live=False, name="disk")
    result = against(golden, disk, "--json")
    row = next(row for row in result.document["differences"] if row["fact"] == "gpus")
    assert (row["here"], row["reason"]) == ("", "the host does not show it")
    assert "RC4706" not in rocmcfg("facts", "--root", disk).err


def test_a_host_without_gpus_differs(golden: Path, tmp_path: Path) -> None:
    bare = debian_grub_host(tmp_path, gfx=[], name="bare")
    (bare / "sys/bus/pci/devices").mkdir(parents=True)
    rows = differences(golden, bare)
    assert rows["gpus"]["here"] == "none"
    assert rows["gpus"]["severity"] == "error"


def test_addresses_and_names_may_differ(golden: Path, root: Path) -> None:
    write(root, "proc/sys/kernel/hostname", "node18")
    slot = root / "sys/bus/pci/devices" / slot_of(7)
    target = slot.resolve()
    moved = target.parent / "0000:77:00.0"
    target.rename(moved)
    slot.unlink()
    (slot.parent / moved.name).symlink_to(f"../../../../{moved.relative_to(root)}")
    for properties in (root / "sys/class/kfd/kfd/topology/nodes").glob("*/properties"):
        text = properties.read_text()
        properties.write_text(text.replace(f"location_id {0x0A00}\n", f"location_id {0x7700}\n"))
    assert rocmcfg("facts", "--json", "--root", root).document["gpus"][-1]["address"] == moved.name
    assert differences(golden, root) == {}


def test_a_value_that_cannot_be_told_here_is_no_difference_that_matters(golden: Path, root: Path) -> None:
    (root / "proc/sys/kernel/numa_balancing").unlink()
    result = against(golden, root, "--json")
    assert result.code == 0
    (row,) = result.document["differences"]
    assert (row["fact"], row["here"]) == ("numa_balancing", "")
    assert row["reason"] == "there is no /proc/sys/kernel/numa_balancing"
    assert "RC4707" in result.ids
    assert "1 of them unknown" in against(golden, root).out


def test_names_of_their_own_are_compared_both_ways(golden: Path, root: Path) -> None:
    write(root, "etc/environment", "HIP_VISIBLE_DEVICES=0")
    cmdline = root / "proc/cmdline"
    cmdline.write_text(cmdline.read_text().replace("iommu=pt", "amd_iommu=off"))
    write(root, "sys/module/amdgpu/parameters/runpm", 0)
    write(root, "sys/module/amdgpu/parameters/of_a_newer_kernel", 1)
    rows = differences(golden, root)
    assert {id: (row["golden"], row["here"]) for id, row in rows.items()} == {
        "parameters.amdgpu.runpm": ("-1", "0"),
        "arguments.amd_iommu": ("", "off"),
        "arguments.iommu": ("pt", ""),
        "variables.HIP_VISIBLE_DEVICES": ("", "0"),
        "variables.HSA_XNACK": ("1", ""),
    }
    assert "apply --add karg.iommu=pt" in rows["arguments.iommu"]["fix"]
    assert "remove" in rows["arguments.amd_iommu"]["fix"]


def test_numbers_that_depend_on_memory_may_differ_a_little(tmp_path: Path, root: Path) -> None:
    write(root, "sys/module/ttm/parameters/pages_limit", 198000000)
    golden = tmp_path / "with-ttm.json"
    rocmcfg("facts", "--save", golden, "--root", root)
    write(root, "sys/module/ttm/parameters/pages_limit", 198000123)
    write(root, "proc/meminfo", "MemTotal:       1583000000 kB")
    assert differences(golden, root) == {}
    write(root, "sys/module/ttm/parameters/pages_limit", 100000000)
    write(root, "proc/meminfo", "MemTotal:       1450000000 kB")
    assert {*differences(golden, root)} == {"parameters.ttm.pages_limit", "memory"}


def test_what_is_deleted_from_the_document_or_ignored_is_not_compared(golden: Path, root: Path) -> None:
    broken(root)
    write(root, "var/lib/dpkg/status", "Package: rocm-core\nStatus: install ok installed\nVersion: 9\n")
    document = json.loads(golden.read_text())
    del document["values"]["numa_balancing"]
    for gpu in document["gpus"]:
        del gpu["values"]["acs"]
    document["ignore"] = ["packages.*", "idle_*", "nothing"]
    golden.write_text(json.dumps(document))
    result = against(golden, root, "--json")
    assert [row["fact"] for row in result.document["differences"]] == ["link_width"]
    assert "RC4710" in result.ids, "a pattern that names nothing may be misspelt"


# -- wrong documents ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("", "RC4702"),
        ("{", "RC4702"),
        ("\0", "RC4702"),
        ("[" * 100_000, "RC4702"),
        ('{"schema_version": 1, "schema_version": 1}', "RC4702"),
        ('{"schema_version": 1, "command": "facts", "values": {"os": "a", "os": "b"}}', "RC4702"),
        ("[]", "RC4703"),
        ("7", "RC4703"),
        ('{"command": "facts"}', "RC4703"),
        ('{"schema_version": true, "command": "facts"}', "RC4703"),
        ('{"schema_version": 1, "command": "status"}', "RC4703"),
        ('{"schema_version": 1, "command": "facts"}', "RC4704"),
        ('{"schema_version": 1, "command": "facts", "values": []}', "RC4704"),
        ('{"schema_version": 1, "command": "facts", "values": {"os": 7}}', "RC4704"),
        ('{"schema_version": 1, "command": "facts", "values": {"os": "a\\u0000b"}}', "RC4704"),
        ('{"schema_version": 1, "command": "facts", "values": {"os": "\\ud800"}}', "RC4704"),
        ('{"schema_version": 1, "command": "facts", "values": {"os": "\\udc80"}}', "RC4704"),
        ('{"schema_version": 1, "command": "facts", "arguments": {"a\\nerror: b": "c"}}', "RC4704"),
        ('{"schema_version": 1, "command": "facts", "gpus": [7]}', "RC4704"),
        ('{"schema_version": 1, "command": "facts", "values": {"of_a_newer_one": "1"}}', "RC4711"),
        ('{"schema_version": 2, "command": "facts", "values": {"os": "a"}}', "RC4705"),
        ('{"schema_version": 0, "command": "facts", "values": {"os": "a"}}', "RC4705"),
    ],
)
def test_another_text_is_an_error_and_never_a_traceback(golden: Path, root: Path, text: str, id: str) -> None:
    golden.write_text(text)
    result = against(golden, root, "--json")
    assert (result.code, result.ids[0]) == (1, id)
    assert result.document["diagnostics"][0]["hint"]


def test_bytes_that_are_no_text_and_files_without_end_are_errors(golden: Path, root: Path) -> None:
    golden.write_bytes(b"\xff\xfe{}")
    assert against(golden, root, "--json").ids[0] == "RC4702"
    with golden.open("wb") as stream:
        stream.truncate(1 << 40)
    assert against(golden, root, "--json").ids[0] == "RC4701"
    for path in (Path("/dev/zero"), golden.parent, golden.parent / "none"):
        assert against(path, root, "--json").ids[0] == "RC3001"


@pytest.mark.parametrize(
    "change",
    [
        {"ignore": [f"*a*b*{number}" for number in range(100_000)]},
        {"ignore": ["*a" * 200_000]},
        {"packages": {f"a{number}": "1" for number in range(100_000)}},
    ],
)
def test_a_document_with_too_much_to_compare_is_refused(
    golden: Path, root: Path, change: dict[str, object]
) -> None:
    """Each pattern is compared with each fact: a document of 2 MiB would take hours."""
    golden.write_text(json.dumps(json.loads(golden.read_text()) | change))
    refused = against(golden, root, "--json")
    assert (refused.code, refused.ids) == (1, ["RC4704"])
    assert "too much to compare" in refused.out


def test_a_document_of_a_newer_rocmcfg_with_the_same_schema_is_compared(golden: Path, root: Path) -> None:
    document = json.loads(golden.read_text())
    document |= {"more": {"a": 1}}
    document["values"]["of_a_newer_rocmcfg"] = "1"
    golden.write_text(json.dumps(document))
    result = against(golden, root, "--json")
    assert (result.code, result.document["differences"]) == (0, [])
    assert "RC4709" in result.ids


def test_facts_that_are_not_compared_do_not_count(golden: Path, root: Path) -> None:
    document = json.loads(golden.read_text())
    document["values"]["of_a_newer_rocmcfg"] = "1"
    document["gpus"][0]["values"]["of_a_newer_rocmcfg"] = "1"
    document["parameters"]["amdgpu.of_another_kernel"] = "1"
    document["ignore"] = ["os"]
    golden.write_text(json.dumps(document))
    assert against(golden, root).out == "As the golden host: 121 facts compared.\n"


def test_a_gate_that_compares_nothing_is_not_open(golden: Path, root: Path) -> None:
    golden.write_text(json.dumps(json.loads(golden.read_text()) | {"ignore": ["*"]}))
    assert against(golden, root, "--json").ids[0] == "RC4711"
    assert against(golden, root, "--exit-style", "nagios").code == 3


def test_a_step_is_one_command_whatever_the_other_host_has(golden: Path, root: Path) -> None:
    document = json.loads(golden.read_text())
    document["variables"] |= {"HIP_VISIBLE_DEVICES": "0; reboot"}
    document["arguments"] |= {"$(reboot)": "1"}
    golden.write_text(json.dumps(document))
    rows = differences(golden, root)
    assert rows["variables.HIP_VISIBLE_DEVICES"]["fix"].endswith(
        "apply --add env.HIP_VISIBLE_DEVICES='0; reboot'"
    )
    assert rows["arguments.$(reboot)"]["fix"].endswith("apply --add karg.'$(reboot)'=1")


def test_a_value_that_cannot_be_printed_is_not_saved(root: Path, tmp_path: Path) -> None:
    (root / "sys/class/dmi/id/bios_version").write_text("1.4\x07\n")
    file = tmp_path / "golden.json"
    assert rocmcfg("facts", "--save", file, "--root", root).code == 0
    document = json.loads(file.read_text())
    assert "bios" not in document["values"]
    assert "bios" in [each["fact"] for each in document["cannot_be_told"]]
    assert against(file, root).code == 0


def test_the_saved_file_keeps_the_permissions_of_the_one_before(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "golden.json"
    file.write_text("{}")
    file.chmod(0o600)
    assert rocmcfg("facts", "--save", file, "--root", root).code == 0
    assert json.loads(file.read_text())["values"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_hostile_document_cannot_speak_to_the_terminal(golden: Path, root: Path) -> None:
    document = json.loads(golden.read_text())
    document["values"]["os"] = "\x1b]0;owned\x07"
    document["packages"]["\x1b[31mred"] = "1"
    golden.write_text(json.dumps(document))
    result = against(golden, root)
    assert "\x1b" not in result.out + result.err
    assert "\x07" not in result.out + result.err


def test_settings_and_facts_are_verified_together(golden: Path, root: Path) -> None:
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--yes", "--root", root).code == 0
    assert against(golden, root).code == 6
    broken(root)
    result = against(golden, root)
    assert result.code == 3
    assert "Pending: 1 of 1 settings." in result.out
    assert "PCIe width" in result.out


def test_a_step_names_one_value_or_none(tmp_path: Path, root: Path, golden: Path) -> None:
    for at in range(GPUS):
        set_of_gpu(root, at, "current_compute_partition", "CPX")
    (row,) = differences(golden, root).values()
    assert row["fix"].startswith("sudo amd-smi set --gpu all --compute-partition SPX,")
    set_of_gpu(root, 0, "current_compute_partition", "SPX")
    mixed = tmp_path / "mixed.json"
    rocmcfg("facts", "--save", mixed, "--root", root)
    set_of_gpu(root, 0, "current_compute_partition", "CPX")
    (row,) = differences(mixed, root).values()
    assert (row["golden"], row["here"]) == ("7 × CPX, 1 × SPX", "CPX")
    assert "--compute-partition VALUE," in row["fix"]


def test_more_gpus_than_the_golden_host_has_are_one_difference(root: Path, tmp_path: Path) -> None:
    golden = tmp_path / "seven.json"
    rocmcfg("facts", "--save", golden, "--root", instinct_host(tmp_path, gpus=7, name="seven"))
    assert {*differences(golden, root)} == {"gpus"}
    set_of_gpu(root, 7, "current_link_width", 8)
    assert {*differences(golden, root)} == {"gpus", "link_width"}


def test_a_group_that_cannot_be_read_is_one_remark(golden: Path, root: Path) -> None:
    (root / "var/lib/dpkg/status").unlink()
    (root / "proc/cmdline").unlink()
    result = against(golden, root, "--json")
    rows = {row["fact"]: row for row in result.document["differences"]}
    assert {*rows} == {"packages", "arguments"}
    assert rows["packages"]["reason"] == "there is no database of dpkg, rpm or pacman"
    assert result.code == 0
    assert result.ids.count("RC4707") == 2
