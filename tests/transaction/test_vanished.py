"""A record that vanishes while a transaction is at work, and what a kill leaves beside the saved files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.host.atomic import temp_name
from rocmcfg.host.local import LocalHost
from rocmcfg.records import journal
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg
from tests.support.trees import tree

SET = ("--set", "amdgpu.runpm=0", "--any-gpu", "--yes")
_REMOVES = """#!/bin/sh
rm -rf "$1/var/lib/rocmcfg"
if [ -e "$1/made" ]; then added=; else added=' amdgpu.runpm=0'; fi
sed "s/quiet/quiet$added/" "$1/menu" >"$1/boot/grub/grub.cfg"
touch "$1/made"
"""


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """Its update-grub removes our records; the second time it makes the menu of what it finds then."""
    root = debian_grub_host(tmp_path)
    tool = tmp_path / "tools/update-grub"
    tool.parent.mkdir()
    tool.write_text(_REMOVES)
    tool.chmod(0o755)
    (root / "menu").write_bytes((root / "boot/grub/grub.cfg").read_bytes())
    return root


def test_files_come_back_and_the_loss_is_said(host: Path, tmp_path: Path) -> None:
    before = tree(host, state=False)
    done = rocmcfg("apply", *SET, "--root", host, "--json", tools=tmp_path / "tools")
    assert (done.code, done.ids[0]) == (5, "RC4044")
    (host / "made").unlink()
    changed = {path: entry for path, entry in tree(host, state=False).items() if before.get(path) != entry}
    assert not {path for path in changed if "rocmcfg" in path}, done.err
    assert (host / "boot/grub/grub.cfg").read_bytes() == (host / "menu").read_bytes()
    assert "undo.sh" in done.document["diagnostics"][0]["hint"]


def test_what_somebody_else_wrote_meanwhile_is_named_and_stays(host: Path, tmp_path: Path) -> None:
    tool = tmp_path / "tools/update-grub"
    drop_in = "etc/default/grub.d/zz-rocmcfg.cfg"
    tool.write_text(tool.read_text() + f'echo "# mine" >>"$1/{drop_in}"\n')
    done = rocmcfg("apply", *SET, "--root", host, "--json", tools=tmp_path / "tools")
    assert (done.code, done.ids[0]) == (5, "RC4044")
    assert f"  /{drop_in}" in done.document["diagnostics"][0]["detail"]
    assert (host / drop_in).read_text().endswith("# mine\n")


@pytest.mark.parametrize("with_menu", [True, False])
def test_an_undo_whose_record_vanishes_names_the_loss_and_what_is_left_to_do(
    host: Path, tmp_path: Path, *, with_menu: bool
) -> None:
    """It named `rocmcfg recover`, which knows of no transaction then."""
    (tmp_path / "none").mkdir()
    assert rocmcfg("apply", *SET, "--root", host, tools=tmp_path / "none").code == 0
    if not with_menu:
        (tmp_path / "tools/update-grub").write_text('#!/bin/sh\nrm -rf "$1/var/lib/rocmcfg"\n')
    undone = rocmcfg("rollback", "--yes", "--root", host, "--json", tools=tmp_path / "tools")
    assert (undone.code, undone.ids) == (5, ["RC4044"])
    assert "run these programs again: update-grub" in undone.document["diagnostics"][0]["detail"]
    assert not (host / "etc/default/grub.d/zz-rocmcfg.cfg").exists()


def test_what_a_kill_left_beside_the_saved_files_goes_with_the_recovery(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    assert rocmcfg("apply", *SET, "--root", root).code == 0
    saved = Path(f"{root}{journal.folder(1)}/backups")
    left = saved / Path(temp_name("/x/" + "0" * 64)).name
    left.write_bytes(b"half")
    assert left.name.startswith(".")
    kept = {path.name for path in saved.iterdir()} - {left.name}
    assert rocmcfg("rollback", "--yes", "--root", root).code == 0
    assert not left.exists()
    assert kept <= {path.name for path in saved.iterdir()}, "what was saved stays for the history"
    assert LocalHost(str(root)).names(journal.folder(1) + "/backups") == tuple(sorted(kept))
