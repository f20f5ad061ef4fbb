"""`rocmcfg lint --sarif`: what code scanning shows, where, and under which identity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from rocmcfg.advice.lint.remark import CLASSES
from rocmcfg.advice.lint.sarif import sarif
from rocmcfg.model.diagnostic import error, warning
from tests.support.hosts import debian_grub_host
from tests.support.program import Result, command, process, rocmcfg

TEXT = """# für eine Karte
GRUB_CMDLINE_LINUX="amdgpu.gfxoff=0 amdgpu.noretry=0"
export TORCH_USE_HIPBLASLT=0
"""


def scanned(*arguments: str | Path) -> tuple[Result, dict[str, Any]]:
    """The result of a run, and its only SARIF run."""
    done = rocmcfg("lint", "--sarif", "--gfx", "9070xt", *arguments)
    log = json.loads(done.out)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    return done, run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "checkout"
    (folder / "a b").mkdir(parents=True)
    (folder / "a b/grub#1").write_text(TEXT)
    monkeypatch.chdir(folder)
    return folder


def test_each_finding_is_a_result_at_its_place_with_the_level_of_its_severity(folder: Path) -> None:
    done, run = scanned("a b/grub#1")
    assert done.code == 3
    lines = TEXT.splitlines()
    document = rocmcfg("lint", "--gfx", "9070xt", "--json", "a b/grub#1").document
    assert len(run["results"]) == len(document["findings"]) >= 3
    for result, finding in zip(run["results"], document["findings"], strict=True):
        assert result["ruleId"] == finding["id"]
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == finding["id"]
        assert (
            result["level"] == {"error": "error", "warning": "warning", "info": "note"}[finding["severity"]]
        )
        assert result["message"]["text"].startswith(finding["summary"])
        place = result["locations"][0]["physicalLocation"]
        region = place["region"]
        assert region["startLine"] == region["endLine"] == finding["line"]
        marked = lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1]
        assert marked == finding["text"]
        assert place["artifactLocation"] == {"uri": "a%20b/grub%231", "uriBaseId": "%SRCROOT%"}
        assert unquote(place["artifactLocation"]["uri"]) == "a b/grub#1"


def test_a_proposal_is_a_fix_of_the_same_place(folder: Path) -> None:
    _, run = scanned("a b/grub#1")
    (fixed,) = [result for result in run["results"] if "fixes" in result]
    change = fixed["fixes"][0]["artifactChanges"][0]
    place = fixed["locations"][0]["physicalLocation"]
    assert change["artifactLocation"] == place["artifactLocation"]
    (replacement,) = change["replacements"]
    assert replacement["deletedRegion"] == place["region"]
    assert replacement["insertedContent"] == {"text": "TORCH_BLAS_PREFER_HIPBLASLT=0"}


def test_every_class_is_a_rule_with_a_help_and_a_link(folder: Path) -> None:
    _, run = scanned("a b/grub#1")
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert list(rules) == list(CLASSES)
    for rule in rules.values():
        assert rule["help"]["text"]
        assert rule["helpUri"].startswith("https://")
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")


def test_the_link_of_a_rule_names_a_heading_of_the_page(folder: Path) -> None:
    _, run = scanned("a b/grub#1")
    page, _, heading = run["tool"]["driver"]["rules"][0]["helpUri"].partition("#")
    text = (Path(__file__).parents[2] / page[page.index("docs/") :]).read_text()
    assert heading == "rc71-lint-findings-one-class-each"
    assert "\n## RC71…: lint: findings, one class each\n" in text


def test_a_result_keeps_its_identity_when_lines_come_before_it_and_equal_ones_differ(folder: Path) -> None:
    def identities() -> list[str]:
        return [result["partialFingerprints"]["rocmcfg/v1"] for result in scanned("a b/grub#1")[1]["results"]]

    before = identities()
    file = folder / "a b/grub#1"
    file.write_text(f"# one more line\n\n{TEXT}")
    assert identities() == before
    file.write_text(f"{TEXT}export TORCH_USE_HIPBLASLT=0\n")
    after = identities()
    assert set(before) <= set(after)
    assert len(set(after)) == len(after) > len(before)


def test_files_elsewhere_have_absolute_addresses_and_a_pipe_has_a_name(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_text(TEXT)
    _, run = scanned(tmp_path / "other")
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in run["results"]]
    assert places[0] == {"uri": f"file://{tmp_path}/other"}
    root = debian_grub_host(tmp_path, cmdline="amdgpu.gfxoff=0")
    _, run = scanned("--root", root)
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in run["results"]]
    assert {"uri": "file:///etc/default/grub"} in places
    piped = process(command("lint", "--sarif"), stdin=TEXT)
    (run,) = json.loads(piped.out)["runs"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "stdin"}


def test_a_file_that_cannot_be_read_is_a_failed_invocation(folder: Path) -> None:
    (folder / "binary").write_bytes(b"\0" * 64)
    done, run = scanned("a b/grub#1", "binary")
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] == (done.code != 1)
    notified = [n["descriptor"]["id"] for n in invocation["toolExecutionNotifications"]]
    assert notified
    assert run["results"]


def test_a_problem_is_at_the_line_that_its_diagnostic_names() -> None:
    problems = [error("RC7001", "bad", location="/etc/x.conf:3:5"), warning("RC7002", "odd", location="a.sh")]
    log = json.loads(sarif((), problems, folder="/w", version="1", address="https://x.org/a#b"))
    first, second = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "file:///etc/x.conf"},
        "region": {"startLine": 3, "startColumn": 5},
    }
    assert "region" not in second["locations"][0]["physicalLocation"]
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is False


@pytest.mark.parametrize("other", ["--fix", "--json"])
def test_it_excludes_other_documents(folder: Path, other: str) -> None:
    done = rocmcfg("lint", "--sarif", other, "a b/grub#1")
    assert done.code == 2
    assert "--sarif" in done.out + done.err
