"""What counts as evidence, where it was written, and how sure that makes us."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.advice.doctor.judging.faults import fault_matches
from rocmcfg.advice.doctor.judging.match import Match
from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.advice.doctor.judging.ranking import follow
from rocmcfg.knowledge import catalogue, faults
from rocmcfg.knowledge.kernel_names import decode
from rocmcfg.model.spelling import split
from rocmcfg.model.version import parse_kernel, parse_range, parse_version
from tests.doctor.samples import HEALTHY, ISSUE, LOGS, facts_of, issue, judged, scanned
from tests.support.hosts import debian_grub_host

AFFECTED = Options(("gfx1201",), "6.12.5", (7, 1, 0))
HEAD = b"[0.0] Linux version 6.12.5-amd64 (x) #1\n"


def _one(log: bytes, root: Path, text: str = ISSUE, options: Options | None = AFFECTED) -> Match | None:
    found, _ = judged(log, root, [issue(text)], options)
    return found[0] if found else None


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A disk that says nothing of itself."""
    return debian_grub_host(tmp_path_factory.mktemp("host"), gfx=None, rocm=None, live=False)


@pytest.mark.parametrize(
    ("log", "options", "told"),
    [
        (b"third and last stage", Options(), True),  # specific: alone
        (b"second stage: code 5", AFFECTED, True),  # typical: where it can be
        (b"second stage: code 5", Options(("gfx1201",)), True),
        (b"second stage: code 5", Options(), False),  # typical: nobody knows where
        (b"first stage of it", AFFECTED, None),  # generic: never alone
        (b"first stage of it\nfirst stage of it", AFFECTED, None),
        (b"third and last stage", Options(("gfx1100",)), True),  # a list of reports is no limit
        (b"third and last stage", Options(("gfx1100",), "6.9.1"), False),
        (b"second stage: code 5", Options(("gfx1100",), "6.12.5", (7, 1)), False),
        (b"third and last stage", Options(("gfx1201",), "6.9.1", (7, 1)), False),
        (b"third and last stage", Options(("gfx1201",), "6.12.5", (6, 4)), False),
        (b"third and last stage", Options(("gfx1201",), "6.12.5", (7, 2)), False),  # fixed there
        (b"third and last stage", Options(("gfx1100", "gfx1201"), "6.12.5", (7, 1)), True),  # one of two
        (b"all is well", AFFECTED, None),
    ],
)
def test_what_is_told(empty: Path, log: bytes, options: Options, told: bool | None) -> None:
    found = _one(log, empty, options=options)
    assert (found.told if found else None) == told, found


def test_a_condition_that_no_one_can_tell_is_no_support(empty: Path) -> None:
    """An issue of every GPU: its kernels decide, and a typical line without a kernel is not enough."""
    text = ISSUE.replace('gfx = ["gfx1201"]', "").replace('rocm = ">=7.0,<7.2"', "")
    for options, told in ((Options(), False), (Options(("gfx1030",)), False), (Options((), "6.12.5"), True)):
        found = _one(b"second stage: code 5", empty, text, options)
        assert found is not None
        assert found.told == told, options


@pytest.mark.parametrize(
    ("line", "id", "gfx"),
    [
        ('NCCL WARN Missing "iommu=pt" from kernel command line', "multi-gpu-nccl-hang-iommu", ""),
        ('NCCL WARN Missing "iommu=pt" from kernel command line', "multi-gpu-nccl-hang-iommu", "gfx942"),
        ("amdgpu: Runlist is getting oversubscribed.", "kfd-oversubscription", "gfx1151"),
        ("kfd: skipped device 1002:66af, PCI rejects atomics 730<0", "pcie-atomics-missing", "gfx906"),
        (
            "Attempting to use hipBLASLt on an unsupported architecture",
            "rdna3-hipblaslt-unsupported-arch",
            "gfx1150",
        ),
        ("[FATAL ERROR]: HSA_NO_SCRATCH_RECLAIM=1 must be set", "rccl-scratch-reclaim", "gfx908"),
    ],
)
def test_a_line_that_names_its_issue_is_told_of_also_beside_the_reports(
    tmp_path: Path, line: str, id: str, gfx: str
) -> None:
    host = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0")
    found, _ = judged(line.encode(), host, catalogue.known_issues(), Options((gfx,) if gfx else ()))
    assert (found[0].issue.id, found[0].told) == (id, True)
    if any(reason.met is False for reason in found[0].reasons):
        assert 0.5 <= found[0].score <= 0.6


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (Options(("gfx1201",), "7.0.0"), True),
        (Options(("gfx1031",), "6.19.3"), True),
        (Options(("gfx1100",), "6.17.0"), False),
        (Options(("gfx1100",)), False),
    ],
)
def test_the_short_lockup_timeout_goes_by_the_kernel_and_not_by_the_gpu(
    empty: Path, options: Options, told: bool
) -> None:
    log = b"ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3\nRing gfx_0.0.0 reset succeeded\n"
    found, _ = judged(log, empty, catalogue.known_issues(), options)
    assert [match.issue.id for match in found if match.told] == ["lockup-timeout-2s"] * told


