"""No two of plan, lint, explain and doctor contradict each other: every row of the catalogue, thousands of
values, misspellings and machines. A contradiction is one of them sure of what another one is sure is not so,
or silent where another one warns."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import product

import pytest

from rocmcfg.advice.doctor.log_lines import unknown_parameter
from rocmcfg.advice.explain.explain import explain
from rocmcfg.advice.explain.explanation import Explanation, Question
from rocmcfg.advice.lint.check import check
from rocmcfg.advice.lint.kinds import FileKind
from rocmcfg.advice.lint.remark import Finding
from rocmcfg.advice.lint.wording import Knowledge
from rocmcfg.change.planning.resolve import Resolution, resolve
from rocmcfg.judging.judge import judge
from rocmcfg.judging.verdict import OF_THE_NAME, About, Verdict
from rocmcfg.knowledge import catalogue
from rocmcfg.model.desired import Kind
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, Severity
from rocmcfg.model.facts import BootChain, Driver, Facts, Gpu, Kernel, Machine, Os
from rocmcfg.model.request import Request
from rocmcfg.model.spelling import SAFE_NAME, SAFE_VALUE, Spelling, as_number, split
from rocmcfg.model.version import parse_kernel
from rocmcfg.state.values import Effective

KNOWN = catalogue.load()
APUS = {model.gfx for model in KNOWN.gpus if model.apu}
NO_CHAIN = BootChain(None, (), ())
NOBODY = Effective()
OWN_MASKS = (None, "0xfff7ffff", "0xfff7bfff", "0xffffffff", "0xfffd3fff", "0x0")
SEED, MISSPELT = 20261122, 1000


def gpu(gfx: str | None) -> Gpu:
    return Gpu(gfx, str(gfx), "kfd", integrated=gfx in APUS)


def kernel(release: str, *, dkms: bool = False) -> Kernel:
    version = parse_kernel(release)
    assert version is not None
    return Kernel(release, version, Driver.MODULE, dkms)


KERNELS = (
    (),
    (kernel("6.12.107"),),
    (kernel("6.8.0-90-generic"), kernel("6.19.1")),
    (kernel("5.4.302"), kernel("7.3.4")),
    (kernel("6.8.1", dkms=True),),
)
GPUS = (
    (),
    (gpu("gfx1201"),),
    (gpu("gfx1201"), gpu(None)),
    (gpu(None),),
    (gpu("gfx1151"),),
    (gpu("gfx1100"), gpu("gfx1036")),
    (gpu("gfx942"), gpu("gfx90a")),
)
MACHINES = tuple(Machine(kernels, gpus) for kernels in KERNELS for gpus in GPUS)
UNKNOWN_BESIDE = Machine((kernel("6.12.107"),), (gpu("gfx1201"), gpu(None)))


# -- what each of them says -------------------------------------------------------------------------------


def planned(asked: Spelling, on: Machine, own: Effective = NOBODY) -> Resolution:
    """The plan of a host that sets `own` for every parameter."""
    facts = Facts(
        Os("", "", ""), on.kernels, "", on.gpus, None, "", BootChain(None, (), ()), "", offline=True
    )
    return resolve([], Request(set=(str(asked),)), facts, KNOWN, lambda _: own)


def plan_says(asked: Spelling, on: Machine) -> tuple[Diagnostic, ...]:
    return planned(asked, on).diagnostics


def lint_says(asked: Spelling, on: Machine) -> list[Finding]:
    kind = FileKind.ENVIRONMENT if asked.kind is Kind.ENV else FileKind.CMDLINE
    text = str(asked) if asked.kind is Kind.PARAMETER else str(asked).partition(".")[2]
    return check("a", f"{text}\n", Knowledge(KNOWN, on), kind=kind).findings


def of_explain(on: Machine) -> Machine:
    """As `explain` does where no kernel is installed."""
    return on if on.kernels else on._replace(kernels=(kernel("7.3.4"),))


def explain_says(asked: Spelling, on: Machine) -> Explanation | Diagnostic:
    try:
        return explain(Question(asked, of_explain(on), KNOWN))
    except RocmcfgError as stop:
        return stop.diagnostics[0]


# -- what is drawn ----------------------------------------------------------------------------------------


@cache
def settings() -> tuple[Spelling, ...]:
    return tuple(dict.fromkeys((*rows(), *misspelt())))


def rows() -> Iterator[Spelling]:
    """Every name of the catalogue with its own values, and with those that people mistake."""
    common = ("0", "1", "-1", "7", "010", "foo", "FULLFLUSH", "off")
    for parameter in KNOWN.parameters.values():
        own = {value for trap in parameter.traps for value in trap.values}
        own |= {epoch.default for epoch in parameter.epochs}
        own |= {"0xfffd3fff", "0xffffffff", "0x4000"} if parameter.mask else set()
        yield from (split(f"{parameter.id}={v}") for v in (*common, *sorted(own)) if SAFE_VALUE.match(v))
        yield split(f"karg.{parameter.name}=0")
        yield split(f"karg.{parameter.module}u.{parameter.name}=0")
    for argument in KNOWN.arguments.values():
        own = {*argument.values, *(v for trap in argument.traps for v in trap.values)}
        own |= {f"{argument.values[0]},bogus"} if argument.words_join else set()
        yield from (
            split(f"karg.{argument.name}={v}") for v in (*common, *sorted(own)) if SAFE_VALUE.match(v)
        )
    for variable in KNOWN.variables.values():
        own = {*variable.values, variable.default, *(v for trap in variable.traps for v in trap.values)}
        yield from (split(f"env.{variable.name}={v}") for v in (*common, *sorted(own)) if SAFE_VALUE.match(v))
    for feature in KNOWN.features:
        yield from (split(f"feature.{feature}={word}") for word in ("true", "false", "on", "2", "yes"))
    for trap in KNOWN.traps:
        name, _, value = trap.partition("=")
        yield split(f"karg.{name}={value}" if value else f"amdgpu.{name}=1")


def misspelt() -> Iterator[Spelling]:
    """Names with a letter lost, doubled or exchanged, in a drawing that is the same every time."""
    draw = random.Random(SEED)
    names = [
        *KNOWN.parameters,
        *(f"karg.{n}" for n in KNOWN.arguments),
        *(f"env.{n}" for n in KNOWN.variables),
    ]
    for _ in range(MISSPELT):
        scope, _, name = draw.choice(names).partition(".")
        at, letter = draw.randrange(len(name)), draw.choice("aeiou_tn")
        letter = letter.upper() if scope == "env" else letter
        wrong = draw.choice(
            (name[:at] + name[at + 1 :], name[:at] + letter + name[at:], name[:at] + letter + name[at + 1 :])
        )
        if SAFE_NAME.match(wrong):
            yield split(f"{scope}.{wrong}={draw.choice(('0', '1', 'pt', 'foo'))}")


def drawn() -> Iterator[tuple[Spelling, Machine]]:
    draw = random.Random(SEED)
    for asked in settings():
        # Few features taint a kernel, and only on some machines.
        machines = draw.sample(MACHINES, 4) if asked.kind is Kind.FEATURE else [draw.choice(MACHINES)]
        yield from ((asked, machine) for machine in machines)


# -- what may not be --------------------------------------------------------------------------------------

# The class of a finding, and what a plan says of the same; a plan says nothing of a default.
SAME = {
    About.UNKNOWN: ({"RC7101", "RC7102"}, {"RC2101", "RC2050"}),
    About.MISNAMED: ({"RC7101", "RC7102"}, {"RC2101", "RC2015", "RC2016", "RC2050"}),
    About.UNKNOWN_MODULE: ({"RC7102"}, {"RC2109", "RC2110", "RC2050"}),
    About.ABSENT: ({"RC7117"}, {"RC2102", "RC2103"}),
    About.BUILD_ONLY: ({"RC7106"}, {"RC2050"}),
    About.DEPRECATED: ({"RC7107"}, {"RC2108", "RC2050"}),
    About.ILLEGAL: ({"RC7103"}, {"RC2104", "RC2106", "RC2017", "RC2051", "RC2002"}),
    About.OUT_OF_RANGE: ({"RC7103"}, {"RC2105"}),
    About.OCTAL: ({"RC7116"}, {"RC2050"}),
    About.PRESENCE_ONLY: ({"RC7105"}, {"RC2018"}),
    About.TRAP: (
        {"RC7102", "RC7104", "RC7109", "RC7113", "RC7114", "RC7115", "RC7116", "RC7120", "RC7123", "RC7124"},
        {"RC2050"},
    ),
    About.NO_EFFECT: ({"RC7113"}, {"RC2050"}),
    About.TAINTS: ({"RC7108"}, {"RC2107"}),
    About.FEATURE_TAINTS: ({"RC7108"}, {"RC2050"}),
    About.SIDE_EFFECT: ({"RC7110"}, {"RC2050"}),
    About.UNDOES: ({"RC7122"}, {"RC2060"}),
    About.LOSES: ({"RC7109"}, {"RC2050"}),
    About.DEFAULT: ({"RC7114"}, set()),
}
OF_TWO_SETTINGS = {"RC7111", "RC7112"}
# What is no verdict on a setting: that it hands over the machine, and whose default a mask begins with.
HANDED_OVER = {"RC7125"}
OF_PLANNING = {"RC2055", "RC2023"}


def contradictions(asked: Spelling, on: Machine) -> Iterator[str]:
    verdicts = judge(asked, on, KNOWN)
    abouts = {verdict.about for verdict in verdicts}
    plan = plan_says(asked, on)
    told = {diagnostic.id for diagnostic in plan} - OF_PLANNING
    found = lint_says(asked, on) if asked.kind is not Kind.FEATURE else []
    linted = {finding.remark.id for finding in found} - OF_TWO_SETTINGS - HANDED_OVER
    for about in abouts:
        in_lint, in_plan = SAME[about]
        if asked.kind is not Kind.FEATURE and not linted & in_lint:
            yield f"lint does not say {about.name}"
        if in_plan and not told & in_plan:
            yield f"plan does not say {about.name}"
    for id in linted:
        if not any(id in SAME[about][0] for about in abouts):
            yield f"lint alone says {id}"
    for id in told:
        if not any(id in SAME[about][1] for about in abouts):
            yield f"plan alone says {id}"
    refused = any(diagnostic.severity is Severity.ERROR for diagnostic in plan)
    stops = any(finding.remark.severity is Severity.ERROR for finding in found)
    if stops and not refused:
        yield "lint says that the driver does not load, and plan takes it"
    for verdict in verdicts:
        if asked.kind is Kind.KARG and verdict.instead and verdict.about in OF_THE_NAME:
            # of what may be somebody else's, nothing is changed
            if (
                verdict.holds
                and verdict.instead.value is not None
                and verdict.instead not in [finding.remark.instead for finding in found]
            ):
                yield f"lint does not propose {verdict.instead}"
            if not any(str(verdict.instead) in diagnostic.hint for diagnostic in plan):
                yield f"plan does not propose {verdict.instead}"
    yield from _explained(asked, of_explain(on), explain_says(asked, on))


def _explained(asked: Spelling, on: Machine, said: Explanation | Diagnostic) -> Iterator[str]:
    verdicts = judge(asked, on, KNOWN)
    unknown = any(v.about in (About.UNKNOWN, About.UNKNOWN_MODULE) for v in verdicts)
    proposals = [
        v.instead.name if asked.kind is Kind.ENV and v.about in OF_THE_NAME else str(v.instead)
        for v in verdicts
        if v.instead is not None
    ]
    if isinstance(said, Diagnostic):
        misnamed = any(v.about is About.MISNAMED and not v.why for v in verdicts)
        if verdicts and not unknown and not misnamed:
            yield "explain knows nothing of it"
        if proposals and not any(proposal in said.hint for proposal in proposals):
            yield f"explain does not propose {proposals}: {said.hint}"
        return
    if proposals and said.instead not in proposals:
        yield f"explain does not propose {proposals}: {said.instead}"
    if said.kind == "misnomer":
        return
    if unknown:
        yield "explain knows a name that nothing has"
    yield from _explained_value(asked, verdicts, said)
    illegal = next((v for v in verdicts if v.about is About.ILLEGAL), None)
    if asked.kind is Kind.PARAMETER:
        refusing = any(one.verdict for one in said.kernels)
        if refusing != (illegal is not None and illegal.holds is True):
            yield f"explain: {'refused' if refusing else 'taken'}"
        lacking = {one.kernel for one in said.kernels if one.present is False}
        absent = next((v for v in verdicts if v.about is About.ABSENT), None)
        if absent is not None and lacking != set(absent.kernels):
            yield "explain has it on other kernels"
    nothing = next((v for v in verdicts if v.about is About.NO_EFFECT), None)
    if nothing is not None and nothing.holds is True and said.acts_here is not False:
        yield "explain: it acts here"
    if nothing is not None and nothing.holds is None and said.acts_here is not None:
        yield "explain is sure where it acts"


def _explained_value(asked: Spelling, verdicts: list[Verdict], said: Explanation) -> Iterator[str]:
    """What `explain` says of a value: that it is refused, a trap or a mask, each where the judge says so."""
    abouts = {verdict.about for verdict in verdicts}
    refused = {About.OUT_OF_RANGE} if asked.kind is Kind.PARAMETER else {About.ILLEGAL}
    refused |= {About.MISNAMED} if asked.kind is Kind.KARG else set()
    passed_over = asked.kind is Kind.KARG and any(not verdict.strict for verdict in verdicts)
    if bool(said.verdict) != bool(abouts & refused or passed_over):
        yield f"explain: {said.verdict or 'takes a value that is none'}"
    here = {caution.summary: caution.here for caution in said.traps}
    for verdict in verdicts:
        if verdict.about is About.TRAP and here.get(verdict.why, False) is not verdict.holds:
            yield f"explain does not say {verdict.why}"
    changed = any(bit.on != bit.default for bit in said.bits) or said.unnamed
    if About.SIDE_EFFECT in abouts and not changed:
        yield "explain: the mask changes nothing"


@pytest.mark.bulk
def test_no_two_of_them_contradict_each_other() -> None:
    found = [f"{asked} on {on}: {what}" for asked, on in drawn() for what in contradictions(asked, on)]
    assert not found, "\n".join(found[:20]) + f"\n{len(found)} in all"


def test_much_is_drawn() -> None:
    assert len(list(drawn())) > 5_000
    kinds = {asked.kind for asked in settings()}
    assert kinds == set(Kind)
    abouts = {verdict.about for asked, on in drawn() for verdict in judge(asked, on, KNOWN)}
    assert abouts >= set(SAME) - {About.UNKNOWN_MODULE}


def test_what_a_host_sets_itself_is_kept_by_both() -> None:
    """Lint proposes the mask that a plan would compose: onto the one that the host sets, or the default."""
    proposals = 0
    for mask, machine, trap in product(OWN_MASKS, (*MACHINES, UNKNOWN_BESIDE), KNOWN.traps):
        own = Effective(mask, "/etc/modprobe.d/mine.conf:1") if mask is not None else NOBODY
        knowledge = Knowledge(KNOWN, machine, base=dict.fromkeys(KNOWN.parameters, mask).get)
        for finding in check("a", f"amdgpu.{trap}=0\n", knowledge, kind=FileKind.CMDLINE).findings:
            asked, (name, _, value) = finding.remark.instead, (finding.spelt.text or "").partition("=")
            if asked is None or asked.kind is not Kind.FEATURE or not value:
                continue
            (setting,) = planned(asked, machine, own).desired
            assert (name, as_number(value)) == (setting.parameter, as_number(setting.text)), (mask, machine)
            proposals += 1
    assert proposals > 100


# -- the cases that were seen -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(p.id for p in KNOWN.parameters.values() if p.acts_on is not None))
def test_beside_a_gpu_that_nobody_knows_nothing_is_without_effect(name: str) -> None:
    value = KNOWN.parameters[name].epochs[-1].default if KNOWN.parameters[name].epochs else "0"
    asked = split(f"{name}={value or '0'}")
    assert not [f for f in lint_says(asked, UNKNOWN_BESIDE) if "has no effect on" in f.remark.summary]
    assert not [d for d in plan_says(asked, UNKNOWN_BESIDE) if "has no effect on" in d.summary]
    said = explain_says(asked, UNKNOWN_BESIDE)
    assert isinstance(said, Explanation)
    assert said.acts_here is not False


def test_capitals_count_in_the_words_of_amd_iommu() -> None:
    """drivers/iommu/amd/init.c, parse_amd_iommu_options: strncmp, and what is left is an unknown option."""
    asked = split("karg.amd_iommu=FULLFLUSH")
    (finding,) = lint_says(asked, Machine())
    (told,) = plan_says(asked, Machine())
    said = explain_says(asked, Machine())
    assert (finding.remark.id, told.id, told.severity) == ("RC7103", "RC2051", Severity.WARNING)
    assert isinstance(said, Explanation)
    assert said.verdict
    assert not said.meaning
    assert not lint_says(split("karg.amd_iommu=fullflush"), Machine())


@pytest.mark.parametrize(
    ("text", "id", "says"),
    [
        ("karg.amd_iomu=pt", "RC2050", "karg.iommu=pt"),
        ("karg.amd_iomu=off", "RC2050", "karg.amd_iommu=off"),
        ("karg.amd_iommu=bogus", "RC2051", "fullflush"),
        ("karg.runpm=0", "RC2050", "amdgpu.runpm=0"),
        ("karg.stutter=0", "RC2050", "feature.stutter=false"),
        ("karg.amdgpuu.runpm=0", "RC2050", "amdgpu.runpm=0"),
    ],
)
def test_what_is_near_to_a_known_name_is_cautioned_and_not_refused(text: str, id: str, says: str) -> None:
    (told,) = plan_says(split(text), UNKNOWN_BESIDE)
    assert told.id == id
    assert told.severity is not Severity.ERROR
    assert says in told.detail + told.hint


@pytest.mark.parametrize("text", ["karg.quiet", "karg.mine=1", "env.MINE=1", "karg.zswap.enabled=1"])
def test_what_is_near_to_nothing_is_somebody_elses(text: str) -> None:
    assert not plan_says(split(text), UNKNOWN_BESIDE)


@pytest.mark.parametrize("name", ["gfxoff", "cwsr", "cwsr_enabel", "gtt_size", "nothing_like_it"])
def test_a_log_that_names_a_parameter_leads_to_what_a_plan_would_say(name: str) -> None:
    asked = split(f"amdgpu.{name}=1")
    (told,) = plan_says(asked, UNKNOWN_BESIDE)
    (verdict,) = judge(asked, UNKNOWN_BESIDE, KNOWN)
    hint = unknown_parameter("amdgpu", name, "log:1", KNOWN).hint
    meant = verdict.instead.name if verdict.instead else ""
    assert meant in hint
    assert meant in told.hint


@pytest.mark.parametrize(
    ("text", "range"),
    [
        ("amdgpu.job_hang_limit=1", "before 6.4"),
        ("amdgpu.benchmark=1", "before 5.18"),
        ("amdgpu.mes=1", "from 5.3 and before 7.1"),
    ],
)
def test_a_parameter_that_is_gone_is_told_also_where_no_kernel_is_known(text: str, range: str) -> None:
    asked = split(text)
    gone = [f.remark for f in lint_says(asked, Machine()) if f.remark.id == "RC7117"]
    assert [remark.summary for remark in gone] == [f"{asked.id} exists only on kernels {range}"]
    assert [d.summary for d in plan_says(asked, Machine()) if d.id == "RC2102"] == [gone[0].summary]
    having = Machine((kernel("5.15.0") if "benchmark" not in text else kernel("5.10.218"),))
    assert not [f for f in lint_says(asked, having) if f.remark.id == "RC7117"]
