"""Find what is wrong in the given files, or in this host's own. Nothing is written, not even with --fix."""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal

from rocmcfg.advice.doctor.judging.origin import known_here, may_have
from rocmcfg.advice.lint import proposal, superseded
from rocmcfg.advice.lint.check import Judged, Verdict, check, mended, verdicts
from rocmcfg.advice.lint.checked import Checked
from rocmcfg.advice.lint.kinds import BOOT_ENTRIES, PASTED, FileKind, by_path
from rocmcfg.advice.lint.remark import Finding
from rocmcfg.advice.lint.source import decode, is_binary
from rocmcfg.advice.lint.wording import Knowledge, spelled
from rocmcfg.change.planning.owned import MARK
from rocmcfg.facts.gpus import named_gpu, read_gpus
from rocmcfg.facts.kernels import named_kernel, read_kernels
from rocmcfg.files import environment, modprobe
from rocmcfg.host.files import open_callers_log, read_at_most
from rocmcfg.host.view import HostView, Unreadable, drop_ins
from rocmcfg.judging.conditions import decide
from rocmcfg.judging.names import argument
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.knowledge.catalogue import gpu_models
from rocmcfg.loaders import detection, registry
from rocmcfg.model.catalogue import Hardware
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, Severity, error, info, warning
from rocmcfg.model.facts import Driver, Facts, Machine
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.spelling import Spelling, parse
from rocmcfg.model.version import Version, format_version
from rocmcfg.state import edits
from rocmcfg.state.values import Configured, read_configured
from rocmcfg.workflow.planning import collect_facts

_AT_LOGIN = (".profile", ".bash_profile", ".bashrc", ".zshenv", ".zprofile", ".zshrc")
_HEAD = 400  # bytes in which a file of rocmcfg says so
_SHOWN = 5  # names that were not read
LIMIT = 16 << 20  # bytes of one file; no file of settings is larger
# Remarks that the kernel's own module may refute.
_ASK_MODINFO = frozenset({"RC7101", "RC7102", "RC7103", "RC7117"})
_SET_BY_US = BOOT_ENTRIES | {FileKind.GRUB_DEFAULTS, FileKind.CMDLINE, FileKind.MODPROBE}
_SET_BY_US |= {FileKind.ENVIRONMENT, FileKind.ENVIRONMENT_D, FileKind.PAM_ENVIRONMENT}
_SET_BY_US |= {FileKind.PROFILE, FileKind.FISH}


class Proposal(NamedTuple):
    file: str
    diff: str
    plain: bool  # whether patch(1) finds the lines of the diff in the file


class Purpose(NamedTuple):
    """What a setting is good for here: the known issue that it cures, or else the profile of this GPU that
    sets it. `also` is what else the cure takes. `rocm` are the releases that have the issue, if it is unknown
    which one is in use."""

    setting: str
    issue: str
    confidence: str
    cost: str
    also: str
    profile: str = ""
    rocm: str = ""


