"""The judge's verdicts as `lint` says them. What is so is decided there; here is how sure lint can be of what
the author means, and what it proposes."""

from __future__ import annotations

from collections.abc import Iterator

from rocmcfg.judging import names
from rocmcfg.judging.judge import judge, of_the_name
from rocmcfg.judging.verdict import OF_THE_NAME, REFUSED, About, Verdict
from rocmcfg.lint.assignment import Assignment, Trust, What
from rocmcfg.lint.remark import Remark, error, info, warning
from rocmcfg.model.catalogue import Catalogue, Parameter
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.machine import Machine
from rocmcfg.model.spelling import Spelling
from rocmcfg.model.state import Kind

_IGNORED = "The driver loads without it and logs `unknown parameter … ignored`."
_KINDS = {What.ARGUMENT: Kind.KARG, What.VARIABLE: Kind.ENV}


def remarks(
    found: Assignment, known: Catalogue, machine: Machine, issues: tuple[KnownIssue, ...]
) -> Iterator[Remark]:
    """Everything that is said of one assignment."""
    asked = spelled(found)
    if asked.kind is Kind.PARAMETER and found.trust is not Trust.FILE and _stands_for_any(asked.name):
        return
    mention = found.value is None and found.trust is not Trust.FILE and found.dotted  # in a document
    if (
        found.opaque
        or (asked.kind is Kind.PARAMETER and mention)
        or (asked.value is None and _is_path(found))
    ):
        verdicts = list(of_the_name(asked, machine, known))
    else:
        verdicts = judge(asked, machine, known, issues, found.beside)
    if any(verdict.about is About.BUILD_ONLY for verdict in verdicts) and found.builds:
        return
    for verdict in verdicts:
        unsure_of_its_end = found.trust is Trust.PROSE and (
            verdict.about in REFUSED or (verdict.about is About.DEFAULT and asked.kind is Kind.KARG)
        )
        if not unsure_of_its_end:
            yield _worded(verdict, found, asked, known, machine)
    if _is_path(found) and found.value is not None and not any(v.about is About.ABSENT for v in verdicts):
        yield from _read_only(known.parameters.get(asked.id), machine)


def spelled(found: Assignment) -> Spelling:
    """The setting that an assignment makes; its value is None where nobody can know it."""
    value = None if found.opaque else found.value
    if found.what in _KINDS:
        return Spelling(_KINDS[found.what], found.name, value)
    module, name = names.split_parameter(found.name) or ("", found.name)
    return Spelling(Kind.PARAMETER, name, value, module)


def _is_path(found: Assignment) -> bool:
    return found.what is What.PATH


def _stands_for_any(name: str) -> bool:
    """`amdgpu.x=1`, `amdgpu.NAME=VALUE`: how documents speak of any parameter."""
    return len(name) <= 2 or name.isupper() or name in ("name", "param", "parameter", "option", "foo", "bar")


def _worded(
    verdict: Verdict, found: Assignment, asked: Spelling, known: Catalogue, machine: Machine
) -> Remark:
    if verdict.about in (About.MISNAMED, About.UNKNOWN, About.UNKNOWN_MODULE):
        name_of = {Kind.PARAMETER: _parameter_name, Kind.KARG: _argument_name}.get(asked.kind, _variable_name)
        return name_of(verdict, found, asked, known, machine)
    if verdict.about in OF_THE_NAME:
        return _name(verdict, asked, known)
    name = asked.id if asked.kind is Kind.PARAMETER else asked.name
    written = name if asked.value is None else f"{name}={asked.value}"
    return _value(verdict, asked, written, machine) or _effect(verdict, asked, name, written, known, machine)


def _name(verdict: Verdict, asked: Spelling, known: Catalogue) -> Remark:
    about, why, sources = verdict.about, verdict.why, verdict.sources
    parameter = asked.kind is Kind.PARAMETER
    name = asked.id if parameter else asked.name
    if about is About.ABSENT:
        said = f"{asked.id} does not exist on kernel {', '.join(verdict.kernels)}"
        if verdict.others:
            why = f"It is ignored there; kernels that have it: {', '.join(verdict.others)}."
            return info("RC7117", said, why)
        if known.parameters[asked.id].dkms_only:
            return info("RC7117", said, why, sources=sources)
        return warning("RC7117", said, why, remove=True, sources=sources)
    if about is About.BUILD_ONLY:
        said = f"{name} is read when software is compiled, and never when it runs"
        return warning("RC7106", said, why, remove=True, sources=sources)
    if parameter:
        instead = verdict.instead if verdict.instead and verdict.instead.value is not None else None
        return warning("RC7107", f"{name} is deprecated", _sentence(why), instead=instead, sources=sources)
    variable = names.variable(name)
    summary = variable.summary if variable is not None else ""
    return info("RC7107", f"{name} is deprecated: {why}", summary, sources=sources)


