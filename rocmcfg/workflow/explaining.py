"""Explain one name, for this host or for a kernel that is not installed here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from rocmcfg.advice.explain import subjects
from rocmcfg.advice.explain.explain import as_parameter, explain
from rocmcfg.advice.explain.explanation import Explanation, Question
from rocmcfg.change.planning import setting_names
from rocmcfg.facts.gpus import named_gpu
from rocmcfg.facts.kernels import named_kernel
from rocmcfg.files.environment import set_variables
from rocmcfg.host.view import HostView
from rocmcfg.judging import names
from rocmcfg.judging.conditions import has_fix
from rocmcfg.judging.parameters import newest_build
from rocmcfg.knowledge import catalogue, gpu_names, profiles
from rocmcfg.knowledge import faults as fault_table
from rocmcfg.knowledge.kernel_names import decode
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.checks import CheckStatus
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, Severity, cut, fail
from rocmcfg.model.facts import Driver, Facts, Gpu, Kernel, Machine
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.kargs import Karg, last
from rocmcfg.model.profile import Setting
from rocmcfg.model.regex import regex, search
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.spelling import closest, split
from rocmcfg.records import receipt
from rocmcfg.state.values import Running, next_boot_kargs, set_parameters
from rocmcfg.state.verify import verify
from rocmcfg.workflow.planning import collect_facts

_RETURNED = regex(r"(?:[a-z_ ]*(?:error|status|code)[ :=]+)?(0x[0-9a-f]{1,8}|[1-9][0-9]{0,8})")
_TOPIC = 4  # words of a search
_WORD = regex(r"[A-Za-z][A-Za-z0-9]{2,}")
_WORDS = 100  # words of a line; a kernel command line has at most 2,048 characters


class ProfileUse(NamedTuple):
    """A profile that uses the name, with the id of the setting, its value, and its cost according to the
    profile."""

    profile: str
    setting: str
    value: str = ""
    cost: str = ""


@published("*explanation", "next_boot", "source", "running", "profiles")
class Explained(NamedTuple):
    """A name, explained on a host. `next_boot` is the value at the next boot, or login, and `source` is where
    it is set; if nothing sets it, they are None and empty. `next_boot` is None with a `source` if the value
    is unknown. `meaning` and `verdict` are about the value in the question. `running` is the value in the
    kernel or in the caller's environment. `waits` says what is applied, and which program must run first."""

    explanation: Explanation
    profiles: tuple[ProfileUse, ...] = ()
    next_boot: str | None = None
    source: str = ""
    running: str | None = None
    waits: str = ""


class Target(NamedTuple):
    """The kernels and GPUs by which a name is judged; empty for those of the host."""

    kernels: tuple[str, ...] = ()
    gfx: tuple[str, ...] = ()


_HOST = Target()


def explain_name(
    view: HostView, text: str, target: Target = _HOST, environment: Mapping[str, str] | None = None
) -> Explained:
    """Explain `text`, which is NAME or NAME=VALUE. If neither the target nor the host has a kernel, the
    newest known kernel counts. `environment` is the caller's, for the present value of a variable."""
    if text.startswith("Cijk_"):
        return _kernel_name(text)
    subject = _subject(view, text, target)
    if subject is not None:
        return Explained(subject)
    knowledge = catalogue.load()
    text = setting_names.plain_setting(view, text)
    spelling = split(text)
    meant = as_parameter(spelling)
    modules = (meant.module,) if meant is not None else (names.MODULE_OF_TRAPS,)
    facts = collect_facts(view, modules=() if target.kernels else modules, name_system=False)
    running = Running(view)

    def seen(id: str) -> bool | None:
        if not running.loaded(id.partition(".")[0]):
            return None
        return running.parameter(id).present

    machine = _machine(facts, target, knowledge)
    if _looks_like_a_status(text):
        raise _unknown(text, closest(text, list(catalogue.status_codes()))[:1])
    try:
        explanation = explain(Question(spelling, machine, knowledge, catalogue.known_issues(), seen))
    except RocmcfgError:
        known_names = [*(p.name for p in knowledge.parameters.values()), *knowledge.features]
        is_slip = bool(names.nearest(text, [*known_names, *knowledge.arguments], 1))
        if not is_slip and (mentioned := _mentioned(text)):
            return Explained(subjects.topic(text, mentioned))
        names_of_ids = (*(issue.id for issue in catalogue.known_issues()), *knowledge.fixes)
        ids = [*names_of_ids, *fault_table.faults()] if "-" in text else []
        numbers = [f"profile.{name}" for name in setting_names.numbers(view)]
        near = numbers if text.startswith("profile.") else closest(text, ids)[:1]
        if not near:
            raise
        raise _unknown(text, near) from None
    values = _values(view, explanation, facts, knowledge, environment or {})
    return Explained(explanation, _users(view, explanation.name), *values, _waits(view, explanation.name))


