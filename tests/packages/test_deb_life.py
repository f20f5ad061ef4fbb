"""The Debian package on clean systems, by the README's commands: from install to purge."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import rocmcfg

from . import readme
from .conftest import DEB, NewRoot, build_deb
from .roots import REPOSITORY, Root

INSTALL = f"cd /root && {readme.commands('package')[-1]}"
REMOVE = "sudo apt remove -y rocmcfg"
PURGE = "sudo apt purge -y rocmcfg"
STATE = "/var/lib/rocmcfg"
ENABLED = "/etc/systemd/system/multi-user.target.wants/rocmcfg-recover.service"
# What every installation, run and boot leaves, of whatever program.
_OTHERS = (
    r"^/(proc|sys|dev|run|tmp|root|var/(log|cache|lib/(dpkg|apt|systemd|initramfs-tools)))(/|$)|/__pycache__"
)


def prepared(root: Root, *packages: Path) -> Root:
    for package in packages:
        root.bring(package, f"/root/dist/{package.name}")
    return root


def tree(root: Root) -> set[str]:
    """Every path but those that others leave, files with the digest of their content."""
    listed = root.ok("find / -xdev -type f -exec md5sum {} + -o ! -type f -print").splitlines()
    paths = (line.partition("  ")[2] or line for line in listed)
    return {line for line, path in zip(listed, paths, strict=True) if not re.search(_OTHERS, path)}


@pytest.mark.parametrize("suite", ["bookworm", "trixie", "forky"])
def test_from_install_to_purge_with_an_applied_configuration(
    new_root: NewRoot, suite: str, deb: Path, older: Path
) -> None:
    root = prepared(new_root(suite, live=True), deb, older)
    root.ok("update-grub")
    before = tree(root)

    root.ok(f"cd /root/dist && sudo apt install -y ./{older.name}")
    assert root.ok("sudo rocmcfg --version") == "rocmcfg 0.0.9\n"
    root.ok("sudo rocmcfg apply --profile gfx1201 --yes")
    assert root.run("rocmcfg verify").returncode == 6  # a reboot is missing
    root.reboot()
    assert "In effect: all 4 settings." in root.ok("rocmcfg verify")

    root.ok("cd /usr/lib/rocmcfg && test -e rocmcfg/stale.py && ls rocmcfg/__pycache__/stale.*")
    upgraded = root.ok(INSTALL)
    assert "rocmcfg: " not in upgraded
    assert root.ok("rocmcfg --version") == f"rocmcfg {rocmcfg.__version__}\n"
    stale = "find /usr -name 'stale*'"
    assert root.ok(stale) == "", "a file of the previous version, or its byte code, is still there"
    assert "In effect: all 4 settings." in root.ok("rocmcfg verify")

    said = root.ok(REMOVE)
    assert "the settings that it applied stay in force" in said
    assert "/etc/default/grub.d/zz-rocmcfg.cfg" in said
    assert "sudo rocmcfg rollback --pristine" in said
    assert not root.exists("/usr/lib/rocmcfg"), "byte code is left"
    assert root.exists(f"{STATE}/receipt.json")
    root.ok("/etc/kernel/postinst.d/rocmcfg 6.14.0-37-generic")

    said = root.ok(PURGE)
    assert f"{STATE} is kept" in said
    assert root.exists(f"{STATE}/receipt.json")

    root.ok(f"sudo sh {STATE}/undo.sh")
    root.ok("rm -r /var/backups/rocmcfg/etc && rmdir /var/backups/rocmcfg")
    assert tree(root) == before


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_the_package_put_back_takes_back_what_it_applied_and_leaves_nothing(
    new_root: NewRoot, suite: str, deb: Path
) -> None:
    root = prepared(new_root(suite, live=True), deb)
    root.ok("update-grub")
    before = tree(root)
    root.ok(INSTALL)
    root.ok("sudo rocmcfg apply --profile gfx1201 --yes")
    root.reboot()
    assert root.exists(ENABLED)
    assert root.exists(ENABLED.replace("-recover", "-trial")), "no trial would confirm itself"

    root.ok(REMOVE)
    root.ok(INSTALL)
    assert root.exists(f"{STATE}/undo.sh"), "what is applied is still in force"
    assert "In effect: all 4 settings." in root.ok("rocmcfg verify")
    root.ok("sudo rocmcfg rollback --pristine --yes")

    assert "rocmcfg: " not in root.ok(REMOVE)
    assert "rocmcfg: " not in root.ok(PURGE)
    assert tree(root) == before


def test_every_command_runs_with_what_the_package_brings(new_root: NewRoot) -> None:
    """Of the Debian 12 that its libraries are too new for. No compiler, no pip, no network: none is there."""
    root = new_root("bookworm", live=True, installed=True)
    assert root.ok("command -v gcc cc pip pip3 || true") == ""
    shown = root.ok("rocmcfg --help").partition("Examples")[0]
    commands = re.findall(r"^  ([a-z]+) ", shown, re.MULTILINE)
    assert {"plan", "verify", "doctor", "schema"} <= set(commands)
    for command in commands:
        assert "Usage: rocmcfg" in root.ok(f"rocmcfg {command} --help")
    root.ok("rocmcfg profile validate $(cd /usr/share/rocmcfg/profiles && ls | sed 's/.toml$//')")
    root.ok("rocmcfg schema && rocmcfg doctor && rocmcfg report && rocmcfg explain amdgpu.cwsr_enable")
    root.ok("rocmcfg plan --profile gfx1201 --json && rocmcfg env --profile gfx1201 && rocmcfg lint")
    compiled = root.ok("find /usr/lib/rocmcfg -name '*.pyc'").split()
    assert {path.split(".")[-2] for path in compiled} == {"cpython-311"}
    sources = root.ok("find /usr/lib/rocmcfg -name '*.py'").split()
    assert len(compiled) == len(sources)


POISON = "raise SystemExit('foreign code was run')\n"


def test_nothing_of_the_user_or_of_pip_gets_into_a_run_as_root(new_root: NewRoot) -> None:
    root = new_root("trixie", live=True, installed=True)
    version = root.ok("python3 -c 'import sys; print(\"python%d.%d\" % sys.version_info[:2])'").strip()
    places = ("/root/.local/lib/{}/site-packages", "/usr/local/lib/{}/dist-packages", "/here", "/path")
    for place in places:
        for name in (
            "pydantic",
            "typer",
            "rocmcfg",
            "usercustomize",
            "sitecustomize",
            "typing_extensions",
            "re",
        ):
            root.write(f"{place.format(version)}/{name}.py", POISON)
    root.write(f"/usr/local/lib/{version}/dist-packages/evil.pth", "import rocmcfg\n")
    poisoned = {"PYTHONPATH": "/path", "PYTHONHOME": "/path", "PYTHONSTARTUP": "/path/re.py"}
    keep = "--preserve-env=" + ",".join(poisoned)
    commands = ("profile validate rdna4", "plan --profile gfx1201 -q", "verify")
    for command in commands:
        done = root.run(f"cd /here && sudo {keep} rocmcfg {command}", env=poisoned)
        assert done.returncode == 0, done.stdout
        assert "foreign" not in done.stdout
    assert "foreign" in root.run("cd /here && sudo python3 -c 'import typer'").stdout  # the poison is one


def test_it_runs_at_a_rescue_shell(new_root: NewRoot) -> None:
    """No environment at all, and nothing that could be written to."""
    root = new_root("bookworm", live=True, installed=True)
    root.ok("sudo rocmcfg apply --profile gfx1201 --yes")
    for command in ("--version", "status", "history", "plan --profile gfx1201"):
        done = root.run(f"exec env -i /usr/bin/rocmcfg {command}", read_only=True)
        assert done.returncode == 0, done.stdout
    done = root.run("exec env -i /usr/bin/rocmcfg rollback --yes", read_only=True)
    assert done.returncode == 1
    assert "the file system is read-only" in " ".join(done.stdout.split())
    assert "Traceback" not in done.stdout


def test_another_rocmcfg_that_comes_first_is_named_with_what_to_do(new_root: NewRoot, deb: Path) -> None:
    root = prepared(new_root("bookworm"), deb)
    root.write("/opt/rocmcfg/bin/rocmcfg", "#!/bin/sh\necho rocmcfg 0.0.1\n", mode="755")
    root.ok("ln -s /opt/rocmcfg/bin/rocmcfg /usr/local/bin/rocmcfg")
    root.write("/usr/local/sbin/rocmcfg", "#!/bin/sh\necho rocmcfg 0.0.1\n", mode="755")
    said = root.ok(INSTALL)
    assert "/usr/local/bin/rocmcfg -> /opt/rocmcfg/bin/rocmcfg" in said
    assert "sudo rm /usr/local/bin/rocmcfg" in said
    assert "pip uninstall rocmcfg" in said
    root.ok("sudo rm /usr/local/bin/rocmcfg /usr/local/sbin/rocmcfg")
    assert root.ok("sudo rocmcfg --version") == f"rocmcfg {rocmcfg.__version__}\n"
    root.ok("ln -s /usr/bin/rocmcfg /usr/local/bin/rocmcfg")
    assert "warning: another" not in root.ok(f"cd /root/dist && sudo apt install -y --reinstall ./{DEB}")


JOURNAL = f"{STATE}/transactions/000001/journal.jsonl"
HALF = '{"kind":"begin","sum":"00","v":1}\\n{"kind":"change"'
SPOILED = {
    "the state directory is gone": f"rm -rf {STATE}",
    "a file is where the state directory was": f"rm -rf {STATE}; echo x >{STATE}",
    "the receipt is half a line": f"mkdir -p {STATE}; printf '{{' >{STATE}/receipt.json",
    "a directory is where a journal was": f"mkdir -p {JOURNAL}",
    "a journal of bytes": f"mkdir -p $(dirname {JOURNAL}); cp /bin/true {JOURNAL}",
    "nobody may read": f"mkdir -p {STATE}/transactions; chmod 000 {STATE}/transactions {STATE}",
    "Python does not run": "mv $(readlink -f /usr/bin/python3) /root/python",
}


def test_remove_and_purge_survive_whatever_became_of_the_state(new_root: NewRoot) -> None:
    for what, spoil in SPOILED.items():
        root = new_root("bookworm", installed=True)
        root.ok(spoil)
        for command in (REMOVE, PURGE):
            done = root.run(command)
            assert done.returncode == 0, f"{what}\n{done.stdout}"
        assert root.run("dpkg -s rocmcfg").returncode == 1, what
        assert not root.exists("/usr/lib/rocmcfg"), what


def test_an_interrupted_change_is_named_and_its_record_survives_a_purge(new_root: NewRoot) -> None:
    root = new_root("bookworm", installed=True)
    root.ok(f"mkdir -p $(dirname {JOURNAL}); printf '{HALF}' >{JOURNAL}")
    assert "sudo rocmcfg recover" in root.ok(REMOVE)
    assert "is kept" in root.ok(PURGE)
    assert root.exists(JOURNAL)


@pytest.mark.parametrize("suite", ["trixie", "forky"])
def test_the_build_on_the_distributions_libraries_does_the_same(
    new_root: NewRoot, deb: Path, tmp_path: Path, suite: str
) -> None:
    """Installed over the other one, on a release whose libraries suffice; then the test that the source
    package brings for archives."""
    package = build_deb(None, tmp_path, "--system-libraries", "--elsewhere")
    root = prepared(new_root(suite, live=True, libraries=True), deb, package)
    root.ok("update-grub")
    root.ok(INSTALL)
    root.ok("sudo rocmcfg apply --profile gfx1201 --yes")
    root.ok(f"cd /root/dist && dpkg -i ./{package.name}")
    assert root.ok("ls /usr/lib/rocmcfg") == "rocmcfg\n"
    root.reboot()
    assert "In effect: all 4 settings." in root.ok("rocmcfg verify")
    root.ok("rocmcfg plan --profile gfx1201 && rocmcfg profile validate rdna4")
    root.ok("sudo rocmcfg rollback --pristine --yes")
    for path in ("docs/demo", "packaging/debian/tests"):
        shutil.copytree(REPOSITORY / path, root.work / "upper/src" / path, symlinks=True)
    output = root.ok("cd /src; AUTOPKGTEST_TMP=$(mktemp -d) packaging/debian/tests/scratch-root")
    assert "Rolled back: transaction 1." in output


def test_lintian_has_nothing_to_say_of_the_build_on_the_distributions_libraries(tmp_path: Path) -> None:
    package = build_deb(None, tmp_path, "--system-libraries", "--elsewhere")
    command = ["lintian", "--allow-root", "--fail-on", "error,warning", str(package)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("N:")] == []
