"""The readers of sources, on a small tree; `make sources` holds the data against the real ones."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from rocmcfg.knowledge.catalogue import gpu_models
from rocmcfg.knowledge.issue_schema import SignatureTable
from tests.catalogue.sources import checks, libraries, proven
from tests.catalogue.sources.__main__ import RECORD
from tests.catalogue.sources.kernel import AMD, Kernel
from tests.catalogue.sources.wordings import Library

DRIVER = """
enum AMDGPU_DEBUG_MASK {
	AMDGPU_DEBUG_VM = BIT(0),
};
module_param_named(runpm, amdgpu_runtime_pm, int, 0444);
module_param_string(lockup_timeout, amdgpu_lockup_timeout,
	sizeof(amdgpu_lockup_timeout), 0444);
MODULE_PARM_DESC(runpm, "PX runtime pm (2 = force enable with BAMACO, "
	"-1 = auto)");
static const struct pci_device_id pciidlist[] = {
	{0x1002, 0x67DF, PCI_ANY_ID, PCI_ANY_ID, 0, 0, CHIP_POLARIS10},
	{ PCI_DEVICE(0x1002, 0x731F), .driver_data = CHIP_NAVI10 },
};
	dev_err(adev->dev, "failed to remove hardware queue from MES, "
		"doorbell=0x%x\\n", doorbell);
"""
KFD = """
	case CHIP_POLARIS10:
		gfx_target_version = 80003;
		break;
		case IP_VERSION(10, 1, 10):
		case IP_VERSION(11, 0, 0):
			gfx_target_version = 100100;
			break;
