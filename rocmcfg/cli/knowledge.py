"""Commands `knowledge …`: check the knowledge that a host adds to rocmcfg's, and bring it to other hosts as a
bundle. No command opens a network connection: copying a bundle is left to the user."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.machines import named_machine
from rocmcfg.cli.printer import Misuse, Printer, counted
from rocmcfg.host.signatures import signing
from rocmcfg.knowledge.bundle import is_name
from rocmcfg.model.diagnostic import ExitCode
from rocmcfg.workflow import sharing

if TYPE_CHECKING:
    from rocmcfg.workflow.sharing import Added


def check(printer: Printer, *, root: str = opt.ROOT) -> None:
    """List and check what this host adds."""
    checked, problems = sharing.check(hosts.open_host(printer, root))
    printer.document([], checked)
    rows = [("Known issues", f"{checked.issues}"), ("Version", checked.version)]
    printer.pairs([*rows, *(("Added", _added_text(added)) for added in checked.added)], indent="")
    if not checked.added:
        printer.line("This host adds nothing: no file in /etc/rocmcfg/knowledge.d, and no bundle.")
    if problems:
        raise SystemExit(int(ExitCode.ERROR))


def _added_text(added: Added) -> str:
    parts = [*([counted(len(added.issues), "known issue")] if added.issues else []), *added.tables]
    whose = f", signed by {added.signer}" if added.signer else ", not signed by an allowed signer now"
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
        "--set",
        metavar="KEY=VALUE",
        help="The setting that cured it (default: those applied now).",
        takes="setting",
    ),
    gfx: tuple[str, ...] = opt.GFX,
    root: str = opt.ROOT,
) -> None:
    """Draft a known issue from a log.

    For a fault that doctor does not know. Names and numbers are removed from its
    lines, and no pattern matches logs of healthy machines.
    """
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
        "--name", metavar="NAME", help="The name of the bundle.", takes="free", default="site"
    ),
    root: str = opt.ROOT,
) -> None:
    """Make a bundle for other hosts.

    It contains the files in /etc/rocmcfg/knowledge.d.
    """
    if not is_name(name):
        raise Misuse(f"{name!r} may contain only lower-case letters, digits and hyphens", "--name")
    if file == "-":
        raise Misuse("specify a file: the signature of a bundle is stored next to it", "FILE")
    made = sharing.export(hosts.open_host(printer, root), file, name)
    printer.document([], made)
    printer.line(f"Written: {made.path} ({made.name} {made.version}, {counted(len(made.files), 'file')}).")
    path = shlex.quote(made.path)
    printer.line(f"Sign: {signing(made.path)}")
    printer.line(f"Then, on each host, with {path}.sig next to it: sudo rocmcfg knowledge install {path}")


def install(
    printer: Printer,
    *,
    file: str = opt.argument("FILE", "A bundle; its signature is FILE.sig.", "file"),
    root: str = opt.ROOT,
) -> None:
    """Install a signed bundle.

    /etc/rocmcfg/allowed_signers lists who may sign. A bundle that is unsigned, damaged or
    older than the installed one is refused; the previous bundle is kept.
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
    name: str = opt.argument("NAME", "An installed bundle; `rocmcfg knowledge list` lists them.", "free"),
    root: str = opt.ROOT,
) -> None:
    """Remove an installed bundle.

    Nothing replaces it, not even the bundle that it replaced.
    """
    host = hosts.open_host(printer, root)
    hosts.require_rights(printer, host)
    removed = sharing.remove(host, name)
    printer.document([], removed)
    printer.line(f"Removed: {removed.name} ({removed.path}).")
