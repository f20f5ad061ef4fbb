"""`rocmcfg knowledge`: what a host adds to what rocmcfg knows, and how it gets to other hosts. No command
opens a network connection: a bundle is carried by whoever carries files."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Misuse, Printer, counted
from rocmcfg.host.signatures import signing
from rocmcfg.knowledge.bundle import is_name
from rocmcfg.model.diagnostic import ExitCode
from rocmcfg.workflow import sharing

if TYPE_CHECKING:
    from rocmcfg.workflow.sharing import Added


def check(printer: Printer, *, root: str = opt.ROOT) -> None:
    """List what this host adds, and check it."""
    checked, problems = sharing.check(hosts.open_host(printer, root))
    printer.document([], checked)
    rows = [("Known issues", f"{checked.issues}"), ("Version", checked.version)]
    printer.pairs([*rows, *(("Added", _said(added)) for added in checked.added)], indent="")
    if not checked.added:
        printer.line("Nothing is added: no file in /etc/rocmcfg/knowledge.d, and no bundle.")
    if problems:
        raise SystemExit(int(ExitCode.ERROR))


def _said(added: Added) -> str:
    parts = [*([counted(len(added.issues), "known issue")] if added.issues else []), *added.tables]
    whose = f", signed by {added.signer}" if added.signer else ", signed by nobody who may sign now"
    bundle = f"{added.name} {added.version}{whose}: " if added.name else ""
    return f"{bundle}{', '.join(parts)} ({added.place})"


def new(
    printer: Printer,
    *,
    more: tuple[str, ...] = opt.MORE_LOGS,
    log: tuple[str, ...] = opt.texts(
        "--from-log", "--log", metavar="FILE", help="A log of the fault. May be repeated.", takes="file"
    ),
    cure: tuple[str, ...] = opt.texts(
        "--set", metavar="KEY=VALUE", help="What cured it; else what is applied now.", takes="setting"
    ),
    gfx: tuple[str, ...] = opt.GFX,
    root: str = opt.ROOT,
) -> None:
    """Draft a known issue from a log.

    For a fault that doctor does not know. Names and numbers are taken out of its
    lines, and no pattern finds anything in logs of healthy machines.
    """
    from rocmcfg.cli.doctor import named_machine
    from rocmcfg.workflow import drafting

    host = hosts.open_host(printer, root)
    environment = {} if host.offline else dict(os.environ)
    options = named_machine(gfx, "", "")
    made, remarks = drafting.draft(host, [*log, *more], options, cure, environment, printer.progress)
    printer.document(remarks, made)
    printer.result(made.text)
    printer.problems(remarks)


def export(
    printer: Printer,
    *,
    file: str = opt.argument("FILE", "The bundle to write; it must not exist yet.", "file"),
    name: str = opt.text(
        "--name", metavar="NAME", help="What the bundle is called.", takes="free", default="site"
    ),
    root: str = opt.ROOT,
) -> None:
    """Make a bundle for other hosts.

    It holds what is in /etc/rocmcfg/knowledge.d.
    """
    if not is_name(name):
        raise Misuse(f"{name!r}: small letters, digits and hyphens", "--name")
    if file == "-":
        raise Misuse("a bundle is a file, since its signature lies beside it: name one", "FILE")
    made = sharing.export(hosts.open_host(printer, root), file, name)
    printer.document([], made)
    printer.line(f"Written: {made.path} ({made.name} {made.version}, {counted(len(made.files), 'file')}).")
    path = shlex.quote(made.path)
    printer.line(f"Sign: {signing(made.path)}")
    printer.line(f"Then, on each host, with {path}.sig beside it: sudo rocmcfg knowledge install {path}")


def install(
    printer: Printer,
    *,
    file: str = opt.argument("FILE", "A bundle; its signature is FILE.sig.", "file"),
    root: str = opt.ROOT,
) -> None:
    """Install a signed bundle.

    /etc/rocmcfg/allowed_signers names who may sign. A bundle that is unsigned, broken or
    older than the one that is there is refused; the one before it is kept.
    """
    host = hosts.open_host(printer, root)
    hosts.require_rights(printer, host)
    installed = sharing.install(host, file)
    printer.document([], installed)
    outcome = "Installed" if installed.changed else "Already installed"
    printer.line(
        f"{outcome}: {installed.name} {installed.version}, signed by {installed.signer} ({installed.path})."
    )


def remove(
    printer: Printer,
    *,
    name: str = opt.argument("NAME", "An installed bundle; `rocmcfg knowledge list` has them.", "free"),
    root: str = opt.ROOT,
) -> None:
    """Take an installed bundle out.

    Nothing takes its place, not the one that it replaced either.
    """
    host = hosts.open_host(printer, root)
    hosts.require_rights(printer, host)
    removed = sharing.remove(host, name)
    printer.document([], removed)
    printer.line(f"Removed: {removed.name} ({removed.path}).")
