"""Check what is wrong with a host, apart from its logs. Each check is a small function that returns
diagnostics; a host without a fault gets none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product

from rocmcfg.advice.doctor import gpu_checks, log_checks
from rocmcfg.advice.doctor.judging.workarounds import failed, holding
from rocmcfg.facts.gpus import gfx_name
from rocmcfg.facts.system import HostHardware
from rocmcfg.files.environment import untold
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.judging.judge import undoes
from rocmcfg.knowledge.diagnosis import host_knowledge
from rocmcfg.loaders import registry
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.checks import PENDING, VerificationReport
from rocmcfg.model.desired import DesiredSetting, Kind
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, Severity, info, warning
from rocmcfg.model.facts import Facts
from rocmcfg.model.kargs import Karg, canonical, contains, join, split
from rocmcfg.model.spelling import Spelling, as_number, parameter, same
from rocmcfg.model.version import Version, format_version, parse_version
from rocmcfg.records.journal import RecoveryRequired, require_finished
from rocmcfg.records.receipt import Receipt
from rocmcfg.state.values import next_boot_kargs, set_parameters
from rocmcfg.state.verify import verify


def check(
    view: HostView,
    facts: Facts,
    hardware: HostHardware,
    receipt: Receipt | None,
    catalogue: Catalogue,
    variables: Mapping[str, tuple[str | None, str]],
) -> list[Diagnostic]:
    """Run all checks of this host. `variables` come from `environment.set_variables`."""
    # the version of AMD's DKMS driver if it runs; the kernel's own driver has none
    dkms = hardware.driver_version if any(k.running and k.dkms for k in facts.kernels) else ""
    return [
        *_contested(view, facts, receipt, catalogue),
        *_undoing(view, facts, catalogue, variables),
        *_not_generated(view, facts, catalogue),
        *_other_writers(view, receipt),
        *driver_and_rocm(dkms, facts.rocm, "this host", facts.rocm_source),
        *_bad_firmware(facts, hardware),
        *_untold(catalogue, variables),
        *_target_override(facts, variables),
        *_mixed_gpus(facts, variables),
        *gpu_checks.check(view, facts, hardware, variables),
        *log_checks.check(view, facts),
    ]


def in_effect(view: HostView, receipt: Receipt | None) -> tuple[tuple[DesiredSetting, ...], list[Diagnostic]]:
    """Return the settings that rocmcfg applied and that the host has, now or after a reboot; and diagnostics
    on the others, or on an interrupted transaction."""
    try:
        require_finished(view)
        report = verify(view, receipt.settings, receipt, receipt.profiles) if receipt else None
    except RecoveryRequired as problem:
        return (), list(problem.diagnostics)
    except RocmcfgError:
        report = None  # `verify` says why
    if receipt is None or report is None:
        return receipt.settings if receipt else (), []
    return holding(receipt.settings, report), list(_not_in_effect(view, report))


def _not_in_effect(view: HostView, report: VerificationReport) -> Iterator[Diagnostic]:
    pending = [check.name for check in report.checks if check.status in PENDING]
    what = "run what apply left to you, then reboot" if report.program_due else "reboot"
    what += " that host" if view.offline else ""
    if pending:
        summary = f"applied, but not in force yet: {', '.join(pending)}"
        yield info("RC8101", summary, hint=f"{what}; then `rocmcfg verify` checks it")
    for check in failed(report):
        summary = f"{check.name} was applied, but is not in effect"
        hint = "`rocmcfg verify -v` shows desired, configured and running"
        yield warning("RC8102", summary, detail=check.detail, location=check.source, hint=hint)


def _contested(
    view: HostView, facts: Facts, receipt: Receipt | None, catalogue: Catalogue
) -> Iterator[Diagnostic]:
    """Warn of parameters that several files set to different values: only one of the files has an effect."""
    ours = {setting.parameter for setting in receipt.settings} if receipt else set()
    for own in set_parameters(view, catalogue.modules(), facts.boot.loader):
        if own.overridden and own.name not in ours:
            wins = "an unknown value" if own.untold else own.next_boot
            yield warning(
                "RC8103",
                f"{own.name} is set to different values; {wins} from {own.source} counts",
                detail=f"without effect: {', '.join(own.overridden)}",
                location=own.source,
                hint="keep one of them and remove the others",
            )


def _undoing(
    view: HostView,
    facts: Facts,
    catalogue: Catalogue,
    variables: Mapping[str, tuple[str | None, str]],
) -> Iterator[Diagnostic]:
    """Warn of settings in force that undo the cure of a known issue of this host's GPUs. A parameter that
    nothing sets has its default, and undoes nothing."""
    set_here = [(Spelling(Kind.ENV, name, value), place) for name, (value, place) in variables.items()]
    for own in set_parameters(view, catalogue.modules(), facts.boot.loader):
        set_here.append((parameter(own.name, own.next_boot), own.source))
    for karg in next_boot_kargs(view, facts.boot.loader):
        set_here.append((Spelling(Kind.KARG, karg.name, karg.value), karg.source))
    for setting, place in set_here:
        if setting.value is None:
            continue
        for undone in undoes(setting, facts.machine, catalogue):
            name = setting.name if setting.kind is Kind.ENV else setting.id
            may = "undoes" if undone.certain else "may undo"
            summary = f"{name}={setting.value} {may} the cure of {undone.issue}"
            hint = f"delete it there; the cure is {name}={undone.cure}"
            yield warning("RC8112", summary, location=place, detail=undone.title, hint=hint)


def _not_generated(view: HostView, facts: Facts, catalogue: Catalogue) -> Iterator[Diagnostic]:
    """Warn of edits of the boot loader's defaults that concern the GPU and that its menu does not have
    yet."""
    loader = facts.boot.loader
    if loader is None or not loader.supported:
        return
    backend = registry.backend(loader.name)
    observed = backend.observe(view)
    if observed.unknown_at or not observed.menu.normal:
        return
    booted = observed.menu.normal[0].kargs
    written = (*observed.foreign, *observed.ours)
    missing = [k for k in observed.foreign if _concerns(k, catalogue) and not contains(booted, k.text)]
    left = [k for k in booted if _concerns(k, catalogue) and not contains(written, k.text)]
    differ = (("does not have", missing), ("still has", left))
    gaps = [f"{what} {join(kargs)}" for what, kargs in differ if kargs]
    if gaps:
        command = "; sudo ".join(line for step in backend.activations(view, "") for line in step.lines)
        yield warning(
            "RC8106",
            f"the boot menu {' and '.join(gaps)}: its defaults were changed, but it was not regenerated",
            location=missing[0].source if missing else booted[0].source,
            hint=f"sudo {command}, then reboot" + (", all inside that host" if view.offline else ""),
        )


def _concerns(karg: Karg, catalogue: Catalogue) -> bool:
    module, dot, _ = karg.key.partition(".")
    return (bool(dot) and module in catalogue.modules()) or karg.name in catalogue.arguments


def _other_writers(view: HostView, receipt: Receipt | None) -> Iterator[Diagnostic]:
    """Warn of programs that write an argument which rocmcfg applied, with another value."""
    wanted = [s for s in receipt.settings if s.kind is not Kind.ENV] if receipt else []
    for writer in host_knowledge().writers if wanted else ():
        texts = writer.key.findall(text_or_empty(view, writer.file))
        written = [karg for text in texts for karg in split(text.strip().strip("\"'"), writer.file)]
        for karg, setting in product(dict.fromkeys(written), wanted):
            ours = canonical(setting.parameter or setting.name)
            if karg.key == ours and not same(karg.value or "", setting.text or ""):
                summary = f"{writer.name} writes {karg.text}, and rocmcfg applied {setting.karg}"
                yield warning("RC8104", summary, location=writer.file, hint=writer.stop)


def driver_and_rocm(driver: str, rocm: Version | None, where: str, source: str = "") -> Iterator[Diagnostic]:
    """Warn of an AMD DKMS driver together with a ROCm release that it does not support. `where` is the host
    or log that has them."""
    version = parse_version(driver)
    if version is None or rocm is None:
        return
    row = next((row for row in host_knowledge().drivers if row.version.contains(version)), None)
    if row is not None and not row.rocm.contains(rocm):
        summary = f"driver and ROCm do not match: amdgpu-dkms {driver} with ROCm {format_version(rocm)}"
        detail = f"{where}: the driver came with ROCm {row.release}; AMD supports it with {row.rocm.text}"
        hint = "install the driver of the same release, or use the kernel's own: remove amdgpu-dkms"
        yield warning("RC8110", summary, detail=detail, location=source, hint=hint)


def loaded_firmware(hardware: HostHardware) -> dict[str, int]:
    """Return the version of each firmware block, from the first GPU that reports it."""
    versions: dict[str, int] = {}
    for device in reversed(hardware.devices):
        versions |= {
            block: n for block, text in device.firmware.items() if (n := as_number(text)) is not None
        }
    return versions


def _bad_firmware(facts: Facts, hardware: HostHardware) -> Iterator[Diagnostic]:
    """Warn of firmware that is known to be bad for the GPU that runs it."""
    by_address = {gpu.address: gpu.gfx for gpu in facts.gpus}
    for device in hardware.devices:
        gfx = by_address.get(device.address)
        for row in host_knowledge().firmware:
            version = as_number(device.firmware.get(row.block))
            if version is not None and row.is_bad(version) and gfx in row.gfx:
                summary = f"{row.block.upper()} firmware {row.version:#x} is known to fail on {gfx}"
                place = f"/sys/bus/pci/devices/{device.address}/fw_version/{row.block}_fw_version"
                hint = f"run `rocmcfg doctor` on a log of the failure; the issue is {row.issue}"
                yield warning("RC8111", summary, location=place, hint=hint)


def _untold(catalogue: Catalogue, variables: Mapping[str, tuple[str | None, str]]) -> Iterator[Diagnostic]:
    """Note variables whose value only the program that reads the file can determine; no other check judges
    them."""
    for name, (value, where) in variables.items():
        if value is None and name in catalogue.variables:
            hint = f"`printenv {name}` in a new login shows its value"
            yield untold(name, where, hint)._replace(severity=Severity.INFO)


def _target_override(facts: Facts, variables: Mapping[str, tuple[str | None, str]]) -> Iterator[Diagnostic]:
    """Warn of the variable that makes a GPU pose as another one, if it is wrong for one of this host's
    GPUs."""
    per_node = re.compile(rf"{host_knowledge().target_variable}(?:_([0-9]{1, 9}))?")
    for name, (value, where) in variables.items():
        match = per_node.fullmatch(name)
        if match is None or not value:
            continue
        numbers = re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{1,2})", value)
        gpus = [gpu for gpu in facts.gpus if gpu.gfx and (match[1] is None or gpu.node == int(match[1]))]
        if numbers is None:
            summary = f"{name}={value} is not a version: ROCm refuses it"
            hint = "write numbers such as 10.3.0, or remove it"
            yield warning("RC8120", summary, location=where, hint=hint)
            continue
        target = gfx_name(int(numbers[1]) * 10000 + int(numbers[2]) * 100 + int(numbers[3]))
        # Another generation has other instructions. Targets of one generation differ in the last digit; not
        # all of them were tested with each other's code, so they are not judged.
        wrong = [gpu for gpu in gpus if (gpu.gfx or "")[:-1] != target[:-1]]
        if wrong:
            names = ", ".join(f"{gpu.gfx} ({gpu.name})" for gpu in wrong)
            rest = [gpu for gpu in gpus if gpu not in wrong and gpu.gfx != target]
            hint = "remove the line, and `unset` it in a running shell"
            if rest and rest[0].node is not None:
                assignment = f"{host_knowledge().target_variable}_{rest[0].node}={value}"
                hint = f"set it for one GPU only: {assignment} (the number is the KFD node)"
            summary = f"{name}={value} makes {names} pose as {target}, which has other instructions"
            detail = "programs crash on that GPU, or report memory faults at address (nil)"
            yield warning("RC8121", summary, location=where, detail=detail, hint=hint)


def _mixed_gpus(facts: Facts, variables: Mapping[str, tuple[str | None, str]]) -> Iterator[Diagnostic]:
    """Note an integrated GPU next to a graphics card, if ROCm is installed and no variable chooses between
    them."""
    cards = [gpu for gpu in facts.gpus if gpu.gfx and not gpu.integrated]
    inside = [gpu for gpu in facts.gpus if gpu.gfx and gpu.integrated]
    if not cards or not inside or facts.rocm is None:
        return
    if not any(name in variables for name in host_knowledge().choosers):
        summary = f"ROCm sees an integrated GPU ({inside[0].gfx}) in addition to {cards[0].gfx}"
        detail = "programs that use every GPU, and variables for every GPU, affect both"
        hint = "set ROCR_VISIBLE_DEVICES=GPU-<uuid> to hide the other one; `rocminfo` prints the uuids"
        yield info("RC8123", summary, detail=detail, hint=hint)
