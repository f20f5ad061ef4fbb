"""A file with nothing wrong yields nothing."""

from __future__ import annotations

import pytest

from tests.lint.judging import judged, machine, told

RIGHT = {
    "/etc/default/grub": [
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet splash amdgpu.cwsr_enable=0 amdgpu.runpm=0 iommu=pt"\n',
        'GRUB_CMDLINE_LINUX="root=x acpi_enforce_resources=lax nvidia.NVreg_X=1 audio=1 modeset=0"\n',
        'GRUB_CMDLINE_LINUX="amdgpu.ppfeaturemask=0xfff5bfff pci=realloc=off pci=noats amdgpu.dyndbg=+p"\n',
        'GRUB_CMDLINE_LINUX="ttm.pages_limit=25165824 amdgpu.runpm=0 amd_pstate=active"\n',
        'GRUB_CMDLINE_LINUX="amdgpu.cwsr-enable=0 intel_iommu=on iommu.strict=1 pcie_aspm=off"\n',
        'GRUB_CMDLINE_LINUX="$EXTRA amdgpu.runpm=$RUNPM mitigations=auto,no_guest_host"\nGRUB_GFXMODE=auto\n',
        'GRUB_CMDLINE_LINUX="$(echo amdgpu.noretry=0 $(x)) amdgpu.runpm=$(x y) `x amdgpu.noretry=0` quiet"\n',
        'GRUB_CMDLINE_LINUX="amdgpu.runpm=${X:-a b} amdgpu.cwsr_enable=`x y`"\n',
    ],
    "/etc/modprobe.d/a.conf": [
        "options amdgpu cwsr_enable=0 runpm=0\nblacklist nouveau\nsoftdep amdgpu pre: vfio\n",
        "options snd_hda_intel model=x\noptions ttm pages_limit=12582912\noptions amdgpu dyndbg=+p\n",
    ],
    "a.env": [
        "MIOPEN_DEBUG_CONV_GEMM=0\nMY_VAR=1\nNCCL_SOMETHING_ELSE=1\nHSA_SOMETHING_ROOT=/x\nPATH=/bin\nHIP_VISIBLE_DEVICES=0,1\n",
        "PYTORCH_NO_HIP_MEMORY_CACHING=1\nROCR_VISIBLE_DEVICES=GPU-0123456789abcdef\nNCCL_PROTO=Simple\n",
    ],
    "a.sh": [
        "export AMDGPU_TARGETS=gfx1201\ngo generate ./...\n",
        "make -j4 && PYTORCH_ROCM_ARCH=gfx1100 python setup.py develop\n",
        "export HSA_OVERRIDE_GFX_VERSION=${HSA_OVERRIDE_GFX_VERSION:-$(detect)}\n",
        "if grep -q 'amdgpu.gfxoff=0' /proc/cmdline; then sed -i 's/amdgpu.gfxoff=0//' f; fi\n",
        "rocmcfg apply --set amdgpu.runpm=0 --set feature.gfxoff=false --set karg.iommu=pt\n",
        "dmesg | grep \"unknown parameter 'gfxoff'\"\ncat /sys/module/amdgpu/parameters/*\n",
    ],
    "a.md": [
        "There is no `amdgpu.stutter=0`. Write `amdgpu.ppfeaturemask=0xfff5bfff` instead.\n",
        "| wrong | `amdgpu.gfxoff=0` |\n",
        "`amdgpu.runpm=N` or `amdgpu.dcdebugmask=<mask>`; the variable `TORCH_USE_HIPBLASLT`, and gfxoff.\n",
        "```\namdgpu: unknown parameter 'gtt_size' ignored\n[  1.0] Command line: amdgpu.gfxoff=0\n```\n",
        "```c\nint noretry=0;\nsetenv(\"TORCH_USE_HIPBLASLT=1\");\n```\n",
        "Any `amdgpu.x=1`, `amdgpu.NAME=VALUE`, `amdgpu.runpm amdgpu.aspm=0 quiet`.\n",
        "```nix\nboot.extraModprobeConfig = \"options amdgpu cwsr_enable=0\";\n```\n",
        "https://example.org/?amdgpu.gfxoff=0 and <https://example.org/amdgpu.gfxoff=0>\n",
        "```sh\nexport A=1   # wrong: amdgpu.gfxoff=0\n```\n",
    ],
    "a.py": ["HSA_XNACK = 0\nenv = {'PATH': '/bin'}\nos.environ['HIP_VISIBLE_DEVICES'] = str(n)\n"],
}  # fmt: skip


