"""Quotes that make another setting of one, or none: what GRUB, kmod and the kernel make of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import rocmcfg

DEFAULTS = "GRUB_CMDLINE_LINUX_DEFAULT="


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("etc/modprobe.d/a.conf", 'options amdgpu ppfeaturemask="0xfff7ffff\n', "a quote is not closed"),
        ("etc/modprobe.d/a.conf", 'options amdgpu "runpm"=0\n', "is part of the name"),
        ("etc/modprobe.d/a.conf", "options amdgpu runpm=0 -- dpm=1\n", "drops everything after"),
        ("etc/kernel/cmdline", 'root=/dev/sda1 "amdgpu.runpm"=0\n', "is part of the name"),
        ("boot/loader/entries/a.conf", 'linux /vmlinuz\noptions root=/dev/sda1 foo="bar\n', "not closed"),
        ("etc/default/grub", f'{DEFAULTS}"quiet\namdgpu.runpm=0"\n', "a line break ends the command"),
        ("etc/default/grub", f'{DEFAULTS}"quiet amdgpu.runpm=\'0"\n', "a single quote is not closed"),
        ("etc/default/grub", f'{DEFAULTS}"quiet;amdgpu.runpm=0"\n', "a semicolon ends the command"),
    ],
)
def test_what_a_quote_or_a_sign_does_is_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = rocmcfg("lint", str(path))
    assert "warning: syntax" in done.out, done.out + done.err
    assert said in " ".join(done.out.split()), done.out


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("etc/kernel/cmdline", 1),
        ("etc/kernel/cmdline.d/50-own.conf", 1),
        ("proc/cmdline", 0),  # what the kernel got
        ("boot/cmdline.txt", 0),
    ],
)
def test_a_semicolon_in_what_entries_are_made_of_is_noted(tmp_path: Path, name: str, notes: int) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text("root=/dev/sda1 amdgpu.virtual_display=0000:03:00.0,1;0000:04:00.0,1\n")
    findings = rocmcfg("lint", "--json", str(path)).document["findings"]
    assert [finding["severity"] for finding in findings if finding["id"] == "RC7118"] == ["info"] * notes


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("etc/default/grub", f"{DEFAULTS}\"quiet amdgpu.ppfeaturemask='0xfff7ffff'\"\n"),
        ("etc/default/grub", f'{DEFAULTS}"quiet amdgpu.ppfeaturemask=\\\\0xfff7ffff"\n'),
        (
            "boot/grub/grub.cfg",
            "menuentry 'x' {\n  linux /vmlinuz quiet amdgpu.ppfeaturemask='0xfff7ffff'\n}\n",
        ),
        ("boot/grub/grub.cfg", "menuentry 'x' {\n  linux /vmlinuz \"amdgpu.ppfeaturemask=0xfff7ffff\"\n}\n"),
    ],
)
def test_quotes_that_grub_takes_away_are_no_fault(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = rocmcfg("lint", "--json", str(path))
    assert not [one for one in done.document["findings"] if one["severity"] == "error"], done.out
    assert not [one for one in done.document["findings"] if one["id"] == "RC7118"], done.out
    assert "amdgpu.ppfeaturemask=0xfff7ffff turns overdrive on" in done.out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("etc/modprobe.d/a.conf", 'options amdgpu runpm=0"1"\n'),
        ("etc/kernel/cmdline", 'root=/dev/sda1 amdgpu.runpm=0"1"\n'),
    ],
)
def test_a_quote_inside_of_a_value_stays_in_it(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = rocmcfg("lint", "--json", str(path))
    (found,) = (one for one in done.document["findings"] if one["id"] == "RC7103")
    assert found["severity"] == "error", "amdgpu does not load with it"
