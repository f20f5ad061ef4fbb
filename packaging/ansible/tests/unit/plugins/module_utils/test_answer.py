# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT

import errno
import json

import pytest
from ansible_collections.rocmcfg.amdgpu.plugins.module_utils import answer

TRACEBACK = """Traceback (most recent call last):
  File "x.py", line 1
ModuleNotFoundError: No module named 'typer'
"""


def problem(summary, id="RC1010", **more):
    return dict(
        {"id": id, "severity": "error", "summary": summary, "detail": "", "location": "", "hint": ""}, **more
    )


def answered(*diagnostics, **fields):
    return dict({"schema_version": 1, "command": "apply", "diagnostics": list(diagnostics)}, **fields)


@pytest.mark.parametrize(
    ("output", "errors", "code", "said"),
    [
        (json.dumps({"schema_version": 2}), "", 0, "upgrade the collection"),
        (json.dumps({"schema_version": 0}), "", 0, "upgrade rocmcfg"),
        (json.dumps({"schema_version": "1"}), "", 0, 'schema_version "1"'),
        ('{"schema_version": true, "diagnostics": []}', "", 0, "schema_version true"),
        ('{"schema_version": 1.0, "diagnostics": []}', "", 0, "schema_version 1.0"),
        (json.dumps({"schema_version": 1}), "", 0, "no diagnostics"),
        ('{"schema_version": 1, "diagnostics": ["text"]}', "", 0, "diagnostics[0] is not an object"),
        ('{"schema_version": 1, "diagnostics": [{"id": "x"}]}', "", 0, "diagnostics[0] has no severity"),
        ("[" * 200000, "", 0, "is not JSON"),
        ('warning: look\n{\n"schema_version": 1\n}\n', "", 0, "It printed: warning: look"),
        ("\x00\ud800\x1b[31m{", "", 0, "It printed: ???[31m{"),
        (json.dumps({"version": 3}), "", 0, "without a schema_version"),
        ("[]", "", 0, "without a schema_version"),
        ("", "", 0, "It printed nothing."),
        ("", "Error: No such option: --json\n", 2, "It printed: Error: No such option: --json"),
        ("hello\n", "", 0, "It printed: hello"),
        ("", TRACEBACK, 1, "ModuleNotFoundError: No module named 'typer'. Its installation is damaged"),
        ('{"schema_ver', "", -9, "signal 9"),
    ],
)
def test_whatever_is_no_answer_is_said_in_one_line(output, errors, code, said):
    with pytest.raises(answer.Unreadable) as refused:
        answer.document(output, errors, code)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


CHANGE = {"path": "/a", "kind": "create", "before": None, "after": "x\n", "reason": ""}
WHOLE = {
    "apply": {
        "profiles": ["a"],
        "changes": [CHANGE],
        "activations": [{"state": "done"}],
        "settings": [{"setting": "amdgpu.runpm", "value": "0", "target": "cmdline"}],
        "skipped": [{}],
        "reboot_required": False,
        "transaction": None,
        "trial": {"arguments": ["panic=10"], "confirm_after": 600, "health_check": ""},
    },
    "verify": {"status": "in_effect", "profiles": [], "transaction": 1, "trial": None, "checks": []},
}