def test_a_warning_of_an_rccl_that_no_longer_gives_it_has_no_cure(empty: Path) -> None:
    line = b'NCCL WARN Missing "HSA_FORCE_FINE_GRAIN_PCIE=1" from environment'
    for rocm, told in (((5, 6), True), ((6, 2), False)):
        found, _ = judged(line, empty, catalogue.known_issues(), Options(("gfx90a",), "", rocm))
        assert [match.issue.id for match in found if match.told] == ["rccl-fine-grain-pcie"] * told


NO_WINDOW = (
    "amdgpu 0000:01:00.0: (-12) failed to allocate kernel bo\n"
    "amdgpu 0000:01:00.0: probe with driver amdgpu failed with error -12\n"
)
OLD_BAR = "pci 0000:01:00.0: BAR 0: no space for [mem size 0x10000000 64bit pref]\n"
BAR = "pci 0000:01:00.0: BAR 0 [mem size 0x10000000 64bit pref]: can't assign; no space\n"
LIBRARY = "rocblaslt error: Could not load /opt/rocm/lib/hipblaslt/library/TensileLibrary_lazy_{}.dat"
FAULT = (
    "amdgpu 0000:03:00.0: amdgpu: [gfxhub0] retry page fault (src_id:0 ring:0 vmid:{} pasid:0)\n"
    "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, signaled seq=1, emitted seq=3\n"
)


@pytest.mark.parametrize(
    ("log", "gfx", "issues"),
    [
        (NO_WINDOW, "gfx803", []),  # any lack of memory at the start ends so
        (OLD_BAR + NO_WINDOW, "gfx90a", ["bar-without-space"]),
        (BAR + NO_WINDOW, "gfx803", ["bar-without-space"]),
        (LIBRARY.format("gfx942"), "gfx942", []),  # every hipBLASLt has it: it is there and cannot be opened
        (LIBRARY.format("gfx1201"), "gfx1201", ["hipblaslt-library-missing"]),
        (FAULT.format(4), "gfx902", []),  # a fault of the desktop: no program computes
        (FAULT.format(8), "gfx902", ["vega-apu-crash"]),
    ],
)
def test_a_line_that_other_faults_print_names_no_issue_alone(
    empty: Path, log: str, gfx: str, issues: list[str]
) -> None:
    matches, _ = judged(log.encode(), empty, catalogue.known_issues(), Options((gfx,)))
    assert [match.issue.id for match in matches if match.told] == issues


def test_more_evidence_and_met_conditions_raise_the_score(empty: Path) -> None:
    one = _one(b"third and last stage", empty, options=Options())
    placed = _one(b"third and last stage", empty)
    more = _one(b"second stage: code 5\nthird and last stage", empty)
    assert one is not None
    assert placed is not None
    assert more is not None
    assert one.score < placed.score < more.score < 1


def test_stages_in_their_order_count_more_than_the_same_lines_without(empty: Path) -> None:
    lines = [b"first stage of it", b"second stage: code 5", b"third and last stage"]
    ordered, mixed = _one(b"\n".join(lines), empty), _one(b"\n".join(lines[::-1]), empty)
    assert ordered is not None
    assert mixed is not None
    assert ordered.stages is not None
    assert mixed.stages is not None
    assert ordered.stages.in_order == ("one", "two", "three")
    assert len(mixed.stages.in_order) == 1
    assert mixed.stages.seen == ("one", "two", "three")
    assert ordered.score > mixed.score


