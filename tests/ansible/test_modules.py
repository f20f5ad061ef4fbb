"""What the modules do and say in a real play, with the collection installed from its tarball."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.hosts import DEBIAN_KERNEL, debian_grub_host
from tests.support.trees import with_directory_times

from . import support
from .plays import Task, play, script, with_tools

APPLY: Task = {"profile": {"profiles": ["gfx1201"]}}
BACK: Task = {"rollback": {"to": "previous"}}


@pytest.fixture
def host(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path)


def test_check_mode_writes_nothing_at_all(collections: Path, tmp_path: Path, host: Path) -> None:
    """Not even a directory's time: on a host as it was found, and on one where there is something to undo."""
    runs = with_tools(tmp_path / "bin")
    tasks: list[Task] = [
        APPLY,
        {"profile": {"set": {"amdgpu.runpm": 0}, "via": "modprobe"}},
        {"profile": {"state": "absent"}},
        BACK,
        {"settings_info": {"fail": False}},
        {"host_facts": {}},
    ]
    found = with_directory_times(host)
    fresh = play(collections, tmp_path / "a", tasks, "--check", "--diff", root=host, executable=runs)
    assert with_directory_times(host) == found
    assert [r["changed"] for r in fresh.results] == [True, True, False, False, False, False]

    play(collections, tmp_path / "b", [APPLY], root=host, executable=runs)
    applied = with_directory_times(host)
    again = play(collections, tmp_path / "c", tasks, "--check", "--diff", root=host, executable=runs)
    assert with_directory_times(host) == applied
    assert [r["changed"] for r in again.results] == [False, True, True, True, False, False]
    assert not any(r["failed"] for r in (*fresh.results, *again.results))


def test_a_play_shows_the_diff_and_a_second_one_changes_nothing(
    collections: Path, tmp_path: Path, host: Path
) -> None:
    found = with_directory_times(host)
    first, second = (
        play(collections, tmp_path / name, [APPLY], "--diff", root=host) for name in ("first", "second")
    )
    for part in (
        "+++ after: /etc/default/grub.d/zz-rocmcfg.cfg",
        '+GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.cwsr_enable=0"',
    ):
        assert part in first.output
    assert "+++" not in second.output
    assert not second.results[0]["changed"]
    play(collections, tmp_path / "back", [{"profile": {"state": "absent"}}], root=host)
    left = set(with_directory_times(host)) - set(found)
    assert all(path.startswith("var") for path in left), left


def _documentation(collections: Path, module: str) -> dict[str, Any]:
    """A module as ansible-doc has it."""
    programs = support.core(support.NEWEST)
    name = f"rocmcfg.amdgpu.{module}"
    ran = support.run(
        [programs / "ansible-doc", "--json", name],
        cwd=collections,
        home=collections.parent / "home",
        programs=programs,
        ANSIBLE_COLLECTIONS_PATH=str(collections),
    )
    found = json.loads(ran.succeeded())[name]
    assert isinstance(found, dict)
    return found


def _documented(collections: Path, module: str) -> dict[str, Any]:
    """The return values of its documentation."""
    returned = _documentation(collections, module)["return"]
    assert isinstance(returned, dict)
    return returned


def test_what_the_modules_return_is_what_they_document(collections: Path, tmp_path: Path, host: Path) -> None:
    tasks: list[Task] = [APPLY, {"settings_info": {"fail": False}}, {"host_facts": {}}, BACK]
    tasks += [{"profile": {"state": "absent"}}, {"profile": {"profiles": ["nope"]}}]
    # what the modules refuse before they ask rocmcfg, or instead of it
    tasks += [{"profile": {}}, {"rollback": {"to": None}}, {"settings_info": {"profiles": [1]}}]
    tasks += [
        {"host_facts": {"root": ""}},
        {"settings_info": {"executable": "/nowhere"}},
        {"settings_info": {}},
    ]
    results = play(collections, tmp_path, tasks, root=host).results
    # what Ansible itself adds, or documents once for all modules
    common = {
        "changed",
        "failed",
        "msg",
        "invocation",
        "warnings",
        "deprecations",
        "exception",
        "_ansible_no_log",
    }

    def keys(number: int) -> set[str]:
        return set(results[number]) - common

    failure = {"rc", "rolled_back", "recovery_required"}
    assert keys(0) == set(_documented(collections, "profile")) - failure - {"transactions"}
    assert keys(1) == set(_documented(collections, "settings_info")) - {"msg"} - failure
    assert keys(3) == set(_documented(collections, "rollback")) - failure
    assert keys(4) == set(_documented(collections, "profile")) - failure
    assert keys(5) == failure | {"diagnostics", "version", "executable"}
    for refused in range(6, 11):
        assert results[refused]["failed"]
        assert results[refused]["rc"] is None
        assert keys(refused) == failure | {"diagnostics"}
    assert keys(11) == set(_documented(collections, "settings_info")) - {"msg"}
    # that nothing is applied is an answer to rocmcfg, and a failure only to the task
    assert results[11]["rc"] == 0
    assert set(_documented(collections, "host_facts")) == keys(5) | {"ansible_facts"}
    fact = _documented(collections, "host_facts")["ansible_facts"]["contains"]["rocmcfg"]["contains"]
    assert set(results[2]["ansible_facts"]["rocmcfg"]) == set(fact)


