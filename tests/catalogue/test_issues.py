"""The known issues: is every file right, do Python and grep read it alike, does a healthy log pass?"""

from __future__ import annotations

import io
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocmcfg.advice.doctor.judging.faults import fault_matches
from rocmcfg.advice.doctor.reading.probes import of_faults, required
from rocmcfg.advice.doctor.reading.scan import Scanner
from rocmcfg.change.planning.combine import parse_set
from rocmcfg.knowledge import catalogue, faults, toml
from rocmcfg.knowledge.issue_schema import mistakes
from rocmcfg.model.catalogue import matches
from rocmcfg.model.desired import Kind
from rocmcfg.model.issue import KnownIssue, Signature
from rocmcfg.model.profile import Setting
from rocmcfg.model.spelling import stored
from tests.support.tools import require_tool

HERE = Path(__file__).resolve().parent
HEALTHY = HERE.parents[1] / "rocmcfg/knowledge/data/healthy"
FOLDER = HERE.parents[1] / "rocmcfg" / "knowledge" / "data" / "issues"
FIRST = [  # what there was to start with; more are welcome
    "dgpu-runpm-baco",
    "gfx1103-mes-remove-queue",
    "gfx1151-hipblaslt-illegal-access",
    "gfx1152-mes-0x82",
    "gfx115x-mes-wait-reg-mem",
    "gfxoff-off-breaks-s2idle-navi48",
    "kernel-618-pagefault-regression",
    "kfd-oversubscription",
    "lint-alloc-conf-deprecated",
    "lint-presence-only-env",
    "lint-torch-use-hipblaslt",
    "lint-unknown-param",
    "lockup-timeout-2s",
    "mi300x-retry-fault",
    "multi-gpu-nccl-hang-iommu",
    "official-mi100-mi200",
    "official-mi300a",
    "official-mi300x",
    "official-strix-halo",
    "official-w6000-v620",
    "override-on-wrong-gpu",
    "pcie-atomics-missing",
    "psr-freeze-laptop",
    "rccl-fine-grain-pcie",
    "rccl-scratch-reclaim",
    "rdna-idle-100pct",
    "rdna1-override-crash",
    "rdna2-6800xt-comfyui",
    "rdna2-gfx1031-rocm7-illegal",
    "rdna2-miopen-conv-fault",
    "rdna2-missing-tensile-lib",
    "rdna3-7600s-gfxoff",
    "rdna3-gfx-timeout-power-profile",
    "rdna3-hipblaslt-unsupported-arch",
    "rdna3-mes-unmap-mode1",
    "rdna3-pcie-completion-timeout",
    "rdna4-expert-sched-cwsr",
    "rdna4-headless-runpm",
    "rdna4-hipblaslt-gltr-overread",
    "rdna4-hipblaslt-hang-comfyui",
    "rdna4-multi-r9700-p2p-host-hang",
    "rdna4-r9700-mes-invalidate-tlbs",
    "rdna4-rccl-ll-deadlock",
    "strix-cwsr-save-area",
    "strix-gfxoff-ring-hang",
    "strix-mes-fw-0x83",
    "strix-silent-hard-hang",
    "strix-vram-limit-ttm",
    "vega-apu-crash",
    "xnack-mixed-gpus",
]
KNOWN = catalogue.known_issues()
SIGNATURES = [(issue, signature) for issue in KNOWN for signature in issue.signatures]
SETTINGS = [(issue.id, str(text)) for issue in KNOWN for text in issue.workaround.settings]
# Two issues that mean to read the same line: the general slip, and the one that costs memory.
SHARED = {("lint-unknown-param", "strix-vram-limit-ttm")}
each_issue = pytest.mark.parametrize("issue", KNOWN, ids=lambda issue: issue.id)


def document(id: str) -> dict[str, Any]:
    return toml.loads((FOLDER / f"{id}.toml").read_text())