def _value(verdict: Verdict, asked: Spelling, written: str, machine: Machine) -> Remark | None:
    about, why, sources = verdict.about, verdict.why, verdict.sources
    if about is About.OCTAL:
        said = f"{written} is read as {why}: a leading 0 makes a number octal"
        return warning("RC7116", said, "Write it without the 0, or in full as 0x and hexadecimal digits.")
    if about is About.ILLEGAL:
        return _illegal(verdict, asked, written)
    if about is About.OUT_OF_RANGE:
        low, high = verdict.names
        said = f"{written} is out of range: its meanings run from {low} to {high}"
        return warning("RC7103", said, why, sources=sources)
    if about is About.PRESENCE_ONLY:
        said = f"{written} switches it on: only its presence counts"
        return warning("RC7105", said, f"{why} To switch it off, unset it.", remove=True, sources=sources)
    if about is About.TRAP:
        return _trap(verdict, written, machine)
    return None


def _effect(
    verdict: Verdict, asked: Spelling, name: str, written: str, known: Catalogue, machine: Machine
) -> Remark:
    about, why, sources = verdict.about, verdict.why, verdict.sources
    if about is About.NO_EFFECT:
        (where,) = verdict.names
        if verdict.holds is None:
            return info("RC7113", f"{name} acts on {where} only", why, sources=sources)
        said = f"{name} does nothing on {machine.gpu_names}"
        return info("RC7113", said, f"It acts on {where} only. {why}", remove=True, sources=sources)
    if about is About.TAINTS:
        on = f" (seen in {', '.join(verdict.kernels)})" if verdict.others else ""
        since = known.parameters[asked.id].taints_since
        if since is not None and not machine.kernels:
            on = f" (from {'.'.join(map(str, since.numbers[:2]))} on)"
        why = "The kernel logs `Setting dangerous option`, and maintainers may turn a bug report away."
        return warning("RC7108", f"setting {name} taints the kernel{on}", why, sources=sources)
    if about is About.FEATURE_TAINTS:
        feature, kernels = verdict.names
        said = f"{written} turns {feature} on and taints the kernel"
        return warning("RC7108", said, f"Kernels {kernels} do so. {why}", sources=sources)
    if about is About.SIDE_EFFECT:
        parts = verdict.names
        listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        return warning("RC7110", f"{written} {listed}", why, instead=verdict.instead, sources=sources)
    if about is About.DEFAULT:
        every = "" if machine.kernels or asked.kind is not Kind.PARAMETER else " of every kernel known"
        return info("RC7114", f"{written} is the default{every}", why, remove=True, sources=sources)
    said = f"{written} is no longer needed: every kernel here has the fix ({', '.join(verdict.kernels)})"
    return info("RC7115", said, why, remove=True, sources=sources)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


# -- names ------------------------------------------------------------------------------------------------


def _parameter_name(
    verdict: Verdict, found: Assignment, asked: Spelling, known: Catalogue, machine: Machine
) -> Remark:
    instead = verdict.instead
    if asked.name.startswith(f"{asked.module}."):
        return warning(
            "RC7102", f"{found.name} names the module twice; the driver ignores it", instead=instead
        )
    said = f"{asked.id} is not a parameter of any kernel"
    if verdict.why and instead is not None:  # a name that people write
        if instead.kind is Kind.FEATURE:
            return warning("RC7101", said, verdict.why, instead=instead, sources=verdict.sources)
        if known.traps[asked.name].times == 1:
            return warning("RC7102", said, verdict.why, instead=instead)
        # in another unit: the value as it stands must not be handed on
        why = verdict.why if instead.value is None else f"{verdict.why} This value would be {instead}."
        if instead.value is not None and found.dotted:
            return warning("RC7102", said, why, instead=instead)
        return warning("RC7102", said, why, remove=True)
    releases = ", ".join(kernel.release for kernel in machine.kernels)
    said += f" known ({releases})" if releases else " known"
    if verdict.about is About.MISNAMED and instead is not None:
        return warning("RC7102", said, f"{instead.id} is one. {_IGNORED}", instead=instead)
    if verdict.names:
        why = f"Did you mean {', '.join(verdict.names)}? {_IGNORED}"
        return warning("RC7102", said, why, instead=instead)
    return warning("RC7101", said, _IGNORED, remove=True)


def _argument_name(
    verdict: Verdict,
    found: Assignment,
    asked: Spelling,
    known: Catalogue,  # noqa: ARG001
    machine: Machine,  # noqa: ARG001
) -> Remark:
    written = asked.name if asked.value is None else f"{asked.name}={asked.value}"
    instead = verdict.instead
    if verdict.about is About.UNKNOWN_MODULE:
        module = found.name.strip('"').partition(".")[0]
        said = f"there is no module {module}; the argument reaches nobody"
        return warning("RC7102", said, f"The parameter is one of {verdict.names[0]}.", instead=instead)
    if verdict.why and verdict.about is About.MISNAMED:
        return warning("RC7102", f"{written} is not what it seems", verdict.why, instead=instead)
    if verdict.about is About.MISNAMED:
        said = f"{asked.name} without its module reaches nobody on a kernel command line"
        return warning("RC7102", said, instead=instead)
    said = f"{asked.name} is no argument of the kernel that is known here"
    if verdict.holds is None:  # it may be an argument of somebody else's driver
        return info("RC7102", said, f"Did you mean {verdict.names[0]}?")
    right = f"{verdict.names[0]}={asked.value}"
    return warning("RC7102", said, f"{right} is one. {verdict.why}", instead=instead)


