"""Files of variables, each read as the program reads it that the file is for."""

from __future__ import annotations

import pytest

from tests.lint.judging import judged

NAME = "HSA_OVERRIDE_GFX_VERSION"


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("/etc/profile.d/a.sh", f"export {NAME}=11.0.0 # RX 7900\n", "11.0.0"),
        ("/etc/profile.d/a.sh", f"A=11\nexport {NAME}=$A.0.0\n", "11.0.0"),
        ("a.sh", f"#!/bin/sh\n. venv/bin/activate\nA=11.0.0\nexport {NAME}=$A\n", "11.0.0"),
        ("a.sh", f"#!/bin/bash\nset -euo pipefail\nA=11.0.0\nexport {NAME}=$A\n", "11.0.0"),
        ("a.sh", f"A=11\n{NAME}=$A.0.0 python a.py\n", "11.0.0"),
        ("a.sh", f'#!/bin/bash\nB=(-x)\nA=11\n{NAME}=$A.0.0 python "${{B[@]}}"\n', "11.0.0"),
        ("a.sh", f"#!/bin/bash\nA=11\nA=(10 $A)\nexport {NAME}=$A.3.0\n", None),
        ("a.sh", f"#!/bin/bash\nexport A=(11)\nexport {NAME}=${{A}}.0.0\n", None),
        ("a.sh", f"B=(-x)\nA=11.0.0\nexport {NAME}=$A\n", None),  # dash would fail
        ("a.sh", f"A=11\nA=10 {NAME}=$A.3.0 python a.py\n", None),
        ("a.sh", f"A=11\nwhile x; do {NAME}=$A.0.0 python a.py; A=10; done\n", None),
        ("a.sh", f"#!/bin/sh\nA=11.0.0\n. venv/bin/activate\nexport {NAME}=$A\n", None),
        ("a.sh", f"cd x || exit\nA=11.0.0\nif x; then A=10.3.0; fi\nexport {NAME}=$A\n", None),
        ("/home/u/.bashrc", f"case $- in *i*) ;; *) return ;; esac\nA=11\nexport {NAME}=$A.0.0\n", "11.0.0"),
        ("/home/u/.bashrc", f"[ x ] || return\nA=11\nread A\nexport {NAME}=$A.0.0\n", None),
        ("/home/u/.bashrc", f"[ x ] || return\nA=11\nx && A=10\nexport {NAME}=$A.0.0\n", None),
        ("/etc/profile.d/a.sh", f"if true; then\nexport {NAME}=11.0.0\nfi\n", "11.0.0"),
        ("/etc/profile.d/a.sh", f"export {NAME}=${{A:-11.0.0}}\n", None),
        ("/etc/environment.d/a.conf", f'{NAME}="11.0"  .0\n', "11.0.0"),
        ("/etc/environment.d/a.conf", f"{NAME}=11.0.0 # RX 7900\n", "11.0.0 # RX 7900"),
        ("/etc/environment.d/a.conf", f"{NAME}=$A\n", None),
        ("/etc/environment.d/a.conf", f"A=11.0\n{NAME}=${{A}}.0\n", "11.0.0"),
        ("/srv/app/.env", f"\ufeff{NAME}=11.0.0\n", None),  # releases of python-dotenv differ
        ("/etc/environment", f'export {NAME}="11.0.0"\n', "11.0.0"),
        ("/etc/environment", f"{NAME}=11.0.0 # RX 7900\n", None),  # with a blank, but for libeconf
        ("/srv/app/.env", f"{NAME}=11.0.0 # RX 7900\n", "11.0.0"),
        ("/srv/app/.env", f'{NAME}="${{A}}"\n', None),
        ("/etc/rocmcfg/env", f'{NAME}="11.0.0"\n', '"11.0.0"'),
    ],
)
def test_the_value_is_what_the_program_makes_of_it(path: str, text: str, value: str | None) -> None:
    (found,) = (one for one in judged(path, text).assignments if one.name == NAME)
    assert (None if found.opaque else found.value) == value


@pytest.mark.parametrize(
    ("path", "text", "kinds"),
    [
        ("/etc/environment.d/a.conf", "export AMD_LOG_LEVEL=3\n", ["RC7118"]),
        ("/etc/environment.d/a.conf", "AMD_LOG_LEVEL=\n", ["RC7118"]),
        ("/etc/environment", "export AMD_LOG_LEVEL=3\n", []),
        ("/etc/profile.d/a.sh", "AMD_LOG_LEVEL=3\n", ["RC7121"]),
        ("/etc/profile.d/a.sh", "AMD_LOG_LEVEL=3\nexport AMD_LOG_LEVEL\n", []),
        ("/etc/profile.d/a.sh", "set -a\nAMD_LOG_LEVEL=3\n", []),
        ("/etc/profile.d/a.sh", "AMD_LOG_LEVEL=3 true\n", []),
        ("/etc/profile.d/a.sh", 'export AMD_LOG_LEVEL="3\nexport A=1\n', ["RC7118"]),
        ("/etc/profile.d/a.sh", "export AMD_LOG_LEVEL='3\n", ["RC7118"]),
        ("/etc/profile.d/a.sh", "export AMD_LOG_LEVEL=3 A='x\ny'\n", []),
        ("script.sh", "AMD_LOG_LEVEL=3\n", []),
    ],
)
def test_a_line_that_its_program_passes_over_is_named(path: str, text: str, kinds: list[str]) -> None:
    found = judged(path, text).findings
    assert [one.remark.id for one in found if one.remark.id in ("RC7118", "RC7121")] == kinds


@pytest.mark.parametrize(
    "setting", ["AMD_SERIALIZE_KERNEL=3", "AMD_SERIALIZE_COPY=1", "HIP_LAUNCH_BLOCKING=1"]
)
def test_what_only_finds_a_fault_is_remarked_on_unless_its_author_looks_for_one(setting: str) -> None:
    (finding,) = judged("a.sh", f"export {setting}\n").findings
    assert (finding.remark.kind, "slower" in finding.remark.why) == ("debugging", True)
    assert not judged("a.sh", f"export {setting}  # to see which kernel faults\n").findings
