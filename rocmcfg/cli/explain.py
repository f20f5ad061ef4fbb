"""`rocmcfg explain`: what a parameter, a feature or a variable is, here or on another kernel."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from rocmcfg.cli import options as opt
from rocmcfg.cli.render import Printer

if TYPE_CHECKING:
    from rocmcfg.engine.explain import Explanation, OnKernel
    from rocmcfg.workflow.explaining import Explained

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("explain")
def explain(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME[=VALUE]",
            help="cwsr_enable, ppfeaturemask=0xfffd3fff, gfxoff, a variable.",
            autocompletion=opt.complete_name,
        ),
    ],
    kernel: Annotated[
        list[str] | None, typer.Option("--kernel", metavar="V", help="For this kernel instead of those here.")
    ] = None,
    root: opt.Root = "/",
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Explain a parameter, a feature or a variable; decode a mask bit by bit."""
    with opt.session("explain", json, quiet, verbose, debug) as printer:
        from rocmcfg.workflow import explaining

        found = explaining.explain_name(opt.open_host(root), name, kernel or ())
        setting = found.setting
        printer.document(
            (),
            **asdict(found.explanation),
            next_boot=setting.next_boot if setting else None,
            source=setting.source if setting else "",
            running=found.running,
            profiles=[{"profile": p, "setting": s} for p, s in found.profiles],
        )
        _show(printer, found)


def _show(printer: Printer, found: Explained) -> None:
    what = found.explanation
    printer.line(printer.paint(what.name, "bold"))
    printer.wrapped(what.summary)
    printer.pairs([("-", remark) for remark in what.remarks])
    if what.instead:
        printer.pairs([("-", f"write {what.instead}")])
    if what.values:
        printer.pairs([("-", f"values: {', '.join(what.values)}")])
    if what.kernels and what.kind == "parameter":
        printer.heading("Kernels")
        printer.pairs([(on.kernel, _on_kernel(on)) for on in what.kernels])
    if what.kind in ("parameter", "feature"):
        printer.heading("On this host")
        setting = found.setting
        where = f"{setting.next_boot} ({setting.source})" if setting else "the default; nobody sets it"
        printer.pairs([("next boot", where), ("running", found.running or "not loaded, or not readable")])
    _show_bits(printer, what)
    if found.profiles:
        printer.heading("In profiles")
        printer.pairs([(profile, f"sets {setting}") for profile, setting in found.profiles])


def _on_kernel(on: OnKernel) -> str:
    if on.present is False:
        return "does not exist: it would be ignored"
    if not on.types:
        return "whether it exists depends on how the kernel was built"
    parts = [
        " or ".join(on.types),
        "default " + " or ".join(d or "empty" for d in on.defaults),
        on.permission,
    ]
    if on.taints:
        parts.append("setting it taints the kernel")
    if on.present is None:
        parts.append("may be missing")
    if on.verdict:
        parts.append(f"REFUSES the value, and with it the driver: {on.verdict}")
    elif on.reads_back:
        parts.append(f"reads back {on.reads_back}")
    return "; ".join(parts)


def _show_bits(printer: Printer, what: Explanation) -> None:
    if what.compared is None or what.default is None:
        return
    from rocmcfg.model.value import hexint

    changed = [bit for bit in what.bits if bit.on != bit.default]
    if what.compared != what.default:
        printer.heading(f"{hexint(what.compared)} against the default {hexint(what.default)}")
        for bit in changed:
            printer.pairs([(f"turns {bit.feature} {_state(bit.on)}", f"{bit.bit:#x}: {bit.summary}")])
        if what.unnamed:
            printer.line(f"  and changes bits without a name: {what.unnamed:#x}")
    if what.compared == what.default or printer.verbose:
        printer.heading(f"The bits of {hexint(what.compared)}")
        printer.pairs([(f"{b.bit:#08x} {b.feature}", f"{_state(b.on)}; {b.summary}") for b in what.bits])


def _state(on: bool) -> str:
    return "on" if on else "off"
