"""`rocmcfg doctor` as a user meets it: what it reads, what it answers, how it fails."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocmcfg.advice.doctor.judging.origin import Options, origin
from rocmcfg.advice.doctor.reading.log_facts import LogFacts
from rocmcfg.cli.documents import DOCUMENTS
from rocmcfg.host.local_view import LocalView
from rocmcfg.workflow.planning import collect_facts
from rocmcfg.workflow.status import status
from tests.doctor.samples import HEALTHY, LOGS
from tests.support.hosts import debian_grub_host
from tests.support.program import (
    SOURCE,
    command,
    environment,
    problem,
    process,
    rocmcfg,
    too_wide,
    unfolded,
)
from tests.support.tools import HANG

RESET = LOGS / "rdna3-mes-reset.log"
OVERREAD = LOGS / "rdna4-gemm-overread.log"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return debian_grub_host(tmp_path_factory.mktemp("host"), gfx="gfx1201", rocm="7.2.0")


def _matches(*arguments: str | Path) -> list[dict[str, Any]]:
    found = rocmcfg("doctor", *arguments, "--json")
    assert found.code == 0, found.out
    DOCUMENTS["doctor"].model_validate(found.document)
    matches = found.document["matches"]
    assert isinstance(matches, list)
    return matches


def test_a_published_log_is_answered_whole(host: Path) -> None:
    first = _matches("--log", RESET, "--root", host)[0]
    assert first["issue"] == "rdna3-mes-unmap-mode1"
    assert first["score"] >= 0.8
    assert first["workaround"]["settings"] == []
    assert any("gfxoff" in text for text in first["does_not_help"])
    evidence = first["evidence"][0]
    assert (evidence["log"], evidence["line"], evidence["last_line"], evidence["count"]) == (
        str(RESET),
        9,
        11,
        2,
    )


def test_the_text_says_what_it_is_what_cures_it_and_what_does_not(host: Path) -> None:
    found = rocmcfg("doctor", "-v", "--log", RESET, "--root", host)
    assert (found.code, found.err) == (0, "")
    order = ["rdna3-mes-unmap-mode1", "No parameter cures this", "no help", "fixed", "MES failed to response"]
    places = [found.out.index(text) for text in order]
    assert places == sorted(places)
    found = rocmcfg("doctor", "-v", "--log", OVERREAD, "--root", host)
    assert "sudo rocmcfg apply --profile gfx1201" in found.out
    assert "DTVB1" in found.out
    assert "NT: B is transposed" in found.out


def test_the_answer_comes_first_and_its_commands_can_be_copied(host: Path) -> None:
    found = rocmcfg("doctor", OVERREAD, "--root", host)
    lines = found.out.splitlines()
    assert lines[0].startswith("Very likely: ")
    assert "Try now, no root: rocmcfg run -p gfx1201 -- PROGRAM" in lines
    at = next(i for i, line in enumerate(lines) if line.startswith("Permanent fix: "))
    command = lines[at].partition(":")[2]
    while command.endswith("\\"):  # as a shell reads it
        at += 1
        command = command[:-1] + lines[at]
    assert command.split() == ["sudo", "rocmcfg", "apply", "--profile", "gfx1201", "--root", str(host)]
    assert "Costs: Matrix products are slower" in found.out
    assert "DTVB1" not in found.out
    assert "0.8" not in found.out, "scores are for -v"
    assert "  It also sets what else this GPU needs; it shows all changes and asks first." in lines
    assert "Also: PyTorch's own 2.7 to 2.11 (`pip show torch`) treat" in lines, "without it it is no cure"
    assert len(lines) <= 14
    assert "; the permanent fix covers it too" not in found.out


def test_a_cure_beside_what_is_applied_is_not_said_to_set_more(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",))
    assert rocmcfg("apply", "-p", "debug-gemm", "--root", root, "--yes").code == 0
    found = unfolded(rocmcfg("doctor", OVERREAD, "--root", root).out)
    assert "--profile debug-gemm --set env.TORCH_BLAS_PREFER_HIPBLASLT=0" in found
    assert "It also sets what else" not in found


def test_a_line_that_several_faults_print_says_so_and_how_to_tell_them_apart(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",))
    log = tmp_path / "app.log"
    log.write_text("Memory access fault by GPU node-1 (Agent handle: 0x5d) on address 0x799bfc063000.\n")
    found = rocmcfg("doctor", log, "--root", root)
    assert "This line has another known cause: rdna4-hipblaslt-gltr-overread." in found.out
    assert "If that does not name rdna4-hipblaslt-gltr-overread, it is" in found.out
    assert "rocmcfg run -p debug-gemm -- PROGRAM" in found.out
    assert _matches("--log", log, "--root", root)[0]["alike"] == ["rdna4-hipblaslt-gltr-overread"]
    # a kernel's name proves the one, and there is nothing to tell apart
    assert _matches("--log", OVERREAD, "--root", root)[0]["alike"] == []


def test_an_unknown_gpu_is_asked_for(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx=None)
    log = tmp_path / "app.log"
    log.write_text("Memory access fault by GPU node-1 (Agent handle: 0x5d) on address 0x799bfc063000.\n")
    answer = unfolded(rocmcfg("doctor", log, "--root", root).out)
    assert f"The GPU is unknown. For a better answer, name it: rocmcfg doctor {log}" in answer
    assert "--gfx GFX --kernel KERNEL --rocm ROCM" in answer
    assert answer.startswith("AMD-1007: "), "the class of the fault is known without the GPU"
    told = rocmcfg("doctor", log, "--gfx", "gfx1201", "--rocm", "7.1", "--kernel", "6.14", "--root", root).out
    assert "The GPU is unknown" not in told
    log.write_text("Unable to open /dev/kfd read-write: Permission denied\n")  # whatever the GPU is
    certain = rocmcfg("doctor", log, "--root", root).out
    assert 0 < certain.index("(kfd-no-rights)") < certain.index("The GPU is unknown.")
    assert "rdna4-expert-sched-cwsr" in told


def test_a_programs_line_alone_is_not_said_to_be_explained_by_nothing(tmp_path: Path) -> None:
    """Before the GPU is known, nobody can tell; and nothing in the line to paste is a fact."""
    root, line = debian_grub_host(tmp_path, gfx=None), "RuntimeError: HIP error: unspecified launch failure"
    said = unfolded(rocmcfg("doctor", line, "--root", root).out)
    assert "rocmcfg doctor LINE --gfx GFX --kernel KERNEL --rocm ROCM" in said
    assert "The complete kernel log of that boot shows it too: sudo journalctl -k -b > kernel.log" in said
    assert f"(HIP) {line}" in said, "the class of the fault is known without the GPU"
    assert "no known issue" not in said
    assert "To report it" not in said
    known = rocmcfg("doctor", line, "--gfx", "gfx1100", "--root", root).out
    assert "To report it at" in known


def test_a_host_without_a_gpu_says_nothing_of_a_log_that_is_named(tmp_path: Path) -> None:
    """A laptop reads the log of a workstation: the laptop's kernel, which has every fix, is not asked."""
    root = debian_grub_host(tmp_path, gfx=None, kernels=("7.3.0-1-amd64",), rocm="7.2.0")
    facts = collect_facts(LocalView(str(root)))._replace(offline=False)
    assert origin(Options(), LogFacts(), facts, named=True).host is None
    assert origin(Options(), LogFacts(), facts).host is facts, "its own log is its own"
    of_a_disk = facts._replace(offline=True)
    assert origin(Options(), LogFacts(), of_a_disk, named=True).host is of_a_disk


