"""undo.sh where rocmcfg left the boot menu to the user, who has made it since."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, rocmcfg
from tests.support.tools import require_tool


@pytest.mark.parametrize("shell", [("dash",), ("busybox", "sh"), ("bash", "--posix")], ids=" ".join)
def test_the_menu_is_due_although_rocmcfg_never_made_it(tmp_path: Path, shell: tuple[str, ...]) -> None:
    """`return` alone hands on the status of whatever came before: dash took our own drop-in for none."""
    require_tool(shell[0], shell[0])
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))
    applied = rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes")
    assert "Left to you" in applied.out
    undone = subprocess.run(
        [*shell, str(SOURCE / "packaging/undo.sh"), "--root", str(root)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert undone.returncode == 1, undone.stdout
    assert "  update-grub\n" in undone.stderr
    assert f"do sudo mount --rbind /$d {root}/$d" in undone.stderr
    assert undone.stderr.rstrip().endswith(f"undo.sh --root {root}"), "and not the rescue system's own"
    assert "reboot" not in undone.stdout
    assert not (root / "etc/default/grub.d/zz-rocmcfg.cfg").exists()


def test_it_says_how_it_is_used(tmp_path: Path) -> None:
    told = subprocess.run(
        ["sh", str(SOURCE / "packaging/undo.sh"), "--help"], capture_output=True, text=True, check=True
    )
    assert told.stdout.startswith("Undoes what rocmcfg applied")
    assert told.stdout.rstrip().splitlines()[-1].startswith("  --root DIR")
