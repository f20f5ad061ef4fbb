"""What doctor says by the facts of a machine, whatever a log shows: harmful arguments, faults of its kernel,
ROCm and GPU, the memory of an APU, and whose log it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocmcfg.advice.doctor.judging.bad_pairs import bad_pairs
from rocmcfg.advice.doctor.judging.origin import Options, conditions, origin
from rocmcfg.advice.doctor.reading.log_facts import LogFacts
from rocmcfg.host.local_view import LocalView
from rocmcfg.knowledge import catalogue
from rocmcfg.workflow.planning import collect_facts
from tests.support.hosts import File, debian_grub_host
from tests.support.program import rocmcfg, unfolded

FAULT = "Memory access fault by GPU node-1 (Agent handle: 0x58935a90) on address 0x7fbe6a804000."
FULL = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB."
LLAMA = "alloc_buffer: allocating 14000.00 MiB on device 0: cudaMalloc failed: out of memory"
HANG = "amdgpu 0000:03:00.0: amdgpu: ring sdma0 timeout, signaled seq=1, emitted seq=2"
GTT = "sys/bus/pci/devices/0000:03:00.0/mem_info_gtt_total"
BOOT = "[0.000000] Linux version 6.18.4-1 (x) #1\n[0.000000] Command line: BOOT_IMAGE=x root=UUID=f ro {}\n"
MEMORY: dict[str, File] = {"proc/meminfo": f"MemTotal:       {125 << 20} kB\n"}


def doctor(root: Path, text: str, *more: str) -> tuple[dict[str, Any], str]:
    log = root.parent / "of.log"
    log.write_text(f"{text}\n")
    done = rocmcfg("doctor", log, "--root", root, "--json", *more)
    assert done.code == 0, done.out
    return done.document, unfolded(rocmcfg("doctor", log, "--root", root, *more).out)


def strix(tmp_path: Path, kernel: str = "6.17.0-14-generic", **more: Any) -> Path:
    extra = {**MEMORY, GTT: f"{62 << 30}\n", **more.pop("extra", {})}
    return debian_grub_host(tmp_path, gfx="gfx1151", kernels=(kernel,), rocm="7.2.1", extra=extra, **more)


# -- harmful arguments -----------------------------------------------------------------------------


def test_a_harmful_argument_of_the_log_comes_first(tmp_path: Path) -> None:
    log = f"{BOOT.format('nomodeset')}{FAULT}"
    document, printed = doctor(debian_grub_host(tmp_path), log, "--gfx", "gfx1151")
    assert [each["argument"] for each in document["harmful"]] == ["nomodeset"]
    assert printed.startswith("First: nomodeset is harmful")
    assert "the log's command line" in printed


def test_a_harmful_argument_of_this_host_comes_first(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, booted_with="quiet nomodeset", loaded=False)
    document, printed = doctor(root, FAULT)
    assert document["harmful"][0]["place"] == "/proc/cmdline"
    assert printed.startswith("First: nomodeset is harmful")


def test_arguments_without_harm_are_not_named(tmp_path: Path) -> None:
    document, _ = doctor(
        debian_grub_host(tmp_path), f"{BOOT.format('quiet amdgpu.gttsize=1024 amdgpu.gpu_recovery=1')}{FAULT}"
    )
    assert document["harmful"] == []


def test_the_arguments_of_this_host_say_nothing_of_another_machine(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, booted_with="quiet nomodeset", loaded=False)
    assert doctor(root, FAULT, "--gfx", "gfx1100")[0]["harmful"] == []


# -- kernel, ROCm and GPU that are known to be bad together -----------------------------------------


def test_a_pair_is_named_by_facts_without_a_line_of_it(tmp_path: Path) -> None:
    document, printed = doctor(strix(tmp_path), HANG)
    pair = next(each for each in document["bad_pairs"] if each["issue"] == "strix-cwsr-save-area")
    assert pair["lacking"] == ["kernel 6.17.0-14-generic (this host) does not have the fix"]
    assert printed.index("strix-cwsr-save-area") < printed.index("AMD-5"), "facts before patterns"
    assert printed.index("Fixed in: Kernels 6.19") < printed.index("Until then: rocmcfg explain strix-cwsr")


def test_a_pair_is_named_by_what_the_user_says_of_another_machine(tmp_path: Path) -> None:
    machine = ("--gfx", "gfx1151", "--kernel", "6.17.0-14-generic", "--rocm", "7.2.1")
    named = doctor(debian_grub_host(tmp_path), HANG, *machine)[0]["bad_pairs"]
    assert "strix-cwsr-save-area" in {each["issue"] for each in named}


@pytest.mark.parametrize("kernel", ["6.19.2-generic", "6.17.0-19-generic", "6.12.64-generic"])
def test_a_kernel_with_the_fix_is_not_accused(tmp_path: Path, kernel: str) -> None:
    named = doctor(strix(tmp_path, kernel, cwsr_size=True), HANG)[0]["bad_pairs"]
    assert "strix-cwsr-save-area" not in {each["issue"] for each in named}


def test_a_fault_that_is_worked_around_here_is_not_named(tmp_path: Path) -> None:
    root = strix(tmp_path, booted_with="quiet amdgpu.cwsr_enable=0", parameters={"cwsr_enable": "0"})
    assert "strix-cwsr-save-area" not in {each["issue"] for each in doctor(root, HANG)[0]["bad_pairs"]}


def test_a_fault_of_several_gpus_is_not_named_where_their_number_is_unknown(tmp_path: Path) -> None:
    machine = ("--gfx", "gfx1030", "--rocm", "5.4.0")
    named = doctor(debian_grub_host(tmp_path, gfx=None), HANG, *machine)[0]["bad_pairs"]
    assert "rccl-fine-grain-pcie" not in {each["issue"] for each in named}


def test_every_fault_with_a_fix_can_be_named_by_facts(tmp_path: Path) -> None:
    """No release that lacks a fix is left out because its issue says so in another field."""
    known, host = catalogue.load(), collect_facts(LocalView(str(debian_grub_host(tmp_path))))
    reachable = set()
    for gfx in {model.gfx for model in known.gpus}:
        for kernel in ("6.8.0", "6.12.40", "6.17.0", "6.18.1", "7.0.0", "7.1.2"):
            for rocm in ((7, 1, 0), (7, 2, 0)):
                where = origin(Options((gfx,), kernel, rocm), LogFacts(), host)
                reachable |= {p.issue.id for p in bad_pairs(catalogue.known_issues(), where, 0, known)}
    with_kernels = {
        issue.id
        for issue in catalogue.known_issues()
        if issue.kind == "fault" and issue.gfx and issue.lacks_fix and issue.confidence != "unverified"
    }
    assert with_kernels <= reachable


def test_an_unknown_rocm_is_not_accused(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm=None)
    assert "rdna4-expert-sched-cwsr" not in {e["issue"] for e in doctor(root, HANG)[0]["bad_pairs"]}


def test_the_release_that_cures_comes_before_the_workaround(tmp_path: Path) -> None:
    line = "amdgpu 0000:03:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE"
    _, printed = doctor(strix(tmp_path), line)
    update = printed.index("Cure: an update. Fixed in: Kernels 6.19")
    assert update < printed.index("Until then: sudo rocmcfg apply")
    assert "Permanent fix" not in printed


# -- the memory of an APU --------------------------------------------------------------------------


@pytest.mark.parametrize("line", [FULL, LLAMA])
def test_a_full_memory_on_an_apu_leads_to_its_limit(tmp_path: Path, line: str) -> None:
    document, printed = doctor(strix(tmp_path), line)
    memory = document["memory"]
    assert (memory["limit"], memory["memory"], memory["raised_to"]) == (62 << 30, 125 << 30, 93)
    assert memory["source"] == f"/{GTT}"
    assert "rocmcfg apply --profile strix --set profile.gtt_gib=93" in printed
    assert "The limit now is 62.0 GiB of 125.0 GiB" in printed
    assert "No parameter and no variable makes" not in printed


def test_a_profile_that_waits_for_a_value_is_no_permanent_fix(tmp_path: Path) -> None:
    _, printed = doctor(strix(tmp_path), f"{FULL} GPU 0 has a total capacity of 62.47 GiB")
    assert "(strix-vram-limit-ttm) What helps:" in printed
    assert "Permanent fix" not in printed
    assert "No parameter cures" not in printed


def test_the_command_for_an_apu_is_one_that_apply_takes(tmp_path: Path) -> None:
    root = strix(tmp_path)
    command = doctor(root, FULL)[0]["memory"]["command"].split()
    assert command[:3] == ["sudo", "rocmcfg", "apply"]
    assert rocmcfg("plan", *command[3:]).code in (0, 3)


def test_the_lower_limit_of_ttm_counts(tmp_path: Path) -> None:
    pages = {"sys/module/ttm/parameters/pages_limit": f"{(16 << 30) // 4096}\n"}
    memory = doctor(strix(tmp_path, extra=pages), FULL)[0]["memory"]
    assert (memory["limit"], memory["source"]) == (16 << 30, "/sys/module/ttm/parameters/pages_limit")


def test_an_apu_without_a_profile_for_it_gets_the_parameter(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1103", extra={**MEMORY, GTT: f"{62 << 30}\n"})
    assert f"--set ttm.pages_limit={93 * 262144}" in doctor(root, FULL)[0]["memory"]["command"]


def test_a_limit_that_is_high_already_is_not_raised(tmp_path: Path) -> None:
    memory = doctor(strix(tmp_path, extra={GTT: f"{110 << 30}\n"}), FULL)[0]["memory"]
    assert (memory["command"], memory["raised_to"]) == ("", None)


def test_the_log_of_another_apu_tells_its_own_limit(tmp_path: Path) -> None:
    log = f"[drm] amdgpu: 15836M of GTT memory ready.\n{FULL}"
    document, printed = doctor(debian_grub_host(tmp_path, extra=MEMORY), log, "--gfx", "gfx1151")
    memory = document["memory"]
    assert (memory["limit"], memory["source"]) == (15836 << 20, "the log")
    assert memory["memory"] is None, "that of this host says nothing"
    assert "profile.gtt_gib=GIB" in printed


@pytest.mark.parametrize("gfx", ["gfx1201", ("gfx1201", "gfx1036")])
def test_a_card_keeps_its_own_words(tmp_path: Path, gfx: Any) -> None:
    assert doctor(debian_grub_host(tmp_path, gfx=gfx), FULL)[0]["memory"] is None


def test_a_target_that_is_card_and_apu_is_not_guessed(tmp_path: Path) -> None:
    host = debian_grub_host(tmp_path, gfx=None)
    assert doctor(host, FULL, "--gfx", "gfx942")[0]["memory"] is None


def test_no_issue_speaks_of_a_full_memory_of_cards_on_an_apu() -> None:
    """An answer that depends on card or APU asks which it is."""
    apus = {model.gfx for model in catalogue.gpu_models() if model.apu}
    cards = {model.gfx for model in catalogue.gpu_models() if not model.apu}
    issue = next(each for each in catalogue.known_issues() if each.id == "torch-out-of-memory")
    assert not {gfx for gfx in issue.gfx if gfx in apus - cards}


# -- whose log it is -------------------------------------------------------------------------------


def test_the_address_of_a_gpu_that_is_not_here_makes_it_another_machines_log(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    document, _ = doctor(root, f"amdgpu 0000:65:00.0: amdgpu: ring gfx timeout\n{FAULT}")
    assert document["facts"]["gfx"] == []
    assert document["bad_pairs"] == []
    same, _ = doctor(root, f"amdgpu 0000:03:00.0: amdgpu: ring gfx timeout\n{FAULT}")
    assert same["facts"]["gfx_source"] == "this host"


def test_signs_of_another_machine_are_said(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    stamp = "Aug 05 08:56:27 server kernel:"
    document, printed = doctor(root, f"{stamp} Linux version 6.8.0-41-generic (x) #1\n{stamp} {FAULT}")
    assert document["doubts"] == [
        "its kernel 6.8.0-41-generic is not installed here",
        "it was written on a host named server",
    ]
    assert "rocmcfg judges it for the GPU of this host, gfx1201; --gfx names another." in printed
    own = stamp.replace("server", "sample.example.org")
    assert doctor(root, f"{own} Linux version 6.12.107+deb13-amd64 (x) #1\n{own} {FAULT}")[0]["doubts"] == []


@pytest.mark.parametrize("line", ["-- Boot {} --", "_BOOT_ID={}", '{{"_BOOT_ID" : "{}", "MESSAGE" : "x"}}'])
def test_a_log_of_the_running_boot_is_this_hosts(tmp_path: Path, line: str) -> None:
    boot = "0f8b2a4c-6e1d-4b53-9a77-1c2d3e4f5a6b"
    root = debian_grub_host(tmp_path, extra={"proc/sys/kernel/random/boot_id": f"{boot}\n"})
    other = "amdgpu 0000:65:00.0: amdgpu: ring gfx timeout"
    own, _ = doctor(root, f"{line.format(boot.replace('-', ''))}\n{other}\n{FAULT}")
    assert own["facts"]["gfx_source"] == "this host"
    foreign, _ = doctor(root, f"{line.format('f' * 32)}\n{other}\n{FAULT}")
    assert foreign["facts"]["gfx"] == []


def test_a_fault_of_the_dkms_driver_alone_is_not_told_of_the_kernels_own(tmp_path: Path) -> None:
    """Whether the DKMS driver runs is asked of the log and of the host."""
    issue = next(each for each in catalogue.known_issues() if each.id == "gfx1150-rocm72-first-queue")
    assert issue.dkms
    host = collect_facts(LocalView(str(debian_grub_host(tmp_path, gfx="gfx1150"))))
    host = host._replace(kernels=tuple(kernel._replace(running=True) for kernel in host.kernels[:1]))
    amds = host._replace(kernels=tuple(kernel._replace(dkms=True) for kernel in host.kernels))
    for facts, met in ((host, False), (amds, True)):
        where = origin(Options(), LogFacts(), facts)
        assert {r.what: r.met for r in conditions(issue, where, 0, catalogue.load())}["driver"] is met
    elsewhere = origin(Options(("gfx1150",)), LogFacts(), host._replace(gpus=()), named=True)
    assert {r.what: r.met for r in conditions(issue, elsewhere, 0, catalogue.load())}["driver"] is None


def test_the_hosts_own_logs_are_its_own(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, extra={"var/log/kern.log": "Aug  5 08:56:27 old kernel: amdgpu: x\n"})
    assert rocmcfg("doctor", "--root", root, "--json").document["doubts"] == []
