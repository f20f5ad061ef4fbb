"""rocmcfg/knowledge/profile.schema.json: the JSON Schema of a profile file, for editors and for
`rocmcfg schema profile-file`.

It has what `profile_schema` takes, and the names that the catalogue knows, so that they are completed and
explained. It must not be used to judge a profile: it cannot say all that `profile_schema` and the catalogue
say.

Draft 7, which is what the TOML language server of most editors (taplo) reads. A name that the catalogue does
not know stays possible where a profile may have one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from rocmcfg.knowledge import catalogue, profile_schema
from rocmcfg.model.catalogue import Catalogue, KernelArgument, Parameter, Variable
from rocmcfg.model.spelling import SAFE_MODULE, SAFE_NAME, SAFE_VALUE, SAFE_VARIABLE

Schema = dict[str, Any]
_GFX = "^gfx[0-9a-f]{3,5}$"


def _range(number: str) -> Schema:
    one = rf"\s*(>=|<=|==|>|<)\s*{number}\s*"
    return {"type": "string", "pattern": f"^{one}(,{one})*$"}


_VERSIONS, _COUNTS = _range(r"[0-9]+(\.[0-9]+)*"), _range("[0-9]+")
_PROFILE = r"^(?!.*/)(?!.*\.toml$)"  # a name, and no path
_TEXT: Schema = {"type": "string"}
_VALUE: Schema = {"type": "string", "pattern": SAFE_VALUE.pattern.replace(r"\Z", "$")}
_FLAG: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "integer", "minimum": 0, "maximum": 1 << 32}
_PATTERN = {"pattern": _VALUE["pattern"]}
# What each kind of setting takes in its short form. One schema of several types, for an editor offers a name
# once for every branch of an `anyOf`; what is said of texts holds for texts alone, and so on.
_SHORT: Mapping[str, Schema] = {
    "parameter": {"type": ["integer", "boolean", "string"], **_PATTERN},
    "feature": {"type": ["boolean"]},
    "argument": {
        "type": ["boolean", "integer", "string", "array"],
        "not": {"const": False},
        **_PATTERN,
        "items": _VALUE,
        "minItems": 1,
    },
    "variable": {"type": ["string", "integer"], **_PATTERN},
}
_MULTIPLIED = ("parameter", "variable")  # those whose `value` may be a multiple
_MOVABLE = ("parameter", "feature")  # those that know `via`


def page() -> str:
    return json.dumps(_document(), indent=1, ensure_ascii=False) + "\n"


def _document() -> Schema:
    known = catalogue.load()
    targets = list(dict.fromkeys(gpu.gfx for gpu in known.gpus))
    gfx = {"type": "array", "items": {"anyOf": [{"enum": targets}, {"type": "string", "pattern": _GFX}]}}
    file = _table(
        profile_schema.ProfileFile,
        {
            "schema": {"const": 1},
            "summary": _TEXT,
            "gfx": gfx,
            "apu": _FLAG,
            "use": {"enum": ["auto", "named", "diagnosis"]},
            "extends": {"type": "string", "pattern": _PROFILE},
            "notes": {"type": "array", "items": _TEXT},
            "parameters": _names({}, "number", SAFE_VARIABLE),
            "module": _modules(known),
            "features": _features(known),
            "cmdline": _names(_arguments(known), "argument", SAFE_NAME),
            "env": _names(_variables(known), "variable", SAFE_VARIABLE),
        },
    )
    when = _table(
        profile_schema.When,
        {
            "kernel": {**_VERSIONS, "examples": [">=6.8,<6.12"]},
            "rocm": {**_VERSIONS, "examples": [">=7.0,<7.2"]},
            "pytorch": {**_VERSIONS, "examples": ["<2.6"]},
            "lacks-fix": {"enum": list(known.fixes)},
            "gfx": {**gfx, "minItems": 1},
            "gpus": {**_COUNTS, "examples": [">=2"]},
            "igpu": _FLAG,
            "dkms": _FLAG,
        },
    )
    number = _table(
        profile_schema.ParameterRow,
        {
            "summary": _TEXT,
            "unit": _TEXT,
            "min": _NUMBER,
            "max": _NUMBER,
            "within": {"enum": ["memory", "gpus"]},
            "unset": {"enum": ["half of memory"]},
        },
    )
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A profile of rocmcfg",
        "description": "Settings for one or more AMD GPUs: /etc/rocmcfg/profiles/NAME.toml.",
        **file,
        "definitions": {**{kind: _setting(kind) for kind in _SHORT}, "when": when, "number": number},
    }


def _table(model: type[BaseModel], properties: Mapping[str, Schema]) -> Schema:
    """The model's keys, each as `properties` has it and with the model's own words."""
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    return {
        "type": "object",
        "properties": {
            name: {"description": _said(fields[name].description), **schema}
            for name, schema in properties.items()
        },
        "required": [name for name, field in fields.items() if field.is_required()],
        "additionalProperties": False,
    }


def _said(text: str | None) -> str:
    return re.sub(r"; see [A-Z]+\.", ".", text or "").replace(" Required.", "")  # the manual has sections


def _names(known: Mapping[str, Schema], others: str, names: re.Pattern[str]) -> Schema:
    """`others` is the definition of what the catalogue does not know."""
    return {
        "type": "object",
        "properties": dict(known),
        "additionalProperties": {"$ref": f"#/definitions/{others}"},
        "propertyNames": {"pattern": names.pattern.replace(r"\Z", "$")},
    }


def _setting(kind: str) -> Schema:
    """The short form or the table."""
    short, when = _SHORT[kind], {"$ref": "#/definitions/when"}
    times = {"type": "integer", "minimum": 1, "maximum": 1 << 32}
    multiple = _table(profile_schema.From, {"from": _TEXT, "times": times})
    rows: dict[str, Schema] = {
        "value": _or_table(short, multiple) if kind in _MULTIPLIED else short,
        "because": _TEXT,
        "evidence": {"type": "array", "items": _TEXT},
        "cost": _TEXT,
        "confidence": {"enum": ["confirmed", "reported", "asked for"]},
        "when": {"anyOf": [when, {"type": "array", "items": when, "minItems": 1}]},
        "optional": _FLAG,
    }
    if kind in _MOVABLE:
        rows["via"] = {"enum": ["cmdline", "modprobe"]}
    return _or_table(short, _table(profile_schema.SettingTable, rows))


def _or_table(short: Schema, table: Schema) -> Schema:
    return {**table, **short, "type": [*short["type"], "object"]}


# -- the names of the catalogue -------------------------------------------------------------------------


def _modules(known: Catalogue) -> Schema:
    found: dict[str, dict[str, Schema]] = {}
    for one in known.parameters.values():
        words = [int(v) for v in one.meanings if re.fullmatch("-?[0-9]+", v)]
        unit = one.unit and f"In {one.unit}."
        gone = one.removed and f"Gone since Linux {one.removed}."
        entry = _known("parameter", _says(one, unit, gone), words)
        found.setdefault(one.module, {})[one.name] = entry
    modules = {name: _names(entries, "parameter", SAFE_NAME) for name, entries in found.items()}
    return {**_names(modules, "", SAFE_MODULE), "additionalProperties": _names({}, "parameter", SAFE_NAME)}


def _features(known: Catalogue) -> Schema:
    # a name that the catalogue does not know has no bit
    entries = {f.name: _known("feature", f"{f.summary} ({f.parameter})") for f in known.features.values()}
    return {"type": "object", "properties": entries, "additionalProperties": False}


def _arguments(known: Catalogue) -> dict[str, Schema]:
    return {a.name: _known("argument", _says(a), a.values) for a in known.arguments.values()}


def _variables(known: Catalogue) -> dict[str, Schema]:
    """Without those that nothing reads, or nothing that runs: nobody shall be offered them."""
    found = {}
    for one in known.variables.values():
        if not (one.unknown or one.build_only):
            before = f"{one.reader} before {one.presence_before}"
            presence = f"In {before} any value switches it on, also 0." if one.presence_before else ""
            reader = one.reader and f"Read by {one.reader}."
            found[one.name] = _known("variable", _says(one, presence, reader), one.values)
    return found


def _says(one: Parameter | KernelArgument | Variable, *more: str) -> str:
    meanings = "; ".join(f"{value}: {text}" for value, text in one.meanings.items())
    return " ".join(filter(None, (one.summary, meanings and f"{meanings}.", *more)))


def _known(kind: str, text: str, words: Iterable[object] = ()) -> Schema:
    """`words` are offered; others are taken."""
    offered = list(dict.fromkeys(words))
    row = {"$ref": f"#/definitions/{kind}"}
    # beside a $ref, draft 7 reads nothing
    return {"description": text, "anyOf": [{"enum": offered}, row] if offered else [row]}
