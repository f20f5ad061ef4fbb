"""systemd-boot with sdboot-manage: its entries, and the shell file of which it makes those of later kernels.

The program writes an entry as `options`, what it finds out about the root file system, and LINUX_OPTIONS
(generate_entries of sdboot-manage, CachyOS/systemd-boot-manager bb4e4d3). It sources its configuration, so
that one appended assignment counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocmcfg.backends.boot import appended_assignment, entry_options, loader_entries
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub_files.shell_assignments import Environment
from rocmcfg.backends.boot.menu import check as check_menu
from rocmcfg.backends.boot.recognised import handed_over
from rocmcfg.backends.boot.sdboot_manage import reader
from rocmcfg.host.view import Host, HostView, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import Karg, contains, split
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting

NAME = reader.NAME
OWNED: tuple[str, ...] = (entry_options.CARRIER,)
_CONFIG = reader.CONFIG
_OPTIONS = "LINUX_OPTIONS"
# what the program itself puts on the line, from what it finds mounted
_FOUND_OUT = ("root", "zfs", "rw", "rootflags", "cryptdevice", "rd.luks.name", "rd.luks.options", "resume")


def detect(view: HostView) -> Detection | None:
    folders = loader_entries.folders(view)
    if not folders or not view.exists(reader.PROGRAM):
        return None
    told = handed_over(view, "LoaderInfo", "systemd-boot")
    return Detection(
        NAME,
        "systemd-boot with sdboot-manage",
        (*folders, *(path for path in (reader.PROGRAM, _CONFIG) if view.exists(path)), *told),
        proof=bool(told),
        supported=True,
        manual=f'append to {_OPTIONS} in {_CONFIG}: "{{kargs}}"\nthen: sudo sdboot-manage gen',
    )


def observe(view: HostView) -> Observed:
    menu = reader.read(view)
    found_out = [k for entry in menu.normal[:1] for k in entry.kargs if k.name in _FOUND_OUT]
    asked = _options(appended_assignment.blanked(text_or_empty(view, _CONFIG)))
    return entry_options.observe(view, menu, [] if asked is None else [(*found_out, *asked)])


def _options(text: str) -> tuple[Karg, ...] | None:
    """What the program adds to the line; None where only a shell can tell."""
    environment = Environment()
    environment.read(_CONFIG, text)
    found = environment.text(_OPTIONS)
    return None if found is None else split(found, _CONFIG)


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    del view
    proposed = entry_options.propose(settings)
    part = proposed.pop(entry_options.CMDLINE)
    return {**proposed, _CONFIG: _lines(part.decode()) if part is not None else None}


def _lines(part: str) -> bytes:
    return appended_assignment.lines(_OPTIONS, part.strip())


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    return (entry_options.activation(NAME, reason, loader_entries.folders(view)),)


def write_entries(host: Host) -> None:
    entry_options.write(host)


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    problems = list(entry_options.preflight(observed, kargs))
    if kargs and not view.exists(_CONFIG):
        problems.append(
            error(
                "RC3131",
                f"there is no {_CONFIG}, and a later kernel would lose the arguments",
                location=_CONFIG,
                hint=f"reinstall the package of sdboot-manage, or make an empty one: touch {_CONFIG}",
            )
        )
    content, _ = appended_assignment.put(
        text_or_empty(view, _CONFIG).encode(), _lines(" ".join(kargs)) if kargs else None
    )
    problems += appended_assignment.continued(appended_assignment.around(content.decode())[0], _CONFIG)
    left = _options(content.decode())
    if left is not None and not all(contains(left, text) for text in kargs):
        problems.append(entry_options.set_anew(_OPTIONS, _CONFIG))
    return problems


def unmanaged(view: HostView) -> list[Diagnostic]:
    del view
    return []


def check(view: HostView, wanted: Sequence[str], unwanted: Sequence[str]) -> list[Diagnostic]:
    return check_menu(reader.read(view), wanted, unwanted)