def grep(pattern: str, lines: list[str]) -> list[str]:
    """What `grep -E` finds, in the locale in which doctor runs it."""
    done = subprocess.run(
        [require_tool("grep", "grep"), "-aE", "-e", pattern],
        input="".join(f"{line}\n" for line in lines),
        env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()


def counting(issue: KnownIssue, lines: list[str]) -> list[Signature]:
    """The signatures that name the issue here: not generic, and with what must stand beside them."""

    def found(signature: Signature) -> bool:
        return any(re.search(signature.pattern, line) for line in lines)

    named = {s.name: s for s in issue.signatures if s.name}
    return [
        s
        for s in issue.signatures
        if s.strength != "generic" and found(s) and (not s.beside or found(named[s.beside]))
    ]


def test_these_are_the_issues_and_each_file_is_named_by_its_id() -> None:
    ids = [issue.id for issue in KNOWN]
    assert ids == sorted(path.stem for path in FOLDER.glob("*.toml"))
    assert not set(FIRST) - set(ids), "an issue that is known is not forgotten"


@each_issue
def test_the_schema_takes_the_file(issue: KnownIssue) -> None:
    assert mistakes(document(issue.id), catalogue.load().fixes) == []
    assert issue.summary.endswith(".")
    assert not issue.title.endswith(".")
    assert "/home/" not in (FOLDER / f"{issue.id}.toml").read_text()


@each_issue
def test_python_and_grep_both_find_the_sample_lines(issue: KnownIssue) -> None:
    for signature in issue.signatures:
        lines = list(signature.samples)
        assert [line for line in lines if re.search(signature.pattern, line)] == lines
        assert grep(signature.pattern, lines) == lines


@pytest.mark.parametrize("pattern", sorted({s.pattern for _, s in SIGNATURES}))
def test_every_match_holds_a_text_of_four_characters_to_look_for_first(pattern: str) -> None:
    assert min(map(len, required(pattern)[0])) >= 4


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted({s.pattern for _, s in SIGNATURES})), st.data())
def test_whatever_a_pattern_matches_holds_one_of_its_literals(pattern: str, data: st.DataObject) -> None:
    line = data.draw(st.from_regex(pattern, alphabet=st.characters(codec="ascii")))
    assert any(literal.decode() in line for literal in required(pattern)[0])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SIGNATURES), st.data())
def test_python_and_grep_agree_on_lines_that_are_nearly_right(
    row: tuple[KnownIssue, Signature], data: st.DataObject
) -> None:
    _, signature = row
    sample = data.draw(st.sampled_from(signature.samples))
    text = st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126), max_size=4)
    lines = []
    for _ in range(20):
        start = data.draw(st.integers(0, len(sample)))
        end = data.draw(st.integers(start, min(len(sample), start + 4)))
        lines.append(sample[:start] + data.draw(text) + sample[end:])
    assert grep(signature.pattern, lines) == [line for line in lines if re.search(signature.pattern, line)]


@pytest.mark.parametrize("log", sorted(HEALTHY.glob("*.log")), ids=lambda path: path.stem)
def test_a_healthy_log_names_no_issue(log: Path) -> None:
    lines = log.read_text().splitlines()
    named = {issue.id: [s.pattern for s in counting(issue, lines)] for issue in KNOWN}
    assert not {id: patterns for id, patterns in named.items() if patterns}


@pytest.mark.parametrize("log", ["rdna3-desktop", "strix-apu"])
def test_the_boot_of_a_healthy_amd_machine_matches_nothing_at_all(log: str) -> None:
    lines = (HEALTHY / f"{log}.log").read_text().splitlines()
    found = [(i.id, line) for i, s in SIGNATURES for line in lines if re.search(s.pattern, line)]
    assert found == []


def test_a_kernel_name_counts_only_together_with_a_fault() -> None:
    issue = next(i for i in KNOWN if i.id == "rdna4-hipblaslt-gltr-overread")
    name = issue.signatures[0].samples[0]
    assert counting(issue, [name]) == []
    fault = "Memory access fault by GPU node-1 on address 0x7f6459a00000."
    assert [s.strength for s in counting(issue, [name, fault])] == ["specific"]


def test_no_line_of_one_issue_is_specific_for_another() -> None:
    wrong = [
        (issue.id, other.id, sample)
        for issue, signature in SIGNATURES
        if signature.strength == "specific"
        for other, theirs in SIGNATURES
        if other.id != issue.id and (issue.id, other.id) not in SHARED
        for sample in theirs.samples
        if re.search(signature.pattern, sample)
    ]
    assert wrong == []


# Classes whose lines say their cause, whatever the GPU: who may open what, code or a library that is missing,
# a build for another vendor, packages.
SAYS_THE_CAUSE = {
    *("AMD-1001", "AMD-1002", "AMD-1101", "AMD-1102", "AMD-1103", "AMD-1109", "AMD-1201", "AMD-1202"),
    *("AMD-1301", "AMD-1401", "AMD-1402", "AMD-1403", "AMD-1405", "AMD-1406", "AMD-1408"),
    *("AMD-1501", "AMD-1502", "AMD-1503", "AMD-1504", "AMD-1505", "AMD-1506", "AMD-1507", "AMD-1508"),
}