def test_stages_of_two_boots_are_no_series() -> None:
    positions = {"one": [1], "two": [20]}
    assert follow(("one", "two"), positions, []).in_order == ("one", "two")
    assert follow(("one", "two"), positions, [10]).in_order == ("one",)
    again = {"one": [5, 30], "two": [2, 40], "three": [35]}
    assert follow(("one", "two", "three"), again, [10]).in_order in {("one", "two"), ("one", "three")}


def test_a_line_that_needs_another_beside_it_is_nothing_alone(empty: Path) -> None:
    text = ISSUE.replace('name = "three"', 'name = "three"\nbeside = "one"')
    assert _one(b"third and last stage", empty, text) is None
    found = _one(b"first stage of it\nthird and last stage", empty, text)
    assert found is not None
    assert found.told


def test_a_workaround_in_force_is_not_recommended_again(empty: Path) -> None:
    command_line = b"[0.0] Command line: BOOT_IMAGE=/vmlinuz ro quiet amdgpu.cwsr-enable=0x0\n"
    log = HEAD + command_line + b"third and last stage"
    found = _one(log, empty, options=Options(("gfx1201",), "", (7, 1)))
    assert found is not None
    assert found.in_force == ((split("amdgpu.cwsr_enable=0"), "the log's command line"),)
    assert found.remaining == ()
    other = _one(log.replace(b"0x0", b"1"), empty, options=Options(("gfx1201",), "", (7, 1)))
    assert other is not None
    assert other.remaining == (split("amdgpu.cwsr_enable=0"),)
    assert other.score > found.score


