"""Unified kernel images: an addon beside each, or their built-in line where the stub takes none.

Which way a host gets, and why: docs/decisions/0031.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import entry_options, loader_entries, marked_arguments, secure_boot
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.menu import Role
from rocmcfg.backends.boot.menu import check as check_menu
from rocmcfg.backends.boot.uki import addon, built_in, reader, refusals, signing
from rocmcfg.backends.boot.uki.built_in import DRACUT, Built
from rocmcfg.backends.boot.uki.reader import Uki
from rocmcfg.backends.boot.uki.way import normal, other_loader, says, takes_no_addon
from rocmcfg.host.view import Host, HostView, ToolFailed, Unwritable, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.facts import Detection
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting

NAME = reader.NAME
OWNED: tuple[str, ...] = (entry_options.CARRIER, DRACUT)
_HOW = "`rocmcfg plan` says the commands that sign it"
_SIGNING_TIMEOUT = 120.0  # seconds; a key on a token may be slow


def detect(view: HostView) -> Detection | None:
    found, told = reader.paths(view), reader.told(view)
    if not found and not told:
        return None
    return Detection(
        NAME,
        "unified kernel images",
        (*found[:3], *told),
        proof=bool(told) and not other_loader(view),
        supported=True,
        manual="add to the line that your images are built with, and build them anew: {kargs}",
    )


def _built(view: HostView) -> Built | None:
    """Where the arguments are built into the images; None where they get addons."""
    images = normal(view)
    return built_in.source(view) if images and takes_no_addon(view, images) else None


def observe(view: HostView) -> Observed:
    """What an addon adds that is loaded after ours comes later, also where ours is not there yet."""
    seen = reader.read(view)
    found = entry_options.observe(view, seen, entry_options.from_cmdline(view))
    behind = {k.text: k for entry in seen.normal for k in entry.kargs if reader.is_behind_ours(k.source)}
    later = tuple({**{k.text: k for k in found.later}, **behind}.values())
    first = [k for k in found.foreign if k not in found.later and k.text not in behind]
    return Observed(seen, (*first, *later), found.ours, later, (*first, *found.ours, *later))


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    proposed = entry_options.propose(settings)
    part = proposed[entry_options.CMDLINE]
    built = _built(view) if settings else None
    path = built.path if built is not None else ""
    return {
        **proposed,
        entry_options.CMDLINE: part if path == entry_options.CMDLINE else None,
        DRACUT: built_in.for_dracut(part.decode()) if part is not None and path == DRACUT else None,
    }


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    """Images that were built with our part are built anew also where addons have taken its place."""
    images = normal(view)
    built = _built(view)
    if built is None and any(marked_arguments.BEGIN in uki.line for uki in images):
        built = built_in.source(view)
    commands = built.commands if built is not None and view.runs_tools else ()
    signed = [uki.path for uki in images if uki.image is not None and uki.image.signed and commands]
    commands += tuple(argv for path in signed if (argv := signing.command(view, path)))
    if images and secure_boot.state(view) == secure_boot.ON and built is None:
        signed_by = " ".join(signing.command(view, images[0].own_addon)[:2])
        reason += f", and `{signed_by}` signs each addon" if signed_by else ""
    folders = dict.fromkeys(uki.path.rpartition("/")[0] for uki in images)
    return (Activation(NAME, commands, reason, writes_at=tuple(folders), own=True),)


def write_entries(host: Host) -> None:
    """As `contract.EntryWriter`. An addon that says the same, signed by whoever, is left as it is."""
    asked = entry_options.asked(host) if _built(host) is None else ""
    line = marked_arguments.part(asked).decode().strip() if asked else ""
    enforced = secure_boot.state(host) == secure_boot.ON
    images = normal(host) if line else ()
    wanted = {host.real_path(uki.addons) for uki in images}
    for folder in reader.with_own_addon(host):
        if host.real_path(folder) not in wanted:  # also of an image that is gone
            host.remove(f"{folder}/{reader.OURS}")
            host.remove_dir(folder)  # stays where somebody else uses it
    for uki in images:
        if host.is_dir(uki.addons):
            host.discard_temporary(uki.own_addon)
        if not says(host, uki, line, enforced):
            _write(host, uki, line, enforced)


def _write(host: Host, uki: Uki, line: str, enforced: bool) -> None:
    content = addon.made_of_stub(host, uki.image.machine if uki.image else 0, line)
    host.make_dir(uki.addons, 0o755)
    host.write(uki.own_addon, host.new_file(content, 0o644), keep_mtime=False)
    if not enforced:
        return
    argv = signing.command(host, uki.own_addon)
    if not argv:
        raise Unwritable(uki.own_addon, "Secure Boot is on, and no key is known to sign it with", _HOW)
    result = host.execute(argv, timeout=_SIGNING_TIMEOUT, progress=lambda: None)
    if not result.ok or not says(host, uki, line, enforced):
        raise ToolFailed(result, "did not sign it", "run it by hand, and see what it says")


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    return list(refusals.preflight(view, observed, kargs))


def unmanaged(view: HostView) -> list[Diagnostic]:
    found = list(reader.images(view))
    problems = [
        warning(
            "RC3161",
            f"{uki.path} is left alone: {uki.damage.reason}",
            location=uki.path,
            hint="build it anew; it does not boot as it is",
        )
        for uki in found
        if uki.damage is not None
    ]
    hidden = [uki.path for uki in found if uki.role is Role.NORMAL and uki.hides_addons]
    if hidden:
        problems.append(
            warning(
                "RC3167",
                f"{hidden[0]} boots without the arguments until its boot counter is done",
                detail="its stub looks for addons by a name that changes with each try",
                hint="systemd-bless-boot.service takes the counter off after a good boot",
            )
        )
    return [*problems, *_beside(view)]


def _beside(view: HostView) -> list[Diagnostic]:
    """Entries that are files, which systemd-boot shows together with the images."""
    own = text_or_empty(view, "/etc/machine-id").strip()
    others = [one.title for one in loader_entries.read(view, own) if one.role is Role.NORMAL]
    if not others:
        return []
    return [
        warning(
            "RC3169",
            f"{len(others)} boot entries beside the images do not get the arguments: {', '.join(others[:3])}",
            hint="boot an image instead of them, or write module parameters to modprobe.d: --via modprobe",
        )
    ]


def check(view: HostView, wanted: Sequence[str], unwanted: Sequence[str]) -> list[Diagnostic]:
    return check_menu(reader.read(view), wanted, unwanted)
