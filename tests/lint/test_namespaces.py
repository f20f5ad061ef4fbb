"""Variables that begin as a library's own do, and that it does not read: told where all names of the library
are known, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocmcfg.judging import names
from rocmcfg.knowledge import catalogue
from tests.lint.judging import judged, machine
from tests.support.program import rocmcfg, unfolded

# Described from sources that are newer than the release that was read, or from tools of the library.
NEWER = {"HSA_COUNTED_QUEUE_SIZE", "HIPBLASLT_TUNING_FILE", "HIPBLASLT_TUNING_USER_MAX_WORKSPACE"}
_ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "data/variables.tsv").read_text().splitlines()
    if not line.startswith("#")
]


def accused(name: str, value: str = "1", file: str = "a.env") -> list[str]:
    found = judged(file, f"{name}={value}\n", machine("gfx1201")).findings
    return [f.remark.kind for f in found if f.remark.kind in ("unknown", "misspelt")]


def test_of_what_public_files_set_hardly_a_fine_line_is_accused() -> None:
    fine = [name for name, _, state, *_ in _ROWS if state == "fine"]
    closed = [name for name in fine if (space := names.namespace(name)) is not None and space.closed]
    told = {name: bool(accused(name)) for name in {name for name, *_ in _ROWS}}
    assert len(fine) >= 500
    assert len(closed) >= 90
    assert sum(told[name] for name in fine) == 0  # of 560; at most 2 % would be 11
    wrong = [name for name, _, state, *_ in _ROWS if state == "wrong"]
    assert wrong
    assert all(told[name] for name in wrong)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("MIOPEN_USER_DB", "unknown"),
        ("MIOPEN_DEBUG_FORCE_TENSOR_PIXEL", "unknown"),
        ("HSA_ENABLE_SDMA_OPTIMIZATIONS", "unknown"),
        ("ROCBLAS_LOG_LEVEL", "unknown"),
        ("ROCBLAS_LAYER_LOG", "unknown"),
        ("HSA_XNAK", "misspelt"),
        ("NCCL_MAX_P2P_CHANNELS", "misspelt"),
        ("HIPBLASLT_LOG_MAKS", "misspelt"),
    ],
)
def test_a_name_that_its_library_does_not_read_is_told(name: str, kind: str) -> None:
    assert accused(name) == [kind]
    assert accused(name, file="a.sh") == [kind]


@pytest.mark.parametrize(
    "name",
    [
        "HSA_CU_MASK_SKIP_INIT",
        "MIOPEN_FIND_MODE_FUSION",
        "HIPBLASLT_TUNING_FILE",
        "ROCBLAS_USE_HIPBLASLT_BATCHED",
        "RCCL_WARP_SPEED_AUTO",
        "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME",
        "NCCL_HOME",
        "MIOPEN_VERSION",
        "ROCBLAS_PATH",
        "HSA_XXX",
        "ROCM_VERSION",
        "TORCH_INDEX",
        "AMD_DEBUG",
    ],
)
def test_a_name_that_somebody_reads_or_may_make_up_is_not(name: str) -> None:
    assert accused(name) == []


def test_what_compilers_read_is_no_fault_where_something_is_built() -> None:
    for file, text in (
        ("Dockerfile", "FROM x\nENV PYTORCH_ROCM_ARCH=gfx1100\nRUN python setup.py install\n"),
    ):
        assert not [f for f in judged(file, text, machine()).findings if f.remark.kind == "unknown"]
    found = judged("a.env", "PYTORCH_ROCM_ARCH=gfx1100\n", machine()).findings
    assert [f.remark.kind for f in found] == ["build_only"]


def test_plan_explain_and_lint_say_the_same(tmp_path: Path) -> None:
    from tests.support.hosts import debian_grub_host

    root = debian_grub_host(tmp_path)
    planned = rocmcfg("plan", "--set", "env.MIOPEN_USER_DB=/x", "--root", root)
    assert "warning[RC2050]: nothing reads MIOPEN_USER_DB" in planned.err
    assert "MIOPEN_USER_DB_PATH" in unfolded(planned.err)
    assert "MIOPEN_USER_DB_PATH" in rocmcfg("explain", "MIOPEN_USER_DB", "--root", root).out
    assert "reads it" in rocmcfg("explain", "MIOPEN_FIND_MODE_FUSION", "--root", root).out
    file = tmp_path / "mine.toml"
    file.write_text(
        'schema = 1\nsummary = "Mine."\n[env.MIOPEN_USER_DB]\nvalue = "/x"\nbecause = "x"\n'
        'evidence = ["https://example.org"]\ncost = "x"\nconfidence = "asked for"\n'
    )
    assert "nothing reads MIOPEN_USER_DB" in rocmcfg("profile", "validate", str(file), "--root", root).err


def test_each_namespace_says_what_was_read() -> None:
    known = catalogue.load().variables
    for space in catalogue.namespaces():
        assert space.release
        assert space.reader
        assert all(
            re.fullmatch(r"[A-Z0-9][A-Z0-9_]*", name.removeprefix(space.prefix)) for name in space.names
        )
        described = [v for v in known.values() if v.name.startswith(space.prefix) and space.closed]
        lacking = {v.name for v in described if not v.unknown and not v.build_only} - space.names
        assert lacking <= NEWER, lacking - NEWER


def found(file: str, text: str) -> list[tuple[str, str, str]]:
    findings = judged(file, text, machine("gfx1201")).findings
    return [(f.text.partition("=")[0], f.remark.kind, f.remark.severity.value) for f in findings]


@pytest.mark.parametrize("name", ["ROC_ENABLE_NO_SUCH_GPU", "GPU_MAX_NOTHING_PERCENT", "HIP_MY_OWN_THING"])
def test_a_name_that_begins_like_one_of_rocm_is_called_unknown_and_not_accused(name: str) -> None:
    assert found("a.env", f"{name}=1\n") == [(name, "unknown", "info")]
    said = rocmcfg("explain", name)
    assert (said.code, said.err) == (0, "")
    assert f"Nothing is known to read {name}." in unfolded(said.out)


def test_a_variable_that_its_own_text_reads_is_not_called_unknown() -> None:
    for use in ('echo "$GPU_COUNT"', 'echo "${GPU_COUNT}"', "python -c 'os.environ[\"GPU_COUNT\"]'"):
        assert found("a.sh", f"export GPU_COUNT=4\n{use}\n") == []
    assert found("a.sh", "export GPU_COUNT=4\n") == [("GPU_COUNT", "unknown", "info")]
    assert found("a.sh", "GPU_ARCHS=gfx1201 GPU_FLAG_X=1 cmake -B build .\n") == []
    assert found("a.env", "HIP_PATH_OF_MINE=/opt\nGPU_MODELS_DIR=/srv\n") == []


def test_a_name_that_a_library_does_not_read_is_explained_as_such() -> None:
    said = unfolded(rocmcfg("explain", "HSA_NO_SUCH_THING=1").out)
    assert "Nothing reads HSA_NO_SUCH_THING. ROCr or HIP has no such name" in said


def test_a_parameter_of_a_misspelt_module_leads_to_the_right_one_everywhere() -> None:
    for file, text in (
        ("grub", 'GRUB_CMDLINE_LINUX_DEFAULT="quiet andgpu.gttsize=4096"\n'),
        ("notes.md", "Set andgpu.gttsize=4096 in GRUB.\n"),
        ("host.toml", 'arguments = "quiet andgpu.gttsize=4096"\n'),
    ):
        assert ("andgpu.gttsize", "misspelt", "warning") in found(file, text), file
    assert "did you mean amdgpu.gttsize=4096?" in rocmcfg("explain", "andgpu.gttsize=4096").err
