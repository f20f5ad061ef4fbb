"""`rocmcfg render`: which settings a machine needs that is not here, and what is said of wrong input."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.change.rendering.formats import FORMATS
from rocmcfg.host.local import LocalHost
from rocmcfg.model.request import Request
from rocmcfg.workflow.rendering import render
from tests.lint.judging import judged
from tests.lint.shapes import settings
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg

SAMPLE = Path(__file__).parents[2] / "docs/demo/sample-host"


def rendered(*words: str, root: Path = SAMPLE, format: str = "ignition") -> list[str]:
    done = rocmcfg("render", "--format", format, "--root", root, *words)
    assert done.code == 0, done.err
    arguments: list[str] = json.loads(done.out)["kernelArguments"]["shouldExist"]
    return arguments


@pytest.mark.parametrize(
    ("machine", "cwsr"),
    [
        (("--gfx", "gfx1201", "--kernel", "6.14", "--rocm", "7.1"), ["amdgpu.cwsr_enable=0"]),
        (("--gfx", "gfx1201", "--kernel", "6.19", "--rocm", "7.1"), []),  # that kernel has the fix
        (("--gfx", "gfx1201"), ["amdgpu.cwsr_enable=0"]),  # what cannot be told is applied
        ((), ["amdgpu.cwsr_enable=0"]),  # the host itself, 6.14 and ROCm 7.1
    ],
)
def test_conditions_are_those_of_the_machine_that_is_named(machine: tuple[str, ...], cwsr: list[str]) -> None:
    assert rendered("--profile", "gfx1201", *machine) == cwsr


class Running(LocalHost):
    """A tree as the system that runs."""

    offline = False


def test_a_machine_without_an_amd_gpu_decides_nothing(tmp_path: Path) -> None:
    """Who prints it on a laptop has it for another machine; with ROCm 7.3 gfx1201 needs no cwsr_enable."""
    root = debian_grub_host(tmp_path, gfx=None, rocm="7.3.0")
    request = Request(("gfx1201",))
    made = render(Running(str(root)), request, "nixos", Options())
    assert "for any GPU, any kernel, any ROCm:" in made.text
    assert "amdgpu.cwsr_enable=0" in made.text
    assert "RC2012" in [one.id for one in made.diagnostics], "which says what could not be told"
    image = render(LocalHost(str(root)), request, "nixos", Options())
    assert "kernel 6.12.107" in image.text
    assert "amdgpu.cwsr_enable=0" not in image.text, "a mounted image has its kernels, and shows no GPU"


@pytest.mark.parametrize("format", ["nixos", "bootc"])
def test_the_text_itself_says_where_it_goes_and_how_it_is_proven(format: str) -> None:
    done = rocmcfg("render", "--format", format, "--profile", "gfx1201", "--root", SAMPLE)
    _, _, use, proof, *_ = done.out.splitlines()
    assert use == f"# Use: {FORMATS[format].use}"
    assert proof == "# To check it after a reboot: rocmcfg verify --profile gfx1201"


def test_auto_goes_by_the_gpu_that_is_named() -> None:
    done = rocmcfg("render", "--format", "nixos", "--profile", "auto", "--gfx", "gfx1010", "--root", SAMPLE)
    assert "profile gfx1010" in done.out or "profile rdna1" in done.out, done.out + done.err
    assert done.code == 0


def test_a_rendering_changes_nothing(tmp_path: Path) -> None:
    host = tmp_path / "host"
    shutil.copytree(SAMPLE, host, symlinks=True)
    before = sorted(str(path) for path in host.rglob("*"))
    rendered("--profile", "gfx1201", root=host)
    assert sorted(str(path) for path in host.rglob("*")) == before


def test_json_holds_the_text_and_its_reader() -> None:
    done = rocmcfg(
        *("render", "--format", "cloud-init", "--profile", "gfx1201", "--gfx", "gfx1201"),
        "--root",
        SAMPLE,
        "--json",
    )
    said = json.loads(done.out)
    assert said["format"] == "cloud-init"
    assert said["text"].startswith("#cloud-config\n")
    assert "amdgpu.cwsr_enable=0" in said["settings"]
    assert said["reader"] == "cloud-init"


PARAMETERS = ("amdgpu.runpm=0", "ttm.pages_limit=262144")
ARGUMENTS = ("karg.iommu=pt", "karg.panic=10")


def document(format: str, *words: str, sets: Sequence[str] = (*PARAMETERS, *ARGUMENTS)) -> dict[str, Any]:
    sets = [word for each in sets for word in ("--set", each)]
    done = rocmcfg(
        "render", "--format", format, "--profile", "gfx1201", *sets, *words, "--root", SAMPLE, "--json"
    )
    assert done.code == 0, done.err
    made: dict[str, Any] = json.loads(done.out)
    return made


@pytest.mark.parametrize("sets", [PARAMETERS, (*PARAMETERS, *ARGUMENTS)])
@pytest.mark.parametrize("via", ["cmdline", "modprobe"])
@pytest.mark.parametrize("format", ["gpu-operator", "talos", "tuned"])
def test_lint_reads_what_was_rendered(format: str, via: str, sets: Sequence[str]) -> None:
    """As a file of its name, and as what a pipe brings."""
    made = document(format, "--via", via, sets=sets)
    requested = sorted(each.removeprefix("karg.") for each in made["settings"])
    assert requested
    for file in (FORMATS[format].template, "-"):
        assert settings(judged(file, made["text"])) == requested, file


@pytest.mark.parametrize("format", FORMATS)
def test_what_a_system_cannot_set_is_named(format: str) -> None:
    """Each setting is in the text; the text, a warning and the document say which of them are only named."""
    complete, made = document("nixos"), document(format)
    beyond = [each for each in complete["settings"] if each not in made["settings"]]
    skipped = [each["setting"] for each in made["skipped"] if each not in complete["skipped"]]
    assert sorted(skipped) == sorted(each.partition("=")[0] for each in beyond)
    warned = "".join(each["summary"] for each in made["diagnostics"] if each["id"] == "RC2034")
    for each in beyond:
        name = each.removeprefix("env.").removeprefix("karg.")
        assert f"#   {name}\n" in made["text"]
        assert name in warned


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--format", "nixos"), 0, "--profile auto chose gfx1201"),
        (("--format", "nix", "--profile", "gfx1201"), 2, "nixos"),
        (("--profile", "gfx1201"), 2, "--format"),
        (("--format", "nixos", "--profile", "gfx1201", "--gfx", "RX 9999"), 2, "gfx1100"),
        (("--format", "nixos", "--profile", "gfx1201", "--kernel", "newest"), 2, "6.8"),
        (("--format", "nixos", "--profile", "gfx1201", "--gfx", "gfx1010"), 1, "RC2010"),
        (("--format", "nixos", "--profile", "gfx9999"), 1, "RC1010"),
        (("--format", "nixos", "--set", "amdgpu.runpm=off", "--gfx", "gfx1201"), 1, "RC2"),
        (("--format", "bootc", "--set", "karg.init=/x", "--gfx", "gfx1201"), 0, "RC2055"),
        *(
            (("--format", name, "--set", "karg.foo=1;normal", "--any-gpu"), 1, "RC3108")
            for name, row in FORMATS.items()
            if row.special
        ),
        (("--format", "gpu-operator", "--set", "karg.iommu=pt", "--any-gpu"), 1, "RC2035"),
        (("--format", "tuned", "--set", "env.HSA_XNACK=1", "--any-gpu"), 1, "RC2035"),
        (("--format", "ubuntu-core", "--set", "karg.foo=1;normal", "--any-gpu"), 0, "1;normal"),
    ],
)
def test_wrong_input_is_told(words: tuple[str, ...], code: int, said: str) -> None:
    done = rocmcfg("render", *words, "--root", SAMPLE)
    assert done.code == code, done.out + done.err
    assert said in done.out + done.err
    assert "Traceback" not in done.err
