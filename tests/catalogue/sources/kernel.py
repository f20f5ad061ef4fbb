"""What the source of amdgpu says: its messages, parameters, masks, and the GPUs that it knows.

Paths are those of the kernel's tree below drivers/gpu/drm/amd.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

AMD = "drivers/gpu/drm/amd"
FOLDERS = (AMD, "drivers/gpu/drm/ttm", "drivers/gpu/drm/scheduler")
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|t|j)?([a-zA-Z%])(?:\w{0,4})?")
_ESCAPES = {r"\n": "", r"\t": "\t", r"\"": '"', "\\\\": "\\"}
_LEAST = 10  # characters of a text that tell it from others
_SHARE = 0.4  # of what it matches, that it says itself
_WORDS = re.compile(r"[A-Za-z]{3,}")
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


class Message(NamedTuple):
    """A text that the driver prints, as a pattern; `own` counts its characters without the conversions."""

    pattern: re.Pattern[str]
    own: int
    path: str


class Kernel:
    """A tree of one release."""

    def __init__(self, root: Path, release: str) -> None:
        self.root, self.release, self.series = root, release, ".".join(release.split(".")[:2])

    def text(self, path: str) -> str:
        file = self.root / AMD / path
        return file.read_text(errors="replace") if file.exists() else ""

    @functools.cached_property
    def messages(self) -> dict[str, list[Message]]:
        """Every text of several words, by the longest one, in lower case."""
        found: dict[str, list[Message]] = {}
        for text, path in self._literals():
            plain = _CONVERSION.sub(" ", text)
            words = _WORDS.findall(plain)
            if len(words) > 1:
                message = Message(re.compile(_as_pattern(text)), len(plain.strip()), path)
                found.setdefault(max(words, key=len).lower(), []).append(message)
        return found

    def prints(self, line: str, start: int, end: int) -> str:
        """The path of what prints the text of a line from `start` to `end`; of several, that which says most
        by itself. Empty where nothing does."""
        words = {word.lower() for word in _WORDS.findall(line)}
        likely = [one for word in words for one in self.messages.get(word, ()) if one.own >= _LEAST]
        for one in sorted(likely, key=lambda one: -one.own):
            found = one.pattern.search(line)
            if found and found.start() < end and found.end() > start and one.own > _SHARE * len(found[0]):
                return one.path
        return ""

    def _literals(self) -> Iterator[tuple[str, str]]:
        """Literals, those that stand beside each other as one, each with its path."""
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


def _as_pattern(text: str) -> str:
    """What printf makes of a format, in words that may be there: every conversion stands for any text."""
    for escape, meant in _ESCAPES.items():
        text = text.replace(escape, meant)
    pieces = _CONVERSION.split(text.strip())
    plain = [re.escape(piece) for piece in pieces[::2]]
    kinds = ["%" if kind == "%" else ".*?" if kind == "s" else r"[-\w:.()+/ <>]*?" for kind in pieces[1::2]]
    return "".join(part for pair in zip(plain, [*kinds, ""], strict=True) for part in pair)
