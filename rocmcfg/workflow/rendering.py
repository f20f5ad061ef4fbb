"""Render profiles as the configuration of a system that rocmcfg does not change itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import rocmcfg
from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.change.planning.automatic import expand_auto
from rocmcfg.change.planning.resolve import resolve
from rocmcfg.facts.system import UNKNOWN
from rocmcfg.host.view import HostView
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.loaders.shared.specials import not_handed_on
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.desired import DesiredSetting, Skipped, unique_kargs
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.facts import ROCM_NAMED, BootChain, Driver, Facts, Gpu, Kernel
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.version import parse_kernel
from rocmcfg.state.values import Effective, read_configured
from rocmcfg.workflow.planning import collect_facts, errors_first, require_no_errors

if TYPE_CHECKING:
    from rocmcfg.change.rendering.formats import Rendering


@published("format", "reader", "use", "text", "settings=settings.spelled", "skipped")
class Rendered(NamedTuple):
    """A rendering. `reader` is the program that reads the text, and `use` says how to get it there."""

    format: str
    reader: str
    use: str
    text: str
    settings: tuple[DesiredSetting, ...]
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]


def render(view: HostView, request: Request, format: str, machine: Options) -> Rendered:
    """Render the profiles for `machine`. If that is empty, render them for the host of the view, provided
    that it has an AMD GPU or is mounted. Raise RocmcfgError with every reason against it."""
    from rocmcfg.change.rendering.formats import FORMATS, of_settings
    from rocmcfg.change.rendering.formats import render as rendered

    knowledge = catalogue.load()
    given, facts = machine != Options(), _said(machine, knowledge)
    if not given:
        here = collect_facts(view)
        # a host without an AMD GPU renders for another machine; the kernels of a mounted image count anyway
        given = not here.gpus and not view.offline
        facts = facts if given else here
    base = (lambda _: Effective()) if given else read_configured(view, facts).effective
    names, remarks = expand_auto(view, request, facts.gpus)
    # Images may be built on any machine.
    request = request._replace(any_gpu=request.any_gpu or not facts.gpus)
    resolution = resolve(profiles.load(view, names), request, facts, knowledge, base)
    renderer, rendering = FORMATS[format], of_settings(format, resolution.desired)
    unfit = [
        problem
        for setting, text in rendering.kargs
        for problem in not_handed_on(renderer.special, [text], setting.location)
    ]
    apart = list(_cannot_set(renderer.reader, rendering))
    problems = errors_first((*remarks, *resolution.diagnostics, *unfit, *apart))
    require_no_errors(problems)
    skipped = [
        Skipped(setting.id, f"{renderer.reader} cannot set it; set it {where}", setting.profile)
        for where, settings in rendering.elsewhere
        for setting in settings
    ]
    set_here = tuple(s for s in resolution.desired if s.id not in {each.setting for each in skipped})
    head = [
        f"Rendered by rocmcfg {rocmcfg.__version__} for {_named(facts)}:",
        f"profile {', '.join(names) or 'none'}, {len(set_here)} settings; see rocmcfg explain NAME",
        f"Use: {renderer.use}",
    ]
    check = renderer.check or (names and f"rocmcfg verify --profile {' --profile '.join(names)}")
    if check:
        head.append(f"To check it after a reboot: {check}")
    text = rendered(format, rendering, head)
    return Rendered(
        format,
        renderer.reader,
        renderer.use,
        text,
        set_here,
        (*resolution.skipped, *skipped),
        tuple(problems),
    )


def _cannot_set(reader: str, rendering: Rendering) -> Iterator[Diagnostic]:
    """Yield what the reader of the format cannot set: an error if that is everything."""
    for where, settings in rendering.elsewhere:
        beyond = ", ".join(setting.karg for setting in unique_kargs(settings))
        if rendering.is_empty:
            yield error(
                "RC2035", f"{reader} can set none of these settings: {beyond}", hint=f"set them {where}"
            )
        else:
            yield warning("RC2034", f"{reader} cannot set {beyond}", hint=f"set them {where}")


def _said(machine: Options, knowledge: Catalogue) -> Facts:
    """Return the facts that the options state about another machine. All else is unknown, and settings that
    depend on it are applied."""
    version = parse_kernel(machine.kernel)
    models = {model.gfx: model for model in knowledge.gpus}
    return Facts(
        UNKNOWN,
        (Kernel(machine.kernel, version, Driver.MODULE),) if version else (),
        machine.kernel,
        tuple(Gpu(m.gfx, m.products, "pci", integrated=m.apu) for m in map(models.__getitem__, machine.gfx)),
        machine.rocm,
        ROCM_NAMED,
        BootChain(None, (), ()),
        "",
        offline=True,
    )


def _named(facts: Facts) -> str:
    kernel = f"kernel {facts.running}" if facts.running else "any kernel"
    rocm = f"ROCm {facts.rocm_text}" if facts.rocm else "any ROCm"
    return f"{', '.join(facts.gfx) or 'any GPU'}, {kernel}, {rocm}"
