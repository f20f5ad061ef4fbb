"""Nothing is written behind a quote that somebody left open: the kernel would take ours for its value."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.support import recorded
from tests.support.program import SOURCE, rocmcfg
from tests.support.trees import tree

CASES = SOURCE / "tests/cases"
BOOTED = "root=UUID=3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3+rw"
REFIND = f"machine kernels=6.17.9-arch1-1 booted_with={BOOTED}"
SDBOOT_MANAGE = f"machine kernels=6.17.9-2-cachyos booted_with={BOOTED} loader_info=systemd-boot+258.2-2-arch"
GRUB = "GRUB_CMDLINE_LINUX_DEFAULT"
# the host, a tree of a case over it, the file, what is written there, and in place of what
PLACES = [
    ("arch-systemd-boot", "", "boot/loader/entries/*.conf", r"(?m)^(options .*)$", r'\1 foo="bar'),
    ("arch-systemd-boot", "", "etc/kernel/cmdline", r"\Z", 'root=/dev/sda2 foo="bar\n'),
    ("fedora-bls", "", "boot/loader/entries/*-[1-9]*.conf", r"(?m)^(options .*)$", r'\1 foo="bar'),
    ("fedora-bls", "", "boot/loader/entries/*-[1-9]*.conf", r"(?m)^(options .*)$", r"\1 foo='bar"),
    ("fedora-bls", "", "etc/kernel/cmdline", r"\n\Z", ' foo="bar\n'),
    ("limine", "", "**/limine.conf", r"(?m)^( *cmdline: .*)$", r'\1 foo="bar'),
    (REFIND, "refind/trees/arch", "boot/refind_linux.conf", r'"\n', ' foo=""bar"\n'),
    (
        SDBOOT_MANAGE,
        "sdboot-manage/trees/cachyos",
        "etc/sdboot-manage.conf",
        r"\Z",
        "\nLINUX_OPTIONS='foo=\"bar'\n",
    ),
    ("popos", "", "etc/kernelstub/configuration", r'"quiet"', r'"foo=\\"bar"'),
    ("debian", "", "etc/default/grub", r"\Z", f"\n{GRUB}='quiet foo=\"bar'\n"),
    ("debian", "", "etc/default/grub", r"\Z", f'\n{GRUB}="quiet foo=\'bar"\n'),
    ("debian", "", "etc/default/grub", r"\Z", f"\n{GRUB}='quiet foo=\\\\\"bar'\n"),
]


@pytest.mark.parametrize(("host", "over", "pattern", "old", "new"), PLACES)
def test_an_open_quote_is_named_with_its_line_and_nothing_is_written(
    tmp_path: Path, host: str, over: str, pattern: str, old: str, new: str
) -> None:
    recorded.build(host, tmp_path)
    root = tmp_path / "host"
    if over:
        shutil.copytree(CASES / over, root, symlinks=True, dirs_exist_ok=True)
    paths = [path for path in root.glob(pattern) if path.is_file()] or [root / pattern]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text() if path.exists() else ""
        path.write_text(re.sub(old, new, text))
        assert path.read_text() != text
    before = tree(root)
    done = rocmcfg("apply", "--root", root, "--set", "karg.iommu=pt", "--any-gpu", "--yes")
    assert done.code == 1, done.out + done.err
    assert re.search(r"error\[RC317[02]\]", done.err), done.out + done.err
    assert any(re.search(rf"at /{re.escape(str(p.relative_to(root)))}(:\d+)?\n", done.err) for p in paths), (
        done.err
    )
    assert tree(root) == before


def test_an_open_quote_in_an_image_is_no_line_of_it(tmp_path: Path) -> None:
    recorded.build("uki-dracut", tmp_path)
    (image,) = (tmp_path / "host/efi/EFI/Linux").glob("*.efi")
    content = image.read_bytes()
    assert content.count(b" quiet") == 1
    image.write_bytes(content.replace(b" quiet", b' q="it'))
    done = rocmcfg("apply", "--root", tmp_path / "host", "--set", "karg.iommu=pt", "--any-gpu", "--yes")
    assert f"  at /efi/EFI/Linux/{image.name}\n" in done.err
    assert "rebuild it" in done.err


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("quiet splash\namdgpu.runpm=0", "a line break ends the command"),
        ("quiet; normal", "a semicolon ends the command"),
        ("quiet # old", "a comment begins"),
        ("quiet a={b}", "is a special character of its script"),
        ("quiet a$ b", "begins the name of a variable"),
    ],
)
def test_what_the_menu_would_cut_off_is_told_before_update_grub_runs(
    tmp_path: Path, value: str, said: str
) -> None:
    recorded.build("debian", tmp_path)
    with (tmp_path / "host/etc/default/grub").open("a") as file:
        file.write(f"\n# mine\n{GRUB}='{value}'\n")
    done = rocmcfg("plan", "--root", tmp_path / "host", "--set", "karg.iommu=pt", "--any-gpu")
    assert done.code == 1
    assert "error[RC3172]" in done.err
    assert said in " ".join(done.err.split())
    assert "at /etc/default/grub:" in done.err
    assert "RC3105" not in done.err


@pytest.mark.parametrize("quoted", ["'0xfff7ffff'", r"\0xfff7ffff", r"0xfff\7ffff"])
def test_quotes_that_grub_takes_away_are_none_of_the_kernels(tmp_path: Path, quoted: str) -> None:
    """A working setting was called fatal."""
    recorded.build("debian tools", tmp_path)
    root = tmp_path / "host"
    with (root / "etc/default/grub").open("a") as file:
        file.write(f'\n{GRUB}="quiet amdgpu.ppfeaturemask={quoted}"\n'.replace("\\", "\\\\"))
    done = rocmcfg("plan", "--root", root, "--set", "amdgpu.ppfeaturemask=0xfff7ffff", "--any-gpu", "--json")
    assert "RC3017" not in done.ids, done.out
    (row,) = done.document["settings"]
    assert row["outcome"] == "adopted", row


def test_behind_two_dashes_nobody_reads_the_parameter_of_a_driver_that_is_built_in(tmp_path: Path) -> None:
    """kmod reads a module's there, and a driver in the kernel has no kmod."""
    for host, code in (("gentoo-builtin", 1), ("debian", 0)):
        (tmp_path / host).mkdir()
        recorded.build(host, tmp_path / host)
        with (tmp_path / host / "host/etc/default/grub").open("a") as file:
            file.write(f'\n{GRUB}="quiet -- init.arg"\n')
        done = rocmcfg("plan", "--root", tmp_path / host / "host", "--set", "amdgpu.runpm=0", "--any-gpu")
        assert ("error[RC3109]" in done.err, done.code) == (bool(code), code), done.out + done.err