def test_what_runs_on_this_host_is_in_force_for_its_own_log(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0", parameters={"cwsr_enable": "0"})
    alike = b"Command line: " + (root / "proc/cmdline").read_bytes().strip() + b"\nsecond stage: code 5"
    found, where = judged(alike, root, [issue()])
    assert where.same_boots
    assert found[0].in_force[0][1] == "the running driver"
    for unsaid in (b"second stage: code 5", b"second stage: code 5\n" + alike.splitlines()[0]):
        (found_then,), _ = judged(unsaid, root, [issue()])
        assert found_then.in_force == (), "the log may be older than the setting"
        assert found_then.remaining == ()
        assert "the log does not show whether it was then" in found_then.applied[0].state
    other_boot = b"Command line: ro a=1\nsecond stage: code 5"
    assert judged(other_boot, root, [issue()])[0][0].in_force == (), "what runs now did not run then"
    elsewhere, where = judged(b"MES: mes_v11_0_x\nthird and last stage", root, [issue()])
    assert where.host is None
    assert elsewhere[0].in_force == ()


def test_features_and_kernel_arguments_can_be_in_force(empty: Path) -> None:
    text = ISSUE.replace('"amdgpu.cwsr_enable=0"', '"feature.gfxoff=false", "karg.iommu=pt"')
    log = HEAD + b"Command line: ro iommu=pt amdgpu.ppfeaturemask=0xfff73fff\nthird and last stage"
    found = _one(log, empty, text)
    assert found is not None
    assert [str(setting) for setting, _ in found.in_force] == ["feature.gfxoff=false", "karg.iommu=pt"]
    behind = _one(log.replace(b"ro iommu", b"ro -- iommu"), empty, text)
    assert behind is not None
    assert len(behind.in_force) == 1


def test_both_halves_of_a_fix_are_needed_where_the_issue_says_so(empty: Path) -> None:
    both = ISSUE.replace(
        'fixed_rocm = ">=7.2"', 'fixed_rocm = ">=7.1"\nfixed_kernels = ">=6.13"\nfixed_by = "both"'
    )
    half = _one(b"third and last stage", empty, both)
    whole = _one(b"third and last stage", empty, both, Options(("gfx1201",), "6.13.2", (7, 1)))
    assert half is not None
    assert whole is not None
    assert (half.told, whole.told) == (True, False)
    assert any("needs its half" in reason.text for reason in half.reasons)


# -- facts in the log -------------------------------------------------------------------------------------


def test_options_win_over_the_log_and_the_log_over_the_host(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0")
    log = b"Linux version 6.8.0-90-generic (b)\namdgpu: added device 1002:744c\n/opt/rocm-6.4.3/lib\n"
    _, where = judged(log, root, [])
    assert (where.gfx, where.rocm, where.kernel_at(9)[0]) == (("gfx1100",), (6, 4, 3), "6.8.0-90-generic")
    assert where.host is None, "this host has no such GPU"
    _, where = judged(log, root, [], Options(("gfx1030",), "6.1", (5, 7)))
    assert (where.gfx, where.rocm, where.kernel_at(9)) == (("gfx1030",), (5, 7), ("6.1", "--kernel"))
    _, where = judged(b"nothing", root, [], Options(("gfx1030",)))
    assert (where.host, where.rocm, where.kernel_at(9)) == (None, None, ("", "")), "another machine's"
    _, where = judged(b"nothing", root, [], Options(("gfx1201",)))
    assert (where.rocm, where.kernel_at(9)[1]) == ((7, 1, 0), "this host")
    _, where = judged(b"nothing at all", root, [])
    assert (where.gfx, where.rocm) == (("gfx1201",), (7, 1, 0))
    assert where.kernel_at(1) == ("6.12.107+deb13-amd64", "this host")


@pytest.mark.parametrize(
    ("log", "gfx"),
    [
        (
            b"[drm] initializing kernel modesetting (IP DISCOVERY 0x1002:0x744C 0x1EAE:0x7901 0xC8).",
            ("gfx1100",),
        ),
        (  # a board of AMD's own
            b"[drm] initializing kernel modesetting (IP DISCOVERY 0x1002:0x744C 0x1002:0x0E3B 0xC8).",
            ("gfx1100",),
        ),
        (b"kfd kfd: amdgpu: added device 1002:73bf", ("gfx1030",)),
        (b"  Name:                    amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", ("gfx90a",)),
        (b"No such file or directory for GPU arch : gfx1031", ("gfx1031",)),
        (b"Cijk_Ailk_Bjlk_BBS_BH_MT64x64x64_ISA1201_IU1", ("gfx1201",)),
        (b"gfx1100 gfx1100 gfx1100 gfx1100\ngfx1030", ("gfx1100",)),  # mentions, mostly of one
        (b"gfx1100\ngfx1030", ()),
        (b"Chip ID: 0(0x0)", ()),
        (b"nvidia 0000:01:00.0: 0x1002:0x744C", ()),
    ],
)
def test_the_gpu_is_read_from_the_log(log: bytes, gfx: tuple[str, ...]) -> None:
    assert facts_of(scanned(log, [])).gfx == gfx


def test_a_family_narrows_what_the_gpu_may_be() -> None:
    facts = facts_of(scanned(b"[drm:mes_v11_0_submit_pkt [amdgpu]] x\n", []))
    assert facts.gfx == ()
    assert {"gfx1100", "gfx1103"} <= set(facts.family)
    assert "gfx1201" not in facts.family


def test_each_boot_of_a_log_has_its_own_kernel_and_command_line() -> None:
    log = (
        b"early line\nLinux version 6.8.0-90-generic (b)\nCommand line: a=1 ro\nline 4\n"
        b"Linux version 6.14.0 (b)\nCommand line: b=2 ro\nline 7\n"
    )
    facts = facts_of(scanned(log, []))
    assert [facts.kernel_at(line) for line in (1, 4, 7)] == ["6.14.0", "6.8.0-90-generic", "6.14.0"]
    assert [k.text for k in facts.kargs_at(4) or ()] == ["a=1", "ro"]
    other = facts_of(scanned(b"Command line: python train.py --lr=0.1\n", []))
    assert other.kargs_at(1) is None


@pytest.mark.parametrize(
    ("log", "rocm"),
    [
        ("| **ROCm Version** | 6.4.3 |", (6, 4, 3)),
        ("ROCm version: 7.2.3", (7, 2, 3)),
        ("torch.version.hip= 7.2.26015)", (7, 2)),
        ("ii  rocm-core  6.4.3.60403-128~24.04 amd64", (6, 4, 3)),
        ("/opt/rocm-6.4.3/lib and /opt/rocm-7.1.1/lib", (7, 1, 1)),  # both are there: the newest
        ("it does not happen with ROCm 6.4.1", None),
        ("it does not happen with ROCm 6.4.1\nROCm version: 7.2.3", None),
        ("under ROCm 7.2.3 it faults\ntorch 2.11.0+rocm7.2", (7, 2)),
        ("ROCm versions: 6.2, 6.3, 7.0+", None),
    ],
)
def test_a_release_of_rocm_is_told_by_programs_and_not_by_sentences(
    tmp_path: Path, log: str, rocm: tuple[int, ...] | None
) -> None:
    assert facts_of(scanned(log.encode(), [])).rocm == rocm
    if "ROCm 6.4.1" in log:
        host = debian_grub_host(tmp_path, gfx="gfx1201", rocm="7.1.0")
        _, where = judged(log.encode(), host, [])
        assert (where.rocm, where.rocm_source) == (None, ""), "the log is about a release, so not this host's"


def test_driver_rocm_and_firmware_are_read_from_the_log() -> None:
    log = b"[drm] amdgpu version: 6.12.12\nROCm version: 6.4.3\n"
    log += b"MES feature version: 1, firmware version: 0x00000083"
    facts = facts_of(scanned(log, []))
    assert (facts.dkms, facts.rocm, facts.mes) == ("6.12.12", (6, 4, 3), 0x83)
    assert facts_of(scanned(b"torch 2.10.0+rocm7.2", [])).rocm == (7, 2)


@pytest.mark.parametrize(
    ("wanted", "release", "inside"),
    [
        (">=6.18.3,<6.18.7", "6.18.5", True),
        (">=6.18.3,<6.18.7", "6.18.9-arch1-1", False),
        (">=6.18.3,<6.18.7", "6.18.0-12-generic", None),  # Ubuntu counts builds, not stable releases
        (">=6.2", "6.8.0-90-generic", True),
        ("<6.19", "6.19.0-5-generic", False),
    ],
)
def test_a_hidden_stable_release_is_no_answer(wanted: str, release: str, inside: bool | None) -> None:
    version = parse_kernel(release)
    assert version is not None
    assert parse_range(wanted).between(*version.span) is inside


# -- the real issues --------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", sorted(HEALTHY.glob("*.log")), ids=lambda path: path.stem)
@pytest.mark.parametrize("gfx", ["gfx1100", "gfx1151", "gfx1201", "gfx942", "gfx1030", "gfx1103"])
def test_a_healthy_log_matches_nothing_whatever_the_gpu(empty: Path, log: Path, gfx: str) -> None:
    for options in (Options(), Options((gfx,), "6.18.5", (7, 1, 0))):
        found, _ = judged(log.read_bytes(), empty, catalogue.known_issues(), options)
        assert found == ()


SPOKEN_FOR = [i for i in catalogue.known_issues() if any(s.strength != "generic" for s in i.signatures)]


@pytest.mark.parametrize(
    ("before", "told"), [("", False), ("MES feature version: 1, firmware version: 0x00000083\n", True)]
)
def test_a_fault_of_one_firmware_is_told_where_that_firmware_is(empty: Path, before: str, told: bool) -> None:
    """Other firmware of the GPU faults with the same lines."""
    fault = "amdgpu 0000:c6:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00800932\n"
    found, _ = judged((before + fault).encode(), empty, catalogue.known_issues(), Options(("gfx1151",)))
    assert [(one.issue.id, one.told) for one in found] == [("strix-mes-fw-0x83", told)]


@pytest.mark.parametrize("known", SPOKEN_FOR, ids=lambda i: i.id)
def test_every_issue_is_told_of_by_its_own_samples(empty: Path, known: object) -> None:
    """All its lines, on a machine that it is about."""
    from rocmcfg.model.issue import KnownIssue

    assert isinstance(known, KnownIssue)
    log = "\n".join(s.samples[0] for s in known.signatures).encode()
    gfx = tuple(name.replace("*", "0") for name in known.gfx[:1])
    kernel = ""
    if (affected := known.kernel) and not gfx:  # what else could tell that it is about this one
        kernel = next(r for r in ("7.0.0", "5.15.0") if affected.contains(parse_version(r) or (0,)))
    found, _ = judged(log, empty, catalogue.known_issues(), Options(gfx, kernel))
    mine = next((match for match in found if match.issue.id == known.id), None)
    assert mine is not None
    assert mine.told, found


@pytest.mark.parametrize(
    ("log", "first"),
    [
        ("rdna3-mes-reset", "rdna3-mes-unmap-mode1"),
        ("rdna4-gemm-overread", "rdna4-hipblaslt-gltr-overread"),
    ],
)
def test_the_logs_that_people_published_come_out_right(empty: Path, log: str, first: str) -> None:
    found, where = judged((LOGS / f"{log}.log").read_bytes(), empty, catalogue.known_issues())
    assert found[0].issue.id == first
    assert found[0].score >= 0.8
    assert where.gfx
    assert [match for match in found[1:] if match.told and match.issue.kind == "fault"] == []


# -- kernel names -----------------------------------------------------------------------------------------


def test_a_kernel_name_is_decoded() -> None:
    name = decode((LOGS / "rdna4-gemm-overread.log").read_text())
    assert name is not None
    said = dict(name.parts)
    assert said["library"].startswith("hipBLASLt")
    assert said["call"].startswith("NT: ")
    assert said["types"] == "bfloat16, bfloat16, float32"
    assert said["macro tile"].startswith("64 × 64 × 64 ")
    assert said["built for"] == "gfx1201"
    assert "DirectToVgprB" in said["DTVB1"]
    assert "DTVA0" not in said, "a switch that is off says nothing"
    assert said["LBSPPA1024"].endswith(" 1024")
    assert "NumLoadsCoalescedB" in said["NLCB2"]


@pytest.mark.parametrize(
    ("name", "library", "transposition", "types"),
    [
        ("Cijk_Alik_Bljk_SB_MT128x64x16_SE_1LDSB0_ISA90a_IU1", "rocBLAS", "TN", "float32"),
        (
            "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_ISA942_",
            "rocBLAS",
            "NN",
            "float16, float16, float32",
        ),
        (
            "Cijk_Alik_Bjlk_I8II_BH_UserArgs_MT16x16x64_ISA1100_",
            "hipBLASLt",
            "TT",
            "int8, int32, int32",
        ),
    ],
)
def test_libraries_transpositions_and_types(name: str, library: str, transposition: str, types: str) -> None:
    found = decode(f"kernel {name} faulted")
    assert found is not None
    said = dict(found.parts)
    assert said["library"].startswith(library)
    assert (said["call"][:4], said["types"]) == (f"{transposition}: ", types)


@pytest.mark.parametrize("text", ["", "Cijk_", "Cijk_Ailk_Bjlk", "xCijk Ailk", "Cijk_Ailk_Bjlk_" + "€" * 9])
def test_what_is_no_kernel_name_is_none(text: str) -> None:
    assert decode(text) is None


def test_two_patterns_that_read_one_line_are_one_kind_of_line(empty: Path) -> None:
    narrow = ISSUE.replace("second stage: code [0-9]+", "first stage of it all")
    once, _ = judged(b"first stage of it all", empty, [issue(narrow)], AFFECTED)
    twice, _ = judged(b"first stage of it\nfirst stage of it all", empty, [issue(narrow)], AFFECTED)
    assert once[0].score < twice[0].score
    assert once[0].reasons[0].text == "evidence: 1 typical line"


@pytest.mark.parametrize(
    ("release", "id"), [("7.1.6", "kernel-716-pageflip"), ("6.17.3", "psr-freeze-laptop")]
)
def test_a_page_flip_that_hangs_is_put_down_to_the_kernel_that_broke_it(
    empty: Path, release: str, id: str
) -> None:
    line = b"amdgpu 0000:06:00.0: [drm] *ERROR* [CRTC:369:crtc-0] flip_done timed out"
    found, _ = judged(line, empty, catalogue.known_issues(), Options(("gfx1035",), release))
    assert next(match.issue.id for match in found if match.told) == id


RING = b"[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3\n"
PROCESS = (
    b"[drm:amdgpu_job_timedout [amdgpu]] *ERROR* Process information: process Xorg pid 12 thread X pid 12\n"
)


def test_a_line_that_says_more_about_a_fault_is_no_second_fault() -> None:
    hits = scanned(RING + PROCESS, []).hits
    (timeout,) = fault_matches(faults.faults(), hits)
    assert timeout.fault.id == "AMD-501"
    assert not fault_matches(faults.faults(), hits, (timeout.first,)), "an issue explains the timeout"
    (alone,) = fault_matches(faults.faults(), scanned(PROCESS, []).hits)
    assert alone.fault.id == "AMD-1799"  # an excerpt without the line before
