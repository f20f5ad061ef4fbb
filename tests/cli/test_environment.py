"""The variables of a profile, in each format, given to the program that is to read it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.hosts import debian_grub_host
from tests.support.program import Result, command, problem, process, rocmcfg
from tests.support.tools import HANG, require_root, require_tool

# every character that a value may have (rocmcfg.model.spelling.SAFE_VALUE)
EVERY = "AZaz09._,:;@%+=/-"
NAME = "ROCMCFG_TEST_VALUE"
WANTED = {"HSA_XNACK": "1", NAME: EVERY}


def env(format: str, *options: str) -> str:
    settings = ("--set", "env.HSA_XNACK=1", "--set", f"env.{NAME}={EVERY}")
    found = rocmcfg("env", *settings, "--format", format, *options)
    assert found.code == 0, found.err
    return found.out


def after(shell: list[str], script: str) -> dict[str, str]:
    """The variables that a program started behind `script` sees."""
    told = subprocess.run(
        [*shell, f"{script}\nenv -0"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": "/"},
        check=True,
        timeout=HANG,
    )
    pairs = dict(entry.partition("=")[::2] for entry in told.stdout.split("\0") if entry)
    return {name: pairs[name] for name in WANTED}


@pytest.mark.parametrize("shell", ["dash", "bash", "zsh", "sh"])
def test_a_posix_shell_reads_sh(shell: str) -> None:
    assert after([require_tool(shell, shell), "-c"], env("sh")) == WANTED


def test_fish_reads_fish() -> None:
    assert after([require_tool("fish", "fish"), "--no-config", "-c"], env("fish")) == WANTED


def test_fish_lines_are_quoted_where_fish_would_read_more_than_a_word() -> None:
    assert env("fish").splitlines() == ["set -gx HSA_XNACK 1", f"set -gx {NAME} '{EVERY}'"]


def test_python_reads_python() -> None:
    script = f"{env('python')}\nprint([os.environ[n] for n in {list(WANTED)!r}])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == str(list(WANTED.values()))


def test_python_leaves_what_the_user_has_set() -> None:
    script = f"{env('python')}\nprint(os.environ['HSA_XNACK'])"
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"HSA_XNACK": "0"}
    )
    assert told.stdout.strip() == "0"


def test_docker_takes_every_line_as_it_stands() -> None:
    """docker/cli opts/file.go: the name up to the first =, the rest is the value, quotes and all."""
    pairs = dict(line.partition("=")[::2] for line in env("docker").splitlines())
    assert pairs == WANTED


def test_systemd_lines_are_assignments_without_quoting() -> None:
    """systemd.unit(5): % begins a specifier, %% is the sign itself."""
    assert env("systemd").splitlines() == [
        f"Environment={n}={v.replace('%', '%%')}" for n, v in WANTED.items()
    ]
    if shutil.which("systemd-analyze"):
        unit = f"[Service]\n{env('systemd')}ExecStart=/bin/true\n"
        done = subprocess.run(
            ["systemd-analyze", "verify", "/dev/stdin"],
            input=unit,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Invalid environment" not in done.stderr


def test_plain_values_stay_plain() -> None:
    found = rocmcfg("env", "--set", "env.HSA_OVERRIDE_GFX_VERSION=11.0.0")
    assert found.out == "export HSA_OVERRIDE_GFX_VERSION=11.0.0\n"


def test_the_files_of_an_apply_are_read_by_their_readers(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    settings = ("--set", "env.HSA_XNACK=1", "--set", f"env.{NAME}={EVERY}")
    assert rocmcfg("apply", *settings, "--root", root, "--yes").code == 0
    assert after(["sh", "-c"], (root / "etc/profile.d/zz-rocmcfg.sh").read_text()) == WANTED
    for path in ("etc/rocmcfg/env", "etc/environment.d/90-rocmcfg.conf"):
        lines = [line for line in (root / path).read_text().splitlines() if not line.startswith("#")]
        assert dict(line.partition("=")[::2] for line in lines) == WANTED


def test_a_profile_without_variables_prints_a_comment(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1100")
    assert rocmcfg("env", "--profile", "gfx1100", "--root", root).out.startswith("# ")
    assert rocmcfg("env", "--profile", "gfx1100", "--root", root, "--json").document["variables"] == {}


# -- for one account ------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def _file(home: Path) -> Path:
    return home / ".config/environment.d/90-rocmcfg.conf"


def user(*options: str) -> Result:
    return rocmcfg("env", "--user", *options)


def test_variables_for_one_account_come_and_go(home: Path) -> None:
    wrote = user("--set", "env.HSA_XNACK=1")
    assert wrote.code == 0, wrote.err
    assert "HSA_XNACK=1\n" in _file(home).read_text()
    assert user("--set", "env.HSA_XNACK=0").code == 0
    assert "HSA_XNACK=0\n" in _file(home).read_text()
    assert user("--remove").out.startswith("Removed: ")
    assert not _file(home).exists()
    again = user("--remove", "--json")
    assert (again.code, again.document["removed"]) == (0, False)


def test_an_account_file_of_somebody_else_is_kept(home: Path) -> None:
    _file(home).parent.mkdir(parents=True)
    _file(home).write_text("MINE=1\n")
    for options in (("--set", "env.HSA_XNACK=1"), ("--remove",)):
        found = user(*options, "--json")
        assert (found.code, found.ids) == (1, ["RC4003"])
    assert _file(home).read_text() == "MINE=1\n"


def test_an_account_file_that_is_a_link_is_not_written_through(home: Path) -> None:
    _file(home).parent.mkdir(parents=True)
    (home / "target").write_text("# rocmcfg\n")
    _file(home).symlink_to(home / "target")
    assert user("--set", "env.HSA_XNACK=1").code == 1
    assert (home / "target").read_text() == "# rocmcfg\n"


ADDED: dict[str, Callable[[str], str]] = {
    "added": lambda text: text + "MINE=1\n",
    "added above": lambda text: "MINE=1\n" + text,
    "changed": lambda text: text.replace("HSA_XNACK=1", "HSA_XNACK=0"),
    "taken away": lambda text: text.replace("HSA_XNACK=1\n", ""),
    "no checksum": lambda text: "".join(line for line in text.splitlines(True) if "sha256" not in line),
}


@pytest.mark.parametrize("edit", ADDED)
def test_lines_that_the_account_added_are_kept(home: Path, edit: str) -> None:
    assert user("--set", "env.HSA_XNACK=1").code == 0
    edited = ADDED[edit](_file(home).read_text())
    _file(home).write_text(edited)
    for options in (("--set", "env.HSA_XNACK=1"), ("--remove",)):
        found = user(*options, "--json")
        assert (found.code, found.ids) == (1, ["RC4003"])
        assert "to another file" in found.document["diagnostics"][0]["hint"]
        assert _file(home).read_text() == edited


@pytest.mark.parametrize("value", [None, "", "relative", "~"])
def test_without_a_usable_home_the_accounts_own_is_taken(
    home: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    account = pwd.getpwuid(os.getuid())
    own = pwd.struct_passwd((*account[:5], str(home), account.pw_shell))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: own)
    if value is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", value)
    monkeypatch.chdir(home)
    assert user("--set", "env.HSA_XNACK=1").code == 0
    assert _file(home).is_file()
    assert [path.name for path in home.iterdir()] == [".config"]


def test_an_account_without_a_home_is_told_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: int) -> pwd.struct_passwd:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.delenv("HOME")
    problem(user("--set", "env.HSA_XNACK=1"), "RC2032", 1)
    assert rocmcfg("env", "--set", "env.HSA_XNACK=1").code == 0, "what prints only needs none"
    assert list(home.iterdir()) == []
    monkeypatch.setenv("HOME", str(home / "nowhere"))  # as of Debian's account nobody
    problem(user("--set", "env.HSA_XNACK=1"), "RC2032", 1)


@pytest.mark.parametrize("options", [("--set", "env.HSA_XNACK=1"), ("--remove",)])
@pytest.mark.parametrize("theirs", [".", ".config", ".config/environment.d", "link"])
def test_root_writes_nothing_in_the_home_of_somebody_else(
    home: Path, tmp_path: Path, theirs: str, options: tuple[str, ...]
) -> None:
    """`sudo -E` and `su` leave HOME as it was: there a link of the user's would lead root's file anywhere."""
    require_root()
    target = tmp_path / "cron.d"
    target.mkdir()
    _file(home).parent.parent.mkdir()
    if theirs == "link":
        _file(home).parent.symlink_to(target)
        os.chown(_file(home).parent, 12345, 12345, follow_symlinks=False)
    else:
        _file(home).parent.mkdir()
        os.chown(home / theirs, 12345, 12345)
    found = user(*options, "--json")
    assert (found.code, found.ids) == (1, ["RC2059"])
    assert "belongs to user 12345" in found.document["diagnostics"][0]["summary"]
    assert not list(target.iterdir())
    assert not _file(home).exists()


def test_a_link_that_root_made_in_its_own_home_is_followed(home: Path) -> None:
    (home / "kept").mkdir()
    (home / ".config").symlink_to("kept")
    assert user("--set", "env.HSA_XNACK=1").code == 0
    assert (home / "kept/environment.d/90-rocmcfg.conf").is_file()


def test_an_account_and_another_root_do_not_go_together(home: Path) -> None:
    assert user("--set", "env.HSA_XNACK=1", "--root", str(home)).code == 2
    assert not _file(home).exists()


# -- run -----------------------------------------------------------------------------------------------


def test_run_gives_a_command_the_variables_and_its_own_exit_code() -> None:
    script = f'printf %s "$HSA_XNACK ${NAME}"; exit 7'
    argv = command(
        "run", "--set", "env.HSA_XNACK=1", "--set", f"env.{NAME}={EVERY}", "--", "sh", "-c", script
    )
    found = process(argv)
    assert (found.code, found.out) == (7, f"1 {EVERY}")


def test_run_says_what_cannot_be_run() -> None:
    found = process(command("run", "--set", "env.HSA_XNACK=1", "--", "/no/such/program"))
    assert found.code == 1
    assert "error[RC2031]" in found.err
    ended = process(command("run", "-p", "auto", "--", "true"))
    assert ended.code == 1
    assert "error[RC2024]" in ended.err


def test_run_without_a_profile_sets_nothing_on_any_host() -> None:
    assert process(command("run", "--", "true")) == Result(0, "", "")


def test_where_a_profile_sets_no_variable_nothing_is_said_to_be_written(home: Path) -> None:
    found = rocmcfg("env", "--set", "amdgpu.runpm=0", "--user", "--json")
    assert (found.code, found.document["diagnostics"][0]["id"]) == (1, "RC2030")
    assert not (home / ".config").exists()


def test_run_says_what_it_cannot_try(home: Path) -> None:
    found = rocmcfg("run", "--set", "amdgpu.runpm=0", "--set", "env.HSA_XNACK=1", "--", "no-such-program")
    assert "RC2033" in found.err
    assert "amdgpu.runpm=0" in found.err


def test_an_emptied_value_is_told_from_one_that_nothing_sets(tmp_path: Path) -> None:
    files = {"etc/environment": "HSA_ENABLE_SDMA=\n", "etc/modprobe.d/a.conf": "options amdgpu dc\n"}
    root = debian_grub_host(tmp_path, cmdline="quiet amdgpu.runpm=", extra=files)
    rows = {
        line.split()[0]: line.split() for line in rocmcfg("status", "--root", root).out.splitlines() if line
    }
    assert rows["HSA_ENABLE_SDMA"][1] == rows["amdgpu.runpm"][1] == "empty"
    assert rows["amdgpu.dc"][1:3] == ["no", "value"]
    explained = rocmcfg("explain", "HSA_ENABLE_SDMA", "--root", root).out
    assert "empty (/etc/environment:1)" in explained