@pytest.mark.parametrize("command", sorted(WHOLE))
def test_a_whole_document_is_taken_and_one_that_lacks_anything_is_not(command):
    assert answer.complete(answered(**WHOLE[command]), command)
    for field in WHOLE[command]:
        lacks = answered(**WHOLE[command])
        del lacks[field]
        with pytest.raises(answer.Unreadable) as refused:
            answer.complete(lacks, command)
        assert "it has no {0}.".format(field) in str(refused.value)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("profiles", None, "profiles is not a list"),
        ("profiles", ["a", 1], "profiles[1] has the wrong type"),
        ("transaction", True, "transaction has the wrong type"),
        ("reboot_required", 1, "reboot_required has the wrong type"),
        ("changes", [{"path": "/a"}], "changes[0] has no kind"),
        ("changes", [dict(CHANGE, path=None)], "changes[0].path has the wrong type"),
        ("changes", [{k: v for k, v in CHANGE.items() if k != "path"}], "changes[0] has no path and no tool"),
        ("trial", {"arguments": []}, "trial has no confirm_after"),
        ("activations", [3], "activations[0] is not an object"),
    ],
)
def test_a_field_of_another_kind_is_named(field, value, said):
    with pytest.raises(answer.Unreadable) as refused:
        answer.complete(answered(**dict(WHOLE["apply"], **{field: value})), "apply")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("output", "errors", "code", "said"),
    [
        ("warning: look\nrocmcfg 0.1.0\n", "", 0, "It printed: warning: look"),
        ("", "", 0, "It printed nothing."),
        ("", TRACEBACK, 1, "No module named 'typer'. Its installation is damaged"),
        ("", "", -9, "signal 9"),
    ],
)
def test_a_program_without_a_version_is_told(output, errors, code, said):
    assert answer.version(output) is None
    assert said in answer.no_version(output, errors, code)


def test_a_program_that_the_system_does_not_start():
    gone = answer.unstartable(errno.ENOENT, "No such file or directory", "#!/opt/x/bin/python3 -I")
    assert "its first line names /opt/x/bin/python3 -I, which is missing" in gone
    assert "not a program that this host can start" in answer.unstartable(
        errno.ENOEXEC, "Exec format error", ""
    )
    assert "Argument list too long" in answer.unstartable(errno.E2BIG, "Argument list too long", "#!/bin/sh")


def test_a_failure_says_all_problems_and_what_to_do():
    found = answered(
        problem("one is wrong", detail="because", location="a.toml:3", hint="write it right"),
        problem("two is wrong", id="RC2"),
        problem("not of interest", severity="info"),
    )
    said = answer.failure(found, 1)["msg"]
    assert said == (
        "rocmcfg: one is wrong (a.toml:3). because. What to do: write it right [RC1010] | two is wrong [RC2]"
    )


@pytest.mark.parametrize(
    ("code", "id", "summary", "said"),
    [
        (4, "RC3003", "update-grub failed", "the host was rolled back completely"),
        (5, "RC4021", "transaction 3 was interrupted", "`rocmcfg recover`"),
        (1, "RC3023", "apply changes this host and needs root", "become: true"),
        (2, "RC0001", "No such option: --dry-run", "older than the collection"),
    ],
)
def test_a_failure_names_the_way_out(code, id, summary, said):
    results = answer.failure(answered(problem(summary, id=id)), code)
    assert said in results["msg"]
    assert summary in results["msg"]
    assert (results["rolled_back"], results["recovery_required"]) == (code == 4, code == 5)


def step(state):
    return {"tool": "update-grub", "argv": ["update-grub"], "reason": "", "state": state}


@pytest.mark.parametrize(
    ("changes", "states", "runs_tools", "changed"),
    [
        ([{}], [], True, True),
        ([], ["planned"], True, True),
        ([], ["planned"], False, False),
        ([], ["skipped"], True, False),
    ],
)
def test_what_check_mode_calls_a_change(changes, states, runs_tools, changed):
    found = answered(changes=changes, activations=[step(state) for state in states])
    assert answer.planned(found, runs_tools) is changed


@pytest.mark.parametrize(
    ("transaction", "states", "changed"),
    [(3, [], True), (None, ["left_to_user"], False), (None, ["done"], True)],
)
def test_what_a_run_calls_a_change(transaction, states, changed):
    found = answered(transaction=transaction, activations=[step(state) for state in states])
    assert answer.done(found) is changed


@pytest.mark.parametrize(
    ("wanted", "in_force", "undo_due"),
    [
        (None, ["a"], True),
        ([], ["a"], False),
        (["a"], ["a"], True),
        (["a", "b"], ["a"], True),
        (["/etc/x/a.toml"], ["a"], True),
        (["b"], ["a"], False),
        (["b"], [], False),
    ],
)
def test_absent_takes_back_what_it_names_or_all(wanted, in_force, undo_due):
    assert answer.is_undo_due(wanted, in_force) == (undo_due, "")


