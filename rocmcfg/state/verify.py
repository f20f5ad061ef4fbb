"""Compare the desired, configured and running value of each setting. Read the receipt and the host, change
nothing, and import no heavy library: people run this after every boot."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocmcfg.files import env_update, environment, environment_targets, modprobe
from rocmcfg.files.environment import Assignment
from rocmcfg.host.view import HostView
from rocmcfg.loaders import detection, registry
from rocmcfg.loaders.shared import marked_arguments
from rocmcfg.loaders.shared.menu import Entry
from rocmcfg.model.checks import OFFLINE, PASSES, Check, CheckStatus, VerificationReport
from rocmcfg.model.desired import Channel, DesiredSetting, Kind
from rocmcfg.model.diagnostic import Severity
from rocmcfg.model.kargs import Karg, adds_up, contains, last, read_by_kernel
from rocmcfg.model.request import command_line
from rocmcfg.model.spelling import ParamType, as_number, hexint, printed, same
from rocmcfg.records.receipt import Receipt, boot_id
from rocmcfg.state.own_files import as_left, changed_files
from rocmcfg.state.reboot import not_booted
from rocmcfg.state.remarks import remarks
from rocmcfg.state.values import Effective, Running, RunningValue, effective, environment_of
from rocmcfg.state.verified_host import Verdict, VerifiedHost


def verify(
    view: HostView,
    settings: Sequence[DesiredSetting],
    receipt: Receipt | None,
    profiles: tuple[str, ...],
    pid: int | None = None,
) -> VerificationReport:
    """Compare settings with the host. `receipt` is None to check a profile that was not applied: then only
    values count, not files. Raise Unreadable if `pid` is given and its environment cannot be read."""
    host = _look(view, settings, receipt, pid)
    checks = [_check(host, setting) for setting in settings]
    checks += [_by_hand(host, setting) for setting in (receipt.by_hand if receipt else ())]
    transaction = receipt.transaction if receipt else None
    problems = changed_files(view, receipt)
    torn = marked_arguments.torn(host.menu.normal if host.menu else ())
    problems += (problem._replace(severity=Severity.WARNING) for problem in torn)
    problems += remarks(checks, host.menu if host.hides_arguments else None, view.root)
    due = tuple(host.due)
    return VerificationReport(
        profiles, transaction, tuple(checks), tuple(problems), program_due=due, again=host.again
    )


def _look(
    view: HostView, settings: Sequence[DesiredSetting], receipt: Receipt | None, pid: int | None = None
) -> VerifiedHost:
    reader = registry.reader(receipt.boot_backend) if receipt else detection.reader_on(view)
    variables = any(s.kind is Kind.ENV for s in settings)
    targets = receipt.request.env_target if receipt else ()
    return VerifiedHost(
        view,
        Running(view),
        modprobe.read_options(view),
        reader.NAME if reader else "",
        reader.read(view) if reader else None,
        receipt,
        _env_files(view, receipt, targets) if variables else {},
        environment_targets.later_assignments(view, targets) if variables else {},
        environment_of(view, pid) if pid is not None else None,
        {},
        f"sudo {command_line(receipt.request, view.root)}{' --chroot' * view.offline}" if receipt else "",
    )


def _env_files(
    view: HostView, receipt: Receipt | None, targets: Sequence[str]
) -> dict[str, dict[str, Assignment]]:
    """Return, by file, the variables that it sets, for each file that must have every variable. If nothing is
    applied, any file may have them."""
    if receipt is None:
        return {"": {assignment.name: assignment for assignment in environment.for_everybody(view)}}
    read = (environment_targets.read(view, target) for target in environment_targets.chosen(targets))
    return {path: assignments for files in read for path, assignments in files.items()}


def verify_running(
    view: HostView, settings: Sequence[DesiredSetting], receipt: Receipt | None
) -> tuple[Check, ...]:
    """Compare settings with the running kernel alone, for a boot whose settings are not those of the files.
    The configured value is the one that the next boot will have."""
    host = _look(view, settings, receipt)
    kernel = host._replace(menu=None, receipt=None)
    return tuple(_check(kernel, s)._replace(configured=_check(host, s).configured) for s in settings)


def _check(host: VerifiedHost, setting: DesiredSetting) -> Check:
    look = _variable if setting.kind is Kind.ENV else _parameter if setting.parameter else _karg
    return look(host, setting)


def _by_hand(host: VerifiedHost, setting: DesiredSetting) -> Check:
    """Check a kernel argument that apply left to the user because it does not configure the boot loader: only
    the running kernel shows whether it was added."""
    check = _check(host._replace(receipt=None, menu=None), setting)
    if check.status in PASSES:
        return check
    detail = f"add {setting.karg} to the kernel line of the boot loader, then reboot"
    return check._replace(configured=None, status=CheckStatus.LEFT_TO_YOU, detail=detail)


def _parameter(host: VerifiedHost, setting: DesiredSetting) -> Check:
    now = host.running.parameter(setting.parameter)
    configured = _configured(host, setting)
    status, detail = _parameter_status(host, setting, configured, now)
    overridden = status in (CheckStatus.OVERRIDDEN, CheckStatus.CANNOT_BE_TOLD)
    source = _overrider(host, setting, configured) if overridden else _file_of(host, setting)
    desired, target = _like_kernel(setting.text, now.value), setting.channel.value
    return Check(setting.id, target, desired, configured.value, now.value, status, source, detail)


def _overrider(host: VerifiedHost, setting: DesiredSetting, configured: Effective) -> str:
    """Return the file that a user can edit, instead of the generated menu."""
    if host.menu is not None and configured.source.startswith(host.menu.path):
        written = last(registry.backend(host.loader).observe(host.view).foreign, setting.parameter)
        if written is not None and same(written.value, configured.value):
            return written.source
    return configured.source


def _configured(host: VerifiedHost, setting: DesiredSetting) -> Effective:
    """Return the value at the next boot. If an entry differs, return that one's, because any entry may be
    booted. Return nothing if the arguments of the menu cannot be read."""
    if host.hides_arguments and setting.channel is Channel.CMDLINE:
        return Effective()
    if host.entries is None:
        kargs: tuple[Karg, ...] = host.running.kargs if host.menu is None else ()
        return effective(setting.parameter, host.options, kargs)
    values = [effective(setting.parameter, host.options, entry.kargs) for entry in host.entries]
    wrong = [e for e in values if not same(e.value, setting.text)]
    return (wrong or values or [effective(setting.parameter, host.options, ())])[0]


def _parameter_status(
    host: VerifiedHost, setting: DesiredSetting, configured: Effective, now: RunningValue
) -> Verdict:
    module = setting.parameter.partition(".")[0]
    trouble = _configured_trouble(host, setting, configured)
    if trouble:
        return trouble
    if not host.running.known:
        return _unseen(host)
    if not now.readable:
        return CheckStatus.NOT_READABLE, "only root may read this parameter: run `rocmcfg verify` with sudo"
    if not host.running.loaded(module):
        return CheckStatus.NOT_LOADED, f"module {module} is not loaded"
    if not now.present:
        return CheckStatus.UNKNOWN_PARAMETER, "the running kernel has no such parameter and ignores it"
    if same(now.value, setting.text):
        return CheckStatus.IN_EFFECT, ""
    if not _booted_with(host, setting):
        return _not_booted(host)
    if setting.rewritten:
        return CheckStatus.REWRITTEN_BY_DRIVER, "the driver replaced the value when it started"
    return CheckStatus.DRIFT, "changed since this boot set it (a reboot resets it), or replaced by the driver"


def _not_booted(host: VerifiedHost) -> Verdict:
    if host.receipt is None and host.hides_arguments and host.menu is not None:
        return (
            CheckStatus.NOT_READABLE,
            f"not in this boot, and {host.menu.path} is unreadable",
        )
    return not_booted(host.view, host.receipt, host.loader)


def _unseen(host: VerifiedHost) -> Verdict:
    if host.view.offline:
        return CheckStatus.IN_EFFECT, OFFLINE
    return CheckStatus.NOT_READABLE, "/proc is not mounted, so the running kernel cannot be checked"


def _configured_trouble(host: VerifiedHost, setting: DesiredSetting, configured: Effective) -> Verdict | None:
    """Return what is wrong with the files and the generated menu, before the running kernel is checked; None
    if nothing is wrong."""
    if not as_left(host.view, host.receipt, _file_of(host, setting)):
        return CheckStatus.DRIFT, f"{_file_of(host, setting)} was changed or removed"
    if setting.channel is Channel.CMDLINE and host.hides_arguments:
        return None  # the running kernel decides
    if setting.channel is Channel.CMDLINE and host.menu and host.menu.unreadable and host.receipt:
        return CheckStatus.DRIFT, f"{host.menu.path}: {host.menu.unreadable}"
    if configured.untold:
        return CheckStatus.CANNOT_BE_TOLD, f"the value that {configured.source} gives it cannot be determined"
    if same(configured.value, setting.text) and configured.value is not None:
        generator = host.generator_left
        if setting.channel is Channel.MODPROBE and generator and not _proven(host, setting):
            return host.waits_for(generator)
        return None
    if _written_by_us(host, setting):
        if configured.value is not None and configured.source:
            return CheckStatus.OVERRIDDEN, f"{configured.source} wins"
        return None
    if setting.channel is Channel.CMDLINE and host.receipt is not None:
        return _menu_lacks_it(host, setting)
    if configured.value is None:
        absent = CheckStatus.NOT_SET if host.receipt is None else CheckStatus.DRIFT
        return absent, "it is not configured"
    return CheckStatus.OVERRIDDEN, f"{configured.source} sets it to {configured.value}"


def _not_in_menu(host: VerifiedHost, setting: DesiredSetting, lacking: Sequence[Entry]) -> Verdict:
    """Return what the menu has in place of an argument that rocmcfg did not apply."""
    path = host.menu.path if host.menu is not None else "the boot menu"
    winners = [last(read_by_kernel(entry.kargs), setting.name) for entry in lacking]
    other = next(filter(None, winners), None)
    if other is not None:
        return CheckStatus.OVERRIDDEN, f"{path} sets it to {other.value or 'no value'}"
    if len(lacking) < len(host.entries or ()):
        return CheckStatus.NOT_SET, f"{path} does not have it in every entry"
    return CheckStatus.NOT_SET, f"{path} does not have it"


def _menu_lacks_it(host: VerifiedHost, setting: DesiredSetting) -> Verdict:
    if host.menu is not None and host.left(host.menu.tool):
        return host.waits_for(host.menu.tool)
    deployment = host.receipt.deployment if host.receipt else ""
    if deployment and host.menu is not None and deployment not in (entry.id for entry in host.menu.entries):
        short = re.sub(r"([0-9a-f]{10})[0-9a-f]+", r"\1…", deployment)  # fedora-3c6dad6571….1
        return CheckStatus.DRIFT, (
            f"the deployment that got it ({short}) does not exist: it was dropped, or was not "
            "finalized when the host shut down (journalctl -b -1 -u ostree-finalize-staged)"
        )
    kept = registry.argument_keeper(host.loader) is not None
    owners, _, _ = setting.adopted_from.rpartition(":")
    if owners and not contains(registry.backend(host.loader).observe(host.view).foreign, setting.karg):
        return CheckStatus.DRIFT, f"{owners} no longer has it; to add it again: {host.again}"
    generates = host.menu is not None and host.menu.tool and not kept
    by_hand = f", or run {host.menu.tool}" if host.menu is not None and generates else ""
    return CheckStatus.DRIFT, f"the boot menu does not have it: apply again{by_hand}"


def _proven(host: VerifiedHost, setting: DesiredSetting) -> bool:
    """Return whether a later boot shows the value, which proves that the image was rebuilt."""
    return _booted_with(host, setting) and same(host.running.parameter(setting.parameter).value, setting.text)


def _written_by_us(host: VerifiedHost, setting: DesiredSetting) -> bool:
    """Return whether rocmcfg's own line is in place everywhere, so that another line must win."""
    if setting.channel is Channel.MODPROBE:
        return any(
            option.source.startswith(modprobe.PATH) and option.key == setting.parameter
            for option in host.options
        )
    return bool(host.entries) and all(contains(e.kargs, setting.karg) for e in host.entries or ())


