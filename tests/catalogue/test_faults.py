"""The shipped fault classes: their form, their lines, and that a healthy log shows none."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rocmcfg.advice.doctor.judging.faults import FaultMatch, fault_matches
from rocmcfg.advice.doctor.reading import probes
from rocmcfg.advice.doctor.reading.scan import Scanner
from rocmcfg.knowledge import catalogue, compiled, fault_schema, faults, toml

FOLDER = Path(compiled.PACKAGE, faults.FOLDER)
FILES = sorted(
    path.stem for path in FOLDER.glob("*.toml") if path.name not in (faults.LAYERS, faults.COLLECT)
)
PROBES = probes.of_faults(faults.faults().values())
HEALTHY = sorted((FOLDER.parent / "healthy").glob("*.log"))


def shown(log: str) -> tuple[FaultMatch, ...]:
    scanner = Scanner(PROBES, use_grep=False)
    scanner.read("a.log", io.BytesIO(log.encode()))
    return fault_matches(faults.faults(), scanner.hits)


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_fault_classes_has_no_mistakes(name: str) -> None:
    document = toml.loads((FOLDER / f"{name}.toml").read_text())
    issues = {issue.id for issue in catalogue.known_issues()}
    layer = faults.layers()[name]
    wrong = fault_schema.mistakes(document, layer, faults.faults(), faults.collectibles(), issues)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("id", faults.faults())
def test_each_line_of_a_class_is_answered_by_that_class(id: str) -> None:
    for line in faults.faults()[id].lines:
        answered = [match.fault.id for match in shown(line.text)]
        assert answered == [id], line.text


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
def test_a_healthy_log_shows_no_fault(path: Path) -> None:
    accused = {
        match.fault.id: match.groups[0].text
        for match in shown(path.read_text())
        if match.fault.severity != "note"
    }
    assert not accused


@pytest.mark.parametrize(
    "line",
    [
        "kfd kfd: amdgpu: OLAND  not supported in kfd",
        "amdgpu 0000:03:00.0: amdgpu: psp gfx command LOAD_TA(0x1) failed and response status is (0x7)",
        "amdgpu 0000:03:00.0: amdgpu: psp gfx command INVOKE_CMD(0x3) failed and response status is (0x4)",
        "amdgpu 0000:03:00.0: amdgpu: Secure display: Generic Failure.",
        'level=INFO source=amd_linux.go:296 msg="unsupported Radeon iGPU detected skipping" id=1',
        'source=amd_linux.go:393 msg="skipping rocm gfx compatibility check" HSA_OVERRIDE_GFX_VERSION=1',
    ],
)
def test_what_a_healthy_machine_prints_as_well_is_no_more_than_a_note(line: str) -> None:
    assert [match.fault.severity for match in shown(line)] == ["note"]


def test_a_consequence_comes_after_its_cause_and_the_first_of_two_equals_first() -> None:
    every = {id: fault for id, fault in faults.faults().items() if not fault.general}
    for fault in every.values():
        for cause in fault.after:
            texts = [every[cause].lines[0].text, fault.lines[0].text]
            first = shown("\n".join(texts))
            assert [match.fault.id for match in first][:1] == [cause], (fault.id, cause)
            assert {match.fault.id: match.causes for match in first}[fault.id] == (cause,)


def test_a_program_may_print_its_cause_after_what_follows_from_it_and_the_kernel_may_not() -> None:
    engine = "(EngineCore pid=7) ERROR 06-16 20:55:14 [core.py:1224] EngineCore failed to start."
    kernels = "RuntimeError: HIP error: invalid device function"
    assert [match.fault.id for match in shown(f"{engine}\n{kernels}")] == ["AMD-1103", "AMD-1312"]
    ring = "amdgpu 0000:03:00.0: amdgpu: ring sdma0 timeout, signaled seq=1, emitted seq=2"
    page = "amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:3 pasid:32770)"
    assert [match.fault.id for match in shown(f"{ring}\n{page}")] == ["AMD-501", "AMD-401"]


def test_a_machine_check_is_judged_by_its_status() -> None:
    """Bit 61 of the status says whether the error was left uncorrected; a status of 0 says nothing."""
    line = "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 5: "
    by_status = {"bea0000000000108": ["AMD-817"], "dc2040000000011b": ["AMD-816"], "0000000000000000": []}
    for status, ids in by_status.items():
        assert [match.fault.id for match in shown(line + status)] == ids, status


def test_a_general_class_of_the_driver_has_no_line_of_a_program() -> None:
    assert [
        match.fault.id for match in shown("amdgpu_device_initialize: amdgpu_query_x init failed (-1)")
    ] == []