def _variable_name(
    verdict: Verdict,
    found: Assignment,
    asked: Spelling,
    known: Catalogue,  # noqa: ARG001
    machine: Machine,  # noqa: ARG001
) -> Remark:
    said = f"nothing reads {found.name}"
    instead = verdict.instead
    if instead is not None and not asked.value:
        instead = instead._replace(value=None)
    if verdict.about is About.UNKNOWN:
        return warning("RC7102", said, f"Did you mean {verdict.names[0]}?", instead=instead)
    return warning(
        "RC7101", said, verdict.why, instead=instead, remove=instead is None, sources=verdict.sources
    )


def _read_only(parameter: Parameter | None, machine: Machine) -> Iterator[Remark]:
    """Of a parameter's file in sysfs that somebody writes to."""
    if parameter is None:
        return
    variants = [v for kernel in machine.kernels for v in parameter.on(kernel.version).variants]
    variants = variants if machine.kernels else list(parameter.epochs)
    if variants and all(not int(v.permission, 8) & 0o222 for v in variants):
        yield warning(
            "RC7119",
            f"{parameter.id} cannot be written while the driver runs (mode {variants[-1].permission})",
            "It is read when the driver loads: set it on the kernel command line or in modprobe.d.",
            sources=parameter.sources,
        )


# -- values -----------------------------------------------------------------------------------------------


def _illegal(verdict: Verdict, asked: Spelling, written: str) -> Remark:
    why, sources = verdict.why, verdict.sources
    if asked.kind is Kind.KARG:
        said = f"{written} is no value that the kernel knows; it ignores the argument"
        return warning("RC7103", said, why, sources=sources)
    if asked.kind is Kind.PARAMETER:
        on = f" (kernel {', '.join(verdict.kernels)})" if verdict.others else ""
        if verdict.holds is None:
            said = f"{written} may stop {asked.module} from loading (kernel {', '.join(verdict.kernels)})"
            return warning("RC7103", said, f"{why}.", sources=sources)
        why = f"{why}. With it the driver does not start, and the screen may stay black."
        return error("RC7103", f"{written} stops {asked.module} from loading{on}", why, sources=sources)
    variable = names.variable(asked.name)
    reader = (variable.reader if variable else "") or "its reader"
    bare = (asked.value or "").strip("\"'")
    said, literal = f"{written} is no value that {reader} takes", None
    if bare != asked.value and variable is not None and variable.takes(bare):
        said = f"the quotes in {written} are part of the value, and {reader} takes none"
        literal = f"{asked.name}={bare}"
    if verdict.strict:
        return warning("RC7103", said, why, literal=literal, sources=sources)
    if literal is None:
        said = f"{written} is none of the values that are documented; {reader} may pass over it"
    return info("RC7103", said, why, literal=literal, sources=sources)


def _trap(verdict: Verdict, written: str, machine: Machine) -> Remark:
    trap, instead, sources = verdict.trap, verdict.instead, verdict.sources
    assert trap is not None
    unsure = verdict.holds is None
    why = trap.summary + (f" (kernel {trap.kernel})" if trap.kernel else "")
    if unsure and trap.acts_on:
        known = "not every GPU" if machine.gpus else "no GPU"
        why += f" That is so on {trap.acts_on.words()}; {known} is known here."
    if not verdict.strict:
        return warning(
            "RC7102", f"{written} is not what it seems", trap.summary, instead=instead, sources=sources
        )
    if trap.kind in ("inverted", "dangerous"):
        id = "RC7104" if trap.kind == "inverted" else "RC7109"
        sure, perhaps = {
            "inverted": (
                "does the opposite of what it is set for",
                "may do the opposite of what it is set for",
            ),
            "dangerous": ("is harmful", "is harmful on some GPUs"),
        }[trap.kind]
        if unsure:
            return info(id, f"{written} {perhaps}", why, sources=sources)
        return warning(id, f"{written} {sure}", why, instead=instead, sources=sources)
    if trap.kind == "default":
        said = f"{written} is what happens anyway" + (" on some GPUs" if unsure else "")
        return info("RC7114", said, why, remove=not unsure, sources=sources)
    if trap.kind == "obsolete":
        return info("RC7115", f"{written} is no longer needed", why, instead=instead, sources=sources)
    if trap.kind == "misread":
        said = f"{written} is not what many take it for"
        return info("RC7116", said, why, instead=instead, sources=sources)
    if unsure or trap.acts_on is None:
        said = f"{written} does nothing on some {'GPUs' if unsure else 'hosts'}"
        return info("RC7113", said, why, instead=instead, sources=sources)
    said = f"{written} does nothing on {machine.gpu_names}"
    return info("RC7113", said, why, instead=instead, remove=instead is None, sources=sources)