def test_a_gpu_that_does_not_exist_is_not_looked_for(host: Path) -> None:
    found = rocmcfg("doctor", RESET, "--gfx", "gfx1210", "--root", host)
    assert found.code == 2
    assert "gfx1201" in " ".join(found.err.split())


def test_the_command_that_is_recommended_can_be_run(host: Path) -> None:
    first = _matches("--log", OVERREAD, "--root", host)[0]
    words = str(first["workaround"]["command"]).split()
    assert words[:3] == ["sudo", "rocmcfg", "apply"]
    assert rocmcfg("plan", *words[3:], "--root", host).code == 0


def test_the_command_keeps_what_is_applied(tmp_path: Path) -> None:
    """`apply` replaces what was applied before, so that a bare --set would take the rest away."""
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.2.0")
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes").code == 0
    command_line = _matches("--log", OVERREAD, "--root", root)[0]["workaround"]["command"]
    assert "--set amdgpu.runpm=0" in str(command_line)


def test_what_is_in_force_is_said_and_not_recommended(tmp_path: Path) -> None:
    root = debian_grub_host(
        tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",), parameters={"cwsr_enable": "0"}
    )
    log = tmp_path / "app.log"
    log.write_text("Memory access fault by GPU node-1 (Agent handle: 0x5d) on address 0x799bfc063000.\n")
    mine = next(m for m in _matches("--log", log, "--root", root) if m["issue"] == "rdna4-expert-sched-cwsr")
    assert (mine["workaround"], mine["in_force"]) == (None, [])
    assert [one["setting"] for one in mine["applied"]] == ["amdgpu.cwsr_enable=0"]
    said = " ".join(rocmcfg("doctor", "--log", log, "--root", root).out.split())
    assert "in force now (the running driver); the log does not show whether it was then" in said
    assert "did not help" not in said
    (root / "sys/module/amdgpu/parameters/cwsr_enable").write_text("1\n")
    mine = _matches("--log", log, "--root", root)[0]
    assert mine["issue"] == "rdna4-expert-sched-cwsr"
    assert mine["workaround"]["settings"] == ["amdgpu.cwsr_enable=0"]


