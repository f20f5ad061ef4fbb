"""Each backend keeps its contract: mypy compares the modules with the protocols, in this very file."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from rocmcfg.backends import edits, initramfs, marked_lines
from rocmcfg.backends.boot import (
    appended_assignment,
    bootc,
    grub,
    grub_bls,
    grub_mkconfig,
    kernelstub,
    limine,
    marked_arguments,
    proxmox_boot_tool,
    refind,
    registry,
    rpm_ostree,
    sdboot_manage,
    sdbootutil,
    systemd_boot,
    uki,
)
from rocmcfg.backends.boot.chain import Chain, EntryChain
from rocmcfg.backends.boot.contract import PROGRAMS, BootReader, Keeper
from rocmcfg.backends.initramfs import Generator, dracut, initramfs_tools, mkinitcpio
from rocmcfg.host.local import LocalHost
from rocmcfg.model.edit import Editor
from rocmcfg.planning.owned import owned_files, owned_paths
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
    assert {*PROGRAMS} <= {*registry.NAMES}
    assert initramfs.backends() == GENERATORS
    assert tuple(map(registry.argument_keeper, registry.KEEPERS)) == KEEPERS
    packages = (grub, grub_mkconfig, limine, uki, systemd_boot, sdboot_manage, grub_bls, refind)
    assert all(
        one.__doc__ for one in (*packages, bootc, rpm_ostree, sdbootutil, kernelstub, proxmox_boot_tool)
    )
    assert {path for one in BACKENDS for path in one.OWNED} >= {*edits.EDITORS} - {"/etc/environment"}
    assert {*edits.EDITORS.values()} == {*EDITORS}
    assert tuple(map(registry.writer, registry.WRITERS)) == WRITERS


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


def test_what_takes_all_back_without_python_knows_no_loader() -> None:
    """Each declares what a shell has to look for and to run, and the script is told of those in force."""
    folder = SOURCE / "rocmcfg/transaction/templates"
    texts = [path.read_text() for path in folder.glob("undo*.sh.j2")]
    assert len(texts) == 3
    programs = {keeper.TOOL for keeper in registry.keepers()} | {one.TOOL for one in GENERATORS}
    for name in {*registry.NAMES, *programs}:
        assert not any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for text in texts), name


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda one: one.NAME)
def test_it_declares_what_an_undo_by_a_shell_looks_for(backend: Chain) -> None:
    nothing = LocalHost("/nonexistent")
    traces = backend.traces(nothing)
    assert traces.mount_points
    written = backend.NAME in registry.WRITERS
    assert bool(traces.shown) == written, "an entry that we wrote must be seen before anything is taken away"
    patterns = (*traces.entries, *traces.shown, *traces.own, *traces.images)
    assert all(pattern.startswith("/") for pattern in patterns)
    assert all(maker.program for maker in backend.makers(nothing))


@pytest.mark.parametrize("loader", ["one", "other"])
def test_two_loaders_that_read_one_file_do_not_take_it_from_each_other(
    monkeypatch: pytest.MonkeyPatch, loader: str
) -> None:
    def named(name: str) -> SimpleNamespace:
        return SimpleNamespace(
            NAME=name, TRIAL=None, propose=lambda _, settings: {"/etc/x": b"ours" if settings else None}
        )

    monkeypatch.setattr(registry, "backends", lambda: (named("one"), named("other")))
    found = owned_files(LocalHost("/nonexistent"), loader, (), SETTINGS)
    assert [file.content for file in found if file.path == "/etc/x"] == [b"ours"]