def test_a_step_that_fails_leaves_the_host_rolled_back_and_says_so(
    collections: Path, tmp_path: Path, host: Path
) -> None:
    runs = with_tools(tmp_path / "bin", update_grub="echo 'no room on the device' >&2; exit 1")
    found = with_directory_times(host)
    ran = play(collections, tmp_path, [APPLY], root=host, executable=runs)
    result = ran.results[0]
    assert (result["failed"], result["rolled_back"], result["rc"]) == (True, True, 4)
    assert "the host was rolled back completely" in result["msg"]
    assert "no room on the device" in result["msg"]
    assert result["msg"].split(" [RC")[0] in ran.output.replace('\\"', '"')
    assert [d["severity"] for d in result["diagnostics"]].count("error") >= 1
    left = {path for path in set(with_directory_times(host)) ^ set(found) if not path.startswith("var")}
    assert not left


def test_a_killed_run_is_told_from_a_refusal_and_the_next_play_asks_for_recover(
    collections: Path, tmp_path: Path, host: Path
) -> None:
    runs = with_tools(tmp_path / "killed", update_grub="kill -9 $PPID; sleep 1")
    killed = play(collections, tmp_path / "a", [APPLY], root=host, executable=runs).results[0]
    assert "signal 9 killed it" in killed["msg"]
    assert "rocmcfg recover" in killed["msg"]
    sound = with_tools(tmp_path / "sound")
    refused = play(collections, tmp_path / "b", [APPLY, BACK], root=host, executable=sound).results
    for result in refused:
        assert (result["failed"], result["recovery_required"], result["rc"]) == (True, True, 5)
        assert "Run `rocmcfg recover` there before anything else" in result["msg"]
    subprocess.run([sound, "recover", "--root", host], check=True, stdout=subprocess.DEVNULL)
    after = play(collections, tmp_path / "c", [APPLY], root=host, executable=sound).results[0]
    assert after["changed"]


def test_the_second_of_two_plays_at_once_is_told_who_is_at_work(
    collections: Path, tmp_path: Path, host: Path
) -> None:
    slow = with_tools(
        tmp_path / "slow",
        update_grub=f"touch {tmp_path}/there; until [ -e {tmp_path}/go ]; do sleep 0.1; done; exit 1",
    )
    first = subprocess.Popen(
        [slow, "apply", "--profile", "gfx1201", "--yes", "--root", host],
        stdout=subprocess.DEVNULL,
    )
    try:
        while not (tmp_path / "there").exists():
            assert first.poll() is None
            time.sleep(0.1)
        second = play(collections, tmp_path / "second", [APPLY], root=host).results[0]
    finally:
        (tmp_path / "go").touch()
        first.wait()
    assert second["failed"]
    assert "another rocmcfg is running on this host" in second["msg"]
    assert "wait until it finishes" in second["msg"]