def on_some_gpus_only(row: dict[str, Any]) -> bool:
    """Return whether the GPU is the only condition of an issue whose strong lines all say their cause."""
    samples = [
        sample
        for signature in row.get("signature", ())
        if signature["strength"] != "generic" and "beside" not in signature
        for sample in signature["samples"]
    ]
    if not ("gfx" in row and samples) or row.keys() & {"kernel", "rocm", "firmware", "lacks_fix", "has_fix"}:
        return False
    if row.get("workaround", {}).get("settings"):  # a profile and a plan choose those by the GPU
        return False
    return all(classes and classes <= SAYS_THE_CAUSE for classes in map(classes_of, samples))


def classes_of(line: str) -> set[str]:
    scanner = Scanner(of_faults(faults.faults().values()), use_grep=False)
    scanner.read("a.log", io.BytesIO(line.encode()))
    return {match.fault.id for match in fault_matches(faults.faults(), scanner.hits)}


@each_issue
def test_a_line_that_says_its_cause_says_it_on_every_gpu(issue: KnownIssue) -> None:
    assert not on_some_gpus_only(document(issue.id)), "remove the condition gfx"


def test_a_list_of_gpus_on_a_message_that_explains_itself_is_found() -> None:
    planted = document("no-code-for-gpu")
    assert on_some_gpus_only({**planted, "gfx": ["gfx1103"], "signature": planted["signature"][:1]})


def test_patterns_do_not_lean_on_what_stands_before_the_message() -> None:
    """Time stamps, host names and the PCI address vary; three patterns want the driver's name on purpose."""
    leaning = {i.id for i, s in SIGNATURES if re.search(r"^\^|0000:|amdgpu: amdgpu:|kernel:", s.pattern)}
    driver = {i.id for i, s in SIGNATURES if s.pattern.startswith("amdgpu [")}
    assert leaning == set()
    assert driver == {"dgpu-runpm-baco", "rdna3-pcie-completion-timeout"}


def test_the_stages_of_the_mes_hang_stand_in_the_log_in_this_order() -> None:
    issue = next(i for i in KNOWN if i.id == "rdna3-mes-unmap-mode1")
    lines = (HERE / "data" / "rdna3-mes-reset.log").read_text().splitlines()
    named = {s.name: s for s in issue.signatures}
    first = [
        next(number for number, line in enumerate(lines) if re.search(named[stage].pattern, line))
        for stage in issue.stages
    ]
    assert len(first) == 5
    assert first == sorted(first)


@pytest.mark.parametrize(
    "wording",
    [
        "*ERROR* MES failed to response msg=3",
        "amdgpu: MES failed to respond to msg=REMOVE_QUEUE",
        "amdgpu: MES(0) failed to respond to msg=REMOVE_QUEUE",
        "amdgpu: MES(0, 0) failed to respond to msg=REMOVE_QUEUE",
    ],
)
def test_the_mes_message_is_read_in_the_wording_of_every_kernel(wording: str) -> None:
    for id in ("rdna3-mes-unmap-mode1", "gfx1103-mes-remove-queue"):
        assert counting(next(i for i in KNOWN if i.id == id), [wording])


@pytest.mark.parametrize("id", ["gfx1103-mes-remove-queue", "strix-cwsr-save-area"])
@pytest.mark.parametrize("word", ["hardware queue", "queue"])
def test_a_queue_that_was_not_removed_is_read_in_the_wording_of_every_kernel(id: str, word: str) -> None:
    """kfd_device_queue_manager.c (remove_queue_mes): 7.3 says queue, 6.12 and 7.2 hardware queue."""
    line = f"amdgpu 0000:c5:00.0: amdgpu: failed to remove {word} from MES, doorbell=0x1002"
    assert counting(next(i for i in KNOWN if i.id == id), [line])


def test_newer_firmware_is_advised_only_where_some_does_without_atomics() -> None:
    """kfd_device.c prints %d<%d on every kernel since 6.12, and 0 as the second where there is none."""
    issue = next(i for i in KNOWN if i.id == "pcie-atomics-missing")
    (step,) = (step for step in issue.workaround.steps if "linux-firmware" in step)
    assert "the second is not 0" in step
    assert issue.gfx == (), "the slot decides, on every card that asks for atomics"