@published("findings", "fine", "purposes", "proposals", "apply_with=command", "verdicts", "outcome?")
class Linted(NamedTuple):
    """The result of a lint run. `outcome` is set if a file could not be read, as for a command that stopped.
    `proposals`, `verdicts` and `apply_with`, the command with which rocmcfg would make the settings, are
    filled only with --fix. `fine` are the settings without a finding, and `purposes` says what they, and with
    --fix their replacements, are good for; None if no GPU is known. `read` counts the settings that were
    judged. `activation` are the commands that regenerate the boot menu of this host from a file with a
    proposal. `unknown` are the options for what is unknown of the machine."""

    findings: tuple[Finding, ...]
    files: int
    read: int
    diagnostics: tuple[Diagnostic, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    command: str = ""
    verdicts: tuple[Verdict, ...] = ()
    fine: tuple[str, ...] = ()
    purposes: tuple[Purpose, ...] | None = None
    activation: tuple[str, ...] = ()
    gpus: str = ""
    unknown: tuple[str, ...] = ()

    @property
    def outcome(self) -> Literal["nothing_changed"] | None:
        return "nothing_changed" if any(one.severity is Severity.ERROR for one in self.diagnostics) else None


def lint(
    view: HostView,
    files: Sequence[str],
    *,
    gfx: Sequence[str] = (),
    kernels: Sequence[str] = (),
    rocm: Version | None = None,
    fix: bool = False,
) -> Linted:
    """Judge `files`, which are paths of the caller's, or `-` for standard input; without any, the host's own
    files. `gfx`, `kernels` and `rocm` replace this host's GPUs, kernels and ROCm. Raise RocmcfgError if one
    of them does not exist."""
    gpus = tuple(named_gpu(name, gpu_models()) for name in gfx)
    versions = tuple(named_kernel(release, "RC7004") for release in kernels)
    problems: list[Diagnostic] = []
    texts = _named(files, problems) if files else [*_of_host(view, problems), *_of_caller(view)]
    checked, knowledge = _check(view, texts, Machine(versions, gpus), rocm, own=not files)
    findings = [f for each in checked for f in each.findings]
    for each in checked:
        if each.left_out:
            summary = f"{each.file} has more findings: {each.left_out} are not shown"
            problems.append(info("RC7002", summary, location=each.file))
    for each in checked if files else ():
        if each.unread:
            problems.append(_unread(each))
    if files and checked and not any(each.assignments or each.unread for each in checked):
        summary = f"no setting was found in {', '.join(each.file for each in checked)}"
        hint = "specify a file that sets parameters or variables, or paste the line itself"
        problems.append(warning("RC7005", summary, hint=hint))
    # the running command line has what a file has
    remarked = {finding.text for finding in findings} | {text for each in checked for text in _remarked(each)}
    pairs = [(each, mended(each, knowledge)) for each in checked if fix and each.file != superseded.RUNNING]
    diffs = [Proposal(each.file, proposal.diff(each, text), _is_plain(each)) for each, text in pairs]
    every = ((each.shown(assignment), assignment) for each in checked for assignment in each.assignments)
    # a setting whose value is unknown was judged only by its name
    fine = {text: spelled(made) for text, made in every if text not in remarked and not made.opaque}
    judged = [(each.kind, verdict) for each, _ in pairs for verdict in verdicts(each)]
    parsed = {verdict.setting: parse(verdict.setting) for _, verdict in judged if verdict.setting}
    become = {text: value for text, value in parsed.items() if isinstance(value, Spelling)}
    purposes = _purposes({**fine, **become}, knowledge)
    return Linted(
        tuple(findings),
        len(checked),
        sum(len(each.assignments) for each in checked),
        tuple(problems),
        tuple(p for p in diffs if p.diff),
        _command(one.setting for kind, one in judged if kind in _SET_BY_US),
        tuple(one for _, one in judged),
        tuple(fine),
        tuple(purposes) if knowledge.machine.named else None,
        _activation(view, {os.path.abspath(p.file) for p in diffs if p.diff}),
        knowledge.machine.gpu_names,
        knowledge.unknown,
    )


def _remarked(checked: Checked) -> Iterator[str]:
    """Yield the settings of which something is said, as they are shown."""
    places = {(finding.start, finding.stop) for finding in checked.findings}
    for each in checked.assignments:
        if (each.start, each.stop) in places:
            yield checked.shown(each)


def _unread(checked: Checked) -> Diagnostic:
    """Say which names of ours stand in a file that no setting was read from."""
    shown = [f"{name} (line {line})" for name, line in checked.unread[:_SHOWN]]
    more = len(checked.unread) - len(shown)
    listed = ", ".join(shown) + (f" and {more} more" if more else "")
    summary = f"{checked.file} names {listed}, and rocmcfg read no setting there"
    hint = "if one of them is set there, paste the setting itself: rocmcfg lint - <<< 'NAME=VALUE'"
    return info("RC7006", summary, location=checked.file, hint=hint)


def _is_plain(read: Checked) -> bool:
    text, path = read.source.text, read.file
    return (
        "\r" not in text
        and path.isprintable()
        and os.path.isfile(path)
        and os.path.getsize(path) == len(text.encode())
    )


def _activation(view: HostView, changed: set[str]) -> tuple[str, ...]:
    """Return the commands that regenerate the boot menu of the running host, if the menu depends on one of
    the changed files."""
    if view.offline or not any(path.startswith(("/etc/", "/boot/", "/efi/")) for path in changed):
        return ()
    reader = detection.reader_on(view)
    if reader is None or reader.NAME not in registry.NAMES:
        return ()
    chain = registry.backend(reader.NAME)
    try:
        read = {one.source.partition(":")[0] for one in chain.observe(view).foreign}
    except Unreadable:
        return ()
    if not changed & read:
        return ()
    return tuple(line for step in chain.activations(view, "") for line in step.lines)


def _purposes(settings: Mapping[str, Spelling], knowledge: Knowledge) -> Iterator[Purpose]:
    """Yield what each setting is good for: the issues of the machine that it cures, else the profile that
    sets it. The cost of a workaround of several settings is not that of one of them."""
    for text, setting in settings.items():
        issues = knowledge.cured_by(setting)
        for issue in issues:
            cost = issue.cost if len(issue.workaround.settings) == 1 else ""
            steps = "".join(issue.workaround.steps[:1])
            releases = issue.rocm.text if issue.rocm and not knowledge.knows_rocm else ""
            yield Purpose(text, issue.id, issue.confidence, cost, steps, rocm=releases)
        own = knowledge.profile_with(setting) if not issues else None
        if own is not None:
            yield Purpose(text, "", own.confidence, own.cost, "", own.profile)


def _open_issues(
    facts: Facts, machine: Machine, rocm: Version | None, *, stated: bool
) -> tuple[KnownIssue, ...]:
    """Return the faults of this host that a setting may cure, or of the GPUs and kernels that were `stated`
    in its place; of `rocm`, if that is known."""
    issues = [
        issue for issue in catalogue.known_issues() if issue.kind == "fault" and issue.workaround.settings
    ]
    if not stated:
        return known_here(issues, facts, catalogue.load(), of_any_rocm=True)
    return tuple(
        issue
        for issue in issues
        if machine.has(Hardware(gfx=issue.gfx) if issue.gfx else None)
        and machine.runs(issue.kernel.text if issue.kernel else "") is not False
        and (rocm is None or may_have(issue, rocm))
    )


def _check(
    view: HostView, texts: Sequence[tuple[str, str]], stated: Machine, rocm: Version | None, *, own: bool
) -> tuple[list[Checked], Knowledge]:
    """Judge the texts. modinfo is asked only if the catalogue finds a fault: it knows less than the module
    itself."""
    knowledge, judged = _knowledge(view, stated, rocm, own=own, ask_modinfo=False), Judged()
    checked = [check(path, text, knowledge, judged=judged) for path, text in texts]
    if (
        not stated.kernels
        and view.runs_tools
        and knowledge.machine.kernels
        and any(f.remark.id in _ASK_MODINFO for each in checked for f in each.findings)
    ):
        knowledge, judged = _knowledge(view, stated, rocm, own=own, ask_modinfo=True), Judged()
        checked = [check(path, text, knowledge, judged=judged) for path, text in texts]
    if own:
        superseded.compare_files(checked, knowledge)
    return checked, knowledge


def _knowledge(
    view: HostView, stated: Machine, rocm: Version | None, *, own: bool, ask_modinfo: bool
) -> Knowledge:
    known = catalogue.load()
    gpus = stated.gpus or read_gpus(view, known.gpus)
    kernels = stated.kernels or tuple(
        kernel
        for kernel in read_kernels(view, known.modules() if ask_modinfo else ())
        if kernel.driver is not Driver.ABSENT
    )
    machine = Machine(kernels, gpus)
    issues = catalogue.known_issues() if kernels and machine.named else ()
    is_stated = bool(stated.gpus or stated.kernels)
    knowledge = Knowledge(known, machine, issues)
    if own or not is_stated:  # a proposal changes the host's own mask
        knowledge = knowledge._replace(base=_base(view))
    if not machine.named:
        return knowledge
    facts = collect_facts(view, rocm=format_version(rocm) if rocm else None, name_system=False)
    if is_stated:
        facts = facts._replace(kernels=kernels, gpus=gpus, rocm=rocm, pytorch=())
    with suppress(RocmcfgError):  # a local profile that is broken is told by the commands that use it
        fitting = profiles.load(view, profiles.for_gpus(view, machine.named))
        settings = (setting for profile in fitting for setting in profile.settings)
        needed = tuple(s for s in settings if decide(s.when, facts, known).holds is not False)
        knowledge = knowledge._replace(of_profiles=needed)
    open_issues = _open_issues(facts, machine, rocm, stated=is_stated)
    return knowledge._replace(open_issues=open_issues, knows_rocm=facts.knows_rocm)


def _base(view: HostView) -> Callable[[str], str | None]:
    """Return a function that returns the value of a parameter without rocmcfg. It reads the host's files
    once, on first use."""

    @functools.cache
    def configured() -> Configured | None:
        try:
            return read_configured(view, collect_facts(view, name_system=False))
        except RocmcfgError:
            return None  # the commands that need the file report why it cannot be read

    def base(id: str) -> str | None:
        found = configured()
        return found.effective(id).value if found is not None else None

    return base


def _named(files: Sequence[str], problems: list[Diagnostic]) -> list[tuple[str, str]]:
    pasted = [path for path in files if ("=" in path or argument(path)) and not os.path.exists(path)]
    texts = [(PASTED, " ".join(pasted))] if pasted else []
    for path in dict.fromkeys(path for path in files if path not in pasted):
        try:
            with open_callers_log(path) as stream:
                content = read_at_most(stream.fileno(), LIMIT)
            if is_binary(content) and len(content) <= LIMIT:
                from rocmcfg.advice.doctor.reading.logs import text_of

                what, prints = text_of(content, path)
                hint = "specify a text file"
                if prints:
                    hint = f"pipe its text to lint: `{prints} | rocmcfg lint -`"
                raise Unreadable(path, f"it is {what}", hint)
        except (Unreadable, OSError) as problem:
            told = problem if isinstance(problem, Unreadable) else Unreadable(path, problem)
            problems += told.diagnostics
            continue
        if len(content) > LIMIT:
            said = f"{path} is larger than {LIMIT >> 20} MiB"
            hint = "pass only the part that contains settings"
            problems.append(error("RC7001", said, location=path, hint=hint))
            continue
        texts.append((path, decode(content)))
    return texts


def _of_host(view: HostView, problems: list[Diagnostic]) -> list[tuple[str, str]]:
    texts: list[tuple[str, str]] = []
    seen: set[bytes] = set()
    for path in _host_paths(view):
        try:
            content = view.read(path)
        except Unreadable as problem:
            problems += [d._replace(severity=Severity.WARNING) for d in problem.diagnostics]
            continue
        # /usr/lib/environment.d/99-environment.conf is a link to /etc/environment: one text, reported once
        if content is not None and not (content in seen and view.is_symlink(path)):
            seen.add(content)
            text = decode(content)
            own = edits.own_part(path, content)
            ours_alone = own == content and MARK in content[:_HEAD]
            if not ours_alone:  # of rocmcfg's own settings the profiles say why each is there
                texts.append((path, _without(text, own) if own is not None and own != content else text))
    return texts


def _without(text: str, own: bytes) -> str:
    """Return a text with blanks in place of rocmcfg's own part, so that each place stays."""
    part = decode(own)
    return text.replace(part, re.sub(r"[^\n]", " ", part), 1)


def _of_caller(view: HostView) -> list[tuple[str, str]]:
    """Return the files that set variables at login for the caller, or for the user who called sudo."""
    if view.offline:
        return []
    home = os.path.expanduser(f"~{os.environ.get('SUDO_USER', '')}")
    return _named([path for name in _AT_LOGIN if os.path.isfile(path := f"{home}/{name}")], [])


def _host_paths(view: HostView) -> list[str]:
    return [
        "/etc/default/grub",
        *drop_ins(view, ("/etc/default/grub.d",), ".cfg"),
        "/etc/default/limine",
        "/etc/sdboot-manage.conf",
        *drop_ins(view, ("/usr/lib/sdboot-manage.conf.d",), ".conf"),
        *drop_ins(view, ("/etc/sdboot-manage.conf.d",), ".conf"),
        "/etc/kernel/cmdline",
        *_entries(view),
        *modprobe.files(view),
        "/etc/environment",
        *environment.environment_d(view),
        *environment.profile_d(view),
        superseded.RUNNING,
    ]


def _entries(view: HostView) -> Iterator[str]:
    """Yield this system's files with boot entries that no program generates."""
    reader = detection.reader_on(view)
    menu = reader.read(view) if reader is not None else None
    if menu is not None and not menu.tool:
        lines = (entry.kargs for entry in menu.normal)
        paths = (karg.source.partition(":")[0] for kargs in lines for karg in kargs)
        yield from (path for path in dict.fromkeys(paths) if by_path(path) in BOOT_ENTRIES)


def _command(proposed: Iterable[str]) -> str:
    settings = dict.fromkeys(one for one in proposed if one and isinstance(parse(one), Spelling))
    return " ".join(["rocmcfg plan", *(f"--set {shlex.quote(one)}" for one in settings)]) if settings else ""
