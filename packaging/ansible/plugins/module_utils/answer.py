# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT
"""Turns what rocmcfg answered into the results of a task. Pure: documents in, dictionaries out."""

import errno
import json
import re

from ansible_collections.rocmcfg.amdgpu.plugins.module_utils import shapes

# The contract of `rocmcfg … --json` that this collection reads; every document carries its number.
SCHEMA_VERSION = 1

ROLLED_BACK = 4
RECOVERY_REQUIRED = 5

_UPGRADE = (
    "This collection reads documents with schema_version {0}, as written by rocmcfg 0.1 and newer: ".format(
        SCHEMA_VERSION
    )
)


class Unreadable(Exception):
    """The answer is not that of a rocmcfg that this collection knows. The text says what it is."""


def version(output):
    """The version in what `rocmcfg --version` printed, or None."""
    found = re.match(r"rocmcfg (\S+)\s*$", output)
    return found.group(1) if found else None


def no_version(output, errors, code):
    """Why a program that printed no version is not used. This is checked before it may change anything."""
    if code < 0:
        return "signal {0} killed it while it ran with --version.".format(-code)
    return _damaged(output, errors) or (
        "its answer to --version is not that of rocmcfg. Install rocmcfg there, set executable to the right "
        "program, or keep other programs from writing to its standard output." + _told(output, errors)
    )


def unstartable(number, reason, first_line):
    """Why the system did not start the file of the program, from the error and the first line of the file."""
    again = "Reinstall rocmcfg; a virtual environment breaks when the Python it was made with is removed."
    if number == errno.ENOENT and first_line.startswith("#!"):
        return "its first line names {0}, which is missing. {1}".format(_line(first_line[2:]), again)
    if number == errno.ENOEXEC:
        return "it is not a program that this host can start. " + again
    return "it could not be started: {0}.".format(_line(reason))


def document(output, errors, code):
    """The document in the standard output of a command. Raises Unreadable."""
    try:
        found = json.loads(output)
    except (ValueError, RecursionError):
        raise Unreadable(_no_document(output, errors, code))
    if not isinstance(found, dict) or "schema_version" not in found:
        raise Unreadable(
            "its answer is JSON without a schema_version. " + _UPGRADE + "install a current rocmcfg there."
        )
    number = found["schema_version"]
    shown = _line(json.dumps(number))
    # compared as text: to Python, true and 1.0 are equal to 1
    if shown != str(SCHEMA_VERSION):
        newer = isinstance(number, int) and number > SCHEMA_VERSION
        do = "upgrade the collection rocmcfg.amdgpu." if newer else "upgrade rocmcfg there."
        raise Unreadable("its answer has schema_version {0}. ".format(shown) + _UPGRADE + do)
    if not isinstance(found.get("diagnostics"), list):
        raise Unreadable("its answer has no diagnostics. " + _UPGRADE + "install a current rocmcfg there.")
    _hold(found["diagnostics"], shapes.DIAGNOSTICS, "diagnostics")
    return found


def complete(found, command):
    """The document, checked for the fields that the modules read of this command. Raises Unreadable."""
    _hold(found, shapes.OF[command], "it")
    return found


def _hold(value, shape, name):
    wrong = shapes.fault(value, shape, name)
    if wrong:
        raise Unreadable(
            "its answer is incomplete: {0}. ".format(wrong) + _UPGRADE + "install a current rocmcfg there."
        )


def _no_document(output, errors, code):
    if code < 0:
        return (
            "signal {0} killed it before it answered. If it was changing the host, "
            "`rocmcfg recover` there undoes the unfinished change.".format(-code)
        )
    return _damaged(output, errors) or (
        "its answer is not JSON (exit code {0}). ".format(code)
        + _UPGRADE
        + ("install a current one there." + _told(output, errors))
    )


def _damaged(output, errors):
    if not re.search(r"^\s*Traceback \(most recent call last\)", errors + "\n" + output, re.M):
        return ""
    # the last line of standard error is the exception; standard output is not part of a traceback
    last = (_lines(errors) or _lines(output))[-1]
    return (
        "it failed with a Python error: {0}. Its installation is damaged or incomplete: "
        "reinstall it, from a package or into a virtual environment of its own.".format(last)
    )


def _told(output, errors):
    """What it printed: the last line of its errors, or else the first line of its output."""
    lines = _lines(errors)[-1:] or _lines(output)[:1]
    return " It printed: {0}".format(lines[0]) if lines else " It printed nothing."


def _lines(text):
    return [_line(line) for line in text.splitlines() if line.strip()]


