"""`make sources`: hold the data against the sources.

`--changes` says besides what each series of kernels changed after the one before. With `--write` the files of
known issues are told which kernels and runtimes print what they look for; all else is for people to decide.

Ends with 1 where data and source differ. The last result is in record.json, beside this file, with digests of
the data that it is about: a test holds the two together.
"""

from __future__ import annotations

import datetime
import itertools
import json
import sys
from pathlib import Path

from tests.catalogue.sources import checks, libraries, proven
from tests.catalogue.sources.fetch import newest, offered, unpacked
from tests.catalogue.sources.kernel import FOLDERS, Kernel
from tests.catalogue.sources.wordings import Library

RECORD = Path(__file__).with_name("record.json")


def main() -> int:
    series = newest([*offered(r"linux-source-(?:\d+\.\d+|(?:5\.15|6\.8|6\.17|7\.0)\.0)")])
    packages = sorted(
        series.values(), key=lambda one: [int(part) for part in one.name.split("-")[-1].split(".")]
    )
    kernels = [Kernel(unpacked(one, FOLDERS), one.version.partition("-")[0]) for one in packages]
    ids = newest([*offered(r"libdrm-common|pci\.ids")])
    libdrm = unpacked(ids["libdrm-common"]) / "usr/share/libdrm/amdgpu.ids"
    pci = unpacked(ids["pci.ids"]) / "usr/share/misc/pci.ids"
    findings = [*checks.of_gpus(kernels[-1], libdrm.read_text(), pci.read_text(errors="replace"))]
    findings += checks.of_masks(kernels)
    findings += [one for kernel in kernels for one in checks.of_parameters(kernel)]
    runtimes = {name: one for one, name in libraries.printers().items()}  # of two builds of one release, one
    printers = [*kernels, *(Library(name, unpacked(one)) for name, one in runtimes.items())]
    for file, signature, found in [*checks.of_wordings(printers)]:
        if "--write" in sys.argv:
            checks.corrected(file, signature, found)
        else:
            who = ", ".join(found) or "nobody"
            findings.append(f"{file.stem}: {signature.pattern!r} is printed by {who}")
    held = {library: libraries.packages(library) for library in libraries.LIBRARIES}
    read = {
        library.reader: {name for one in found for name in libraries.names(one, library.prefixes)}
        for library, found in held.items()
    }
    findings += checks.of_status_codes([unpacked(one) for found in held.values() for one in found])
    findings += checks.of_variables(read, {one.reader for one in libraries.LIBRARIES if one.binaries})
    for old, new in itertools.pairwise(kernels) if "--changes" in sys.argv else ():
        print(f"\n{old.release} to {new.release}", *checks.between(old, new), sep="\n  ", end="\n\n")
    print("\n".join(findings) or "data and sources agree")
    versions = {
        one.name: one.version for one in (*packages, *ids.values(), *(p for ps in held.values() for p in ps))
    }
    record = {
        "date": datetime.date.today().isoformat(),
        "versions": dict(sorted(versions.items())),
        "findings": findings,
        "proves": proven.digests(),
    }
    RECORD.write_text(json.dumps(record, indent=2) + "\n")
    proven.OWED.write_text("parts = []\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
