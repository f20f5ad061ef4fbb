"""Each value of a record may be of any kind and size: a record is read as it was written or called damaged,
and never taken for a defect (RC9000). Changes of bytes, as in tests/architecture/test_foreign_data.py, rarely
make another value."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.crashes import crashing
from tests.experiments.real import Bench
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg

STRANGE: tuple[Any, ...] = (
    "",
    "x" * 5000,
    "\ud800",
    "\udcff",
    "\u202e\x1b[31m\n",
    "; rm -rf / #",
    "../../etc",
    "9" * 5000,
    "2026-99-99T99:99:99Z",
    0,
    -1,
    10**18,
    10**400,
    1.5,
    float("inf"),
    float("nan"),
    True,
    None,
    [],
    {},
    ["x"] * 3,
    {"a": 10**400},
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of a document, and those of all values in it."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield from places(below, (*path, key))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    made = holder = copy.deepcopy(document)
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return made


def variants(document: Any) -> Iterator[tuple[str, Any]]:
    """The document with each of its values replaced: by one of the strange ones in turn, or by all of them in
    the long form."""
    every = bool(os.environ.get("ROCMCFG_TEST_LONG"))
    for number, path in enumerate(places(document)):
        for value in STRANGE if every else STRANGE[number % 3 :: 3]:
            yield f"{path} = {value!r:.40}", changed(document, path, value)


def no_defect(what: str, *words: str | Path) -> None:
    said = rocmcfg(*words)
    assert "RC9000" not in said.out + said.err, f"{what}: {words}\n{said.err}"


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = crashing.crashed_root(tmp_path_factory.mktemp("crashed"))
    crashing.process(root, 42, "python3", "drm-driver: amdgpu\ndrm-memory-vram: 4 MiB\n")
    crashing.dump(root, "devcd1")
    crashing.save(root, "devcd1:7")
    return root


def test_a_crash_is_read_or_called_damaged(crashed: Path) -> None:
    (record,) = (crashed / crashing.STORE).glob("2*/record.json")
    text = record.read_text()
    assert json.loads(text)["processes"], "each kind of value is there"
    try:
        for what, document in variants(json.loads(text)):
            record.write_text(json.dumps(document))
            for command in ("list", "show", "report"):
                no_defect(what, "crashes", command, "--root", crashed)
    finally:
        record.write_text(text)


def test_a_record_of_another_crash_is_damaged(crashed: Path) -> None:
    """Its id becomes a part of paths, and of a command to copy."""
    (record,) = (crashed / crashing.STORE).glob("2*/record.json")
    text = record.read_text()
    try:
        for id in ("../../../../etc", "20261129-080743-devcd9", "a; reboot #"):
            record.write_text(json.dumps(json.loads(text) | {"id": id}))
            shown = rocmcfg("crashes", "show", "--root", crashed)
            assert (shown.code, "error[RC4401]" in shown.err) == (1, True), shown
            assert id not in shown.out + shown.err
    finally:
        record.write_text(text)


def test_the_count_of_unsaved_crashes_is_read_or_left_out(crashed: Path) -> None:
    unsaved = crashed / crashing.STORE / "unsaved.json"
    for what, document in variants({"number": 1, "time": "2026-11-29T08:00:00Z", "reason": "full"}):
        unsaved.write_text(json.dumps(document))
        no_defect(what, "crashes", "list", "--root", crashed)
    unsaved.unlink()


def test_a_try_is_read_or_called_damaged(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.tried("--runs", "5", "--no-warm-up", setting="HSA_XNACK=1", P="100")
    lines = bench.lines()
    record = bench.state / "1/try.jsonl"
    kinds = {line["kind"]: at for at, line in enumerate(lines)}  # the last line of each kind
    assert {*kinds} == {"begun", "started", "ran", "concluded"}
    with mock.patch.dict(os.environ, bench.variables()):
        for at in kinds.values():
            for what, line in variants(lines[at]):
                made = [*lines[:at], line, *lines[at + 1 :]]
                record.write_text("".join(f"{json.dumps(each)}\n" for each in made))
                no_defect(what, "tries", "list")
                no_defect(what, "tries", "show", "1", "--tracker")


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = debian_grub_host(tmp_path_factory.mktemp("applied"))
    settings = ("--set", "amdgpu.runpm=0", "--set", "env.HSA_ENABLE_SDMA=0")
    assert rocmcfg("apply", *settings, "--any-gpu", "--yes", "--root", root).code == 0
    return root


def test_a_receipt_is_read_or_called_damaged(applied: Path, tmp_path: Path) -> None:
    receipt = applied / "var/lib/rocmcfg/receipt.json"
    text = receipt.read_text()
    for what, document in variants(json.loads(text)):
        receipt.write_text(json.dumps(document))
        no_defect(what, "verify", "--metrics", tmp_path / "metrics", "--root", applied)
        no_defect(what, "plan", "--add", "amdgpu.gpu_recovery=1", "--any-gpu", "--root", applied)
    receipt.write_text(text)


@pytest.mark.parametrize("command", ["verify", "status", "doctor", "facts"])
def test_a_document_of_a_fleet_is_shown_or_named(applied: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "documents").mkdir()
    made = rocmcfg(command, "--root", applied, "--json").document
    document, page = tmp_path / "documents/node1.json", tmp_path / "page.html"
    for what, changed_one in variants(made):
        document.write_text(json.dumps(changed_one))
        no_defect(what, "fleet", tmp_path / "documents", "--html", page)
        if page.exists():
            assert not {"\u202e", "\x1b"} & {*page.read_text()}, what
            page.unlink()


def test_a_name_that_is_no_text_is_a_label(applied: Path, tmp_path: Path) -> None:
    receipt, metrics = applied / "var/lib/rocmcfg/receipt.json", tmp_path / "metrics"
    text = receipt.read_text()
    document = json.loads(text)
    document["settings"][0]["id"] = "amdgpu.\udcff"
    receipt.write_text(json.dumps(document))
    no_defect("half of a character", "verify", "--metrics", metrics, "--root", applied)
    receipt.write_text(text)
    assert 'setting="amdgpu.' in metrics.read_text()
