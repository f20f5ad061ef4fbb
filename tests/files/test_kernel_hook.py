"""The hook that checks a newly installed kernel: it must never fail an installation."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocmcfg.files import kernel_hook
from rocmcfg.host.local import LocalHost
from rocmcfg.host.runner import ROOTS_PATH
from tests.support.hosts import make_root
from tests.support.tools import require_tool, run

POSTINST, INSTALL = "/etc/kernel/postinst.d/rocmcfg", "/etc/kernel/install.d/95-rocmcfg.install"
INITCPIO = "/etc/initcpio/post/rocmcfg"


def test_the_hook_goes_where_the_hosts_kernels_look(tmp_path: Path) -> None:
    def chosen(name: str, *directories: str, after_entries: bool = False) -> list[str]:
        root = make_root(tmp_path, {f"{d}/x": "" for d in directories} or {"x": ""}, name=name)
        proposed = kernel_hook.propose(LocalHost(str(root)), wanted=True, after_entries=after_entries)
        assert tuple(proposed) == kernel_hook.PATHS
        return [path for path, content in proposed.items() if content is not None]

    both = ("etc/kernel/postinst.d", "etc/kernel/install.d")
    assert chosen("debian", *both) == [POSTINST]
    assert chosen("entries", *both, after_entries=True) == [INSTALL]
    assert chosen("no-plugins", "etc/kernel/postinst.d", after_entries=True) == [POSTINST]
    assert chosen("systemd", "etc/kernel/install.d") == [INSTALL]
    assert chosen("arch", "etc/kernel/install.d", "etc/initcpio/post") == [INSTALL, INITCPIO]
    assert chosen("none") == []
    assert kernel_hook.PATHS == (POSTINST, INSTALL, INITCPIO)


def hook(directory: str, tmp_path: Path, programs: Path | None = None) -> Path:
    """`programs` is a folder that stands for the first of the system's."""
    view = LocalHost(str(make_root(tmp_path, {f"{directory}/x": ""})))
    (content,) = filter(None, kernel_hook.propose(view, wanted=True).values())
    path = tmp_path / "hook"
    text = content.decode()
    assert f"\nPATH={ROOTS_PATH}\n" in text
    path.write_text(text.replace("\nPATH=", f"\nPATH={programs}:") if programs else text)
    path.chmod(kernel_hook.MODE)
    return path


@pytest.mark.parametrize(
    ("directory", "arguments", "asked"),
    [
        ("etc/kernel/postinst.d", ["6.18.5", "/boot/vmlinuz-6.18.5"], "check-kernel 6.18.5"),
        ("etc/kernel/install.d", ["add", "6.18.5", "/boot/x"], "check-kernel 6.18.5"),
        ("etc/kernel/install.d", ["remove", "6.18.5"], ""),
        (
            "etc/initcpio/post",
            ["/boot/vmlinuz-linux", "/tmp/x", "/efi/EFI/Linux/x.efi"],
            "check-kernel 6.18.5",
        ),
    ],
)
@pytest.mark.parametrize("status", [0, 1, 5])
def test_the_hook_asks_about_its_kernel_and_always_succeeds(
    tmp_path: Path, directory: str, arguments: list[str], asked: str, status: int
) -> None:
    path = hook(directory, tmp_path, tmp_path / "bin")
    program = tmp_path / "bin/rocmcfg"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*"\nread -r answer && echo "stdin:$answer"\nexit {status}\n')
    program.chmod(0o755)
    env = {"PATH": "/usr/bin:/bin", "KERNELVERSION": "6.18.5"}
    result = run([require_tool("dash", package="dash"), str(path), *arguments], env=env, input="yes\n")
    assert (result.returncode, result.stdout.strip()) == (0, asked)


@pytest.mark.parametrize("directory", ["etc/kernel/install.d", "etc/initcpio/post"])
def test_the_hook_is_silent_where_rocmcfg_itself_has_the_images_built(tmp_path: Path, directory: str) -> None:
    """It holds the lock, and looks at the images afterwards."""
    path = hook(directory, tmp_path, tmp_path)
    program = tmp_path / "rocmcfg"
    program.write_text("#!/bin/sh\necho called\n")
    program.chmod(0o755)
    env = {"PATH": "/usr/bin:/bin", "KERNELVERSION": "6.18.5", "ROCMCFG_STARTED": "mark"}
    result = run([str(path), "add", "6.18.5"], env=env)
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize("directory", ["etc/kernel/postinst.d", "etc/kernel/install.d", "etc/initcpio/post"])
def test_a_hook_that_outlived_rocmcfg_does_nothing(tmp_path: Path, directory: str) -> None:
    path = hook(directory, tmp_path)
    # wherever this machine has a rocmcfg of its own
    path.write_text(path.read_text().replace("command -v rocmcfg ", "command -v rocmcfg-that-is-gone "))
    result = run([str(path), "add", "6.18.5"], env={"PATH": "/usr/bin:/bin"})
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