def _booted_with(host: VerifiedHost, setting: DesiredSetting) -> bool:
    """Return whether the running boot carried the setting, rather than only the files of the next boot."""
    own = last(host.running.kargs, setting.parameter)
    if own is not None and same(own.value, setting.text):
        return True  # also for modprobe.d: the trial had it on the command line
    if setting.channel is Channel.CMDLINE:
        return False
    return host.receipt is not None and host.receipt.boot_id != boot_id(host.view)


def _file_of(host: VerifiedHost, setting: DesiredSetting) -> str:
    if setting.adopted_from:
        return setting.adopted_from
    if setting.channel is Channel.MODPROBE:
        return modprobe.PATH
    return host.menu.carrier if host.menu else "the kernel command line"


def _like_kernel(text: str | None, running: str | None) -> str | None:
    """Return the desired value in the spelling in which the kernel prints this parameter."""
    number = as_number(text)
    if text is None or number is None or running is None:
        return text
    if running in ("Y", "N"):
        return printed(ParamType.BOOL, text)
    return hexint(number) if running.startswith("0x") else str(number)


def _karg(host: VerifiedHost, setting: DesiredSetting) -> Check:
    now = host.running.karg(setting.name)
    entries = host.entries or ()
    lacking = [e for e in entries if not contains(read_by_kernel(e.kargs), setting.karg)]
    beaten = [e for e in entries if e not in lacking and not _counts(e.kargs, setting)]
    carried = _counts(host.running.kargs, setting)
    status, detail = _karg_status(host, setting, carried, lacking, beaten)
    desired = "present" if setting.text is None else setting.text
    running = desired if carried else ("present" if now.present and now.value is None else now.value)
    shown = None if host.entries is None or not entries else desired
    if lacking or beaten:
        winner = last(read_by_kernel((lacking or beaten)[0].kargs), setting.name)
        shown = winner.value if winner else None
    source = _file_of(host, setting)
    if status is CheckStatus.OVERRIDDEN and host.menu is not None:
        written = last(registry.backend(host.loader).observe(host.view).foreign, setting.name)
        source = written.source if written is not None else host.menu.path
    return Check(setting.id, setting.channel.value, desired, shown, running, status, source, detail)


