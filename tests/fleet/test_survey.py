"""Who is odd, what changed, and which workarounds the next kernel ends."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from tests.fleet.hosts import document, put, status, verify
from tests.gate.golden_hosts import broken, instinct_host, write
from tests.support.program import rocmcfg


def hosts(*arguments: str | Path) -> dict[str, dict[str, Any]]:
    done = rocmcfg("fleet", *arguments, "--json")
    assert done.code == 0, done.err
    return {host["name"]: host for host in done.document["hosts"]}


def test_states_and_shares_are_counted(tmp_path: Path) -> None:
    put(tmp_path / "a.json", verify())
    put(tmp_path / "b.json", verify("pending", "1"))
    put(tmp_path / "c.json", verify("differences", "1"))
    put(tmp_path / "d.json", document("doctor"))
    shown = rocmcfg("fleet", tmp_path, "--json").document
    assert [(share["value"], share["hosts"]) for share in shown["states"]] == [
        ("drifting", 1),
        ("unknown", 1),
        ("pending", 1),
        ("in_effect", 1),
    ]
    assert [(fault["id"], fault["layer"], fault["hosts"]) for fault in shown["faults"]] == [
        ("AMD-1007", "hsa", 1),
        ("AMD-401", "memory", 1),
    ]
    wrong = {share["value"] for share in shown["wrong"]}
    assert wrong == {
        "amdgpu.cwsr_enable: drift, is 1, not 0",
        "amdgpu.cwsr_enable: pending reboot, is 1, not 0",
    }


def test_a_host_that_lost_a_gpu_is_odd_among_its_peers(tmp_path: Path) -> None:
    for number in range(4):
        put(tmp_path / f"node{number}.json", status(gpus=8))
    put(tmp_path / "node4.json", status(gpus=7))
    put(tmp_path / "node5.json", status(gpus=0))
    odd = {name: host["odd"] for name, host in hosts(tmp_path).items() if host["odd"]}
    usual = "8 × gfx1201"
    assert odd == {
        "node4": [{"what": "GPUs", "value": "7 × gfx1201", "usual": usual}],
        "node5": [{"what": "GPUs", "value": "none", "usual": usual}],
    }


def test_a_setting_that_only_one_host_lacks_is_odd_and_one_that_drifts_is_not_named_twice(
    tmp_path: Path,
) -> None:
    for number in range(4):
        put(tmp_path / f"node{number}.json", verify())
    put(tmp_path / "lacks.json", verify() | {"checks": verify()["checks"][1:]})
    put(tmp_path / "drifts.json", verify("differences", "1"))
    shown = hosts(tmp_path)
    assert shown["lacks"]["odd"] == [{"what": "amdgpu.cwsr_enable", "value": "not set", "usual": "0"}]
    assert shown["drifts"]["odd"] == []


def test_without_a_majority_nobody_is_odd(tmp_path: Path) -> None:
    for number in range(4):
        kernel = "6.14.0-37-generic" if number % 2 else "6.8.0-90-generic"
        put(tmp_path / f"node{number}.json", status(kernel=kernel))
    assert [host["odd"] for host in hosts(tmp_path).values()] == [[], [], [], []]


def test_the_next_kernel_ends_the_workaround_whose_fix_it_has(tmp_path: Path) -> None:
    put(tmp_path / "stays.json", status(newest="6.17.0-5-generic"))
    put(tmp_path / "ends.json", status(newest="6.19.0-5-generic"))
    put(tmp_path / "runs.json", status(kernel="6.19.0-5-generic"))
    put(tmp_path / "needless.json", status(kernel="6.19.1-arch1-1", newest="6.20.0-arch1-1"))
    put(tmp_path / "not-set.json", status(newest="6.19.0-5-generic") | {"parameters": []})
    shown = rocmcfg("fleet", tmp_path, "--json").document
    ending = {host["name"]: (host["next_kernel"], host["ending"]) for host in shown["hosts"]}
    assert ending == {
        "stays": ("6.17.0-5-generic", []),
        "ends": ("6.19.0-5-generic", ["amdgpu.cwsr_enable"]),
        "runs": ("", []),
        "needless": ("6.20.0-arch1-1", []),
        "not-set": ("6.19.0-5-generic", []),
    }
    (row,) = (w for w in shown["workarounds"] if w["setting"] == "amdgpu.cwsr_enable")
    assert (row["hosts"], row["ending"]) == (4, 1)
    assert "6.19" in row["ends_with"]


def test_another_kernel_can_be_asked_about(tmp_path: Path) -> None:
    put(tmp_path / "a.json", status())
    assert hosts(tmp_path)["a"]["ending"] == []
    assert hosts(tmp_path, "--kernel", "6.19")["a"]["ending"] == ["amdgpu.cwsr_enable"]
    refused = rocmcfg("fleet", tmp_path, "--kernel", "newest")
    assert (refused.code, "'newest' is not a kernel version" in refused.err) == (2, True)


def test_what_changed_since_an_older_collection_is_shown(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    put(old / "same.json", status())
    put(new / "same.json", status())
    put(old / "broke.verify.json", verify())
    put(new / "broke.verify.json", verify("differences", "1"))
    put(old / "broke.doctor.json", document("doctor", faults=[]))
    put(new / "broke.doctor.json", document("doctor"))
    put(old / "updated.json", status())
    put(new / "updated.json", status(kernel="6.19.0-5-generic"))
    put(old / "gone.json", status())
    put(new / "came.json", status())
    done = rocmcfg("fleet", new, "--since", old, "--json").document
    changes = {
        host["name"]: [(c["what"], c["before"], c["now"]) for c in host["changes"]] for host in done["hosts"]
    }
    assert changes == {
        "same": [],
        "broke": [
            ("state", "in effect", "drifting"),
            ("fault", "", "AMD-401"),
            ("fault", "", "AMD-1007"),
        ],
        "updated": [("kernel", "6.14.0-37-generic", "6.19.0-5-generic")],
        "came": [("host", "", "new")],
    }
    assert done["vanished"] == ["gone"]
    text = rocmcfg("fleet", new, "--since", old).out
    assert "gone" in text[text.index("Changed since") :]


def test_numbers_in_names_are_sorted_as_numbers(tmp_path: Path) -> None:
    for number in (10, 9, 1):
        put(tmp_path / f"node{number}.json", verify())
    assert [*hosts(tmp_path)] == ["node1", "node9", "node10"]


def test_a_host_that_stopped_sending_is_named(tmp_path: Path) -> None:
    day = 24 * 3600
    for name, age in (("new", 0), ("late", day - 60), ("silent", 3 * day)):
        path = put(tmp_path / f"{name}.json", verify())
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    os.utime(put(tmp_path / "later/clock.json", verify()), (1 << 40, 1 << 40))
    assert hosts(tmp_path / "later")["clock"]["written"] < "2100"
    shutil.rmtree(tmp_path / "later")
    problems = {name: host["problems"] for name, host in hosts(tmp_path).items()}
    assert problems == {
        "late": [],
        "new": [],
        "silent": ["its newest document is 3 days older than the newest of all"],
    }
    assert hosts(tmp_path)["new"]["written"] == "2023-11-14 22:13"


def test_facts_that_only_one_host_has_are_odd(tmp_path: Path) -> None:
    """From the documents of `facts`, as four hosts print them with their names."""
    for at in range(4):
        root = instinct_host(tmp_path / f"host{at}")
        write(root, "proc/sys/kernel/hostname", f"node{at}")
        if at == 2:
            broken(root)
        printed = rocmcfg("facts", "--json", "--name-host", "--root", root)
        (tmp_path / "new").mkdir(exist_ok=True)
        (tmp_path / f"new/{at}.json").write_text(printed.out)
    shown = hosts(tmp_path / "new")
    odd = {name: [(o["what"], o["value"], o["usual"]) for o in host["odd"]] for name, host in shown.items()}
    assert [name for name, rows in odd.items() if rows] == ["node2"]
    assert ("PCIe width", "7 × 16, 1 × 8", "16") in odd["node2"]
    assert ("automatic NUMA balancing", "1", "0") in odd["node2"]
    assert shown["node1"]["gpus"] == "8 × gfx942"
