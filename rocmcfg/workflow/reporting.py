"""What a maintainer needs to know of a host, gathered once."""

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
from rocmcfg.workflow.verifying import verify

if TYPE_CHECKING:
    from rocmcfg.advice.doctor.log_lines import LogLines

# Packages whose version decides what a GPU does, by the tool that knows them.
_PACKAGES = ("firmware-amd-graphics", "linux-firmware", "linux-firmware-amdgpu", "amd-gpu-firmware")
# Of doctor's diagnostics, those that are about reading logs, and not about the host.
_UNREAD = ("RC8001", "RC8002", "RC8006", "RC8007")
_BUNDLED = 20_000  # lines of a log that a bundle holds
_LONG = 64 << 10  # bytes of a line of them; of a longer one the rest says nothing of a GPU
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
    """The report as Markdown, and what could not be read of the logs: of `paths`, else of this host's own.
    With `bundle` it is packed into that new file as well, with what the logs say of GPUs. Raises
    Unwritable."""
    content, problems = _gather(view, paths, environment, progress)
    redact = redactor_of(view, environment)
    # Named logs are read for the text alone, too: one line gives away a name that stands in another.
    logs = _logs(view, paths) if bundle or paths else []
    for text in (*logs, *_said_by(content)):
        redact.learn(text)
    made = markdown(content, redact)
    if bundle:
        texts = {f"log-{n}.txt": redact(text) for n, text in enumerate(logs, 1)}
        write_callers_file(bundle, pack({"report.md": made, **texts}))
    return made, problems


def _gather(
    view: HostView, paths: Sequence[str], environment: Mapping[str, str], progress: Callable[[str], None]
) -> tuple[dict[str, Any], tuple[Diagnostic, ...]]:
    """`environment` is the caller's own; empty for another root. What could not be read of the logs is told
    beside the report; what is wrong with the host stands in it."""
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
    # what else boots a host is nobody's matter
    concerned = [karg for karg in kargs if karg.name in knowledge.arguments and karg not in parameters]
    applied, trouble = _in_force(view)
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
        "matches": [finding.match for finding in diagnosis.found if finding.match.told],
        "checks": [d for d in diagnosis.diagnostics if d not in unread],
        "excerpts": _excerpts(diagnosis),
        "packages": _packages(view),
    }
    return content, unread


def _excerpts(diagnosis: Diagnosis) -> dict[str, list[LogLines]]:
    """By log the lines that matched something, and errors of the driver that matched nothing, in order."""
    of_log: dict[str, dict[int, LogLines]] = {}
    evidence = [line for finding in diagnosis.found if finding.match.told for line in finding.evidence]
    for line in (*evidence, *diagnosis.unknown):
        of_log.setdefault(line.log, {})[line.line] = line
    return {log: [lines[number] for number in sorted(lines)] for log, lines in of_log.items()}


def _logs(view: HostView, paths: Sequence[str]) -> list[str]:
    """For the bundle: of a log that the caller names its last lines, of this host's own those that speak of a
    GPU. What was piped in is gone, but for its excerpt in the report."""
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
    except Exception:  # decompressors raise errors of half a dozen kinds
        pass  # the report tells what could not be read; what came before counts
    return b"\n".join(kept).decode("utf-8", "replace")


def _whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Lines as the log has them, but for the ends of very long ones: a key at the end of one piece must not
    lose its value to the next, where nothing would tell that it is a secret."""
    while line := stream.readline(_LONG):
        cut = len(line) >= _LONG and not line.endswith(b"\n")
        yield line[:_LONG] + b" [...]" if cut else line.removesuffix(b"\n")
        while cut:
            rest = stream.readline(_LONG)
            cut = len(rest) >= _LONG and not rest.endswith(b"\n")


def _said_by(content: Mapping[str, Any]) -> Iterator[str]:
    """What of a report may give away a name."""
    yield from (
        "\n".join((log, *(excerpt.text for excerpt in excerpts)))
        for log, excerpts in content["excerpts"].items()
    )
    yield from (f"{name}={value}\n{source}" for name, value, source in content["variables"])
    yield from content["arguments"]
    yield from (check.summary for check in content["checks"])


def _in_force(view: HostView) -> tuple[VerificationReport | None, str]:
    """What is applied, and how it stands; else why that cannot be told."""
    try:
        return verify(view), ""
    except RocmcfgError as problem:
        return None, problem.diagnostics[0].summary


def _variables(
    view: HostView, environment: Mapping[str, str], knowledge: Catalogue
) -> tuple[Assignment, ...]:
    """Variables that the catalogue knows, from the files for all users and from who asks."""
    asks = [Assignment(name, value, "the environment of who asks") for name, value in environment.items()]
    return tuple(
        assignment for assignment in (*for_everybody(view), *asks) if assignment.name in knowledge.variables
    )


def _packages(view: HostView) -> dict[str, str]:
    """Installed firmware packages; empty where no package tool of the host may be asked."""
    packages = view.query(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *_PACKAGES])
    packages = packages or view.query(["rpm", "-q", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\\n", *_PACKAGES])
    packages = packages or view.query(["pacman", "-Q", *_PACKAGES])
    lines = packages.stdout.splitlines() if packages else []
    pairs = (line.split() for line in lines)
    return {f"Package {pair[0]}": pair[1] for pair in pairs if len(pair) == 2 and pair[0] in _PACKAGES}