def _counts(kargs: Sequence[Karg], setting: DesiredSetting) -> bool:
    """Return whether the kernel uses rocmcfg's argument: the last one of its name wins, except for arguments
    that add up."""
    read = read_by_kernel(kargs)
    winner = last(read, setting.name)
    if adds_up(setting.name):
        return contains(read, setting.karg)
    return winner is not None and not winner.untold and winner.value == setting.text


def _karg_status(
    host: VerifiedHost,
    setting: DesiredSetting,
    carried: bool,
    lacking: Sequence[Entry],
    beaten: Sequence[Entry],
) -> Verdict:
    if not as_left(host.view, host.receipt, _file_of(host, setting)):
        return CheckStatus.DRIFT, f"{_file_of(host, setting)} was changed or removed"
    if lacking or (host.entries is not None and not host.entries):
        return _menu_lacks_it(host, setting) if host.receipt else _not_in_menu(host, setting, lacking)
    if beaten:
        winner = last(read_by_kernel(beaten[0].kargs), setting.name)
        if winner is not None and winner.untold:
            return (
                CheckStatus.CANNOT_BE_TOLD,
                f"the value of a later {winner.text}, which the boot loader expands, cannot be determined",
            )
        return CheckStatus.OVERRIDDEN, f"a later {winner.text if winner else 'argument'} wins"
    if not host.running.known:
        return _unseen(host)
    if carried:
        return CheckStatus.IN_EFFECT, ""
    if contains(host.running.kargs, setting.karg):
        return CheckStatus.DRIFT, "this boot had it, but another argument won"
    return _not_booted(host)


