"""A report as Markdown for an issue tracker: its content, which is not redacted yet, how it is laid out, and
how it is packed with its logs. Pure: content and a redactor in, text or bytes out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from rocmcfg.backends.environment import Assignment
from rocmcfg.facts.system import Device, HostHardware
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Facts, Gpu
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.state.values import SetParameter

Redact = Callable[[str], str]


class ReportedMatch(NamedTuple):
    """A known issue that the log or the host speaks for. `score` from 0 to 1."""

    issue: KnownIssue
    score: float
    reasons: tuple[str, ...]


class Excerpt(NamedTuple):
    """Lines of one log that the report shows. `left_out` counts those that it does not."""

    source: str
    lines: tuple[str, ...]
    left_out: int = 0


class Report(NamedTuple):
    """`parameters` come with their defaults. `arguments` are those of the running kernel that concern a GPU;
    `other_arguments` counts the rest, which a report has no use for. `profiles` and `state` are what rocmcfg
    has in force. `elsewhere` describes the machine that wrote the logs, where it is another one."""

    version: str
    facts: Facts
    hardware: HostHardware
    parameters: tuple[tuple[SetParameter, str], ...]
    arguments: tuple[str, ...]
    other_arguments: int
    variables: tuple[Assignment, ...]
    profiles: tuple[str, ...]
    state: str
    elsewhere: str
    matches: tuple[ReportedMatch, ...]
    checks: tuple[Diagnostic, ...]
    excerpts: tuple[Excerpt, ...]
    packages: Mapping[str, str]


def markdown(report: Report, redact: Redact) -> str:
    """The whole text. Everything that came from the host goes through `redact` before it is laid out."""
    sections = (
        _environment(report, redact),
        _parameters(report, redact),
        _variables(report, redact),
        _rocmcfg(report, redact),
        _issues(report, redact),
        *(_excerpt(excerpt, redact) for excerpt in report.excerpts),
    )
    body = "\n\n".join("\n".join(lines) for section in sections if (lines := list(section)))
    signature = (
        f"Made by `rocmcfg report` {report.version}; names, serials, addresses and ids are replaced as far "
        "as it knows their forms."
    )
    return f"{body}\n\n{signature}\n"


def pack(files: Mapping[str, str]) -> bytes:
    """Texts by their names as one .tar.gz, in one folder, so that unpacking litters nothing. The same texts
    give the same bytes: no times, no owner."""
    import gzip
    import io
    import tarfile

    packed = io.BytesIO()
    # mtime 0 here too: gzip's header would otherwise tell when the report was made
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, text in sorted(files.items()):
            content = text.encode("utf-8", "replace")
            entry = tarfile.TarInfo(f"rocmcfg-report/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _environment(report: Report, redact: Redact) -> Iterator[str]:
    facts, hardware = report.facts, report.hardware
    kernel = next((k for k in facts.kernels if k.running), None)
    driver = ""
    if kernel is not None:
        driver = f"; amdgpu {'by DKMS' if kernel.dkms else kernel.driver.value}"
        driver += f" {hardware.driver_version}" if hardware.driver_version else ""
    loader = facts.boot.loader.title if facts.boot.loader else "not recognised"
    devices = {device.address: device for device in hardware.devices}
    rows = [
        ("System", f"{facts.os.name}{f' in a container ({facts.container})' if facts.container else ''}"),
        ("Kernel", (facts.running or "none running") + driver),
        *((f"GPU {n}", _gpu(gpu, devices.get(gpu.address))) for n, gpu in enumerate(facts.gpus)),
        *(
            (f"Firmware of GPU {n}", ", ".join(" ".join(one) for one in device.firmware.items()))
            for n, gpu in enumerate(facts.gpus)
            if (device := devices.get(gpu.address))
        ),
        ("ROCm", f"{facts.rocm_text} ({facts.rocm_source})" if facts.rocm else "none found system-wide"),
        ("PyTorch", "; ".join(f"{torch.text} ({torch.source})" for torch in facts.pytorch)),
        *sorted(report.packages.items()),
        ("Processor", hardware.processor),
        ("Memory", f"{hardware.memory / 2**30:.1f} GiB" if hardware.memory else ""),
        ("Board", " ".join(filter(None, (hardware.board, hardware.bios and f"(BIOS {hardware.bios})")))),
        ("Boot", "; ".join((loader, *(generator.title for generator in facts.boot.initramfs)))),
    ]
    yield "## Environment\n"
    yield from _table(("what", "found"), [(name, redact(text)) for name, text in rows if text])


def _gpu(gpu: Gpu, device: Device | None) -> str:
    parts = [gpu.gfx or "unknown", gpu.name, f"1002:{gpu.pci_id}" if gpu.pci_id else "", gpu.address]
    if gpu.integrated:
        parts.append("integrated")
    if device is not None and device.vram:
        parts.append(f"{device.vram / 2**30:.1f} GiB VRAM")
    if device is not None and device.vbios:
        parts.append(f"VBIOS {device.vbios}")
    return ", ".join(filter(None, parts))


def _parameters(report: Report, redact: Redact) -> Iterator[str]:
    yield "## Driver parameters that differ from the default\n"
    if report.parameters:
        rows = [
            [f"`{p.name}`", *map(redact, (p.running or "", p.next_boot or "", default, p.source))]
            for p, default in report.parameters
        ]
        yield from _table(("parameter", "running", "next boot", "default", "set by"), rows)
    else:
        yield "None."
    if report.arguments or report.other_arguments:
        named = " ".join(f"`{redact(argument)}`" for argument in report.arguments) or "none"
        more = report.other_arguments
        yield f"\nOther kernel arguments that concern a GPU: {named} ({more} more not shown)."


def _variables(report: Report, redact: Redact) -> Iterator[str]:
    if report.variables:
        yield "## Environment variables\n"
        rows = [(f"`{name}`", redact(value), redact(source)) for name, value, source in report.variables]
        yield from _table(("variable", "value", "from"), rows)


def _rocmcfg(report: Report, redact: Redact) -> Iterator[str]:
    yield "## rocmcfg\n"
    if report.profiles:
        yield f"Profile {', '.join(redact(name) for name in report.profiles)}: {redact(report.state)}."
    elif report.state:
        yield f"What is applied cannot be told: {redact(report.state)}."
    else:
        yield "Nothing applied."


def _issues(report: Report, redact: Redact) -> Iterator[str]:
    yield "## Known issues that match\n"
    if report.elsewhere:
        yield f"The logs are of another machine than the one above: {redact(report.elsewhere)}.\n"
    if not report.matches:
        yield "None."
    for match in report.matches:
        yield f"- **{match.issue.id}** ({match.score:.2f}): {match.issue.title}"
        yield from (f"  - {redact(reason)}" for reason in match.reasons)
    if report.checks:
        yield "\nFound on the host:\n"
        yield from (f"- {check.id}: {_inline(redact(check.summary))}" for check in report.checks)


def _excerpt(excerpt: Excerpt, redact: Redact) -> Iterator[str]:
    if not excerpt.lines:
        return
    lines = [_plain(line) for line in redact("\n".join(excerpt.lines)).splitlines()]
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    count = f", {excerpt.left_out} more lines left out" if excerpt.left_out else ""
    yield f"<details><summary>Log: {_inline(redact(excerpt.source))}{count}</summary>\n"
    yield f"{fence}text"
    yield from lines
    yield f"{fence}\n\n</details>"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(_inline(cell) for cell in row) + " |"


def _inline(text: str) -> str:
    """In running text or a table's cell: one line that opens no column and no HTML. Code spans stay code."""
    flat = " ".join(_plain(text).split())
    if flat.startswith("`") and flat.endswith("`") and flat.count("`") == 2:
        return flat.replace("|", "\\|")
    return flat.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
