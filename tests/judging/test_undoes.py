"""The opposite of a cure, on the GPUs that it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.judging.judge import judge
from rocmcfg.judging.verdict import About
from rocmcfg.judging.words import Advice, words
from rocmcfg.knowledge import catalogue
from rocmcfg.model.catalogue import Hardware
from rocmcfg.model.desired import Kind
from rocmcfg.model.facts import Machine
from rocmcfg.model.spelling import Spelling, parse, switched
from tests.lint.judging import machine
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg

KNOWN = catalogue.load()
CURES = [(id, cure) for id, listed in KNOWN.cures.items() for cure in listed]
_OPPOSITE = {"1": "0", "0": "1", "true": "false", "false": "true", "on": "off", "off": "on"}


def _opposite(id: str, value: str) -> Spelling:
    scope, dot, name = id.partition(".")
    plain = name.replace("_", "-") if scope == "feature" else name  # features are written with dashes
    asked = parse(f"{scope}{dot}{plain}={_OPPOSITE[value.lower()]}")
    assert isinstance(asked, Spelling)
    return asked


def _on(gfx: tuple[str, ...]) -> Machine:
    """Two GPUs of a kind: some faults need more than one."""
    model = next(model.gfx for model in KNOWN.gpus if Hardware(gfx=gfx).covers(model.gfx, False))
    return machine(model, model)


def test_there_are_cures_to_undo() -> None:
    assert len(CURES) >= 25


@pytest.mark.parametrize(("id", "cure"), CURES, ids=[f"{cure.issue}-{id}" for id, cure in CURES])
def test_the_opposite_of_a_cure_is_known_on_its_own_gpu(id: str, cure: object) -> None:
    assert isinstance(cure, type(CURES[0][1]))
    asked, on = _opposite(id, cure.value), _on(cure.gfx)
    verdicts = judge(asked, on, KNOWN, catalogue.known_issues())
    wanted = [
        other.issue
        for listed_id, other in CURES
        if listed_id == id
        and on.has(Hardware(gfx=other.gfx))
        and switched(other.value) is switched(asked.value)
    ]
    if wanted:  # the opposite cures something else on this GPU
        assert not any(verdict.about is About.UNDOES for verdict in verdicts)
        return
    assert {verdict.about for verdict in verdicts} & {About.UNDOES, About.LOSES}
    sure = any(verdict.holds for verdict in verdicts if verdict.about in (About.UNDOES, About.LOSES))
    advice = {words(verdict, asked, KNOWN, on).advice for verdict in verdicts}
    traded = asked.kind is Kind.FEATURE and KNOWN.features[asked.name].traded
    assert not sure or traded or Advice.TAKE_OUT in advice


def test_of_other_gpus_and_of_other_values_nothing_is_said() -> None:
    asked = parse("env.TORCH_BLAS_PREFER_HIPBLASLT=1")
    assert isinstance(asked, Spelling)
    for on in (machine("gfx942"), Machine()):
        assert not any(verdict.about is About.UNDOES for verdict in judge(asked, on, KNOWN))
    other = asked._replace(value="2")
    assert not any(verdict.about is About.UNDOES for verdict in judge(other, machine("gfx1201"), KNOWN))


def test_a_kernel_with_the_fix_has_nothing_to_undo() -> None:
    asked = parse("amdgpu.sg_display=1")
    assert isinstance(asked, Spelling)
    for release, undone in (("6.5.0", True), ("7.3.4", False)):
        on = machine("gfx1036", kernels=(release,))
        assert any(v.about is About.UNDOES for v in judge(asked, on, KNOWN)) is undone


def test_plan_warns_and_fix_writes_no_such_thing(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1201")
    planned = rocmcfg("plan", "--set", "env.TORCH_BLAS_PREFER_HIPBLASLT=1", "--root", root)
    assert "RC2060" in planned.err
    assert "undoes the cure of rdna4-hipblaslt-gltr-overread on gfx1201" in " ".join(planned.err.split())
    script = tmp_path / "a.sh"
    script.write_text("export TORCH_USE_HIPBLASLT=1\n")
    fixed = rocmcfg("lint", "--fix", "--gfx", "gfx1201", script)
    assert "+export TORCH_BLAS" not in fixed.out
    assert "take out    TORCH_USE_HIPBLASLT=1" in fixed.out


@pytest.mark.parametrize("second", ["gfx1201", "gfx1151"])
def test_auto_leaves_out_what_breaks_another_gpu_of_the_host(tmp_path: Path, second: str) -> None:
    root = debian_grub_host(tmp_path, gfx=("gfx1100", second))
    for options, applied in (((), False), (("--profile", "gfx1100"), True)):
        plan = rocmcfg("plan", *options, "--json", "--root", root).document
        assert any("gfxoff" in setting["setting"] for setting in plan["settings"]) is applied
    alone = debian_grub_host(tmp_path, gfx="gfx1100", name="alone")
    plan = rocmcfg("plan", "--json", "--root", alone).document
    assert any("gfxoff" in setting["setting"] for setting in plan["settings"])
