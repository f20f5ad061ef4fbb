"""What is refused on hosts with unified kernel images, and what a failure in the middle leaves."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.local_view import LocalView
from rocmcfg.host.view import Unwritable
from rocmcfg.loaders import detection
from rocmcfg.loaders.shared import marked_arguments
from rocmcfg.loaders.uki import BACKEND, addons, built_in, reader
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.file_state import FileState
from tests.support.hosts import ARCH_KERNEL, ROOT_ARGUMENT, make_root, other_host
from tests.support.hosts.files import File, programs
from tests.support.hosts.pe import addon_stub, pe, uki
from tests.support.program import rocmcfg
from tests.support.tool_host import ToolHost
from tests.support.trees import tree

KARGS = ("amdgpu.runpm=0",)
LINUX = "efi/EFI/Linux"
SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
ARCH = 'NAME="Arch Linux"\nID=arch\n'


def host(tmp_path: Path, **extra: File) -> Path:
    return other_host(
        tmp_path, "uki-mkinitcpio", extra={path.replace("__", "/"): f for path, f in extra.items()}
    )


def preflight(root: Path, kargs: tuple[str, ...] = KARGS) -> list[Diagnostic]:
    view = ToolHost(str(root))
    return [*BACKEND.preflight(view, BACKEND.observe(view), kargs)]


def image(stub: str = "257.9", *, signed: bool = False, line: str = ROOT_ARGUMENT) -> bytes:
    return uki(line, ARCH_KERNEL, ARCH, stub=stub, signed=signed)


def test_a_signed_image_is_not_built_anew_without_its_key(tmp_path: Path) -> None:
    root = host(tmp_path)
    make_root(tmp_path, {f"{LINUX}/arch-linux.efi": image("253.1", signed=True)})
    (refused,) = (one for one in preflight(root) if one.id == "RC3164")
    assert "arch-linux.efi is signed" in refused.summary
    make_root(tmp_path, {"var/lib/sbctl/keys/db/db.key": "a key", **programs("usr/bin/sbctl")})
    assert "RC3164" not in {one.id for one in preflight(root)}
    (step,) = BACKEND.activations(ToolHost(str(root)), "")
    assert step.commands == (("mkinitcpio", "-P"), ("sbctl", "sign", f"/{LINUX}/arch-linux.efi"))


def test_images_are_not_built_anew_on_a_root_whose_programs_do_not_run(tmp_path: Path) -> None:
    root = host(tmp_path)
    make_root(tmp_path, {f"{LINUX}/arch-linux.efi": image("253.1")})
    view = LocalHost(str(root))
    said = {one.id for one in BACKEND.preflight(view, BACKEND.observe(view), KARGS)}
    assert said == {"RC3163", "RC3168"}
    assert BACKEND.activations(view, "")[0].commands == ()


@pytest.mark.parametrize(
    ("files", "source"),
    [
        ({"etc/kernel/install.conf": "layout=uki\n"}, "/etc/kernel/cmdline"),
        (
            {"usr/lib/kernel/install.conf.d/10.conf": "layout=uki\nuki_generator=mkinitcpio\n"},
            "/etc/kernel/cmdline",
        ),
        ({"etc/kernel/install.conf": "# layout=uki\n"}, "it is unknown which program"),
        (
            {"etc/kernel/install.conf": "layout=uki\n", "etc/kernel/uki.conf": "[UKI]\nCmdline=x\n"},
            "Cmdline=",
        ),
        (
            {"etc/kernel/install.conf": "layout=uki\n", "etc/kernel/uki.conf": "[UKI]\n#Cmdline=x\n"},
            "/etc/kernel/cmdline",
        ),
        ({**programs("usr/bin/dracut")}, "nothing sets kernel_cmdline"),
        ({**programs("usr/bin/dracut"), "etc/dracut.conf": " kernel_cmdline+='root=x'\n"}, built_in.DRACUT),
    ],
)
def test_what_the_line_of_images_comes_from(tmp_path: Path, files: dict[str, File], source: str) -> None:
    cmdline = {"etc/kernel/cmdline": "root=/dev/sda2\n", "usr/lib/modules/6.18/vmlinuz": "k"}
    found = built_in.source(ToolHost(str(make_root(tmp_path, {**cmdline, **files}))))
    assert source in (found.path or found.refusal)
    if found.path == "/etc/kernel/cmdline":
        assert found.commands == (("kernel-install", "add", "6.18", "/usr/lib/modules/6.18/vmlinuz"),)


def test_an_addon_that_the_owner_signed_is_taken_as_it_is(tmp_path: Path) -> None:
    root = host(tmp_path)
    line = marked_arguments.part(KARGS[0]).strip()
    own = f"{LINUX}/arch-linux.efi.extra.d/{reader.OURS}"
    make_root(tmp_path, {SECURE_BOOT: b"\x06\0\0\0\1", own: pe({".cmdline": line}, signed=True)})
    assert preflight(root) == []
    make_root(tmp_path, {own: pe({".cmdline": line})})
    assert [one.id for one in preflight(root)] == ["RC3165"]


def test_where_nobody_says_whether_secure_boot_is_on_signed_images_are_warned_of(tmp_path: Path) -> None:
    root = host(tmp_path)
    assert preflight(root) == []
    make_root(tmp_path, {f"{LINUX}/arch-linux.efi": image(signed=True)})
    assert [one.id for one in preflight(root)] == ["RC3166"]
    make_root(tmp_path, {SECURE_BOOT: b"\x06\0\0\0\0"})
    assert preflight(root) == []


def test_an_image_whose_boot_counter_hides_its_addons_is_warned_of(tmp_path: Path) -> None:
    root = host(tmp_path)
    (root / f"{LINUX}/arch-linux.efi").rename(root / f"{LINUX}/6.12+deb13-amd64+3.efi")
    (said,) = BACKEND.unmanaged(LocalHost(str(root)))
    assert said.id == "RC3167"


def test_entries_beside_the_images_are_warned_of(tmp_path: Path) -> None:
    root = host(tmp_path)
    entry = f"title Arch (entry)\nlinux /vmlinuz-linux\noptions {ROOT_ARGUMENT}\n"
    make_root(tmp_path, {"efi/loader/entries/arch.conf": entry})
    assert detection.reader_on(LocalHost(str(root))) is BACKEND
    (said,) = BACKEND.unmanaged(LocalHost(str(root)))
    assert (said.id, "Arch (entry)" in said.summary) == ("RC3169", True)
    planned = rocmcfg("plan", "--set", "amdgpu.runpm=0", "--root", root, "--json").document
    assert [step["changes"] for step in planned["activations"]] == [[]]


def test_secure_boot_is_a_fact_of_the_host(tmp_path: Path) -> None:
    root = host(tmp_path)
    for content, state in ((None, ""), (b"\6\0\0\0\0", "off"), (b"\6\0\0\0\1", "on"), (b"\6", "")):
        make_root(tmp_path, {SECURE_BOOT: content} if content is not None else {})
        assert detection.detect(LocalHost(str(root)), ()).secure_boot == state
    make_root(
        tmp_path, {SECURE_BOOT: b"\6\0\0\0\0", SECURE_BOOT.replace("SecureBoot", "SetupMode"): b"\6\0\0\0\1"}
    )
    assert detection.detect(LocalHost(str(root)), ()).secure_boot == "off, in setup mode"
    assert "Secure Boot is on" not in rocmcfg("status", "--root", str(root)).out
    make_root(tmp_path, {SECURE_BOOT: b"\6\0\0\0\1"})
    assert "Secure Boot is on" in rocmcfg("status", "--root", str(root)).out


def test_a_line_too_long_is_refused(tmp_path: Path) -> None:
    assert "RC3104" in {one.id for one in preflight(host(tmp_path), ("a=" + "x" * 2000,))}


def test_a_partition_for_roots_eyes_alone_is_said_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = host(tmp_path)
    monkeypatch.setattr(LocalView, "hidden", lambda _, path: path == "/efi")
    monkeypatch.setattr(LocalView, "names", lambda _, path: () if path.startswith("/efi") else ("x",))
    view = LocalHost(str(root))
    assert reader.read(view).unreadable == "only root may read /efi"
    assert BACKEND.detect(view) is not None
    assert [*BACKEND.preflight(view, BACKEND.observe(view), KARGS)] == []


def test_a_full_partition_leaves_the_host_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two addons does not fit any more."""
    root = host(tmp_path)
    make_root(tmp_path, {f"{LINUX}/arch-zen.efi": image()})
    before = tree(root, state=False)
    write = LocalHost.write

    def full(self: LocalHost, path: str, state: FileState, *, keep_mtime: bool) -> None:
        if "arch-zen.efi.extra.d" in path:
            raise Unwritable(path, OSError(errno.ENOSPC, "No space left on device"))
        write(self, path, state, keep_mtime=keep_mtime)

    monkeypatch.setattr(LocalHost, "write", full)
    done = rocmcfg("apply", "--set", KARGS[0], "--yes", "--root", str(root))
    assert done.code == 4
    assert "No space left on device" in done.err
    assert "free some space" in done.err
    assert tree(root, state=False) == before