def _variable(host: VerifiedHost, setting: DesiredSetting) -> Check:
    values = {path: by_name.get(setting.name) for path, by_name in host.env_files.items()}
    wrong = [path for path, held in values.items() if held is None or held.value != setting.text]
    later = host.later.get(setting.name)
    made = set(environment_targets.GENTOO.results)
    if later is not None and set(wrong) <= made:
        wrong = []  # the files generated from rocmcfg's file and a later one hold the value of the later one
    changed = [path for path in values if not as_left(host.view, host.receipt, path)]
    shown = values[wrong[0]] if wrong else next(iter(values.values()))
    configured = shown.value if shown else None
    source = wrong[0] if wrong else next(iter(values)) or (shown.source if shown else "")
    generator = env_update.TOOL
    running = host.pid_environment.get(setting.name) if host.pid_environment is not None else None
    status, detail = CheckStatus.IN_EFFECT, "new processes get it"
    if wrong and set(wrong) <= made and host.left(generator):
        status, detail = host.waits_for(generator)
    elif wrong and shown is not None and shown.value is None and not changed:
        status, detail, source = CheckStatus.CANNOT_BE_TOLD, "whether it is set is unknown", shown.source
    elif wrong:
        missing = f"{wrong[0]} does not have it" if wrong[0] else "no file sets it for all users"
        reason = f"{shown.source} sets it to {shown.value}" if shown else missing
        absent = CheckStatus.OVERRIDDEN if shown else CheckStatus.NOT_SET
        status, detail = CheckStatus.DRIFT if host.receipt else absent, reason
    elif changed:  # a line before rocmcfg's may end the file, or set the variable again
        status, detail, source = CheckStatus.DRIFT, f"{changed[0]} was changed", changed[0]
    elif later is not None and later.value is None:
        source = later.source
        status, detail = CheckStatus.CANNOT_BE_TOLD, f"it cannot be determined whether {source} sets it again"
    elif later is not None and later.value != setting.text:
        configured, source = later.value, later.source
        does = f"sets it to {later.value}" if later.value else "unsets it or leaves it empty"
        status, detail = CheckStatus.OVERRIDDEN, f"{source} {does}"
    elif host.pid_environment is not None and running != setting.text:
        status, detail = CheckStatus.DRIFT, "this process was started without it: restart it"
    return Check(setting.id, setting.channel.value, setting.text, configured, running, status, source, detail)