HOOKS = ["etc/kernel/postinst.d", "etc/kernel/install.d", "etc/initcpio/post"]


@pytest.mark.parametrize("directory", HOOKS)
def test_the_hook_runs_no_program_of_its_callers_path(tmp_path: Path, directory: str) -> None:
    (tmp_path / "system").mkdir()
    path = hook(directory, tmp_path, tmp_path / "system")
    for name in ("rocmcfg", "command", "true", "exit"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\necho run\n")
        program.chmod(0o755)
    env = {"PATH": f"{program.parent}:/usr/bin:/bin", "KERNELVERSION": "6.18.5"}
    result = run([str(path), "add", "6.18.5"], env=env)
    assert result.returncode == 0
    assert "run" not in result.stdout.split()


@pytest.mark.parametrize("directory", HOOKS)
def test_a_hook_is_a_script_as_shellcheck_wants_it(tmp_path: Path, directory: str) -> None:
    path = hook(directory, tmp_path)
    shellcheck = require_tool("shellcheck", "shellcheck")
    done = subprocess.run([shellcheck, "--shell=sh", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_program_that_the_hook_would_not_find_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = LocalHost(str(make_root(tmp_path, {"usr/local/bin/x": ""})))
    assert not kernel_hook.problems(view, [POSTINST]), "what a mounted host gets is not known"
    monkeypatch.setattr(LocalHost, "offline", False)
    assert [one.id for one in kernel_hook.problems(view, [POSTINST])] == ["RC3035"]
    assert not kernel_hook.problems(view, ["/etc/modprobe.d/zz-rocmcfg.conf"])
    program = Path(view.root) / "usr/local/bin/rocmcfg"
    program.touch(0o755)
    assert not kernel_hook.problems(view, [POSTINST])


@pytest.mark.skipif(
    subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "x", "/mnt"], capture_output=True).returncode
    != 0,
    reason="needs root and mount namespaces",
)
def test_the_hook_finds_the_program_whatever_path_it_is_started_with(tmp_path: Path) -> None:
    path = hook("etc/kernel/postinst.d", tmp_path)
    program = tmp_path / "rocmcfg"
    program.write_text('#!/bin/sh\necho "$0 $*"\n')
    program.chmod(0o755)
    script = (
        'mount -t tmpfs x /usr/local/bin && cp "$1" /usr/local/bin/ && PATH=/nowhere exec /bin/sh "$2" 6.18.5'
    )
    argv = [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        script,
        "sh",
        str(program),
        str(path),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "/usr/local/bin/rocmcfg check-kernel 6.18.5\n"), done.stderr


def test_the_real_kernel_install_runs_the_plugin_for_a_kernel_that_comes_and_goes_on(tmp_path: Path) -> None:
    """Not for one that goes, and not where a plugin before it has ended the whole with 77, as that of
    rpm-ostree does. `inspect` runs no plugin."""
    told = tmp_path / "told"
    ours = hook("etc/kernel/install.d", tmp_path, tmp_path / "bin")
    program = tmp_path / "bin/rocmcfg"
    others = {
        "10-skips.install": 'test ! -e "$0.on" || exit 77',
        "99-last.install": f'echo "last $1" >>{told}',
    }
    others["bin/rocmcfg"] = f'echo "$*" >>{told}; exit 1'
    for name, text in others.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    (tmp_path / "vmlinuz").touch()
    plugins = [tmp_path / "10-skips.install", ours.rename(tmp_path / "95-rocmcfg.install")]
    env = {
        "PATH": f"{program.parent}:/usr/bin:/bin",
        "KERNEL_INSTALL_PLUGINS": " ".join(map(str, (*plugins, tmp_path / "99-last.install"))),
        "KERNEL_INSTALL_CONF_ROOT": str(tmp_path),
        "BOOT_ROOT": str(tmp_path),
        "MACHINE_ID": "0b9d3c7e5f184a62a1d4e6807c2f93b5",
    }

    def kernel_install(*arguments: str) -> list[str]:
        told.unlink(missing_ok=True)
        done = run([require_tool("kernel-install", "systemd"), *arguments], env=env)
        assert done.returncode == 0, done.stderr
        return told.read_text().splitlines() if told.exists() else []

    added = ("add", "6.18.5", str(tmp_path / "vmlinuz"))
    assert kernel_install(*added) == ["check-kernel 6.18.5", "last add"]
    assert kernel_install("inspect") == []
    assert kernel_install("remove", "6.18.5") == ["last remove"]
    (tmp_path / "10-skips.install.on").touch()
    assert kernel_install(*added) == []
