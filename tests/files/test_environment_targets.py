"""The readers of --env-target, each given what we write for it.

env-update of Gentoo is in no Debian package: its stand-in (tests/cases/grub-mkconfig/tools) does what portage
of August 2026 (a20ef27) was seen to do with the very same lines.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocmcfg.files import environment_targets as targets
from rocmcfg.files import marked_lines
from rocmcfg.files.environment_targets import Target
from rocmcfg.host.local import LocalHost
from rocmcfg.records.receipt import parse
from tests.languages.oracles import by_pam_env
from tests.support import usecases
from tests.support.hosts import debian_grub_host, make_root
from tests.support.settings import variable
from tests.support.tools import require_tool, run

# every character that a value may hold and that means something to one of the readers
PAIRS = {
    "HSA_OVERRIDE_GFX_VERSION_1": "10.3.0",
    "PYTORCH_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:128",
    "SAMPLE": "a=b+c/d-e@f%g;h.i%%j",
    "LAST": "%h;x",
}
SETTINGS = [variable(name, text) for name, text in PAIRS.items()]
SYSTEMD = "/lib/systemd/systemd"
UNIT = "unit:ollama.service"


def chosen(name: str) -> Target:
    return targets.chosen([name])[-1]


def written(name: str) -> bytes:
    content = targets.propose(chosen(name), SETTINGS)
    assert content is not None
    assert targets.propose(chosen(name), []) is None
    return content


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that the user nobody can read, whoever runs the tests."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def test_fish_sets_and_exports_the_values(tmp_path: Path) -> None:
    path = tmp_path / "zz-rocmcfg.fish"
    path.write_bytes(written("fish"))
    fish = require_tool("fish", package="fish")
    done = run([fish, "--no-config", "-c", f"source {path}; env"], env={"HOME": str(tmp_path)})
    seen = dict(line.partition("=")[::2] for line in done.stdout.splitlines())
    assert done.stderr == ""
    assert {name: seen.get(name) for name in PAIRS} == PAIRS


def as_nobody() -> list[str]:
    """The manager of systemd tests nothing as root."""
    return ["setpriv", "--reuid", "65534", "--clear-groups"] if os.geteuid() == 0 else []


def manager(public: Path, unit: str = "") -> str:
    """What a manager of systemd says while it reads its configuration, and the units that it loaded."""
    run_dir = public / "run"
    run_dir.mkdir()
    run_dir.chmod(0o777)
    environment = {"XDG_RUNTIME_DIR": str(run_dir), "XDG_CONFIG_HOME": str(public), "HOME": "/"}
    options = ["--user", "--test", *([f"--unit={unit}"] if unit else [])]
    done = run([*as_nobody(), require_tool(SYSTEMD, package="systemd"), *options], env=environment)
    return done.stdout + done.stderr


def test_a_manager_of_systemd_takes_every_word_of_its_default_environment(public: Path) -> None:
    # user.conf is parsed as system.conf is (systemd-system.conf(5)); no manager of the system starts here
    folder = public / "systemd/user.conf.d"
    folder.mkdir(parents=True)
    (folder / "90-rocmcfg.conf").write_bytes(written("systemd"))
    (folder / "95-wrong.conf").write_text("[Manager]\nDefaultEnvironment=A=%Q\n")
    said = [line for line in manager(public).splitlines() if str(folder) in line and "ignoring" in line]
    assert ["95-wrong.conf" in line for line in said] == [True], said


def test_a_service_gets_the_values(public: Path) -> None:
    folder = public / "systemd/user/ollama.service.d"
    folder.mkdir(parents=True)
    (folder.parent / "ollama.service").write_text("[Service]\nExecStart=/bin/true\n")
    (folder / "90-rocmcfg.conf").write_bytes(written(UNIT))
    lines = [line.strip() for line in manager(public, "ollama.service").splitlines()]
    assert {f"Environment: {name}={value}" for name, value in PAIRS.items()} <= set(lines)


@pytest.mark.parametrize("before", ["", "# nothing\n", 'A="of others"\n', "A=no line feed"])
def test_pam_env_gives_a_login_our_lines_and_those_of_others(tmp_path: Path, before: str) -> None:
    content, edit = marked_lines.put(before.encode(), written("environment"))
    found = by_pam_env(tmp_path, content)
    assert {name: found.pop(name, None) for name in PAIRS} == PAIRS
    assert found == by_pam_env(tmp_path, before.encode())
    assert edit.undone(content) == before.encode()
    assert marked_lines.own(content + b"B=2\n") == written("environment")
    assert (
        edit.undone(content + b"B=2\n")
        == (f"{before}\nB=2\n" if before[-1:] == "d" else f"{before}B=2\n").encode()
    )


def test_pam_env_stops_at_a_line_that_is_too_long_and_joins_lines_at_a_backslash(tmp_path: Path) -> None:
    """Why both are refused. libpam 1.7 does neither: it cuts such a line, and
    goes on behind a comment (pam_env.c)."""
    longest = b"X=" + b"a" * 1020 + b"\n"
    assert by_pam_env(tmp_path, longest + b"B=2\n") == {"X": "a" * 1020, "B": "2"}
    long = by_pam_env(tmp_path, b"X=" + b"a" * 9000 + b"\nB=2\n")
    assert long == {} or (set(long["X"]), long["B"]) == ({"a"}, "2")
    assert by_pam_env(tmp_path, b"X=1\\\n# ours\nB=2\n").get("B") in (None, "2")


def test_an_edit_within_our_lines_is_seen() -> None:
    content, edit = marked_lines.put(b"A=1\n", written("environment"))
    for changed in (content.replace(b"LAST", b"FIRST"), content.replace(b"# rocmcfg end\n", b"")):
        assert marked_lines.own(changed) not in (None, written("environment"))
        assert edit.undone(changed) is None


# -- who else sets it --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "path", "content", "value"),
    [
        ("fish", "etc/fish/conf.d/zzz.fish", 'set -gx A "x"\n', "x"),
        ("fish", "etc/fish/config.fish", "set --export -g A x\n", "x"),
        ("fish", "etc/fish/config.fish", "set -g A x\n", "x"),  # it stays exported
        ("fish", "etc/fish/config.fish", "set -gx A $HOME\n", None),
        ("fish", "etc/fish/conf.d/aa.fish", "set -gx A x\n", None),
        (
            "systemd",
            "usr/lib/systemd/system.conf.d/95-vendor.conf",
            "[Manager]\nDefaultEnvironment=B=1 'A=x y'\n",
            "x y",
        ),
        ("systemd", "etc/systemd/system.conf.d/95-none.conf", "[Manager]\nDefaultEnvironment=\n", ""),
        ("systemd", "etc/systemd/system.conf.d/10-early.conf", "[Manager]\nDefaultEnvironment=A=x\n", None),
        (UNIT, "etc/systemd/system/ollama.service.d/99-x.conf", "[Service]\nEnvironment=A=100%%\n", "100%"),
        (UNIT, "etc/systemd/system/ollama.service.d/99-x.conf", "[Service]\nEnvironment='A=1\n", None),
        (UNIT, "etc/systemd/system/other.service.d/99-x.conf", "[Service]\nEnvironment=A=1\n", None),
        (UNIT, "etc/systemd/system/ollama.service.d/10-x.conf", "[Service]\nEnvironmentFile=-/etc/x\n", "2"),
        (UNIT, "usr/lib/systemd/system/ollama.service", "[Service]\nEnvironmentFile=/etc/x\n", "2"),
        (UNIT, "usr/lib/systemd/system/ollama.service", "[Service]\nEnvironmentFile=/etc/y\n", None),
        (UNIT, "usr/lib/systemd/system/ollama.service", "[Service]\nUnsetEnvironment=A\n", ""),
        (UNIT, "etc/systemd/system/ollama.service.d/99-x.conf", "[Service]\nUnsetEnvironment=A=ours\n", ""),
        (UNIT, "etc/systemd/system/ollama.service.d/99-x.conf", "[Service]\nUnsetEnvironment=A=x\n", None),
        (
            UNIT,
            "etc/systemd/system/ollama.service.d/99-x.conf",
            "[Service]\nUnsetEnvironment=A\nUnsetEnvironment=\n",
            None,
        ),
        (UNIT, "etc/systemd/system/ollama.service.d/99-x.conf", "[Service]\nEnvironment=\n", ""),
        (UNIT, "etc/systemd/system/ollama.service.d/99-x.conf", "[Service]\nB=\\ \nEnvironment=A=1\n", "1"),
        ("gentoo", "etc/env.d/99zz", 'A="x"\n', "x"),
        ("gentoo", "etc/env.d/99zz.bak", 'A="x"\n', None),
        ("gentoo", "etc/env.d/50user", 'A="x"\n', None),
    ],
)
def test_what_is_read_after_ours_is_seen(
    tmp_path: Path, name: str, path: str, content: str, value: str | None
) -> None:
    target = chosen(name)
    ours = targets.propose(target, [variable("A", "ours")]) or b""
    files = {target.path.lstrip("/"): ours.decode(), path: content, "etc/x": "A=2\n"}
    view = LocalHost(str(make_root(tmp_path, files)))
    found = targets.later_assignments(view, [name]).get("A")
    assert (found.value if found else None) == value
    assert targets.read(view, target)[target.path]["A"].value == "ours"


@pytest.mark.parametrize(
    "name", ["zsh", "unit:x", "unit:x.timer", "unit:../x.service", "unit:a b.service", ""]
)
def test_what_is_no_name_of_a_reader_is_none(name: str) -> None:
    assert not targets.is_name(name)
    assert targets.chosen([name]) == targets.ALWAYS


def test_an_instance_of_a_unit_may_have_its_template() -> None:
    found = chosen("unit:vllm@big.service")
    assert found.path == "/etc/systemd/system/vllm@big.service.d/90-rocmcfg.conf"
    assert "/usr/lib/systemd/system/vllm@.service" in found.needs
    assert targets.unit_file(found.path) == targets.unit_file(os.path.dirname(found.path)) == found.path
    for other in (
        "/etc/systemd/system/x.d/90-rocmcfg.conf",
        "/etc/systemd/system",
        "/etc/systemd/system/a/../b.service.d",
    ):
        assert targets.unit_file(other) == ""


# -- a host ------------------------------------------------------------------------------------------------


def test_a_service_is_given_them_and_loses_them_again(tmp_path: Path) -> None:
    host = LocalHost(str(debian_grub_host(tmp_path)))
    asked = {"set": ("env.HSA_ENABLE_SDMA=0",), "any_gpu": True}
    usecases.apply(host, **asked, env_target=(UNIT,))
    path = chosen(UNIT).path
    known = parse(host.read("/var/lib/rocmcfg/receipt.json") or b"")
    assert known.request.env_target == (UNIT,)
    assert path in known.files
    usecases.apply(host, **asked)
    assert not host.exists(path)
    usecases.rollback(host)
    assert host.exists(path)
    usecases.rollback(host)
    assert not host.is_dir(os.path.dirname(path))
    shutil.rmtree(tmp_path / "host", ignore_errors=True)
