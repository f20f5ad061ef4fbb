"""Frame the words of a verdict for `lint`: its class, its severity in a file, and how certain it is what the
author means."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rocmcfg.advice.lint.assignment import Assignment, Trust, What
from rocmcfg.advice.lint.remark import CLASSES, Remark, error, info, warning
from rocmcfg.judging import names
from rocmcfg.judging.hand_overs import hand_over
from rocmcfg.judging.judge import judge, of_the_name
from rocmcfg.judging.parameters import default_mask, goes_as_far, reaches
from rocmcfg.judging.verdict import REFUSED, About, Verdict
from rocmcfg.judging.words import Advice, Words, words
from rocmcfg.model.catalogue import Catalogue, Parameter
from rocmcfg.model.desired import Kind
from rocmcfg.model.exhaustive import assert_never
from rocmcfg.model.facts import Machine
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.profile import Setting
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling, as_number, hexint, parameter

_TO_INIT = (
    "The kernel passes it only to the first process; logins get it from /etc/environment, as after an apply."
)
_CMDLINE = (
    "kernel Documentation/admin-guide/kernel-parameters.rst; systemd-system.conf(5), ManagerEnvironment=",
)
_KINDS = {What.ARGUMENT: Kind.KARG, What.VARIABLE: Kind.ENV}
_OF_A_TRAP: dict[str | None, str] = {kind: id for id, kind in CLASSES.items()}


class Knowledge(NamedTuple):
    """The knowledge by which a text is judged. `issues` may be empty if the machine is unknown. `base`
    returns the value that the host gives a parameter; None if it sets none, or if no host is judged.
    `open_issues` are the issues of the machine that a setting may cure, and `of_profiles` the settings of the
    profiles for its GPUs; both are None if no GPU is known. `knows_rocm` says whether the ROCm release is
    known."""

    catalogue: Catalogue
    machine: Machine
    issues: tuple[KnownIssue, ...] = ()
    base: Callable[[str], str | None] = lambda _: None
    open_issues: tuple[KnownIssue, ...] | None = None
    of_profiles: tuple[Setting, ...] | None = None
    knows_rocm: bool = False

    @property
    def unknown(self) -> tuple[str, ...]:
        """The options that would say what is unknown of the machine and matters for settings."""
        missing = {
            "--gfx": not self.machine.named,
            "--kernel": not self.machine.kernels,
            "--rocm": bool(self.machine.named) and not self.knows_rocm,
        }
        return tuple(option for option, unknown in missing.items() if unknown)

    def cured_by(self, setting: Spelling) -> list[KnownIssue]:
        """Return the issues of this machine that a setting cures. Of a mask what differs from the default
        counts: the rest is so without it."""
        return [
            issue
            for issue in self.open_issues or ()
            if any(self._cures(cure, setting) for cure in issue.workaround.settings)
        ]

    def _cures(self, cure: Spelling, setting: Spelling) -> bool:
        feature = self.catalogue.features.get(cure.name) if cure.kind is Kind.FEATURE else None
        if feature is not None and setting.kind is Kind.PARAMETER:
            usual = default_mask(self.catalogue.parameters[feature.parameter], self.machine.kernels)
            if usual is not None and feature.is_on(usual) is cure.enabled:
                return False
        return goes_as_far(cure, setting.id, setting.value, self.catalogue)

    def profile_with(self, setting: Spelling) -> Setting | None:
        """Return the setting of a profile of this machine that does the same."""
        for own in self.of_profiles or ():
            if not own.optional and own.multiple_of is None:
                text = str(own.value).lower() if isinstance(own.value, bool) else str(own.value)
                meant = Spelling(own.kind, own.name, text, own.module)
                if reaches(meant, setting.id, setting.value, self.catalogue):
                    return own
        return None


class _Case(NamedTuple):
    """An assignment, the setting that it makes, and the catalogue and machine by which it is judged."""

    found: Assignment
    asked: Spelling
    known: Catalogue
    machine: Machine


def remarks(assignment: Assignment, knowledge: Knowledge) -> Iterator[Remark]:
    catalogue, machine = knowledge.catalogue, knowledge.machine
    setting = spelled(assignment)
    if (
        assignment.what is What.VARIABLE
        and assignment.where.trust is Trust.FILE
        and assignment.where.listed >= 0
    ):
        summary = f"{assignment.name} is a variable; no program gets it from the kernel command line"
        yield warning("RC7113", summary, _TO_INIT, advice=Advice.TAKE_OUT, sources=_CMDLINE)
        return
    trust, path = assignment.where.trust, assignment.what is What.PATH
    parameter = setting.kind is Kind.PARAMETER
    if (
        parameter
        and trust is not Trust.FILE
        and setting.id not in catalogue.parameters
        and _is_any(setting.name)
    ):
        return
    mentioned = assignment.value is None and trust is not Trust.FILE and assignment.dotted
    if assignment.opaque or (parameter and mentioned) or (path and setting.value is None):
        verdicts = list(of_the_name(setting, machine, catalogue))
    else:
        verdicts = judge(setting, machine, catalogue, knowledge.issues, assignment.beside)
    if any(verdict.about is About.BUILD_ONLY for verdict in verdicts) and assignment.where.builds:
        return
    case = _Case(assignment, setting, catalogue, machine)
    for verdict in verdicts:
        unsure_of_its_end = trust is Trust.PROSE and (
            verdict.about in REFUSED or (verdict.about is About.DEFAULT and setting.kind is Kind.KARG)
        )
        if not unsure_of_its_end:
            remark = _worded(verdict, case)._replace(sources=verdict.sources)
            if not assignment.opaque:
                remark = _to_its_end(remark, case, knowledge)
                remark = _as_the_profile(_unless_useless(remark, verdict, case, knowledge), case, knowledge)
            yield remark
    if assignment.what is not What.PATH and not assignment.opaque:
        yield from _handed_over(setting, catalogue)
    written = catalogue.parameters.get(setting.id) if path and assignment.value is not None else None
    if written is not None and not any(v.about is About.ABSENT for v in verdicts):
        yield from _read_only(written, machine)


def _handed_over(setting: Spelling, catalogue: Catalogue) -> Iterator[Remark]:
    """Note what a plan warns of: it writes variables and arguments for root or for every user, as this file
    may, too."""
    met = hand_over(setting, setting.value, catalogue)
    if met is not None:
        summary = f"{setting.name}={setting.value} controls the programs that read it: {met.gives}"
        why = "That matters if root or every user gets it; in a script of your own it is harmless."
        yield info("RC7125", summary, why, sources=met.sources)


def _to_its_end(remark: Remark, case: _Case, knowledge: Knowledge) -> Remark:
    """Judge the proposal of a remark, too: something else may be better still, or nothing at all."""
    settings, value = {case.asked}, case.asked.value
    while (proposal := remark.proposal) is not None:
        target = written(proposal, knowledge)
        value = value if target is None or target.value is None else target.value
        if target is None or value is None or (target := target._replace(value=value)) in settings:
            break
        settings.add(target)
        again = _Case(case.found, target, case.known, case.machine)
        verdicts = judge(target, case.machine, case.known, knowledge.issues)
        if remark.instead is not None and remark.instead.kind is Kind.FEATURE:
            # the other bits of the mask are the host's own
            verdicts = [verdict for verdict in verdicts if verdict.about is not About.SIDE_EFFECT]
        of_target = [_worded(verdict, again) for verdict in verdicts]
        certain = (candidate for candidate in of_target if candidate.advice is not Advice.NOTE)
        better = next(certain, None)
        if better is None:
            break
        why = f"{remark.why} {better.summary}.".strip()
        # what would be written is the default: then the line is still not as its author means it
        advice = Advice.TAKE_OUT if better.advice is Advice.UNNEEDED else better.advice
        remark = remark._replace(why=why, better=better.instead, advice=advice)
    return remark


def _unless_useless(remark: Remark, verdict: Verdict, case: _Case, knowledge: Knowledge) -> Remark:
    """Drop the proposal for a name that nothing has or reads if the right name cures nothing here either: the
    line did nothing so far, and no known issue needs it."""
    target, misnamed = remark.proposal, verdict.about is About.MISNAMED and verdict.why
    if knowledge.open_issues is None or target is None or not misnamed:
        return remark
    target = target if target.value is not None else target._replace(value=case.asked.value)
    if knowledge.cured_by(target) or knowledge.profile_with(target):
        return remark
    name = target.name if target.kind in (Kind.ENV, Kind.KARG) else target.id
    why = f"{remark.why} {name}={target.value} does what it is meant for, and no known issue here needs that."
    return remark._replace(why=why.strip(), instead=None, better=None, advice=Advice.TAKE_OUT)


def _as_the_profile(remark: Remark, case: _Case, knowledge: Knowledge) -> Remark:
    """Leave what a profile of these GPUs sets as well, and say so."""
    own = knowledge.profile_with(case.asked) if remark.advice is Advice.UNNEEDED else None
    if own is None:
        return remark
    summary = f"{remark.summary}; profile {own.profile} sets it ({own.confidence})"
    return remark._replace(summary=summary, why=f"{remark.why} {own.because}".strip(), advice=Advice.NOTE)


def written(instead: Spelling, knowledge: Knowledge) -> Spelling | None:
    """Return the setting to write. A feature becomes the mask of the host, or the default, with only that
    feature changed, as in a plan."""
    if instead.kind is not Kind.FEATURE:
        return instead
    feature = knowledge.catalogue.features[instead.name]
    start = as_number(knowledge.base(feature.parameter))
    if start is None or start < 0:
        of = knowledge.catalogue.parameters[feature.parameter]
        start = default_mask(of, knowledge.machine.kernels)
    if start is None:
        return None
    return parameter(feature.parameter, hexint(feature.compose(start, instead.enabled)))


def spelled(assignment: Assignment) -> Spelling:
    """Return the setting that an assignment makes; its value is None if it cannot be known."""
    value = None if assignment.opaque else assignment.value
    if assignment.what in _KINDS:
        return Spelling(_KINDS[assignment.what], assignment.name, value)
    module, name = names.split_parameter(assignment.name) or ("", assignment.name)
    return Spelling(Kind.PARAMETER, name, value, module)


def _is_any(name: str) -> bool:
    """Return whether a name is a placeholder, as in `amdgpu.x=1` or `amdgpu.NAME=VALUE`."""
    return len(name) <= 2 or name.isupper() or name in ("name", "param", "parameter", "option", "foo", "bar")


def _worded(verdict: Verdict, case: _Case) -> Remark:
    """Return a remark with the words of a verdict. A proposal that does not fit the place of the setting is
    left out."""
    setting = case.asked
    wording = words(verdict, setting, case.known, case.machine)
    instead, advice, why = wording.instead, wording.advice, wording.why
    if instead is not None and setting.kind is Kind.ENV and not setting.value:
        instead = instead._replace(value=None)
    if instead is not None and not case.found.dotted and _counts_otherwise(verdict, case):
        instead, advice = None, Advice.TAKE_OUT  # another module's, which has no place in the line
    for_the_author = advice is Advice.NOTE or (advice is Advice.CHANGE and instead is None)
    if for_the_author and wording.cure:
        cure = wording.cure
        why = f"{why} {cure[:1].upper()}{cure[1:]}{'' if cure.endswith('?') else '.'}".strip()
    return _framed(verdict, setting.kind, wording)._replace(why=why, instead=instead, advice=advice)


def _counts_otherwise(verdict: Verdict, case: _Case) -> bool:
    """Return whether the right name counts in another unit."""
    trap = case.known.traps.get(case.asked.name)
    return verdict.about is About.MISNAMED and trap is not None and trap.times != 1


def _framed(verdict: Verdict, kind: Kind, wording: Words) -> Remark:  # noqa: PLR0912  # a branch for each member
    """Return a remark with the class and the severity of the verdict."""
    summary = wording.summary
    match verdict.about:
        case About.UNKNOWN_MODULE:
            return warning("RC7102", summary)
        case About.UNKNOWN if kind is Kind.KARG:
            return _as_sure("RC7102", wording)
        case About.UNKNOWN:
            near = verdict.names if kind is Kind.PARAMETER else verdict.instead
            return warning("RC7102", summary) if near else _as_sure("RC7101", wording)
        case About.MISNAMED:
            written = wording.instead is not None and wording.instead.kind is not Kind.FEATURE
            nothing = kind is Kind.ENV or (kind is Kind.PARAMETER and not written)
            return warning("RC7101", summary) if nothing else warning("RC7102", summary)
        case About.ABSENT if wording.advice is Advice.UNNEEDED:
            return info("RC7117", summary)
        case About.ABSENT:
            return _as_sure("RC7117", wording)
        case About.BUILD_ONLY:
            return warning("RC7106", summary)
        case About.DEPRECATED:
            return info("RC7107", summary) if wording.instead is None else _as_sure("RC7107", wording)
        case About.ILLEGAL if kind is Kind.PARAMETER and verdict.holds:
            return error("RC7103", summary)
        case About.ILLEGAL:
            return warning("RC7103", summary) if verdict.strict else info("RC7103", summary, by_author=True)
        case About.OUT_OF_RANGE:
            return warning("RC7103", summary)
        case About.OCTAL:
            return warning("RC7116", summary)
        case About.PRESENCE_ONLY:
            return warning("RC7105", summary)
        case About.TRAP if not verdict.strict:
            return warning("RC7102", summary)
        case About.TRAP:
            id = _OF_A_TRAP[verdict.trap_kind]
            return warning(id, summary) if verdict.is_grave else info(id, summary)
        case About.UNDOES:
            return _as_sure("RC7122", wording)
        case About.NO_EFFECT:
            return info("RC7113", summary)
        case About.TAINTS | About.FEATURE_TAINTS:
            return info("RC7108", summary)
        case About.SIDE_EFFECT:
            return _as_sure("RC7110", wording)
        case About.LOSES:
            return _as_sure("RC7109", wording)
        case About.DEFAULT:
            return info("RC7114", summary)
        case About.FIXED:
            return info("RC7115", summary)
        case _:
            assert_never(verdict.about)


def _as_sure(id: str, wording: Words) -> Remark:
    """Return a warning if the advice leaves no doubt, else a note."""
    sure = wording.advice is not Advice.NOTE
    return warning(id, wording.summary) if sure else info(id, wording.summary)


def _read_only(parameter: Parameter, machine: Machine) -> Iterator[Remark]:
    """Warn of a write to a parameter's file in sysfs that cannot be written."""
    variants = [v for kernel in machine.kernels for v in parameter.on(kernel.version).variants]
    variants = variants if machine.kernels else list(parameter.epochs)
    if variants and all(not int(v.permission, 8) & 0o222 for v in variants):
        summary = f"{parameter.id} cannot be written while the driver runs (mode {variants[-1].permission})"
        why = "It is read when the driver loads: set it on the kernel command line or in modprobe.d."
        yield warning("RC7119", summary, why, sources=parameter.sources)