def test_what_waits_for_a_reboot_is_said_and_not_proposed_again(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",))
    log = tmp_path / "app.log"
    log.write_text("Memory access fault by GPU node-1 (Agent handle: 0x5d) on address 0x799bfc063000.\n")
    assert rocmcfg("apply", "--set", "amdgpu.cwsr_enable=0", "--root", root, "--yes").code == 0
    mine = _matches("--log", log, "--root", root)[0]
    assert (mine["issue"], mine["workaround"]) == ("rdna4-expert-sched-cwsr", None)
    assert mine["score"] >= 0.5
    said = " ".join(rocmcfg("doctor", "--log", log, "--root", root).out.split())
    assert "amdgpu.cwsr_enable=0: applied, but not in effect before the reboot" in said
    assert "rocmcfg apply" not in said
    assert mine["applied"] == [
        {"setting": "amdgpu.cwsr_enable=0", "state": "applied, but not in effect before the reboot"}
    ]


def test_what_was_applied_and_is_gone_is_not_done(tmp_path: Path) -> None:
    """It says what `verify` says, and how to get it back."""
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",))
    log = tmp_path / "app.log"
    log.write_text(FAULT)
    assert rocmcfg("apply", "--set", "amdgpu.cwsr_enable=0", "--root", root, "--yes").code == 0
    view = LocalView(str(root))
    for state in ("pending", "open"):
        stands = rocmcfg("issues", "--root", root, "--json").document["issues"]
        assert {one["issue"]: one["state"] for one in stands}["rdna4-expert-sched-cwsr"] == state
        shown = {one.issue.id: one.state for one in status(view).issues}
        assert shown["rdna4-expert-sched-cwsr"] == state
        (root / "etc/default/grub.d/zz-rocmcfg.cfg").unlink(missing_ok=True)
    found = rocmcfg("doctor", log, "--root", root)
    assert "Done" not in found.out
    assert "--set amdgpu.cwsr_enable=0" in unfolded(found.out)
    assert "zz-rocmcfg.cfg was changed or removed" in unfolded(found.err)
    assert "zz-rocmcfg.cfg was changed or removed" in unfolded(rocmcfg("verify", "--root", root).out)


@pytest.mark.parametrize(
    ("marks", "told"),
    [
        (("etc/NIXOS",), "rocmcfg render --format nixos --profile gfx1201"),
        (("run/current-system/profile", "gnu/store/x"), "rocmcfg render --format guix --profile"),
        (("etc/steamos-release",), "rocmcfg plan --profile gfx1201"),
        (("run/ostree-booted",), "sudo rocmcfg apply --profile gfx1201"),
        ((), "sudo rocmcfg apply --profile gfx1201"),
    ],
)
def test_where_apply_refuses_the_host_it_is_not_proposed(
    tmp_path: Path, marks: tuple[str, ...], told: str
) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",))
    for mark in marks:
        (root / mark).parent.mkdir(parents=True, exist_ok=True)
        (root / mark).touch()
    first = _matches("--log", OVERREAD, "--root", root)[0]
    assert str(first["workaround"]["command"]).startswith(told)


def test_what_the_profile_gives_here_needs_no_set(tmp_path: Path) -> None:
    """What it leaves out by its conditions, and what is optional in it, is asked for by name."""
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", kernels=("6.14.0-37-generic",))
    log = tmp_path / "app.log"
    log.write_text("Memory access fault by GPU node-1 (Agent handle: 0x5d) on address 0x799bfc063000.\n")
    command_line = _matches("--log", log, "--root", root)[0]["workaround"]["command"]
    assert command_line == f"sudo rocmcfg apply --profile gfx1201 --root {root}"
    local = root / "etc/rocmcfg/profiles/rdna4.toml"
    local.parent.mkdir(parents=True)
    text = 'schema = 1\nsummary = "x"\ngfx = ["gfx1201"]\n[module.amdgpu.cwsr_enable]\nvalue = 0\n'
    for more, asked in (
        ("", ""),
        ('when = { kernel = ">=6.15" }\n', " --set amdgpu.cwsr_enable=0"),
        ('when = { kernel = ">=6.2" }\n', ""),
        ("optional = true\n", " --with amdgpu.cwsr_enable"),
    ):
        local.write_text(text + 'because = "b"\n' + more)
        command_line = _matches("--log", log, "--root", root)[0]["workaround"]["command"]
        assert command_line == f"sudo rocmcfg apply --profile gfx1201{asked} --root {root}", more


def test_options_win_over_log_and_host(host: Path) -> None:
    log = ("--log", RESET, "--root", host)
    other = rocmcfg("doctor", *log, "--gfx", "gfx1201", "--json").document
    assert [m for m in other["matches"] if m["score"] >= 0.5] == []
    assert other["facts"]["gfx_source"] == "--gfx"
    old = ("--gfx", "gfx1100", "--kernel", "5.19")
    assert [m for m in _matches(*log, *old) if m["score"] >= 0.5] == []


@pytest.mark.parametrize("path", sorted(HEALTHY.glob("*.log")), ids=lambda path: path.stem)
def test_a_log_with_nothing_wrong_yields_nothing(host: Path, path: Path) -> None:
    found = rocmcfg("doctor", "--log", path, "--root", host, "--json").document
    assert (found["matches"], found["unknown"], found["diagnostics"]) == ([], [], [])
    said = rocmcfg("doctor", "--log", path, "--root", host)
    assert "No known issue and no fault class matches a line in" in unfolded(said.out)
    assert "look like a failure" not in said.out


def test_an_error_without_an_issue_is_unknown_and_says_what_to_collect(host: Path, tmp_path: Path) -> None:
    log = tmp_path / "cpc.log"
    log.write_text(
        "amdgpu 0000:03:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00000B32\n"
        "i915 0000:00:02.0: [drm] *ERROR* not ours\n"
        "amdgpu 0000:03:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00000000\n"
    )
    found = rocmcfg("doctor", "--log", log, "--root", host, "--json").document
    assert found["matches"] == []
    assert [(line["line"], line["count"]) for line in found["unknown"]] == [(1, 1)]
    said = rocmcfg("doctor", "--log", log, "--root", host).out
    assert said.startswith("AMD-4")
    assert "To report it at https://gitlab.freedesktop.org/drm/amd/-/issues, collect:" in said
    assert "rocmcfg report" in said


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: HIP error: unspecified launch failure",
        "CUDA error: HIPBLAS_STATUS_INTERNAL_ERROR when calling `hipblasGemmEx(...)`",
        "rocBLAS error from hip error code: 'hipErrorInvalidValue':1",
        "hipErrorLaunchFailure: unspecified launch failure",
        "MIOpen Error: /src/ocl/convolutionocl.cpp:505: No suitable algorithm was found",
        "node:1:2 [0] /x/rccl/hipify/src/transport/p2p.cc:239 NCCL WARN Cuda failure 'invalid argument'",
        "node:1:2 [0] NCCL WARN HIP failure 'invalid argument'",
        "RuntimeError: NCCL error: unhandled cuda error",
        "amdgpu 0000:03:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer",
    ],
)
def test_an_error_of_a_library_is_at_least_unknown(tmp_path: Path, line: str) -> None:
    log = tmp_path / "a.log"
    log.write_text(f"{line}\n")
    host = debian_grub_host(tmp_path, gfx="gfx1030", rocm=None)
    found = rocmcfg("doctor", "--log", log, "--root", host, "--json").document
    assert [m for m in found["matches"] if m["score"] >= 0.5] == []
    assert [said["text"] for said in found["unknown"]] == [line]


