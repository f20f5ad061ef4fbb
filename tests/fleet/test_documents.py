"""Which documents belong to which host, and that none of them can stop the command."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fleet.hosts import document, put, status, verify
from tests.support.program import DEMO, SOURCE, environment, rocmcfg


def fleet(*arguments: str | Path) -> dict[str, Any]:
    done = rocmcfg("fleet", *arguments, "--json")
    assert done.code == 0, done.err
    return done.document


def names(shown: dict[str, Any]) -> list[str]:
    return [host["name"] for host in shown["hosts"]]


def kinds(shown: dict[str, Any]) -> list[tuple[str, str]]:
    return [(unused["kind"], Path(unused["file"]).name) for unused in shown["unused"]]


@pytest.mark.parametrize(
    ("file", "host"),
    [
        ("node1.json", "node1"),
        ("node1.example.com.json", "node1.example.com"),
        ("node1.example.com.verify.json", "node1.example.com"),
        ("node1.verify.json", "node1"),
        ("node1/verify.json", "node1"),
        ("node1/tmp/rocmcfg/verify.json", "node1"),  # as Ansible's fetch makes it
        ("node1/report.json", "node1"),
    ],
)
def test_the_name_of_a_file_or_of_its_folder_is_the_host(tmp_path: Path, file: str, host: str) -> None:
    put(tmp_path / "all" / file, verify())
    assert names(fleet(tmp_path / "all")) == [host]


def test_a_file_that_is_named_after_its_command_belongs_to_the_host_of_its_folder(tmp_path: Path) -> None:
    files = [put(tmp_path / name / "verify.json", verify()) for name in ("node2", "node10")]
    assert names(fleet(*files)) == ["node2", "node10"]


def test_a_field_of_the_document_names_the_host_before_its_file(tmp_path: Path) -> None:
    put(tmp_path / "all.json", verify(host="node1"), status(host="node1"), verify(host="node2"))
    shown = fleet(tmp_path)
    assert names(shown) == ["node1", "node2"]
    assert shown["hosts"][0]["documents"] == ["status", "verify"]


@pytest.mark.parametrize("indent", [None, 1], ids=["lines", "concatenated"])
def test_the_standard_input_has_many_documents(indent: int | None) -> None:
    made = [verify(host="node1"), status(host="node2"), document("doctor", host="node1"), verify()]
    text = "\n".join(json.dumps(each, indent=indent) for each in made)
    command = [sys.executable, "-m", "rocmcfg", "fleet", "-", "--json"]
    done = subprocess.run(
        command, input=text.encode(), env=environment(), cwd=SOURCE, capture_output=True, check=True
    )
    shown = json.loads(done.stdout)
    assert names(shown) == ["(document 1 of the standard input)", "node1", "node2"]
    assert shown["documents"] == 4


def test_a_list_of_documents_and_documents_on_one_line_are_read(tmp_path: Path) -> None:
    made = [verify(host="node1"), verify(host="node2")]
    (tmp_path / "list.json").write_text(json.dumps(made))
    (tmp_path / "line.json").write_text(
        "".join(json.dumps({**each, "host": f"b{i}"}) for i, each in enumerate(made))
    )
    assert names(fleet(tmp_path)) == ["b0", "b1", "node1", "node2"]


BAD: dict[str, tuple[bytes, str]] = {
    "cut": (json.dumps(verify(), indent=1).encode()[:300], "broken"),
    "empty": (b"", "empty"),
    "blank": (b" \n\n", "empty"),
    "text": (b"ssh: connect to host node1 port 22: No route to host\n", "broken"),
    "bytes": (b'{"schema_version": 1, "command": "\xff\xfe"}', "broken"),
    "deep": (b'{"a":' + b"[" * 200_000, "broken"),
    "newer": (json.dumps(verify() | {"schema_version": 2}).encode(), "newer"),
    "older": (json.dumps(verify() | {"schema_version": 0}).encode(), "older"),
    "of kubectl": (b'{"apiVersion": "v1", "kind": "List", "items": []}', "foreign"),
    # Python 3.10.7 and later read no number of more than 4,300 digits
    "number": (b"1" * 5000, "broken" if hasattr(sys, "get_int_max_str_digits") else "foreign"),
    "plan": (
        json.dumps({"schema_version": 1, "command": "plan", "diagnostics": []}).encode(),
        "other command",
    ),
    "halves of characters": (
        b'{"schema_version": 1, "command": "\\ud800\\u202e", "host": "\\udcff"}',
        "other command",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used_is_counted_and_named_and_the_others_are_shown(tmp_path: Path, name: str) -> None:
    content, kind = BAD[name]
    put(tmp_path / "good.json", verify())
    (tmp_path / "bad.json").write_bytes(content)
    shown = fleet(tmp_path)
    assert (shown["documents"], kinds(shown)) == (1, [(kind, "bad.json")])
    assert [d["id"] for d in shown["diagnostics"]] == ["RC7301"]
    assert "bad.json" in shown["diagnostics"][0]["summary"]
    # A host whose document cannot be read is a host of which nothing is known. Files of others are no hosts.
    states = {host["name"]: host["state"] for host in shown["hosts"]}
    assert states == {"good": "in_effect"} | (
        {"bad": "unknown"} if kind not in ("foreign", "other command") else {}
    )
    page = tmp_path / "page.html"
    assert rocmcfg("fleet", tmp_path, "--html", page).code == 0
    assert "\u202e" not in page.read_text()


def test_what_is_missing_or_no_file_is_named(tmp_path: Path) -> None:
    good = put(tmp_path / "good.json", verify())
    shown = fleet(good, tmp_path / "nowhere.json", "/dev/null")
    assert kinds(shown) == [("unreadable", "nowhere.json"), ("unreadable", "null")]


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "node1/verify.json", verify())
    put(tmp_path / "node2/verify.json", verify())
    real = os.scandir

    def scandir(path: str) -> Any:
        if path.endswith("node2"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)  # root may read everything
    shown = fleet(tmp_path)
    assert kinds(shown) == [("unreadable", "node2")]
    assert {host["name"]: host["state"] for host in shown["hosts"]} == {
        "node1": "in_effect",
        "node2": "unknown",
    }


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    put(tmp_path / "node1.json", verify())
    os.mkfifo(tmp_path / "node2.json")
    (tmp_path / "node3.json").symlink_to("nowhere")
    assert kinds(fleet(tmp_path)) == [("unreadable", "node2.json"), ("unreadable", "node3.json")]


def test_a_link_that_cannot_be_followed_costs_no_other_document_of_its_folder(tmp_path: Path) -> None:
    put(tmp_path / "node1.json", verify())
    (tmp_path / "node2.json").symlink_to("node2.json")
    put(tmp_path / "node3.json", verify())
    shown = fleet(tmp_path)
    assert kinds(shown) == [("unreadable", "node2.json")]
    assert names(shown) == ["node1", "node3"]


@pytest.mark.parametrize("state", [None, 7, "of a newer rocmcfg"])
def test_a_document_without_a_known_status_says_why_nothing_is_known(tmp_path: Path, state: Any) -> None:
    put(tmp_path / "node1.json", verify() | {"status": state})
    (host,) = fleet(tmp_path)["hosts"]
    assert host["state"] == "unknown"
    assert host["problems"] == ["its document of verify has no status that this rocmcfg knows"]


def test_nothing_but_bad_documents_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("no document")
    done = rocmcfg("fleet", tmp_path, "--json")
    assert done.code == 1
    assert done.ids == ["RC7302"]


def test_a_document_that_is_too_large_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocmcfg.host.collected.LARGEST", 100_000)
    large = verify(host="large") | {"padding": "x" * 300_000}
    put(tmp_path / "all.json", verify(host="node1"), large, verify(host="node2"), large)
    shown = fleet(tmp_path)
    assert names(shown) == ["all", "node1", "node2"]
    assert kinds(shown) == [("too large", "all.json")] * 2


def test_of_two_documents_of_a_command_the_newer_file_counts(tmp_path: Path) -> None:
    new = put(tmp_path / "a/node1.verify.json", verify("differences", "1"))
    old = put(tmp_path / "b/node1.verify.json", verify())
    os.utime(old, (1, 1))
    for order in ((new, old), (old, new)):
        shown = fleet(*order)
        assert [(h["name"], h["state"]) for h in shown["hosts"]] == [("node1", "drifting")]
        assert [(u["kind"], u["file"]) for u in shown["unused"]] == [("duplicate", str(old))]


def test_documents_that_contradict_each_other_are_named_and_the_worse_one_counts(tmp_path: Path) -> None:
    put(tmp_path / "node1.verify.json", verify("differences", "1"))
    put(tmp_path / "node1.status.json", status())
    (host,) = fleet(tmp_path)["hosts"]
    assert host["state"] == "drifting"
    assert host["problems"] == [
        "the documents contradict each other: status says in effect (transaction 1), verify says drifting "
        "(transaction 1)"
    ]


def test_a_command_that_failed_on_a_host_is_a_problem_of_the_host(tmp_path: Path) -> None:
    problem = {"id": "RC3001", "severity": "error", "summary": "cannot read the receipt", "detail": ""}
    failure = {
        "schema_version": 1,
        "command": "verify",
        "diagnostics": [problem],
        "outcome": "nothing_changed",
    }
    put(tmp_path / "node1.verify.json", failure)
    (host,) = fleet(tmp_path)["hosts"]
    assert (host["state"], host["problems"]) == ("unknown", ["verify failed: cannot read the receipt"])


WRONG_TYPES: list[Any] = [None, 1, "x", [], {}, [1], [None], ["x"], [[]], [{}], True, 1.5]


@pytest.mark.parametrize("command", ["verify", "status", "doctor"])
def test_values_of_other_types_count_as_absent(tmp_path: Path, command: str) -> None:
    """Whoever can write a file may write anything in it."""
    number = 0
    for key in document(command):
        for value in WRONG_TYPES:
            put(tmp_path / f"h{(number := number + 1)}.json", document(command) | {key: value})
    for key, rows in document(command).items():
        for inner in rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else ():
            for value in WRONG_TYPES:
                row = {**rows[0], inner: value}
                put(tmp_path / f"h{(number := number + 1)}.json", document(command) | {key: [row]})
    shown = fleet(tmp_path)
    assert shown["documents"] + len(shown["unused"]) == number


HOSTILE = {
    "script": "<script>alert(1)</script>",
    "quotes": "\"'`&amp;",
    "newlines": "node1\nnode2\r\x00\x1b[31mred",
    "prototype": "__proto__",
    "constructor": "constructor",
    "long": "x" * 10_240,
    "half": "\ud800",
    "separator": "a\u2028b\u202ec",
    "marker": "@DATA@ @SCRIPT@ {{ x }} ${x}",
    "end": "</script><!--<script>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_only_a_name(tmp_path: Path, name: str) -> None:
    text = HOSTILE[name]
    checks = [{**verify()["checks"][0], "name": text, "status": "drift"}]
    put(
        tmp_path / "node1.json",
        verify(host=text) | {"status": "differences", "checks": checks, "profiles": [text]},
    )
    fault = {**document("doctor")["faults"][0], "id": text, "title": text, "step": text, "severity": text}
    put(tmp_path / "node2.json", document("doctor", host=text, faults=[fault]))
    page, files = tmp_path / "page.html", (tmp_path / "node1.json", tmp_path / "node2.json")
    done = rocmcfg("fleet", *files, "--html", page, "--json")
    assert done.code == 0, done.err
    assert len(done.document["hosts"]) == 1
    assert len(done.document["hosts"][0]["name"]) <= 255
    assert done.document["hosts"][0]["name"].isprintable()
    html = page.read_text()
    assert "\\u202e" not in html, "it would turn the name around"
    assert html.count("<script") == 2
    assert html.count("</script>") == 2
    printed = rocmcfg("fleet", *files).out
    assert not {"\x1b", "\x00", "\r"} & {*printed}


def test_a_document_says_when_it_was_written_before_its_file_does(tmp_path: Path) -> None:
    old = put(tmp_path / "a.json", verify("differences", "1", host="node1", written="2026-11-01T00:00:00Z"))
    put(tmp_path / "b.json", verify(host="node1", written="2026-11-02T03:04:05Z"))
    os.utime(tmp_path / "b.json", (0, 0))  # copied by a tool that keeps no times
    (host,) = fleet(tmp_path)["hosts"]
    assert (host["state"], host["written"]) == ("in_effect", "2026-11-02 03:04")
    for wrong in ("2026-13-01T00:00:00Z", "1969-01-01T00:00:00Z", "now", "", 7, None):
        put(tmp_path / "b.json", verify(host="node2", written=wrong))
        os.utime(tmp_path / "b.json", (86400 * 365, 86400 * 365))
        assert fleet(tmp_path / "b.json")["hosts"][0]["written"] == "1971-01-01 00:00", wrong
    assert old.exists()


def test_what_differs_from_the_golden_host_is_shown(tmp_path: Path) -> None:
    rows = [
        {"fact": "link_width", "name": "PCIe width", "severity": "error", "golden": "16", "here": "8"},
        {"fact": "os", "name": "operating system", "severity": "info", "golden": "a", "here": "b"},
        {"fact": "acs", "name": "ACS", "severity": "warning", "golden": "off", "here": "", "reason": "root"},
    ]
    put(tmp_path / "node1.json", verify("differences", "0", differences=rows))
    (host,) = fleet(tmp_path)["hosts"]
    assert host["state"] == "drifting"
    assert host["wrong"][-1] == "PCIe width: is 8, golden host has 16"
    assert not any("operating" in text or "ACS" in text for text in host["wrong"])


@pytest.mark.parametrize("command", ["verify", "status", "doctor", "facts"])
def test_a_document_names_its_host_if_it_is_asked_to(tmp_path: Path, command: str) -> None:
    root = DEMO / "sample-host"
    (tmp_path / "x.json").write_text(rocmcfg(command, "--json", "--name-host", "--root", root).out)
    (host,) = fleet(tmp_path)["hosts"]
    assert host["name"] == (root / "etc/hostname").read_text().strip()
    assert host["written"][:2] == "20"
    without = rocmcfg(command, "--json", "--root", root).document
    assert not {"host", "written"} & {*without}, "documents go into bug reports"
    assert rocmcfg(command, "--name-host", "--root", root).code == 2
