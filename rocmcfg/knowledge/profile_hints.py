"""Say how to write what is wrong in a profile file: the key that is meant, the form of a value."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rocmcfg.knowledge import catalogue, gpu_names
from rocmcfg.knowledge.forms import Wrong
from rocmcfg.model.kargs import canonical
from rocmcfg.model.spelling import closest

_HINTS = {
    "missing": "add it",
    "path": "put that profile into /etc/rocmcfg/profiles and write its name",
}


def hint(path: Sequence[str | int], kind: str, document: Any, keys: Sequence[str]) -> str:
    """Return the hint for a mistake at a key path of the document. `keys` are those that the table of the
    path may have."""
    if kind == "extra_forbidden":
        return _key(path, keys)
    value = _value(path, document)
    if kind == "list_type" and isinstance(value, str):
        return f"write {path[-1]} = [{json.dumps(value)}]"
    if kind == "value_error" and "gfx" in path and isinstance(value, str):
        targets = dict.fromkeys(model.gfx for model in gpu_names.gpus(value))
        return f"write {' or '.join(map(json.dumps, targets))}" if targets else ""
    return _HINTS.get(kind, "")


def misplaced_parameters(document: Any, wrong: Sequence[Wrong]) -> list[Wrong]:
    """Return one mistake for each table below [cmdline] that has the name of a module: TOML reads
    `amdgpu.noretry = 0` as such a table."""
    tables = {path[1]: None for path, _, _ in wrong if len(path) > 1 and _is_module_argument(path, document)}
    return [
        (
            ("cmdline", module),
            "the parameters of a module have a table of their own",
            f"write [module.{module}] in place of [cmdline], and the names without {module}.",
        )
        for module in tables
    ]


def outside(document: Any, wrong: Sequence[Wrong]) -> list[Wrong]:
    """Return the mistakes that are not inside a table of misplaced parameters."""
    return [mistake for mistake in wrong if not _is_module_argument(mistake[0], document)]


def _is_module_argument(path: Sequence[str | int], document: Any) -> bool:
    is_table = isinstance(_value(path[:2], document), dict)
    return path[0] == "cmdline" and is_table and canonical(str(path[1])) in catalogue.load().modules()


def _key(path: Sequence[str | int], keys: Sequence[str]) -> str:
    key = str(path[-1])
    if len(path) == 1 and key == "name":
        return "leave it out: a profile has the name of its file"
    if len(path) == 1 and canonical(key) in catalogue.load().modules():
        return f"did you mean [module.{key}]?"
    near = closest(key, list(keys))
    if near:
        return f"did you mean {near[0]}?"
    return "check its spelling: `rocmcfg schema profile-file` lists the keys"


def _value(path: Sequence[str | int], document: Any) -> Any:
    for key in path:
        try:
            document = document[key]
        except (KeyError, IndexError, TypeError):
            return None
    return document