def test_a_newer_stub_is_no_reason_to_write_an_addon_again(tmp_path: Path) -> None:
    """Nor are the modes and the two-second times of a FAT partition."""
    root = host(tmp_path)
    assert rocmcfg("apply", "--set", KARGS[0], "--yes", "--root", str(root)).code == 0
    own = root / f"{LINUX}/arch-linux.efi.extra.d/{reader.OURS}"
    own.chmod(0o700)
    content = own.read_bytes()
    make_root(tmp_path, {addons.stub_path(0x8664): pe({".text": b"newer", ".sdmagic": b"x"})})
    assert "Already applied" in rocmcfg("apply", "--set", KARGS[0], "--yes", "--root", str(root)).out
    BACKEND.write_entries(LocalHost(str(root)))
    assert own.read_bytes() == content


def test_an_image_for_another_machine_gets_an_addon_of_its_stub(tmp_path: Path) -> None:
    root = host(tmp_path)
    arm = uki(ROOT_ARGUMENT, ARCH_KERNEL, ARCH)
    arm = arm[:68] + b"\x64\xaa" + arm[70:]
    make_root(tmp_path, {f"{LINUX}/arch-linux.efi": arm})
    assert [one.id for one in preflight(root)] == ["RC3168"]  # no stub for it: built in
    make_root(tmp_path, {addons.stub_path(0xAA64): addon_stub(0xAA64)})
    assert preflight(root) == []
