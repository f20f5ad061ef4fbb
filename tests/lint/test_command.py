"""`rocmcfg lint` as its users meet it: files, the host's own, exit codes, JSON, --fix."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
import shlex
import subprocess
import zlib
from pathlib import Path

import pytest

from rocmcfg.advice.lint.check import Fate
from rocmcfg.model.plan import FileChange
from tests.support.hosts import debian_grub_host, make_root, other_host
from tests.support.program import Result, command, process, rocmcfg, unfolded
from tests.support.tools import require_tool
from tests.support.trees import tree


def _classes(found: Result) -> list[tuple[str, str, str]]:
    return [(f["file"], f["text"], f["class"]) for f in found.document["findings"]]


def _lint(root: Path, *arguments: str | Path) -> Result:
    return rocmcfg("lint", *arguments, "--root", root, "--json")


def test_the_host_s_own_files_are_judged_together(tmp_path: Path) -> None:
    root = debian_grub_host(
        tmp_path,
        cmdline="quiet amdgpu.gfxoff=0 amdgpu.runpm=1",
        grub_d={"a.cfg": 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.runpm=0"\n'},
        modprobe_d={"a.conf": "options amdgpu runpm=2\n", "b.conf": "options amdgpu runpm=0\n"},
        extra={
            "etc/environment": "TORCH_USE_HIPBLASLT=1\n",
            "etc/environment.d/a.conf": "HIP_VISIBLE_DEVICES=0\n",
            "etc/environment.d/b.conf": "HIP_VISIBLE_DEVICES=1\n",
            "etc/profile.d/x.sh": "export HSA_XNACK=$X\nexport HIP_VISIBLE_DEVICES=7\n",
        },
    )
    before = tree(root)
    found = _lint(root)
    assert found.code == 3
    assert sorted(_classes(found)) == [
        ("/etc/default/grub", "amdgpu.gfxoff=0", "unknown"),
        ("/etc/default/grub", "amdgpu.runpm=1", "conflict"),
        ("/etc/environment", "TORCH_USE_HIPBLASLT=1", "unknown"),
        ("/etc/environment.d/a.conf", "HIP_VISIBLE_DEVICES=0", "conflict"),
        ("/etc/modprobe.d/a.conf", "runpm=2", "conflict"),
        ("/etc/modprobe.d/b.conf", "runpm=0", "duplicate"),
    ]
    assert tree(root) == before


@pytest.mark.parametrize(
    ("drop_in", "loser"),
    [
        ('GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX amdgpu.runpm=0"', "grub.d/a.cfg"),
        ('GRUB_CMDLINE_LINUX_DEFAULT="amdgpu.runpm=0 $GRUB_CMDLINE_LINUX_DEFAULT"', "grub.d/a.cfg"),
        ('GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.runpm=0"', "grub"),
        ('GRUB_CMDLINE_LINUX_DEFAULT=""\nGRUB_CMDLINE_LINUX="amdgpu.runpm=0"', "grub"),
    ],
)
def test_of_grub_s_files_the_one_that_loses_is_told(tmp_path: Path, drop_in: str, loser: str) -> None:
    root = debian_grub_host(tmp_path, cmdline="amdgpu.runpm=1", grub_d={"a.cfg": drop_in + "\n"})
    found = [entry for entry in _classes(_lint(root)) if entry[2] == "conflict"]
    assert [file for file, _, _ in found] == [f"/etc/default/{loser}"]


def test_the_running_command_line_is_told_of_where_no_file_has_the_same(tmp_path: Path) -> None:
    root = debian_grub_host(
        tmp_path, cmdline="quiet amdgpu.gfxoff=0", booted_with="amdgpu.gfxoff=0 amd_iommu=pt"
    )
    found = _classes(_lint(root))
    assert ("/proc/cmdline", "amd_iommu=pt", "misspelt") in found
    assert [file for file, text, _ in found if text == "amdgpu.gfxoff=0"] == ["/etc/default/grub"]


@pytest.mark.parametrize(
    ("chain", "entry"),
    [
        ("arch-systemd-boot", "boot/loader/entries/arch.conf"),
        ("limine", "boot/limine.conf"),
        ("fedora-bls", "boot/loader/entries/*-6.17*.conf"),
    ],
)
def test_entries_that_no_program_generates_are_read(tmp_path: Path, chain: str, entry: str) -> None:
    root = other_host(tmp_path, chain)
    assert _classes(_lint(root)) == []
    (path,) = root.glob(entry)
    path.write_text(re.sub(r"\brw\b|\bro\b", r"\g<0> amdgpu.gfxoff=0", path.read_text()))
    assert ("/" + str(path.relative_to(root)), "amdgpu.gfxoff=0", "unknown") in _classes(_lint(root))


def test_what_entries_have_from_another_file_is_told_there(tmp_path: Path) -> None:
    root = other_host(tmp_path, "fedora-bls")
    for path in [root / "etc/default/grub", *(root / "boot/loader/entries").glob("*.conf")]:
        path.write_text(path.read_text().replace("rhgb", "rhgb amdgpu.gfxoff=0"))
    assert _classes(_lint(root)) == [("/etc/default/grub", "amdgpu.gfxoff=0", "unknown")]


def test_this_host_s_gpus_and_kernels_count_unless_others_are_named(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", kernels=("6.12.107+deb13-amd64",))
    file = tmp_path / "a.conf"
    file.write_text("options amdgpu sg_display=0\noptions amdgpu wbrf=0\n")
    there = _lint(root, file)
    assert there.code == 0, "what does nothing here is a remark"
    summary = there.document["findings"][0]["summary"]
    assert summary == "amdgpu.sg_display has no effect on gfx1201"
    assert _classes(_lint(root, file, "--gfx", "gfx1151")) == []
    old = _lint(root, file, "--kernel", "5.10.262")
    assert [(c, t) for _, t, c in _classes(old) if t == "wbrf=0"] == [("absent_here", "wbrf=0")]
    assert old.code == 3
    for option, value, id, code in (("--gfx", "gfx99", "RC0001", 2), ("--kernel", "new", "RC7004", 2)):
        found = rocmcfg("lint", file, option, value, "--root", root, "--json")
        assert (found.ids, found.code) == ([id], code)


def test_a_link_to_a_file_that_was_read_is_not_read_again(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, extra={"etc/environment": "TORCH_USE_HIPBLASLT=1\n"})
    link = root / "usr/lib/environment.d/99-environment.conf"
    link.parent.mkdir(parents=True)
    link.symlink_to("../../../etc/environment")
    assert _classes(_lint(root)) == [("/etc/environment", "TORCH_USE_HIPBLASLT=1", "unknown")]


def test_exit_codes_and_files_that_cannot_be_read(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    right, wrong = tmp_path / "right.env", tmp_path / "wrong.env"
    right.write_text("HIP_VISIBLE_DEVICES=0\n")
    wrong.write_text("TORCH_USE_HIPBLASLT=0\n")
    assert _lint(root, right).code == 0
    assert _lint(root, right, wrong).code == 3
    found = _lint(root, tmp_path / "none", wrong)
    assert (found.code, found.ids, found.document["outcome"]) == (1, ["RC3001"], "nothing_changed")
    assert len(found.document["findings"]) == 1, "the others are judged all the same"
    assert "outcome" not in _lint(root, wrong).document, "as of every command that did its work"
    assert _lint(root, tmp_path).ids == ["RC3001"]
    large = tmp_path / "large"
    with large.open("wb") as stream:
        stream.truncate(1 << 30)
    assert _lint(root, large).ids == ["RC7001"]


def test_a_file_without_a_setting_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert rocmcfg("lint", tmp_path / "empty", "--json").ids == ["RC7005"]


_SETTING = b"TORCH_USE_HIPBLASLT=0\n"


@pytest.mark.parametrize(
    ("content", "prints"),
    [
        (gzip.compress(_SETTING), "zcat"),
        (lzma.compress(_SETTING), "xz -dc"),
        (b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + zlib.compress(_SETTING), "unzip -p"),
        (b"\x7fELF\x02\x01\x01" + b"\x00" * 9 + _SETTING, ""),
    ],
    ids=["gzip", "xz", "zip", "program"],
)
def test_a_file_that_is_no_text_is_refused_and_the_others_are_read(
    tmp_path: Path, content: bytes, prints: str
) -> None:
    packed, text = tmp_path / "packed", tmp_path / "a.env"
    packed.write_bytes(content)
    text.write_bytes(_SETTING)
    found = rocmcfg("lint", packed, text, "--json")
    assert (found.code, found.ids, found.document["outcome"]) == (1, ["RC3001"], "nothing_changed")
    assert _classes(found) == [(str(text), "TORCH_USE_HIPBLASLT=0", "unknown")]
    said = unfolded(rocmcfg("lint", packed).err)
    assert (
        f"`{prints} {packed} | rocmcfg lint -`" if prints else f"cannot read {packed}: it is not a text"
    ) in said


@pytest.mark.parametrize(
    "content",
    [
        b"PATH=/bin\0TORCH_USE_HIPBLASLT=0\0A=b\0",
        b"\x1b[1mx\x1b[0m\x07\nTORCH_USE_HIPBLASLT=0\n\x0c",
        "Größe\nTORCH_USE_HIPBLASLT=0\n".encode("latin-1"),
        "TORCH_USE_HIPBLASLT=0\n".encode("utf-16"),
        b"TORCH_USE_HIPBLASLT=0\r\n\x1a",
    ],
    ids=["environ", "terminal", "latin-1", "utf-16", "DOS"],
)
def test_a_text_of_any_origin_is_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "environ").write_bytes(content)
    assert [kind for _, _, kind in _classes(rocmcfg("lint", tmp_path / "environ", "--json"))] == ["unknown"]


def test_what_nothing_is_said_of_is_named(tmp_path: Path) -> None:
    file = tmp_path / "grub"
    file.write_text('GRUB_CMDLINE_LINUX="iommu=pt amdgpu.gfxoff=0 pci=noats"\n')
    said = "Nothing wrong with iommu=pt, pci=noats, which does not mean that you need them."
    assert said in unfolded(rocmcfg("lint", file).out)
    assert rocmcfg("lint", file, "--json").document["fine"] == ["iommu=pt", "pci=noats"]


def test_what_something_is_said_of_is_not_called_fine(tmp_path: Path) -> None:
    """Also where another sign than = stands between name and value."""
    file = tmp_path / "Dockerfile"
    file.write_text("FROM x\nENV HSA_XNAK 1\nENV HIP_VISIBLE_DEVICES 0\n")
    linted = rocmcfg("lint", file, "--json").document
    assert [finding["text"] for finding in linted["findings"]] == ["HSA_XNAK 1"]
    assert linted["fine"] == ["HIP_VISIBLE_DEVICES=0"]


def test_standard_input_and_the_real_program(tmp_path: Path) -> None:
    text = "GRUB_CMDLINE_LINUX_DEFAULT='amdgpu.gfxoff=0'\n"
    root = debian_grub_host(tmp_path)
    done = process(command("lint", "-", "--root", root), stdin=text)
    assert process(command("lint", "--root", root), stdin=text).out == done.out, "also without the dash"
    assert done.code == 3
    assert done.out.startswith("-:1:29: warning: unknown\n    amdgpu.gfxoff=0\n")


def test_fix_proposes_and_writes_nothing(tmp_path: Path) -> None:
    root = debian_grub_host(
        tmp_path,
        gfx="gfx1100",
        kernels=("6.14.0-37-generic",),
        cmdline="quiet amdgpu.gfxoff=0 amd_iommu=pt",
        modprobe_d={"a.conf": "options amdgpu noretry=0\n"},
    )
    before = tree(root)
    found = rocmcfg("lint", "--fix", "--root", root)
    assert found.code == 3
    assert '+GRUB_CMDLINE_LINUX_DEFAULT="quiet amdgpu.ppfeaturemask=0xfff73fff iommu=pt"\n' in found.out
    assert "-options amdgpu noretry=0\n" in found.out
    assert "+options" not in found.out, "1 is the default anyway"
    assert tree(root) == before
    document = _lint(root, "--fix").document
    assert [p["file"] for p in document["proposals"]] == ["/etc/default/grub", "/etc/modprobe.d/a.conf"]
    line = document["apply_with"]
    assert line.startswith("rocmcfg plan --set feature.gfxoff=false --set karg.iommu=pt")
    planned = rocmcfg(*line.split()[1:], "--root", root)
    assert planned.code == 0, planned.err
    assert _lint(root).document["apply_with"] == "", "only where it was asked for"


def test_places_of_one_token_are_said_once(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    file = tmp_path / "post.md"
    file.write_text("`amdgpu.gfxoff=0`\n" * 30)
    found = rocmcfg("lint", file, "--root", root)
    assert found.out.count("not a parameter of any kernel") == 1
    assert "also at 2:2" in found.out
    assert "30 warnings in 1 file" in found.out
    assert len(_lint(root, file).document["findings"]) == 30


def test_a_file_with_more_findings_than_anybody_reads(tmp_path: Path) -> None:
    file = tmp_path / "a.conf"
    file.write_text("options amdgpu gfxoff=0\n" * 2000)
    found = _lint(debian_grub_host(tmp_path), file)
    assert len(found.document["findings"]) == 1000
    assert found.ids == ["RC7002"]


@pytest.mark.parametrize("quiet", [False, True])
def test_what_is_shown_of_remarks(tmp_path: Path, quiet: bool) -> None:
    root = debian_grub_host(tmp_path)
    make_root(tmp_path, {"a.env": "MIOPEN_DEBUG_CONV_WINOGRAD=1\n"})
    found = rocmcfg("lint", root / "a.env", "--root", root, *(["-q"] if quiet else []))
    assert (found.code, "note: default" in found.out) == (0, not quiet)


def test_arguments_alone_are_read_as_a_kernel_command_line(tmp_path: Path) -> None:
    pasted = tmp_path / "pasted"
    pasted.write_text("iommu=pt amdgpu.ppfeaturemask=0xffffffff\n")
    found = rocmcfg("lint", pasted, "--kernel", "6.12.43", "--json")
    assert [one["class"] for one in json.loads(found.out)["findings"]] == ["side_effect"]


FORUM = (
    "amdgpu.dpm=0 amdgpu.noretry=0 amdgpu.stutter=0 amdgpu.ppfeaturemask=0xffffffff amd_iommu=on iommu=pt "
    "amdgpu.sg_display=0 amdgpu.cwsr_enable=0 amdgpu.gpu_recovery=1 amdgpu.runpm=7 amdgpu.vm_size=010"
)


def test_what_fix_leaves_is_clean_and_each_setting_has_a_verdict(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))
    file = tmp_path / "cmdline"
    file.write_text(f"{FORUM}\n")
    found = _lint(root, "--fix", file).document
    said = {one["text"]: (one["verdict"], one["replacement"]) for one in found["verdicts"]}
    assert sorted(said) == sorted(FORUM.split())
    assert said["amdgpu.dpm=0"] == ("take out", "")
    assert said["amdgpu.noretry=0"] == ("take out", ""), "what would be written is the default"
    assert said["amdgpu.ppfeaturemask=0xffffffff"] == ("change", "amdgpu.ppfeaturemask=0xfff7ffff")
    assert said["iommu=pt"] == ("keep", "")
    assert said["amdgpu.stutter=0"] == ("take out", ""), "what is meant by it cures nothing here"
    assert [one["verdict"] for one in found["verdicts"]] == sorted(
        (one["verdict"] for one in found["verdicts"]), key=[fate.value for fate in Fate].index
    )
    after = [line[1:] for line in found["proposals"][0]["diff"].splitlines() if line[:1] == "+"][1]
    kept = [
        one["replacement"] or one["text"] for one in found["verdicts"] if one["verdict"] in ("change", "keep")
    ]
    assert sorted(after.split()) == sorted(kept)
    file.write_text(f"{after}\n")
    again = _lint(root, "--fix", file)
    assert (again.code, again.document["proposals"]) == (0, [])
    shown = " ".join(rocmcfg("lint", "--fix", file, "--root", root).out.split())
    cured = {one["setting"] for one in again.document["purposes"]}
    left = [one["text"] for one in again.document["verdicts"] if not one["summary"]]
    listed = ", ".join(one for one in left if one not in cured)
    assert f"keep {listed} (no known issue here needs them)" in shown
    assert cured == {"amdgpu.cwsr_enable=0"}
    assert "keep amdgpu.cwsr_enable=0 cures " in shown


@pytest.mark.parametrize("mask", ["0xffffffff", "0xffff", "0xfffd7fff"])
def test_a_number_in_a_sentence_is_read_whole(tmp_path: Path, mask: str) -> None:
    """0xffff is no 0 with a word behind it whose blank was lost."""
    file = tmp_path / "post.md"
    file.write_text(f"I have set amdgpu.ppfeaturemask={mask}\nand amdgpu.runpm=0because of this.\n")
    said = _lint(debian_grub_host(tmp_path), "--fix", file).document["verdicts"]
    assert {one["text"] for one in said} == {f"amdgpu.ppfeaturemask={mask}", "amdgpu.runpm=0"}


def test_a_pasted_line_is_judged_as_one_of_a_boot_menu(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))
    file = tmp_path / "forum.txt"
    file.write_text(f"{FORUM}\n")

    def verdicts(*words: str | Path) -> list[tuple[str, str, str]]:
        found = _lint(root, "--fix", *words).document["verdicts"]
        return [(one["text"], one["verdict"], one["replacement"]) for one in found]

    assert verdicts(FORUM) == verdicts(*FORUM.split()) == verdicts(file)
    assert ("amdgpu.dpm=0", "take out", "") in verdicts(FORUM)


def test_what_is_wrong_in_a_sentence_is_for_its_author(tmp_path: Path) -> None:
    file = tmp_path / "post.md"
    file.write_text("Dear all,\nset amdgpu.dpm=0 and be happy.\n")
    found = _lint(debian_grub_host(tmp_path), "--fix", file).document
    assert [(one["verdict"], one["by_hand"]) for one in found["verdicts"]] == [("take out", True)]


@pytest.mark.parametrize(
    ("setting", "verdict"),
    [
        ("amdgpu.gpu_recovery=1", "not needed"),
        ("amdgpu.noretry=0", "take out"),
        ("amdgpu.ppfeaturemask=0xfefffffe", "take out"),
        ("amdgpu.runpm=0", "keep"),
    ],
)
def test_a_setting_has_one_verdict_wherever_it_stands(tmp_path: Path, setting: str, verdict: str) -> None:
    """Whether --fix can edit a text says nothing about what it sets."""
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))
    texts = {
        "grub": f'GRUB_CMDLINE_LINUX_DEFAULT="quiet {setting}"\n',
        "code.md": f'Text.\n\n    GRUB_CMDLINE_LINUX_DEFAULT="quiet {setting}"\n',
        "prose.md": f"I use {setting} here.\n",
        "run.sh": f"sudo grubby --update-kernel=ALL --args='{setting}'\n",
    }
    said = {}
    for name, text in texts.items():
        file = tmp_path / name
        file.write_text(text)
        said[name] = [one["verdict"] for one in _lint(root, "--fix", file).document["verdicts"]]
    assert said == {name: [verdict] for name in texts}


def test_where_no_gpu_is_known_it_is_said_how_one_is_named(tmp_path: Path) -> None:
    text, hint = tmp_path / "a.env", "No GPU is known here; --gfx GFX checks the settings for one.\n"
    text.write_text("HSA_OVERRIDE_GFX_VERSION=11.0.0\n")
    root = make_root(tmp_path / "host", {"etc/os-release": "ID=debian\n"})
    assert hint in rocmcfg("lint", text, "--root", root).out
    assert hint not in rocmcfg("lint", text, "--root", root, "--gfx", "gfx1100").out


def test_a_gpu_may_go_by_the_name_it_is_sold_under(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    named = rocmcfg("lint", "amdgpu.sg_display=0", "--gfx", "9070xt", "--root", root)
    assert "has no effect on gfx1201" in named.out
    several = rocmcfg("lint", "amdgpu.sg_display=0", "--gfx", "rdna3", "--root", root)
    assert (several.code, "may be gfx1100 or " in several.err) == (2, True)


def test_what_is_fine_is_told_with_what_it_cures_and_costs(tmp_path: Path) -> None:
    """On this host's kernel and ROCm; where they have the fix, it is a cure of nothing."""
    text = tmp_path / "post.txt"
    text.write_text("amdgpu.cwsr_enable=0 pci=noats\n")
    found = rocmcfg(
        "lint", text, "--root", debian_grub_host(tmp_path / "a", kernels=("6.14.0-37-generic",), rocm="7.1.0")
    )
    told = " ".join(found.out.split())
    assert "amdgpu.cwsr_enable=0 for rdna4-expert-sched-cwsr (cause confirmed); costs: " in told
    assert "Nothing wrong with pci=noats, but no known issue here needs it either." in told
    fixed = rocmcfg("lint", text, "--root", debian_grub_host(tmp_path / "b", kernels=("6.19.2",)))
    assert "rdna4-expert-sched-cwsr" not in fixed.out
    assert rocmcfg("lint", text, "--gfx", "gfx1201", "--json").document["purposes"][0]["issue"]


