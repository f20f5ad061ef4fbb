"""Whatever a file of the host or of the caller holds, reading it takes time about as its length grows.

A new reader is a line of READERS, or of FOLDERS where it looks at all files of a folder.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from rocmcfg.advice.doctor.reading.logs import unpacked
from rocmcfg.advice.doctor.reading.scan import Scanner
from rocmcfg.facts import gpus, kernels, logins, packages, rocm, system
from rocmcfg.files import environment, environment_targets
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult
from rocmcfg.knowledge import catalogue, toml
from rocmcfg.loaders.grub import BACKEND
from rocmcfg.loaders.shared.grub_files import environment_block
from rocmcfg.loaders.shared.shell_assignments import Environment
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.state import values
from rocmcfg.workflow import fleet, golden, linting
from tests.support.growth import grows_too_fast

KNOWN = catalogue.load()
MOST = 1 << 14
pytestmark = pytest.mark.slow
ENTRY = "### BEGIN /etc/grub.d/10_linux ###\nmenuentry 'a' {\nlinux /v "
SHELL = (
    *(
        "#c\n",
        "a=1\n",
        "v%d=1\n",
        'A="$A$A"\n',
        'A="$A x"\n',
        "a",
        '"',
        "'",
        "\\",
        "(",
        "${A:-",
        "$aa",
        "a\\\n",
    ),
    *("if a; ", "`a`", "A=1;", "\n", " "),
)
TEXT = ("a", " ", "\n", "a=1\n", "v%d=1\n", "0", '"', "\t", "a:b:", "[a]\n", "\0")


DOCUMENTS = (
    '{"command": "verify", "schema_version": 1, "host": "%d"}\n',
    '{"a": 1}',
    "\n{",
    '{"a":\n',
    "[",
    "[1,",
    '"',
    " ",
)


class Reader(NamedTuple):
    """`before` stands in front of the pieces, each of which is repeated; %d in one is counted up."""

    path: str
    pieces: Sequence[str]
    read: Callable[[LocalHost], object]
    before: str = ""


def _menu(host: LocalHost) -> object:
    return (
        BACKEND.observe(host),
        BACKEND.unmanaged(host),
        BACKEND.TRIAL.check(host, BACKEND.read(host), ["a=1"]),
    )


def _defaults(host: LocalHost) -> object:
    return BACKEND.preflight(host, BACKEND.observe(host), ["amdgpu.a=1"])


def _fleet(host: LocalHost) -> object:
    try:
        return fleet.fleet(host, [f"{host.root}/fleet"])
    except RocmcfgError:  # no document describes a host
        return None


def _golden(host: LocalHost) -> object:
    try:
        return golden.read_golden(f"{host.root}/golden.json")
    except RocmcfgError:  # it is not one
        return None


def _packages(host: LocalHost) -> object:
    return packages.read_packages(host, ("a*", "rocm*"))


def _settings(host: LocalHost) -> object:
    set_here = values.set_parameters(host, KNOWN.modules(), None)
    return values.deviations(host, None, set_here, KNOWN)


def _variables(host: LocalHost) -> object:
    return environment.for_everybody(host), environment_targets.later_assignments(host, ())


def _gpus(host: LocalHost) -> object:
    return gpus.read_gpus(host, KNOWN.gpus)


def _toml(host: LocalHost) -> object:
    content = host.read("/etc/rocmcfg/profiles/a.toml") or b""
    return toml.parse(content, "a"), toml.key_lines(content.decode())


OPTIONS = ("options amdgpu p%d=1\n", "options amdgpu a=1\n", "options amdgpu a=1 \\\n", "\\", "#c\n")
NODE = "sys/class/kfd/kfd/topology/nodes/1/properties"
KEYS = ("k%d=1\n", "[t%d]\n", "[[t]]\n", "a.", "a.b%d=1\n", '"', "[", "#c\n", "9", " ")
FACTS = '{"schema_version": 1, "command": "facts", "values": {'
PACKAGE = "Package: a%d\nStatus: install ok installed\nVersion: 1\n\n"
READERS = {
    "modprobe.d": Reader("etc/modprobe.d/a.conf", OPTIONS, _settings),
    "one line of modprobe.d": Reader(
        "etc/modprobe.d/a.conf", ("p%d=1 ", '"a" '), _settings, "options amdgpu "
    ),
    "command line": Reader("proc/cmdline", ("amdgpu.p%d=1 ", "a=1 ", '"', "-- "), _settings),
    "GRUB's defaults": Reader("etc/default/grub", SHELL, _defaults),
    "a word of GRUB's defaults": Reader("etc/default/grub", SHELL, _defaults, 'GRUB_CMDLINE_LINUX="${A:-'),
    "a drop-in of GRUB's": Reader("etc/default/grub.d/zzz.cfg", ("a=1\n", 'A="$A x"\n', "#c\n"), _defaults),
    "boot menu": Reader(
        "boot/grub/grub.cfg", ("a=1 ", "'", "linux /v a=%d\n", "menuentry 'a' {\n"), _menu, ENTRY
    ),
    "environment": Reader("etc/environment", TEXT, _variables),
    "environment.d": Reader("etc/environment.d/99.conf", TEXT, _variables),
    "profile.d": Reader("etc/profile.d/zzz.sh", TEXT, _variables),
    "os-release": Reader("etc/os-release", (*TEXT, "A=a"), system.read_os),
    "a version in os-release": Reader("etc/os-release", ("(", ","), system.read_os, 'ID=a\nVERSION="'),
    "a GPU's node": Reader(NODE, ("a 1\n", "a", "0", "\n"), _gpus, "simd_count 1\ngfx_target_version "),
    "a PCI device": Reader("sys/bus/pci/devices/0/vendor", ("0", "\n", "a"), _gpus),
    "processor": Reader("proc/cpuinfo", ("model name\n", "\n", " "), lambda h: system.read_hardware(h, ())),
    "memory": Reader("proc/meminfo", ("MemTotal: 1\n", "\n", " ", "0"), system.read_memory),
    "container": Reader("proc/1/environ", ("a\0", "a", "\0"), system.read_container),
    "version of ROCm": Reader("opt/rocm/.info/version", ("1.", "1", " ", "\n"), rocm.read_rocm),
    "header of ROCm": Reader(
        "usr/include/rocm-core/rocm_version.h",
        ("ROCM_VERSION_MAJOR ", " ", "1", "\n"),
        rocm.read_rocm,
        "ROCM_VERSION_MINOR 1\nROCM_VERSION_PATCH 1\nROCM_VERSION_MAJOR ",
    ),
    "PyTorch": Reader(
        "usr/lib/python3/dist-packages/torch/version.py",
        ("hip ", "hip = 'a'\n", "a+rocm", "\n"),
        rocm.read_pytorch,
        "__version__",
    ),
    "drivers in the kernel": Reader(
        "lib/modules/6.12.1/modules.builtin", ("a/b.ko\n", "a/", "\n"), kernels.read_kernels
    ),
    "greetd": Reader(
        "etc/greetd/config.toml", ("\n", " ", "[a]\n"), lambda h: logins.somebody_logged_in(_Asked(h.root))
    ),
    "mounts": Reader(
        "proc/mounts",
        ("a /boot ext4 rw\n", "a ", "\n"),
        lambda h: environment_block._mount_of(h, "/boot/grub"),
    ),
    "documents of a fleet": Reader("fleet/all.json", DOCUMENTS, _fleet),
    "one document of a fleet": Reader("fleet/all.json", DOCUMENTS, _fleet, '{"schema_version": 1, "a": ['),
    "golden host": Reader("golden.json", ('"a%d": "1", ', '"a": "1", ', "[", '"'), _golden, FACTS),
    "packages": Reader("var/lib/dpkg/status", (PACKAGE, "Package: a\n", "\n", " ", "Version: "), _packages),
    "profile": Reader("etc/rocmcfg/profiles/a.toml", KEYS, _toml),
    "a table of a profile": Reader("etc/rocmcfg/profiles/a.toml", ("a.", "a,", "a={"), _toml, "k = {"),
}
FOLDERS = {
    "modprobe.d": Reader("etc/modprobe.d/%d.conf", ("options amdgpu p%d=1\n",), _settings),
    "grub.d": Reader("etc/default/grub.d/zzz%d.cfg", ("A=1\n",), _defaults),
    "environment.d": Reader("etc/environment.d/%d.conf", ("v%d=1\n",), _variables),
    "profile.d": Reader("etc/profile.d/%d.sh", ("v%d=1\n",), _variables),
    "PCI": Reader("sys/bus/pci/devices/%d/vendor", ("0x1002\n",), _gpus),
    "kernels": Reader("lib/modules/6.1.%d/modules.builtin", ("a\n",), kernels.read_kernels),
    "lint": Reader("etc/environment.d/%d.conf", ("v%d=1\n",), lambda h: linting.lint(h, ())),
}


class _Asked(LocalHost):
    """A host whose journal knows of one login, so that what may have asked for it is looked up."""

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        said = "pam_unix(greetd:session): session opened for user root(uid=0) by root(uid=0)"
        return CommandResult(tuple(argv), 0, f'{{"MESSAGE": "{said}"}}\n', "")


def _host(folder: Path, files: dict[str, str]) -> LocalHost:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    return LocalHost(str(folder))


def _repeated(piece: str, n: int) -> str:
    return "".join(piece.replace("%d", str(i)) for i in range(n)) if "%d" in piece else piece * n


@pytest.mark.parametrize("name", READERS)
def test_the_time_to_read_a_file_grows_as_the_file_does(tmp_path: Path, name: str) -> None:
    reader, number = READERS[name], count()
    for piece in reader.pieces:

        def make(n: int, piece: str = piece) -> Callable[[], object]:
            text = reader.before + _repeated(piece, n)
            host = _host(tmp_path / str(next(number)), {reader.path: text})
            return lambda: reader.read(host)

        assert not grows_too_fast(make, MOST), piece


@pytest.mark.parametrize("name", FOLDERS)
def test_the_time_to_read_a_folder_grows_as_its_files_do(tmp_path: Path, name: str) -> None:
    reader, number = FOLDERS[name], count()

    def make(n: int) -> Callable[[], object]:
        numbered = ((str(i), reader.path, reader.pieces[0]) for i in range(n))
        files = {path.replace("%d", i): text.replace("%d", i) for i, path, text in numbered}
        host = _host(tmp_path / str(next(number)), files)
        return lambda: reader.read(host)

    assert not grows_too_fast(make, 128, 128)


@pytest.mark.parametrize(
    ("file", "begin", "piece"),
    [
        ("tuned.conf", "[bootloader]\ncmdline=", "amdgpu.runpm=0 "),
        ("modprobe.d/amdgpu.conf", "options amdgpu ", "runpm=0 "),
        ("deviceconfig.yaml", "kind: DeviceConfig\nparameters:\n", '- "runpm=0"\n'),
        ("machine.yaml", "extraKernelArgs: [", "amdgpu.runpm=0, "),
    ],
)
def test_the_time_to_check_a_line_grows_as_the_line_does(
    tmp_path: Path, file: str, begin: str, piece: str
) -> None:
    number, view = count(), _host(tmp_path, {})

    def make(n: int) -> Callable[[], object]:
        path = tmp_path / str(next(number)) / file
        path.parent.mkdir(parents=True)
        path.write_text(begin + piece * n)
        return lambda: linting.lint(view, (str(path),))

    assert not grows_too_fast(make, MOST, 256)


@pytest.mark.parametrize("piece", ["a", "\n", "\0", "amdgpu ", "amdgpu: [gfxhub] page fault\n", "%d\n"])
def test_the_time_to_search_a_log_grows_as_the_log_does(piece: str) -> None:
    from rocmcfg.advice.doctor.reading import probes
    from rocmcfg.knowledge import catalogue, diagnosis, faults

    wanted = probes.of_all(diagnosis.log_knowledge(), catalogue.known_issues(), faults.faults().values())

    def make(n: int) -> Callable[[], object]:
        content = _repeated(piece, n).encode()
        return lambda: Scanner(wanted, use_grep=False).read("a", unpacked(io.BytesIO(content), "a"))

    assert not grows_too_fast(make, MOST)


def test_a_value_that_doubles_in_every_line_takes_no_more_memory_than_the_lines() -> None:
    def make(n: int) -> Callable[[], object]:
        text = 'GRUB_CMDLINE_LINUX="ab"\n' + 'A="$A$A"\nGRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX$A"\n' * n
        return lambda: Environment().read("grub", text)

    assert not grows_too_fast(make, 1 << 12, memory=True)