def _line(text):
    """A text of unknown origin, made fit for a message: on one line, and of limited length."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))[:300]


def sentence(diagnostic):
    """One diagnostic on one line: what, where, why, what to do."""
    text = diagnostic.get("summary", "")
    if diagnostic.get("location"):
        text = "{0} ({1})".format(text, diagnostic["location"])
    for part, before in (("detail", ". "), ("hint", ". What to do: ")):
        if diagnostic.get(part):
            text = text.rstrip(".") + before + " ".join(diagnostic[part].split())
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return "{0} [{1}]".format(shown, diagnostic.get("id", "?"))


def of_severity(found, severity):
    return [d for d in found["diagnostics"] if d.get("severity") == severity]


def failure(found, code):
    """Results of a task that rocmcfg refused or could not finish: `msg` and what a playbook may need."""
    errors = of_severity(found, "error") or found["diagnostics"]
    message = " | ".join(sentence(d) for d in errors) or "it gives no reason (exit code {0})".format(code)
    ids = [d.get("id") for d in errors]
    if code == ROLLED_BACK:
        message = "It failed, and the host was rolled back completely: " + message
    elif code == RECOVERY_REQUIRED:
        message = (
            "A transaction on this host is neither finished nor undone. Run `rocmcfg recover` there "
            "before anything else: " + message
        )
    elif "RC3023" in ids:
        message += " In a playbook: become: true"
    elif code == 2 and any("No such option" in d.get("summary", "") for d in errors):
        message = "This rocmcfg is older than the collection; upgrade it: " + message
    return {
        "msg": "rocmcfg: " + message,
        "diagnostics": found["diagnostics"],
        "rc": code,
        "rolled_back": code == ROLLED_BACK,
        "recovery_required": code == RECOVERY_REQUIRED,
    }


def diffs(changes):
    """Ansible's diffs of the changes, to files and to what only a program can change."""
    return [_diff(change, change.get("path") or "by " + change["tool"]) for change in changes]


def _diff(change, header):
    before, after = (_whole_lines(change, side) for side in ("before", "after"))
    return {
        "before_header": header if change["before"] is not None else "/dev/null",
        "after_header": header if change["after"] is not None else "/dev/null",
        "before": before,
        "after": after,
    }


def _whole_lines(change, side):
    text = change[side] or ""
    # in a file it matters whether the last line ends in a newline; what a tool keeps is one line or none
    return text + "\n" if text and not change.get("path") and not text.endswith("\n") else text


def short(changes):
    """The changes without the texts, which the diff has."""
    keys = ("path", "tool", "kind", "reason")
    return [{key: change[key] for key in keys if change.get(key) is not None} for change in changes]


def planned(found, runs_tools):
    """Whether a dry run would do something. In an image without chroot no tool is run."""
    due = any(step["state"] == "planned" for step in found["activations"])
    return bool(found["changes"]) or (runs_tools and due)


def done(found):
    """Whether an apply did something."""
    return found["transaction"] is not None or any(s["state"] == "done" for s in found["activations"])


def plan_results(found):
    """What the profile module returns for a document of plan or apply."""
    return {
        "diff": diffs(found["changes"]),
        "changes": short(found["changes"]),
        "activations": found["activations"],
        "settings": found["settings"],
        # Not "skipped": Ansible would take that for a task that did not run.
        "skipped_settings": found["skipped"],
        "profiles": found["profiles"],
        "reboot_required": found["reboot_required"],
        "transaction": found["transaction"],
        "trial": found["trial"],
        "diagnostics": found["diagnostics"],
    }


def tried_already(status, wanted, terms):
    """Results of a task whose trial is on record and not yet over; None if it has to start one.

    `status` is a document of status. `wanted` is that of a dry run of the task without a trial, because
    rocmcfg plans no trial in the boot of one. `terms` are the task's confirm_after, in seconds, and
    health_check.
    """
    trial = status["trial"]
    if trial is None or trial["stage"] == "over" or trial["profiles"] != wanted["profiles"]:
        return None
    if (trial["confirm_after"], trial["health_check"]) != tuple(terms):
        return None
    # variables are not part of a trial
    asked = [_spelled(one) for one in wanted["settings"] if one["target"] != "environment"]
    if sorted(asked) != sorted(trial["settings"]):
        return None
    return dict(
        plan_results(wanted),
        changes=[],
        diff=[],
        activations=[],
        reboot_required=trial["stage"] == "armed",
        transaction=None,
        trial=dict((key, trial[key]) for key in ("arguments", "confirm_after", "health_check")),
        diagnostics=status["diagnostics"],
    )


def _spelled(setting):
    """As a trial on record lists it, and --set accepts it."""
    value = setting["value"]
    return setting["setting"] if value is None else "{0}={1}".format(setting["setting"], value)


def confirmed_results(status):
    """What a confirmation would return, as far as it is known from a document of status."""
    lists = ("changes", "diff", "activations", "settings", "skipped_settings")
    return dict(
        dict((name, []) for name in lists),
        profiles=status["trial"]["profiles"],
        reboot_required=False,
        transaction=None,
        trial=dict((key, status["trial"][key]) for key in ("arguments", "confirm_after", "health_check")),
        diagnostics=status["diagnostics"],
    )


def named(wanted, status):
    """The profiles that a task names, with auto replaced by what a document of status suggests."""
    if wanted is None or "auto" not in wanted:
        return wanted
    return [name for name in wanted if name != "auto"] + status["suggested_profiles"]