@pytest.mark.parametrize(
    ("gfx", "name", "cures"),
    [
        ("gfx1102", "gfxoff", "cures rdna3-7600s-gfxoff (cause reported)"),
        ("gfx1100", "gfxoff", "is set by profile gfx1100 (asked for)"),
        ("gfx1201", "stutter", ""),
    ],
)
def test_fix_tells_what_is_known_to_be_cured_by_what_it_writes_and_leaves(
    tmp_path: Path, gfx: str, name: str, cures: str
) -> None:
    """amdgpu.gfxoff=0 does nothing; the mask that it becomes acts, whether or not that is wanted."""
    text = tmp_path / "cmdline"
    text.write_text(f"amdgpu.{name}=0 amdgpu.cwsr_enable=0 pci=noats\n")
    found = rocmcfg("lint", "--fix", text, "--gfx", gfx)
    told = " ".join(found.out.split())
    assert f"amdgpu.{name} is not a parameter of any kernel" in told
    assert (f"of any kernel; the new one {cures}" in told) if cures else (f"take out amdgpu.{name}=0" in told)
    if gfx == "gfx1201":
        assert "keep amdgpu.cwsr_enable=0 cures rdna4-expert-sched-cwsr (cause confirmed)" in told
        assert "keep pci=noats (no known issue here needs it)" in told
    else:
        assert "keep amdgpu.cwsr_enable=0, pci=noats (no known issue here needs them)" in told
    unknown = rocmcfg("lint", "--fix", text, "--root", tmp_path).out
    assert f"3 settings checked for {gfx}." in told
    assert "cures" not in unknown, "of no GPU nothing can be said"


