"""Gather what a maintainer needs to know about a host."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import rocmcfg
from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.advice.doctor.reading.logs import Source, named, of_host
from rocmcfg.advice.report.markdown import markdown, pack
from rocmcfg.advice.report.redact import redactor_of
from rocmcfg.facts.system import read_hardware, read_os
from rocmcfg.files.environment import Assignment, for_everybody
from rocmcfg.host.files import write_callers_file
from rocmcfg.host.view import HostView
from rocmcfg.knowledge import catalogue
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.checks import VerificationReport
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError
from rocmcfg.model.regex import regex
from rocmcfg.state.values import Running, deviations, next_boot_kargs, set_parameters
from rocmcfg.workflow.diagnosing import Diagnosis, diagnose
from rocmcfg.workflow.planning import collect_facts
from rocmcfg.workflow.tried import measured_here
from rocmcfg.workflow.verifying import verify

if TYPE_CHECKING:
    from rocmcfg.advice.doctor.log_lines import LogLines

# Packages whose version affects the GPU.
_PACKAGES = ("firmware-amd-graphics", "linux-firmware", "linux-firmware-amdgpu", "amd-gpu-firmware")
# The diagnostics of doctor that are about reading logs rather than about the host.
_UNREAD = ("RC8001", "RC8002", "RC8006", "RC8007")
_BUNDLED = 20_000  # lines of a log that a bundle holds
_LONG = 64 << 10  # bytes of a line; the rest of a longer line says nothing about a GPU
_OF_GPU = regex(
    rb"amdgpu|amdkfd|amdttm|\[drm|\bkfd\b|iommu|AMD-Vi|Linux version|GPU node-|Cijk_|MIOpen|HSA_STATUS"
)


def report(
    view: HostView,
    paths: Sequence[str],
    environment: Mapping[str, str],
    bundle: str = "",
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[str, tuple[Diagnostic, ...]]:
    """Return the report as Markdown, and what could not be read in the logs: in `paths`, or else in this
    host's own logs. With `bundle`, also pack the report into that new file, together with what the logs say
    about GPUs. Raise Unwritable."""
    content, problems, _ = gather(view, paths, environment, progress)
    redact = redactor_of(view, environment)
    # Given logs are also read in full for names: one line may reveal that a word in another is a name.
    logs = _logs(view, paths) if bundle or paths else []
    for text in (*logs, *said_by(content)):
        redact.learn(text)
    made = markdown(content, redact)
    if bundle:
        texts = {f"log-{n}.txt": redact(text) for n, text in enumerate(logs, 1)}
        write_callers_file(bundle, pack({"report.md": made, **texts}))
    return made, problems


def gather(
    view: HostView,
    paths: Sequence[str],
    environment: Mapping[str, str],
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, Any], tuple[Diagnostic, ...], Diagnosis]:
    """Return the content of the report, what could not be read in the logs, and the diagnosis. What is wrong
    with the host is part of the report. `environment` is the caller's own; it is empty for another root."""
    knowledge = catalogue.load()
    diagnosis = diagnose(view, paths, Options(), environment, progress)
    facts = diagnosis.where.host or collect_facts(view, name_system=False)
    facts = facts._replace(os=read_os(view))
    kernel = next((k for k in facts.kernels if k.running), None)
    set_here = set_parameters(view, knowledge.modules(), facts.boot.loader)
    kargs = Running(view).kargs or next_boot_kargs(view, facts.boot.loader)
    parameters = [
        karg for karg in kargs if "." in karg.key and karg.key.partition(".")[0] in knowledge.modules()
    ]
    # other arguments of the host are private
    concerned = [karg for karg in kargs if karg.name in knowledge.arguments and karg not in parameters]
    applied, trouble = _in_force(view)
    matches = [finding.match for finding in diagnosis.candidates if finding.match.told]
    unread = tuple(d for d in diagnosis.diagnostics if d.id in _UNREAD)
    hardware = read_hardware(view, tuple(gpu.address for gpu in facts.gpus if gpu.address))
    content = {
        "version": f"{rocmcfg.__version__} (knowledge {catalogue.version()})",
        "facts": facts,
        "kernel": kernel,
        "hardware": hardware,
        "devices": {device.address: device for device in hardware.devices},
        "parameters": deviations(view, kernel, set_here, knowledge),
        "arguments": tuple(karg.text for karg in concerned),
        "other_arguments": len(kargs) - len(concerned) - len(parameters),
        "variables": _variables(view, environment, knowledge),
        "applied": applied,
        "trouble": trouble,
        "elsewhere": None if diagnosis.where.host is not None else diagnosis.machine,
        "matches": matches,
        "trackers": tuple(dict.fromkeys(match.issue.tracker for match in matches if match.issue.tracker)),
        "checks": [d for d in diagnosis.diagnostics if d not in unread],
        "excerpts": _excerpts(diagnosis),
        "packages": _packages(view),
        "tries": measured_here(view, environment) if environment else (),
    }
    return content, unread, diagnosis


