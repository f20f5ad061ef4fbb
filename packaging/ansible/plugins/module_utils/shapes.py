# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT
"""The fields that the collection reads of a document, so that a missing one gives a message, not a KeyError.

Not the whole contract, which `rocmcfg schema` prints: only the fields that the modules use.
"""


class Maybe(object):
    """A shape, or null in its place."""

    def __init__(self, shape):
        self.shape = shape


_TEXT = (str,)
_MAYBE_TEXT = (str, type(None))
_MAYBE_NUMBER = (int, type(None))
_YES_NO = (bool,)
_ANY_OBJECT = {}

# A change to a file has a path. A change that only a program can make has the name of that tool instead.
_CHANGE = {
    ("path", "tool"): _TEXT,
    "kind": _TEXT,
    "before": _MAYBE_TEXT,
    "after": _MAYBE_TEXT,
    "reason": _TEXT,
}
_TERMS = {"arguments": [_TEXT], "confirm_after": _MAYBE_NUMBER, "health_check": _TEXT}
_ON_RECORD = dict(_TERMS, transaction=(int,), stage=_TEXT, profiles=[_TEXT], settings=[_TEXT])
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

_PLAN = {
    "profiles": [_TEXT],
    "changes": [_CHANGE],
    "activations": [_ACTIVATION],
    "settings": [{"setting": _TEXT, "value": _MAYBE_TEXT, "target": _TEXT}],
    "skipped": [_ANY_OBJECT],
    "reboot_required": _YES_NO,
    "transaction": _MAYBE_NUMBER,
    "trial": Maybe(_TERMS),
}
_UNDONE = {
    "transactions": [(int,)],
    "changes": [_CHANGE],
    "activations": [_ACTIVATION],
    "reboot_required": _YES_NO,
}

_ENDED = {
    "outcome": _TEXT,
    "evidence": Maybe({"source": _TEXT, "text": _TEXT, "lines": [_TEXT]}),
    "withheld": [_TEXT],
}

OF = {
    "apply": _PLAN,
    "confirm": _PLAN,
    "rollback": _UNDONE,
    "reject": _UNDONE,
    "verify": {
        "status": _TEXT,
        "profiles": [_TEXT],
        "transaction": _MAYBE_NUMBER,
        "trial": _MAYBE_NUMBER,
        "checks": [_CHECK],
    },
    "history": {"transactions": [{"transaction": (int,), "state": _TEXT, "trial": Maybe(_ENDED)}]},
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
        "trial": Maybe(_ON_RECORD),
    },
}


def fault(value, shape, name="it"):
    """What is wrong with a value, or an empty text. Of the names in a tuple, one is enough."""
    if isinstance(shape, Maybe):
        return "" if value is None else fault(value, shape.shape, name)
    if isinstance(shape, tuple):
        # True is an int to Python, but not a number in JSON.
        fits = isinstance(value, shape) and (bool in shape or not isinstance(value, bool))
        return "" if fits else "{0} has the wrong type".format(name)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return "{0} is not a list".format(name)
        pairs = [("{0}[{1}]".format(name, n), part, shape[0]) for n, part in enumerate(value)]
    elif not isinstance(value, dict):
        return "{0} is not an object".format(name)
    else:
        before = "" if name == "it" else name + "."
        pairs = []
        for key in shape:
            names = key if isinstance(key, tuple) else (key,)
            there = [n for n in names if value.get(n) is not None] or [n for n in names if n in value]
            if not there:
                return "{0} has no {1}".format(name, " and no ".join(names))
            pairs.append((before + there[0], value[there[0]], shape[key]))
    for where, part, wanted in pairs:
        found = fault(part, wanted, where)
        if found:
            return found
    return ""
