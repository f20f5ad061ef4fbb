"""Decide whether a setting is needed on this host. If that cannot be determined, the setting applies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.facts import Facts, Gpu, Kernel, PyTorch
from rocmcfg.model.fix import Fix
from rocmcfg.model.profile import Condition
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.version import Version, VersionRange, format_version, span

UNTOLD = "applied to be safe"


class Decision(NamedTuple):
    """Whether a condition holds. `holds` is None if that cannot be determined; `why` is a phrase for the
    user. `since` names the release that ended an earlier need, "ROCm 7.2" for example; it is empty if the
    setting was never needed here."""

    holds: bool | None
    why: str
    since: str = ""

    @property
    def text(self) -> str:
        if self.holds is None:
            return f"{UNTOLD}: {self.why}"
        if self.holds:
            return f"needed: {self.why}"
        return f"no longer needed since {self.since}: {self.why}" if self.since else f"not needed: {self.why}"


class Installed(NamedTuple):
    """A version that a host has. `low` and `high` differ if part of the version is unknown."""

    name: str
    low: Version
    high: Version


def decide(alternatives: Sequence[Condition], facts: Facts, catalogue: Catalogue) -> Decision:
    """Decide whether one of the alternatives holds. Without alternatives the setting always applies."""
    decisions = [_decide(condition, facts, catalogue) for condition in alternatives]
    for holds in (True, None):
        kept = [decision for decision in decisions if decision.holds is holds]
        if kept:
            return Decision(holds, _joined(decision.why for decision in kept))
    return _not_needed(decisions) if decisions else Decision(True, "always")


def _decide(condition: Condition, facts: Facts, catalogue: Catalogue) -> Decision:
    """Decide whether all parts hold. A part that does not hold decides first, then one that cannot be
    determined."""
    parts = list(_parts(condition, facts, catalogue))
    refused = [part for part in parts if part.holds is False]
    if refused:
        return _not_needed(refused)
    open_parts = [part for part in parts if part.holds is None]
    return Decision(None if open_parts else True, _joined(part.why for part in open_parts or parts))


def _not_needed(refused: Sequence[Decision]) -> Decision:
    """Decide that a setting is not needed. An earlier need has ended if each refusal names what ended it."""
    ended = all(decision.since for decision in refused)
    since = _joined((decision.since for decision in refused), " and ") if ended else ""
    return Decision(False, _joined(decision.why for decision in refused), since)


def _joined(phrases: Iterable[str], by: str = "; ") -> str:
    return by.join(dict.fromkeys(part for phrase in phrases for part in phrase.split(by)))


def _parts(condition: Condition, facts: Facts, catalogue: Catalogue) -> Iterable[Decision]:
    if condition.lacks_fix:
        yield _lacks_fix(catalogue.fixes[condition.lacks_fix], facts)
    if condition.kernel:
        yield _in_range("kernel", condition.kernel, _kernels(facts), "no kernel is installed")
    if condition.rocm:
        yield _in_range("ROCm", condition.rocm, rocms(facts), "the ROCm release in use is unknown")
    if condition.pytorch:
        torches = [Installed(f"PyTorch {t.text}", t.version, t.version) for t in _torches(facts)]
        yield _in_range("PyTorch", condition.pytorch, torches, "no system-wide PyTorch was found")
    if condition.gpus:
        yield _gpus(condition.gpus, condition.gfx, facts)
    elif condition.gfx:
        yield _gfx(condition.gfx, facts)
    if condition.igpu is not None:
        yield _igpu(condition.igpu, facts)
    if condition.dkms is not None:
        yield _dkms(condition.dkms, facts)


def _in_range(what: str, wanted: VersionRange, installed: Sequence[Installed], none: str) -> Decision:
    """Decide by a range of versions: needed if any installed version is inside, not needed if all of them are
    outside."""
    if not installed:
        return Decision(None, none)
    verdicts = [(version, wanted.between(version.low, version.high)) for version in installed]
    inside = [version.name for version, verdict in verdicts if verdict]
    if inside:
        return Decision(True, f"{_names(inside, 'is', 'are')} {wanted.text}")
    unclear = [version.name for version, verdict in verdicts if verdict is None]
    if unclear:
        return Decision(None, f"it is unknown whether {_names(unclear)} is {wanted.text}")
    ends = [bound for operator, bound in wanted.conditions if operator == "<"]
    over = [
        bound
        for bound in ends
        if all(wanted.order(version.low) >= wanted.order(bound) for version in installed)
    ]
    since = f"{what} {format_version(min(over, key=wanted.order))}" if over else ""
    return Decision(
        False, f"{_names([version.name for version in installed], 'is', 'are')} not {wanted.text}", since
    )


def _names(names: Sequence[str], verb: str = "", plural: str = "") -> str:
    """Join names, with the word that they have in common once: `kernels 6.1, 6.8 are`."""
    phrase, kinds = ", ".join(names), {name.partition(" ")[0] for name in names}
    if len(names) > 1 and len(kinds) == 1:
        kind = kinds.pop().replace("kernel", "kernels")
        phrase = f"{kind} {', '.join(name.partition(' ')[2] for name in names)}"
    return f"{phrase} {verb if len(names) == 1 else plural}".rstrip()


def _kernels(facts: Facts) -> list[Installed]:
    kernels = facts.driven or facts.kernels
    return [Installed(f"kernel {kernel.release}", *kernel.version.span) for kernel in kernels]


def _torches(facts: Facts) -> Sequence[PyTorch]:
    """Return the caller's own PyTorch if there is one, because the caller's Python imports it."""
    return [torch for torch in facts.pytorch if torch.own] or facts.pytorch


def rocms(facts: Facts) -> list[Installed]:
    """Return every ROCm that programs of this host may load. A PyTorch wheel brings its own libraries and
    loads no others, so in a virtual environment only the ROCm of its wheel counts."""
    installed = []
    torches = [torch for torch in _torches(facts) if torch.rocm]
    if facts.rocm is not None and not any(torch.own for torch in torches):
        installed.append(Installed(f"ROCm {format_version(facts.rocm)}", facts.rocm, facts.rocm))
    for torch in torches:
        low: Version = torch.rocm or ()
        installed.append(Installed(f"ROCm {format_version(low)} of PyTorch {torch.text}", *span(low)))
    return installed


def _lacks_fix(fix: Fix, facts: Facts) -> Decision:
    kernels = facts.driven or facts.kernels
    if not kernels:
        return Decision(None, f"no kernel is installed, so the fix {fix.name} cannot be looked up")
    standing = {kernel.release: has_fix(fix, kernel, facts.gpus) for kernel in kernels}
    lacking = [f"kernel {release}" for release, has in standing.items() if has is False]
    unknown = [f"kernel {release}" for release, has in standing.items() if has is None]
    if lacking:
        return Decision(True, f"{_names(lacking, 'does', 'do')} not have the fix {fix.name}")
    if unknown:
        return Decision(None, f"it is unknown whether {_names(unknown)} has the fix {fix.name}")
    why = f"every installed kernel has the fix {fix.name} ({', '.join(standing)})"
    return Decision(False, why, since=f"kernel {fix.releases}")


def has_fix(fix: Fix, kernel: Kernel, gpus: Sequence[Gpu]) -> bool | None:
    nodes = [gpu.properties for gpu in gpus if gpu.properties]
    if kernel.running and fix.kfd_property and nodes:
        # The running driver itself shows it, even if a distribution backported the fix or DKMS replaced it.
        return any(fix.kfd_property in properties for properties in nodes)
    return None if kernel.dkms else fix.present_in(kernel.version, kernel.release)


def _gfx(wanted: tuple[str, ...], facts: Facts) -> Decision:
    common = [gfx for gfx in facts.gfx if gfx in wanted]
    if common:
        return Decision(True, f"{', '.join(common)} is present")
    if not facts.gpus or any(gpu.gfx is None for gpu in facts.gpus):
        return Decision(None, "no GPU was found" if not facts.gpus else "not every GPU is known")
    return Decision(False, f"none of {', '.join(wanted)} is present")


def _gpus(wanted: VersionRange, gfx: tuple[str, ...], facts: Facts) -> Decision:
    """Count the GPUs, with `gfx` only those of these targets. An iGPU next to a graphics card does not
    count."""
    if not facts.gpus or any(gpu.gfx is None for gpu in facts.gpus):
        return Decision(None, "the number of GPUs is unknown")
    number = len([gpu for gpu in facts.computing if not gfx or gpu.gfx in gfx])
    what = f"{', '.join(gfx)} GPU" if gfx else "GPU"
    phrase = f"{number} {what}{'' if number == 1 else 's'}"
    return Decision(wanted.contains((number,)), f"{phrase} here, {wanted.text} required")


def _igpu(wanted: bool, facts: Facts) -> Decision:
    present = [gpu.gfx or "unknown" for gpu in facts.gpus if gpu.integrated]
    if present:
        return Decision(wanted, f"the integrated GPU {', '.join(present)} is present")
    if not facts.gpus or any(gpu.gfx is None for gpu in facts.gpus):
        return Decision(None, "it is unknown whether one of the GPUs is integrated")
    return Decision(not wanted, "no integrated GPU is present")


def _dkms(wanted: bool, facts: Facts) -> Decision:
    kernels = facts.driven
    if not kernels:
        return Decision(None, "no kernel with an amdgpu driver was found")
    fitting = [f"kernel {kernel.release}" for kernel in kernels if kernel.dkms is wanted]
    driver = "AMD's DKMS driver" if wanted else "its own driver"
    if fitting:
        return Decision(True, f"{_names(fitting, 'has', 'have')} {driver}")
    return Decision(False, f"no installed kernel has {driver}")
