"""The tree that every package installs: which wheels it takes, how it merges them, what its launcher says."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import rocmcfg

REPOSITORY = Path(__file__).parents[2]
TREE = REPOSITORY / "packaging/tree.py"


@pytest.fixture(scope="module")
def tree() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tree", TREE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["tree"] = module
    spec.loader.exec_module(module)
    return module


def install(destdir: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """As a package's build does: no site, so nothing but the standard library can be imported."""
    command = [sys.executable, "-IS", str(TREE), "install", "--destdir", str(destdir), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def started(launcher: Path, *argv: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-IS", str(launcher), *argv]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the libraries of this environment, as a distribution would lend its own."""
    destdir = tmp_path_factory.mktemp("tree")
    done = install(destdir, "--system-libraries", sysconfig.get_path("purelib"))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return destdir


# -- what is installed ----------------------------------------------------------------------------------


def test_every_file_is_where_the_distribution_looks_for_it(installed: Path) -> None:
    expected = """
        usr/bin/rocmcfg usr/lib/rocmcfg/rocmcfg/__init__.py usr/share/rocmcfg/profiles/gfx1201.toml
        usr/share/rocmcfg/profile.schema.json usr/share/rocmcfg/undo.sh usr/share/man/man1/rocmcfg.1.gz
        usr/share/man/man5/rocmcfg-profile.5.gz usr/share/bash-completion/completions/rocmcfg
        usr/share/zsh/vendor-completions/_rocmcfg usr/share/fish/vendor_completions.d/rocmcfg.fish
        usr/lib/systemd/system/rocmcfg-recover.service usr/lib/systemd/system/rocmcfg-trial.service
        usr/lib/systemd/system/rocmcfg-metrics.service usr/lib/systemd/system/rocmcfg-metrics.timer
        usr/share/rocmcfg/prometheus/rocmcfg.rules.yml
        usr/lib/systemd/system/rocmcfg-try.service
        usr/lib/systemd/system/rocmcfg-crash@.service usr/lib/udev/rules.d/70-rocmcfg-crash.rules
    """
    assert [path for path in expected.split() if not (installed / path).is_file()] == []
    pages = {f"{page.parent.name}/{page.name}.gz" for page in (REPOSITORY / "packaging/man").glob("man?/*")}
    manual = installed / "usr/share/man"
    assert {path.relative_to(manual).as_posix() for path in manual.rglob("*.gz")} == pages
    assert "man1/rocmcfg-apply.1.gz" in pages
    assert not [path for path in installed.rglob("*") if path.suffix == ".pyc"]


def test_the_modes_do_not_depend_on_who_builds(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        assert install(tmp_path / "d", "--system-libraries").returncode == 0
    finally:
        os.umask(before)
    modes = {
        ("directory" if path.is_dir() else path.name in ("rocmcfg", "undo.sh"), path.stat().st_mode & 0o7777)
        for path in (tmp_path / "d").rglob("*")
        if not path.is_symlink() and "share/bash-completion" not in str(path)
    }
    assert modes == {("directory", 0o755), (True, 0o755), (False, 0o644)}


def test_a_tree_that_was_only_unpacked_runs_with_its_own_profiles(installed: Path) -> None:
    launcher = installed / "usr/bin/rocmcfg"
    assert started(launcher, "--version").stdout == f"rocmcfg {rocmcfg.__version__}\n"
    listed = started(launcher, "profile", "list", "--root", str(REPOSITORY / "docs/demo/sample-host"))
    assert listed.returncode == 0, listed.stderr
    assert "gfx1201" in listed.stdout
    assert not list(installed.rglob("__pycache__")), "a run left what no package knows of"


def test_the_module_of_a_directory_that_is_worked_in_is_not_imported(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise SystemExit('foreign code was run')\n")
    assert started(installed / "usr/bin/rocmcfg", "--version", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("pythons", [("3.10", "3.11"), ("3.98", "3.99")])
def test_a_python_without_libraries_ends_in_one_line(
    tree: ModuleType, tmp_path: Path, pythons: tuple[str, ...]
) -> None:
    launcher = tmp_path / "rocmcfg"
    launcher.write_bytes(tree.launcher(pythons, ()))
    done = started(launcher)
    assert done.returncode == 1
    if ".".join(map(str, sys.version_info[:2])) in pythons:
        assert "installation is damaged (ModuleNotFoundError: No module named 'rocmcfg')" in done.stderr
    else:
        assert f"libraries for {pythons[0]} to {pythons[1]}" in done.stderr
    assert "nothing was changed" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("content", ["", "def main(:\n", "\0", "raise ValueError('half')\n"])
def test_a_damaged_file_ends_in_one_line(installed: Path, tmp_path: Path, content: str) -> None:
    """A disk that was full, or failed: what is imported is empty, or any bytes."""
    shutil.copytree(installed, tmp_path / "tree")
    launcher = tmp_path / "tree/usr/bin/rocmcfg"
    (tmp_path / "tree/usr/lib/rocmcfg/rocmcfg/cli/app.py").write_text(content)
    done = started(launcher, "verify")
    assert done.returncode == 1
    assert "installation is damaged" in done.stderr
    assert "Reinstall the package" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" in started(launcher, "verify", "--debug").stderr


# -- how wheels are merged ------------------------------------------------------------------------------


def test_what_differs_goes_to_the_pythons_that_are_fewer(tree: ModuleType) -> None:
    old, new = {"doc/__init__.py": b"1"}, {"doc/__init__.py": b"2"}
    assert tree.merge({"3.10": old, "3.11": new, "3.12": new}) == {
        "doc/__init__.py": b"2",
        "cp310/doc/__init__.py": b"1",
    }


def test_extension_modules_lie_side_by_side(tree: ModuleType) -> None:
    parts = {
        f"3.{n}": {"fast/__init__.py": b"", f"fast/_c.cpython-3{n}-x86_64-linux-gnu.so": b"%d" % n}
        for n in (10, 11)
    }
    assert sorted(tree.merge(parts)) == [
        "fast/__init__.py",
        "fast/_c.cpython-310-x86_64-linux-gnu.so",
        "fast/_c.cpython-311-x86_64-linux-gnu.so",
    ]


def test_a_module_that_one_python_lacks_is_not_offered_to_it(tree: ModuleType) -> None:
    """A package is one thing: no Python may see a mixture of two versions."""
    old, new = {"p/__init__.py": b"", "p/gone.py": b""}, {"p/__init__.py": b""}
    assert sorted(tree.merge({"3.10": old, "3.11": new, "3.12": new})) == [
        "cp310/p/__init__.py",
        "cp310/p/gone.py",
        "p/__init__.py",
    ]


# -- which wheels are taken -----------------------------------------------------------------------------

LOCK = """\
lib==1.0 \\
    --hash=sha256:{lib}
only-old==2.0 ; python_full_version < '3.11' \\
    --hash=sha256:{only_old}
other-system==1.0 ; sys_platform == 'win32' \\
    --hash=sha256:00
"""


@pytest.fixture
def wheels(tree: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    digests = {}
    for name, version, pythons in (("lib", "1.0", ("310", "311")), ("only_old", "2.0", ("310",))):
        for python in pythons:
            place = tmp_path / "wheels" / f"cp{python}" / f"{name}-{version}-py3-none-any.whl"
            place.parent.mkdir(parents=True, exist_ok=True)
            with zipfile.ZipFile(place, "w") as archive:
                archive.writestr(zipfile.ZipInfo(f"{name}/__init__.py"), f"# {name}")
                archive.writestr(zipfile.ZipInfo(f"{name}/vendored/LICENSE.txt"), "terms")
                archive.writestr(zipfile.ZipInfo(f"{name}-{version}.dist-info/licenses/LICENSE"), "terms")
                archive.writestr(zipfile.ZipInfo(f"{name}-{version}.dist-info/METADATA"), "Name: lib")
            digests[name] = hashlib.sha256(place.read_bytes()).hexdigest()
    lock = tmp_path / "requirements.lock"
    lock.write_text(LOCK.format(**digests))
    monkeypatch.setattr(tree, "LOCK", lock)
    return tmp_path / "wheels"


def test_libraries_and_licences_come_from_the_wheels_and_metadata_does_not(
    tree: ModuleType, wheels: Path
) -> None:
    libraries = tree.read_wheels(wheels)
    assert libraries.pythons == ("3.10", "3.11")
    assert sorted(libraries.files) == ["lib/__init__.py", "only_old/__init__.py"]
    assert sorted(libraries.licences) == [
        "lib-1.0/LICENSE",
        "lib-1.0/vendored/LICENSE.txt",
        "only-old-2.0/LICENSE",
        "only-old-2.0/vendored/LICENSE.txt",
    ]


def test_a_wheel_whose_hash_is_not_locked_is_refused(tree: ModuleType, wheels: Path) -> None:
    with (wheels / "cp311/lib-1.0-py3-none-any.whl").open("ab") as file:
        file.write(b"more")
    with pytest.raises(
        tree.CannotBuild, match=r"cp311/lib-1\.0.* has none of the hashes in requirements\.lock"
    ):
        tree.read_wheels(wheels)


def test_a_wheel_that_is_missing_and_one_too_many_are_named(tree: ModuleType, wheels: Path) -> None:
    old = wheels / "cp310/only_old-2.0-py3-none-any.whl"
    stray = wheels / "cp311" / old.name
    stray.write_bytes(old.read_bytes())
    with pytest.raises(tree.CannotBuild, match=r"cp311/only_old.*empty the directory"):
        tree.read_wheels(wheels)
    stray.unlink()
    old.unlink()
    with pytest.raises(tree.CannotBuild, match=r"cp310 lacks only-old==2\.0"):
        tree.read_wheels(wheels)


def test_a_marker_that_is_not_understood_stops_the_build(tree: ModuleType) -> None:
    text = "lib==1.0 ; platform_machine == 'x86_64' \\\n    --hash=sha256:00\n"
    (requirement,) = tree.read_lock(text)
    with pytest.raises(tree.CannotBuild, match="cannot read the marker"):
        requirement.wanted("3.12")


def test_what_is_called_wrong_ends_in_one_line(tmp_path: Path) -> None:
    done = install(tmp_path / "d", "--wheels", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("tree.py: ")
    assert "fetch --into" in done.stderr
    assert done.stderr.count("\n") == 1
    assert install(tmp_path / "d").returncode == 2
