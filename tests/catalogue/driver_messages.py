"""The messages that amdgpu, amdkfd, TTM and the GPU scheduler print when something failed, and which fault
classes answer them.

    python -m tests.catalogue.driver_messages --read FOLDER --release 7.3.4
        reads a kernel's source below FOLDER and writes data/driver-messages-RELEASE.txt
    python -m tests.catalogue.driver_messages
        prints how many messages a class with a cause and an action of its own answers; --rest lists the
        others, --twice those that two classes answer

The file has a line for each message: level, printer, function, a tabulator, and the format string. A line
that starts with # names the file for the lines below it, relative to drivers/gpu/drm.
"""

from __future__ import annotations

import argparse
import bisect
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rocmcfg.knowledge import faults

DATA = Path(__file__).with_name("data")
FOLDERS = ("amd", "ttm", "scheduler")
# What a message is printed with: dev is dev_err, drm is drm_err, bare DRM_ERROR, pr is pr_err, warn is WARN.
_PRINTERS = {
    "error": {
        "dev": "dev_err dev_crit dev_alert dev_emerg RAS_DEV_ERR",
        "drm": "drm_err DC_LOG_ERROR DRM_DEV_ERROR",
        "bare": "DRM_ERROR dm_error",
        "pr": "pr_err pr_crit pr_alert pr_emerg",
        "warn": "WARN drm_WARN WARN_RATELIMIT",
    },
    "warning": {
        "dev": "dev_warn RAS_DEV_WARN",
        "drm": "drm_warn DC_LOG_WARNING DC_ERROR",
        "bare": "DRM_WARN",
        "pr": "pr_warn",
    },
    "info": {"dev": "dev_info RAS_DEV_INFO RAS_EVENT_LOG"},
}
_MACROS = {
    macro + suffix: (level, printer)
    for level, printers in _PRINTERS.items()
    for printer, macros in printers.items()
    for macro in macros.split()
    for suffix in ("", "_once", "_ONCE", "_ratelimited", "_RATELIMITED")
}
_CALL = re.compile(rf"\b({'|'.join(sorted(_MACROS, key=len, reverse=True))})\s*\(")
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_NEXT_LITERAL = re.compile(r'\s*([A-Z_][A-Za-z_0-9]*)?\s*"((?:[^"\\\n]|\\.)*)"')
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_FUNCTION = re.compile(r"^(?![\s#}{/*])[^;=:{}]*?\b(\w+)\s*\(", re.MULTILINE)
# A warning counts where its words tell of a failure; a piece of information besides only in files about
# errors of the hardware.
_FAILURE = re.compile(
    r"fail|error|time.?out|timed out|unable|cannot|could ?n.t|invalid|corrupt|hung|poison|bad page"
    r"|threshold|unhandled|not respond|mismatch|unsupported|too (?:old|small|large)|throttl|not found|lost"
    r"|exceed|PSP_STATUS|ECC Status|oversubscribed|ACA\[",
    re.IGNORECASE,
)
_HARDWARE = re.compile(r"ras|umc|xgmi|mca|aca|kfd_int_process|gfx_v9_4")
_CONVERSION = re.compile(
    r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|L|z|t|j)?([a-zA-Z%])(?:4cc|e\b|s\b)?"
)
_VALUES = {"s": "gfx", "c": "c", "x": "1f", "X": "1F", "p": "00000000c0ffee00", "%": "%"}
_PREFIXES = {
    "dev": "amdgpu 0000:03:00.0: amdgpu: {text}",
    "drm": "amdgpu 0000:03:00.0: [drm] *ERROR* {text}",
    "bare": "[drm:{function} [amdgpu]] *ERROR* {text}",
    "pr": "amdgpu: {text}",
    "warn": "{text}",
}


class DriverMessage(NamedTuple):
    """A message of the driver; `file` is relative to drivers/gpu/drm."""

    level: str
    printer: str
    file: str
    function: str
    text: str

    def line(self) -> str:
        """Return a line as the kernel prints it, with values made up."""
        prefix = _PREFIXES[self.printer]
        if self.printer == "pr" and self.file.startswith("ttm"):
            prefix = "[TTM] {text}"
        text = _CONVERSION.sub(lambda conversion: _VALUES.get(conversion[1], "7"), self.text)
        return prefix.format(function=self.function, text=text)


class FaultClass(NamedTuple):
    """A shipped fault class with its patterns; a line must also hold one of the texts beside a pattern."""

    id: str
    general: bool
    patterns: Sequence[tuple[re.Pattern[str], Sequence[str]]]

    def answers(self, line: str) -> bool:
        return any(
            (not needs or any(text in line for text in needs)) and pattern.search(line)
            for pattern, needs in self.patterns
        )


def fault_classes() -> list[FaultClass]:
    """Return the shipped classes of the layers that the kernel prints."""
    return [
        FaultClass(
            fault.id,
            fault.general,
            [(re.compile(row.pattern), row.needs) for row in fault.patterns],
        )
        for fault in faults.faults().values()
        if faults.layers()[fault.layer].of_kernel
    ]


