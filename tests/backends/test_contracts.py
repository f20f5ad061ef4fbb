"""Each backend keeps its contract: mypy compares the modules with the protocols, in this very file."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from rocmcfg import images as initramfs
from rocmcfg.files import marked_lines
from rocmcfg.host.local import LocalHost
from rocmcfg.images import Generator, dracut, initramfs_tools, mkinitcpio
from rocmcfg.loaders import (
    bootc,
    grub,
    grub_bls,
    grub_mkconfig,
    kernelstub,
    limine,
    proxmox_boot_tool,
    refind,
    registry,
    rpm_ostree,
    sdboot_manage,
    sdbootutil,
    systemd_boot,
    uki,
)
from rocmcfg.loaders.shared import appended_assignment, loader_entries, marked_arguments
from rocmcfg.loaders.shared.chain import Chain, EntryChain
from rocmcfg.loaders.shared.contract import BootReader, Keeper
from rocmcfg.model.edit import Editor
from rocmcfg.planning.owned import owned_files, owned_paths
from rocmcfg.state import edits
from tests.backends.settings import SETTINGS
from tests.support.program import SOURCE

BACKENDS: tuple[Chain, ...] = (
    grub.BACKEND,
    grub_mkconfig.BACKEND,
    limine.BACKEND,
    uki.BACKEND,
    systemd_boot.BACKEND,
    sdboot_manage.BACKEND,
    grub_bls.BACKEND,
    refind.BACKEND,
    bootc.BACKEND,
    rpm_ostree.BACKEND,
    sdbootutil.BACKEND,
    kernelstub.BACKEND,
    proxmox_boot_tool.BACKEND,
)
KEEPERS: tuple[Keeper, ...] = (bootc.BACKEND, rpm_ostree.BACKEND, kernelstub.BACKEND)
EDITORS: tuple[Editor, ...] = (appended_assignment, marked_arguments, marked_lines)
WRITERS: tuple[EntryChain, ...] = (
    limine.BACKEND,
    uki.BACKEND,
    systemd_boot.BACKEND,
    sdboot_manage.BACKEND,
    grub_bls.BACKEND,
    refind.BACKEND,
)
GENERATORS: tuple[Generator, ...] = (
    initramfs_tools.GENERATOR,
    dracut.GENERATOR,
    mkinitcpio.GENERATOR,
)


def test_what_the_registry_hands_out_is_what_mypy_saw() -> None:
    assert registry.backends() == BACKENDS
    readers: tuple[BootReader | None, ...] = BACKENDS
    assert tuple(map(registry.reader, registry.NAMES)) == readers
    assert initramfs.backends() == GENERATORS
    assert registry.argument_keepers() == KEEPERS
    packages = (grub, grub_mkconfig, limine, uki, systemd_boot, sdboot_manage, grub_bls, refind)
    assert all(
        one.__doc__ for one in (*packages, bootc, rpm_ostree, sdbootutil, kernelstub, proxmox_boot_tool)
    )
    assert {*edits.editors().values()} == {*EDITORS}
    assert tuple(map(registry.writer, filter(registry.writes_entries, registry.NAMES))) == WRITERS


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda one: one.NAME)
def test_it_proposes_just_the_paths_that_it_declares(backend: Chain) -> None:
    nothing = LocalHost("/nonexistent")
    for settings in (SETTINGS, ()):
        proposed = backend.propose(nothing, settings)
        assert {*proposed} == {*backend.OWNED} == {*registry.paths(backend.NAME)}
        assert any(proposed.values()) == bool(settings)  # not all: what is to be used depends on the host


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda one: one.NAME)
def test_a_generator_proposes_just_its_own_files_and_has_one_step_of_its_name(generator: Generator) -> None:
    for wanted in (True, False):
        proposed = generator.propose(wanted=wanted)
        assert {*proposed} == {*generator.propose(wanted=not wanted)} <= {*owned_paths()}
        assert all((content is not None) == wanted for content in proposed.values())
    (step,) = generator.activations(LocalHost("/nonexistent"), "why")
    assert (step.tool, step.reason) == (generator.TOOL, "why")


def test_what_takes_all_back_without_python_knows_every_place_and_every_mark() -> None:
    """packaging/undo.sh, which the packages leave behind: what it does not know would stay on a host."""
    script = (SOURCE / "packaging/undo.sh").read_text()
    found = re.findall(r"^([A-Z_]+)=(?:'([^']*)'|(\S+))$", script, re.MULTILINE)
    said = {name: quoted or word for name, quoted, word in found}
    edited = {*edits.editors()}
    comment, _, _ = appended_assignment.lines("X", "a=1").decode().partition("\n")
    begin, *_, end = marked_lines.part("").decode().splitlines()
    whole = {path for path in owned_paths() if path not in edits.editors()}
    assert edited == {*owned_paths()} - whole
    assert {*said["OWNED"].splitlines()} == whole
    assert {*said["EDITED"].splitlines()} == edited
    assert (*said["PARTITIONS"].splitlines(),) == loader_entries.PARTITIONS
    assert (said["NEXT_LINE"], said["LINES"], said["LINES_END"]) == (comment, begin, end)
    assert (said["BEGIN"], said["END"]) == (marked_arguments.BEGIN, marked_arguments.END)
    written = filter(registry.writes_entries, registry.NAMES)
    for name in {*written, *(keeper.TOOL for keeper in registry.keepers())}:
        assert re.search(rf"[ ({{]{name.removesuffix('-editenv')}[ );|]", script), name


@pytest.mark.parametrize("loader", ["one", "other"])
def test_two_loaders_that_read_one_file_do_not_take_it_from_each_other(
    monkeypatch: pytest.MonkeyPatch, loader: str
) -> None:
    def named(name: str) -> SimpleNamespace:
        return SimpleNamespace(
            NAME=name,
            OWNED={"/etc/x": None},
            TRIAL=None,
            propose=lambda _, settings: {"/etc/x": b"ours" if settings else None},
        )

    monkeypatch.setattr(registry, "backends", lambda: (named("one"), named("other")))
    found = owned_files(LocalHost("/nonexistent"), loader, (), SETTINGS)
    assert [file.content for file in found if file.path == "/etc/x"] == [b"ours"]
