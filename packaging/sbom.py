#!/usr/bin/env python3
"""Writes what the packages carry as a CycloneDX bill of materials: rocmcfg, the bundled libraries with the
hash of every wheel, and what is compiled into their extension modules, as the wheels themselves say.

    packaging/sbom.py --wheels WHEELS --output FILE

Needs cyclonedx-python-lib, of requirements-release.lock. The same wheels make the same bytes: the time is
SOURCE_DATE_EPOCH, the serial number is made from the components.
"""

from __future__ import annotations

import argparse
import email
import hashlib
import json
import os
import sys
import uuid
import zipfile
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import identity
import tree
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.dependency import Dependency
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL


def main() -> int:
    parser = argparse.ArgumentParser(prog="packaging/sbom.py", description="Write a bill of materials.")
    parser.add_argument("--wheels", type=Path, required=True, help="what `tree.py fetch` filled")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    text = bill(options.wheels)
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if problem is not None:
        print(f"packaging/sbom.py: the schema of CycloneDX refuses it: {problem}", file=sys.stderr)
        return 1
    options.output.write_text(text, encoding="utf-8")
    return 0


def bill(wheels: Path) -> str:
    own = identity.read(identity.REPOSITORY)
    bom = Bom()
    bom.metadata.timestamp = datetime.fromtimestamp(
        int(os.environ.get("SOURCE_DATE_EPOCH", "0")), timezone.utc
    )
    bom.metadata.component = root = Component(
        type=ComponentType.APPLICATION,
        name="rocmcfg",
        version=own.version,
        licenses=[LicenseFactory().make_from_string("MIT")],
        purl=PackageURL("pypi", name="rocmcfg", version=own.version),
        bom_ref=f"pkg:pypi/rocmcfg@{own.version}",
        external_references=[
            ExternalReference(type=ExternalReferenceType.VCS, url=XsUri(own.urls["Repository"])),
            ExternalReference(type=ExternalReferenceType.ISSUE_TRACKER, url=XsUri(own.urls["Issues"])),
        ],
    )
    libraries: dict[str, Component] = {}
    for requirement, wheel in _carried(wheels):
        purl = PackageURL("pypi", name=requirement.name, version=requirement.version)
        if str(purl) not in libraries:
            libraries[str(purl)] = _library(requirement, wheel, purl)
        library = libraries[str(purl)]
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        library.components.add(_file(wheel.name, digest))
        for compiled in _compiled_in(wheel):
            _merge(bom, compiled, library)
    for library in libraries.values():
        bom.components.add(library)
        if library.bom_ref not in {dependency.ref for dependency in bom.dependencies}:
            bom.register_dependency(library)
    bom.register_dependency(root, libraries.values())
    names = sorted(f"{component.name}@{component.version}" for component in bom.components)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, f"{own.urls['Repository']}#{own.version}:{names}")
    return str(JsonV1Dot6(bom).output_as_string(indent=1)) + "\n"


def _carried(wheels: Path) -> Iterator[tuple[tree.Requirement, Path]]:
    """Yield each wheel that a package carries, once, with its entry of the lock."""
    lock = tree.read_lock(tree.LOCK.read_text(encoding="utf-8"))
    names: set[str] = set()
    for python in tree.PYTHONS:
        for requirement, wheel in tree.checked(wheels / tree.tag(python), python, lock):
            if wheel.name not in names:
                names.add(wheel.name)
                yield requirement, wheel


def _library(requirement: tree.Requirement, wheel: Path, purl: PackageURL) -> Component:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    stated = metadata["License-Expression"] or metadata["License"]
    stated = stated or _classified(metadata.get_all("Classifier", []))
    return Component(
        type=ComponentType.LIBRARY,
        name=requirement.name,
        version=requirement.version,
        description=metadata["Summary"],
        licenses=[LicenseFactory().make_from_string(stated.splitlines()[0])] if stated else (),
        purl=purl,
        bom_ref=str(purl),
    )


def _classified(classifiers: list[str]) -> str:
    names = [
        name.rpartition(" :: ")[2] for name in classifiers if name.startswith("License :: OSI Approved ::")
    ]
    return names[0] if names else ""


def _file(name: str, digest: str) -> Component:
    checksum = HashType(alg=HashAlgorithm.SHA_256, content=digest)
    return Component(type=ComponentType.FILE, name=name, hashes=[checksum], bom_ref=name)


def _compiled_in(wheel: Path) -> Iterator[Bom]:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if ".dist-info/sboms/" in name and name.endswith(".cyclonedx.json"):
                yield Bom.from_json(json.loads(archive.read(name)))


def _merge(bom: Bom, compiled: Bom, library: Component) -> None:
    """Add the components of a library's own bill, and what depends on what, with the library as the root."""
    refs = {str(component.bom_ref): component for component in bom.components}
    added = [component for component in compiled.components if str(component.bom_ref) not in refs]
    if not added:
        return
    bom.components.update(added)
    root = compiled.metadata.component
    for dependency in compiled.dependencies:
        of_root = root is not None and str(dependency.ref) == str(root.bom_ref)
        ref = library.bom_ref if of_root else dependency.ref
        bom.dependencies.add(Dependency(ref, dependency.dependencies))


if __name__ == "__main__":
    sys.exit(main())
