"""`ansible-test units` and `ansible-test integration`: the collection's own tests, with the real rocmcfg.

The integration targets work on copies of the recorded host of docs/demo, so they need neither root nor a GPU.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from . import support

TARGETS = sorted(
    path.parent.parent.name for path in support.SOURCE.glob("tests/integration/targets/*/meta/main.yml")
)


@pytest.mark.parametrize("release", support.CORES)
def test_units(release: str, tmp_path: Path) -> None:
    collection, temporaries = support.lay_out(tmp_path), tmp_path / "temporaries"
    temporaries.mkdir()
    # ansible-test passes no TMPDIR on, and in /tmp pytest deletes what other runs have left: minutes of work
    (collection / "tests/unit/conftest.py").write_text(
        f"import os\n\nos.environ['PYTEST_DEBUG_TEMPROOT'] = {str(temporaries)!r}\n"
    )
    ran = support.ansible_test(release, collection, "units", "--python", support.PYTHON)
    assert [*temporaries.iterdir()], "its files lie elsewhere"
    assert re.search(r"\d+ passed", ran.succeeded())


@pytest.mark.parametrize("release", [support.OLDEST, support.NEWEST])
def test_integration_targets(release: str, tmp_path: Path) -> None:
    collection = support.lay_out(tmp_path)
    variables = {"rocmcfg_executable": str(support.ROCMCFG), "sample_host": str(support.SAMPLE_HOST)}
    (collection / "tests/integration/integration_config.yml").write_text(json.dumps(variables))
    ran = support.ansible_test(release, collection, "integration", "--python", support.PYTHON, *TARGETS)
    output = ran.succeeded()
    for target in TARGETS:
        assert f"Running {target} integration test role" in output
