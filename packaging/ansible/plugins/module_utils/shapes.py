# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT
"""What the collection reads of a document, so that one without it ends in a sentence and not in a KeyError.

Not the whole contract, which `rocmcfg schema` prints: only the fields that the modules take hold of.
"""

_TEXT = (str,)
_MAYBE_TEXT = (str, type(None))
_MAYBE_NUMBER = (int, type(None))
_YES_NO = (bool,)
_ANY_OBJECT = {}

_CHANGE = {"path": _TEXT, "kind": _TEXT, "before": _MAYBE_TEXT, "after": _MAYBE_TEXT, "reason": _TEXT}
_ACTIVATION = {"state": _TEXT}
_CHECK = {
    "name": _TEXT,
    "status": _TEXT,
    "desired": _MAYBE_TEXT,
    "configured": _MAYBE_TEXT,
    "running": _MAYBE_TEXT,
    "detail": _TEXT,
}

DIAGNOSTICS = [
    {"id": _TEXT, "severity": _TEXT, "summary": _TEXT, "detail": _TEXT, "location": _TEXT, "hint": _TEXT}
]

OF = {
    "apply": {
        "profiles": [_TEXT],
        "changes": [_CHANGE],
        "activations": [_ACTIVATION],
        "settings": [_ANY_OBJECT],
        "skipped": [_ANY_OBJECT],
        "reboot_required": _YES_NO,
        "transaction": _MAYBE_NUMBER,
    },
    "rollback": {
        "transactions": [(int,)],
        "changes": [_CHANGE],
        "activations": [_ACTIVATION],
        "reboot_required": _YES_NO,
    },
    "verify": {"status": _TEXT, "profiles": [_TEXT], "transaction": _MAYBE_NUMBER, "checks": [_CHECK]},
    "status": {
        "facts": {"gpus": [_ANY_OBJECT], "kernels": [_ANY_OBJECT], "boot_chain": _ANY_OBJECT},
        "profiles": [_TEXT],
        "transaction": _MAYBE_NUMBER,
        "status": _TEXT,
        "reboot_required": _YES_NO,
        "suggested_profiles": [_TEXT],
        "parameters": [_ANY_OBJECT],
        "issues": [_TEXT],
        "unnecessary": [_ANY_OBJECT],
    },
}


def fault(value, shape, name="it"):
    """What is wrong with a value, in words; empty where it has the shape."""
    if isinstance(shape, tuple):
        # True is an int to Python, and no number to a reader of JSON.
        fits = isinstance(value, shape) and (bool in shape or not isinstance(value, bool))
        return "" if fits else "{0} is not of the right kind".format(name)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return "{0} is not a list".format(name)
        pairs = [("{0}[{1}]".format(name, n), part, shape[0]) for n, part in enumerate(value)]
    elif not isinstance(value, dict):
        return "{0} is not an object".format(name)
    else:
        missing = [key for key in shape if key not in value]
        if missing:
            return "{0} has no {1}".format(name, missing[0])
        before = "" if name == "it" else name + "."
        pairs = [(before + key, value[key], shape[key]) for key in shape]
    for where, part, wanted in pairs:
        found = fault(part, wanted, where)
        if found:
            return found
    return ""