def test_fix_tells_what_else_a_cure_that_it_writes_takes(tmp_path: Path) -> None:
    text = tmp_path / "run.sh"
    text.write_text("export TORCH_USE_HIPBLASLT=0\n")
    told = " ".join(rocmcfg("lint", "--fix", text, "--gfx", "gfx1201").out.split())
    cures = "the new one cures rdna4-hipblaslt-gltr-overread (cause confirmed) and 1 more, if ROCm is >7.0.2"
    assert cures in told
    assert "Also: PyTorch's own 2.7 to 2.11 (`pip show torch`) treat TORCH_BLAS_PREFER_HIPBLASLT=0" in told


@pytest.mark.parametrize("judged_for", ["", "--gfx 7900xtx --kernel 6.18.2"])
def test_a_proposal_for_one_file_says_how_it_is_written(tmp_path: Path, judged_for: str) -> None:
    root, text = debian_grub_host(tmp_path / "host"), tmp_path / "grub post.txt"
    text.write_text("amdgpu.gtt_size=8192 amdgpu.runpm=0\n")
    told = rocmcfg("lint", "--fix", text, "--root", root, *judged_for.split()).out
    line = " ".join(told.partition("To apply the diff: ")[2].replace("\\\n", "").split())
    assert f"| patch '{text}'" in line
    assert line.startswith(f"rocmcfg lint --fix {judged_for}")
    assert rocmcfg(*shlex.split(line.partition(" | ")[0])[1:]).out == told
    subprocess.run([require_tool("patch", "patch"), text], input=told.encode(), check=True, stdout=-3)
    assert rocmcfg("lint", text, "--root", root).code == 0


