"""Where data and source part: one finding a sentence, and none where all is well."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from rocmcfg.facts.gpus import gfx_name
from rocmcfg.knowledge.catalogue import gpu_models, load, status_codes
from rocmcfg.knowledge.issue_schema import KnownIssueFile, SignatureTable
from rocmcfg.model.catalogue import GpuModel
from rocmcfg.model.version import parse_kernel
from tests.catalogue.sources.kernel import Kernel
from tests.catalogue.sources.wordings import Wordings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ISSUES = Path(__file__).resolve().parents[3] / "rocmcfg/knowledge/data/issues"
# Targets of chips that KFD does not know, as LLVM names them (llvm/docs/AMDGPUUsage.rst).
_LLVM = {
    "TAHITI": "gfx600",
    "PITCAIRN": "gfx601",
    "VERDE": "gfx601",
    "OLAND": "gfx602",
    "HAINAN": "gfx602",
    "KABINI": "gfx703",
    "MULLINS": "gfx703",
    "BONAIRE": "gfx704",
    "TOPAZ": "gfx802",
    "STONEY": "gfx810",
}
# The graphics core of chips of the driver's table (amdgpu_discovery.c, and the comments in kfd_device.c).
_CORES = {
    "VEGA10": "9.0.1",
    "VEGA12": "9.2.1",
    "VEGA20": "9.4.0",
    "RAVEN": "9.1.0",
    "RENOIR": "9.3.0",
    "ARCTURUS": "9.4.1",
    "ALDEBARAN": "9.4.2",
    "NAVI10": "10.1.10",
    "NAVI12": "10.1.2",
    "NAVI14": "10.1.1",
    "CYAN_SKILLFISH": "10.1.3",
    "SIENNA_CICHLID": "10.3.0",
    "NAVY_FLOUNDER": "10.3.2",
    "DIMGREY_CAVEFISH": "10.3.4",
    "BEIGE_GOBY": "10.3.5",
    "YELLOW_CARP": "10.3.3",
}
# In libdrm's list and in no driver's: nothing says which chip it is.
_NOBODYS_IDS = {"6666"}
# In a source that is newer than any package (rocr-runtime, core/runtime/counted_queue_manager.cpp)
_NEWER = {"HSA_COUNTED_QUEUE_SIZE"}
_DEVICE = re.compile(r"^\t([0-9a-f]{4})  (.*)$", re.MULTILINE)
# A device of a GPU that is no GPU, and chips of which only names are known
_NO_GPU = re.compile(
    r"Audio|USB|UCSI|PCI|Bridge|Upstream|Downstream|Serial|Sensor|Coprocessor|Controller|HD-Audio|\bNavi10Lite"
)
# What the driver calls a bit of a mask, and the data another name: the words agree but for these.
_SHORT = re.compile(r"^(?:PP|DC|AMDGPU_DEBUG)_|_MASK$|_MODE$")


def of_gpus(kernel: Kernel, names: str, ids: str) -> Iterator[str]:
    """`names` is libdrm's amdgpu.ids, `ids` the pci.ids."""
    models = {id: model for model in gpu_models() for id in model.pci}
    targets = {case: {gfx_name(number) for number in numbers} for case, numbers in kernel.targets().items()}
    for chip, core in _CORES.items():
        targets[chip] = targets[core]
    targets |= {chip: {gfx} for chip, gfx in _LLVM.items()}
    for id, chip in kernel.ids().items():
        if id not in models:
            yield f"1002:{id} ({chip}) is not in gpus.toml"
        elif models[id].gfx not in targets[chip]:
            yield f"1002:{id} is {chip}, {' or '.join(targets[chip])}; gpus.toml says {models[id].gfx}"
    for model in gpu_models():
        if model.gc_ip and model.gfx not in targets.get(model.gc_ip, {model.gfx}):
            yield f"GC {model.gc_ip} is {' or '.join(targets[model.gc_ip])}; gpus.toml says {model.gfx}"
    cores = {model.gc_ip for model in gpu_models()}
    yield from (
        f"GC {core} is not in gpus.toml" for core in targets if core[0].isdigit() and core not in cores
    )
    libdrm = {line.split(",")[0].lower() for line in names.splitlines() if re.match(r"[0-9A-F]{4},\t", line)}
    yield from (
        f"1002:{id} of amdgpu.ids is not in gpus.toml" for id in sorted(libdrm - models.keys() - _NOBODYS_IDS)
    )
    yield from _of_pci_ids(models, ids)


