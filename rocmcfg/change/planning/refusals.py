"""Find out why a host cannot be configured, or not safely: containers, boot loaders, image generators,
foreign values; and which settings on record a kernel refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocmcfg import initramfs
from rocmcfg.change.planning.combine import named
from rocmcfg.change.planning.wording import worded
from rocmcfg.files import modprobe
from rocmcfg.host.state_dir import STATE_DIR
from rocmcfg.host.view import HostView
from rocmcfg.initramfs import Generator, Image
from rocmcfg.judging.judge import judge
from rocmcfg.judging.verdict import REFUSED, About, Verdict
from rocmcfg.loaders import detection
from rocmcfg.loaders.shared.contract import Observed
from rocmcfg.loaders.shared.menu import Entry, behind_separator
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.desired import Channel, DesiredSetting, unique_kargs
from rocmcfg.model.diagnostic import Diagnostic, error, info, warning
from rocmcfg.model.facts import Detection, Driver, Facts, Kernel, Machine
from rocmcfg.model.kargs import Karg, join, split
from rocmcfg.model.request import Request, render_line
from rocmcfg.model.spelling import parameter
from rocmcfg.model.spelling import split as spelled
from rocmcfg.records import journal
from rocmcfg.records.receipt import Receipt


def host_problems(
    view: HostView,
    facts: Facts,
    desired: Sequence[DesiredSetting],
    catalogue: Catalogue,
    entries: Sequence[Entry],
    request: Request,
) -> Iterable[Diagnostic]:
    """Yield what prevents this host from getting the settings. `entries` are those of the boot menu, as far
    as it can be read; `request` is what the settings come from."""
    if facts.container:
        summary = "this is a container: the kernel belongs to the host outside it"
        hint = "run rocmcfg on that host; for variables alone, use `rocmcfg env` or `rocmcfg run -- PROGRAM`"
        yield error("RC3010", summary, location=facts.container, hint=hint)
        return
    ours = [s for s in desired if s.parameter.partition(".")[0] in catalogue.modules()]
    if ours and facts.kernels and not facts.driven:
        detail = "kernels: " + ", ".join(kernel.release for kernel in facts.kernels)
        hint = "first install the kernel's module package (Ubuntu: linux-modules-extra-…) or AMD's driver"
        yield error("RC3011", "no installed kernel has an amdgpu driver", detail=detail, hint=hint)
    if any(s.parameter for s in desired) and not facts.kernels:
        summary = "no installed kernel was found, so no value could be checked against one"
        yield warning("RC3012", summary, location="/lib/modules")
    if facts.kernels and any(not kernel.parameters for kernel in facts.driven):
        yield info(
            "RC3013",
            "the catalogue is used instead of modinfo, which reported nothing about kernel "
            + ", ".join(kernel.release for kernel in facts.driven if not kernel.parameters),
        )
    if any(s.channel is Channel.CMDLINE for s in desired):
        yield from _loader_problems(facts, [s for s in desired if s.channel is Channel.CMDLINE], request)
    if any(s.channel is Channel.MODPROBE for s in desired):
        options = [s for s in desired if s.channel is Channel.MODPROBE]
        yield from _generator_problems(view, facts, options, entries)


def swallowed(
    view: HostView, facts: Facts, desired: Sequence[DesiredSetting], boot: Observed | None
) -> Iterable[Diagnostic]:
    """Yield an error for module parameters that would not be read because of what comes before them in
    foreign files or on the kernel command line."""
    modules = {s.parameter.partition(".")[0].replace("-", "_") for s in desired if s.parameter}
    yield from modprobe.unfit(view, modules)
    built_in = any(kernel.driver is Driver.BUILTIN for kernel in facts.kernels)
    if built_in and boot is not None:
        foreign = [*boot.foreign, *(karg for entry in boot.menu.normal for karg in entry.kargs)]
        on_line = [s.karg for s in desired if s.channel is Channel.CMDLINE and s.parameter]
        yield from behind_separator(foreign, on_line, built_in=True)


def newer_kernel(facts: Facts) -> Iterable[Diagnostic]:
    """Yield a remark if a newer kernel is installed: the boot that applies the settings would also start that
    kernel."""
    if facts.newer_kernel is not None:
        release = facts.newer_kernel.release
        summary = f"kernel {release} is newer than the running kernel: the next boot may start it"
        yield info("RC3027", summary, hint="to change only one thing at a time, reboot before you apply")


def _loader_problems(
    facts: Facts, settings: Sequence[DesiredSetting], request: Request
) -> Iterable[Diagnostic]:
    kargs = split(join(Karg(s.karg) for s in settings))
    loader = facts.boot.loader
    if loader is None:
        seen = "\n".join(f"{c.name}: {', '.join(c.evidence)}" for c in facts.boot.candidates)
        several = len(facts.boot.candidates) > 1
        if facts.boot.hidden:
            yield error("RC3014", facts.boot.refusal, location=facts.boot.hidden)
            return
        yield error(
            "RC3014",
            facts.boot.refusal,
            detail=seen or f"add these arguments to your boot loader's configuration manually: {join(kargs)}",
            hint="say which one boots this host: --boot-backend "
            + " or ".join(c.name for c in facts.boot.candidates)
            if several
            else "use modprobe.d instead, where that is possible: --via modprobe. Variables need "
            "no boot loader: `rocmcfg run --profile NAME -- PROGRAM`",
        )
    elif not loader.supported:
        yield _by_hand("RC3015", loader, detection.manual_lines(loader, kargs), "the boot loader", request)


def _generator_problems(
    view: HostView, facts: Facts, settings: Sequence[DesiredSetting], entries: Sequence[Entry]
) -> Iterable[Diagnostic]:
    lines = "\n".join(f"  {modprobe.line(setting)}" for setting in unique_kargs(settings))
    generators = initramfs.in_use(facts.boot.initramfs)
    if len(generators) > 1:
        programs = " and ".join(generator.title for generator in generators)
        evidence = [f"{generator.name}: {', '.join(generator.evidence)}" for generator in generators]
        yield error(
            "RC3205",
            f"{programs} are both installed, and it cannot be determined which one builds the images",
            detail="\n".join(evidence),
            hint="remove the one that is not used; or use the kernel command line instead: --via cmdline",
        )
    elif generators and not generators[0].supported:
        manual = f"write to /etc/modprobe.d/:\n{lines}\nthen: {generators[0].manual}"
        yield _by_hand("RC3016", generators[0], manual, "the initramfs generator")
    names = [name for name in view.names("/boot") if name.startswith(("initrd", "initramfs"))]
    images = [*initramfs.booted(view, entries), *(f"/boot/{name}" for name in names)]
    if images and not generators:
        summary = "there are initramfs images, but no generator that rocmcfg knows"
        detail = f"the copy of modprobe.d in them would not be updated; by hand:\n{lines}"
        hint = "use the kernel command line instead: --via cmdline"
        yield error("RC3018", summary, location=images[0], detail=detail, hint=hint)


def image_problems(view: HostView, generator: Generator, images: Sequence[Image]) -> Iterable[Diagnostic]:
    """Yield, before anything is written, a problem for each image that would not get rocmcfg's options, or
    that could not be checked for them."""
    for image in images:
        if image.carries is None:
            yield error(
                "RC3019",
                f"{image.path} cannot be read, so it could not be checked that it was rebuilt",
                location=image.path,
                hint=f"see what `{generator.LOOKS} {image.path}` says; rebuild it ({generator.MANUAL}), or "
                "remove it if no kernel uses it; or use the kernel command line instead: --via cmdline",
            )
        elif image.carries and not image.built:
            yield error(
                "RC3207",
                f"{image.path} contains amdgpu, but was not written by {generator.NAME} as far as rocmcfg "
                "can tell",
                location=image.path,
                detail="its copy of modprobe.d would not change: another program copied or named the image, "
                "or the modules of its kernel are gone",
                hint="use the kernel command line instead: --via cmdline; or, if the image is a leftover, "
                "remove the entry that boots it",
            )
    yield from generator.preflight(view, [image for image in images if image.carries])


def no_way_back(view: HostView, paths: Sequence[str]) -> Iterable[Diagnostic]:
    """Yield a warning if there is no room to copy the images before they are rebuilt."""
    size = sum(map(view.size, paths))
    if not journal.has_room(view, size):
        had, need, free = (n >> 20 for n in (size, 3 * size, view.free(STATE_DIR)))
        yield warning(
            "RC3208",
            "today's images cannot be restored: there is no room to copy them before they are rebuilt",
            location=STATE_DIR,
            detail=f"they take {had} MiB, and twice as much must stay free: of the {need} MiB needed, {free} "
            "MiB are free",
            hint="free that much, or keep another image that boots; or use the kernel command line instead: "
            "--via cmdline",
        )


def _by_hand(
    id: str, program: Detection, manual: str, what: str, request: Request | None = None
) -> Diagnostic:
    profiles = " --profile ".join((request and request.profiles) or ("NAME",))
    proves = f"`rocmcfg verify --profile {profiles}` then checks"
    back = "mount its partition, or restore it from its package or a copy; or " if program.lacks else ""
    summary = f"{what} of this host is {program.title}, {program.refusal}"
    hint = f"{back}add the lines manually as shown; {proves} them"
    if program.renders and request is not None:
        summary = f"this host is {program.title}: the kernel arguments come from its own configuration"
        hint = f"`{render_line(request, program.renders)}` prints the text for it; {proves} the host"
    return error(id, summary, detail=f"found: {', '.join(program.evidence)}\nmanually: {manual}", hint=hint)


def _told(
    settings: Iterable[DesiredSetting], machine: Machine, catalogue: Catalogue
) -> Iterator[tuple[DesiredSetting, Verdict, Diagnostic]]:
    """Yield each remark on settings that were resolved earlier, judged for the kernels of a machine."""
    for setting in settings:
        if setting.parameter and setting.text is not None and machine.kernels:
            spelling = parameter(setting.parameter, setting.text)
            for verdict in judge(spelling, machine, catalogue):
                diagnostic = worded(verdict, spelling, setting.location, catalogue, machine)
                if diagnostic is not None:
                    yield setting, verdict, diagnostic


def refused(settings: Iterable[DesiredSetting], facts: Facts, catalogue: Catalogue) -> list[Diagnostic]:
    """Return an error for each value that would keep the driver of an installed kernel from loading."""
    judged = _told(settings, facts.machine, catalogue)
    return [diagnostic for _, verdict, diagnostic in judged if verdict.about in REFUSED and verdict.holds]


def judged_on(kernel: Kernel, receipt: Receipt, catalogue: Catalogue) -> tuple[list[Diagnostic], list[str]]:
    """Return the remarks on the settings for a kernel that was just installed, and the ids of the settings
    that must be withdrawn."""
    settings = (setting._replace(location="") for setting in receipt.settings)
    remarks: list[Diagnostic] = []
    harmful: list[str] = []
    for setting, verdict, diagnostic in _told(settings, Machine((kernel,)), catalogue):
        if verdict.about is About.ABSENT:
            lacks = f"kernel {kernel.release} has no {setting.parameter}: {setting.id} has no effect there"
            hint = f"drop it with `rocmcfg apply … --without {setting.id}`"
            remarks.append(warning("RC4041", lacks, hint=hint))
        elif verdict.about is About.ILLEGAL and verdict.holds:
            remarks.append(diagnostic)
            harmful.append(setting.id)
    return remarks, harmful


def request_without(receipt: Receipt, harmful: Sequence[str]) -> Request:
    """Return the request as the user would have made it without these settings."""
    request = receipt.request
    by_hand = {setting.id for setting in receipt.settings if not setting.profile}
    return request._replace(
        with_=tuple(name for name in request.with_ if not any(named(id, [name]) for id in harmful)),
        without=(*request.without, *(id for id in harmful if id not in by_hand)),
        set=tuple(text for text in request.set if not named(spelled(text).id.removeprefix("karg."), harmful)),
    )
