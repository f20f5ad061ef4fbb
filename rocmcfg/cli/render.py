"""Command `render`: print profiles as configuration for a system that another program sets up. Needs no
rights."""

from __future__ import annotations

from rocmcfg.change.rendering.formats import FORMATS
from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.machines import named_machine
from rocmcfg.cli.printer import Misuse, Printer
from rocmcfg.model.request import Via


def render(
    printer: Printer,
    *,
    named: tuple[str, ...] = opt.NAMED,
    requested: opt.RequestOptions = opt.RequestOptions(),
    via: Via = opt.VIA,
    format: str = opt.text("--format", "-f", help="The system to print it for.", choices=tuple(FORMATS)),
    machine: opt.Machine = opt.Machine(),
    root: str = opt.ROOT,
) -> None:
    """Print a profile for NixOS, images or clusters.

    Conditions are checked for the machine of --gfx, --kernel and --rocm, if one of
    them is given, or else for this host, if it has an AMD GPU. What the system cannot
    set is named in a comment and a warning.
    """
    from rocmcfg.workflow import rendering

    if not format:
        raise Misuse(f"specify the system: {', '.join(FORMATS)}", "--format")
    options, host = named_machine(*machine), hosts.open_host(printer, root)
    made = rendering.render(
        host, hosts.understood(printer, host, requested.request(named, via)), format, options
    )
    printer.document(made.diagnostics, made)
    printer.problems(made.diagnostics)
    printer.result(made.text)
