"""What the source of amdgpu says: its messages, parameters, masks, and the GPUs that it knows.

Paths are those of the kernel's tree below drivers/gpu/drm/amd.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.catalogue.sources.wordings import Wordings

AMD = "drivers/gpu/drm/amd"
FOLDERS = (AMD, "drivers/gpu/drm/ttm", "drivers/gpu/drm/scheduler")
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_MASK = re.compile(r"^\s*(\w+) = (?:BIT\((\d+)\)|\(1 << (\d+)\)|(0x[0-9a-fA-F]+)|(\d+))\s*,?", re.MULTILINE)
_FLAG = re.compile(r"#define (AMD_[CP]G_SUPPORT_\w+)\s+\(1U?L?L? << (\d+)\)")
_PARAMETER = re.compile(
    r"^module_param(_string)?\w*\s*\((\w+),(?:[^;]*,)?\s*([\w()]+)\s*,\s*(\d+)\);", re.MULTILINE
)
_DESCRIBED = re.compile(r"^MODULE_PARM_DESC\((\w+),([^;]*)\);", re.MULTILINE)
_ID = re.compile(r"\{\s*(?:PCI_DEVICE\()?0x1002,\s*0x([0-9A-Fa-f]{4})(.*?)\}", re.DOTALL)
_CHIP = re.compile(r"CHIP_(\w+)")
_CASE = re.compile(
    r"case (?:IP_VERSION\((\d+), (\d+), (\d+)\)|CHIP_(\w+)):|gfx_target_version = (\d+);|^\t+break;",
    re.MULTILINE,
)


class Kernel(Wordings):
    """A tree of one release."""

    def __init__(self, root: Path, release: str) -> None:
        super().__init__(".".join(release.split(".")[:2]))
        self.root, self.release = root, release

    def text(self, path: str) -> str:
        file = self.root / AMD / path
        return file.read_text(errors="replace") if file.exists() else ""

    def literals(self) -> Iterator[tuple[str, str]]:
        """Those that stand beside each other as one."""
        for folder in FOLDERS:
            for file in sorted((self.root / folder).rglob("*.[ch]")):
                if "asic_reg" in file.parts:
                    continue
                source, text, end = file.read_text(errors="replace"), "", -1
                for found in _LITERAL.finditer(source):
                    if end >= 0 and not source[end : found.start()].strip():
                        text += found[1]
                    else:
                        if text:
                            yield text, str(file.relative_to(self.root))
                        text = found[1]
                    end = found.end()
                if text:
                    yield text, str(file.relative_to(self.root))

    def masks(self) -> dict[str, dict[int, str]]:
        """By parameter, the driver's name of each bit."""
        shared, driver = self.text("include/amd_shared.h"), self.text("amdgpu/amdgpu_drv.c")
        found = {
            parameter: {bit: name for name, bit in _enumerated(text, enum)}
            for parameter, text, enum in (
                ("ppfeaturemask", shared, "PP_FEATURE_MASK"),
                ("dcfeaturemask", shared, "DC_FEATURE_MASK"),
                ("dcdebugmask", shared, "DC_DEBUG_MASK"),
                ("debug_mask", driver, "AMDGPU_DEBUG_MASK"),
            )
        }
        flags = [(name, 1 << int(bit)) for name, bit in _FLAG.findall(shared)]
        found["cg_mask"] = {bit: name for name, bit in flags if name.startswith("AMD_CG")}
        found["pg_mask"] = {bit: name for name, bit in flags if name.startswith("AMD_PG")}
        return found

    def described(self) -> dict[str, str]:
        """What the driver says of each parameter, its default among it."""
        text = self.text("amdgpu/amdgpu_drv.c")
        return {name: " ".join(_LITERAL.findall(said)) for name, said in _DESCRIBED.findall(text)}

    def parameters(self) -> dict[str, tuple[str, str]]:
        """Type and permission by name, whatever the options of a build leave out."""
        text = self.text("amdgpu/amdgpu_drv.c")
        found = _PARAMETER.findall(text)
        return {name: ("string" if string else kind, mode) for string, name, kind, mode in found}

    def ids(self) -> dict[str, str]:
        """The chip by PCI id, in the driver's own table."""
        _, _, table = self.text("amdgpu/amdgpu_drv.c").partition("struct pci_device_id pciidlist[] = {")
        rows = _ID.findall(table.partition("\n};")[0])
        return {id.lower(): chip[1] for id, rest in rows if (chip := _CHIP.search(rest))}

    def targets(self) -> dict[str, set[int]]:
        """`gfx_target_version` by the version of the graphics core, or by chip (amdkfd/kfd_device.c)."""
        found: dict[str, set[int]] = {}
        cases: list[str] = []
        assigned = False
        for major, minor, step, chip, target in _CASE.findall(self.text("amdkfd/kfd_device.c")):
            if target:
                for case in cases:
                    found.setdefault(case, set()).add(int(target))
                assigned = True
            elif major or chip:
                cases = [*([] if assigned else cases), f"{major}.{minor}.{step}" if major else chip]
                assigned = False
            else:
                cases, assigned = [], False
        return found


def _enumerated(text: str, enum: str) -> Iterator[tuple[str, int]]:
    body = text.partition(f"enum {enum} {{")[2].partition("};")[0]
    for name, bit, shift, number, decimal in _MASK.findall(re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)):
        yield name, 1 << int(bit or shift) if bit or shift else int(number or decimal, 0)
