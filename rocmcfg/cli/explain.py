"""Command `explain`: say what a parameter, a feature, an argument or a variable is, here or on another
kernel. Command `schema`: print the schemas of the --json documents, and of the files of profiles and known
issues."""

from __future__ import annotations

import json as json_module
import os
from typing import TYPE_CHECKING

from rocmcfg.cli import hosts
from rocmcfg.cli import options as opt
from rocmcfg.cli.doctor import doctor
from rocmcfg.cli.machines import targets
from rocmcfg.cli.printer import SCHEMA_VERSION, Misuse, Printer
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.issue import cause
from rocmcfg.model.spelling import hexint

if TYPE_CHECKING:
    from rocmcfg.advice.explain.explanation import Caution, Explanation, OnKernel
    from rocmcfg.workflow.explaining import Explained


# The number of known issues that are shown without --verbose.
_ISSUES = 5


def explain(
    printer: Printer,
    *,
    names: tuple[str, ...] = opt.argument(
        "NAME[=VALUE]…",
        "cwsr_enable, ppfeaturemask=0xfffd3fff, iommu=pt, gfx1201, a variable, or the id of an issue "
        "or a message.",
        "name",
        "texts",
    ),
    gfx: tuple[str, ...] = opt.GFX,
    kernel: tuple[str, ...] = opt.KERNELS,
    root: str = opt.ROOT,
) -> None:
    """Explain a setting, a GPU, an issue, a message.

    Explains every bit of a mask, the cure of a known issue, and each setting in a
    line of GRUB. A line of a log goes to doctor.
    """
    from rocmcfg.advice.doctor.reading.logs import is_line
    from rocmcfg.workflow import explaining

    host, name = hosts.open_host(printer, root), " ".join(names)
    environment, target = {} if host.offline else os.environ, explaining.Target(kernel, targets(gfx))
    line = None
    settings = sum(" " not in word and any(mark in word for mark in "=._") for word in names)
    each = names[1:] != () and 2 * settings >= len(names)  # else the words of an unquoted message
    if " " in name.strip():
        line = explaining.explain_line(host, name, target, environment, each=each)
    if line is not None and not line[0] and is_line(name) and not explaining.is_topic(name):
        printer.command = "doctor"
        machine = opt.Machine(gfx, "", "")
        doctor(
            printer,
            more=(name,),
            log=(),
            machine=machine,
            detailed_exitcode=False,
            name_host=False,
            root=root,
        )
        return
    if line and line[0] and printer.json:
        raise Misuse("--json explains one name at a time")
    if not line or not line[0]:
        explained = explaining.explain_name(host, name, target, environment)
        printer.document((), explained)
        _show(printer, explained, " and ".join(target.gfx))
        return
    for subject in line[0]:
        _show_shortly(printer, subject)
    printer.line()
    printer.wrapped("Details: rocmcfg explain NAME=VALUE.", "")
    printer.problems(line[1])


def schema(
    printer: Printer,
    *,
    name: str = opt.argument(
        "[NAME]", "The document: plan, verify, …, profile-file or known-issue.", "document", required=False
    ),
    json: bool = opt.OUTPUT["json"],  # accepted, although the output is always JSON
) -> None:
    """Print the JSON Schemas of the documents."""
    from rocmcfg.cli import documents

    schemas = documents.schemas()
    if name and name not in schemas:
        printer.json = json
        raise fail("RC0002", f"there is no document {name!r}", hint="known: " + ", ".join(schemas))
    chosen = schemas[name] if name else {"schema_version": SCHEMA_VERSION, "documents": schemas}
    printer.result(json_module.dumps(chosen, indent=1, ensure_ascii=False))


def _show(printer: Printer, explained: Explained, gpus: str) -> None:
    """Print an explanation. `gpus` are those it was judged for, if not this host's."""
    explanation = explained.explanation
    printer.line(printer.paint(explanation.name, "bold"))
    printer.wrapped(explanation.summary)
    printer.pairs([("-", remark) for remark in _facts(explanation, gpus)])
    printer.facts((row.value, row.text) for row in explanation.details)
    _show_value(printer, explanation)
    traps = [trap for trap in explanation.traps if printer.verbose or trap.here is not False]
    printer.section("Traps", [_caution(trap) for trap in traps])
    kernels = explanation.kernels if explanation.kind in ("parameter", "new") else ()
    printer.section("Kernels", [(on.kernel, _on_kernel(on)) for on in kernels])
    _show_now(printer, explained)
    _show_bits(printer, explanation)
    uses = [
        (p.profile, f"sets {p.setting}={p.value}", printer.verbose and p.cost) for p in explained.profiles
    ]
    printer.section("In profiles", [(name, f"{s}; costs: {c}" if c else s) for name, s, c in uses])
    _show_issues(printer, explanation)
    if explanation.sources and (printer.verbose or explanation.kind == "issue"):
        printer.heading("Sources")
        for source in explanation.sources:
            printer.wrapped(source)


def _show_shortly(printer: Printer, explained: Explained) -> None:
    """Print what one setting of a line does, and what speaks against its value."""
    explanation = explained.explanation
    printer.heading(explanation.name)
    printer.wrapped(explanation.summary)
    _show_value(printer, explanation._replace(meanings=()))
    printer.section(
        "Kernels", [(k.kernel, f"REFUSES it: {k.verdict}") for k in explanation.kernels if k.verdict]
    )
    printer.section("Traps", [_caution(trap) for trap in explanation.traps if trap.here is not False])


