"""What names a setting sets none; what sets one is seen in whatever it is wrapped."""

from __future__ import annotations

import pytest

from tests.lint.judging import judged

FENCE = '``` sh\n[Service]\nEnvironment="HSA_OVERRIDE_GFX_VERSION=10.3.0"\n```\n'
SED = 'sed -i "/append/c append initrd=initrd.img iommu=soft amdgpu.vm_fragment_size=9" $CONF\n'
RST = 'Add::\n\n  # at the end\n  GRUB_CMDLINE_LINUX_DEFAULT="mdgpu.gttsize=8192 amdgpu.runpm=0"\n'


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("test_x.py", 'def test_it():\n    assert "amdgpu.cwsr_enable=0" in text\n'),
        ("x.py", "NOTES = {\n    'amdgpu.runpm=0': 'no runtime power management',\n}\n"),
        ("x.rb", 'NOTES = { "amdgpu.runpm=0" => "no runtime power management" }\n'),
        ("x.vue", '<textarea placeholder="AMD_SERIALIZE_KERNEL=1"></textarea>\n'),
    ],
)
def test_a_naming_is_no_setting(file: str, text: str) -> None:
    assert judged(file, text).assignments == []


@pytest.mark.parametrize(
    ("file", "text", "names"),
    [
        ("x.md", FENCE, ["HSA_OVERRIDE_GFX_VERSION"]),
        ("x.sh", SED, ["iommu", "amdgpu.vm_fragment_size"]),
        ("x.rst", RST, ["mdgpu.gttsize", "amdgpu.runpm"]),
        ("x.sh", "export PYTORCH_ROCM_DEVICE=0\n", ["PYTORCH_ROCM_DEVICE"]),
        ("x.sh", "export ROCM_DISABLE_CU_MASK=0\n", ["ROCM_DISABLE_CU_MASK"]),
        ("x.sh", "export DEBUG_HIP_BLOCK_SYN=1024\n", ["DEBUG_HIP_BLOCK_SYN"]),
        ("x.py", 'ARGS = {"args": "amdgpu.runpm=0 quiet"}\n', ["amdgpu.runpm"]),
    ],
)
def test_a_setting_is_seen(file: str, text: str, names: list[str]) -> None:
    assert [each.name for each in judged(file, text).assignments] == names


def test_a_variable_of_the_scripts_own_is_nobodys_setting() -> None:
    own = 'MIOPEN_LOCAL="/tmp/x"\nexport MIOPEN_USER_DB_PATH="$MIOPEN_LOCAL"\n'
    assert [each.name for each in judged("x.sh", own).assignments] == ["MIOPEN_USER_DB_PATH"]
    slip = 'export MIOPEN_FIND_MOD="fast"\necho $MIOPEN_FIND_MOD\n'
    assert [each.name for each in judged("x.sh", slip).assignments] == ["MIOPEN_FIND_MOD"]
