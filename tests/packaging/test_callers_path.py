"""What a package's scripts run as root is the system's, whatever PATH its installer was started with."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.program import SOURCE
from tests.support.tools import HANG, require_tool

PACKAGING = SOURCE / "packaging"
SPEC = (PACKAGING / "rpm/rocmcfg.spec").read_text()


def _scripts() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The shell of each script, its text without what its builder puts in, and its arguments; after it those
    of each function of Arch's."""
    for name, argument in (("postinst", "configure"), ("prerm", "remove"), ("postrm", "purge")):
        yield "sh", (PACKAGING / f"debian/rocmcfg.{name}").read_text(), (argument,)
    arch = (PACKAGING / "arch/rocmcfg.install").read_text()
    for function in ("post_install", "post_upgrade", "pre_remove"):
        yield "bash", f"{arch}\n{function}", ()
    for body in re.findall(r"^%(?:pre|post|posttrans|preun|postun)\n(.*?)\n(?=\n|%endif)", SPEC, re.M | re.S):
        plain = re.sub(r"%\{rocmcfg_python\}", "python3", re.sub(r"^%\w.*$", "", body, flags=re.M))
        yield "sh", re.sub(r"%\{\w+\}", "/nonexistent", plain), ("0",)


@pytest.mark.parametrize("number", range(11))
def test_no_script_of_a_package_runs_a_program_of_its_callers_path(tmp_path: Path, number: int) -> None:
    """Nothing of this host is touched: folders and units are named otherwise."""
    shell, text, arguments = [*_scripts()][number]
    text = text.replace("/usr/share/rocmcfg/undo.sh", "/nonexistent/undo.sh")
    ours = "/usr/lib/rocmcfg|/var/lib/rocmcfg|/etc/rocmcfg|/run/rocmcfg|/etc/systemd"
    text = re.sub(f"({ours})", r"/nonexistent\1", text).replace("systemctl", "nothing-of-this-name")
    callers, ran = tmp_path / "bin", tmp_path / "ran"
    callers.mkdir()
    for name in (
        "sh",
        "python3",
        "cat",
        "rm",
        "rmdir",
        "find",
        "readlink",
        "sed",
        "tail",
        "nothing-of-this-name",
    ):
        (callers / name).write_text(f'#!/bin/sh\necho {name} >>"{ran}"\n')
        (callers / name).chmod(0o755)
    (tmp_path / "script").write_text(text)
    program = require_tool(shell, package=shell)
    subprocess.run(
        [program, str(tmp_path / "script"), *arguments],
        env={"PATH": f"{callers}:/usr/bin:/bin"}, capture_output=True, timeout=HANG, check=False,
    )  # fmt: skip
    assert not ran.exists(), ran.read_text()


def test_every_script_is_among_them() -> None:
    assert len([*_scripts()]) == 11