def _facts(explanation: Explanation, gpus: str) -> list[str]:
    facts = [f"in {explanation.unit}"] if explanation.unit else []
    facts += list(explanation.remarks)
    if explanation.unset:
        facts.append(f"without it: {explanation.unset}")
    if explanation.acts_on:
        this_host = f"this host ({', '.join(explanation.gpus)})"
        here = {True: f"as on {gpus or 'this host'}", False: f"not on {gpus or this_host}"}
        tail = f", {here[explanation.acts_here]}" if explanation.acts_here is not None else ""
        facts.append(f"only has an effect on {explanation.acts_on}{tail}")
    if explanation.values and not explanation.meanings:
        facts.append(f"values: {', '.join(explanation.values)}")
    return facts


def _show_value(printer: Printer, explanation: Explanation) -> None:
    if explanation.verdict or explanation.meaning or explanation.harms:
        printer.heading("The value")
        verdict = f"{explanation.verdict}." if explanation.verdict else explanation.meaning
        for text in filter(None, (verdict, *explanation.harms)):
            printer.wrapped(text)
    if explanation.instead:
        printer.line()
        printer.line(f"  {printer.paint('write instead', 'bold')}  {explanation.instead}")
    if explanation.meanings and (printer.verbose or not explanation.meaning):
        named = dict(explanation.meanings)
        printer.section("Values", list(named.items()))
        others = [value for value in explanation.values if value not in named]
        if others:
            printer.wrapped(f"also: {', '.join(others)}")


def _caution(trap: Caution) -> tuple[str, str]:
    values = "any value" if "*" in trap.values else ", ".join(trap.values[:3])
    where = " and ".join(w for w in (trap.hardware, f"kernel {trap.kernel}" if trap.kernel else "") if w)
    if where and trap.here is not None:
        where += ": as here" if trap.here else ": not here"
    return values, f"{trap.kind.replace('_', ' ')}: {trap.summary}" + (f" (on {where})" if where else "")


# The value of a name on a host where nothing sets it.
_UNSET = {
    **dict.fromkeys(("parameter", "feature", "new"), "the default; nothing sets it"),
    "argument": "not set",
    "variable": "not set system-wide",
}


def _show_now(printer: Printer, explained: Explained) -> None:
    kind = explained.explanation.kind
    if kind not in _UNSET:
        return
    printer.heading("On this host")
    where = f"{explained.next_boot or 'empty'} ({explained.source})" if explained.source else _UNSET[kind]
    if kind == "variable" and explained.source and explained.next_boot is None:
        where = f"unknown before a program runs {explained.source}"
    elif explained.source and explained.next_boot is None:
        where = f"unknown: {explained.source} gives it no value, or one with a variable of the boot loader"
    if explained.waits:
        where = f"{where.partition(';')[0]}; {explained.waits}"
    if kind == "variable":
        here = [] if explained.running is None else [("here", explained.running or "set, but empty")]
        printer.pairs([("next login", where), *here])
        return
    running = explained.running or "not set"
    if kind != "argument":
        running = "not loaded, or not readable" if explained.running is None else explained.running or "empty"
    printer.pairs([("next boot", where), ("running", running)])


def _on_kernel(on: OnKernel) -> str:
    if on.present is False:
        return "does not exist: it would be ignored"
    if not on.types:
        return "exists" if on.present else "whether it exists depends on how the kernel was built"
    defaults = " or ".join(default or "empty" for default in on.defaults)
    rows = [
        (True, " or ".join(on.types)),
        (on.defaults, f"default {defaults}"),
        (on.permission, on.permission),
        (on.taints, "setting it taints the kernel"),
        (on.present is None, "may be missing"),
        (on.verdict, f"REFUSES the value, and the driver does not load: {on.verdict}"),
        (on.doubt, f"may REFUSE the value, and then the driver does not load: {on.doubt}"),
        (on.reads_back and not on.verdict and not on.doubt, f"reads back {on.reads_back}"),
    ]
    return "; ".join(text for holds, text in rows if holds)


def _show_bits(printer: Printer, explanation: Explanation) -> None:
    if explanation.compared is None or explanation.default is None:
        return
    from rocmcfg.advice.explain.explanation import on_or_off

    changed = [bit for bit in explanation.bits if bit.on != bit.default]
    if explanation.compared != explanation.default:
        printer.heading(
            f"{hexint(explanation.compared)} compared with the default {hexint(explanation.default)}"
        )
        for bit in changed:
            effect = f"turns {bit.feature} {on_or_off(bit.on)}" if bit.feature else f"bit {on_or_off(bit.on)}"
            printer.pairs([(effect, f"{bit.bit:#x}: {bit.summary}")])
        if explanation.unnamed:
            printer.line(f"  and changes unnamed bits: {explanation.unnamed:#x}")
    if explanation.compared == explanation.default or printer.verbose:
        printer.heading(f"The bits of {hexint(explanation.compared)}")
        rows = [
            (f"{b.bit:#08x} {b.feature}".rstrip(), f"{on_or_off(b.on)}; {b.summary}")
            for b in explanation.bits
        ]
        printer.pairs(rows)


_ROLES = {"helps": "{} helps", "unset": "unsetting {} helps", "does_not_help": "{} does not help"}


def _show_issues(printer: Printer, explanation: Explanation) -> None:
    if not explanation.issues:
        return
    printer.heading("Known issues")
    shown = explanation.issues if printer.verbose else explanation.issues[:_ISSUES]
    for mention in shown:
        role = _ROLES[mention.role].format(mention.setting)
        sure = cause(mention.kind, mention.confidence)
        confidence = f" ({sure})" if mention.role == "helps" else ""
        printer.pairs([(mention.issue, f"{mention.title}: {role}{confidence}")])
    if len(shown) < len(explanation.issues):
        printer.line(f"  and {len(explanation.issues) - len(shown)} more: add --verbose")