def test_what_is_tried_is_taken_back_with_what_is_applied():
    status = answered(profiles=["a"], trial={"profiles": ["a", "b"]}, suggested_profiles=["c"])
    assert answer.in_force(status) == ["a", "b"]
    assert answer.in_force(dict(status, trial=None)) == ["a"]
    assert answer.named(["x", "auto"], status) == ["x", "c"]
    assert (answer.named(None, status), answer.named(["x"], status)) == (None, ["x"])


def test_absent_for_a_part_is_refused_and_says_what_to_write():
    undo_due, refusal = answer.is_undo_due(["a"], ["a", "b", "c"])
    assert not undo_due
    assert "profiles: [b, c]" in refusal


def test_a_task_result_is_never_taken_for_a_skipped_task():
    fields = {key: [] for key in ("changes", "activations", "settings", "profiles")}
    found = answered(
        skipped=[{"setting": "x", "reason": "y"}], reboot_required=False, transaction=1, trial=None, **fields
    )
    results = answer.plan_results(found)
    assert "skipped" not in results
    assert results["skipped_settings"] == [{"setting": "x", "reason": "y"}]


def test_the_diff_of_a_new_and_of_a_removed_file():
    change = {"path": "/a", "kind": "create", "before": None, "after": "x\n", "diff": "", "reason": ""}
    new, gone = answer.diffs([change, dict(change, before="x\n", after=None)])
    assert (new["before_header"], new["before"], new["after"]) == ("/dev/null", "", "x\n")
    assert (gone["after_header"], gone["before"], gone["after"]) == ("/dev/null", "x\n", "")


def whole(**fields):
    """A document of apply, with these fields in place of its own."""
    found = answered(**WHOLE["apply"])
    found.update(fields)
    return found


def test_what_only_a_program_can_change_is_a_change_with_the_name_of_the_program():
    arming = {
        "tool": "grub-editenv",
        "kind": "modify",
        "before": "",
        "after": "rocmcfg_next=a",
        "reason": "r",
    }
    for changes in ([CHANGE, arming], [CHANGE, dict(arming, path=None)]):
        assert answer.complete(whole(changes=changes), "apply")
        assert answer.short(changes) == [
            {"path": "/a", "kind": "create", "reason": ""},
            {"tool": "grub-editenv", "kind": "modify", "reason": "r"},
        ]
        shown = answer.diffs(changes)[1]
        assert shown["before_header"] == shown["after_header"] == "by grub-editenv"
        assert (shown["before"], shown["after"]) == ("", "rocmcfg_next=a\n")


TRIED = {
    "transaction": 3,
    "stage": "running",
    "profiles": ["gfx1201"],
    "settings": ["amdgpu.cwsr_enable=0", "karg.nosmt"],
    "arguments": ["amdgpu.cwsr_enable=0", "panic=10", "rocmcfg.trial=1a2b3c4d"],
    "confirm_after": None,
    "health_check": "",
}


def setting(name, value, target="cmdline"):
    return {"setting": name, "value": value, "target": target}


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({}, True),
        ({"stage": "armed"}, True),
        ({"stage": "over"}, False),
        ({"profiles": ["gfx1201", "other"]}, False),
        ({"settings": ["amdgpu.cwsr_enable=1", "karg.nosmt"]}, False),
        ({"settings": ["amdgpu.cwsr_enable=0"]}, False),
        ({"settings": ["amdgpu.cwsr_enable=0", "karg.nosmt", "amdgpu.runpm=0"]}, False),
        ({"confirm_after": 600}, False),
        ({"health_check": "true"}, False),
    ],
)
def test_a_trial_on_record_is_what_the_task_asks_for_or_rocmcfg_judges(other, same):
    asked = [
        setting("karg.nosmt", None),
        setting("amdgpu.cwsr_enable", "0", "modprobe"),
        setting("env.A", "1", "environment"),
    ]
    wanted = whole(profiles=["gfx1201"], settings=asked)
    status = answered(trial=dict(TRIED, **other))
    results = answer.tried_already(status, wanted, (None, ""))
    assert (results is not None) is same
    if results:
        assert results["reboot_required"] is (other.get("stage") == "armed")
        assert (results["changes"], results["diff"]) == ([], [])
    assert answer.tried_already(dict(status, trial=None), wanted, (None, "")) is None


