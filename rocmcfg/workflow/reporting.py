"""What a maintainer needs to know of a host, gathered once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocmcfg.engine.inventory import deviations, next_boot_kargs, set_parameters
from rocmcfg.engine.running import Running
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError
from rocmcfg.model.kargs import Karg
from rocmcfg.model.version import format_version
from rocmcfg.report.content import Report, ReportedParameter, ReportedVariable
from rocmcfg.report.redact import Redactor

# Packages whose version decides what a GPU does, by the tool that knows them.
_PACKAGES = ("firmware-amd-graphics", "linux-firmware", "linux-firmware-amdgpu", "amd-gpu-firmware")
_SERIALS = ("product_serial", "board_serial", "chassis_serial", "product_uuid", "chassis_asset_tag")


@dataclass(frozen=True, slots=True)
class Made:
    markdown: str
    diagnostics: tuple[Diagnostic, ...]


def report(view: HostView, environment: Mapping[str, str], bundle: str = "") -> Made:
    """The report as text; with `bundle` also packed into that new file of the caller's. Raises Unwritable."""
    from rocmcfg.report.markdown import markdown

    content = gather(view, environment)
    redact = redactor(view, environment)
    text = markdown(content, redact)
    if bundle:
        from rocmcfg.host.caller import write_callers_file
        from rocmcfg.report.bundle import pack

        logs = {f"log-{n}.txt": redact("\n".join(e.lines)) + "\n" for n, e in enumerate(content.excerpts, 1)}
        write_callers_file(bundle, pack({"report.md": text, **logs}))
    return Made(text, ())


def gather(view: HostView, environment: Mapping[str, str]) -> Report:
    """`environment` is the caller's own; empty for another root."""
    import rocmcfg
    from rocmcfg.facts.machine import read_machine
    from rocmcfg.knowledge import catalogue
    from rocmcfg.workflow.planning import collect_facts

    known = catalogue.load()
    facts = collect_facts(view, ask_modinfo=False)
    kernel = next((k for k in facts.kernels if k.running), None)
    set_here = set_parameters(view, known.modules(), facts.boot.loader)
    kargs = Running(view).kargs or next_boot_kargs(view, facts.boot.loader)
    concerned = [karg for karg in kargs if _concerns(karg, known)]
    profiles, state = _in_force(view)
    return Report(
        version=rocmcfg.__version__,
        facts=facts,
        machine=read_machine(view, tuple(gpu.address for gpu in facts.gpus if gpu.address)),
        rocm=f"{format_version(facts.rocm)} ({facts.rocm_source})" if facts.rocm else "",
        pytorch="",
        parameters=tuple(
            ReportedParameter(d.name, d.running, d.next_boot, d.default, d.source)
            for d in deviations(view, kernel, set_here, known)
        ),
        arguments=tuple(karg.text for karg in concerned),
        other_arguments=len(kargs) - len(concerned) - sum(_is_parameter(karg, known) for karg in kargs),
        variables=_variables(view, environment, known),
        profiles=profiles,
        state=state,
        matches=(),
        checks=(),
        excerpts=(),
        packages=_packages(view),
    )


def redactor(view: HostView, environment: Mapping[str, str]) -> Redactor:
    """Knows the names of this host, of its accounts and of the one who asks, and the serials it can read."""
    hosts = [_text(view, "/etc/hostname"), _text(view, "/proc/sys/kernel/hostname")]
    users = [environment.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")]
    for line in _text(view, "/etc/passwd").splitlines():
        fields = line.split(":")
        if len(fields) > 2 and fields[2].isdigit() and 1000 <= int(fields[2]) < 60000:
            users.append(fields[0])
    secrets = {_text(view, f"/sys/class/dmi/id/{name}"): "serial" for name in _SERIALS}
    secrets[_text(view, "/etc/machine-id")] = "id"
    return Redactor(hosts, users, secrets)


def _concerns(karg: Karg, known: Catalogue) -> bool:
    """Arguments that the catalogue knows. What else boots a host is nobody's matter."""
    return karg.name in known.arguments and not _is_parameter(karg, known)


def _is_parameter(karg: Karg, known: Catalogue) -> bool:
    return "." in karg.key and karg.key.partition(".")[0] in known.modules()


def _in_force(view: HostView) -> tuple[tuple[str, ...], str]:
    from rocmcfg.workflow.verifying import verify

    try:
        report = verify(view)
    except RocmcfgError as problem:
        return (), problem.diagnostics[0].summary
    wrong = [f"{c.name} {c.status.value}" for c in report.checks if report.exit_code]
    return report.profiles, "; ".join([report.status.replace("_", " "), *wrong])


def _variables(
    view: HostView, environment: Mapping[str, str], known: Catalogue
) -> tuple[ReportedVariable, ...]:
    """Variables that the catalogue knows, from the files for all users and from who asks."""
    from rocmcfg.backends.environment.observe import read_assignments

    files: Sequence[str] = (
        "/etc/environment",
        *(f"/etc/environment.d/{name}" for name in view.names("/etc/environment.d")),
        *(f"/etc/profile.d/{name}" for name in view.names("/etc/profile.d") if name.endswith(".sh")),
    )
    found = [
        ReportedVariable(name, value, f"{path}:{line}")
        for path in files
        for name, (value, line) in read_assignments(view, path).items()
        if name in known.variables
    ]
    found += [
        ReportedVariable(name, value, "the environment of who asks")
        for name, value in environment.items()
        if name in known.variables
    ]
    return tuple(found)


def _packages(view: HostView) -> dict[str, str]:
    """Installed firmware packages; empty where no package tool of the host may be asked."""
    asked = view.query(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *_PACKAGES])
    asked = asked or view.query(["rpm", "-q", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\\n", *_PACKAGES])
    asked = asked or view.query(["pacman", "-Q", *_PACKAGES])
    lines = asked.stdout.splitlines() if asked else []
    pairs = (line.split() for line in lines)
    return {f"Package {pair[0]}": pair[1] for pair in pairs if len(pair) == 2 and pair[0] in _PACKAGES}


def _text(view: HostView, path: str) -> str:
    try:
        return (view.text(path) or "").strip()
    except Unreadable:
        return ""
