"""What a trial writes, held against the programs that read it: the shell, GRUB's parser, grub-editenv."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.grub import BACKEND, TRIAL_DROP_IN
from rocmcfg.loaders.shared.contract import Observed
from rocmcfg.loaders.shared.grub_files.environment_block import GRUB
from rocmcfg.loaders.shared.grub_files.trial import SCRIPT
from rocmcfg.loaders.shared.menu import Menu
from tests.support.tools import require_tool

NOTHING = Observed(Menu((), "", "", "", "", ""), (), (), ())


def written(tmp_path: Path) -> dict[str, Path]:
    found = {}
    for path, (content, mode) in BACKEND.TRIAL.propose(LocalHost(str(tmp_path)), NOTHING, ()).items():
        assert content is not None
        place = tmp_path / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(mode)
        found[path] = place
    return found


def test_what_the_script_prints_is_grub_s_language(tmp_path: Path) -> None:
    script = written(tmp_path)[SCRIPT]
    printed = subprocess.run([script], capture_output=True, text=True, check=True).stdout
    check = require_tool("grub-script-check", "grub-common")
    assert subprocess.run([check], input=printed, text=True, check=False).returncode == 0
    assert subprocess.run([check], input=printed.replace("fi", "f"), text=True, check=False).returncode
    shellcheck = require_tool("shellcheck", "shellcheck")
    assert subprocess.run([shellcheck, script], check=False).returncode == 0


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_the_drop_in_adds_the_variable_and_not_its_value(tmp_path: Path, shell: str) -> None:
    place = written(tmp_path)[TRIAL_DROP_IN]
    before = "set -e; rocmcfg_trial=wrong; GRUB_CMDLINE_LINUX_DEFAULT=quiet"
    text = f'{before}; . {place}; printf %s "$GRUB_CMDLINE_LINUX_DEFAULT"'
    done = subprocess.run(
        [require_tool(shell, shell), "-c", text], capture_output=True, text=True, check=True
    )
    assert done.stdout == "quiet $rocmcfg_trial"


@pytest.mark.parametrize("locale", ["C.UTF-8", "en_US.UTF-8"])
def test_it_is_read_after_what_is_applied(locale: str) -> None:
    names = "zz-rocmcfg.cfg\nzzz-rocmcfg-trial.cfg\n99-site.cfg\n"
    done = subprocess.run(
        ["sort"],
        input=names,
        capture_output=True,
        text=True,
        check=True,
        env={"LC_ALL": locale, "PATH": "/bin:/usr/bin"},
    )
    assert done.stdout.split()[-2:] == ["zz-rocmcfg.cfg", "zzz-rocmcfg-trial.cfg"]


@pytest.mark.parametrize("old", [None, "", "old=1"])
def test_the_room_in_the_block_is_what_grub_editenv_finds(tmp_path: Path, old: str | None) -> None:
    """To the byte: the longest text that we allow is taken, one more is refused by both."""
    editenv = require_tool("grub-editenv", "grub-common")
    block = tmp_path / "boot/grub/grubenv"
    block.parent.mkdir(parents=True)
    if old is not None:
        subprocess.run([editenv, block, "set", "saved_entry=gnulinux", f"rocmcfg_next={old}"], check=True)
    view = LocalHost(str(tmp_path))

    def refused(length: int) -> bool:
        return any(d.id == "RC4306" for d in BACKEND.TRIAL.problems(view, NOTHING, ["x" * length]))

    longest = max(length for length in range(1024) if not refused(length))
    assert longest > 850
    for length, taken in ((longest + 1, False), (longest, True)):
        done = subprocess.run(
            [editenv, block, "set", f"rocmcfg_next={'x' * length}"], capture_output=True, check=False
        )
        assert (done.returncode == 0) is taken
    assert GRUB.held(view) == "x" * longest


def test_a_block_that_is_a_link_is_refused(tmp_path: Path) -> None:
    block = tmp_path / "boot/grub/grubenv"
    block.parent.mkdir(parents=True)
    block.symlink_to("../elsewhere")
    assert "RC4304" in [d.id for d in BACKEND.TRIAL.problems(LocalHost(str(tmp_path)), NOTHING, ["x"])]