def test_no_issue_sets_what_does_nothing_on_its_gpus() -> None:
    """A workaround such as runpm on an APU, or a bit that the chip's power code does not read."""
    known = catalogue.load()
    integrated = {gpu.gfx: gpu.apu for gpu in known.gpus}
    idle = []
    for issue in KNOWN:
        for text in issue.workaround.settings:
            setting = parse_set(str(text))
            assert isinstance(setting, Setting)
            entry = known.parameters.get(setting.id) or (
                known.features[setting.name]
                if setting.kind is Kind.FEATURE
                else known.variables.get(setting.name)
            )
            gpus = [gfx for gfx in issue.gfx if gfx in integrated]
            if entry and entry.acts_on and gpus:
                acts = [entry.acts_on.covers(gfx, integrated[gfx]) for gfx in gpus]
                idle += [] if any(acts) else [(issue.id, setting.id)]
            if setting.kind is Kind.ENV:
                assert not known.variables[setting.name].build_only, issue.id
    assert idle == []


SEEN = {  # wordings of other kernels, programs and versions than the samples'
    "root@ollama:~# rocminfo: Unable to open /dev/kfd read-write: Operation not permitted": "kfd-no-rights",
    "Error! Consult /var/lib/dkms/amdgpu/5.6.0.15-1098277/build/make.log for more "
    "information.": "dkms-does-not-build",
    "rocBLAS error: Cannot read /opt/torch/lib/rocblas/library/TensileLibrary.dat: No such file or directory "
    "for GPU arch : gfx1103": "rocblas-missing-library",
    "kernel: amdgpu: SVM mapping failed, exceeds resident system memory limit": "mmap-weights-stall",
    "hip_fatbin.cpp:550: No compatible code objects found for: gfx906:sramecc+": "no-code-for-gpu",
    "[drm] evicting device resources failed": "suspend-vram-does-not-fit",
}


@pytest.mark.parametrize("line", SEEN)
def test_a_line_that_users_ask_about_names_one_issue(line: str) -> None:
    named = {i.id for i, s in SIGNATURES if s.strength == "specific" and re.search(s.pattern, line)}
    assert named == {SEEN[line]}


@pytest.mark.parametrize(
    "line",
    [
        "Unable to open /dev/kfd read-write: Cannot allocate memory",
        "Consult /var/lib/dkms/nvidia/550.1/build/make.log for more information.",
        'msg="dropping integrated GPU; to enable, set OLLAMA_IGPU_ENABLE=1" id=0 library=Vulkan',
        "amdgpu 0000:19:00.0: Direct firmware load for amdgpu/vega20_ta.bin failed with error -2",
    ],
)
def test_what_only_looks_alike_names_none(line: str) -> None:
    assert not [i.id for i in KNOWN if any(s.strength == "specific" for s in counting(i, [line]))]


@each_issue
def test_names_lead_to_what_exists(issue: KnownIssue) -> None:
    known = catalogue.load()
    gfx = {gpu.gfx for gpu in known.gpus} | {"gfx803"}  # older than the compute parts of the catalogue
    assert [g for g in issue.gfx if not any(matches(name, (g,)) for name in gfx)] == []
    assert not issue.lacks_fix or issue.lacks_fix in known.fixes


@pytest.mark.parametrize("issue", [i for i in KNOWN if i.workaround.profile], ids=lambda issue: issue.id)
def test_the_profile_that_is_named_gives_what_helps(issue: KnownIssue) -> None:
    path = HERE.parents[1] / "profiles" / f"{issue.workaround.profile}.toml"
    profile = toml.loads(path.read_text())
    given = {f"feature.{name}" for name in profile.get("features", {})}
    given |= {f"karg.{name}" for name in profile.get("cmdline", {})}
    given |= {f"env.{name}" for name in profile.get("env", {})}
    given |= {f"{module}.{name}" for module, rows in profile.get("module", {}).items() for name in rows}
    assert {setting.id for setting in issue.workaround.settings} <= given


@pytest.mark.parametrize(("id", "text"), SETTINGS, ids=[f"{id}-{text}" for id, text in SETTINGS])
def test_a_workaround_is_what_the_catalogue_takes(id: str, text: str) -> None:
    known = catalogue.load()
    setting = parse_set(text)
    assert isinstance(setting, Setting), setting
    value = str(setting.value)
    if setting.kind is Kind.PARAMETER:
        parameter = known.parameters[f"{setting.module}.{setting.name}"]
        newest = parameter.on(max(parameter.builds)).variants
        assert newest, "the newest kernel has no such parameter"
        for variant in newest:
            stored(variant.type, value)
    elif setting.kind is Kind.FEATURE:
        assert setting.name in known.features
    elif setting.kind is Kind.ENV:
        variable = known.variables[setting.name]
        assert not variable.unknown
        assert not variable.values or value in variable.values
        assert not variable.pattern or re.fullmatch(variable.pattern, value)
    else:
        assert setting.name in known.arguments


