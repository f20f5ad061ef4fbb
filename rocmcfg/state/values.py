"""Read the values of a host: what the kernel of this boot got and has now, and what the files give the next
boot, with the writer of each. Precedence of a module parameter (kmod 30, tested): the kernel command line
wins over modprobe.d, and a later entry over an earlier one within each. A built-in driver takes only the
command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocmcfg.files import modprobe
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders import registry
from rocmcfg.model.facts import Detection, Driver, Facts, Kernel
from rocmcfg.model.kargs import Karg, canonical, last, split
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import parameter, same, well_named
from rocmcfg.model.trial import MARKER

if TYPE_CHECKING:
    from rocmcfg.loaders.shared.contract import Observed
    from rocmcfg.model.catalogue import Catalogue


class RunningValue(NamedTuple):
    """A value of the running kernel, as the kernel prints it. `present` is False if the kernel has no such
    parameter or argument; `readable` is False if the user may not read it."""

    value: str | None
    present: bool
    readable: bool = True


class Running:
    """Read /proc and /sys of the host. `known` is False for a root without them (an offline disk)."""

    def __init__(self, view: HostView) -> None:
        self._view = view
        try:
            text = view.text("/proc/cmdline")
        except Unreadable:
            text = None
        self.known = text is not None
        self.kargs: tuple[Karg, ...] = split(text or "", "/proc/cmdline")

    def loaded(self, module: str) -> bool:
        return self._view.is_dir(f"/sys/module/{canonical(module)}")

    def parameter(self, id: str) -> RunningValue:
        spelling = parameter(id)
        path = f"/sys/module/{spelling.module}/parameters/{spelling.name}"
        if not spelling.module or not well_named(spelling):
            return RunningValue(None, False)
        try:
            text = self._view.text(path)
        except Unreadable:
            return RunningValue(None, True, readable=False)
        return RunningValue(None, False) if text is None else RunningValue(text.rstrip("\n"), True)

    def karg(self, name: str) -> RunningValue:
        karg = last(self.kargs, name)
        return RunningValue(None, False) if karg is None else RunningValue(karg.value, True)


def environment_of(view: HostView, pid: int) -> dict[str, str]:
    """Return the environment that a process was started with. Raise Unreadable."""
    content = view.read(f"/proc/{pid}/environ")
    if content is None:
        raise Unreadable(f"/proc/{pid}/environ", "there is no such process")
    pairs = (entry.decode("utf-8", "replace").partition("=") for entry in content.split(b"\0") if entry)
    return {name: value for name, _, value in pairs}


def trial_token(view: HostView) -> str | None:
    """Return the token of the trial whose boot this is, from the command line; None if this is not a trial
    boot."""
    return Running(view).karg(MARKER).value


class Effective(NamedTuple):
    """The value at the next boot. `value` is None if nothing sets the parameter, and if it is `untold`: then
    only the boot loader knows it. `source` is where it is set."""

    value: str | None = None
    source: str = ""
    untold: bool = False


def effective(
    parameter: str, options: Sequence[Karg], kargs: Sequence[Karg], *, builtin: bool = False
) -> Effective:
    """Return the value at the next boot. `parameter` is `module.name`, and so are the names in `options`,
    which come from modprobe.d."""
    key = canonical(parameter)
    writers = [karg for karg in (*(() if builtin else options), *kargs) if karg.key == key]
    return Effective(writers[-1].value, writers[-1].source, writers[-1].untold) if writers else Effective()


class Configured(NamedTuple):
    """What the host's files say without rocmcfg."""

    boot: Observed | None
    options: tuple[Karg, ...]
    builtin: bool

    @property
    def kargs(self) -> tuple[Karg, ...]:
        return self.boot.foreign if self.boot else ()

    def effective(self, parameter: str) -> Effective:
        return effective(parameter, self.options, self.kargs, builtin=self.builtin)