def in_force(status):
    """The profiles that are applied, and those that are on trial."""
    tried = status["trial"]["profiles"] if status["trial"] else []
    return status["profiles"] + [name for name in tried if name not in status["profiles"]]


def is_undo_due(wanted, in_force):
    """Whether `absent` has to do something, given the profiles of the task and those in force.

    `wanted` is None if the task names no profiles, which means all of them. An empty list means none: auto
    gives one on a host without a GPU that has a profile.

    Returns (whether, refusal). rocmcfg undoes everything it applied or nothing, so undoing a part is refused.
    """
    if wanted is None:
        return True, ""
    wanted = [profile_name(name) for name in wanted]
    if not set(wanted) & set(in_force):
        return False, ""
    kept = [name for name in in_force if name not in wanted]
    if not kept:
        return True, ""
    return False, (
        "{0} is applied together with {1}, and absent undoes all of them. To keep {1}, write state: present "
        "with profiles: [{2}], which replaces what is applied. To undo all, leave profiles out.".format(
            ", ".join(name for name in in_force if name in wanted), ", ".join(kept), ", ".join(kept)
        )
    )


def profile_name(name):
    """The name under which rocmcfg keeps a profile: for a file, its name without path and ending."""
    return name.rpartition("/")[2][: -len(".toml")] if name.endswith(".toml") else name


NOTHING_UNDONE = {
    "changes": [],
    "activations": [],
    "transactions": [],
    "reboot_required": False,
    "diagnostics": [],
}


def undone_results(found, running=None):
    """What a module returns for a document of rollback: changes of the dry run, the rest of the run."""
    after = running or found
    return {
        "diff": diffs(found["changes"]),
        "changes": short(found["changes"]),
        "activations": after["activations"],
        "transactions": after["transactions"],
        "reboot_required": after["reboot_required"],
        "diagnostics": after["diagnostics"],
    }


def trial_on_record(history):
    """The number of the trial that a rejection would end, or None. It is always the last transaction."""
    newest = max(
        (row for row in history["transactions"] if row["state"] == "committed"),
        key=lambda row: row["transaction"],
        default=None,
    )
    return newest["transaction"] if newest is not None and newest["trial"] is not None else None


def last_trial(history):
    """How the newest trial in a document of history ended, with its transaction; None if there was none."""
    tried = [row for row in history["transactions"] if row["trial"] is not None]
    newest = max(tried, key=lambda row: row["transaction"]) if tried else None
    return dict(newest["trial"], transaction=newest["transaction"]) if newest else None


def verdict(found, pending_ok, named):
    """(Whether everything is in effect, a sentence that says what is not) for a document of verify.

    `named`: the task names profiles. Then a host that needs none of their settings passes.
    """
    status = found["status"]
    wrong = [
        "{0} is {1}{2}".format(c["name"], c["status"].replace("_", " "), _why(c))
        for c in found["checks"]
        if c["status"] not in ("in_effect", "rewritten_by_driver")
    ]
    if status == "in_effect":
        return True, "in effect: {0}".format(_count(found))
    if status == "nothing_applied" and named:
        return True, "this host needs none of the settings of {0}".format(", ".join(found["profiles"]))
    if status == "nothing_applied":
        return False, "nothing is applied on this host, so there is nothing to verify"
    if status == "pending":
        message = "configured, but not yet in effect: {0}".format("; ".join(wrong))
        return pending_ok, message
    # no check, only an error: the record of what was applied is lost or damaged
    return False, "not in effect: {0}".format("; ".join(wrong or map(sentence, of_severity(found, "error"))))


def _count(found):
    number = len(found["checks"])
    return "the one setting" if number == 1 else "all {0} settings".format(number)


def _why(check):
    parts = ["wanted {0}, running {1}".format(check["desired"], check["running"])]
    if check["running"] is None:
        parts = ["wanted {0}, configured {1}".format(check["desired"], check["configured"])]
    if check["detail"]:
        parts.append(check["detail"])
    return " ({0})".format(", ".join(parts))


def facts(found, version_text, executable):
    """The fact `rocmcfg` of a host, from a document of status; `found` is None if there is no rocmcfg."""
    status = found or {}
    inventory = status.get("facts") or {}
    return {
        "installed": found is not None,
        "version": version_text,
        "executable": executable,
        "os": inventory.get("os"),
        "running_kernel": inventory.get("running_kernel"),
        "kernels": inventory.get("kernels", []),
        "gpus": inventory.get("gpus", []),
        "rocm": inventory.get("rocm"),
        "pytorch": inventory.get("pytorch", []),
        "memory": inventory.get("memory"),
        "boot_chain": inventory.get("boot_chain"),
        "container": inventory.get("container"),
        "profiles": status.get("profiles", []),
        "transaction": status.get("transaction"),
        "status": status.get("status"),
        "reboot_required": status.get("reboot_required", False),
        "suggested_profiles": status.get("suggested_profiles", []),
        "parameters": status.get("parameters", []),
        "issues": status.get("issues", []),
        "unnecessary": status.get("unnecessary", []),
        "trial": status.get("trial"),
    }