GOOD = """
schema = 1
kind = "fault"
title = "A fault"
summary = "What happens."
kernel = ">=6.18,<7.1"
stages = ["first"]
cost = "None."
evidence = ["https://example.org/1"]
confidence = "reported"
[workaround]
settings = ["amdgpu.runpm=0"]
[[signature]]
name = "first"
pattern = 'GPU [0-9]+ fell off'
strength = "typical"
samples = ["GPU 3 fell off"]
"""
SECOND = "[[signature]]\nname = 'first'\npattern = 'abcd'\nstrength = 'generic'\nsamples = ['abcd']\n"
PLANTED = {  # what is replaced, by what, and a piece of what is said of it
    "a key that does not exist": ("cost =", "price =", "unknown key"),
    "no evidence": ('["https://example.org/1"]', "[]", "the list is empty"),
    "evidence that is no link": ("https://example.org/1", "a friend", "not a link"),
    "a range that is none": (">=6.18,<7.1", "6.18 or so", "not a comparison"),
    "a strength that does not exist": ('"typical"', '"certain"', "'specific', 'typical' or 'generic'"),
    "a confidence that does not exist": ('"reported"', '"sure"', "'confirmed', 'reported' or"),
    "a sample that the pattern misses": ("GPU 3 fell off", "GPU three fell off", "does not match its sample"),
    "no sample": ('["GPU 3 fell off"]', "[]", "the list is empty"),
    "a digit class of Python alone": ("[0-9]+", r"\d+", "an escape other than"),
    "a blank class of Python alone": ("GPU [0-9]+", r"GPU\s[0-9]+", "an escape other than"),
    "a group that only Python has": ("GPU [0-9]+", "(?:GPU) [0-9]+", "starts with (?"),
    "a lazy repeat": ("[0-9]+", "[0-9]+?", "a lazy one"),
    "a look-ahead": ("fell off", "fell off(?= )", "starts with (?"),
    "a POSIX class": ("[0-9]+", "[[:digit:]]+", "POSIX class"),
    "a letter that grep sees as two": ("fell", "f\u00eall", "beyond ASCII"),
    "a pattern that is none": ("[0-9]+", "([0-9]+", "not a regular expression"),
    "a stage without a signature": (
        'stages = ["first"]',
        'stages = ["last"]',
        "no signature has the name last",
    ),
    "beside one that does not exist": (
        '"typical"',
        '"typical"\nbeside = "other"',
        "no signature has the name other",
    ),
    "two signatures of one name": (
        "[[signature]]",
        SECOND + "[[signature]]",
        "two signatures have the name first",
    ),
    "a setting without a value": ("amdgpu.runpm=0", "amdgpu.runpm", "has no value"),
    "a setting that no file may hold": ("amdgpu.runpm=0", "amdgpu.runpm=$(id)", "spelling of --set"),
    "a setting in another spelling": ("amdgpu.runpm=0", "runpm=0", "spelling of --set"),
    "a cure without a cost": ('cost = "None."', "", "has a cost"),
    "one half of a fix that needs two": (
        "stages =",
        'fixed_by = "both"\nstages =',
        "have their part of the fix",
    ),
    "a fix that is none": ("stages =", 'has_fix = "other"\nstages =', "no fix has the name other"),
    "a pair of one": ("stages =", "pair = true\nstages =", "do not work together"),
    "a sentence over two lines": ('"What happens."', '"What\\nhappens."', "one line"),
}


def test_a_file_that_is_right_has_no_mistakes() -> None:
    assert mistakes(toml.loads(GOOD), catalogue.load().fixes) == []


def test_the_example_for_contributors_is_right() -> None:
    recipe = (HERE.parents[1] / "docs/recipes/known-issue.md").read_text()
    example = recipe.partition("```toml ")[2].partition("\n")[2].partition("```")[0]
    assert mistakes(toml.loads(example), catalogue.load().fixes) == []


@pytest.mark.parametrize("mistake", PLANTED)
def test_a_planted_mistake_is_found(mistake: str) -> None:
    before, after, said = PLANTED[mistake]
    assert before in GOOD
    found = mistakes(toml.loads(GOOD.replace(before, after, 1)), catalogue.load().fixes)
    assert [text for text in found if said in text], found
