"""This machine's own grub-mkconfig makes of each host what the stand-in makes of it: the same arguments for
the same kernels, wherever a case has it run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders import detection
from rocmcfg.loaders.shared.menu import Role
from tests.support.boots import MENUS
from tests.support.real_mkconfig import Mkconfig

from .case import cases, read, steps

_GENERATORS = ("update-grub", "grub-mkconfig", "grub2-mkconfig")
Entries = dict[tuple[str, bool], set[tuple[str, ...]]]


def _generates(folder: Path) -> bool:
    tools = folder / "tools.txt"
    return tools.exists() and any(name in tools.read_text() for name in _GENERATORS)


pytestmark = [pytest.mark.bulk, pytest.mark.slow]
FOLDERS = {name: folder for name, folder in cases().items() if _generates(folder)}


@pytest.mark.parametrize("name", FOLDERS)
def test_the_real_program_makes_the_same_entries(name: str, tmp_path: Path) -> None:
    for number, (root, said) in enumerate(steps(read(FOLDERS[name]))):
        if said.code or not any(argv.split()[0] in _GENERATORS for argv in said.ran):
            continue
        copy = tmp_path / str(number)
        shutil.copytree(root, copy, symlinks=True)
        menu = next(name for name in MENUS if (copy / name).exists())
        Mkconfig(copy, drop_ins=name.startswith("grub/")).run(menu)
        real, fake = entries(copy), entries(root)
        assert {key: real.get(key) for key in fake} == fake
        assert {path for path, _ in real} == {path for path, _ in fake}


def entries(root: Path) -> Entries:
    """Arguments by kernel, and by whether the entry is for recovery; 10_linux adds root= itself."""
    found: Entries = {}
    reader = detection.reader_on(LocalHost(str(root)))
    assert reader is not None
    for entry in reader.read(LocalHost(str(root))).entries:
        if entry.role is not Role.FOREIGN:
            texts = tuple(k.text for k in entry.kargs)
            left = tuple(text for text in texts if not text.startswith("root=") and text not in ("ro", "rw"))
            found.setdefault((entry.path, entry.role is Role.RECOVERY), set()).add(left)
    return found
