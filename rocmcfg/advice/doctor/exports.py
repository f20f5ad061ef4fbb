"""Write the fault table in the words of other monitors. Pure.

`node-problem-detector` gets a configuration of its system log monitor. Its patterns are Go's, and must reach
to the end of the lines that it holds (CompilePattern, pkg/systemlogmonitor/log_buffer.go); `(?m)` lets `^`
and `$` mean a line. `prometheus` gets alerting rules on the counter that node-problem-detector exports,
`loki` alerting rules of its ruler on the lines themselves, and `json` is the whole table for programs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rocmcfg.judging.fault_words import blamed, outlook
from rocmcfg.model.fault import Fault, FaultPattern, Layer
from rocmcfg.model.shape import encode

_CONDITION = "AmdGpuFault"  # that node-problem-detector sets on a node
_WINDOW = "5m"
_SEVERITIES = {"fatal": "critical", "error": "warning", "degraded": "warning", "note": "info"}
# How promtail, Grafana Alloy and the Docker driver label lines is up to the host: every stream is searched.
_STREAMS = '{job=~".+"}'


def _alerting(faults: Iterable[Fault]) -> Iterator[Fault]:
    """Yield the classes that are worth an alert: without notes, and without the general classes, whose lines
    have no cause and no step of their own."""
    return (fault for fault in faults if fault.severity != "note" and not fault.general)


Export = Callable[[Iterable[Fault], Mapping[str, Layer]], str]


def reason(fault: Fault) -> str:
    """Return the name of a class in CamelCase, as Kubernetes wants the reason of a condition."""
    return fault.id.replace("-", "")


def node_problem_detector(faults: Iterable[Fault], layers: Mapping[str, Layer]) -> str:
    rules = [
        {**_kind(fault), "reason": reason(fault), "pattern": f"(?m){line}.*"}
        for fault in _alerting(faults)
        if layers[fault.layer].of_kernel
        for pattern in fault.patterns
        for line in _lines(pattern)
    ]
    message = "no fault of an AMD GPU was seen that needs an administrator"
    configuration = {
        "plugin": "kmsg",
        "logPath": "/dev/kmsg",
        "lookback": _WINDOW,
        "bufferSize": 10,
        "source": "amdgpu-monitor",
        "metricsReporting": True,
        "conditions": [{"type": _CONDITION, "reason": "NoAmdGpuFault", "message": message}],
        "rules": rules,
    }
    return json.dumps(configuration, indent=2) + "\n"


def _kind(fault: Fault) -> dict[str, str]:
    if fault.severity == "fatal":
        return {"type": "permanent", "condition": _CONDITION}
    return {"type": "temporary"}


def _lines(pattern: FaultPattern) -> Iterator[str]:
    """Yield patterns that, taken together, match the lines of one pattern with the texts that it needs."""
    if not pattern.needs or any(text in pattern.pattern for text in pattern.needs):
        yield pattern.pattern
        return
    texts = "|".join(map(re.escape, pattern.needs))
    yield f"({texts}).*({pattern.pattern})"
    yield f"({pattern.pattern}).*({texts})"


def prometheus(faults: Iterable[Fault], layers: Mapping[str, Layer]) -> str:
    return "".join(
        _rules(
            "on the counter of node-problem-detector with `rocmcfg issues --export node-problem-detector`",
            (
                (fault, f'increase(problem_counter{{reason="{reason(fault)}"}}[{_WINDOW}]) > 0')
                for fault in _alerting(faults)
                if layers[fault.layer].of_kernel
            ),
        )
    )


def loki(faults: Iterable[Fault], layers: Mapping[str, Layer]) -> str:
    del layers
    rows = ((fault, _selected(fault)) for fault in _alerting(faults))
    return "".join(_rules("for the ruler of Loki; adapt the labels in {…} to your streams", rows))


def _selected(fault: Fault) -> str:
    counts = [
        f"count_over_time({_STREAMS}{needs} |~ {_quoted(pattern.pattern)} [{_WINDOW}])"
        for pattern in fault.patterns
        for needs in ([f" |~ {_quoted('|'.join(map(re.escape, pattern.needs)))}"] if pattern.needs else [""])
    ]
    return " or ".join(f"{count} > 0" for count in counts)


def _quoted(pattern: str) -> str:
    return json.dumps(pattern) if "`" in pattern else f"`{pattern}`"


def _rules(use: str, rows: Iterable[tuple[Fault, str]]) -> Iterator[str]:
    """Yield the lines of a file of alerting rules. A text in JSON's quotes is one in YAML's."""
    yield f"# Alerts on faults of AMD GPUs, {use}.\n"
    yield "groups:\n  - name: amdgpu\n    rules:\n"
    for fault, expression in rows:
        description = f"{fault.meaning} Probably at fault: {blamed(fault)}. {outlook(fault)}"
        yield f"      - alert: {reason(fault)}\n"
        yield f"        expr: {json.dumps(expression)}\n"
        yield f"        labels: {{severity: {_SEVERITIES[fault.severity]}, layer: {fault.layer}}}\n"
        yield "        annotations:\n"
        yield f"          summary: {json.dumps(f'{fault.id}: {fault.title}')}\n"
        yield f"          description: {json.dumps(description)}\n"
        yield f"          action: {json.dumps(fault.step)}\n"


def as_json(faults: Iterable[Fault], layers: Mapping[str, Layer]) -> str:
    table: dict[str, Any] = {
        "schema": 1,
        "layers": encode(tuple(layers.values())),
        "faults": encode(tuple(faults)),
    }
    return json.dumps(table, indent=2, ensure_ascii=False) + "\n"


EXPORTS: Mapping[str, Export] = {
    "node-problem-detector": node_problem_detector,
    "prometheus": prometheus,
    "loki": loki,
    "json": as_json,
}
