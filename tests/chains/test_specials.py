"""No loader gets an argument that it, or a program before it, would not hand on as it is."""

from __future__ import annotations

import string
from pathlib import Path

import pytest

from rocmcfg.loaders.shared import specials
from rocmcfg.loaders.shared.chain import Chain
from rocmcfg.model.spelling import SAFE_VALUE
from tests.chains.test_contracts import BACKENDS
from tests.support import grub_script
from tests.support.hosts import other_host
from tests.support.program import rocmcfg

PUNCTUATION = [c for c in string.punctuation if SAFE_VALUE.match(c)]
# where GRUB may read what is written
READ_BY_GRUB = {"grub", "grub-mkconfig", "grub-bls", "rpm-ostree", "bootc", "sdbootutil", "proxmox-boot-tool"}
VIRTUAL_DISPLAY = "amdgpu.virtual_display=0000:03:00.0,1;0000:04:00.0,1"


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda one: one.NAME)
def test_a_semicolon_is_refused_wherever_grub_may_read_it(backend: Chain) -> None:
    found = list(specials.not_handed_on(backend.SPECIAL, ["iommu=pt;normal"], "FILE"))
    assert [one.id for one in found] == (["RC3108"] if backend.NAME in READ_BY_GRUB else [])


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda one: one.NAME)
@pytest.mark.parametrize("text", ["\n", '"', " "])
def test_every_loader_refuses_what_ends_an_argument(backend: Chain, text: str) -> None:
    assert list(specials.not_handed_on(backend.SPECIAL, [f"a=1{text}b"], "FILE"))


def test_what_refind_replaces_is_refused_there() -> None:
    (refind,) = (one for one in BACKENDS if one.NAME == "refind")
    (found,) = specials.not_handed_on(refind.SPECIAL, ["a=x-%v"], "FILE")
    assert found.summary == "a=x-%v: rEFInd reads “%v” as the version of the kernel"
    assert not [*specials.not_handed_on(refind.SPECIAL, ["a=50%"], "FILE")]


def test_grub_hands_on_every_character_that_is_not_declared_special(tmp_path: Path) -> None:
    declared = {one.text for one in specials.GRUB}
    plain = [f"a=1{c}2" for c in PUNCTUATION if c not in declared]
    assert grub_script.words(plain, tmp_path) == [[text] for text in plain]


def test_grub_does_not_hand_on_any_that_is_declared_special(tmp_path: Path) -> None:
    for number, one in enumerate(specials.GRUB):
        text, folder = f"a=1{one.text}2", tmp_path / str(number)
        folder.mkdir()
        valid = grub_script.is_valid(f"linux /vmlinuz {text}\n", folder)
        if not valid or one.text == "\n" or one.text in "{}":
            continue  # no menu at all, or a block that only some commands take
        assert grub_script.words([text], folder) != [[text]], one


def test_a_profile_cannot_give_grub_a_command_by_an_entry_of_fedora(tmp_path: Path) -> None:
    root = other_host(tmp_path, "fedora-bls")
    entries = {path: path.read_bytes() for path in (root / "boot/loader/entries").iterdir()}
    for given in ("karg.iommu=pt;prefix=/home/intruder/g;normal", VIRTUAL_DISPLAY):
        done = rocmcfg("apply", "--root", str(root), "--set", given, "--any-gpu", "--yes")
        assert "RC3108" in done.err, done.out
        assert done.code == 1
    assert entries == {path: path.read_bytes() for path in entries}


def test_a_value_that_grub_would_not_hand_on_goes_to_modprobe_d(tmp_path: Path) -> None:
    root = other_host(tmp_path, "fedora-bls")
    done = rocmcfg("plan", "--root", str(root), "--set", VIRTUAL_DISPLAY, "--any-gpu", "--via", "modprobe")
    assert "RC3108" not in done.err
    assert done.code == 0
