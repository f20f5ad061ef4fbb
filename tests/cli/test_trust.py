"""What a less privileged user can write is not followed by root: their profiles must not choose what runs as
root, and local profiles that they can change are not followed at all. One attack each."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hosts import debian_grub_host, make_root
from tests.support.program import Result, as_nobody, command, problem, rocmcfg
from tests.support.tools import require_root
from tests.support.trees import Tree, tree

NOBODY = 65534
HEAD = 'schema = 1\nsummary = "x"\n'
EVIL = HEAD + '[cmdline]\ninit = "/tmp/evil"\n[env]\nLD_PRELOAD = "/tmp/evil.so"\n'
HARMLESS = HEAD + "[module.amdgpu]\nrunpm = 0\n"


@pytest.fixture
def as_root() -> None:
    """Only root can give a file to another user."""
    require_root()


needs_root = pytest.mark.usefixtures("as_root")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path, gfx="gfx1201")


@pytest.fixture
def before(root: Path) -> Tree:
    return tree(root)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder of root's that every user may look into, as tmp_path may not be."""
    with tempfile.TemporaryDirectory(prefix="rocmcfg-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def write(place: Path, text: str = EVIL, *, owner: int | None = None, mode: int = 0o644) -> Path:
    place.write_text(text)
    place.chmod(mode)
    if owner is not None:
        os.chown(place, owner, owner)
    return place


def apply(root: Path, *options: str | Path) -> Result:
    return rocmcfg("apply", "--root", root, "--yes", *options)


def hand_overs(found: Result) -> list[tuple[str, str, str]]:
    told = [d for d in found.document["diagnostics"] if d["id"] == "RC2055"]
    return [(d["severity"], d["summary"].partition(" ")[0], d["location"].rpartition(":")[2]) for d in told]


# -- files of the caller's -------------------------------------------------------------------------------


@needs_root
def test_a_profile_of_another_user_does_not_take_the_machine(
    root: Path, before: Tree, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scenario of the attack: root applies ./my.toml, which its owner may have written for root."""
    write(shared / "my.toml", owner=NOBODY)
    monkeypatch.chdir(shared)
    monkeypatch.setenv("SUDO_UID", str(NOBODY))
    for verb in (
        ("apply", "--yes"),
        ("apply", "--json", "--yes"),
        ("plan",),
        ("env",),
        ("run", "--", "true"),
    ):
        root_option = ("--root", str(root)) if verb[0] != "run" else ()
        found = rocmcfg(verb[0], "-p", "./my.toml", *root_option, *verb[1:])
        assert found.code == 1, (verb, found.out)
        said = found.out + found.err
        assert "RC2055" in said
        assert "env.LD_PRELOAD=/tmp/evil.so gives control of the machine" in " ".join(said.split())
        assert ("karg.init" in said) == (verb[0] in ("apply", "plan"))
        assert "belongs to nobody (user 65534), mode 0644" in " ".join(said.split())
    found = rocmcfg("plan", "-p", "./my.toml", "--root", root, "--json")
    assert hand_overs(found) == [
        ("error", "karg.init=/tmp/evil", "4"),
        ("error", "env.LD_PRELOAD=/tmp/evil.so", "6"),
    ]
    assert tree(root) == before


@needs_root
def test_what_hands_over_nothing_may_come_from_anybody(root: Path, shared: Path) -> None:
    place = write(shared / "my.toml", HARMLESS, owner=NOBODY)
    assert apply(root, "-p", place).code == 0


@needs_root
@pytest.mark.parametrize(
    "line",
    [
        '[cmdline]\n"ds" = "nocloud-net"',
        '[cmdline]\n"nfs.cache_getent" = "/tmp/evil"',
        '[env]\nTAR_OPTIONS = "--to-command=x"',
        '[env]\nKCFLAGS = "-fplugin=/tmp/x.so"',
        "[module.nfs]\ncache_getent = 1",
    ],
)
def test_what_nobody_knows_is_refused_where_root_did_not_write_it(
    root: Path, shared: Path, line: str
) -> None:
    """The list of what hands over a machine has no end."""
    place = write(shared / "my.toml", HEAD + line + "\n", owner=NOBODY)
    before = tree(root)
    found = apply(root, "-p", place)
    assert (found.code, "RC2057" in found.err) == (1, True), found.err
    assert tree(root) == before
    os.chown(place, 0, 0)
    assert "RC2057" not in apply(root, "-p", place).err


@needs_root
@pytest.mark.parametrize(
    "line",
    [
        '[cmdline]\niommu = "pt;prefix=/home/intruder/g;normal"',
        '[cmdline]\niommu = "off,../x"',
        '[cmdline]\npci = "resource_alignment=1;normal"',
        '[cmdline]\n"drm.edid_firmware" = "HDMI-A-1:../../home/intruder/x"',
        '[cmdline]\n"drm.edid_firmware" = "/home/intruder/x"',
        '[cmdline]\n"amdgpu.runpm" = "0;normal"',
        '[module.amdgpu]\ndisable_cu = "0.0.0;prefix=/home/intruder/g;normal"',
        '[module.amdgpu]\nvirtual_display = "all;normal"',
        '[module.amdgpu]\ndyndbg = "file=x"',
    ],
)
def test_a_known_name_carries_no_other_text_where_root_did_not_write_it(
    root: Path, shared: Path, line: str
) -> None:
    place = write(shared / "my.toml", HEAD + line + "\n", owner=NOBODY)
    before = tree(root)
    found = apply(root, "-p", place)
    assert (found.code, "RC2111" in found.err) == (1, True), found.err
    assert tree(root) == before
    given = " ".join(found.err.split()).partition("set it yourself: --set ")[2]
    assert ";" not in line or given.startswith("'"), "a shell takes it for one word"
    os.chown(place, 0, 0)
    assert "RC2111" not in apply(root, "-p", place).err


@needs_root
@pytest.mark.parametrize(
    "line",
    [
        '[cmdline]\niommu = "pt,nobypass"',
        '[cmdline]\npci = "noaer,realloc=on"',
        '[cmdline]\n"drm.edid_firmware" = "HDMI-A-1:edid/screen.bin"',
        '[cmdline]\nvideo = "HDMI-A-1:1920x1080@60"',
        '[cmdline]\nmodule_blacklist = "nouveau,radeon"',
        '[module.amdgpu]\nppfeaturemask = "0xfff7ffff"',
        '[module.amdgpu]\ndisable_cu = "0.0.3,1.0.7"',
    ],
)
def test_values_as_they_are_meant_may_come_from_anybody(root: Path, shared: Path, line: str) -> None:
    place = write(shared / "my.toml", HEAD + line + "\n", owner=NOBODY)
    assert "RC2111" not in rocmcfg("plan", "--root", root, "-p", place, "--any-gpu").err


def test_roots_own_profile_and_what_root_asks_for_is_named_first(root: Path, shared: Path) -> None:
    place = write(shared / "my.toml")
    for options in (
        ("-p", str(place)),
        ("--set", "karg.init=/tmp/evil", "--set", "env.LD_PRELOAD=/tmp/evil.so"),
    ):
        found = rocmcfg("plan", "-p", "auto", *options, "--root", root, "--json")
        assert found.code == 0
        assert "RC2025" in found.ids, "a remark on the whole plan"
        assert [(severity, name) for severity, name, _ in hand_overs(found)] == [
            ("warning", "karg.init=/tmp/evil"),
            ("warning", "env.LD_PRELOAD=/tmp/evil.so"),
        ]
        assert found.ids[:2] == ["RC2055", "RC2055"]


@needs_root
def test_what_root_gives_with_set_is_roots_whatever_the_profile_says(root: Path, shared: Path) -> None:
    place = write(shared / "my.toml", owner=NOBODY)
    options = ("--set", "karg.init=/tmp/evil", "--without", "env.LD_PRELOAD")
    found = rocmcfg("plan", "-p", place, *options, "--root", root, "--json")
    assert [severity for severity, _, _ in hand_overs(found)] == ["warning"]


@needs_root
@pytest.mark.parametrize(
    "kind", ["group", "all", "folder of another", "folder for all", "link", "sticky link"]
)
def test_who_else_may_change_it_counts_as_its_writer(
    root: Path, before: Tree, shared: Path, kind: str
) -> None:
    safe = write(shared / "safe.toml")
    open_ = shared / "open"
    open_.mkdir(mode=0o755)
    place = open_ / "my.toml"
    if kind in ("group", "all"):
        write(place, mode=0o664 if kind == "group" else 0o646)
        os.chown(place, 0, 100)
        weak = place
    elif kind == "link":  # by where it leads
        write(place)
        (shared / "link.toml").symlink_to("open/my.toml")
        place, weak = shared / "link.toml", open_
        open_.chmod(0o757)
    elif kind == "sticky link":  # in a folder such as /tmp, where its owner may exchange it
        open_.chmod(0o1777)
        place.symlink_to(safe)
        os.chown(place, NOBODY, NOBODY, follow_symlinks=False)
        weak = place
    else:
        write(place)
        weak = open_
        os.chown(open_, NOBODY if "another" in kind else 0, 0)
        open_.chmod(0o755 if "another" in kind else 0o777)
    found = apply(root, "-p", place)
    assert found.code == 1
    assert f"{weak} " in " ".join(found.err.split())
    assert found.err.count("error[RC2055]") == 2
    assert tree(root) == before
    assert apply(root, "-p", safe).code == 0, "a folder such as /tmp, and roots group, are no weakness"


@needs_root
def test_a_file_that_is_exchanged_between_two_looks_is_not_believed(
    root: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way to it looks safe when it is walked, and led elsewhere when the file was opened."""
    from rocmcfg.host import inside

    safe, evil = write(shared / "safe.toml"), write(shared / "evil.toml", owner=NOBODY)
    link = shared / "link.toml"
    link.symlink_to(evil)
    walk = inside.Root.weakness

    def after(self: inside.Root, path: str) -> object:
        if path == str(link):
            link.unlink()
            link.symlink_to(safe)
        return walk(self, path)

    monkeypatch.setattr(inside.Root, "weakness", after)
    found = apply(root, "-p", link)
    assert found.code == 1
    assert "its name leads elsewhere now" in " ".join(found.err.split())


def test_a_user_is_told_what_root_would_refuse_and_may_run_it(root: Path, shared: Path) -> None:
    place = write(shared / "my.toml", owner=NOBODY if os.geteuid() == 0 else None)
    shutil.copytree(root, shared / "host")
    found = as_nobody(command("plan", "-p", place, "--root", shared / "host", "--json"))
    assert found.code == 0, found.err
    assert [severity for severity, _, _ in hand_overs(found)] == ["warning", "warning"]
    assert "`apply` as root refuses it" in found.out
    ran = as_nobody(
        command("run", "-p", place, "--without", "env.LD_PRELOAD", "--set", "env.X=1", "--", "true")
    )
    assert ran.code == 0, ran.err
    assert "LD_PRELOAD=/tmp/evil.so" in as_nobody(command("env", "-p", place)).out


# -- local profiles --------------------------------------------------------------------------------------


def with_local(root: Path, text: str = HARMLESS, name: str = "mine") -> Path:
    make_root(root.parent, {f"etc/rocmcfg/profiles/{name}.toml": text})
    return root / f"etc/rocmcfg/profiles/{name}.toml"


@needs_root
@pytest.mark.parametrize("weak", ["file", "folder", "folder above", "link"])
def test_a_local_profile_that_others_can_change_is_not_followed(root: Path, weak: str) -> None:
    place = with_local(root)
    assert rocmcfg("plan", "-p", "mine", "--root", root).code == 0
    named = "etc/rocmcfg"
    if weak == "file":
        place.chmod(0o666)
        named = "etc/rocmcfg/profiles/mine.toml can be written by everybody, mode 0666"
    elif weak == "folder":
        os.chown(place.parent, NOBODY, 0)
        named = "etc/rocmcfg/profiles belongs to user 65534, mode 0755"
    elif weak == "folder above":
        place.parent.parent.chmod(0o775)
        os.chown(place.parent.parent, 0, 100)
        named = "etc/rocmcfg can be written by its group, mode 0775"
    else:
        make_root(root.parent, {"home/eve/p.toml": HARMLESS})
        os.chown(root / "home/eve", NOBODY, NOBODY)
        place.unlink()
        place.symlink_to("/home/eve/p.toml")
        named = "home/eve belongs to user 65534, mode 0755"
    before = tree(root)
    said = problem(apply(root, "-p", "mine"), "RC2056", 1)
    assert named in " ".join(said.split())
    assert "chown root:root" in said
    make_root(root.parent, {"etc/other": ""})
    adding = write(root.parent / "adding.toml", HEAD + 'extends = "mine"\n[env]\nX = "1"\n')
    before = tree(root)
    problem(apply(root, "-p", adding), "RC2056", 1)
    assert tree(root) == before


@needs_root
def test_a_local_profile_that_others_can_change_is_still_shown(root: Path) -> None:
    with_local(root).chmod(0o666)
    assert "mine" in rocmcfg("profile", "list", "--root", root).out
    shown = rocmcfg("profile", "show", "mine", "--root", root)
    assert "amdgpu.runpm" in shown.out
    assert "RC2056" in shown.err
    assert rocmcfg("status", "--root", root).code == 0
    looked = rocmcfg("verify", "-p", "mine", "--root", root)
    assert "amdgpu.runpm" in looked.out
    assert "RC2056" in looked.out + looked.err
    problem(rocmcfg("profile", "validate", "mine", "--root", root), "RC2056", 1)


@needs_root
def test_a_user_reads_local_profiles_as_before(root: Path, shared: Path) -> None:
    with_local(root).chmod(0o666)
    shutil.copytree(root, shared / "host")
    found = as_nobody(command("plan", "-p", "mine", "--root", shared / "host"))
    assert found.code == 0, found.err


# -- names -----------------------------------------------------------------------------------------------

ODD = {
    "newline": "a\nb",
    "escape": "a\x1b[31mb",
    "separator": "a\u2028b",
    "direction": "a\u202eb",
    "bytes": "a\udcffb",
}


@pytest.mark.parametrize("kind", ODD)
def test_a_name_that_does_not_print_on_one_line_is_refused(root: Path, kind: str) -> None:
    """Such a name split the lines of the history, and of a log after the commit."""
    assert rocmcfg("plan", "-p", "a\0b/c.toml", "--root", root, "--json").ids == ["RC1017"]
    place = root.parent / f"{ODD[kind]}.toml"
    place.write_bytes(HARMLESS.encode())
    before = tree(root)
    said = problem(apply(root, "-p", place), "RC1017", 1)
    assert ("not UTF-8" in said) == (kind == "bytes")
    assert rocmcfg("plan", "-p", place, "--root", root, "--json").ids == ["RC1017"]
    assert tree(root) == before


@pytest.mark.parametrize("kind", ODD)
def test_a_local_profile_with_such_a_name_hides_no_other(root: Path, kind: str) -> None:
    with_local(root)
    shutil.copy(root / "etc/rocmcfg/profiles/mine.toml", root / f"etc/rocmcfg/profiles/{ODD[kind]}.toml")
    found = rocmcfg("profile", "list", "--root", root)
    assert found.code == 1
    assert "mine" in found.out
    assert "RC1017" in found.err
    said = problem(apply(root, "-p", "nosuch"), "RC1010", 1)
    assert "mine" in said
    assert ODD[kind] not in said


# -- text ------------------------------------------------------------------------------------------------


def test_no_text_of_a_profile_becomes_a_line_of_a_file(root: Path) -> None:
    """`because` is copied into comments of files that a shell and kmod read."""
    hostile = r"x\ninit=/tmp/evil\u2028install a b\u0085\r\"\'`$(x)`;#\u001b[31m \\"
    lines = ["[cmdline.iommu]", 'value = "pt"', f'because = "{hostile}"'.replace("\\'", "'")]
    lines += ["[module.amdgpu.runpm]", "value = 0", 'via = "modprobe"', lines[2]]
    place = write(root.parent / "my.toml", HEAD + "\n".join(lines) + "\n")
    assert apply(root, "-p", place).code == 0
    for path, wanted in (
        (
            "etc/default/grub.d/zz-rocmcfg.cfg",
            ['GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT iommu=pt"'],
        ),
        ("etc/modprobe.d/zz-rocmcfg.conf", ["options amdgpu runpm=0"]),
    ):
        content = (root / path).read_bytes().decode()
        comments = [line for line in content.splitlines() if line.startswith("#")]
        assert [line for line in content.splitlines() if not line.startswith("#")] == wanted
        assert not any(line.endswith("\\") for line in comments) or "modprobe" not in path
        assert "\x1b" not in content