def _of_pci_ids(models: Mapping[str, GpuModel], ids: str) -> Iterator[str]:
    codenames = {model.codename.partition(" (")[0]: model.gfx for model in gpu_models() if model.codename}
    (amd,) = re.findall(r"^1002  .*\n((?:[\t#].*\n)*)", ids, re.MULTILINE)
    for id, name in _DEVICE.findall(amd):
        chip = next((one for one in codenames if re.match(rf"{re.escape(one)}(?!\w)", name)), "")
        if _NO_GPU.search(name) or not chip:
            continue
        if id not in models:
            yield f"1002:{id} of pci.ids ({name}) is not in gpus.toml"


def of_masks(kernels: Sequence[Kernel]) -> Iterator[str]:
    """Every bit that some release has is known, and no other."""
    known: dict[str, dict[int, str]] = {}
    for name, feature in load().features.items():
        known.setdefault(feature.parameter.removeprefix("amdgpu."), {})[feature.bit] = name
    for id, parameter in load().parameters.items():
        for bit in parameter.bits:
            known.setdefault(id.removeprefix("amdgpu."), {})[bit] = ""
    there: dict[str, dict[int, str]] = {}
    for kernel in kernels:
        for mask, bits in kernel.masks().items():
            there.setdefault(mask, {}).update(bits)
    for mask, bits in there.items():
        for bit in bits.keys() - known[mask].keys():
            yield f"{mask} has a bit {bit:#x} ({bits[bit]}) that the data lack"
        for bit in known[mask].keys() - bits.keys():
            yield f"{mask}: no release has the bit {bit:#x} ({known[mask][bit]})"
        for bit, name in known[mask].items():
            words = {word.lower() for word in _SHORT.sub("", bits.get(bit, "")).split("_")}
            if name and bit in bits and not words & set(name.split("-")):
                yield f"{mask}: the bit {bit:#x} is {bits[bit]} in the source, and {name} in the data"


def of_parameters(kernel: Kernel) -> Iterator[str]:
    version, declared = parse_kernel(kernel.release), kernel.parameters()
    assert version is not None
    for id, parameter in load().parameters.items():
        module, _, name = id.partition(".")
        if module != "amdgpu" or parameter.dkms_only:
            continue
        variants, certain, _ = parameter.on(version)
        if variants and not certain and name not in declared:
            continue
        if bool(variants) != (name in declared) and not (parameter.config and name in declared):
            yield f"{id} on {kernel.release}: {'in' if name in declared else 'not in'} the source"
        elif variants and declared[name] not in {(one.type.value, one.permission) for one in variants}:
            yield f"{id} on {kernel.release}: declared as {' '.join(declared[name])}"
    for name in declared:
        if f"amdgpu.{name}" not in load().parameters:
            yield f"amdgpu.{name} of {kernel.release} is not in parameters.toml"


def between(old: Kernel, new: Kernel) -> Iterator[str]:
    """What a release changed, of all that the data speak of."""
    rows: tuple[tuple[str, Mapping[Any, Any], Mapping[Any, Any]], ...] = (
        ("parameter", old.parameters(), new.parameters()),
        ("description", old.described(), new.described()),
        ("PCI id", old.ids(), new.ids()),
        ("gfx target", old.targets(), new.targets()),
        *((f"{mask} bit", bits, new.masks()[mask]) for mask, bits in old.masks().items()),
    )
    for what, before, after in rows:
        for key in sorted(before.keys() | after.keys(), key=str):
            if before.get(key) != after.get(key):
                shown = hex(key) if isinstance(key, int) else key
                yield f"{what} {shown}: {before.get(key, 'none')} -> {after.get(key, 'none')}"


