"""The spec and the PKGBUILD name versions and sums that are decided elsewhere; nothing may fall behind."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import rocmcfg
from tests.support.tools import require_tool, run

PACKAGING = Path(__file__).parents[2] / "packaging"
SPEC = (PACKAGING / "rpm/rocmcfg.spec").read_text(encoding="utf-8")
PKGBUILD = (PACKAGING / "arch/PKGBUILD").read_text(encoding="utf-8")
RULES = (PACKAGING / "debian/rules").read_text(encoding="utf-8")
TREE = runpy.run_path(str(PACKAGING / "tree.py"))
LOCK = TREE["read_lock"](TREE["LOCK"].read_text(encoding="utf-8"))


def test_the_spec_says_which_libraries_in_which_version_it_bundles() -> None:
    said = set(re.findall(r"^Provides: +bundled\(python3dist\(([^)]+)\)\) = (\S+)$", SPEC, re.MULTILINE))
    carried = {
        (one.name, one.version) for one in LOCK if any(one.wanted(python) for python in TREE["PYTHONS"])
    }
    assert said == carried


def test_the_spec_asks_for_the_pythons_that_there_are_libraries_for() -> None:
    first, last = TREE["PYTHONS"][0], TREE["PYTHONS"][-1]
    after = f"3.{int(last.partition('.')[2]) + 1}"
    assert f"(python3 >= {first} with python3 < {after})" in SPEC


def test_a_package_without_libraries_asks_for_the_ranges_of_pyproject() -> None:
    """That of Debian and that of Fedora; each end of a range is tested."""
    text = (PACKAGING.parent / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"(?ms)^dependencies = \[\n(.*?)^\]", text)
    assert listed is not None
    ranges = re.findall(r'(?m)^  "([a-z0-9]+)>=([\d.]+)(?:,<([\d.]+))?"', listed[1])
    assert {name for name, *_ in ranges} == {"typer", "pydantic", "jinja2", "distro", "sh"}
    rules = re.search(r"(?m)^RANGE := (python3 \(>= 3\.11~\)(?:.*\\\n)*.*)", RULES)
    assert rules is not None
    debian = set(re.split(r", *(?:\\\n *)?", rules[1])) - {"python3 (>= 3.11~)"}
    fedora = set(re.findall(r"(?m)^%1:  (\(?python3dist.*?)(?: \\)?$", SPEC))
    wanted_by_debian, wanted_by_fedora = set(), set()
    for name, least, below in ranges:
        wanted_by_debian.add(f"python3-{name} (>= {least})")
        one = f"python3dist({name})"
        if below:
            wanted_by_debian.add(f"python3-{name} (<< {below}~)")
            wanted_by_fedora.add(f"({one} >= {least} with {one} < {below}~~)")
        else:
            wanted_by_fedora.add(f"{one} >= {least}")
    assert debian == wanted_by_debian
    assert fedora == wanted_by_fedora


def test_the_version_is_the_same_everywhere() -> None:
    assert re.findall(r"^Version:\s+(\S+)$", SPEC, re.MULTILINE) == [rocmcfg.__version__]
    assert re.findall(r"^pkgver=(\S+)$", PKGBUILD, re.MULTILINE) == [rocmcfg.__version__]


def test_the_pkgbuild_has_every_wheel_of_the_lock_with_a_sum_from_there() -> None:
    wheels, sums = (
        re.findall(r"'([^']+)'", found[1])
        for name in ("_wheels", "_sha256")
        if (found := re.search(rf"(?ms)^{name}=\(\n(.*?)^\)", PKGBUILD)) is not None
    )
    names = [address.rpartition("/")[2] for address in wheels]
    for python in ("3.14", "3.15"):
        tag = f"cp{python.replace('.', '')}"
        mine = [
            (name.split("-")[0].replace("_", "-").lower(), name.split("-")[1], digest)
            for name, digest in zip(names, sums, strict=True)
            if f"-{tag}-" in name or "-none-any" in name
        ]
        wanted = {(one.name, one.version): one.hashes for one in LOCK if one.wanted(python)}
        assert {(name, version) for name, version, _ in mine} == set(wanted), "run packaging/arch/update"
        assert [row for row in mine if row[2] not in wanted[row[:2]]] == []


def test_the_srcinfo_repeats_the_pkgbuild() -> None:
    """makepkg itself is asked in tests/packages; this is for a change made in a hurry."""
    said = (PACKAGING / "arch/.SRCINFO").read_text(encoding="utf-8")
    pinned = re.findall(r"(?m)^  '(https://[^']+)'", PKGBUILD) + re.findall(r"'([0-9a-f]{64})'", PKGBUILD)
    assert re.findall(r"(?:source|sums) = (https://\S+|[0-9a-f]{64})$", said, re.MULTILINE) == pinned
    for name in ("pkgdesc", "pkgver", "pkgrel", "url"):
        value = re.search(rf"(?m)^{name}='?([^'\n]+)'?$", PKGBUILD)
        assert value is not None
        assert f"\t{name} = {value[1]}\n" in said, "run packaging/arch/update"


def test_the_scripts_of_both_packages_are_read_by_the_shells_that_run_them() -> None:
    bash = require_tool("bash", "bash")
    for script in ("arch/PKGBUILD", "arch/rocmcfg.install"):
        done = run([bash, "-n", str(PACKAGING / script)])
        assert (done.returncode, done.stderr) == (0, "")


def test_the_rpm_build_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "rpmbuild").touch(mode=0o755)
    absent = [sys.executable, str(PACKAGING / "rpm/build"), "--sdist", str(tmp_path / "none.tar.gz")]
    done = run(absent, env={"PATH": str(tmp_path)})
    said = f"packaging/rpm/build: {tmp_path}/none.tar.gz does not exist; without the option it is made\n"
    assert (done.returncode, done.stderr) == (1, said)
    (tmp_path / "rpmbuild").unlink()
    done = run([sys.executable, str(PACKAGING / "rpm/build")], env={"PATH": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr == (
        "packaging/rpm/build: rpmbuild is missing. "
        "Debian, Ubuntu: apt-get install rpm   Fedora: dnf install rpm-build\n"
    )