def explain_line(
    view: HostView, line: str, target: Target, environment: Mapping[str, str], *, each: bool = False
) -> tuple[list[Explained], list[Diagnostic]] | None:
    """Return the explanation of each setting in a line that somebody copied, such as the line of GRUB or of
    the kernel, and remarks on what is unknown in it; None if the line is the name of a single thing. With
    `each`, every word was asked about; without it, words that do not concern rocmcfg are skipped."""
    if gpu_names.gpus(line, whole=True) or line.startswith("Cijk_") or _status(line) is not None:
        return None
    explained: list[Explained] = []
    unknown: list[Diagnostic] = []
    for word in re.sub("[\"'`]", " ", line).split()[:_WORDS]:
        if each or "=" in word.strip("="):
            try:
                explained.append(explain_name(view, word.rstrip(",;"), target, environment))
            except RocmcfgError as problem:  # arguments without a module mostly belong to other programs
                name = word.partition("=")[0]
                named = each or "." in name or names.reads_not(name) is not None
                unknown += [
                    reason._replace(severity=Severity.WARNING) for reason in problem.diagnostics if named
                ]
    return explained, unknown


def is_topic(text: str) -> bool:
    """Return whether a text consists of a few plain words that known issues mention, so that it is a search
    rather than a line of a log."""
    return bool(_mentioned(text))


def _mentioned(text: str) -> list[KnownIssue]:
    """Return the known issues that mention each of a few plain words."""
    from rocmcfg.advice.doctor.judging.workarounds import issues_about

    words = text.split()
    if not 0 < len(words) <= _TOPIC or not all(map(_WORD.fullmatch, words)):
        return []
    return [here.issue for here in issues_about(words, ())]


def _subject(view: HostView, text: str, target: Target) -> Explanation | None:
    """Return the explanation of a name that is an id rather than a setting; None for everything else."""
    name = text.lower()
    if name.startswith("rc") and (row := catalogue.diagnostics().get(text.upper())):
        return subjects.diagnostic(text.upper(), *row)
    if name.startswith("amd-") and (fault := fault_table.faults().get(text.upper())) is not None:
        return subjects.fault(fault, fault_table.layers()[fault.layer])
    issues = [issue for issue in catalogue.known_issues() if issue.id == name] if "-" in name else []
    if issues:
        from rocmcfg.advice.doctor.judging.origin import Options, known_here

        options = Options(target.gfx, next(iter(target.kernels), ""))
        here = known_here(issues, collect_facts(view, name_system=False), catalogue.load(), options)
        return subjects.issue(issues[0], bool(here), target.gfx)
    if (fix := catalogue.load().fixes.get(name)) is not None:
        machine = _machine(collect_facts(view, name_system=False), target, catalogue.load())
        has = {kernel.release: has_fix(fix, kernel, machine.gpus) for kernel in machine.kernels}
        return subjects.fix(fix, has, catalogue.known_issues())
    if (code := _status(text)) is not None:
        return subjects.status(*code, catalogue.known_issues())
    is_profile = name in profiles.names(view)
    models = [model for model in catalogue.gpu_models() if model.gfx == name]
    models = models or ([] if is_profile else gpu_names.gpus(text, whole=True))
    if len({model.gfx for model in models}) == 1:
        fitting = profiles.for_gpus(view, (Gpu(models[0].gfx, "", "pci", integrated=models[0].apu),))
        return subjects.gpu(models, fitting, catalogue.known_issues())
    if is_profile:
        return subjects.profile(profiles.load(view, [name])[0])
    bare_name = name.removeprefix("profile.").partition("=")[0]
    if setting_names.called(view, bare_name) != [f"profile.{bare_name}"]:
        return None
    number = setting_names.numbers(view).get(bare_name)
    return subjects.number(*number) if number else None


def _status(text: str) -> tuple[str, Mapping[str, Any]] | None:
    """Return the status that a library returned, by its name or its number: "error 700", "code: 0x1016"."""
    words = text.strip().lower()
    returned = _RETURNED.fullmatch(words)
    number = int(returned[1], 0) if returned else None
    codes = catalogue.status_codes() if returned or _looks_like_a_status(words) else {}
    return next((row for row in codes.items() if row[0].lower() == words or row[1]["number"] == number), None)


