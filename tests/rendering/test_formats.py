"""Every format is read by the program that it is for, where that can be had, and says what was asked for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest

from rocmcfg.change.rendering.formats import FORMATS, of_settings, render
from rocmcfg.model.desired import Channel, DesiredSetting, Kind
from tests.support.tools import require_tool, run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# What breaks out of a comment or a string of one of the formats; and what a value may hold at the most.
NASTY = "it's ''so'' ${so} \"so\" */ EOF\nEOF\n%end #{x} -- \\ \x07 {{ so }} é"
VALUE = "a,b;c:d@e%f+g=h/i.j_k-l"


def setting(
    kind: Kind, name: str, channel: Channel, text: str | None = VALUE, why: str = NASTY
) -> DesiredSetting:
    parameter = name if kind is Kind.PARAMETER else ""
    scope = "" if parameter else f"{kind.value}."
    return DesiredSetting(
        scope + name, kind, name, text, channel, name.partition(".")[0] if parameter else "", parameter, why
    )


KARGS = (
    setting(Kind.PARAMETER, "amdgpu.runpm", Channel.CMDLINE, "0"),
    setting(Kind.KARG, "iommu", Channel.CMDLINE),
    setting(Kind.KARG, "quiet", Channel.CMDLINE, None),
)
OPTIONS = (
    setting(Kind.PARAMETER, "amdgpu.tmz", Channel.MODPROBE, "0"),
    setting(Kind.PARAMETER, "ttm.pages_limit", Channel.MODPROBE, "7"),
)
VARIABLES = (
    setting(Kind.ENV, "ONE", Channel.ENVIRONMENT),
    setting(Kind.ENV, "TWO", Channel.ENVIRONMENT, "2"),
)
CASES = {
    "all": (*KARGS, *OPTIONS, *VARIABLES),
    "arguments": KARGS,
    "options": OPTIONS,
    "variables": VARIABLES,
    "nothing": (),
}


class Read(NamedTuple):
    """What a system would do after it has read a text. `elsewhere` are the settings that its comments say
    are to be set elsewhere."""

    kargs: list[str]
    options: list[str]
    variables: dict[str, str]
    elsewhere: Sequence[str] = ()


def wanted(settings: Sequence[DesiredSetting]) -> Read:
    return Read(
        [s.karg for s in settings if s.channel is Channel.CMDLINE],
        [option(s) for s in settings if s.channel is Channel.MODPROBE],
        {s.name: s.text or "" for s in settings if s.kind is Kind.ENV},
    )


def option(setting: DesiredSetting) -> str:
    return f"options {setting.module} {setting.name.partition('.')[2]}={setting.text}"


def without_variables(settings: Sequence[DesiredSetting]) -> Read:
    requested = wanted(settings)
    return requested._replace(
        variables={}, elsewhere=[f"{name}={value}" for name, value in requested.variables.items()]
    )


def as_arguments(settings: Sequence[DesiredSetting]) -> Read:
    """Ubuntu Core has parameters of modules on the kernel command line."""
    both = [s.karg for s in settings if s.channel is not Channel.ENVIRONMENT]
    return without_variables(settings)._replace(kargs=both, options=[])


def as_parameters_of_amdgpu(settings: Sequence[DesiredSetting]) -> Read:
    of_amdgpu = [s for s in settings if s.module == "amdgpu"]
    rest = sorted((s for s in settings if s not in of_amdgpu), key=lambda s: s.kind is not Kind.KARG)
    return Read([], [option(s) for s in of_amdgpu], {}, [s.karg for s in rest])


ASKED = {
    "ubuntu-core": as_arguments,
    "gpu-operator": as_parameters_of_amdgpu,
    "talos": without_variables,
    "tuned": without_variables,
}


def named_elsewhere(text: str) -> list[str]:
    return re.findall(r"^#   (\S+)$", text, re.MULTILINE)


def of_files(kargs: list[str], files: dict[str, str]) -> Read:
    """From the files that a system lays down. environment.d sets what dash gets from profile.d."""
    scripts = [content for path, content in files.items() if path.startswith("/etc/profile.d/")]
    variables = {}
    for script in scripts:
        said = run([require_tool("dash", package="dash"), "-c", script + "\nexec env -0"]).stdout
        variables = dict(
            pair.split("=", 1) for pair in said.split("\0") if pair and not pair.startswith("PWD=")
        )
    of_sessions = [content for path, content in files.items() if path.startswith("/etc/environment.d/")]
    pairs = "".join(f"{name}={value}\n" for name, value in variables.items())
    assert of_sessions == ([pairs] if pairs else [])
    options = [
        line for path, content in files.items() if "/modprobe.d/" in path for line in content.splitlines()
    ]
    return Read(kargs, options, variables)


def yaml(text: str) -> Any:
    import yaml as reader

    return reader.safe_load(text)


def nixos(text: str, folder: Path) -> Read:
    """Nix evaluates the module: it is a function of what NixOS hands it."""
    file = folder / "rocmcfg.nix"
    file.write_text(text)
    nix = require_tool("nix-instantiate", package="nix-bin")
    environment = {"HOME": str(folder), "NIX_STATE_DIR": str(folder), "NIX_STORE_DIR": str(folder / "store")}
    done = run([nix, "--eval", "--json", "--strict", "-E", f"import {file} {{ }}"], env=environment)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    boot = said.get("boot", {})
    options = boot.get("extraModprobeConfig", "").splitlines()
    return Read(
        boot.get("kernelParams", []), options, said.get("environment", {}).get("sessionVariables", {})
    )


_GUILE = """
(use-modules (ice-9 match))
(define (forms port) (let ((form (read port))) (if (eof-object? form) '() (cons form (forms port)))))
(define (texts form)
  (cond ((string? form) (list form))
        ((pair? form) (append (texts (car form)) (texts (cdr form))))
        (else '())))
(define (say kind all) (for-each (lambda (text) (format #t "~a ~s~%" kind text)) all))
(define (services form)
  (match form
    (('simple-service ('quote 'rocmcfg-modprobe) . rest) (say "option" (cddr (texts rest))))
    (('simple-service ('quote 'rocmcfg-environment) _ ('quote pairs))
     (say "variable" (map (lambda (pair) (string-append (car pair) "=" (cdr pair))) pairs)))
    ((first . rest) (services first) (services rest))
    (_ #t)))
(for-each (match-lambda (('define 'rocmcfg-kernel-arguments ('quote all)) (say "karg" all))
                        (form (services form)))
          (call-with-input-file (cadr (command-line)) forms))
"""


def guix(text: str, folder: Path) -> Read:
    """Guile reads the forms; Guix System itself is in no release of Debian."""
    (folder / "rocmcfg.scm").write_text(text)
    (folder / "read.scm").write_text(_GUILE)
    guile = require_tool("guile", package="guile-3.0")
    done = run([guile, "--no-auto-compile", str(folder / "read.scm"), str(folder / "rocmcfg.scm")])
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = {"karg": [], "option": [], "variable": []}
    for line in done.stdout.splitlines():
        kind, _, said = line.partition(" ")
        found[kind].append(json.loads(said))
    return Read(
        found["karg"],
        [option.removesuffix("\n") for option in found["option"]],
        dict(pair.split("=", 1) for pair in found["variable"]),
    )


def bootc(text: str, folder: Path) -> Read:
    """The documents in the Containerfile (Dockerfile reference, here-documents); kargs.d is TOML
    (bootc, docs/src/building/kernel-arguments.md)."""
    del folder
    files = {}
    rest = text
    while found := re.search(r'^COPY <<"EOF" (\S+)\n(.*?)^EOF\n', rest, re.MULTILINE | re.DOTALL):
        files[found[1]] = found[2]
        rest = rest[: found.start()] + rest[found.end() :]
    assert all(line.startswith("#") for line in rest.splitlines()), rest
    kargs = tomllib.loads(files.pop("/usr/lib/bootc/kargs.d/50-rocmcfg.toml", ""))
    assert set(kargs) <= {"kargs"}
    return of_files(kargs.get("kargs", []), files)


def ignition(text: str, folder: Path) -> Read:
    """ignition-validate is the program that a machine reads it with, in its first boot."""
    file = folder / "config.ign"
    file.write_text(text)
    done = run([require_tool("ignition-validate", package="ignition"), str(file)])
    assert done.returncode == 0, done.stderr
    said = json.loads(text)
    files = said.get("storage", {}).get("files", [])
    contents = {one["path"]: unquote(one["contents"]["source"].removeprefix("data:,")) for one in files}
    return of_files(said.get("kernelArguments", {}).get("shouldExist", []), contents)


def butane(text: str, folder: Path) -> Read:
    """No release of Debian has Butane: these are the keys of its documentation (config-fcos-v1_4)."""
    said = yaml(text)
    assert (said.pop("variant"), said.pop("version")) == ("fcos", "1.4.0")
    kargs = said.pop("kernel_arguments", {}).get("should_exist", [])
    files = said.pop("storage", {}).get("files", [])
    assert said == {}
    assert all(one["mode"] == 0o644 and one["overwrite"] for one in files)
    del folder
    return of_files(kargs, {one["path"]: one["contents"]["inline"] for one in files})


def machineconfig(text: str, folder: Path) -> Read:
    """The configuration for Ignition in it is held against the real reader."""
    said = yaml(text)
    assert (said["apiVersion"], said["kind"]) == ("machineconfiguration.openshift.io/v1", "MachineConfig")
    assert set(said["spec"]) <= {"kernelArguments", "config"}
    inner = ignition(json.dumps(said["spec"]["config"]), folder)
    return inner._replace(kargs=said["spec"].get("kernelArguments", []))


def cloud_init(text: str, folder: Path) -> Read:
    """cloud-init checks it with its own schema; what GRUB gets is what a shell makes of the drop-in."""
    file = folder / "user-data"
    file.write_text(text)
    checked = run([require_tool("cloud-init", package="cloud-init"), "schema", "-c", str(file)])
    assert checked.returncode == 0, checked.stdout + checked.stderr
    said = yaml(text) or {}
    files = {one["path"]: one["content"] for one in said.get("write_files", [])}
    drop_in = files.pop("/etc/default/grub.d/rocmcfg-image.cfg", "")
    line = run(
        [require_tool("dash", package="dash"), "-c", f'{drop_in}\nprintf %s "$GRUB_CMDLINE_LINUX_DEFAULT"']
    ).stdout
    for script in said.get("runcmd", []):
        called = folder / "grubby"
        called.write_text('#!/bin/sh\nprintf "%s" "$2"\n')
        called.chmod(0o755)
        asked = run([require_tool("dash", package="dash"), "-c", script], env={"PATH": str(folder)}).stdout
        assert asked == f"--args={line.strip()}"
    return of_files(line.split(), files)


def kickstart(text: str, folder: Path) -> Read:
    """pykickstart is what Anaconda reads it with; a shell then runs the script in a tree of its own."""
    file = folder / "rocmcfg.ks"
    file.write_text(text)
    validator = Path(sys.executable).with_name("ksvalidator")
    checked = run([str(validator), "-v", "RHEL9", str(file)])
    assert checked.returncode == 0, checked.stdout + checked.stderr
    found = re.fullmatch(r"(?:#[^\n]*\n)*%post --erroronfail\n(.*)%end\n", text, re.DOTALL)
    assert found
    for directory in ("modprobe.d", "environment.d", "profile.d"):
        (folder / "etc" / directory).mkdir(parents=True)
    script = found[1].replace("/etc/", f"{folder}/etc/")
    programs = folder / "bin"
    programs.mkdir()
    (programs / "grubby").write_text('#!/bin/sh\nprintf "%s" "${2#--args=}"\n')
    (programs / "grubby").chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", script],
        env={"PATH": f"{programs}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    files = {f"/{p.relative_to(folder)}": p.read_text() for p in (folder / "etc").rglob("*") if p.is_file()}
    return of_files(done.stdout.split(), files)


def gadget(text: str, folder: Path) -> Read:
    """snapd cannot be had: the field is known from its source. Options are arguments."""
    del folder
    read = yaml(text) or {}
    return Read(read.get("kernel-cmdline", {}).get("append", []), [], {}, named_elsewhere(text))


def device_config(text: str, folder: Path) -> Read:
    """The fields are those of the CRD (ROCm/gpu-operator 6df13c17, config/crd/bases/
    amd.com_deviceconfigs.yaml, spec.driver.kernelModuleConfig). KMM hands the list to `modprobe amdgpu`."""
    del folder
    document = yaml(text)
    assert (document.pop("apiVersion"), document.pop("kind")) == ("amd.com/v1alpha1", "DeviceConfig")
    assert set(document.pop("metadata")) == {"name", "namespace"}
    driver = document.pop("spec", {"driver": {}})
    assert document == {}
    parameters = driver.pop("driver").pop("kernelModuleConfig", {}).pop("parameters", [])
    assert driver == {}
    assert all(isinstance(one, str) for one in parameters)
    return Read([], [f"options amdgpu {one}" for one in parameters], {}, named_elsewhere(text))


def talos(text: str, folder: Path) -> Read:
    """Image Factory decodes the first document and refuses unknown fields (siderolabs/image-factory 26b95cac,
    pkg/schematic/schematic.go); the machine configuration is documents of a kind each (siderolabs/talos
    v1.14.0-rc.1, pkg/machinery/config/schemas/config.schema.json, KernelModuleConfigV1Alpha1)."""
    import yaml as reader

    del folder
    kargs: list[str] = []
    options = []
    for number, document in enumerate(reader.safe_load_all(text)):
        if document and "customization" in document:
            assert number == 0
            assert list(document) == ["customization"]
            assert list(document["customization"]) == ["extraKernelArgs"]
            kargs = document["customization"]["extraKernelArgs"]
        elif document:
            assert (document.pop("apiVersion"), document.pop("kind")) == ("v1alpha1", "KernelModuleConfig")
            module = document.pop("name")
            options += [f"options {module} {one}" for one in document.pop("parameters")]
            assert document == {}
    assert all(isinstance(one, str) for one in kargs)
    return Read(kargs, options, {}, named_elsewhere(text))


_TUNED = """
import json, sys
from tuned import consts
from tuned.plugins.plugin_bootloader import BootloaderPlugin
from tuned.plugins.plugin_modules import ModulesPlugin
from tuned.profiles.factory import Factory
from tuned.profiles.loader import Loader
from tuned.profiles.locator import Locator
from tuned.profiles.merger import Merger
from tuned.profiles.variables import Variables
from tuned.utils.commands import commands

folder, consts.MODULES_FILE = sys.argv[1:3]
variables = Variables()
profile = Loader(Locator([folder]), Factory(), Merger(), {}, variables).load("rocmcfg")
units = {unit.type: unit.options for unit in profile.units.values()}

class Instance:
    _modules = units.get("modules", {})

modules = ModulesPlugin.__new__(ModulesPlugin)
modules._cmd, modules._variables = commands(), variables
modules._instance_apply_static(Instance)
bootloader = BootloaderPlugin.__new__(BootloaderPlugin)
cmdline = bootloader._get_effective_options(units.get("bootloader", {}))["cmdline"]
print(json.dumps([sorted(units), variables.expand(commands().unquote(cmdline or ""))]))
"""


def tuned(text: str, folder: Path) -> Read:
    """TuneD itself loads the profile, joins the arguments and writes the file for modprobe.d; without modinfo
    it does not ask whether this kernel has the modules."""
    program = Path(require_tool("tuned", package="tuned"))
    (folder / "rocmcfg").mkdir()
    (folder / "rocmcfg/tuned.conf").write_text(text)
    written = folder / "modprobe.conf"
    written.touch()
    python = program.read_text().partition("\n")[0].removeprefix("#!").split()[0]
    none = {"PATH": str(folder), "LANG": "C.UTF-8"}
    done = run([python, "-c", _TUNED, str(folder), str(written)], env=none)
    assert done.returncode == 0, done.stderr
    units, cmdline = json.loads(done.stdout.splitlines()[-1])
    assert set(units) <= {"bootloader", "modules"}
    options = [
        f"options {module} {one}"
        for _, module, *parameters in map(str.split, written.read_text().splitlines())
        for one in parameters
    ]
    return Read(cmdline.split(), options, {}, named_elsewhere(text))


READERS = {
    "ubuntu-core": gadget,
    "nixos": nixos,
    "guix": guix,
    "bootc": bootc,
    "ignition": ignition,
    "butane": butane,
    "machineconfig": machineconfig,
    "cloud-init": cloud_init,
    "kickstart": kickstart,
    "gpu-operator": device_config,
    "talos": talos,
    "tuned": tuned,
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("format", FORMATS)
def test_its_reader_gets_what_was_asked_for(format: str, case: str, tmp_path: Path) -> None:
    text = render(format, of_settings(format, CASES[case]), ["Rendered for a test", "with two lines"])
    assert READERS[format](text, tmp_path) == ASKED.get(format, wanted)(CASES[case])


def test_what_nixos_is_to_get_by_hand_is_nix(tmp_path: Path) -> None:
    """The line as a refusal prints it, for somebody to copy."""
    from rocmcfg.loaders import detection, recognised
    from rocmcfg.model.facts import Detection
    from rocmcfg.model.kargs import split as kargs

    nix = require_tool("nix-instantiate", package="nix-bin")
    (chain,) = (one for one in recognised.CHAINS if one.name == "nixos")
    found = Detection(chain.name, chain.title, (), False, False, chain.manual)
    said = detection.manual_lines(found, kargs("amdgpu.runpm=0 iommu=pt", ""))
    line = next(line for line in said.splitlines() if "kernelParams" in line)
    script = f"let boot = {{}}; in {{ {line} }}.boot.kernelParams"
    done = subprocess.run(
        [nix, "--eval", "--strict", "--json", "-E", script], capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout or "null") == ["amdgpu.runpm=0", "iommu=pt"], done.stderr
