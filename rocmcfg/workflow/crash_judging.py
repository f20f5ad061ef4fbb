"""Judge the log of a crash as doctor does, and describe the host as it was then."""

from __future__ import annotations

from rocmcfg.advice.report.markdown import markdown
from rocmcfg.advice.report.redact import redactor_of
from rocmcfg.host.view import HostView
from rocmcfg.knowledge import faults as fault_table
from rocmcfg.model.crash import CrashSetting, Verdict
from rocmcfg.workflow import reporting
from rocmcfg.workflow.diagnosing import Diagnosis


def judged(view: HostView, log: str) -> tuple[str, tuple[CrashSetting, ...], Verdict]:
    """Return the report of the host, the settings in force, and what doctor says of the log, a file of the
    host. Raises RocmcfgError."""
    path = f"{view.root.rstrip('/')}{log}"
    content, _, diagnosis = reporting.gather(view, [path], {})
    redact = redactor_of(view, {})
    for text in reporting.said_by(content):
        redact.learn(text)
    settings = (
        CrashSetting(set_here.name, set_here.running or "", default, set_here.source)
        for set_here, default in content["parameters"]
    )
    verdict = _verdict(diagnosis)
    content["trackers"] = content["trackers"] or tuple(filter(None, [verdict.tracker]))
    report = markdown(content, redact).replace(path, log.rpartition("/")[2])
    return report, tuple(settings), verdict


def _verdict(diagnosis: Diagnosis) -> Verdict:
    """Return the best issue that doctor names, or else the first fault class that no issue explains."""
    seen = next(iter(diagnosis.unexplained), None)
    collect = seen.match.fault.collect if seen is not None else ()
    for candidate in diagnosis.candidates:
        if candidate.match.told:
            issue = candidate.match.issue
            return Verdict(issue.id, issue.title, issue.tracker, collect)
    if seen is None:
        return Verdict()
    fault = seen.match.fault
    return Verdict(fault.id, fault.title, fault_table.layers()[fault.layer].tracker, collect)