def _excerpts(diagnosis: Diagnosis) -> dict[str, list[LogLines]]:
    """Return, by log and in order, the lines that matched an issue, the driver errors that matched none, and
    the lines that say more about them."""
    of_log: dict[str, dict[int, LogLines]] = {}
    evidence = [line for finding in diagnosis.candidates if finding.match.told for line in finding.evidence]
    for line in (*diagnosis.details, *evidence, *diagnosis.unknown):
        of_log.setdefault(line.log, {})[line.line] = line
    return {log: [lines[number] for number in sorted(lines)] for log, lines in of_log.items()}


def _logs(view: HostView, paths: Sequence[str]) -> list[str]:
    """Return the logs for the bundle: the last lines of a log that the caller specified, and of this host's
    own logs those that mention a GPU. Piped input is gone, except for its excerpt in the report."""
    for way in [[named(path) for path in paths if path != "-"]] if paths else of_host(view):
        read = [(source.name, _last_lines(source, whole=bool(paths))) for source in way]
        if texts := [f"{name}\n\n{lines}\n" for name, lines in read if lines]:
            return texts
    return []


def _last_lines(source: Source, *, whole: bool) -> str:
    kept: deque[bytes] = deque(maxlen=_BUNDLED)
    try:
        stream = source.open()
        if stream is None:
            return ""
        with stream:
            kept.extend(line for line in _whole_lines(stream) if whole or _OF_GPU.search(line))
    except Exception:  # decompressors raise half a dozen kinds of errors
        pass  # the report says what could not be read; the lines before it count
    return b"\n".join(kept).decode("utf-8", "replace")


def _whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of the log, without the ends of very long ones: if a line were cut in two, a secret
    could be separated from its key, and nothing would show that it is a secret."""
    while line := stream.readline(_LONG):
        cut = len(line) >= _LONG and not line.endswith(b"\n")
        yield line[:_LONG] + b" [...]" if cut else line.removesuffix(b"\n")
        while cut:
            rest = stream.readline(_LONG)
            cut = len(rest) >= _LONG and not rest.endswith(b"\n")


def said_by(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the parts of a report that may reveal a name."""
    yield from (
        "\n".join((log, *(excerpt.text for excerpt in excerpts)))
        for log, excerpts in content["excerpts"].items()
    )
    yield from (f"{name}={value or ''}\n{source}" for name, value, source in content["variables"])
    yield from content["arguments"]
    yield from (check.summary for check in content["checks"])


def _in_force(view: HostView) -> tuple[VerificationReport | None, str]:
    """Return what is applied and whether it is in effect, or else why that is unknown."""
    try:
        return verify(view), ""
    except RocmcfgError as problem:
        return None, problem.diagnostics[0].summary


def _variables(
    view: HostView, environment: Mapping[str, str], knowledge: Catalogue
) -> tuple[Assignment, ...]:
    """Return the variables that the catalogue knows, from the files for all users and from the caller's
    environment."""
    asks = [Assignment(name, value, "the caller's environment") for name, value in environment.items()]
    return tuple(
        assignment for assignment in (*for_everybody(view), *asks) if assignment.name in knowledge.variables
    )


def _packages(view: HostView) -> dict[str, str]:
    """Return the installed firmware packages, or nothing if no package tool of the host can be asked."""
    packages = view.query(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *_PACKAGES])
    packages = packages or view.query(["rpm", "-q", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\\n", *_PACKAGES])
    packages = packages or view.query(["pacman", "-Q", *_PACKAGES])
    lines = packages.stdout.splitlines() if packages else []
    pairs = (line.split() for line in lines)
    return {f"Package {pair[0]}": pair[1] for pair in pairs if len(pair) == 2 and pair[0] in _PACKAGES}
