"""The three environment files, each given to its real reader."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.files import environment
from rocmcfg.files import environment_targets as targets
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unreadable
from rocmcfg.model.spelling import SAFE_VALUE
from tests.support.hosts import make_root
from tests.support.settings import variable
from tests.support.tools import require_tool, run

GENERATOR = "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator"
PAIRS = {
    "MIOPEN_DEBUG_CONV_GEMM": "0",
    "HSA_OVERRIDE_GFX_VERSION_1": "10.3.0",
    "ROCR_VISIBLE_DEVICES": "GPU-0123456789abcdef,1",
    "PYTORCH_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:128",
    "SAMPLE": "a=b+c/d-e@f%g;h.i",
}
SETTINGS = [variable(name, text) for name, text in PAIRS.items()]


def content(file: targets.Target) -> bytes:
    found = targets.propose(file, SETTINGS)
    assert targets.propose(file, []) is None
    assert found is not None
    return found


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_the_profile_is_posix_exports_all_and_may_be_read_twice(tmp_path: Path, shell: str) -> None:
    path = tmp_path / "zz-rocmcfg.sh"
    path.write_bytes(content(targets.PROFILE_D))
    argv = [require_tool(shell, package=shell), *(["--posix"] if shell == "bash" else []), "-eu", "-c"]
    once = run([*argv, '. "$1"; env', "sh", str(path)])
    twice = run([*argv, '. "$1"; . "$1"; env', "sh", str(path)])
    assert once.stderr == twice.stderr == ""
    assert sorted(once.stdout.splitlines()) == sorted(twice.stdout.splitlines())
    seen = dict(line.partition("=")[::2] for line in once.stdout.splitlines())
    assert {name: seen.get(name) for name in PAIRS} == PAIRS


def test_systemds_generator_gives_the_session_the_same_values(tmp_path: Path) -> None:
    folder = tmp_path / "environment.d"
    folder.mkdir()
    (folder / "90-rocmcfg.conf").write_bytes(content(targets.ENVIRONMENT_D))
    # the generator of a user reads ~/.config/environment.d as it reads /etc/environment.d
    result = run(
        [require_tool(GENERATOR, package="systemd")], env={"XDG_CONFIG_HOME": str(tmp_path), "HOME": "/"}
    )
    assert result.returncode == 0, result.stderr
    lines = dict(line.partition("=")[::2] for line in result.stdout.splitlines())
    unquoted = {name: re.sub(r"^(['\"])(.*)\1$", r"\2", lines.get(name, "")) for name in PAIRS}
    assert unquoted == PAIRS


def test_the_raw_file_holds_values_as_they_stand() -> None:
    """`docker run --env-file`: quotes would become part of the value, `#` only starts a line."""
    lines = content(targets.RAW).decode().splitlines()
    assert [line for line in lines if not line.startswith("#")] == [f"{n}={v}" for n, v in PAIRS.items()]
    assert not re.search(r"[\"'$`\\]", "".join(lines[2:]))


@given(st.text(min_size=1, max_size=20).filter(SAFE_VALUE.match))
def test_every_safe_value_survives_the_simplest_reader(value: str) -> None:
    for file in targets.ALWAYS:
        text = (targets.propose(file, [variable("X", value)]) or b"").decode()
        (line,) = [part for part in text.splitlines() if not part.startswith("#")]
        assert line.removeprefix("export ").replace("'", "") == f"X={value}"


@pytest.mark.parametrize("value", ["a;b", "a%b", "~", "~root", "a=~", "-n", "@x", "a:~/b"])
def test_every_safe_value_survives_a_shell(tmp_path: Path, value: str) -> None:
    if not SAFE_VALUE.match(value):
        return
    path = tmp_path / "x.sh"
    path.write_bytes(targets.propose(targets.PROFILE_D, [variable("X", value)]) or b"")
    result = run([require_tool("dash", package="dash"), "-c", '. "$1"; printf %s "$X"', "sh", str(path)])
    assert result.stdout == value


def test_the_file_of_one_account_says_how_to_undo_it() -> None:
    text = environment.user_file([("A", "1"), ("B", "2")]).decode()
    assert text.endswith("\nA=1\nB=2\n")
    assert "env --user --remove" in text


# -- who else sets it ------------------------------------------------------------------------------------


def test_later_files_of_systemd_that_set_the_same_are_seen(tmp_path: Path) -> None:
    root = make_root(
        tmp_path,
        {
            "etc/environment.d/10-early.conf": "A=early\n",
            "etc/environment.d/90-rocmcfg.conf": "A=ours\n",
            "usr/lib/environment.d/95-vendor.conf": 'A=vendor\nB="quoted"\n',
            "etc/environment.d/99-site.conf": "# A=comment\n\nA='site'\nnonsense\nexport C=3\n",
            "run/environment.d/99-site.conf": "A=hidden\n",
            "etc/environment.d/99-site.txt": "A=ignored\n",
        },
    )
    found = targets.later_assignments(LocalHost(str(root)), ())
    assert {one.name: (one.value, one.source) for one in found.values()} == {
        "A": ("site", "/etc/environment.d/99-site.conf:3"),
        "B": ("quoted", "/usr/lib/environment.d/95-vendor.conf:2"),
    }


def test_a_file_that_cannot_be_read_sets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_root(tmp_path, {"etc/environment.d/99.conf": "A=1\n"})

    def refuse(self: LocalHost, path: str) -> bytes | None:
        raise Unreadable(path, "Permission denied")

    monkeypatch.setattr(LocalHost, "read", refuse)
    assert targets.later_assignments(LocalHost(str(root)), ()) == {}


def test_what_comes_last_decides_whether_it_can_be_told(tmp_path: Path) -> None:
    files = {
        "etc/profile.d/zz-rocmcfg.sh": "export A=0 B=0\n",
        "etc/profile.d/zza.sh": "export A=0\nexport B=$HOME\n",
        "etc/profile.d/zzb.sh": 'if [ -d /x ]; then export A=1; fi\nexport B="0"\n',
    }
    found = targets.later_assignments(LocalHost(str(make_root(tmp_path, files))), ())
    assert {name: (one.value, one.source) for name, one in found.items()} == {
        "A": (None, "/etc/profile.d/zzb.sh:1"),
        "B": ("0", "/etc/profile.d/zzb.sh:2"),
    }
