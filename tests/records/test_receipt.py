"""A receipt that something else than `dump` wrote is refused where it is read, and nowhere later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.desired import Channel, DesiredSetting, Kind
from rocmcfg.model.request import Request
from rocmcfg.records import receipt
from rocmcfg.records.receipt import BadReceipt, Receipt
from tests.support.hosts import make_root

SETTING = DesiredSetting(
    "amdgpu.runpm", Kind.PARAMETER, "runpm", "0", Channel.CMDLINE, "amdgpu", "amdgpu.runpm"
)
FLAG = DesiredSetting(
    "karg.quiet", Kind.KARG, "quiet", None, Channel.CMDLINE, evidence=("https://example.org",)
)
GOOD = Receipt(
    7,
    ("rdna4",),
    Request(("rdna4",), set=("amdgpu.runpm=0",)),
    "grub",
    "6d0c4f2a",
    (SETTING, FLAG),
    {"/etc/default/grub.d/zz-rocmcfg.cfg": "00ff"},
    {"update-grub": ActivationState.DONE},
)
Document = dict[str, Any]


def written(tmp_path: Path, content: bytes) -> LocalHost:
    return LocalHost(str(make_root(tmp_path, {receipt.PATH: content})))


def test_what_was_dumped_is_loaded(tmp_path: Path) -> None:
    found = receipt.load(written(tmp_path, receipt.dump(GOOD)))
    assert found is not None
    assert found == GOOD
    assert receipt.dump(found) == receipt.dump(GOOD)


NO_TEXT: tuple[object, ...] = (1, True, ["a"], {"a": "b"}, "a\0b", "\ud800")
TEXTS_OF_A_SETTING = (
    "id",
    "kind",
    "name",
    "channel",
    "module",
    "parameter",
    "adopted_from",
    "because",
    "cost",
)
WRONG: dict[str, tuple[object, ...]] = {
    "transaction": ("7", None, True, 7.0, [7]),
    "schema_version": ("1", None, [1]),
    "profiles": ("rdna4", [1], [["rdna4"]], {"rdna4": 1}, None),
    "request": ([], None, "x", {"set": [1]}, {"set": 1}, {"set": {}}),
    "boot_backend": (*NO_TEXT, None),
    "boot_id": (*NO_TEXT, None),
    "settings": ({}, None, "x", [1], [[]], ["id"], [{}], [None]),
    "files": ([], "x", None, {"/a": 1}, {"/a": None}, {"a": "b"}, {"/a\0": "b"}, {"/\ud800": "b"}),
    "activations": ([], {"a": 1}, {"a": "x"}, {"a": []}, None),
}
WRONG_IN_A_SETTING: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(TEXTS_OF_A_SETTING, (*NO_TEXT, None)),
    "text": NO_TEXT,
    "evidence": ("x", [1], None, {}),
    "rewritten": ("x", 1, None),
    "unknown": ("x",),
}


def refused(tmp_path: Path, document: Document) -> None:
    with pytest.raises(BadReceipt) as stop:
        receipt.load(written(tmp_path, json.dumps(document).encode()))
    assert [d.id for d in stop.value.diagnostics] == ["RC4030"]


@pytest.mark.parametrize("name", WRONG)
def test_a_field_of_another_type_is_refused(tmp_path: Path, name: str) -> None:
    good = json.loads(receipt.dump(GOOD))
    for value in WRONG[name]:
        refused(tmp_path, {**good, name: value})
    refused(tmp_path, {key: value for key, value in good.items() if key != name})


@pytest.mark.parametrize("name", WRONG_IN_A_SETTING)
def test_a_setting_of_another_shape_is_refused(tmp_path: Path, name: str) -> None:
    good = json.loads(receipt.dump(GOOD))
    for value in WRONG_IN_A_SETTING[name]:
        refused(tmp_path, {**good, "settings": [{**good["settings"][0], name: value}]})


@pytest.mark.parametrize("name", DesiredSetting._fields)
def test_a_setting_may_lack_a_field_that_has_a_default_and_no_other(tmp_path: Path, name: str) -> None:
    good = json.loads(receipt.dump(GOOD))
    del good["settings"][0][name]
    if name not in DesiredSetting._field_defaults:
        refused(tmp_path, good)
        return
    found = receipt.load(written(tmp_path, json.dumps(good).encode()))
    assert found is not None
    assert found.settings[0] == SETTING._replace(**{name: DesiredSetting._field_defaults[name]})


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"1", b"null", b"{}", b"\xff", b"[" * 100_000, b"9" * 5000, b'{"a": ' * 100_000]
)
def test_a_file_that_is_no_receipt_at_all_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BadReceipt):
        receipt.load(written(tmp_path, content))
    assert receipt.load_quietly(written(tmp_path, content)) is None
