"""Each backend keeps its contract: mypy compares the modules with the protocols, in this very file."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from rocmcfg import initramfs
from rocmcfg.change.planning.owned import owned_files, owned_paths
from rocmcfg.files import marked_lines
from rocmcfg.host.local import LocalHost
from rocmcfg.initramfs import Generator, dracut, initramfs_tools, mkinitcpio
from rocmcfg.loaders import (
    registry,
)
from rocmcfg.loaders.shared import appended_assignment, marked_arguments
from rocmcfg.loaders.shared.chain import Chain
from rocmcfg.model.edit import Editor
from rocmcfg.state import edits
from tests.support.program import SOURCE
from tests.support.settings import SETTINGS

BACKENDS = registry.backends()
EDITORS: tuple[Editor, ...] = (appended_assignment, marked_arguments, marked_lines)
GENERATORS: tuple[Generator, ...] = (
    initramfs_tools.GENERATOR,
    dracut.GENERATOR,
    mkinitcpio.GENERATOR,
)


def test_the_registry_has_every_folder_and_knows_what_it_is_by_its_class() -> None:
    folders = [path.parent for path in (SOURCE / "rocmcfg/loaders").glob("*/__init__.py")]
    named = {folder.name.replace("_", "-") for folder in folders} - {"shared"}
    assert {backend.NAME for backend in BACKENDS} == {*registry.NAMES} == named
    assert all(isinstance(backend, Chain) for backend in BACKENDS)
    assert all(sys.modules[type(backend).__module__].__doc__ for backend in BACKENDS)
    assert {chain.NAME for chain in registry.argument_keepers()} == {"bootc", "kernelstub", "rpm-ostree"}
    written = {"grub-bls", "limine", "refind", "sdboot-manage", "systemd-boot", "uki"}
    assert {name for name in registry.NAMES if registry.entry_writer(name) is not None} == written
    assert initramfs.backends() == GENERATORS
    assert {*edits.editors().values()} == {*EDITORS}


def test_what_is_left_of_a_loader_that_is_gone_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new_loader").mkdir()
    (tmp_path / "new_loader/__init__.py").touch()
    (tmp_path / "gone/__pycache__").mkdir(parents=True)
    monkeypatch.setattr(registry, "__file__", str(tmp_path / "registry.py"))
    assert registry.names() == ("new-loader",)


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
    folder = SOURCE / "rocmcfg/change/transaction/templates"
    texts = [path.read_text() for path in folder.glob("*undo*.sh.j2")]
    assert len(texts) == 3
    programs = {keeper.TOOL for keeper in registry.keepers()} | {generator.TOOL for generator in GENERATORS}
    for name in {*registry.NAMES, *programs}:
        assert not any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for text in texts), name


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda one: one.NAME)
def test_it_declares_what_an_undo_by_a_shell_looks_for(backend: Chain) -> None:
    nothing = LocalHost("/nonexistent")
    traces = backend.traces(nothing)
    assert traces.mount_points
    written = registry.entry_writer(backend.NAME) is not None
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
            NAME=name,
            OWNED={"/etc/x": None},
            TRIAL=None,
            propose=lambda _, settings: {"/etc/x": b"ours" if settings else None},
        )

    monkeypatch.setattr(registry, "backends", lambda: (named("one"), named("other")))
    found = owned_files(LocalHost("/nonexistent"), loader, (), SETTINGS)
    assert [file.content for file in found if file.path == "/etc/x"] == [b"ours"]
