"""The rpm: built by the real rpmbuild without a network, read with rpm, installed, run, upgraded, erased."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from .rpm_arch_root import (
    SOURCE,
    STATE,
    VERSION,
    Root,
    laid_out,
    new_root,
    now,
    state_of,
    with_chain,
    with_state,
)

UNITS = ("rocmcfg-recover.service", "rocmcfg-trial.service", "rocmcfg-try.service")
PACKAGE = f"/src/out/rocmcfg-{VERSION}-1.x86_64.rpm"
OLD = f"/src/old/rocmcfg-{VERSION}-1~old.x86_64.rpm"
# What the package adds to the tree that all packages share.
ADDED = {
    "/usr/lib/systemd/system-preset/90-rocmcfg.preset",
    "/usr/share/doc/rocmcfg/CHANGELOG.md",
    "/usr/share/doc/rocmcfg/README.md",
    "/usr/share/licenses/rocmcfg/LICENSE",
}


@pytest.fixture(scope="module")
def root(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Root:
    """With the package built in it from nothing but the sdist and the wheels."""
    made = new_root(wheels, tmp_path_factory.mktemp("rpm"))
    build(made, SOURCE, "/src/out")
    return made


def build(root: Root, source: str, output: str, *defines: str) -> None:
    made = [f"{source}/packaging/rpm/build", "--output", output, "--wheels", "/src/wheels"]
    made += ["--sdist", f"{source}.tar.gz"]
    # The strongest compression is most of the time, and not what is tested.
    for define in ("_binary_payload w1.zstdio", "_source_payload w1.zstdio", *defines):
        made += ["--define", define]
    root.run(*made)


def query(root: Root, *argv: str) -> list[str]:
    return root.run("rpm", "-qp", *argv).stdout.splitlines()


def test_the_package_holds_what_tree_py_lays_out_with_its_modes(root: Root) -> None:
    rows = [
        row.split("\t")
        for row in query(
            root, "--qf", "[%{FILENAMES}\t%{FILEMODES}\t%{FILEUSERNAME}:%{FILEGROUPNAME}\n]", PACKAGE
        )
    ]
    held = {path: int(mode) & 0xFFFF for path, mode, _ in rows}
    expected = laid_out(root)
    assert {path for path, mode in held.items() if not stat.S_ISDIR(mode)} == set(expected) | ADDED
    assert {path: mode for path, mode in held.items() if path in expected} == {
        path: mode for path, mode in expected.items() if path in held
    }
    assert {owner for *_, owner in rows} == {"root:root"}


def test_the_package_owns_the_directories_that_are_its_own_and_no_others(root: Root) -> None:
    rows = [row.split("\t") for row in query(root, "--qf", "[%{FILENAMES}\t%{FILEMODES}\n]", PACKAGE)]
    owned = {path for path, mode in rows if stat.S_ISDIR(int(mode) & 0xFFFF)}
    own = ("/usr/lib/rocmcfg", "/usr/share/rocmcfg", "/usr/share/doc/rocmcfg", "/usr/share/licenses/rocmcfg")
    assert set(own) <= owned
    assert [path for path in owned if not path.startswith(own)] == []


def test_it_asks_for_a_python_that_it_has_libraries_for_and_hands_out_nothing_private(root: Root) -> None:
    requires, provides = query(root, "--requires", PACKAGE), query(root, "--provides", PACKAGE)
    assert {line for line in requires if "python" in line} == {
        "/usr/bin/python3",
        "(python3 >= 3.10 with python3 < 3.16)",
    }
    assert [line for line in provides if not line.startswith(("rocmcfg", "bundled("))] == []
    # Newer would not install on RHEL 8 (glibc 2.28).
    assert not [
        line
        for line in requires
        if "GLIBC_2." in line and int(line.split("GLIBC_2.")[1].split(".")[0].split(")")[0]) > 28
    ]


def test_a_package_made_by_rpm_6_can_be_read_by_rpm_4(root: Root) -> None:
    source = PACKAGE.replace("x86_64", "src")
    assert query(root, "--qf", "%{RPMFORMAT}\n", PACKAGE, source) == ["4", "4"]


def test_a_second_build_makes_the_same_bytes(root: Root) -> None:
    build(root, SOURCE, "/src/again")
    for package in (PACKAGE, PACKAGE.replace("x86_64", "src")):
        assert (
            root.inside(package).read_bytes() == root.inside(package.replace("/out/", "/again/")).read_bytes()
        )


@pytest.mark.parametrize(
    ("distribution", "python", "scriptlets"),
    [
        ("rhel 9", "/usr/bin/python3.12", {"post", "posttrans", "preun"}),
        ("rhel 10", "/usr/bin/python3", {"post", "posttrans", "preun"}),
        ("fedora 43", "/usr/bin/python3", {"post", "posttrans", "preun"}),
        ("suse_version 1500", "/usr/bin/python3.11", {"post", "posttrans", "preun"}),
        ("suse_version 1600", "/usr/bin/python3", {"post", "posttrans", "preun", "pre", "postun"}),
    ],
)
def test_each_distribution_gets_the_python_it_has_and_its_own_scriptlets(
    root: Root, distribution: str, python: str, scriptlets: set[str]
) -> None:
    defines = ["--define", distribution]
    if "pre" in scriptlets:  # as openSUSE's systemd-rpm-macros name them
        defines += [
            "--define",
            "service_add_pre() : %*",
            "--define",
            "service_del_postun_without_restart() : %*",
        ]
    text = root.run("rpmspec", "-P", *defines, f"{SOURCE}/packaging/rpm/rocmcfg.spec").stdout
    lines = [line.split() for line in text.splitlines()]
    assert ["Requires:", python] in lines
    assert (python == "/usr/bin/python3") == ("(python3 >= 3.10 with python3 < 3.16)" in text)
    sections = {words[0][1:] for words in lines if len(words) == 1 and words[0].startswith("%")}
    assert sections & {"pre", "post", "preun", "postun", "posttrans"} == scriptlets


def test_rpmlint_finds_nothing_that_is_not_explained(root: Root) -> None:
    said = root.run(
        *("rpmlint", "--rpmlintrc", f"{SOURCE}/packaging/rpm/rocmcfg.rpmlintrc"),
        *(PACKAGE, PACKAGE.replace("x86_64", "src"), f"{SOURCE}/packaging/rpm/rocmcfg.spec"),
        check=False,
    ).stdout
    assert [line for line in said.splitlines() if ": E: " in line or ": W: " in line] == []
    assert " 0 errors, 0 warnings" in said


@pytest.mark.parametrize("tag", ["POSTIN", "PREUN", "POSTTRANS"])
def test_the_scriptlets_are_sound_shell(root: Root, tag: str) -> None:
    root.inside("/src/scriptlet").write_text("\n".join(query(root, "--qf", f"%{{{tag}}}\n", PACKAGE)) + "\n")
    root.run("dash", "-n", "/src/scriptlet")
    root.run("shellcheck", "--shell=sh", "/src/scriptlet")


def test_a_life_of_the_package(root: Root) -> None:
    """Installed for another Python and with a module that the next version lacks; used; upgraded; erased."""
    _build_old(root)

    installed = root.run("rpm", "-i", "--nodeps", OLD)
    assert installed.stdout == ""
    assert root.inside("/usr/bin/rocmcfg").read_text().startswith("#!/usr/bin/python3.14 -IS\n")
    assert root.run("rocmcfg", "--version").stdout == f"rocmcfg {VERSION}\n"
    assert root.run("systemctl", "is-enabled", *UNITS, check=False).stdout == "enabled\n" * len(UNITS)
    assert root.inside("/usr/lib/rocmcfg/rocmcfg/dropped/__pycache__/__init__.cpython-314.pyc").exists()
    state = with_state(root)

    upgraded = root.run("rpm", "-U", "--nodeps", PACKAGE)
    assert upgraded.stdout == ""  # above all no warning that something stays applied
    assert not root.inside("/usr/lib/rocmcfg/rocmcfg/dropped").exists()
    assert root.inside("/usr/bin/rocmcfg").read_text().startswith("#!/usr/bin/python3 -IS\n")
    assert root.inside("/usr/lib/rocmcfg/rocmcfg/__pycache__/__init__.cpython-314.pyc").exists()
    assert root.run("systemctl", "is-enabled", *UNITS).stdout == "enabled\n" * len(UNITS)
    assert root.run("rpm", "-V", "--nodeps", "rocmcfg").stdout == ""
    planned = root.run("rocmcfg", "plan", "--profile", "gfx1201", "--root", f"{SOURCE}/docs/demo/sample-host")
    assert "amdgpu.cwsr_enable=0" in planned.stdout
    assert root.run("rpm", "-V", "--nodeps", "rocmcfg").stdout == ""  # and a run leaves nothing behind

    root.run("ln", "-s", "/usr/bin/rocmcfg", "/usr/local/bin/rocmcfg")
    again = root.run("rpm", "-U", "--nodeps", "--replacepkgs", PACKAGE)
    assert "another rocmcfg comes before this package's on PATH: /usr/local/bin/rocmcfg" in again.stdout
    root.run("rm", "/usr/local/bin/rocmcfg")

    files = query(root, "--list", PACKAGE)
    erased = root.run("rpm", "-e", "rocmcfg")
    assert "the settings that it applied stay in force after the package is removed" in erased.stdout
    assert "sudo rocmcfg rollback --pristine" in erased.stdout
    assert "interrupted" not in erased.stdout
    assert [path for path in files if root.inside(path).is_symlink() or root.inside(path).exists()] == []
    assert [path for path in root.files_below("/etc/systemd/system") if "rocmcfg" in path] == []
    assert root.run("sh", f"{STATE}/undo.sh", "left").stdout == "/etc/rocmcfg/env\n"
    root.run("rm", "-r", "/etc/rocmcfg")
    assert state_of(root) == state


def test_what_is_applied_on_bls_entries_is_named_and_taken_back_without_the_program(root: Root) -> None:
    root.run("rm", "-rf", STATE)
    root.run("rpm", "-U", "--nodeps", "--replacepkgs", PACKAGE)
    before = with_chain(root, "fedora-bls")
    applied = now(root, before)
    erased = root.run("rpm", "-e", "rocmcfg").stdout
    assert now(root, before) == applied
    for path, content in applied.items():
        assert (f"  {path}\n" in erased) == (content != before[path]), path
    assert f"sudo sh {STATE}/undo.sh" in erased
    assert "Undone; reboot" in root.run("sh", f"{STATE}/undo.sh").stdout
    assert now(root, before) == before
    assert not root.inside(STATE).exists()


def test_a_removal_takes_back_an_addon_where_it_is_asked_to(root: Root) -> None:
    root.run("rpm", "-U", "--nodeps", "--replacepkgs", PACKAGE)
    before = with_chain(root, "uki-ukify")
    applied = {path for path, content in now(root, before).items() if content != before[path]}
    assert any(path.endswith(".extra.d/rocmcfg.addon.efi") for path in applied)
    erased = root.run("env", "ROCMCFG_UNDO=1", "rpm", "-e", "rocmcfg").stdout
    assert "Undone; reboot" in erased
    assert "applied stay in force" not in erased
    assert now(root, before) == before
    assert not root.inside(STATE).exists()


def test_a_removal_that_cannot_take_it_back_says_why_and_goes_on(root: Root) -> None:
    """The line was altered by somebody, whose word counts."""
    root.run("rpm", "-U", "--nodeps", "--replacepkgs", PACKAGE)
    before = with_chain(root, "fedora-bls")
    root.run("sed", "-i", "s/amdgpu.runpm=0/amdgpu.runpm=1/", "/etc/kernel/cmdline")
    altered = now(root, before)
    erased = root.run("env", "ROCMCFG_UNDO=1", "rpm", "-e", "rocmcfg").stdout
    assert "rocmcfg's lines were altered in" in erased
    assert "it could not be undone" in erased
    assert "applied stay in force" in erased
    assert now(root, before) == altered
    assert not root.inside("/usr/bin/rocmcfg").exists()
    root.run("sh", f"{STATE}/undo.sh", "--force")
    assert now(root, before) == before


def test_who_erases_it_in_the_middle_of_a_change_is_told(root: Root) -> None:
    journal = f"{STATE}/transactions/000001/journal.jsonl"
    root.run("rpm", "-U", "--nodeps", "--replacepkgs", PACKAGE)
    root.system.write(journal, '{"kind":"begin","v":1}\n{"kind":"change","v":1}\n')
    erased = root.run("rpm", "-e", "rocmcfg").stdout
    assert "a change of this host was interrupted" in erased
    assert "Install the package again and run: sudo rocmcfg recover" in erased
    assert root.inside(journal).exists()
    assert not root.inside("/usr/bin/rocmcfg").exists()


def _build_old(root: Root) -> None:
    source = f"/src/old/rocmcfg-{VERSION}"
    root.run("sh", "-c", f"mkdir /src/old && cp -a {SOURCE} {source}")
    dropped = root.inside(f"{source}/rocmcfg/dropped/__init__.py")
    dropped.parent.mkdir()
    dropped.write_text("GONE = 'in the next version'\n")
    root.run("tar", "-C", "/src/old", "-czf", f"{source}.tar.gz", f"rocmcfg-{VERSION}")
    build(root, source, "/src/old", "dist ~old", "rocmcfg_python /usr/bin/python3.14")
