"""docs/reference/diagnostics.md, from the calls that make diagnostics."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocmcfg.advice.lint.remark import CLASSES

REPOSITORY = Path(__file__).resolve().parents[2]

ID = re.compile(r"RC\d{4}")
ROOMS = {
    "RC0": "the command line",
    "RC1": "profiles and other TOML files",
    "RC20": "the request",
    "RC21": "parameters and their values",
    "RC30": "the host",
    "RC31": "the boot loader",
    "RC32": "the initramfs",
    "RC33": "readers of variables",
    "RC40": "transactions",
    "RC43": "trial boots",
    "RC44": "GPU crashes",
    "RC45": "tries of settings",
    "RC46": "tries with reboots",
    "RC47": "facts and golden hosts",
    "RC5": "verify",
    "RC6": "explain",
    "RC70": "lint: the files and the machine",
    "RC71": "lint: findings, one class each",
    "RC73": "fleet",
    "RC8": "doctor",
    "RC9": "defects and interruptions",
}
# Summaries that are put together elsewhere than where the diagnostic is made.
SAID = {
    "RC4705": "PATH comes from a newer or an older rocmcfg, whose documents this one cannot read",
    "RC4506": "a GPU is not at rest after a fault, or amdgpu no longer drives it",
    "RC0001": "the command line cannot be understood (the message names the option)",
    "RC1003": "KEY: not valid in the format (one diagnostic per key)",
    "RC3003": "PROGRAM: failed, did not finish in time, or is not installed",
    "RC3103": "a boot entry is missing an argument, or still has one that was removed",
    "RC3108": "an argument has text that the boot loader reads differently, such as a semicolon for GRUB",
    "RC3204": "an initramfs image does not contain rocmcfg's present modprobe.d file",
    "RC3014": "no known boot loader, or several and no proof of which one boots the host",
    "RC3015": "rocmcfg cannot configure the boot loader of this host yet, or the host's own configuration "
    "sets the kernel arguments",
    "RC7302": "found no document of a host",
    "RC3016": "rocmcfg cannot configure the initramfs generator of this host yet",
}
# Ids that had a meaning once, and get no other.
RETIRED = {
    *(
        "RC2040",
        "RC2048",
        "RC2049",
        "RC2054",
        "RC3028",
        "RC3129",
        "RC3130",
        "RC4325",
        "RC4331",
        "RC4336",
    ),
    *("RC4341", "RC5004", "RC6004", "RC7003", "RC8105", "RC8107", "RC8122", "RC9002"),
}
# Ids that are raised in several places or wordings, each with one meaning. The words of verdicts are those of
# rocmcfg/judging/words.py.
ONE_MEANING = {
    "RC4703": "the file is no document of `rocmcfg facts`",
    "RC4704": "the document of the golden host is damaged, or has no fact",
    "RC4503": "there is no such try",
    "RC4508": "the try has ended",
    "RC4510": "`--crashed`: the machine did not go down during a run of this try",
    "RC4514": "`--drop`: the variable is not set here, or no variable that rocmcfg knows is set",
    "RC2015": "a kernel argument does not do what it seems to",
    "RC2016": "nothing reads the variable",
    "RC2017": "the reader of a variable does not accept the value",
    "RC2018": "a variable is meant as off, but any value turns it on",
    "RC2020": "no feature has this name",
    "RC2051": "the value is not documented",
    "RC2102": "some kernels of this host do not have the parameter",
    "RC2103": "no installed kernel has the parameter",
    "RC2105": "the value is out of range",
    "RC2106": "a kernel may refuse the value",
    "RC2107": "setting the parameter taints the kernel",
    "RC2108": "the parameter is deprecated",
    "RC2109": "a module cannot be inspected, so the value is not checked",
    "RC2110": "there is no such module",
    "RC1013": "`profile new`: the name is taken, by a local profile or a shipped one",
    "RC2001": "`--set` does not say what to set",
    "RC2002": "`--set` specifies a value that cannot be written",
    "RC4034": "a program failed, or left unusable files, and the earlier files were restored",
    "RC3170": "an unclosed foreign quote, on a command line or in modprobe.d, would hide rocmcfg's arguments",
    "RC2025": "the profiles that --profile auto chose, and the GPUs without a profile",
    "RC2050": "what a setting really does on this host: the opposite, nothing, damage, a taint, or less",
    "RC2060": "the opposite of what cures a known issue of a GPU of this host",
    "RC2055": "a setting gives its author control of the machine: refused if a user other than root may "
    "have written it",
    "RC3020": "--root: there is no host",
    "RC3002": "a file or folder cannot be written: read-only, full, or not root",
    "RC2101": "no kernel, or none of the installed ones, has this parameter",
    "RC2104": "the value would keep the module from loading",
    "RC4003": "a file at a path of rocmcfg's differs from what rocmcfg wrote",
    "RC4012": "everything was rolled back; the host is unchanged, except for regenerated files",
    "RC4024": "there is no such transaction, or it is a trial, and a rollback cannot go back to a trial",
    "RC4404": "no crash was saved, or not exactly one has the id",
    "RC4310": "no trial boot with this boot loader",
    "RC6001": "nothing is known about a name",
    "RC6002": "--kernel RELEASE: not a kernel version",
    "RC7004": "--kernel RELEASE: not a kernel version",
    "RC7101": "unknown: nothing has or reads this name",
    "RC7102": "misspelt: nothing has or reads this name, which stands for another one",
    "RC7122": "undoes a cure: the opposite of what cures a known issue of this GPU",
    "RC7103": "illegal value: the driver would not load, or the reader does not accept it",
    "RC7104": "inverted: the value does the opposite of what is meant",
    "RC7105": "presence only: 0 counts as set",
    "RC7106": "build only: read when software is compiled, never when it runs",
    "RC7107": "deprecated",
    "RC7108": "taints the kernel",
    "RC7109": "dangerous",
    "RC7110": "side effect: a whole mask that changes more than people copy it for",
    "RC7111": "conflict: another value of the same name takes precedence, or nothing reads it there",
    "RC7112": "duplicate",
    "RC7113": "no effect on this hardware",
    "RC7114": "default: the value is the default anyway",
    "RC7115": "obsolete: a workaround that is no longer needed",
    "RC7116": "misread: a legal value that is often misunderstood",
    "RC7117": "absent here: these kernels have no such parameter",
    "RC7118": "syntax: the reader of the file does not understand this",
    "RC7119": "read only: cannot be written while the driver runs",
    "RC7120": "limited: right, but only partly reached on some kernels or GPUs",
    "RC7121": "not exported: the shell that reads the file has it, but no program gets it",
    "RC7123": "costly: it does what people set it for, at a price",
    "RC7124": "debugging: useful only to find a fault",
    "RC7125": "hands over: a user who can write the named place chooses what others run or read",
    "RC9000": "a defect of rocmcfg",
}
# Ids that no call gives as they are, with the severities that they may have.
LOOKED_UP = {
    "RC6002": ("error",),
    "RC7004": ("error",),
    "RC7104": ("warning", "info"),
    "RC7109": ("warning", "info"),
    "RC7120": ("info",),
    "RC7123": ("info",),
    "RC7124": ("info",),
}
# Functions that give a hint.
HINTS: dict[str, str] = {}
# Hints that differ by what was met, or that the callers of a function give.
HINTED = {
    **dict.fromkeys(
        ("RC4701", "RC4702", "RC4703", "RC4704"),
        "save it again on the golden host: `rocmcfg facts --save FILE`",
    ),
    "RC4708": "the step for that fact, such as `sudo sysctl -w kernel.numa_balancing=0`",
    "RC0001": "see `rocmcfg COMMAND --help`",
    "RC2015": "write what the message proposes",
    "RC2016": "write what the message proposes, or leave the variable out",
    "RC2017": "write a value that it accepts, or leave the variable out",
    "RC2018": "unset the variable to turn it off",
    "RC2020": "did you mean …?",
    "RC2050": "write what the message proposes, or leave the setting out unless you know why you want it",
    "RC2051": "see `rocmcfg explain NAME`",
    "RC2101": "did you mean …?",
    "RC2103": "remove it from the profile, or leave it out with --without ID",
    "RC2104": "see `modinfo -p MODULE` for the values that it accepts",
    "RC2105": "choose a value within the range",
    "RC2106": "see `modinfo -p MODULE` for the values that it accepts",
    "RC2107": "remove the parameter before you report a fault",
    "RC2108": "write what the message proposes, or leave the setting out unless you know why you want it",
    "RC2110": "did you mean …?",
    "RC8130": "write what the message proposes, or leave it out; `rocmcfg lint` finds the file that sets it",
    "RC3172": "close the quote, write the value on one line, take the sign out, or put a backslash before it "
    "that GRUB sees",
    "RC3307": "set the variable in plain words in the file that is named, or not at all",
}
SEVERITY = {
    "_as_sure": "warning or info",
    "error": "error",
    "fail": "error",
    "_by_hand": "error",
    "warning": "warning",
    "info": "info",
}


@dataclass(frozen=True, slots=True)
class Made:
    id: str
    severity: str
    summary: str
    hint: str
    where: str


def page() -> str:
    found: dict[str, list[Made]] = {}
    for made in all_made():
        found.setdefault(made.id, []).append(made)
    if missing := CLASSES.keys() - found:
        sys.exit(f"no call makes {', '.join(sorted(missing))}: name them in LOOKED_UP")
    lines = [
        "# Diagnostics",
        "",
        "Every problem and remark has an id that keeps its meaning between releases. In this table, words in",
        "CAPITALS stand for the names in a message, and `…` stands for composed text. `docs/generate.py`",
        "writes this page.",
    ]
    for prefix, title in ROOMS.items():
        lines += [
            "",
            f"## {prefix}…: {title}",
            "",
            "| id | severity | summary | what to do |",
            "|---|---|---|---|",
        ]
        for id in sorted(i for i in found if i.startswith(prefix)):
            lines.append(_row(id, found.pop(id)))
    lines += ["", f"Retired, and never used again: {', '.join(sorted(RETIRED))}."]
    if again := RETIRED & {made.id for made in all_made()}:
        sys.exit(f"{', '.join(again)} had another meaning once: take a new id")
    if found:
        sys.exit(f"no section for {', '.join(found)}: add one to ROOMS")
    return "\n".join(lines) + "\n"


def table() -> str:
    """What `rocmcfg explain RC…` reads: the rows of the page, without its marks."""
    rows = (line.strip("| ").split(" | ") for line in page().splitlines() if line.startswith("| RC"))
    return "".join("\t".join([*row, ""][:4]).replace("\\|", "|") + "\n" for row in rows)


@functools.cache
def all_made() -> list[Made]:
    """Every call of the program that makes a diagnostic."""
    paths = sorted((REPOSITORY / "rocmcfg").rglob("*.py"))
    looked_up = [(id, severity) for id, severities in LOOKED_UP.items() for severity in severities]
    return [
        *(made for path in paths for made in _made_in(path)),
        *(Made(id, severity, ONE_MEANING[id], "", "") for id, severity in looked_up),
    ]


def _row(id: str, made: list[Made]) -> str:
    summaries = list(dict.fromkeys(one.summary for one in made))
    if len(summaries) > 1 and id not in ONE_MEANING:
        places = "\n".join(f"  {one.where}: {one.summary}" for one in made)
        sys.exit(f"{id} has several summaries: one meaning (then name it in ONE_MEANING) or two?\n{places}")
    summary = SAID.get(id) or ONE_MEANING.get(id) or summaries[0]
    severity = " or ".join(dict.fromkeys(word for one in made for word in one.severity.split(" or ")))
    hint = HINTED.get(id) or next(filter(None, (_cell(call.hint) for call in made)), "")
    return f"| {id} | {severity} | {_cell(summary)} | {hint} |"


def _cell(text: str) -> str:
    text = "" if text in ("…", "HINT", "DEPRECATED") else text.removeprefix("HINT")
    return re.sub(r"(…[\s,]*)+…", "…", text).replace("|", "\\|").replace("\n", " ")


def _made_in(path: Path) -> Iterator[Made]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        id = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        if not isinstance(id, str) or not ID.fullmatch(id):
            continue
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        where = f"{path.relative_to(REPOSITORY)}:{call.lineno}"
        if name not in SEVERITY:
            sys.exit(f"{where}: {id} is given to {name or 'something'}, of which no severity is known")
        around = [f for f in functions if f.lineno <= call.lineno <= (f.end_lineno or 0)]
        summary = _text(_meant(call.args[1], call, around))
        hint = next((_text(_meant(k.value, call, around)) for k in call.keywords if k.arg == "hint"), "")
        yield Made(id, SEVERITY[name], summary, hint, where)


def _meant(given: ast.expr, call: ast.Call, around: list[ast.FunctionDef]) -> ast.expr:
    """The text that a local name was given last before the call; anything else as it stands."""
    if not isinstance(given, ast.Name) or not around:
        return given
    innermost = max(around, key=lambda function: function.lineno)
    texts = [
        (node.lineno, value)
        for node in ast.walk(innermost)
        if isinstance(node, ast.Assign) and node.lineno < call.lineno
        for target, value in _pairs(node.targets[0], node.value)
        if isinstance(target, ast.Name) and target.id == given.id
    ]
    text = max(texts, key=lambda found: found[0])[1] if texts else given
    return given if isinstance(text, ast.Name | ast.Attribute) else text


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _text(node: ast.expr) -> str:
    """A literal as the reader sees it; what it is filled with by its name, or as `…`."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _text(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.IfExp) and isinstance(node.body, ast.Constant) and not node.body.value:
        return "…"
    if isinstance(node, ast.IfExp):
        return _text(node.body) if not isinstance(node.orelse, ast.Constant) else _text(node.orelse) or "…"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return HINTS.get(node.func.id, "…")
    if isinstance(node, ast.Name):
        return node.id.strip("_").upper()
    return node.attr.upper() if isinstance(node, ast.Attribute) else "…"
