"""Determine whether a workaround was in force when a log was written, because one that did not help is not
recommended again; and what is left to do on a host, with the command for it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from rocmcfg.advice.doctor.judging.match import Match
from rocmcfg.advice.doctor.judging.origin import known_here, may_have
from rocmcfg.advice.doctor.judging.overriders import Overridden, Overriders
from rocmcfg.files.environment import set_variables
from rocmcfg.host.view import HostView
from rocmcfg.judging.conditions import decide
from rocmcfg.judging.parameters import goes_as_far, is_default
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.model.catalogue import Catalogue, matches
from rocmcfg.model.checks import PASSES, PENDING, Check, CheckStatus, VerificationReport
from rocmcfg.model.desired import DesiredSetting, Kind
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.facts import BootChain, Facts, Kernel
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.kargs import Karg, contains, join, last, read_by_kernel
from rocmcfg.model.request import Request, command_line, render_line, root_option
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.spelling import Spelling, same
from rocmcfg.model.version import Version
from rocmcfg.state.values import Running

IssueState = Literal["open", "pending", "worked_around", "reported", "possible"]


@published(
    "issue=issue.id title=issue.title state",
    "issue: confidence cost settings=workaround.settings",
)
class IssueHere(NamedTuple):
    """An issue that a host has or may have. It is `possible` if only the ROCm release in use decides it, and
    that is unknown."""

    issue: KnownIssue
    state: IssueState


class HostState(NamedTuple):
    """The state of a host. `variables` maps a name to its value and its place: a file that new processes
    read, or the environment of the caller. `applied` are the settings that rocmcfg applied last and that
    hold. `firmware` has the version of each firmware block of the GPUs, as far as it is known."""

    running: Running
    variables: Mapping[str, tuple[str | None, str]]
    applied: Sequence[DesiredSetting] = ()
    firmware: Mapping[str, int] = MappingProxyType({})


def where_in_force(
    setting: Spelling, kargs: Sequence[Karg] | None, host: HostState | None, catalogue: Catalogue
) -> str:
    """Return the place that puts a setting in force; empty if it is not in force or that is unknown.

    `kargs` is the command line of the boot that wrote a log; None means the running system. `host` is None if
    the log is from another machine.
    """
    if setting.kind is Kind.ENV:  # no log shows the environment of its process
        variable = host.variables.get(setting.name) if host and kargs is None else None
        return variable[1] if variable and variable[0] == setting.value else ""
    if setting.kind is Kind.KARG:
        wanted = setting.name if setting.value is None else f"{setting.name}={setting.value}"
        seen = kargs if kargs is not None else (host.running.kargs if host else ())
        return "the kernel's command line" if contains(read_by_kernel(seen), wanted) else ""
    feature = catalogue.features.get(setting.name) if setting.kind is Kind.FEATURE else None
    id = feature.parameter if feature else setting.id
    current, where = _parameter(id, kargs, host)
    return where if current is not None and goes_as_far(setting, id, current, catalogue) else ""


def done(setting: Spelling, kargs: Sequence[Karg] | None, host: HostState, catalogue: Catalogue) -> str:
    """Return a phrase on a setting that is in force now, or that rocmcfg applied for the next boot, and that
    is not known to have been in force when the log was written; empty for any other setting. `kargs` is the
    command line of that boot, if the log shows it."""
    where = where_in_force(setting, None, host, catalogue)
    if where:
        absent = setting.kind is Kind.KARG and kargs is not None
        then = "was not when the log was written" if absent else "the log does not show whether it was then"
        return f"in force now ({where}); {then}"
    if any(goes_as_far(setting, own.parameter or own.id, own.text, catalogue) for own in host.applied):
        return "applied, but not in effect before the reboot"
    return ""


def _stands(
    issue: KnownIssue, host: HostState, kernels: Sequence[Kernel], catalogue: Catalogue, *, certain: bool
) -> IssueHere | None:
    """Return an issue that a host has, or may have if it is not `certain`, with its state there. None if its
    cure is the default of the kernels, and nothing changes that default here."""
    cure = issue.workaround.settings
    remedies = [done(setting, None, host, catalogue) for setting in cure]
    state: IssueState = "open" if issue.confidence == "confirmed" else "reported"
    if not certain:
        state = "possible"
    if remedies and all(remedies):
        state = "pending" if any(text.startswith("applied") for text in remedies) else "worked_around"
        if state != "pending" and all(is_default(setting, kernels, catalogue) for setting in cure):
            return None
    return IssueHere(issue, state)


def failed(report: VerificationReport) -> list[Check]:
    """Return the checks of settings that were applied but are not in effect, not even after a reboot. Checks
    that the caller may not read, and checks with an unknown result, are left out."""
    fine = PASSES | PENDING | {CheckStatus.NOT_READABLE, CheckStatus.CANNOT_BE_TOLD}
    return [check for check in report.checks if check.status not in fine]


def holding(
    applied: Sequence[DesiredSetting], report: VerificationReport | None
) -> tuple[DesiredSetting, ...]:
    """Return the settings that did not fail; all of them without a report."""
    lost = {check.name for check in failed(report)} if report else set()
    return tuple(setting for setting in applied if setting.id not in lost)


def issues_of(view: HostView, facts: Facts, applied: Sequence[DesiredSetting]) -> tuple[IssueHere, ...]:
    """Return the issues that fit the facts of a host, each with its state there; `applied` are rocmcfg's
    settings."""
    knowledge = catalogue.load()
    certain = known_here(catalogue.known_issues(), facts, knowledge)
    issues = known_here(catalogue.known_issues(), facts, knowledge, of_any_rocm=True)
    state = HostState(Running(view), set_variables(view, {}) if issues else {}, applied)
    kernels = [kernel for kernel in facts.driven if kernel.running] or facts.driven
    standings = (_stands(issue, state, kernels, knowledge, certain=issue in certain) for issue in issues)
    return tuple(standing for standing in standings if standing is not None)


def issues_about(
    words: Sequence[str], gfx: Sequence[str], rocm: Version | None = None
) -> tuple[IssueHere, ...]:
    """Return the issues of any host that mention all the words, ignoring case, and concern one of the GPUs,
    or any GPU if none is given, and this ROCm release if one is given."""
    issues = []
    for issue in catalogue.known_issues():
        cure = (*map(str, issue.workaround.settings), *issue.workaround.steps)
        lines = (text for signature in issue.signatures for text in (signature.pattern, *signature.samples))
        text = " ".join((issue.id, issue.title, issue.summary, *issue.notes, *cure, *lines)).lower()
        concerned = not gfx or not issue.gfx or any(matches(name, issue.gfx) for name in gfx)
        concerned = concerned and (rocm is None or may_have(issue, rocm))
        if concerned and all(word.lower() in text for word in words):
            issues.append(IssueHere(issue, "open" if issue.confidence == "confirmed" else "reported"))
    return tuple(issues)


def _parameter(name: str, kargs: Sequence[Karg] | None, host: HostState | None) -> tuple[str | None, str]:
    """Return the value that a module parameter had, and the source of that knowledge."""
    written = last(kargs or (), name)
    if written is not None:
        return written.value, written.source
    # if two boots had the same command line, the driver's current value holds for both
    if host is None or (kargs is not None and join(kargs) != join(host.running.kargs)):
        return None, ""
    return host.running.parameter(name).value, "the running driver"


class Cure(NamedTuple):
    """The part of a workaround that is still to be done. `command` applies the settings that rocmcfg can
    apply, in addition to the applied ones; `once` runs one program with them. Both are empty if there is
    nothing to do. `overridden` are settings of the workaround that a place of
    others overrides, or would."""

    settings: tuple[Spelling, ...]
    unset: tuple[str, ...]
    steps: tuple[str, ...]
    profile: str
    command: str
    once: str = ""
    overridden: tuple[Overridden, ...] = ()

    @property
    def options(self) -> str:
        """Return the options of `run` and `try` for one program."""
        return self.once.removeprefix("rocmcfg run ")


def cure(
    match: Match,
    request: Request,
    by_profile: Mapping[Spelling, str],
    suggested: Mapping[str, str],
    root: str,
    boot: BootChain | None,
    overriders: Overriders | None = None,
) -> Cure:
    """Return what is left to do for a match. `request` is the last request on this host, if any. `suggested`
    are the profiles of the GPUs here, by the profiles that they extend. `boot` is the boot chain of the host;
    None if the cure is for another machine. What is applied and `overriders` beat is not to be applied
    again."""
    workaround = match.issue.workaround
    profile = suggested.get(workaround.profile, workaround.profile)
    command = once = ""
    if match.remaining and all(setting.kind is Kind.ENV for setting in match.remaining):
        whole = all(by_profile.get(setting) == "" for setting in match.remaining)
        each = " ".join(f"--set {shlex.quote(str(setting))}" for setting in match.remaining)
        once = f"rocmcfg run {f'-p {profile}' if whole else each}"
    beaten = tuple(filter(None, map(overriders.of, match.remaining))) if overriders else ()
    futile = {loser.setting for loser in beaten if loser.applied}
    left = [setting for setting in match.remaining if setting not in futile]
    if left:
        profiles = request.profiles or ((profile,) if profile else ())
        options = by_profile if {workaround.profile, profile} & {*profiles} else {}
        wanted = [*request.set, *(str(s) for s in left if s not in options)]
        with_ = [*request.with_, *(options[s] for s in left if options.get(s))]
        named, opted = tuple(dict.fromkeys(wanted)), tuple(dict.fromkeys(with_))
        command = _for_good(request._replace(profiles=profiles, set=named, with_=opted), root, boot)
    return Cure(
        match.remaining, workaround.unset, workaround.steps, workaround.profile, command, once, beaten
    )


def _for_good(request: Request, root: str, boot: BootChain | None) -> str:
    """Return the command that applies a request, or, if apply refuses the host, the command that shows what
    to write manually. Variables need no boot loader."""
    apply = command_line(request, root)
    if boot is None or boot.supported:
        return f"sudo {apply}"
    if boot.loader is not None and boot.loader.renders:
        return render_line(request, boot.loader.renders) + root_option(root)
    variables = [text.startswith("env.") for text in request.set]
    alone = not request.profiles and all(variables)
    some = boot.left_to_user and (request.profiles or any(variables))
    return f"sudo {apply}" if alone or some else apply.replace("rocmcfg apply", "rocmcfg plan", 1)


def suggested(view: HostView, facts: Facts) -> dict[str, str]:
    """Return the profiles of this host's GPUs, by the profile that they extend."""
    try:
        here = profiles.load(view, profiles.for_gpus(view, [gpu for gpu in facts.computing if gpu.gfx]))
    except RocmcfgError:
        return {}  # a local file of that name is invalid
    return {profile.extends or profile.name: profile.name for profile in here}


def by_profile(view: HostView, match: Match, facts: Facts, catalogue: Catalogue) -> dict[Spelling, str]:
    """Return the settings of a workaround that its profile sets on this host: by default (empty text), or
    with --with and the text. A setting whose conditions do not hold here is left out."""
    name = match.issue.workaround.profile
    if not name or not match.told:
        return {}
    try:
        (profile,) = profiles.load(view, [name])
    except RocmcfgError:
        return {}  # a local file of that name is invalid: the settings are named one by one
    return {
        wanted: setting.id if setting.optional else ""
        for wanted in match.remaining
        for setting in profile.settings
        if setting.id == wanted.id
        and same(str(setting.value), wanted.value or "True")
        and decide(setting.when, facts, catalogue).holds is not False
    }
