"""Arguments for one boot, kept in GRUB's environment block.

GRUB takes them out of the block before it boots, and every later boot finds nothing: a kernel that hangs has
no say in it. `load_env` and `save_env` are GRUB's own (grub-core/commands/loadenv.c); `save_env` overwrites
the block's sectors in place and knows no file system, so that it works on few of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.grub import backend, menu
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, error, info
from rocmcfg.model.kargs import COMMAND_LINE_LIMIT, Karg
from rocmcfg.model.plan import ToolChange

# Three z: behind the drop-in of what is applied, and in every locale, so that the trial's arguments win.
DROP_IN = menu.TRIAL_DROP_IN
SCRIPT = "/etc/grub.d/01_rocmcfg_trial"  # after 00_header, which loads the block; before the entries
FILES = (DROP_IN, SCRIPT)
TOKEN = menu.TRIAL_TOKEN
BLOCK = "/boot/grub/grubenv"
_VARIABLE = "rocmcfg_next"
_SIGNATURE = b"# GRUB Environment Block\n"
_SIZE = 1024  # of a block that grub-editenv makes
# Those that rewrite a file's sectors where they are. Debian's 00_header refuses its recordfail on the others
# by name (check_writable); one that nobody named would lose the trial at best.
_WRITABLE = ("ext2", "fat", "exfat", "xfs")


def propose(wanted: bool) -> dict[str, tuple[bytes | None, int]]:
    """Our files by path, with content and mode; None for one that shall not be there."""
    if not wanted:
        return dict.fromkeys(FILES, (None, 0o644))
    from rocmcfg.backends.templates import render

    return {
        DROP_IN: (render("boot/grub", "grub-trial.cfg.j2"), 0o644),
        SCRIPT: (render("boot/grub", "grub-trial.sh.j2"), 0o755),
    }


def arming(arguments: Sequence[str]) -> ToolChange:
    """What makes the next boot the trial. It takes no word of ours with it where it is taken back."""
    text = f"{_VARIABLE}={' '.join(arguments)}"
    return ToolChange(
        "grub-editenv",
        ("grub-editenv", "-", "set", text),
        ("grub-editenv", "-", "unset", _VARIABLE),
        "",
        text,
        f"the arguments of one boot, in GRUB's environment block ({BLOCK})",
    )


def armed(view: HostView) -> str | None:
    """What the block holds for the next boot: empty where GRUB has taken it, None where there was nothing, or
    where it cannot be read."""
    try:
        return _variables(view.read(BLOCK) or b"").get(_VARIABLE)
    except Unreadable:
        return None


def _variables(block: bytes) -> dict[str, str]:
    """Lines `name=value`, in which a backslash stands before a backslash and a line break (grub-core/lib/
    envblk.c); ours has neither."""
    lines = block.decode("utf-8", "replace").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def problems(view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
    """Why GRUB cannot do it here, asked before anything is written."""
    longest = max((backend.length(entry) for entry in observed.normal), default=0)
    total = longest + backend.size(arguments)
    if total >= COMMAND_LINE_LIMIT:
        yield error(
            "RC4301",
            f"the trial's command line would have {total} bytes; kernels take {COMMAND_LINE_LIMIT - 1}",
            location=DROP_IN,
            hint="try fewer settings at a time, or apply them without --trial",
        )
    separator = next((karg for karg in observed.foreign if karg.text == "--"), None)
    if separator is not None:
        yield error(
            "RC4302",
            "the trial's arguments would stand behind a “--”, where the kernel passes them on to init",
            location=separator.source,
            hint="move the “--” and what follows it out of that file",
        )
    yield from _block_problems(view, arguments)
    if not view.runs_tools:
        yield not_checked("no program of that host can be run")
        return
    yield from _write_problems(view)


def not_checked(why: str) -> Diagnostic:
    return info(
        "RC4303",
        f"not checked: whether GRUB can write its environment block here ({why})",
        location=BLOCK,
        hint="run the command on the host itself, as root",
    )


def _block_problems(view: HostView, arguments: Sequence[str]) -> Iterable[Diagnostic]:
    if view.is_symlink(BLOCK):
        yield error(
            "RC4304",
            f"{BLOCK} is a symbolic link, which GRUB may read otherwise than Linux does",
            location=BLOCK,
            hint="apply without --trial, or put the block itself in its place",
        )
        return
    try:
        block = view.read(BLOCK)
    except Unreadable:
        yield not_checked("the block is root's alone")
        return
    block = _SIGNATURE + b"#" * (_SIZE - len(_SIGNATURE)) if block is None else block
    if not block.startswith(_SIGNATURE):
        yield error(
            "RC4305",
            "GRUB's environment block is damaged",
            location=BLOCK,
            hint=f"make it anew: sudo grub-editenv {BLOCK} create",
        )
        return
    old = _variables(block).get(_VARIABLE)
    free = len(block) - len(block.rstrip(b"#"))
    room = free + (len(_line(old)) if old is not None else 0)
    need = len(_line(" ".join(arguments)))
    if need > room:
        yield error(
            "RC4306",
            f"GRUB's environment block has room for {room} bytes, and the trial needs {need}",
            location=BLOCK,
            hint="try fewer settings at a time, or take out what is not needed there: grub-editenv - list",
        )


def _line(value: str) -> str:
    return f"{_VARIABLE}={value}\n"


def _write_problems(view: HostView) -> Iterable[Diagnostic]:
    """Asked as Debian's 00_header asks for its recordfail: the devices between GRUB and the disk, the file
    system."""
    folder = BLOCK.rpartition("/")[0]
    asked = [view.query(("grub-probe", f"--target={target}", folder)) for target in ("abstraction", "fs")]
    if asked[0] is None or asked[1] is None:
        yield _cannot("grub-probe is not installed, so that it cannot be told")
        return
    failed = next((result for result in asked if result is not None and not result.ok), None)
    if failed is not None:
        said = (failed.stderr or failed.stdout).strip().partition("\n")[0] or f"exit status {failed.status}"
        if "ermission denied" in said:
            yield not_checked("only root may ask the disk")
        else:
            yield _cannot(f"GRUB does not find what lies under {folder}", said)
        return
    abstraction, system = (result.stdout.split() for result in asked if result is not None)
    if abstraction:
        yield _cannot(f"{folder} lies on {' and '.join(abstraction)}, on which GRUB cannot write")
    elif not system or system[0] not in _WRITABLE:
        yield _cannot(f"{folder} lies on {' '.join(system) or 'an unknown file system'}, "
                      "on which GRUB cannot write, or is not known to")  # fmt: skip


def _cannot(why: str, detail: str = "") -> Diagnostic:
    return error(
        "RC4307",
        f"no trial boot here: {why}",
        detail=detail or f"GRUB itself has to note in {BLOCK} that the one boot has begun",
        location=BLOCK,
        hint="apply without --trial and keep `rocmcfg rollback --root` at a rescue system in mind; or give "
        "/boot a partition of its own with ext4",
    )


def check(view: HostView, arguments: Sequence[str]) -> list[Diagnostic]:
    """Read the generated menu: the script is in it, and no entry has an argument that beats the trial's. That
    it can be read, and what its entries hold, the backend's own check tells."""
    entries, unreadable = menu.read_entries(view)
    found: list[Diagnostic] = []
    if unreadable:
        return found
    if not any(path == SCRIPT and body for path, body in menu.sections(view.text(menu.PATH) or "")):
        found.append(
            error(
                "RC4308",
                "the boot menu does not hold what makes a trial of one boot",
                location=SCRIPT,
                hint="update-grub ran without this script: see whether /etc/grub.d may hold programs",
            )
        )
    for entry in entries:
        texts = [karg.text for karg in entry.kargs]
        if entry.recovery or TOKEN not in texts:
            continue
        later = entry.kargs[texts.index(TOKEN) + 1 :]
        own = {Karg(text).key: Karg(text).value for text in arguments}
        found += [
            error(
                "RC4309",
                f"{karg.text} stands behind the trial's arguments and would win",
                location=karg.source,
                hint="take it out of the drop-in that sets it, then run the command again",
            )
            for karg in later
            if karg.key in own and own[karg.key] != karg.value
        ]
    return list(dict.fromkeys(found))
