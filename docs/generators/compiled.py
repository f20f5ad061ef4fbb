"""The TOML files of the package, made ready for the program that has to start fast."""

from __future__ import annotations

from pathlib import Path

from rocmcfg.advice.doctor.reading import probes
from rocmcfg.knowledge import catalogue, compiled, diagnosis, faults, profiles, toml
from rocmcfg.knowledge.cures import READY, cures_of
from rocmcfg.knowledge.duplicates import duplicates
from rocmcfg.knowledge.profile_schema import validate
from rocmcfg.model.diagnostic import Diagnostic


def page() -> str:
    package = Path(compiled.PACKAGE)
    entries = []
    for path in sorted(package.glob("*/data/**/*.toml")):
        content = path.read_bytes()
        name = path.relative_to(package).as_posix()
        document = toml.parse(content, str(path))
        if isinstance(document, Diagnostic):
            raise SystemExit(f"{document.location}: {document.summary}")
        for duplicate in duplicates(content.decode(), document):
            raise SystemExit(f"{path}:{duplicate.line}: {duplicate.words}")
        entries.append(compiled.entry(name, content, document))
    for path in sorted(Path(profiles.shipped_dir()).glob("*.toml")):
        content = path.read_bytes()
        document, wrong = validate(toml.loads(content.decode()))
        if wrong:
            raise ValueError(f"{path} is no profile: {wrong}")
        entries.append(compiled.entry(f"profiles/{path.name}", content, document))
    classes = faults.faults().values()
    probed = probes.of_all(diagnosis.log_knowledge(), catalogue.known_issues(), classes, resets=True)
    patterns = [p.pattern for p in probed]
    required = {p: [[text.decode() for text in texts] for texts in probes.required(p)] for p in patterns}
    entries.append(compiled.entry(probes.TEXTS, b"", required))
    entries.append(compiled.entry(probes.PARTS, b"", {p: probes.parts(p) for p in patterns}))
    cures = cures_of(catalogue.known_issues()).items()
    entries.append(
        compiled.entry(READY, b"", {id: [cure._asdict() for cure in listed] for id, listed in cures})
    )
    return b"".join(entries).decode()