def test_what_other_vendors_print_and_what_is_no_failure_is_no_error_of_ours(
    host: Path, tmp_path: Path
) -> None:
    log = tmp_path / "a.log"
    log.write_text(
        "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n"
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
        "torch.distributed.DistBackendError: NCCL error in NCCLUtils.hpp:268, unhandled cuda error\n"
        "node:1:2 [0] transport/p2p.cc:239 NCCL WARN Cuda failure 'invalid argument'\n"
        "nvidia 0000:01:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer\n"
        ":3:hip_error.cpp :36 : 1 us: hipGetLastError: Returned hipSuccess : \n"
        ":3:hip_event.cpp :36 : 1 us: hipEventQuery: Returned hipErrorNotReady : \n"
        "MIOpen(HIP): Warning [IsEnoughWorkspace] Solver <GemmFwdRest>, workspace required: 4096\n"
    )
    found = rocmcfg("doctor", "--log", log, "--root", host, "--json").document
    assert (found["matches"], found["unknown"]) == ([], [])


def test_a_search_that_names_another_vendor_is_ours_where_it_met_an_amd_gpu(
    host: Path, tmp_path: Path
) -> None:
    search = 'level=DEBUG source=gpu.go:98 msg="searching for GPU discovery libraries for NVIDIA"\n'
    end = 'level=INFO source=gpu.go:377 msg="no compatible GPUs were discovered"\n'
    met = 'level=DEBUG msg="evaluating amdgpu node /sys/class/kfd/kfd/topology/nodes/1/properties"\n'
    log = tmp_path / "a.log"
    for text, seen in ((search + end, []), (search + met + end, ["AMD-1311"])):
        log.write_text(text)
        document = rocmcfg("doctor", "--log", log, "--root", host, "--json").document
        assert [fault["id"] for fault in document["faults"]] == seen