"""
SHARED = """
enum PP_FEATURE_MASK {
	PP_SCLK_DPM_MASK = 0x1,
	PP_GFXOFF_MASK = 0x8000,
};
enum DC_FEATURE_MASK {
	/** (0x1) disabled by default */
	DC_FBC_MASK = (1 << 0),
};
"""
FILES = {"amdgpu/amdgpu_drv.c": DRIVER, "amdkfd/kfd_device.c": KFD, "include/amd_shared.h": SHARED}


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    for name, text in FILES.items():
        path = tmp_path / AMD / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Kernel(tmp_path, "7.3.4")


def test_a_driver_tells_its_parameters_masks_and_gpus(kernel: Kernel) -> None:
    assert kernel.parameters() == {"runpm": ("int", "0444"), "lockup_timeout": ("string", "0444")}
    assert kernel.described() == {"runpm": "PX runtime pm (2 = force enable with BAMACO,  -1 = auto)"}
    assert kernel.masks()["ppfeaturemask"] == {1: "PP_SCLK_DPM_MASK", 0x8000: "PP_GFXOFF_MASK"}
    assert (kernel.masks()["dcfeaturemask"], kernel.masks()["debug_mask"]) == (
        {1: "DC_FBC_MASK"},
        {1: "AMDGPU_DEBUG_VM"},
    )
    assert kernel.ids() == {"67df": "POLARIS10", "731f": "NAVI10"}
    assert kernel.targets() == {"POLARIS10": {80003}, "10.1.10": {100100}, "11.0.0": {100100}}


def test_a_line_is_printed_where_its_text_stands_in_the_source(kernel: Kernel) -> None:
    def signature(pattern: str, sample: str) -> SignatureTable:
        return SignatureTable(pattern=pattern, strength="typical", samples=[sample])

    said = "[ 5.1] amdgpu 0000:03:00.0: amdgpu: failed to remove hardware queue from MES, doorbell=0x1202"
    assert checks.printed_by(signature("failed to remove hardware queue", said), [kernel]) == ["7.3"]
    reworded = said.replace("hardware queue", "queue")
    assert checks.printed_by(signature("failed to remove queue", reworded), [kernel]) == []
    # the text is there, and the pattern looks for something else on the line
    assert checks.printed_by(signature("amdgpu 0000", said), [kernel]) == []


def test_a_line_is_printed_by_the_library_that_holds_its_words(tmp_path: Path) -> None:
    fault = "Memory access fault by GPU node-1 (Agent handle: 0x5) on address 0x7f00. Reason: Unknown."
    asked = SignatureTable(pattern="Memory access fault by GPU", strength="generic", samples=[fault])
    variable = SignatureTable(pattern="HSA_ENABLE_SDMA=0", strength="generic", samples=["HSA_ENABLE_SDMA=0"])
    (tmp_path / "libx.so.1").write_bytes(b"\x01\x02Memory access fault by GPU node-\0HSA_ENABLE_SDMA\0")
    library = Library("ROCr 6.4", tmp_path)
    assert checks.printed_by(asked, [library]) == ["ROCr 6.4"]
    assert checks.printed_by(variable, [library]) == [], "a name is no text of its own"
    (tmp_path / "libx.so.1").write_bytes(b"Memory access fault by GPU node-, in the middle of data \xff")
    assert checks.printed_by(asked, [Library("ROCr 6.1", tmp_path)]) == []


def test_data_that_differ_from_a_source_are_named(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    models = {model.gc_ip: model for model in gpu_models()}
    monkeypatch.setattr(checks, "_CORES", {"NAVI10": "10.1.10"})
    monkeypatch.setattr(checks, "_LLVM", {})
    for wrong, told in (
        (models["10.1.10"]._replace(pci=()), "1002:731f (NAVI10) is not in gpus.toml"),
        (models["10.1.10"]._replace(gfx="gfx1012"), "1002:731f is NAVI10, gfx1010; gpus.toml says gfx1012"),
    ):
        monkeypatch.setattr(checks, "gpu_models", lambda wrong=wrong: (wrong, models["11.0.0"]))
        found = [*checks.of_gpus(kernel, "", "1002  AMD\n1003  Other\n")]
        assert told in found
        assert "GC 11.0.0 is gfx1010; gpus.toml says gfx1100" in found
    assert "amdgpu.tmz on 7.3.4: not in the source" in [*checks.of_parameters(kernel)]
    assert "ppfeaturemask: no release has the bit 0x2 (mclk-dpm)" in [*checks.of_masks([kernel])]


def test_a_new_release_says_what_it_changed(kernel: Kernel, tmp_path: Path) -> None:
    path = tmp_path / "new" / AMD / "amdgpu/amdgpu_drv.c"
    path.parent.mkdir(parents=True)
    path.write_text(DRIVER.replace("int, 0444", "uint, 0644").replace("BIT(0)", "BIT(1)"))
    said = [*checks.between(kernel, Kernel(tmp_path / "new", "7.4"))]
    assert "parameter runpm: ('int', '0444') -> ('uint', '0644')" in said
    assert "debug_mask bit 0x2: none -> AMDGPU_DEBUG_VM" in said


def test_names_of_variables_are_those_of_programs_and_sources_without_comments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "libx.so.1").write_bytes(b"\0HSA_ENABLE_SDMA\0no_HSA_TRICK\0HSA_\0")
    (tmp_path / "a.cc").write_text(
        'getenv("HSA_USE_SVM"); // not HSA_GONE\nRCCL_PARAM(MscclEnable, "MSCCL_ENABLE", 1);'
    )
    monkeypatch.setattr(libraries, "unpacked", lambda _: tmp_path)
    found = libraries.names(None, ("HSA_",))  # type: ignore[arg-type]
    assert found == {"HSA_ENABLE_SDMA", "HSA_USE_SVM", "RCCL_MSCCL_ENABLE"}
    assert "HSA_XNACK: ROCr does not have it" in [*checks.of_variables({"ROCr": found}, {"ROCr"})]


def test_the_last_run_found_nothing() -> None:
    record = json.loads(RECORD.read_text())
    assert record["findings"] == []
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert len([name for name in record["versions"] if name.startswith("linux-source-")]) >= 4


def test_the_last_run_proves_the_data_as_they_are_now() -> None:
    record = json.loads(RECORD.read_text())["proves"]
    late = proven.changed(record, proven.digests())
    assert late == proven.owed(), "run `make sources`, or list in owed.toml what it has to prove next"


def test_a_fact_that_was_changed_is_no_longer_proven_and_a_word_is_nothing(tmp_path: Path) -> None:
    shutil.copytree(proven.DATA, tmp_path / "data")
    record = proven.digests()
    for name, before, after, late in (
        ("gpus.toml", 'gfx = "gfx1201"', 'gfx = "gfx1202"', {"gpus"}),
        ("features.toml", "bit = 0x8000", "bit = 0x10000", {"features"}),
        ("features.toml", "Lets the memory clock follow", "Has the memory clock follow", set()),
        ("issues/strix-cwsr-save-area.toml", '"6.12", ', "", {"issues/strix-cwsr-save-area"}),
        ("issues/strix-cwsr-save-area.toml", "Strix Halo: hang", "Strix Halo: a hang", set()),
    ):
        path = tmp_path / "data" / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after, 1))
        assert proven.changed(record, proven.digests(tmp_path / "data")) == late
        path.write_text(text)


def test_status_codes_that_differ_from_their_headers_are_told(tmp_path: Path) -> None:
    (tmp_path / "hsa.h").write_text(
        "  HSA_STATUS_ERROR_EXCEPTION = 0x1017,\n  HSA_STATUS_ERROR_NEW = 0x1099\n"
    )
    (tmp_path / "hip_error.cpp").write_text('  case hipErrorNoDevice:\n    return "no such thing";\n')
    found = [*checks.of_status_codes([tmp_path])]
    assert "HSA_STATUS_ERROR_EXCEPTION is 4118 in the data, 4119 in hsa.h" in found
    assert "HSA_STATUS_ERROR_NEW: not in the data" in found
    assert any(one.startswith("hipErrorNoDevice: 'no ROCm-capable device is detected' in") for one in found)
