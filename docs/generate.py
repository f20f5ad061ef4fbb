#!/usr/bin/env python3
"""Writes the parts of the documentation that are facts of the code, or checks that they still are.

    python docs/generate.py            # rewrite them
    python docs/generate.py --check    # exit 1 and show the difference where one is out of date

`docs/diagnostics.md` as a whole, from the calls that make diagnostics. In README.md, between its
`<!-- generated: NAME -->` markers: the profiles, the boot loaders that are recognised, and what commands
print on a copy of the sample host. Run it with a Python that has rocmcfg. Prose does not belong here.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
README = REPOSITORY / "README.md"
DIAGNOSTICS = HERE / "diagnostics.md"
SAMPLE = HERE / "demo" / "sample-host"
CUT = "[…]"


def main() -> int:
    parser = argparse.ArgumentParser(description="Regenerate the generated parts of the documentation.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where one is stale")
    check = parser.parse_args().check
    stale = 0
    for path, text in ((DIAGNOSTICS, diagnostics()), (README, readme())):
        before = path.read_text() if path.exists() else ""
        if before == text:
            continue
        name = str(path.relative_to(REPOSITORY))
        if check:
            lines = difflib.unified_diff(before.splitlines(), text.splitlines(), name, "now", lineterm="")
            sys.stdout.write("\n".join(lines) + f"\n{name} is out of date: run docs/generate.py\n")
            stale = 1
        else:
            path.write_text(text)
            sys.stdout.write(f"written: {name}\n")
    return stale


# -- README ---------------------------------------------------------------------------------------------


def readme() -> str:
    text = README.read_text()
    for name, body in (("profiles", profiles()), ("boot loaders", boot_loaders()), *examples()):
        block = re.compile(rf"(<!-- generated: {re.escape(name)} -->\n).*?(<!-- end -->)", re.S)
        if len(block.findall(text)) != 1:
            sys.exit(f"README.md needs the markers of {name!r} exactly once")
        text = block.sub(lambda found, body=body: f"{found[1]}{body}\n{found[2]}", text)  # type: ignore[misc]
    return text


def profiles() -> str:
    """One row per setting of each profile that has settings of its own."""
    documents = {
        path.stem: tomllib.loads(path.read_text()) for path in (REPOSITORY / "profiles").glob("*.toml")
    }
    rows = ["| profile | sets | why | confidence | cost |", "|---|---|---|---|---|"]
    for name, document in sorted(documents.items()):
        settings = list(_settings(document))
        if not settings:
            continue
        also = sorted(other for other, d in documents.items() if d.get("extends") == name)
        label = f"**{name}**" + (f" ({', '.join(also)})" if also else f" ({_range(document['gfx'])})")
        for key, setting in settings:
            if setting.get("optional"):
                continue
            what = f"`{key}`{_when(setting.get('when', {}))}"
            why, cost = _sentence(setting["because"]), _sentence(setting["cost"])
            cells = (label, what, why, setting["confidence"], cost)
            rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
            label = ""
        optional = ", ".join(f"`{key}`" for key, setting in settings if setting.get("optional"))
        if optional:
            rows.append(f"| | {optional} | optional: `--with` adds them | | |")
    return "\n".join(rows)


def _settings(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for module, parameters in document.get("module", {}).items():
        yield from ((f"{module}.{name}={s['value']}", s) for name, s in parameters.items())
    for name, setting in document.get("features", {}).items():
        yield f"feature.{name}={str(setting['value']).lower()}", setting
    for section, prefix in (("cmdline", "karg"), ("env", "env")):
        yield from ((f"{prefix}.{n}={s['value']}", s) for n, s in document.get(section, {}).items())


def _sentence(text: str) -> str:
    """The first one; `rocmcfg profile show` has the rest."""
    return re.split(r"(?<=[a-z0-9)])\.\s+(?=[A-Z])", text)[0].rstrip(".") + "."


def _range(gfx: list[str]) -> str:
    return gfx[0] if len(gfx) == 1 else f"{gfx[0]} to {gfx[-1]}"


def _when(condition: dict[str, str]) -> str:
    said = {"lacks-fix": "kernel lacks {}", "rocm": "ROCm {}", "kernel": "kernel {}", "gfx": "{}"}
    parts = [said[key].format(value) for key, value in condition.items()]
    return f", if {' and '.join(parts)}" if parts else ""


def boot_loaders() -> str:
    from rocmcfg.backends.boot import recognised

    text = ", ".join(chain.title for chain in recognised._CHAINS) + "."
    return textwrap.fill(text, 110, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


# -- README: what commands print ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shown:
    """A command, its exit code, and the ranges of lines that are shown: (first, last) by how they begin."""

    words: tuple[str, ...]
    code: int = 0
    ranges: tuple[tuple[str, str], ...] = ()


def examples() -> list[tuple[str, str]]:
    """The console blocks, in the order in which a user would run them on one host."""
    plan = Shown(
        ("plan", "--profile", "gfx1201"),
        ranges=(
            ("System", "Boot"),
            ("Settings", "      cwsr-expert"),
            ("Kernel command line", "  quiet"),
            ("# kernel command line", "@@"),
            ("+GRUB_CMDLINE_LINUX_DEFAULT=", "+GRUB"),
            ("Programs", "  update-grub"),
            ("5 files", "5 files"),
        ),
    )
    apply = Shown(("apply", "--profile", "gfx1201", "--yes"), ranges=(("Applied", "Next"),))
    with tempfile.TemporaryDirectory(prefix="rocmcfg-readme-") as temporary:
        root = Path(temporary) / "host"
        shutil.copytree(SAMPLE, root, symlinks=True)
        blocks = [("plan", _console(root, plan)), ("apply", _console(root, apply))]
        reboot = [sys.executable, str(HERE / "demo" / "reboot.py"), str(root)]
        pending = _console(root, Shown(("verify",), 6, (("Pending", "Pending"),)))
        subprocess.run(reboot, check=True, capture_output=True)
        blocks.append(("verify", pending + "\n" + _console(root, Shown(("verify",)))))
    return [(name, f"```console\n{body}\n```") for name, body in blocks]


def _console(root: Path, shown: Shown) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "rocmcfg", *shown.words, "--root", str(root)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != shown.code or done.stderr:
        sys.exit(f"{shown}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    lines = _parts(done.stdout.rstrip("\n").split("\n"), shown.ranges)
    return "\n".join([f"$ rocmcfg {' '.join(shown.words)} --root sample", *lines])


def _parts(lines: list[str], ranges: tuple[tuple[str, str], ...]) -> list[str]:
    if not ranges:
        return lines
    kept: list[str] = []
    at = 0
    for first, last in ranges:
        begin = next(i for i in range(at, len(lines)) if lines[i].startswith(first))
        end = next(i for i in range(begin, len(lines)) if lines[i].startswith(last))
        kept += [CUT] * (begin > at) + lines[begin : end + 1]
        at = end + 1
    return kept + [CUT] * (at < len(lines))


# -- diagnostics ----------------------------------------------------------------------------------------

ID = re.compile(r"RC\d{4}")
ROOMS = {
    "RC0": "the command line",
    "RC1": "profiles and other TOML files",
    "RC20": "what was asked for",
    "RC21": "parameters and their values",
    "RC30": "the host",
    "RC31": "the boot loader",
    "RC32": "the initramfs",
    "RC4": "transactions",
    "RC5": "verify",
    "RC6": "explain",
    "RC9": "defects and interruptions",
}
# Summaries that are put together elsewhere than where the diagnostic is made.
SAID = {
    "RC0001": "the command line cannot be understood (said as the option's own message)",
    "RC1003": "KEY: not what the format wants there (one diagnostic per key)",
    "RC3003": "PROGRAM: failed, did not end in time, or is not installed",
    "RC3103": "a boot entry misses an argument, or still has one that was taken away",
    "RC3204": "an initramfs image does not hold our modprobe.d file as it is on disk",
    "RC3014": "no boot loader that rocmcfg knows, or several and no proof which one boots",
    "RC3015": "the boot loader of this host is one that rocmcfg cannot configure yet",
    "RC3016": "the initramfs generator of this host is one that rocmcfg cannot configure yet",
}
# Ids that are raised in several places or wordings, each with one meaning.
ONE_MEANING = {
    "RC2001": "`--set` does not say what to set",
    "RC2002": "`--set` gives a value that cannot be written",
    "RC2101": "no kernel, or none of the installed ones, has this parameter",
    "RC2104": "the value would keep the module from loading",
    "RC9000": "a defect of rocmcfg",
}
SEVERITY = {"error": "error", "fail": "error", "_by_hand": "error", "warning": "warning", "info": "info"}


@dataclass(frozen=True, slots=True)
class Made:
    id: str
    severity: str
    summary: str
    hint: str
    where: str


def diagnostics() -> str:
    found: dict[str, list[Made]] = {}
    for path in sorted((REPOSITORY / "rocmcfg").rglob("*.py")):
        for made in _made_in(path):
            found.setdefault(made.id, []).append(made)
    lines = [
        "# Diagnostics",
        "",
        "Every problem and remark has an id that keeps its meaning between releases. CAPITALS stand for what",
        "the message names, `…` for what it puts together. `docs/generate.py` writes this page.",
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
    if found:
        sys.exit(f"no section for {', '.join(found)}: add one to ROOMS")
    return "\n".join(lines) + "\n"


def _row(id: str, made: list[Made]) -> str:
    summaries = list(dict.fromkeys(one.summary for one in made))
    if len(summaries) > 1 and id not in ONE_MEANING:
        places = "\n".join(f"  {one.where}: {one.summary}" for one in made)
        sys.exit(f"{id} has several summaries: one meaning (then name it in ONE_MEANING) or two?\n{places}")
    summary = SAID.get(id) or ONE_MEANING.get(id) or summaries[0]
    severity = " or ".join(dict.fromkeys(one.severity for one in made))
    hint = next((one.hint for one in made if one.hint), "")
    return f"| {id} | {severity} | {_cell(summary)} | {_cell(hint)} |"


def _cell(text: str) -> str:
    text = "" if text in ("…", "HINT", "DEPRECATED") else text.removeprefix("HINT")
    return re.sub(r"(…[\s,]*)+…", "…", text).replace("|", "\\|").replace("\n", " ")


def _made_in(path: Path) -> Iterator[Made]:
    source = path.read_text()
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    for call in calls:
        id = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        if not isinstance(id, str) or not ID.fullmatch(id):
            continue
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        where = f"{path.relative_to(REPOSITORY)}:{call.lineno}"
        if name not in SEVERITY:
            sys.exit(f"{where}: {id} is given to {name or 'something'}, of which no severity is known")
        hint = next((_text(k.value) for k in call.keywords if k.arg == "hint"), "")
        yield Made(id, SEVERITY[name], _text(call.args[1]), hint, where)


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
    if isinstance(node, ast.IfExp):
        return _text(node.body) if not isinstance(node.orelse, ast.Constant) else _text(node.orelse) or "…"
    if isinstance(node, ast.Name):
        return node.id.strip("_").upper()
    return node.attr.upper() if isinstance(node, ast.Attribute) else "…"


if __name__ == "__main__":
    sys.exit(main())