def test_the_last_trial_is_the_newest_that_was_one():
    went = {"outcome": "not_confirmed", "evidence": None, "withheld": ["a"]}
    rows = [
        {"transaction": 2, "state": "rolled_back", "trial": went},
        {"transaction": 3, "state": "committed", "trial": None},
        {"transaction": 1, "state": "rolled_back", "trial": dict(went, outcome="rejected")},
    ]
    found = answer.complete(answered(transactions=rows), "history")
    assert answer.last_trial(found) == dict(went, transaction=2)
    assert answer.last_trial(answered(transactions=rows[1:2])) is None


@pytest.mark.parametrize(("state", "number"), [("committed", 4), ("rolled_back", None), ("unfinished", None)])
def test_a_trial_is_on_record_as_long_as_it_is_what_was_done_last(state, number):
    went = {"outcome": "armed", "evidence": None, "withheld": []}
    rows = [
        {"transaction": 4, "state": state, "trial": went},
        {"transaction": 3, "state": "committed", "trial": None},
    ]
    assert answer.trial_on_record(answered(transactions=rows)) == number
    assert answer.trial_on_record(answered(transactions=[])) is None


def test_a_host_without_rocmcfg_has_the_same_facts_as_one_with():
    without = answer.facts(None, None, None)
    assert without["installed"] is False
    assert without["gpus"] == []
    assert set(without) == set(answer.facts(answered(), "0.1.0", "/usr/bin/rocmcfg"))


def test_the_version_is_read_or_unknown():
    assert answer.version("rocmcfg 0.1.0\n") == "0.1.0"
    assert answer.version("usage: something else\n") is None


def check(status, **more):
    return dict(
        {
            "name": "amdgpu.runpm",
            "status": status,
            "desired": "0",
            "configured": "0",
            "running": "1",
            "detail": "",
        },
        **more,
    )


@pytest.mark.parametrize(
    ("status", "checks", "pending_ok", "named", "good", "said"),
    [
        ("in_effect", [check("in_effect")], False, False, True, "the one setting"),
        ("in_effect", [check("in_effect")] * 2, False, False, True, "all 2 settings"),
        ("pending", [check("pending_reboot")], False, False, False, "amdgpu.runpm is pending reboot"),
        ("pending", [check("pending_reboot")], True, False, True, "not yet in effect"),
        (
            "differences",
            [check("overridden", detail="x wins")],
            True,
            False,
            False,
            "wanted 0, running 1, x wins",
        ),
        ("differences", [check("drift", running=None)], True, False, False, "wanted 0, configured 0"),
        ("nothing_applied", [], True, False, False, "nothing is applied"),
        ("nothing_applied", [], False, True, True, "needs none of the settings of a"),
    ],
)
def test_the_verdict(status, checks, pending_ok, named, good, said):
    passes, text = answer.verdict(answered(status=status, checks=checks, profiles=["a"]), pending_ok, named)
    assert passes is good
    assert said in text


def test_a_lost_record_is_said_where_there_is_no_check_to_name():
    lost = {"id": "RC4027", "severity": "error", "summary": "its record is gone", "hint": "apply again"}
    found = answered(status="differences", checks=[], profiles=[], diagnostics=[lost])
    passes, text = answer.verdict(found, False, [])
    assert not passes
    assert text == "not in effect: its record is gone. What to do: apply again [RC4027]"