# -- what it reads ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress])
def test_packed_logs_are_known_by_their_content(
    host: Path, tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    log = tmp_path / "log.anything"
    log.write_bytes(pack(RESET.read_bytes()))
    assert _matches("--log", log, "--root", host)[0]["issue"] == "rdna3-mes-unmap-mode1"


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_a_cut_log_is_read_as_far_as_it_goes(
    host: Path, tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    log = tmp_path / "cut.gz"
    log.write_bytes(pack(RESET.read_bytes() + os.urandom(200_000))[:-30_000])
    found = rocmcfg("doctor", "--log", log, "--root", host, "--json")
    assert found.code == 0
    assert "RC8006" in found.ids
    assert found.document["logs"][0]["complete"] is False


def test_several_logs_are_one_story(host: Path, tmp_path: Path) -> None:
    """What one log says of the machine counts for the other."""
    facts, fault = tmp_path / "facts.log", tmp_path / "fault.log"
    lines = RESET.read_text().splitlines(keepends=True)
    facts.write_text("".join(lines[:5]))
    fault.write_text("".join(lines[5:]).replace("v11_0_", ""))
    assert _matches("--log", fault, "--log", facts, "--root", host)[0]["score"] >= 0.6


def test_a_log_can_be_piped_in(host: Path) -> None:
    with RESET.open("rb") as stream:
        done = subprocess.run(
            command("doctor", "-v", "--log", "-", "--root", host),
            stdin=stream,
            capture_output=True,
            text=True,
            cwd=SOURCE,
            env=environment(),
        )
    assert done.returncode == 0
    assert "rdna3-mes-unmap-mode1" in done.stdout
    assert "standard input" in done.stdout


def test_the_logs_of_another_root_are_read_oldest_first(tmp_path: Path) -> None:
    text = RESET.read_text()
    first, second = text[: text.index("[45768")], text[text.index("[45768") :]
    extra: dict[str, str | bytes] = {
        "var/log/kern.log": second,
        "var/log/kern.log.1": first,
        "var/log/kern.log.2.gz": gzip.compress(b"older\n"),
        "var/log/syslog": "the same lines again\n",
        "var/log/unrelated.log": "amdgpu: *ERROR* no\n",
    }
    root = debian_grub_host(tmp_path, gfx="gfx1100", rocm=None, extra={**extra})
    found = rocmcfg("doctor", "--root", root, "--json").document
    names = [log["name"] for log in found["logs"]]
    assert names == ["/var/log/kern.log.2.gz", "/var/log/kern.log.1", "/var/log/kern.log"]
    assert found["matches"][0]["stages"]["in_order"][-1] == "mode1"


def test_no_readable_log_is_a_warning_with_what_to_do(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    found = rocmcfg("doctor", "--root", root)
    assert found.code == 0
    assert "No line" not in found.out, "nothing was read"
    assert "warning[RC8001]" in found.err
    assert "--log FILE" in found.err
    (root / "var/log/journal").mkdir(parents=True)
    assert "journalctl -k -D" in rocmcfg("doctor", "--root", root).err


@pytest.mark.parametrize(
    ("arguments", "id"),
    [
        (("--log", "/nowhere/a.log"), "RC3001"),
        (("--log", "/tmp"), "RC3001"),
        (("--log", "/dev/zero"), "RC3001"),
        (("--log", "a\0b"), "RC3001"),
        (("--log", "-"), "RC3001"),
    ],
)
def test_refusals(host: Path, arguments: tuple[str, ...], id: str) -> None:
    problem(rocmcfg("doctor", *arguments, "--root", host), id, 1)


@pytest.mark.parametrize(("option", "value"), [("--gfx", "foo"), ("--kernel", "foo"), ("--rocm", "foo")])
def test_a_wrong_value_of_an_option_is_a_mistake_of_usage(host: Path, option: str, value: str) -> None:
    found = rocmcfg("doctor", option, value, "--log", RESET, "--root", host)
    assert found.code == 2
    assert f"'{value}' is no" in " ".join(found.err.split())


def test_a_directory_is_no_log_and_the_help_says_what_is(host: Path) -> None:
    assert "name a file" in problem(rocmcfg("doctor", "--log", host, "--root", host), "RC3001", 1)


def test_an_empty_log_is_named(host: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.log").touch()
    found = rocmcfg("doctor", "--log", tmp_path / "empty.log", "--root", host, "--json")
    assert (found.code, found.ids) == (0, ["RC8007"])


@pytest.mark.parametrize(
    ("content", "way_out"),
    [
        (b"\x28\xb5\x2f\xfd" + b"x" * 100, "zstd -dc"),
        (b"\x04\x22\x4d\x18" + b"x" * 100, "lz4 -dc"),
        (b"PK\3\4" + b"x" * 100, "unzip -p"),
        (b"LPKSHHRH" + bytes(200), "journalctl -k --file"),
        (RESET.read_text().encode("utf-16"), "iconv -f UTF-16"),
        (Path("/bin/sh").read_bytes(), "it is not a text"),
        (gzip.compress(gzip.compress(RESET.read_bytes())), "it is not a text"),
        (lzma.compress(RESET.read_bytes(), lzma.FORMAT_ALONE), "it is not a text"),
    ],
    ids=["zstd", "lz4", "zip", "journal", "UTF-16", "program", "packed twice", "lzma"],
)
def test_what_is_no_text_is_refused_with_the_way_out(
    host: Path, tmp_path: Path, content: bytes, way_out: str
) -> None:
    """No answer of doctor's would be worth anything: "no known issue" least of all."""
    (tmp_path / "log").write_bytes(content)
    assert way_out in unfolded(problem(rocmcfg("doctor", tmp_path / "log", "--root", host), "RC3001", 1))


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"\0" * 5000,
        "Größe: überlastet\n".encode("latin-1"),
        ("ошибка памяти " * 40 + "\n").encode("koi8-r"),
        b"\x1b[31mfailed\x1b[0m\n",
        b" 10 %\b\b\b\b\b 20 %\b\b\b\b\b 30 %\n" * 20,
    ],
)
def test_zeros_of_a_crash_colours_and_odd_letters_are_a_log_all_the_same(
    host: Path, tmp_path: Path, before: bytes
) -> None:
    (tmp_path / "log").write_bytes(before + RESET.read_bytes())
    assert _matches(tmp_path / "log", "--root", host)[0]["issue"] == "rdna3-mes-unmap-mode1"


def test_a_log_that_cannot_be_read_hides_no_other(host: Path) -> None:
    """But whoever asked for it learns it, scripts included."""
    found = rocmcfg("doctor", "--log", "/nowhere", "--log", RESET, "--root", host, "--json")
    assert found.code == 1
    assert found.ids == ["RC3001"]
    assert found.document["matches"][0]["issue"] == "rdna3-mes-unmap-mode1"


def test_doctor_runs_on_the_machine_that_runs_the_tests() -> None:
    """Whatever it finds there, it ends well; in a container there may be no log at all."""
    found = process(command("doctor", "--json"))
    assert found.code == 0, found.err
    DOCUMENTS["doctor"].model_validate(found.document)


def test_explain_decodes_a_kernel_name(host: Path) -> None:
    name = "Cijk_Ailk_Bjlk_BBS_BH_UserArgs_MT64x64x64_SN_DTVA0_DTVB1_ISA1201_IU1"
    found = rocmcfg("explain", name, "--root", host, "--json").document
    DOCUMENTS["explain"].model_validate(found)
    assert found["kind"] == "kernel"
    assert any("rdna4-hipblaslt-gltr-overread" in remark for remark in found["remarks"])
    problem(rocmcfg("explain", "Cijk_Ailk_MT64x64", "--root", host), "RC6003", 1)


@pytest.mark.parametrize("log", [RESET, OVERREAD])
def test_the_answer_fits_eighty_columns(host: Path, log: Path) -> None:
    found = rocmcfg("doctor", "--log", log, "--root", host)
    assert too_wide(found.out) == []


# -- any bytes --------------------------------------------------------------------------------------------

_START = st.sampled_from([b"", b"\x1f\x8b\x08\0", b"\xfd7zXZ\0", b"BZh9", b"\x28\xb5\x2f\xfd", b"\xff\xfe"])
_PIECES = st.one_of(
    st.binary(max_size=200),
    st.sampled_from((RESET.read_bytes() + OVERREAD.read_bytes()).splitlines(keepends=True)),
    st.sampled_from(
        [b"Linux version ", b"Command line: =", b"Cijk_A_B_", b"0x1002:0x", b"'\x1b[31m'", b"\n"]
    ),
)


@settings(max_examples=60)
@given(start=_START, pieces=st.lists(_PIECES, max_size=12), shown=st.sampled_from([(), ("--json",), ("-v",)]))
def test_no_bytes_make_it_crash(start: bytes, pieces: list[bytes], shown: tuple[str, ...]) -> None:
    path = Path(os.environ.get("TMPDIR", "/tmp"), f"rocmcfg-fuzz-{os.getpid()}.log")
    path.write_bytes(start + b"".join(pieces))
    try:
        found = rocmcfg("doctor", "--log", path, "--root", "/proc/self/cwd/docs/demo/sample-host", *shown)
    finally:
        path.unlink()
    assert found.code in (0, 1)
    assert "RC9000" not in found.out + found.err
    assert "Traceback" not in found.err
    assert "\x1b" not in found.out
    if found.code == 1:
        assert "RC3001" in found.out + found.err


def test_the_files_of_a_shell_pattern_behind_log_are_all_read(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text("amdgpu: nothing of note\n")
    found = rocmcfg("doctor", "--log", tmp_path / "a.log", tmp_path / "b.log", "--root", root, "--json")
    assert found.code == 0, found.err
    assert [log["name"][-5:] for log in json.loads(found.out)["logs"]] == ["a.log", "b.log"]


@pytest.mark.parametrize("source_of_it", ["pipe", "file"])
def test_a_log_that_is_piped_in_is_read_without_an_option(host: Path, source_of_it: str) -> None:
    words = [*command(), "doctor", "--json", "--root", str(host)]
    content = Path(OVERREAD).read_bytes()
    with Path(OVERREAD).open("rb") as log:
        source: dict[str, Any] = {"input": content} if source_of_it == "pipe" else {"stdin": log}
        done = subprocess.run(
            words, capture_output=True, check=True, env=environment(), timeout=HANG, **source
        )
    (read,) = json.loads(done.stdout)["logs"]
    assert (read["name"], read["size"]) == ("standard input", len(content))


def test_the_way_out_of_what_is_no_text_names_the_file_where_it_has_a_name(
    host: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "a b.zip"
    packed.write_bytes(b"PK\3\4" + b"x" * 100)
    said = unfolded(rocmcfg("doctor", packed, "--root", host).err)
    assert f"`unzip -p '{packed}' | rocmcfg doctor -`" in said
    with packed.open("rb") as stream:
        words = [*command(), "doctor", "--root", str(host)]
        done = subprocess.run(
            words, stdin=stream, capture_output=True, text=True, env=environment(), timeout=HANG, check=False
        )
    assert "`unzip -p FILE | rocmcfg doctor -`" in unfolded(done.stderr)


def test_an_answer_says_that_the_log_has_more_than_it_explains(host: Path, tmp_path: Path) -> None:
    lines = (
        "[gfxhub] page fault (src_id:0 ring:40 vmid:8 pasid:32779)",
        "GCVM_L2_PROTECTION_FAULT_STATUS:0x0080113B",
        "MES(1) failed to respond to msg=REMOVE_QUEUE",
        "MES might be in unrecoverable state, issue a GPU reset",
    )
    log = tmp_path / "fault.log"
    log.write_text("".join(f"[ 1.0] amdgpu 0000:03:00.0: amdgpu: {line}\n" for line in lines))
    said = unfolded(rocmcfg("doctor", log, "--gfx", "gfx1201", "--root", host).out)
    assert "Likely: RDNA 4" in said
    assert "MES(1) failed to respond to msg=REMOVE_QUEUE (line 3): AMD-5" in said


@pytest.mark.parametrize("silent", [True, False])
def test_a_pipe_with_nothing_in_it_is_no_log(host: Path, silent: bool) -> None:
    """As ssh and services leave one open, which nobody ever writes to; or closed at once."""
    reading, writing = os.pipe()
    if not silent:
        os.close(writing)
    words = [*command(), "doctor", "--json", "--root", str(host)]
    done = subprocess.run(
        words, stdin=reading, capture_output=True, check=True, env=environment(), timeout=HANG
    )
    assert all(log["name"] != "standard input" for log in json.loads(done.stdout)["logs"])


def test_a_text_that_shows_no_machine_is_doubted_and_a_log_of_one_is_not(host: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("bread\nbutter\n")
    (tmp_path / "boot").write_text("Linux version 6.14.0-37-generic (buildd)\n")
    doubted = rocmcfg("doctor", tmp_path / "notes", "--root", host)
    assert doubted.code == 0
    assert "rocmcfg does not recognise the kind of this log." in doubted.out
    assert "It is a kernel's log." in rocmcfg("doctor", tmp_path / "boot", "--root", host).out


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("amdgpu 0000:03:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1018, emitted seq=1020", 3),
        ("Unable to open /dev/kfd read-write: Permission denied", 3),
        ("usb 1-1: new high-speed USB device number 2 using xhci_hcd", 0),
    ],
)
def test_a_script_learns_of_a_fault_by_the_exit_code(tmp_path: Path, line: str, code: int) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", cmdline="quiet")
    (tmp_path / "log").write_text(line + "\n")
    doctor = ("doctor", tmp_path / "log", "--root", root)
    assert rocmcfg(*doctor, "--detailed-exitcode").code == code
    assert rocmcfg(*doctor).code == 0, "without the option a fault is no failure of doctor"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('time=2026-01-01 level=INFO source=types.go:42 msg="inference compute" library=cpu', "ollama"),
        ('Traceback (most recent call last):\n  File "a.py", line 3, in main\nValueError: x', "python"),
        ("HSA System Attributes\n=====\nRuntime Version: 1.18", "rocminfo"),
        ("============ FAILURES ============\n=== short test summary info ===\n1 failed", "tests"),
        ("ggml_vulkan: Found 1 Vulkan devices:\nRADV PHOENIX", "vulkan"),
        ("llama_model_load: loading\nload_tensors: offloading 0 layers", "llama.cpp"),
        ("Setting up amdgpu-dkms (1:6.12)\ndpkg: warning: x", "packages"),
        ("[    0.0] Linux version 6.12.1 (x)\n[    1.0] [drm] amdgpu kernel modesetting enabled.", "kernel"),
    ],
)
def test_the_kind_of_a_log_is_recognized_and_the_next_thing_of_that_kind_asked_for(
    host: Path, tmp_path: Path, text: str, kind: str
) -> None:
    (tmp_path / "log").write_text(text + "\n")
    assert rocmcfg("doctor", tmp_path / "log", "--root", host, "--json").document["kinds"][0] == kind
    assert "rocmcfg does not recognize" not in rocmcfg("doctor", tmp_path / "log", "--root", host).out


def test_lines_that_look_like_a_failure_are_shown_with_a_search_where_nothing_is_known(
    host: Path, tmp_path: Path
) -> None:
    (tmp_path / "log").write_text(
        'Traceback (most recent call last):\n  File "a.py", line 3, in main\n'
        "ValueError: could not find the frobnicator 0x1234 of foo\n"
    )
    answer = unfolded(rocmcfg("doctor", tmp_path / "log", "--root", host).out)
    assert "ValueError: could not find the frobnicator 0x1234 of foo (line 3)" in answer
    assert "issues&q=org:ROCm+ValueError+could+not+find+the+frobnicator" in answer
    assert "rocmcfg run -p debug-faults -- PROGRAM" in answer


def test_what_another_machine_needs_is_not_offered_as_if_it_were_this_ones(host: Path) -> None:
    assert "From another machine: gfx1100" in rocmcfg("doctor", RESET, "--root", host).out
    assert "From another machine" not in rocmcfg("doctor", OVERREAD, "--root", host).out


@pytest.mark.parametrize(
    "text",
    [
        # amd-smi static --json, and rocm-smi --showproductname as text
        '{"gpu_data": [{"gpu": 0, "asic": {"device_id": "0x7551", "target_graphics_version": "gfx1201"}}]}\n',
        "GPU[0]\t\t: Card Model: \t\t0x7551\nGPU[0]\t\t: GFX Version: \t\tgfx1201\n",
        "GPU: 0\n    ASIC:\n        DEVICE_ID: 0x7551\n        TARGET_GRAPHICS_VERSION: gfx1201\n",
    ],
)
def test_what_amd_smi_and_rocm_smi_print_tells_the_machine(host: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "log").write_text(text + "gfx1100 is mentioned in passing\n")
    found = rocmcfg("doctor", "--root", host, tmp_path / "log", "--json").document["facts"]
    assert (found["gfx"], found["gfx_source"]) == (["gfx1201"], "the log")


@pytest.mark.parametrize(
    "line",
    [
        "amdgpu: MES might be in unrecoverable state, issue a GPU reset",
        "amdgpu: Failed to evict process queues",
        "gnome-shell[3639]: amdgpu: The CS has been rejected (-125), but the context isn't robust.",
        "radv/amdgpu: The CS has been cancelled because the context is lost. This context is innocent.",
        "vk::Queue::submit: ErrorDeviceLost",
    ],
)
def test_what_kfd_mesa_and_vulkan_say_of_a_lost_gpu_is_an_error(
    host: Path, tmp_path: Path, line: str
) -> None:
    (tmp_path / "log").write_text(line + "\n")
    assert rocmcfg("doctor", "--root", host, tmp_path / "log", "--json").document["unknown"]


FAULT = "Memory access fault by GPU node-1 (Agent handle: 0x5d) on address 0x799bfc063000. Reason: Unknown.\n"
PAGE_FAULT = (
    "amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32771)\n"
    "amdgpu 0000:03:00.0: amdgpu: \t Faulty UTCL2 client ID: TCP (0x8)\n"
)


@pytest.mark.parametrize("line", [FAULT, PAGE_FAULT])
def test_the_fault_of_a_program_and_of_the_kernel_are_one(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.log").write_text(line)
    said = rocmcfg("doctor", tmp_path / "a.log", "--gfx", "gfx1201", "--kernel", "6.14", "--rocm", "7.1").out
    assert "rdna4-expert-sched-cwsr" in said
    assert "To find out which it is:" in said


def test_the_fault_that_is_left_where_another_is_mended_is_named_as_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(FAULT)
    said = rocmcfg("doctor", tmp_path / "a.log", "--gfx", "gfx1201", "--kernel", "6.14", "--rocm", "7.2").out
    assert "Known issues that come closest; none is certain enough\n  rdna4-hipblaslt-gltr-overread" in said
    assert "rocmcfg run -p debug-gemm" in said
    assert "apply" not in said


def test_an_error_that_nobody_knows_is_told_with_what_its_number_means(tmp_path: Path) -> None:
    line = "HSA_STATUS_ERROR_OUT_OF_RESOURCES: nothing known. code: 0x1008"
    told = rocmcfg("doctor", line, "--root", debian_grub_host(tmp_path)).out
    assert "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime got no memory" in " ".join(told.split())


def test_the_program_of_a_timeout_is_no_fault_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    head = "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* "
    timeout = "ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3"
    log.write_text(f"{head}{timeout}\n{head}Process information: process X pid 1\n")
    assert "Process information" not in rocmcfg("doctor", log, "--gfx", "7900xtx").out
