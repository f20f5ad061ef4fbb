"""The script that a transaction writes beside its journal."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rocmcfg.change.transaction import recovery, transaction, undo_script
from rocmcfg.files.traces import Maker
from rocmcfg.host.local import LocalHost
from rocmcfg.records import journal
from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, rocmcfg
from tests.support.tools import HANG, require_tool
from tests.support.trees import tree

RUNPM = ("--set", "amdgpu.runpm=0")
FINDER = SOURCE / "packaging/undo.sh"
SCRIPT, COPY = undo_script.PATH.lstrip("/"), undo_script.COPY.lstrip("/")
DROP_IN = "etc/default/grub.d/zz-rocmcfg.cfg"
HOSTILE = (
    "plain",
    "it's",
    "\"quoted\" and 'quoted'",
    "two\nlines\n",
    "$(touch /tmp/hostile) `id` ${PATH} $HOME",
    "back\\slash \\n \\",
    "--force",
    "-e",
    "*",
    "[a-z]? {image}",
    "tab\there",
    "",
    "é\udcff",
    "# no comment",
    "!history ~root",
)
SHELLS = pytest.mark.parametrize("shell", [("dash",), ("busybox", "sh"), ("bash", "--posix")], ids=" ".join)


@pytest.fixture
def host(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path)


def apply(root: Path, *arguments: str) -> None:
    done = rocmcfg("apply", *(arguments or RUNPM), "--root", root, "--yes")
    assert done.code == 0, done.err


def undo(
    script: Path, *arguments: str, root: Path, shell: tuple[str, ...] = ("sh",)
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*shell, str(script), "--root", str(root), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG,
    )


def _files(root: Path) -> list[str]:
    """All but what lies below /var; folders go once the menu is made."""
    paths = (str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())
    return [path for path in paths if not path.startswith("var/")]


@SHELLS
def test_no_word_means_anything_to_the_shell(tmp_path: Path, shell: tuple[str, ...]) -> None:
    """Each word comes to the handler as it is, and nothing of it is run."""
    require_tool(shell[0], shell[0])
    script = undo_script.script([("kind", word) for word in HOSTILE])
    body = script[script.index("\nfacts() {") : script.index("\n}\n", script.index("\nfacts() {"))] + "\n}\n"
    show = 'show() { shift; printf "<%s>\\n" "$@"; }\nfacts show\n'
    place = tmp_path / "facts.sh"
    place.write_bytes((body + show).encode("utf-8", "surrogateescape"))
    shown = subprocess.run([*shell, place], capture_output=True, check=True, cwd=tmp_path).stdout
    expected = "".join(f"<{word}>\n" for word in HOSTILE)
    assert shown == expected.encode("utf-8", "surrogateescape")
    assert {path.name for path in tmp_path.iterdir()} == {"facts.sh"}


@SHELLS
def test_a_path_with_the_characters_of_a_pattern_means_itself(host: Path, shell: tuple[str, ...]) -> None:
    require_tool(shell[0], shell[0])
    names = ("a[b]*rocmcfg?.conf", "--rocmcfg $(id) 'x'.conf", "rocmcfg\\n.conf")
    others = ("abzrocmcfgz.conf", "rocmcfg.conf")
    for name in (*names, *others):
        (host / "etc" / name).write_text("# Written by rocmcfg\n")
    place = host / SCRIPT
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(undo_script.script([("file", f"/etc/{name}") for name in names]))
    left = undo(place, "left", root=host, shell=shell)
    assert {*left.stdout.splitlines()} == {f"/etc/{name}" for name in names}
    done = undo(place, root=host, shell=shell)
    assert done.returncode == 0, done.stderr
    assert not any((host / "etc" / name).exists() for name in names)
    assert all((host / "etc" / name).exists() for name in others)
    assert all((host / "var/backups/rocmcfg/etc" / name).exists() for name in names)


def test_it_is_on_the_disk_before_the_commit_is_said(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut at any line of the journal leaves a script that takes back what is there by then."""
    seen: list[tuple[str, bool, bool]] = []
    append = journal.append

    def noted(at: LocalHost, id: int, line: object) -> None:
        script = (host / SCRIPT).read_text() if (host / SCRIPT).exists() else ""
        seen.append((type(line).__name__, f'"$1" file /{DROP_IN}\n' in script, (host / COPY).exists()))
        append(at, id, line)  # type: ignore[arg-type]

    monkeypatch.setattr(journal, "append", noted)
    apply(host)
    names = [name for name, *_ in seen]
    assert names[0] == "Begin"
    assert names[-1] == "Committed"
    assert all(complete and copied for _, complete, copied in seen[1:])


