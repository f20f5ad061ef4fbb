"""GRUB as Debian and Ubuntu set it up: /etc/default/grub, drop-ins in grub.d, update-grub.

The drop-in appends to GRUB_CMDLINE_LINUX_DEFAULT, which 10_linux puts last on the line of every entry but
the recovery ones (Debian's grub 2.06 and 2.12, util/grub.d/10_linux.in), so that our arguments win over
earlier ones and recovery stays clean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.backends.boot.contract import Entry, Observed
from rocmcfg.backends.boot.grub import menu
from rocmcfg.backends.boot.grub.menu import parse_entries, read_entries, sections
from rocmcfg.backends.boot.grub.shell_assignments import Environment
from rocmcfg.backends.boot.recognised import loader_info
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, error, info, warning
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import COMMAND_LINE_LIMIT, Karg, contains, split, tokens
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting, unique_kargs

NAME = menu.NAME
DROP_IN = menu.CARRIER
OWNED = (DROP_IN,)
_GRUB_CFG = menu.PATH
_DEFAULTS = "/etc/default/grub"
_DROP_INS = "/etc/default/grub.d"
_UPDATE_GRUB = ("/usr/sbin/update-grub", "/sbin/update-grub")
_VARIABLES = ("GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT")


def detect(view: HostView) -> Detection | None:
    tool = next((path for path in _UPDATE_GRUB if view.exists(path)), "")
    evidence = tuple(path for path in (tool, _DEFAULTS, _GRUB_CFG) if path and view.exists(path))
    if len(evidence) < 3:
        return None
    told = loader_info(view)
    proof = told.lower().startswith("grub")
    shown = (*evidence, f"the firmware was handed over by {told}") if proof else evidence
    return Detection(
        NAME,
        "GRUB (Debian, Ubuntu)",
        shown,
        proof=proof,
        supported=True,
        manual=f"append to GRUB_CMDLINE_LINUX_DEFAULT in {_DEFAULTS}: {{kargs}}\nthen: sudo update-grub",
    )


def observe(view: HostView) -> Observed:
    entries, unreadable = read_entries(view)
    ours = _own_kargs(view)
    without = _evaluate(_files(view))
    always, default = (_kargs(without, name) for name in _VARIABLES)
    if always is None or default is None:
        normal = [entry for entry in entries if not entry.recovery]
        seen = normal[0].kargs if normal else ()
        left = tuple(k for k in seen if k.text != menu.TRIAL_TOKEN and not contains(ours, k.text))
        at = without.opaque or next(
            iter(without.unknown.get(v, "") for v in _VARIABLES if v in without.unknown), ""
        )
        return Observed(left, ours, (), entries, False, at, unreadable)
    # only what is added to the same variable after us stands behind us: 10_linux puts it last
    later = tuple(k for k in default if k.source.startswith(_DROP_INS) and k.source > DROP_IN)
    return Observed((*always, *default), ours, later, entries, True, "", unreadable)


def propose(settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    if not settings:
        return {DROP_IN: None}
    from rocmcfg.backends.templates import render

    kargs = " ".join(setting.karg for setting in unique_kargs(settings))
    return {DROP_IN: render("boot/grub", "grub-dropin.cfg.j2", settings=settings, kargs=kargs)}


def activation(reason: str) -> Activation:
    # grub-mkconfig removes the .new, writes it anew and takes it away at its end (util/grub-mkconfig.in);
    # where it failed on a full /boot, that file is what fills it
    return Activation(
        menu.TOOL,
        (menu.TOOL,),
        reason,
        outputs=(_GRUB_CFG,),
        scratch=(f"{_GRUB_CFG}.new",),
        places=(_GRUB_CFG.rpartition("/")[0],),
    )


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    """What would go wrong, before anything is written."""
    problems: list[Diagnostic] = []
    longest = max((length(entry) for entry in observed.normal), default=0)
    total = longest - size(k.text for k in observed.ours) + size(kargs)
    if total >= COMMAND_LINE_LIMIT:
        problems.append(
            error(
                "RC3104",
                f"the kernel command line would have {total} bytes; kernels take {COMMAND_LINE_LIMIT - 1}",
                location=_DEFAULTS,
                hint="shorten GRUB_CMDLINE_LINUX in the file named above, or write module parameters to "
                "modprobe.d instead: --via modprobe",
            )
        )
    problems += [
        error(
            "RC3108",
            f"{text}: GRUB reads a semicolon as the end of a command",
            location=DROP_IN,
            hint="write module parameters to modprobe.d instead: --via modprobe",
        )
        for text in kargs
        if ";" in text  # 10_linux copies the arguments into its script without quotes
    ]
    dropped_by = _dropped_by(view, kargs)
    if dropped_by:
        problems.append(
            error(
                "RC3105",
                "a drop-in that is read after ours sets GRUB_CMDLINE_LINUX_DEFAULT anew, without ours",
                location=dropped_by,
                hint=f"rename it so that it sorts before {DROP_IN.rpartition('/')[2]}, or make it append",
            )
        )
    if any(karg.text == "--" for karg in observed.foreign):
        problems += [
            error(
                "RC3109",
                f"{text} would stand behind a “--”, where the kernel passes everything on to init",
                location=next(k.source for k in observed.foreign if k.text == "--"),
                hint="move the “--” and what follows it out of that file, or leave the argument away",
            )
            for text in kargs
            if "." not in text.partition("=")[0]  # kmod reads a module's parameters there too
        ]
    if not observed.plain:
        problems.append(
            info(
                "RC3106",
                "the GRUB defaults hold shell code, so the present arguments are read from the menu",
                location=observed.unknown_at,
            )
        )
    return problems


def check(view: HostView, wanted: Sequence[str], unwanted: Sequence[str]) -> list[Diagnostic]:
    """Read the generated menu: every non-recovery entry has each wanted argument and no unwanted one."""
    entries, unreadable = read_entries(view)
    if unreadable:
        return [warning("RC3101", f"cannot read {_GRUB_CFG}: {unreadable}", location=_GRUB_CFG)]
    normal = [entry for entry in entries if not entry.recovery]
    if not normal:
        return [
            error(
                "RC3102",
                "the generated boot menu has no Linux entry",
                location=_GRUB_CFG,
                hint="run update-grub by hand and read what it prints",
            )
        ]
    problems = []
    for entry in normal:
        missing = [text for text in wanted if not contains(entry.kargs, text)]
        left = [text for text in unwanted if contains(entry.kargs, text)]
        if missing or left:
            said = "; ".join(
                part
                for part in (
                    missing and "misses " + " ".join(missing),
                    left and "still has " + " ".join(left),
                )
                if part
            )
            problems.append(
                error(
                    "RC3103",
                    f"boot entry “{entry.title}” {said}",
                    location=_GRUB_CFG,
                    hint="a script in /etc/grub.d or a drop-in drops them; run update-grub by hand to see",
                )
            )
    return problems


def unmanaged(view: HostView) -> list[Diagnostic]:
    """Entries that update-grub does not build from GRUB_CMDLINE_LINUX: they boot without our arguments."""
    text = _text(view, _GRUB_CFG)
    titles = [
        entry.title
        for section, body in sections(text)
        if section.endswith(("40_custom", "41_custom", "20_linux_xen"))
        for entry in parse_entries(body)
        if not entry.recovery
    ]
    if not titles:
        return []
    return [
        warning(
            "RC3107",
            f"{len(titles)} boot entries, written by hand, lack the arguments: {', '.join(titles[:3])}",
            location=_GRUB_CFG,
            hint="add the arguments there by hand if you boot them",
        )
    ]


def _files(view: HostView, ours: str | None = None) -> list[tuple[str, str]]:
    """What grub-mkconfig sources, in order: /etc/default/grub, then grub.d/*.cfg in glob order (a Debian
    patch). Our drop-in is left out, or holds `ours`; that of a trial is left out, since GRUB fills it."""
    names = [n for n in view.names(_DROP_INS) if n.endswith(".cfg") and not n.startswith(".")]
    paths = sorted({*(f"{_DROP_INS}/{name}" for name in names), DROP_IN} - {menu.TRIAL_DROP_IN})
    found = [(_DEFAULTS, _text(view, _DEFAULTS))]
    for path in paths:
        if path != DROP_IN:
            found.append((path, _text(view, path)))
        elif ours is not None:
            found.append((path, ours))
    return found


def _evaluate(files: Sequence[tuple[str, str]]) -> Environment:
    environment = Environment()
    for path, text in files:
        environment.read(path, text)
    return environment


def _dropped_by(view: HostView, kargs: Sequence[str]) -> str:
    """The file after ours that loses our arguments; empty where none does, or where only a shell can tell."""
    files = _files(view, f'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {" ".join(kargs)}"')
    ours = [path for path, _ in files].index(DROP_IN)
    environment = _evaluate(files[: ours + 1])
    judged: object = environment
    for path, text in files[ours + 1 :]:
        environment.read(path, text)
        value = environment.values.get(_VARIABLES[1])
        if value is judged:
            continue  # most files set something else
        judged = value
        found = _kargs(environment, _VARIABLES[1])
        if found is None:
            return ""
        if not all(contains(found, text) for text in kargs):
            return path
    return ""


def _kargs(environment: Environment, name: str) -> tuple[Karg, ...] | None:
    text = environment.text(name)
    if text is None:
        return None
    origin = [segment.source for segment in environment.values.get(name, ()) for _ in segment.text]
    return tuple(Karg(token, origin[at]) for token, at in tokens(text))


def _own_kargs(view: HostView) -> tuple[Karg, ...]:
    environment = Environment()
    environment.read(DROP_IN, _text(view, DROP_IN))
    text = environment.text("GRUB_CMDLINE_LINUX_DEFAULT")
    return split(text or "", DROP_IN)


def _text(view: HostView, path: str) -> str:
    try:
        return view.text(path) or ""
    except Unreadable:
        return ""


def length(entry: Entry) -> int:
    """Bytes of the command line that the kernel gets."""
    # GRUB itself puts BOOT_IMAGE=PATH before the arguments (grub-core/loader/i386/linux.c).
    return len(f"BOOT_IMAGE={entry.kernel}") + size(k.text for k in entry.kargs)


def size(texts: Iterable[str]) -> int:
    """Bytes that these arguments take on the line, each with the blank before it."""
    return sum(len(text.encode()) + 1 for text in texts)
