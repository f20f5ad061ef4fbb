"""What ostree says of deployments, read; its serialisation held against GLib's own where that is here."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unreadable
from rocmcfg.loaders.rpm_ostree import BACKEND
from rocmcfg.loaders.shared.ostree import deployments, gvariant
from tests.cases.case import CASES
from tests.support import ostree as stand_in
from tests.support import recorded
from tests.support.hosts import make_root, other_host
from tests.support.program import rocmcfg
from tests.support.stage import Stage, Typed, empty_folder
from tests.support.tools import require_library

LINE = ["root=UUID=3f6c", "rw", 'x="a b"', "amdgpu.runpm=0"]


def staged(kargs: list[str], extra: dict[str, str]) -> bytes:
    target = {"name": stand_in.text(f"{'c' * 64}.1"), "osname": stand_in.text("fedora")}
    values = {"target": stand_in.table(target), "locked": ("b", b"\1"), "kargs": stand_in.texts(kargs)}
    return stand_in.table(values | ({"bootconfig-extra": stand_in.pairs(extra)} if extra else {}))[1]


@pytest.mark.parametrize("many", [0, 1, 12, 400, 9000])
def test_a_staged_deployment_is_read_whatever_its_size(tmp_path: Path, many: int) -> None:
    kargs = [f"a{number}={'x' * (number % 7)}" for number in range(many)]
    root = make_root(tmp_path, {deployments.STAGED.lstrip("/"): staged(kargs, {"x-options-source-a": "b c"})})
    found = deployments.staged(LocalHost(str(root)))
    assert found is not None
    assert found.deployment == f"fedora-{'c' * 64}.1"
    assert [karg.text for karg in found.kargs or ()] == kargs
    assert found.extra == {"x-options-source-a": "b c"}


def test_it_is_what_glib_reads() -> None:
    glib = require_library("libglib-2.0.so.0", package="libglib2.0-0")
    for function in ("g_variant_new_from_bytes", "g_bytes_new", "g_variant_print", "g_variant_type_new"):
        getattr(glib, function).restype = ctypes.c_void_p
    glib.g_variant_parse.restype = ctypes.c_void_p
    glib.g_variant_get_data.restype = ctypes.c_void_p
    glib.g_variant_get_size.restype = ctypes.c_size_t
    for text in (
        "{'target': <{'name': <'c.1'>, 'osname': <'fedora'>}>, 'locked': <true>, 'kargs': <['a', '']>}",
        "{'kargs': <['" + "', '".join(f"amdgpu.x{n}={n}" for n in range(500)) + "']>}",
        "{'bootconfig-extra': <{'x-options-source-rocmcfg': 'a=1 b', 'x': ''}>, 'kargs': <['a b']>}",
    ):
        kind = glib.g_variant_type_new(b"a{sv}")
        parsed = glib.g_variant_parse(ctypes.c_void_p(kind), text.encode(), None, None, None)
        assert parsed, text
        size = glib.g_variant_get_size(ctypes.c_void_p(parsed))
        data = ctypes.string_at(glib.g_variant_get_data(ctypes.c_void_p(parsed)), size)
        expected = eval(text.replace("<", "").replace(">", "").replace("true", "True"))
        assert gvariant.read("a{sv}", data) == expected
        if "target" in expected:
            target = {key: stand_in.text(value) for key, value in expected["target"].items()}
            ours = {"target": stand_in.table(target), "locked": ("b", b"\1")}
            assert stand_in.table({**ours, "kargs": stand_in.texts(expected["kargs"])})[1] == data


def test_damage_is_told_and_raises_nothing_else(tmp_path: Path) -> None:
    chance = random.Random(7)
    whole = staged(LINE, {"x-options-source-a": "b"})
    told = set()
    for number in range(400):
        data = bytearray(whole[: chance.randrange(len(whole))] if number % 2 else whole)
        for _ in range(number % 5):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        root = make_root(tmp_path, {deployments.STAGED.lstrip("/"): bytes(data)}, name=f"{number}")
        try:
            deployments.staged(LocalHost(str(root)))
        except Unreadable as problem:
            told.add(problem.path)
    assert told == {deployments.STAGED}


def test_the_deployment_that_boots_first_is_the_normal_one_and_the_others_are_older_states(
    tmp_path: Path,
) -> None:
    root = other_host(tmp_path, "ostree")
    (old,) = (root / "boot/loader/entries").iterdir()
    newer = old.read_text().replace("version 1", "version 12").replace(" quiet", " quiet nosmt")
    newer += f"linux /ostree/fedora-{'b' * 64}/vmlinuz-6.17.8-300.fc43.x86_64\n"
    (old.parent / "ostree-12.conf").write_text(newer)
    (old.parent / "memtest.conf").write_text("title Memtest\nefi /memtest.efi\n")
    menu = BACKEND.read(LocalHost(str(root)))
    assert [(entry.role.value, "nosmt" in [k.text for k in entry.kargs]) for entry in menu.entries] == [
        ("normal", True),
        ("snapshot", False),
    ]
    assert menu.entries[0].id == f"fedora-{'a' * 64}.0"
    assert menu.entries[0].release == "6.17.8-300.fc43.x86_64"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[etc]\ntransient = true\n", True),
        ("[etc]\ntransient=yes\n", True),
        ("[root]\ntransient=true\n[etc]\ntransient=false\n", False),
        ("[composefs]\nenabled=true\n", False),
    ],
)
def test_an_etc_that_is_forgotten_is_seen(tmp_path: Path, text: str, found: bool) -> None:
    root = make_root(tmp_path, {"usr/lib/ostree/prepare-root.conf": text})
    assert bool(deployments.transient_etc(LocalHost(str(root)))) is found


def test_a_rescue_system_that_cannot_ask_rpm_ostree_leaves_the_command_to_the_user() -> None:
    with empty_folder() as place:
        stage = Stage(place, recorded.build("ostree tools", place), CASES / "rpm-ostree/tools")
        assert stage.run(Typed("rocmcfg apply --set amdgpu.runpm=0 --yes -q --root host")).code == 0
        found = rocmcfg("rollback", "--yes", "--root", "host")
        assert found.code == 0, found.err
        assert "rpm-ostree kargs --delete-if-present=amdgpu.runpm=0" in found.out
        assert "Left to you" in found.out
        assert not (place / "host/etc/rocmcfg").exists()


@pytest.mark.parametrize("begun", [False, True])
def test_what_a_kill_cut_off_is_taken_back_whether_the_program_had_done_it_or_not(
    begun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocmcfg.change.transaction import parts, programs, transaction

    with empty_folder() as place:
        stage = Stage(place, recorded.build("ostree tools", place), CASES / "rpm-ostree/tools")
        run_tool = programs.run_tool

        def killed(*args: object) -> None:
            if begun:
                run_tool(*args)  # type: ignore[arg-type]
            raise SystemExit(137)

        with monkeypatch.context() as crash:
            crash.setattr(parts, "run_tool", killed)
            crash.setattr(transaction, "_rolled_back", lambda *_: SystemExit(137))
            stage.run(Typed("rocmcfg apply --set amdgpu.runpm=0 --yes -q --root host"))
        assert (place / "host/etc/rocmcfg/kernel-arguments").exists()
        assert stage.run(Typed("rocmcfg recover --root host")).code == 0
        assert not (place / "host/etc/rocmcfg").exists()
        said = stage.run(Typed("rpm-ostree kargs"))
        assert "amdgpu.runpm" not in said.out
        assert said.code == 0