def _unknown(text: str, near: Sequence[str]) -> RocmcfgError:
    hint = f"did you mean {', '.join(near)}?" if near else ""
    return fail("RC6001", f"nothing is known about {cut(text)!r}", hint=hint)


def _looks_like_a_status(text: str) -> bool:
    return text.lower().startswith(("hsa_status_", "hiperror"))


def _kernel_name(text: str) -> Explained:
    """Return the explanation of a GEMM kernel, as logs name it. Raise RocmcfgError if the name is incomplete,
    or not one of a GEMM kernel."""
    decoded = decode(text)
    if decoded is None:
        hint = "copy it unchanged from the log: Cijk_Ailk_Bljk_…"
        raise fail("RC6003", f"{text}: not a complete kernel name", hint=hint)
    remarks = [f"{name}: {meaning}" for name, meaning in decoded.parts]
    for issue in catalogue.known_issues():
        if any("Cijk_" in s.pattern and search(s.pattern, decoded.name) for s in issue.signatures):
            remarks.append(f"a fault in it matches a known issue, {issue.id}: {issue.title}")
    summary = "A matrix product of ROCm's GEMM libraries."
    return Explained(Explanation(decoded.name, "kernel", summary, tuple(remarks)))


def _machine(facts: Facts, target: Target, knowledge: Catalogue) -> Machine:
    gpus = tuple(named_gpu(gfx, catalogue.gpu_models()) for gfx in target.gfx)
    return Machine(_kernels(facts, target.kernels, knowledge), gpus or facts.gpus, facts.pytorch)


def _kernels(facts: Facts, versions: Sequence[str], knowledge: Catalogue) -> tuple[Kernel, ...]:
    if versions:
        return tuple(named_kernel(version, "RC6002") for version in versions)
    newest = newest_build(knowledge)
    return facts.driven or (Kernel(f"{newest} (none is installed here)", newest, Driver.MODULE),)


def _values(
    view: HostView,
    explanation: Explanation,
    facts: Facts,
    knowledge: Catalogue,
    environment: Mapping[str, str],
) -> tuple[str | None, str, str | None]:
    name = explanation.name.partition(".")[2]
    if explanation.kind == "variable":
        value, source = set_variables(view, {}).get(name, (None, ""))
        return value, source, environment.get(name)
    if explanation.kind == "argument":
        karg = last(next_boot_kargs(view, facts.boot.loader), name)
        running = last(Running(view).kargs, name)
        return _given(karg), karg.source if karg else "", _given(running)
    feature = knowledge.features.get(name) if explanation.kind == "feature" else None
    parameter = feature.parameter if feature else explanation.name
    if "." not in parameter:
        return None, "", None
    modules = {*knowledge.modules(), parameter.partition(".")[0]}
    setting = {p.name: p for p in set_parameters(view, tuple(modules), facts.boot.loader)}.get(parameter)
    if setting is None:
        return None, "", Running(view).parameter(parameter).value
    return setting.next_boot, setting.source, setting.running


def _waits(view: HostView, name: str) -> str:
    with suppress(RocmcfgError):  # `status` reports the reason
        applied = receipt.load(view)
        mine = [s for s in applied.settings if name in (s.id, s.parameter)] if applied else []
        for check in verify(view, mine, applied, ()).checks if mine else ():
            if check.status is CheckStatus.PENDING_ACTIVATION:
                return f"{check.desired} is applied, and {check.detail}"
    return ""


def _given_by(setting: Setting) -> str:
    value = setting.value
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _given(karg: Karg | None) -> str | None:
    if karg is None or karg.untold:
        return None
    return "set" if karg.value is None else karg.value


def _users(view: HostView, name: str) -> tuple[ProfileUse, ...]:
    """Return the profiles that set the name itself, or a feature of its mask, except profiles that only
    inherit the setting."""
    from rocmcfg.workflow.profiles import every

    features = {f"feature.{f.name}" for f in catalogue.load().features.values() if f.parameter == name}
    loaded, _ = every(view)  # `profile list` reports a broken profile
    return tuple(
        ProfileUse(profile.name, setting.id, _given_by(setting), setting.cost)
        for profile in loaded
        if not profile.extends
        for setting in profile.settings
        if setting.id == name or setting.id in features
    )