def test_values_are_no_secrets_and_are_neither_masked_nor_said_to_be(
    collections: Path, tmp_path: Path, host: Path
) -> None:
    """Who masked them would hide what everybody can read, and replace every 0 of the diff and the results."""
    secret, wish = "hunter2-0", {"env.MY_TOKEN": "hunter2-0", "amdgpu.runpm": 0}
    ran = play(collections, tmp_path, [{"profile": {"set": wish}}], "--diff", root=host)
    result = ran.results[0]
    shown = {setting["setting"]: setting["value"] for setting in result["settings"]}
    assert shown == {"env.MY_TOKEN": secret, "amdgpu.runpm": "0"}
    assert [ran.output.count(said) > 0 for said in (f"+MY_TOKEN={secret}", "amdgpu.runpm=0")] == [True, True]
    assert json.dumps(result).count("****") == 0
    holds = [path for path in host.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    readable = {str(path.relative_to(host)) for path in holds if path.stat().st_mode & 0o004}
    assert {"etc/environment.d/90-rocmcfg.conf", "var/lib/rocmcfg/receipt.json"} <= readable
    options = _documentation(collections, "profile")["doc"]["options"]
    for option in ("set", "health_check"):
        assert "Not for secrets" in " ".join(options[option]["description"])


def _answers(text: str) -> str:
    """A program with a version of rocmcfg, which answers whatever else it is asked with this."""
    return f'if [ "$1" = --version ]; then echo rocmcfg 9.9; exit 0; fi\n{text}'


_EMPTY_ANSWER = """echo '{"schema_version": 1, "diagnostics": []}'"""
_NO_ROCMCFG = {
    "too new": (
        _answers("""echo '{"schema_version": 2, "command": "x", "diagnostics": []}'"""),
        "upgrade the collection",
    ),
    "too old": (_answers("echo 'Error: No such option: --json' >&2; exit 2"), "No such option: --json"),
    "damaged": (
        _answers(f"exec {sys.executable} -c 'import rocmcfg_libraries_that_are_gone'"),
        "No module named 'rocmcfg_libraries_that_are_gone'. Its installation is damaged",
    ),
    "silent": (_answers("exit 0"), "It printed nothing."),
    "half an answer": (
        _answers("""printf '{"schema_version": 1, "comm'; exit 0"""),
        "its answer is not JSON",
    ),
    "keys missing": (_answers(_EMPTY_ANSWER), "its answer is incomplete: it has no "),
    "text for a diagnostic": (
        _answers("""echo '{"schema_version": 1, "diagnostics": ["text"]}'; exit 1"""),
        "diagnostics[0] is not an object",
    ),
    "nested without end": (
        _answers(f"""exec {sys.executable} -c 'print("[" * 200000)'"""),
        "its answer is not JSON",
    ),
    "true for a number": (
        _answers("""echo '{"schema_version": true, "diagnostics": []}'"""),
        "has schema_version true",
    ),
    "noise": (f"echo look here; echo rocmcfg 9.9\n{_EMPTY_ANSWER}", "It printed: look here"),
    "killed": ("kill -9 $$", "signal 9 killed it while it ran with --version"),
}


def test_a_program_that_is_no_rocmcfg_of_ours_ends_in_one_message(
    collections: Path, tmp_path: Path, host: Path
) -> None:
    found = with_directory_times(host)
    programs = {
        name: script(tmp_path / name.replace(" ", "-"), text) for name, (text, _) in _NO_ROCMCFG.items()
    }
    said = {name: text for name, (_, text) in _NO_ROCMCFG.items()}
    for name, first_line, text in (
        (
            "interpreter gone",
            "#!/nowhere/python3 -I",
            "first line names /nowhere/python3 -I, which is missing",
        ),
        ("no program", "", "not a program that this host can start"),
    ):
        programs[name], said[name] = script(tmp_path / name.replace(" ", "-"), ""), text
        programs[name].write_text(first_line)
    tasks: list[Task] = []
    for program in programs.values():
        for module, options in (("profile", {"profiles": ["auto"]}), ("facts", {})):
            tasks.append({module: {**options, "executable": str(program)}})
    results = play(collections, tmp_path / "play", tasks, root=host).results
    for number, name in enumerate(said):
        for result in results[2 * number : 2 * number + 2]:
            assert result["failed"], name
            assert said[name] in result["msg"], name
            assert (
                f"{programs[name]} (version {result['version'] or 'unknown'}) cannot be used" in result["msg"]
            )
            assert "\n" not in result["msg"]
            assert set(result) >= {"rc", "rolled_back", "recovery_required", "diagnostics"}
    assert with_directory_times(host) == found


def test_a_value_arrives_without_anything_put_for_a_dollar_sign_or_a_tilde(
    collections: Path, tmp_path: Path, host: Path
) -> None:
    """As text that no shell has seen; without rocmcfg, which has rules of its own for such values."""
    told = tmp_path / "told"
    echo = script(tmp_path / "echo", _answers(f"""printf '%s\\n' "$@" > {told}"""))
    wanted = {"env.A": "$HOME/a", "karg.b": "~/b:~", "profile.c": "${USER}", "env.D": "quo'te \"d"}
    play(collections, tmp_path / "play", [{"profile": {"set": wanted}}], root=host, executable=echo)
    words = told.read_text().splitlines()
    assert [f"--set={key}={value}" for key, value in wanted.items()] == [w for w in words if "--set" in w]


def test_absent_with_auto_leaves_all_where_auto_stands_for_nothing(collections: Path, tmp_path: Path) -> None:
    """The GPU was taken out of the host, or the profile was applied with any_gpu."""
    bare = tmp_path / "bare"
    (bare / "etc/default").mkdir(parents=True)
    shutil.copytree(debian_grub_host(tmp_path / "other"), bare, symlinks=True, dirs_exist_ok=True)
    for gpus in ("sys/class/kfd", "sys/class/drm", "sys/bus/pci", "sys/devices"):
        shutil.rmtree(bare / gpus, ignore_errors=True)
    tasks: list[Task] = [
        {"profile": {"set": {"amdgpu.runpm": 0}, "any_gpu": True}},
        {"host_facts": {}},
        {"profile": {"profiles": ["auto"], "state": "absent"}},
        # of everything else that describes what was applied, absent takes no notice
        {"profile": {"state": "absent", "set": {"karg.iommu": False}, "with": [1]}},
    ]
    applied, facts, auto, everything = play(collections, tmp_path / "play", tasks, root=bare).results
    assert applied["changed"]
    assert facts["ansible_facts"]["rocmcfg"]["suggested_profiles"] == []
    assert (auto["failed"], auto["changed"]) == (False, False)
    assert everything["changed"]


def test_a_warning_of_rocmcfg_is_seen_in_the_play(collections: Path, tmp_path: Path, host: Path) -> None:
    subprocess.run(
        [support.ROCMCFG, "apply", "--profile", "gfx1201", "--yes", "--quiet", "--root", host], check=True
    )
    (host / "etc/profile.d/zz-rocmcfg.sh").write_text("# edited by somebody else\n")
    ran = play(collections, tmp_path, [{"settings_info": {"fail": False}}], root=host)
    assert not ran.results[0]["failed"]
    assert "RC5001" in [d["id"] for d in ran.results[0]["diagnostics"]]
    assert "/etc/profile.d/zz-rocmcfg.sh was changed or removed since rocmcfg wrote it" in " ".join(
        ran.output.split()
    )


@pytest.mark.parametrize("version", ["2.7", "3.6"])
def test_an_old_python_on_the_target(version: str, collections: Path, tmp_path: Path, host: Path) -> None:
    """Only ansible-core 2.16 starts modules there: 3.6 is enough for them, 2.7 gets a message."""
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if not found:
        pytest.skip(f"there is no Python {version} in ~/.pyenv: no distribution has one any more")
    result = play(
        collections, tmp_path, [APPLY], root=host, release=support.OLDEST, python=str(found[0])
    ).results[0]
    if version == "2.7":
        assert "needs Python 3.6 or newer on the target, but runs with 2.7" in result["msg"]
        assert "ansible_python_interpreter" in result["msg"]
    else:
        assert result["changed"]


@pytest.mark.parametrize("release", [support.OLDEST, support.NEWEST])
def test_the_earlier_names_of_modules_lead_to_the_new_ones_with_a_warning(
    collections: Path, tmp_path: Path, host: Path, release: str
) -> None:
    """With the options that module_defaults gives to the group, too: `root` comes from there."""
    tasks: list[Task] = [{"facts": {}}, {"verify": {"fail": False}}]
    done = play(collections, tmp_path, tasks, root=host, release=release)
    facts, verified = done.results
    assert facts["ansible_facts"]["rocmcfg"]["running_kernel"] == DEBIAN_KERNEL
    assert verified["status"] == "nothing_applied"
    output = " ".join(done.output.split())
    for name, instead in (("facts", "host_facts"), ("verify", "settings_info")):
        assert f"rocmcfg.amdgpu.{name} has been deprecated" in output, done.output
        assert f"Use rocmcfg.amdgpu.{instead} instead" in output


def test_modules_are_named_by_ansibles_rule(collections: Path) -> None:
    """One that returns facts ends in _facts; one that only reads ends in _info, and returns none."""
    for path in (collections / "ansible_collections/rocmcfg/amdgpu/plugins/modules").glob("*.py"):
        returned = _documented(collections, path.stem)
        assert ("ansible_facts" in returned) == path.stem.endswith("_facts"), path.stem
        if path.stem.endswith("_info"):
            assert "changed=True" not in path.read_text()