def test_a_transaction_that_was_cut_off_halfway_is_taken_back(
    host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the files of the plan that were not written yet, and of another transaction before it."""
    before = {*_files(host)}
    apply(host)
    applied = {*_files(host)}

    def cut(*_: object, **__: object) -> None:
        raise OSError("cut off")

    with monkeypatch.context() as patched:
        patched.setattr(transaction, "_note", cut)
        patched.setattr(recovery, "undo", cut)
        options = ("--set", "env.HSA_OVERRIDE_GFX_VERSION=11.0.0")
        assert rocmcfg("apply", *RUNPM, *options, "--root", host, "--yes").code == 5
    assert {*_files(host)} > applied, "it changed something"
    assert rocmcfg("status", "--root", host).err.count("neither finished nor rolled back")
    done = undo(FINDER, root=host)
    assert "  update-grub\n" in done.stderr
    assert {*_files(host)} == before


def test_a_failed_apply_leaves_no_script(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(host, state=False)
    monkeypatch.setattr(transaction.Purpose, "records", lambda *_: (_ for _ in ()).throw(OSError("no")))
    assert rocmcfg("apply", *RUNPM, "--root", host, "--yes").code != 0
    assert tree(host, state=False) == before
    assert not (host / SCRIPT).exists()
    assert not (host / "var/backups").exists()


def test_the_newest_takes_back_several_transactions(host: Path) -> None:
    before = {*_files(host)}
    apply(host)
    apply(host, *RUNPM, "--set", "env.HSA_OVERRIDE_GFX_VERSION=11.0.0")
    done = undo(FINDER, root=host)
    assert done.returncode == 1, done.stderr  # update-grub is left to the user
    assert "  update-grub\n" in done.stderr
    assert {*_files(host)} == before


def test_a_rollback_renews_it_and_the_last_one_removes_it(host: Path) -> None:
    apply(host)
    first = (host / SCRIPT).read_text()
    apply(host, *RUNPM, "--set", "env.HSA_OVERRIDE_GFX_VERSION=11.0.0")
    assert "/etc/environment.d/90-rocmcfg.conf" in (host / SCRIPT).read_text()
    assert rocmcfg("rollback", "--root", host, "--yes").code == 0
    assert (host / SCRIPT).read_text() == first == (host / COPY).read_text()
    assert rocmcfg("rollback", "--root", host, "--yes").code == 0
    assert not (host / SCRIPT).exists()
    assert not (host / "var/backups").exists()


def test_a_host_without_its_state_has_the_copy(host: Path) -> None:
    apply(host)
    shutil.rmtree(host / "var/lib/rocmcfg")
    assert f"/{DROP_IN}\n" in undo(FINDER, "left", root=host).stdout
    undo(host / COPY, root=host)
    assert not (host / DROP_IN).exists()


def _by_an_older_rocmcfg(root: Path) -> None:
    for path in (SCRIPT, COPY):
        (root / path).unlink()


def test_what_an_older_rocmcfg_applied_is_left_to_a_rollback(host: Path) -> None:
    apply(host)
    _by_an_older_rocmcfg(host)
    before = tree(host)
    done = undo(FINDER, root=host)
    assert done.returncode == 1
    assert "applied by an older rocmcfg, which wrote no script" in done.stderr
    assert "rocmcfg rollback --pristine" in done.stderr
    assert tree(host) == before
    apply(host, *RUNPM, "--set", "karg.iommu=pt")
    assert undo(FINDER, "left", root=host).returncode == 0, "a script knows the transactions before it too"
    undo(FINDER, root=host)
    assert not (host / DROP_IN).exists()


def test_an_older_rocmcfg_that_wrote_after_it_is_met(host: Path) -> None:
    apply(host)
    newer = host / "var/lib/rocmcfg/transactions/000002"
    shutil.copytree(host / "var/lib/rocmcfg/transactions/000001", newer)
    before = tree(host)
    done = undo(FINDER, root=host)
    assert done.returncode == 1
    assert "changed this host after this script was written" in done.stderr
    assert tree(host) == before


def test_a_transaction_that_was_cut_off_without_a_script_is_left_to_recover(host: Path) -> None:
    apply(host)
    path = host / "var/lib/rocmcfg/transactions/000001/journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if json.loads(line)["kind"] != "commit"))
    _by_an_older_rocmcfg(host)
    done = undo(FINDER, root=host)
    assert done.returncode == 1
    assert "sudo rocmcfg recover" in done.stderr


def test_a_damaged_journal_of_before_stops_no_apply(host: Path) -> None:
    apply(host)
    apply(host, *RUNPM, "--set", "karg.iommu=pt")
    path = host / "var/lib/rocmcfg/transactions/000001/journal.jsonl"
    path.write_bytes(b"{" + path.read_bytes())
    apply(host, *RUNPM, "--set", "karg.iommu=soft")
    assert f"/{DROP_IN}\n" in undo(FINDER, "left", root=host).stdout


@SHELLS
def test_each_kernel_of_then_gets_its_commands(host: Path, tmp_path: Path, shell: tuple[str, ...]) -> None:
    """Also one that was installed since; an image that fails keeps no other one from its own."""
    require_tool(shell[0], shell[0])
    for release in ("6.1-old", "6.2-bad", "6.99-later"):
        (host / "lib/modules" / release).mkdir(parents=True)
        (host / f"lib/modules/{release}/modules.dep").touch()
        (host / f"boot/initramfs-{release}.img").touch()
    program = tmp_path / "bin/make-image"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/ran\ncase $1 in *bad*) exit 1 ;; esac\n')
    program.chmod(0o755)
    maker = Maker(
        "images",
        "some",
        every=("/boot/initramfs-{release}.img",),
        each=(("make-image", "{image}.new"), ("make-image", "moved", "{image}")),
    )
    script = undo_script.script(list(undo_script.of_maker(maker)))
    body = script[: script.index("\ncase $mode in\n  left)")]
    body = body.replace('[ "${user:-0}" = 0 ] ||', "")  # the caller's PATH counts here
    place = tmp_path / "makers.sh"
    place.write_text(body + '\nrun() { "$@"; }\nfailed=\'\'\nfacts run_maker\necho "failed:$failed"\n')
    environment = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    words = [*shell, str(place), "--root", str(host)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "failed: make-image\n", done.stderr
    image = "/boot/initramfs-{}.img"
    assert (tmp_path / "ran").read_text().splitlines() == [
        f"{image.format('6.1-old')}.new",
        f"moved {image.format('6.1-old')}",
        f"{image.format('6.2-bad')}.new",
        f"{image.format('6.99-later')}.new",
        f"moved {image.format('6.99-later')}",
    ]


@SHELLS
@pytest.mark.parametrize("share", [0, 0.3, 0.6, 0.9, 0.97, 0.999])
def test_a_script_that_lost_its_end_changes_nothing_and_the_finder_runs_the_copy(
    host: Path, shell: tuple[str, ...], share: float
) -> None:
    """A disk that was full, or a crash of its file system, leaves the beginning of a file."""
    require_tool(shell[0], shell[0])
    apply(host)
    script, copy = host / SCRIPT, host / COPY
    content = script.read_bytes()
    beginning = content[: round(len(content) * share)]
    before = tree(host, state=False)

    for place in (script, copy):
        place.write_bytes(beginning)
    cut = undo(script, root=host, shell=shell)
    assert cut.returncode == 1 or share == 0, cut.stderr  # no file can say that it is empty
    assert "last line is missing" in cut.stderr or share == 0
    neither = undo(FINDER, root=host, shell=shell)
    assert (neither.returncode, "rocmcfg rollback --pristine" in neither.stderr) == (1, True), neither.stderr
    listed = undo(FINDER, "left", root=host, shell=shell)
    assert (listed.returncode, listed.stdout) == (2, ""), listed.stderr
    warned = undo(FINDER, "removal", root=host, shell=shell)
    assert (warned.returncode, "may stay in force" in warned.stderr) == (0, True), warned.stderr
    assert tree(host, state=False) == before

    copy.write_bytes(content)
    done = undo(FINDER, root=host, shell=shell)
    assert f"(its copy is run instead: {copy})" in done.stderr
    assert (done.returncode, f"/{DROP_IN}" in _files(host)) == (1, False), done.stderr  # update-grub is due
    assert not (host / DROP_IN).exists()


def test_the_finder_ends_as_the_script_that_it_ran(host: Path) -> None:
    apply(host)
    (host / SCRIPT).write_text("exit_status_of() { return $1; }\nexit_status_of 7\n# The end of undo.sh.\n")
    assert undo(FINDER, root=host).returncode == 7
