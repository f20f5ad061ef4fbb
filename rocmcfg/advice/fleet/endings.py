"""Judge which workarounds a host no longer needs with its next kernel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from rocmcfg.advice.fleet.reports import Described, Kernel, Verified
from rocmcfg.judging.conditions import decide
from rocmcfg.model import facts
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.profile import Condition, Profile, Setting
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.version import format_version, parse_kernel, parse_version

ProfileOf = Callable[[str], "Profile | None"]
_NO_LOADER = facts.BootChain(None, (), ())


class Ending(NamedTuple):
    """A workaround in force that a release ends. `by_next`: the next kernel of the host is such a release."""

    setting: str
    ends_with: str
    by_next: bool


class Endings:
    """Judges the workarounds of hosts. Hosts that are alike are judged once."""

    def __init__(self, profile_of: ProfileOf, catalogue: Catalogue) -> None:
        self._profile_of, self._catalogue = profile_of, catalogue
        self._judged: dict[Hashable, tuple[Ending, ...]] = {}

    def of(self, verified: Verified, machine: Described, following: Kernel | None) -> tuple[Ending, ...]:
        """Return the workarounds in force, sorted. `following` is the next kernel of the host."""
        key = verified.profiles, verified.values, machine, following
        judged = self._judged.get(key)
        if judged is None:
            judged = self._judged[key] = tuple(self._endings(verified, machine, following))
        return judged

    def _endings(self, verified: Verified, machine: Described, following: Kernel | None) -> Iterator[Ending]:
        in_force = {name for name, _ in verified.values}
        settings: dict[str, Setting] = {}
        for name in verified.profiles:
            profile = self._profile_of(name)
            settings |= {setting.id: setting for setting in (profile.settings if profile else ())}
        for id, setting in sorted(settings.items()):
            ends_with = self._ends_with(setting.when) if id in in_force else ""
            if ends_with:
                yield Ending(id, ends_with, self._is_ended(setting.when, machine, following))

    def _is_ended(self, when: Sequence[Condition], machine: Described, following: Kernel | None) -> bool:
        if machine.kernel is None or following is None or machine.kernel == following:
            return False
        now, then = (decide(when, _facts(machine, k), self._catalogue) for k in (machine.kernel, following))
        return now.holds is not False and then.holds is False

    def _ends_with(self, when: Sequence[Condition]) -> str:
        """Return the releases that end the need for a setting; empty where none does."""
        ends = [" or ".join(self._ends(condition)) for condition in when]
        return " and ".join(dict.fromkeys(ends)) if all(ends) else ""

    def _ends(self, condition: Condition) -> Iterator[str]:
        if condition.lacks_fix:
            yield f"kernel {self._catalogue.fixes[condition.lacks_fix].releases}"
        for what, wanted in (("kernel", condition.kernel), ("ROCm", condition.rocm)):
            below = [bound for operator, bound in wanted.conditions if operator == "<"] if wanted else []
            yield from (f"{what} {format_version(bound)}" for bound in below)


def _facts(machine: Described, kernel: Kernel) -> facts.Facts:
    """Return the facts of a host on which this kernel is the only one."""
    version = parse_kernel(kernel.release)
    kernels = (
        () if version is None else (facts.Kernel(kernel.release, version, facts.Driver.MODULE, kernel.dkms),)
    )
    gpus = tuple(facts.Gpu(None if gfx == "unknown" else gfx, "", "pci") for gfx in machine.gpus)
    rocm = parse_version(machine.rocm) if machine.rocm else None
    system = facts.Os("", machine.system, "")
    return facts.Facts(system, kernels, kernel.release, gpus, rocm, "", _NO_LOADER, "", offline=True)