def printed_by(signature: SignatureTable, printers: Sequence[Wordings]) -> list[str]:
    """The releases that print what it looks for, in one of its samples."""
    places = [
        (found.span(), sample)
        for sample in signature.samples
        if (found := re.search(signature.pattern, sample))
    ]
    return [one.name for one in printers if any(one.prints(sample, *span) for span, sample in places)]


def of_wordings(printers: Sequence[Wordings]) -> Iterator[tuple[Path, SignatureTable, list[str]]]:
    """The signatures of which the data say otherwise who prints them, each with its file and who does."""
    for file in sorted(ISSUES.glob("*.toml")):
        document = KnownIssueFile.model_validate(tomllib.loads(file.read_text()))
        for signature in document.signature:
            if (found := printed_by(signature, printers)) != signature.printed_by:
                yield file, signature, found


def corrected(file: Path, signature: SignatureTable, found: Sequence[str]) -> None:
    """Say in the file who prints it."""
    text = file.read_text()
    quoted = [f"pattern = '{signature.pattern}'", f"pattern = {json.dumps(signature.pattern)}"]
    line = next(one for one in quoted if f"{one}\n" in text)
    before, _, after = text.partition(f"{line}\n")
    after = re.sub(r"\Aprinted_by = [^\n]*\n", "", after)
    said = f"printed_by = {json.dumps(list(found))}\n" if found else ""
    file.write_text(f"{before}{line}\n{said}{after}")


def of_status_codes(folders: Sequence[Path]) -> Iterator[str]:
    """ROCr's names and numbers, and HIP's names and words, in the sources that these folders hold."""
    known = status_codes()
    texts = [
        file.read_text(errors="replace")
        for folder in folders
        for name in ("hsa.h", "hsa_ext_amd.h", "hip_error.cpp")
        for file in folder.rglob(name)
    ]
    numbers = {
        n: int(v, 0) for text in texts for n, v in re.findall(r"^\s*(HSA_STATUS_\w+)\s*=\s*(\w+)", text, re.M)
    }
    form = re.compile(r'case (hip\w+):\s*return ((?:"[^"]*"\s*)+);')
    said = (pair for text in texts for pair in form.findall(text))
    words = {name: "".join(re.findall('"([^"]*)"', literals)) for name, literals in said}
    if not numbers or not words:
        yield "status codes: their sources were not found"
    for name, row in known.items():
        if name.startswith("HSA_"):
            if numbers.get(name) != row["number"]:
                yield f"{name} is {row['number']} in the data, {numbers.get(name)} in hsa.h"
        elif name != "hipErrorUnknown" and words.get(name) != row["prints"]:
            yield f"{name}: {row['prints']!r} in the data, {words.get(name)!r} in hip_error.cpp"
    named = {name for name, text in words.items() if name == text}
    skipped = named | {
        "HSA_STATUS_SUCCESS",
        "HSA_STATUS_INFO_BREAK",
        "HSA_STATUS_CU_MASK_REDUCED",
        "hipSuccess",
    }
    yield from (f"{name}: not in the data" for name in sorted({*numbers, *words} - known.keys() - skipped))


def of_variables(read: Mapping[str, Set[str]], whole: Set[str]) -> Iterator[str]:
    """`read` has, by reader, the names that its packages hold; what those of a reader in `whole` do not hold,
    it does not read."""
    for name, variable in load().variables.items():
        if variable.unknown and (readers := [reader for reader in read if name in read[reader]]):
            yield f"{name} is called unknown, and {' and '.join(readers)} has it"
        missing = variable.reader in whole and name not in read[variable.reader]
        if missing and not (variable.unknown or variable.until or variable.since or name in _NEWER):
            yield f"{name}: {variable.reader} does not have it"
