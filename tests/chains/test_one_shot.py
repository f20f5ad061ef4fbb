"""The second entry of a trial, held against the real bootctl: what it lists, and in which order."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult
from rocmcfg.loaders.shared import one_shot
from rocmcfg.loaders.shared.loader_entries import TRIAL_ID, parse
from tests.support.tools import HANG, require_root, require_tool

from .test_loader_entries import LIST

NAMES = (
    "arch",
    "a",
    "a-a",
    "aa",
    "0b9d3c7e5f18-6.12",
    "Zorin",
    "_x",
    "a-rocmcfg-triam",
    "_-rocmcfg-trial2",
    "fedora-44",
)
ARGUMENTS = ("amdgpu.runpm=0", "panic=10", "rocmcfg.trial=0123abcd")
ENTRY = "title Arch\nlinux /vmlinuz\noptions root=x quiet\n"


class Asked(LocalHost):
    """A host of which only `bootctl list` can be asked."""

    said = ""

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        return CommandResult(tuple(argv), 0, self.said, "")


def listed(tmp_path: Path, texts: dict[str, str], conf: str) -> Asked:
    """What bootctl lists of a partition with these entries."""
    require_root()
    require_tool("bootctl", package="systemd-boot")
    esp = tmp_path / "esp"
    (esp / "loader/entries").mkdir(parents=True)
    (tmp_path / "mounted").mkdir()
    (esp / "loader/loader.conf").write_text(conf)
    for name, text in texts.items():
        (esp / "loader/entries" / f"{name}.conf").write_text(text)
    argv = ["unshare", "--mount", "sh", "-c", LIST, "sh", str(tmp_path / "mounted"), str(esp)]
    view = Asked("/")
    view.said = subprocess.run(argv, capture_output=True, text=True, timeout=HANG, check=True).stdout
    view.said = view.said.replace(str(tmp_path / "mounted"), str(esp))
    return view


@pytest.mark.parametrize("seed", range(12))
def test_of_all_entries_the_trial_is_the_last_choice(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    texts = {}
    for name in chance.sample(NAMES, chance.randrange(1, 6)):
        keys = [f"sort-key {chance.choice('abz')}\n", f"version {chance.choice(('6.1', '6.12.3~rc1', ''))}\n"]
        texts[name] = "".join([ENTRY, *chance.sample(keys, chance.randrange(3))])
    copy = one_shot.copied(chance.choice([*texts.values()]).encode(), ARGUMENTS).decode()
    view = listed(tmp_path, {**texts, TRIAL_ID: copy}, chance.choice(("", "default *\n", "default a*\n")))
    found = one_shot._listed(view)
    assert {entry.id for entry in found} >= {f"{name}.conf" for name in (*texts, TRIAL_ID)}
    assert [entry.id for entry in found if not entry.id.startswith("auto-")][-1] == f"{TRIAL_ID}.conf"
    chosen = one_shot._default(view)
    assert chosen is not None
    assert chosen.id != f"{TRIAL_ID}.conf"


def test_a_pattern_decides_where_bootctl_marks_no_default(tmp_path: Path) -> None:
    view = listed(tmp_path, {"z": ENTRY, "arch": ENTRY, "arch-lts": ENTRY}, "timeout 3\ndefault ARCH*\n")
    chosen = one_shot._default(view)
    assert chosen is not None
    assert chosen.id.startswith("arch")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (ENTRY, "root=x quiet"),
        ("linux /vmlinuz", ""),
        ("options a\nlinux /vmlinuz\nsort-key z\noptions b", "a b"),
    ],
)
def test_the_copy_has_all_arguments_and_the_trial_s_behind_them(text: str, options: str) -> None:
    made = parse("x.conf", one_shot.copied(text.encode(), ARGUMENTS).decode())
    assert made.options == f"{options} {' '.join(ARGUMENTS)}".strip()
    assert made.boots == "/vmlinuz"
    assert "sort-key" not in made.first