def test_a_quote_around_a_name_sets_no_parameter(tmp_path: Path) -> None:
    recorded.build("arch-systemd-boot", tmp_path)
    root = tmp_path / "host"
    (entry,) = root.glob("boot/loader/entries/*.conf")
    entry.write_text(re.sub(r"(?m)^(options .*)$", r'\1 "amdgpu.runpm"=0', entry.read_text()))
    rows = rocmcfg("status", "--root", root, "--json").document["parameters"]
    assert not [row["name"] for row in rows if "runpm" in row["name"]]


def test_an_open_quote_in_a_line_of_later_kernels_is_the_only_cause_that_is_named(tmp_path: Path) -> None:
    recorded.build("limine", tmp_path)
    root = tmp_path / "host"
    (root / "etc/default/limine").write_text('KERNEL_CMDLINE[default]="quiet\nsplash"\n')
    done = rocmcfg("plan", "--root", root, "--set", "karg.iommu=pt", "--any-gpu", "--json")
    assert [id for id in done.ids if id in ("RC3120", "RC3126", "RC3170")] == ["RC3170"]


def test_a_value_in_the_quotes_of_grub_is_shown_without_them(tmp_path: Path) -> None:
    recorded.build("debian", tmp_path)
    with (tmp_path / "host/etc/default/grub").open("a") as file:
        file.write(f"\n{GRUB}=\"quiet 'amdgpu.runpm=0 1'\"\n")
    done = rocmcfg(
        "plan", "--root", tmp_path / "host", "--set", "amdgpu.cwsr_enable=0", "--any-gpu", "--json"
    )
    (bad,) = (found for found in done.document["diagnostics"] if found["id"] == "RC3017")
    assert bad["summary"].startswith("runpm=0 1 stops amdgpu from loading")
