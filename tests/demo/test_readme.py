"""What the documentation shows of the program is what the program does today."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text()
PAGES = (
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    REPOSITORY / "CHANGELOG.md",
    *(REPOSITORY / "docs").rglob("*.md"),
)


def test_generated_parts_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "docs/generate.py"), "--check"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_console_block_of_the_readme_is_generated() -> None:
    by_hand = re.sub(r"<!-- generated: .*?<!-- end -->", "", README, flags=re.S)
    assert "```console" not in by_hand
    assert "\n$ " not in by_hand


def test_every_profile_and_exit_code_is_in_the_readme() -> None:
    from rocmcfg.model.diagnostic import ExitCode

    for profile in (REPOSITORY / "profiles").glob("*.toml"):
        assert re.search(rf"\b{profile.stem}\b", README), profile.name
    for code in ExitCode:
        assert f"\n| {int(code)} |" in README, code


def test_every_command_that_the_pages_name_exists() -> None:
    from rocmcfg.cli.app import NAMES

    for page in PAGES:
        for name in re.findall(r"`(?:sudo )?rocmcfg ([a-z][a-z-]+)", page.read_text()):
            assert name in NAMES, (page, name)


def test_every_link_to_a_file_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