def test_the_login_files_of_who_asks_are_read(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("export TORCH_USE_HIPBLASLT=1\n")
    assert (
        f"{tmp_path}/.bashrc:1:8"
        in process(command("lint"), env={"HOME": str(tmp_path), "SUDO_USER": ""}).out
    )


@pytest.mark.parametrize("line", ["blacklist amdgpu", "install amdgpu /bin/false"])
def test_what_keeps_the_driver_from_loading_is_told(tmp_path: Path, line: str) -> None:
    root = debian_grub_host(tmp_path, modprobe_d={"gpu.conf": f"{line}\n"})
    assert ("/etc/modprobe.d/gpu.conf", line, "dangerous") in _classes(_lint(root))


@pytest.mark.parametrize("words", ["amdgpu.noretry=0 {}", "{} amdgpu.noretry=0"])
def test_variables_on_a_line_of_arguments_are_judged(tmp_path: Path, words: str) -> None:
    text = tmp_path / "post.txt"
    text.write_text(words.format("HSA_OVERRIDE_GFX_VERSION=11.0.0") + "\n")
    assert "HSA_OVERRIDE_GFX_VERSION=11.0.0 is harmful" in rocmcfg("lint", text, "--gfx", "gfx1201").out


def test_a_variable_on_a_kernel_command_line_reaches_nobody(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, cmdline="quiet HSA_ENABLE_SDMA=0")
    assert ("/etc/default/grub", "HSA_ENABLE_SDMA=0", "no_effect") in _classes(_lint(root))


@pytest.mark.parametrize(
    "text", ["# x\namdgpu.gtt_size=1 x", "amdgpu.gtt_size=1 x\n", "a\nb\nc\namdgpu.gtt_size=1 x\n"]
)
def test_patch_finds_the_lines_of_a_proposal_without_a_guess(tmp_path: Path, text: str) -> None:
    file = tmp_path / "line.sh"
    file.write_text(text)
    told = rocmcfg("lint", "--fix", file, "--gfx", "gfx1201", "--kernel", "6.18").out
    subprocess.run([require_tool("patch", "patch"), "-F0", file], input=told.encode(), check=True, stdout=-3)
    assert [path.name for path in tmp_path.iterdir()] == ["line.sh"]
    assert file.read_text() != text


@pytest.mark.parametrize(
    "content", [b"amdgpu.gtt_size=1 x\r\n", b"\xef\xbb\xbfamdgpu.gtt_size=1 x\n", b"\xff amdgpu.gtt_size=1\n"]
)
def test_no_patch_is_advised_for_a_file_that_is_shown_otherwise_than_it_is(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "line.sh").write_bytes(content)
    assert "To apply the diff" not in rocmcfg("lint", "--fix", tmp_path / "line.sh").out


def test_a_setting_whose_right_value_is_the_default_is_taken_out_wherever_it_stands(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201", kernels=("6.18.2",))
    for name, text in {
        "cmdline": "amdgpu.noretry=0",
        "a.conf": "options amdgpu noretry=0\n",
        "grub": 'GRUB_CMDLINE_LINUX="amdgpu.noretry=0"\n',
        "a.md": "x\n\n```\nx\noptions amdgpu noretry=0\n```\n",
        "bare": "noretry=0",
    }.items():
        file = tmp_path / name
        file.write_text(text)
        (finding,) = _lint(root, file).document["findings"]
        assert finding["replacement"] == "", name
        assert finding["why"].endswith("amdgpu.noretry=1 is the default anyway."), name
        (verdict,) = _lint(root, "--fix", file).document["verdicts"]
        assert (verdict["verdict"], verdict["replacement"]) == ("take out", ""), name


def test_a_variable_that_reaches_nobody_is_told_once(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, cmdline="quiet HSA_OVERRIDE_GFX_VERSION=11.0.0")
    assert _classes(_lint(root)) == [("/etc/default/grub", "HSA_OVERRIDE_GFX_VERSION=11.0.0", "no_effect")]
    (verdict,) = _lint(root, "--fix").document["verdicts"][:1]
    assert (verdict["text"], verdict["verdict"]) == ("HSA_OVERRIDE_GFX_VERSION=11.0.0", "take out")


def test_a_file_whose_name_looks_like_an_option_can_be_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-x").write_text('GRUB_CMDLINE_LINUX="quiet amdgpu.gfxoff=0"\n')
    told = rocmcfg("lint", "--fix", "--", "-x").out
    (line,) = re.findall("To apply the diff: (.*)", told)
    assert line == "rocmcfg lint --fix ./-x | patch ./-x"
    require_tool("patch", "patch")
    subprocess.run(line.partition("| ")[2], shell=True, input=told.encode(), check=True, stdout=-3)
    assert "gfxoff" not in Path("-x").read_text()


@pytest.mark.parametrize(("argument", "said"), [("amdgpu.gfxoff=0", True), ("quiet", False)])
def test_what_makes_the_boot_menu_anew_is_said_where_its_source_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str, said: bool
) -> None:
    root = debian_grub_host(tmp_path, cmdline=argument, modprobe_d={"a.conf": "options amdgpu gfxoff=0\n"})
    assert "boot menu" not in rocmcfg("lint", "--fix", "--root", root).out, "another root is not what runs"
    monkeypatch.setattr("rocmcfg.host.local_view.LocalView.offline", False)
    command = "update-grub" if os.geteuid() == 0 else "sudo update-grub"
    told = rocmcfg("lint", "--fix", "--root", root).out
    assert (f"Then, to update the boot menu: {command}\n" in told) is said


@pytest.mark.parametrize("judged_for", [(), ("--gfx", "7900xtx"), ("--kernel", "6.14")])
def test_a_mask_that_is_proposed_keeps_what_the_host_s_own_mask_has(
    tmp_path: Path, judged_for: tuple[str, ...]
) -> None:
    """As a plan composes it: the kernel's arguments win over modprobe.d, and would switch overdrive off."""
    root = debian_grub_host(
        tmp_path,
        gfx="gfx1100",
        kernels=("6.14.0-37-generic",),
        cmdline="quiet amdgpu.gfxoff=0",
        modprobe_d={"mine.conf": "options amdgpu ppfeaturemask=0xfff7ffff\n"},
    )
    found = _lint(root, "--fix", *judged_for).document
    (proposed,) = [one["replacement"] for one in found["verdicts"] if one["text"] == "amdgpu.gfxoff=0"]
    assert proposed.endswith("=0xfff77fff")
    assert proposed in rocmcfg("plan", "--set", "feature.gfxoff=false", "--root", root).out


def test_the_name_of_a_file_begins_no_diff_of_another_one(tmp_path: Path) -> None:
    """As of `rocmcfg lint --fix * | patch -p0` in a folder with files of somebody else."""
    victim, text = tmp_path / "victim", "options amdgpu cwsr_enabl=0\n"
    victim.write_text("old\n")
    name = "a\n--- victim\n+++ victim\n@@ -1 +1 @@\n-old\n+new\n--- a.conf"
    (tmp_path / name).write_text(text)
    shown = rocmcfg("lint", "--fix", "-v", tmp_path / name).out
    (proposal,) = rocmcfg("lint", "--fix", "--json", tmp_path / name).document["proposals"]
    for diff in (shown, proposal["diff"]):
        assert "--- victim" not in diff.splitlines()
        (tmp_path / name).write_text(text)
        patch = [require_tool("patch", "patch"), "-p0", "-d", str(tmp_path)]
        subprocess.run(patch, input=diff.replace(f"{tmp_path}/", ""), text=True, stdout=-3, check=True)
        assert victim.read_text() == "old\n"
        assert (tmp_path / name).read_text() == "options amdgpu cwsr_enable=0\n", "patch reads the name"


def test_a_plan_of_a_tree_shows_its_names_in_one_line() -> None:
    change = FileChange("/boot/loader/entries/a\n+++ b.conf", None, b"x\n", "")
    assert change.diff.splitlines()[1] == '+++ "/boot/loader/entries/a\\n+++ b.conf"'
