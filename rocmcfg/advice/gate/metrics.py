"""Describe a verification as metrics for Prometheus, and as features for node feature discovery in
Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rocmcfg.advice.gate.answers import LEVELS, counts, level_of
from rocmcfg.model.checks import PASSES, VerificationReport
from rocmcfg.model.difference import WEIGHTS
from rocmcfg.model.regex import regex

_NO_LABEL = regex(r"[^A-Za-z0-9_.-]+")


def metrics(report: VerificationReport | None, info: Mapping[str, str], now: float) -> str:
    """Return the metrics in the text format of Prometheus. `report` is None if the host could not be checked.
    `info` are labels that describe the host, `now` is the time in seconds since 1970."""
    return "".join(_lines(report, info, now))


def _lines(report: VerificationReport | None, info: Mapping[str, str], now: float) -> Iterator[str]:
    yield from _metric("rocmcfg_info", "What rocmcfg has applied, and where.", [(info, 1)])
    is_known = int(report is not None)
    yield from _metric("rocmcfg_verify_success", "Whether the host could be checked.", [({}, is_known)])
    text = "When the host was checked, in seconds since 1970."
    yield from _metric("rocmcfg_verify_timestamp_seconds", text, [({}, int(now))])
    state = [({"status": level.replace(" ", "_")}, int(level == level_of(report))) for level in LEVELS]
    yield from _metric("rocmcfg_status", "The status of all settings, and of the facts, together.", state)
    if report is None:
        return
    settings = [({"status": level.replace(" ", "_")}, number) for level, number in counts(report).items()]
    yield from _metric("rocmcfg_settings", "Settings that are applied, by their status.", settings)
    text = "Whether a setting is in effect on the running kernel, or in new logins."
    each = [({"setting": check.name}, int(check.status in PASSES)) for check in report.checks]
    yield from _metric("rocmcfg_setting_in_effect", text, each)
    if report.differences is None:
        return
    differing = [each for each in report.differences if not each.reason]
    counted = [
        ({"severity": weight}, sum(each.severity == weight for each in differing)) for weight in WEIGHTS
    ]
    text = "Facts that are not as on the golden host, by what they mean for jobs."
    yield from _metric("rocmcfg_golden_differences", text, counted)
    text = "Facts of the golden host that this host does not show."
    unknown = len(report.differences) - len(differing)
    yield from _metric("rocmcfg_golden_unknown_facts", text, [({}, unknown)])
    names = dict.fromkeys(each.fact for each in report.mattering)
    text = "A fact that is not as on the golden host, and matters for jobs."
    yield from _metric("rocmcfg_golden_difference", text, [({"fact": name}, 1) for name in names])


def _metric(name: str, text: str, samples: Sequence[tuple[Mapping[str, str], int]]) -> Iterator[str]:
    """Yield a gauge with its help. Empty labels are left out, as Prometheus treats both alike."""
    if not samples:
        return
    yield f"# HELP {name} {text}\n# TYPE {name} gauge\n"
    for labels, value in samples:
        pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items() if text)
        yield f"{name}{{{pairs}}} {value}\n" if pairs else f"{name} {value}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def features(report: VerificationReport | None, info: Mapping[str, str]) -> str:
    """Return the features of a host, one `NAME=VALUE` a line, from which node feature discovery makes labels
    feature.node.kubernetes.io/NAME. A value has at most 63 of the characters that a label may have."""
    pairs = {"rocmcfg-status": level_of(report).replace(" ", "-")}
    pairs |= {f"rocmcfg-{key}": text for key, text in info.items() if text}
    return "".join(f"{name}={_NO_LABEL.sub('_', text)[:63].strip('_.-')}\n" for name, text in pairs.items())
