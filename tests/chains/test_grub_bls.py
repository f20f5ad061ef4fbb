"""GRUB that reads entries as files: what of its variables can be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.grub_bls import BACKEND
from tests.support.hosts import make_root

_BLOCK = '# GRUB Environment Block\nx=1\ny=a b\nq="\n'
_MENU = "insmod blscfg\nblscfg\n"


@pytest.mark.parametrize(
    ("options", "kargs"),
    [
        ("ro $y", [("ro", None, False), ("a", None, False), ("b", None, False)]),
        ("m.n=$x", [("m.n=1", "1", False)]),
        ("m.n=0${x}2 $none", [("m.n=012", "012", False)]),
        ("m.n=$none", [("m.n=$none", None, True)]),
        ("m.n=$y", [("m.n=$y", None, True)]),
        ("m.n=$q", [("m.n=$q", None, True)]),
    ],
)
def test_a_variable_of_an_entry_is_put_in_where_the_block_has_it(
    tmp_path: Path, options: str, kargs: list[tuple[str, str | None, bool]]
) -> None:
    entry = f"title x\nversion 6.12.0\nlinux /vmlinuz-6.12.0\noptions {options}\n"
    files = {"boot/grub2/grub.cfg": _MENU, "boot/grub2/grubenv": _BLOCK.ljust(1024, "#")}
    root = make_root(tmp_path, {**files, "boot/loader/entries/x.conf": entry})
    (found,) = BACKEND.read(LocalHost(str(root))).entries
    assert [(karg.text, karg.value, karg.untold) for karg in found.kargs] == kargs


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("options ro\noptions m.n=1;2\n", 5),
        ("options ro m.n='1\noptions quiet\n", 4),
        ("options ro m.n=1&\n", 4),
    ],
)
def test_what_ends_the_command_of_an_entry_is_told_with_its_line(
    tmp_path: Path, options: str, line: int
) -> None:
    entry = f"title x\nversion 6.12.0\nlinux /vmlinuz-6.12.0\n{options}"
    files = {"boot/grub2/grub.cfg": _MENU, "boot/loader/entries/x.conf": entry}
    host = LocalHost(str(make_root(tmp_path, files)))
    refusals = [
        diagnostic
        for diagnostic in BACKEND.preflight(host, BACKEND.observe(host), ())
        if diagnostic.id == "RC3172"
    ]
    assert [diagnostic.location for diagnostic in refusals] == [f"/boot/loader/entries/x.conf:{line}"]