def read_source(root: Path) -> Iterator[DriverMessage]:
    """Yield the messages of a kernel's source, each text once a file."""
    base = root / "drivers/gpu/drm"
    for folder in FOLDERS:
        for path in sorted((base / folder).rglob("*.[ch]")):
            if not {"asic_reg", "tests"} & set(path.parts):
                name = str(path.relative_to(base))
                texts = set()
                for message in _read_file(name, path.read_text(errors="replace")):
                    if message.text not in texts and _counts(message):
                        texts.add(message.text)
                        yield message


def _read_file(name: str, source: str) -> Iterator[DriverMessage]:
    source = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), source)
    functions = [(match.start(), match[1]) for match in _FUNCTION.finditer(source)]
    starts = [start for start, _ in functions]
    for call in _CALL.finditer(source):
        head = source[source.rfind("\n", 0, call.start()) + 1 : call.start()]
        if head.lstrip().startswith("#define") or "//" in head:
            continue
        if text := _format_string(source, call.end()):
            index = bisect.bisect(starts, call.start()) - 1
            level, printer = _MACROS[call[1]]
            yield DriverMessage(level, printer, name, functions[index][1] if index >= 0 else "?", text)


def _format_string(source: str, start: int) -> str:
    """Return the first literal of a call's arguments, with those that follow directly, or an empty text."""
    depth, end = 1, start
    while depth and end < len(source):
        if source[end] == '"' and (literal := _LITERAL.match(source, end)):
            text, end = literal[1], literal.end()
            while following := _NEXT_LITERAL.match(source, end):
                text += ("x" if text.endswith("%") else "%s" if following[1] else "") + following[2]
                end = following.end()
            text = text.replace("\\n", "").replace("\\t", " ").replace('\\"', '"')
            return " ".join(text.split())
        depth += {"(": 1, ")": -1}.get(source[end], 0)
        end += 1
    return ""


def _counts(message: DriverMessage) -> bool:
    if not re.search(r"[A-Za-z]{2}", _CONVERSION.sub("", message.text)):
        return False
    if message.level == "error":
        return True
    reports = message.level == "warning" or _HARDWARE.search(message.file)
    return bool(reports and _FAILURE.search(message.text))


def write_data(messages: Iterable[DriverMessage], file: Path) -> None:
    """Write the messages in the format that the head of this module describes."""
    lines = []
    for name, group in itertools.groupby(messages, key=lambda message: message.file):
        lines.append(f"# {name}")
        lines += [f"{row.level} {row.printer} {row.function}\t{row.text}" for row in group]
    file.write_text("\n".join(lines) + "\n")


def read_data(file: Path | None = None) -> list[DriverMessage]:
    """Return the messages of a file, by default of the newest release in `data`."""
    file = file or max(DATA.glob("driver-messages-*.txt"))
    name, messages = "", []
    for line in file.read_text().splitlines():
        if line.startswith("# "):
            name = line[2:]
        else:
            head, _, text = line.partition("\t")
            level, printer, function = head.split(" ")
            messages.append(DriverMessage(level, printer, name, function, text))
    return messages


class Coverage(NamedTuple):
    """Distinct texts by what answers them; a text that several files print counts once."""

    own: list[DriverMessage]
    general: list[DriverMessage]
    nothing: list[DriverMessage]
    by_class: Counter[str]
    twice: list[tuple[DriverMessage, list[str]]]

    @property
    def share(self) -> float:
        """The share of texts that a class with a cause and an action of its own answers, from 0 to 1."""
        return len(self.own) / max(1, len(self.own) + len(self.general) + len(self.nothing))


def coverage(messages: Iterable[DriverMessage], classes: Sequence[FaultClass]) -> Coverage:
    """Match a sample line of each distinct text with the classes."""
    result = Coverage([], [], [], Counter(), [])
    for message in {message.text: message for message in messages}.values():
        line = message.line()
        answers = [fault for fault in classes if fault.answers(line)]
        own = [fault.id for fault in answers if not fault.general]
        if own:
            result.own.append(message)
            result.by_class.update(own[:1])
            if len(own) > 1:
                result.twice.append((message, own))
        else:
            (result.general if answers else result.nothing).append(message)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description="Which fault classes answer the driver's messages.")
    parser.add_argument("--read", type=Path, metavar="FOLDER", help="a kernel's source")
    parser.add_argument("--release", help="the release of that source, such as 7.3.4")
    parser.add_argument("--rest", action="store_true", help="list what no class of its own answers")
    parser.add_argument("--twice", action="store_true", help="list what two classes answer")
    options = parser.parse_args()
    if options.read:
        write_data(read_source(options.read), DATA / f"driver-messages-{options.release}.txt")
    messages, classes = read_data(), fault_classes()
    for level in ("error", "warning", "info"):
        result = coverage([message for message in messages if message.level == level], classes)
        total = len(result.own) + len(result.general) + len(result.nothing)
        print(
            f"{level}: {total} texts; {len(result.own)} ({result.share:.1%}) by a class of their own,"
            f" {len(result.general)} by a catch-all, {len(result.nothing)} by none,"
            f" {len(result.twice)} by two"
        )
        if level == "error":
            print("  " + ", ".join(f"{id} {count}" for id, count in sorted(result.by_class.items())))
        for message in (*result.general, *result.nothing) if options.rest else ():
            print(f"  {message.file}:{message.function}\t{message.text}")
        for message, ids in result.twice if options.twice else ():
            print(f"  {' '.join(ids)}\t{message.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