@pytest.mark.parametrize(("file", "text"), [(file, text) for file, texts in RIGHT.items() for text in texts])
def test_nothing_is_said_of_what_is_right(file: str, text: str) -> None:
    for on in (machine(), machine("gfx1201", kernels=("6.17.13",))):
        assert told(judged(file, text, on)) == []


def test_a_line_may_ask_to_be_left_alone() -> None:
    text = "options amdgpu gfxoff=0\noptions amdgpu gfxoff=0 # rocmcfg: ignore\n"
    assert {f.line for f in judged("modprobe.d/a.conf", text).findings} == {1}


def test_a_variable_is_misspelt_only_where_no_other_is_that_near() -> None:
    text = "HIP_VISIBLE_DEVICE=0\nHSA_GFX_OVERRIDE_VERSION=10.3.0\nHSA_XNAK=1\n"
    text += "MIOPEN_DEBUG_CONV_DIRECT_OCL_WRW7=0\n"
    checked = judged("a.env", text, machine("gfx1031"))
    assert [(f.text, f.spelt.text) for f in checked.findings if f.remark.kind == "misspelt"] == [
        ("HIP_VISIBLE_DEVICE=0", "HIP_VISIBLE_DEVICES=0"),
        ("HSA_GFX_OVERRIDE_VERSION=10.3.0", "HSA_OVERRIDE_GFX_VERSION=10.3.0"),
        ("HSA_XNAK=1", ""),  # which would do nothing on this GPU
    ]


def test_parameters_of_amds_own_driver_are_no_error_where_it_may_be() -> None:
    text = "options amdttm pages_limit=1000\noptions amdgpu no_evict=1\n"
    assert told(judged("modprobe.d/a.conf", text)) == []
    found = judged("modprobe.d/a.conf", text, machine(kernels=("6.17.13",))).findings
    assert {(f.remark.kind, f.remark.severity.value) for f in found} == {("absent_here", "info")}


LENIENT = [
    "PYTORCH_TUNABLEOP_VERBOSE=3\nPYTORCH_TUNABLEOP_NUMERICAL_CHECK=1e-5_1e-5\nAMD_LOG_LEVEL=7\n",
    "PYTORCH_TUNABLEOP_UNTUNED_FILENAME=a.csv\nPYTORCH_TUNABLEOP_MAX_WARMUP_ITERATIONS=3\n",
    "PYTORCH_ALLOC_CONF=expandable_segments:True,roundup_power2_divisions:[256:1,512:2,>:8]\n",
    "AMDGPU_TARGET=gfx942\nGPU_TARGET=gfx1100\nNCCL_PROTO=allreduce:simple\n",
]


@pytest.mark.parametrize("text", LENIENT)
def test_what_readers_take_beyond_the_first_page_of_their_documentation(text: str) -> None:
    assert told(judged("a.env", text)) == []


@pytest.mark.parametrize(
    "text",
    ["rcu_nocbs", "rcu_nocbs=0-15", "iommu.passthrough=on", "pci=assign-busses,realloc", "hugepagesz=2m"],
)
def test_what_the_kernel_takes(text: str) -> None:
    assert told(judged("cmdline", f"quiet {text} ro\n")) == []


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("MIOPEN_DEBUG_CONV_GEMM=2", "warning"),
        ("HSA_OVERRIDE_GFX_VERSION=gfx1030", "warning"),
        ("PYTORCH_ALLOC_CONF=max_split_size_mb=512", "warning"),
        ("HSA_ENABLE_SDMA=false", "info"),
        ("MIOPEN_FIND_MODE=quick", "warning"),
    ],
)
def test_a_value_is_called_illegal_gravely_only_where_its_reader_stops(text: str, severity: str) -> None:
    (finding,) = judged("a.env", f"{text}\n").findings
    assert (finding.remark.kind, finding.remark.severity.value) == ("illegal_value", severity)


def test_a_name_that_only_new_releases_call_old_is_a_remark_that_states_the_releases() -> None:
    (finding,) = judged("a.env", "PYTORCH_HIP_ALLOC_CONF=expandable_segments:True\n").findings
    said = finding.remark
    assert (said.kind, said.severity.value, finding.spelt.text) == ("deprecated", "info", None)
    assert "2.9" in said.why