def read_configured(view: HostView, facts: Facts) -> Configured:
    loader = facts.boot.loader
    seen = registry.backend(loader.name).observe(view) if loader and loader.supported else None
    builtin = bool(facts.driven) and all(k.driver is Driver.BUILTIN for k in facts.driven)
    return Configured(seen, modprobe.read_options(view, include_ours=False), builtin)


class SetParameter(NamedTuple):
    """A parameter that is set. `overridden` lists the writers that lose against `source`. `untold` says that
    the value at the next boot is unknown because the boot loader inserts the value of a variable."""

    name: str
    next_boot: str | None
    source: str
    running: str | None
    overridden: tuple[str, ...]
    untold: bool = False


def set_parameters(
    view: HostView, modules: Sequence[str], loader: Detection | None
) -> tuple[SetParameter, ...]:
    """Return the parameters of `modules` that are set anywhere. A parameter that is not set has its default
    and is left out."""
    options = modprobe.read_options(view)
    kargs = next_boot_kargs(view, loader)
    running = Running(view)
    # grouped by parameter, because there may be as many parameters as lines
    by_name: dict[str, list[Karg]] = {}
    for karg in (*options, *kargs):
        if karg.of_module is not None and karg.of_module[0] in modules:
            by_name.setdefault(karg.key, []).append(karg)
    parameters = []
    for name, writers in by_name.items():
        *beaten, won = writers
        losers = tuple(w.source for w in beaten if won.untold or w.untold or not same(w.value, won.value))
        now = running.parameter(name).value
        parameters.append(SetParameter(name, won.value, won.source, now, losers, won.untold))
    return tuple(sorted(parameters))


def deviations(
    view: HostView, kernel: Kernel | None, set_here: Sequence[SetParameter], catalogue: Catalogue
) -> tuple[tuple[SetParameter, str], ...]:
    """Return parameters and their defaults on the running kernel: those that are set for the next boot or on
    the command line of this one, known or not, and those whose running value is not the default. A value that
    the driver replaces by itself is left out unless it is set. The default is empty if the catalogue does not
    know it."""
    shown = {p.name: p for p in set_here}
    running = Running(view)
    for karg in running.kargs:
        if "." in karg.key and karg.key.partition(".")[0] in catalogue.modules() and karg.key not in shown:
            now = running.parameter(karg.key)
            value = now.value if now.present else f"{karg.value}, ignored"
            shown[karg.key] = SetParameter(karg.key, None, karg.source, value, ())
    for entry in catalogue.parameters.values():
        default = default_of(entry.id, kernel, catalogue)
        hidden = entry.rewritten or entry.computed or not default
        if entry.id in shown or hidden:
            continue
        value = running.parameter(entry.id).value
        if value is not None and not same(value, default):
            shown[entry.id] = SetParameter(entry.id, None, "", value, ())
    return tuple((shown[name], default_of(name, kernel, catalogue)) for name in sorted(shown))


def default_of(name: str, kernel: Kernel | None, catalogue: Catalogue) -> str:
    """Return a parameter's default; empty if the kernel or the parameter is unknown, or if the neighbouring
    builds disagree."""
    parameter = catalogue.parameters.get(name)
    if parameter is None or kernel is None:
        return ""
    defaults = {epoch.default for epoch in parameter.on(kernel.version).variants}
    return defaults.pop() if len(defaults) == 1 else ""


def next_boot_kargs(view: HostView, loader: Detection | None) -> tuple[Karg, ...]:
    """Return the arguments of the entry that boots by default, each with the file that a user can edit;
    without a readable menu, the arguments of the running boot."""
    observed = registry.backend(loader.name).observe(view) if loader and loader.supported else None
    if observed is None or not observed.menu.normal:
        return Running(view).kargs
    written = {k.text: k for k in (*observed.foreign, *observed.ours)}
    return tuple(written.get(karg.text, karg) for karg in observed.menu.normal[0].kargs)
