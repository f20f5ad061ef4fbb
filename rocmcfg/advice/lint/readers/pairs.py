"""Names and values that stand apart, by the forms in which languages write them: `NAME = "value"`,
`setenv("NAME", "value")`, `ENV["NAME"] = "value"`, two fields of a record, the parameters of a module."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.advice.lint.assignment import Reading, Trust, What, Where
from rocmcfg.advice.lint.readers import kernel
from rocmcfg.advice.lint.remark import warning
from rocmcfg.advice.lint.source import Span, joined
from rocmcfg.judging import names
from rocmcfg.knowledge import catalogue
from rocmcfg.model.kargs import canonical
from rocmcfg.model.regex import regex

_VARIABLE = r"(?P<name>[A-Z][A-Z0-9_]{3,})"
# Quotes inside a string of JSON, such as the code of a notebook, have a backslash before them.
_NAME = rf"(?P<quote>\\?[\"']|){_VARIABLE}(?P=quote)"
_VALUE = (
    r"(?:\"(?P<double>[^\"\n]*)\"|\\\"(?P<escaped>[^\"\\\n]*)\\\"|'(?P<single>[^'\n]*)'"
    r"|(?P<plain>[^\s\"',;(){}\[\]<>\\]+))"
)
_GROUPS = ("double", "escaped", "single", "plain")
_IS = r"(?:=>|[:=])(?![=~>])"
_NAME_IS, _VALUE_IS = rf"name[\"']?[ \t]*{_IS}[ \t]*", rf"[\"']?value[\"']?[ \t]*{_IS}[ \t]*"
_VARIABLES = (
    # NAME = "value" (Nix, TOML, HCL), NAME := value (make), "NAME": "value" (JSON), NAME => "value" (Puppet,
    # Ruby), ("NAME" . "value") (Scheme); the forms without blanks belong to `lines`.
    regex(
        rf"(?<![\w$/-])(?<!\$\{{){_NAME}(?:[ \t]*=>[ \t]*|[ \t]*(?:::?|[?+])=[ \t]*|[ \t]+=(?![=~>])[ \t]*"
        rf"|[ \t]*:(?![:=])[ \t]+|(?<=[\"']):(?![:=])|(?<=[\"'])[ \t]+\.[ \t]+){_VALUE}"
    ),
    # process.env.NAME = "value", $env:NAME = "value"
    regex(rf"(?i:\benv)[.:]{_VARIABLE}[ \t]*(?:\?\?|\|\|)?=(?![=~>])[ \t]*{_VALUE}"),
    # ENV["NAME"] = "value", $ENV{NAME} = 'value', environment()["NAME"] = "value"
    regex(rf"(?i:env\w*)(?:\(\))?[\[{{]\s*{_NAME}\s*[\]}}]\s*=(?![=~>])\s*{_VALUE}"),
    # setenv NAME value (environment modules, csh), setx NAME value (cmd.exe), (setenv "NAME" "value") (Lisp)
    regex(rf"\b(?i:setenv|pushenv|putenv|setx)[ \t]+{_NAME}[ \t]+{_VALUE}"),
    # magic commands of a notebook; the form with `=` belongs to `lines`
    regex(rf"%(?:set_)?env[ \t]+{_VARIABLE}[ \t]+{_VALUE}"),
    # with a comma between them: Hyprland
    regex(rf"\benv[ \t]*=[ \t]*{_VARIABLE},{_VALUE}"),
    # {"name": "NAME", "value": "value"} in either order, also on two lines: Kubernetes, HCL, task definitions
    # a value behind a dash is of the same record only if the name is behind one, too: Salt
    regex(rf"(?:(?P<dash>-)[ \t]+)?\b{_NAME_IS}{_NAME}[ \t]*,?\s*(?(dash)(?:-[ \t]+)?){_VALUE_IS}{_VALUE}"),
    regex(rf"{_VALUE_IS}{_VALUE}[ \t]*(?:,\s*|\r?\n[ \t]*)[\"']?{_NAME_IS}{_NAME}"),
    # <env name="NAME" value="value"/>
    regex(rf"\bname={_NAME}\s+value={_VALUE}"),
)
# f("NAME", "value"), where f sets a variable: os.Setenv, env::set_var, Command.env, hl.env, WithEnvironment
_ARGUMENTS = regex(rf"\(\s*(?P<quote>\\?[\"']){_VARIABLE}(?P=quote)\s*,\s*{_VALUE}")
_CALLEE = regex(r"[\w.:$()!-]*\Z")
_SETTER = regex(
    r"set_?var\Z|(?:(?<!un)set|put|push|with|add|insert|export)_?\w*env\w*\Z|[.:>]env\Z|environment\Z"
    r"|env\w*(?:\(\))?\.(?:put|set|insert|add|store|setdefault)\Z",
    re.IGNORECASE,
)
_NEAREST = 60  # characters of a callee's name
# What is no value but says that there is none, and what a program makes of something that is not known here.
_NONE = regex(r"(?:null|nil|undefined|nullptr)", re.IGNORECASE)
_EXPRESSION = regex(r"&?[A-Za-z_$][\w$]*(?:(?:\.|::|->)[\w$]+)+|true|false|\S*\$\S*|&\w+|[A-Za-z_]\w*!")
_WORD = regex(r"[A-Za-z_]\w*")
_GOES_ON = regex(r"[ \t]*(?:[(;,)}\]]|\r?\n[ \t]*\.|[ \t][^\s#])")
_JOINED = regex(r"[ \t]*(?:\+|\.\.|\.[a-z]|~|\|\||\?\?)")

_ARGUMENT = (
    regex(
        rf"(?P<quote>[\"'])(?P<name>[a-z][\w-]*(?:\.[\w-]+)?)(?P=quote)[ \t]*{_IS}[ \t]*{_VALUE}(?![ \t]*=>)"
    ),
    regex(
        r"\bname[\"']?[ \t]*(?:=>|[:=])[ \t]*(?P<quote>[\"']?)(?P<name>[a-z][\w.-]*)(?P=quote)[ \t]*,?"
        rf"\s*[\"']?value[\"']?[ \t]*{_IS}[ \t]*{_VALUE}"
    ),
    # Puppet's kernel_parameter { 'name': value => 'value' }
    regex(
        r"\bkernel_parameter\s*\{\s*(?P<quote>[\"'])(?P<name>[\w.-]+)(?P=quote)\s*:[^{}]*?\bvalue\s*=>\s*"
        + _VALUE
    ),
)
# Parameters of a module, apart from its name: KMM, AMD's GPU operator, Talos, Ansible's and Puppet's modules.
_PARAMETERS = regex(
    r"\b(?P<key>parameters|params|options|modprobe_options|loadArgs)[\"']?[ \t]*(?:=>|[:=])[ \t]*"
    r"(?P<list>\[[^\]]*\]|\"[^\"\n]*\"|'[^'\n]*'|(?:(?:\r?\n[ \t]*)+-[ \t]+[^\n]+)+|[^\s\[\"'][^\n]*)"
)
_MODULE = regex(
    r"\b(?:name|moduleName|module|kmod::options?)[\"']?[ \t]*(?:=>|[:={])?[ \t{]*[\"']?([\w-]+)"
    r"|\b(kernelModuleConfig)\b"
)
_OPTION = regex(r"(?<![\w.=-])([a-z][\w-]*)=([^\s\"',\]]+)")
_WITHOUT_VALUE = regex(r"(?<![\w.=:/$@-])([a-z]\w+)(?=[\s\"',\]]|\Z)(?![ \t]*[=:])")
_KMOD_OPTION = regex(r"\bkmod::option\s*\{(?P<body>[^{}]*)\}")
_FIELD = regex(rf"\b(?P<key>module|option|value)\s*=>\s*{_VALUE}")
_LOAD_ARGS = ("ROCm/gpu-operator api/v1alpha1/deviceconfig_types.go (KernelModuleConfigSpec)",)
_NEAR = 400  # characters between a module's name and its parameters


def read(piece: Span, out: Reading, where: Where) -> None:
    """Read all pairs of a text in which what sets nothing is blanked."""
    for match in _variables(piece.text):
        _variable(piece, match, out, where._replace(once=piece.at(match.start())))
    read_arguments(piece, out, where)


def read_arguments(piece: Span, out: Reading, where: Where) -> None:
    """Read what concerns the kernel and its modules."""
    taken: set[int] = set()
    for pattern in _ARGUMENT:
        for match in pattern.finditer(piece.text):
            name, clear = match["name"], pattern is not _ARGUMENT[0]
            catalogued = names.argument(name) is not None and (clear or "_" in name)
            if (names.split_parameter(name) or catalogued) and match.start("name") not in taken:
                taken.add(match.start("name"))
                _argument(piece, match, out, where._replace(once=piece.at(match.start())))
    for match in _KMOD_OPTION.finditer(piece.text):
        _kmod_option(piece, match, out, where)
    for match in _PARAMETERS.finditer(piece.text):
        module = _module_before(piece.text, match.start())
        if module and match["key"] == "loadArgs":
            _read_load_args(piece.cut(*match.span("list")), module, out, where)
        elif module:
            items = piece.cut(*match.span("list"))
            read_options(items, module, out, where)
            _read_items_without_value(items, module, out, where)


def read_options(piece: Span, module: str, out: Reading, where: Where) -> None:
    """Read each NAME=VALUE of a text as a parameter of a module."""
    if module not in names.modules():
        return
    for match in _OPTION.finditer(piece.text):
        token = piece.cut(*match.span())
        kernel.read_options(token, module, [(token.text, 0)], out, where)


def _read_items_without_value(piece: Span, module: str, out: Reading, where: Where) -> None:
    """Read each item of a list that is the bare name of a parameter."""
    for match in _WITHOUT_VALUE.finditer(piece.text) if piece.text.lstrip()[:1] in ("[", "-") else ():
        if f"{module}.{match[1]}" in catalogue.load().parameters:
            token = piece.cut(*match.span())
            kernel.read_options(token, module, [(token.text, 0)], out, where)


def _read_load_args(piece: Span, module: str, out: Reading, where: Where) -> None:
    """Find parameters among the arguments of modprobe that AMD's GPU operator puts before the module."""
    for match in _OPTION.finditer(piece.text) if where.trust is Trust.FILE else ():
        if f"{module}.{canonical(match[1])}" in catalogue.load().parameters:
            summary = f"loadArgs stands before the module's name: modprobe looks for a module {match[0]}"
            why = f"It does not find that module, and does not load {module}. `parameters` takes them."
            out.slip(piece.cut(*match.span()), warning("RC7118", summary, why, sources=_LOAD_ARGS))


def add_variable(
    line: Span,
    name_at: tuple[int, int],
    value: tuple[int, int],
    out: Reading,
    where: Where,
    statement: tuple[int, int],
    *,
    opaque: bool = False,
) -> None:
    """Add a variable whose name and value stand apart, where the name is one to judge. The token ends with
    the quote behind the value."""
    name = line.cut(*name_at)
    if names.concerns(name.text):
        closed = line.text[value[1] : value[1] + 1] in ("'", '"')
        out.add(
            What.VARIABLE,
            joined([name, Span("=", ((0, name.place[1] - 1),)), line.cut(*value)]),
            where=where,
            statement=statement,
            written_to=line.range(*value)[1] + closed,
            quotes="",
            opaque=opaque
            or not line.text[slice(*value)],  # of an empty value nobody can tell what it becomes
        )


def _variables(text: str) -> Iterator[re.Match[str]]:
    """Yield each name once, by the first form that fits."""
    taken: set[int] = set()
    for pattern in (*_VARIABLES, _ARGUMENTS):
        for match in pattern.finditer(text):
            start = match.start("name")
            if start not in taken and (pattern is not _ARGUMENTS or _sets(text, match.start())):
                taken.add(start)
                yield match


def _sets(text: str, bracket: int) -> bool:
    """Say whether the function that is called there sets a variable."""
    callee = _CALLEE.search(text[max(0, bracket - _NEAREST) : bracket])
    return callee is not None and _SETTER.search(callee[0]) is not None


def _value(text: str, match: re.Match[str]) -> tuple[tuple[int, int], bool] | None:
    """Return the range of a pair's value, and whether only a running program knows it; None where there is
    none."""
    group = next(group for group in _GROUPS if match[group] is not None)
    start, stop = match.span(group)
    if group != "plain":
        return (start, stop), _JOINED.match(text, stop + 1 + (group == "escaped")) is not None
    value = match[group]
    if _NONE.fullmatch(value):
        return None
    goes_on = _GOES_ON.match(text, stop) is not None and _WORD.fullmatch(value) is not None
    return (start, stop), goes_on or text.startswith("(", stop) or _EXPRESSION.fullmatch(value) is not None


def _variable(piece: Span, match: re.Match[str], out: Reading, where: Where) -> None:
    if value := _value(piece.text, match):
        at, opaque = value
        add_variable(piece, match.span("name"), at, out, where, piece.place, opaque=opaque)


def _argument(piece: Span, match: re.Match[str], out: Reading, where: Where) -> None:
    if value := _value(piece.text, match):
        at, opaque = value
        name = piece.cut(*match.span("name"))
        token = joined([name, Span("=", ((0, name.place[1] - 1),)), piece.cut(*at)])
        parameter = names.split_parameter(name.text)
        what = What.PARAMETER if parameter else What.ARGUMENT
        out.add(what, token, name=".".join(parameter or ()), where=where, opaque=opaque)


def _kmod_option(piece: Span, match: re.Match[str], out: Reading, where: Where) -> None:
    fields = {field["key"]: field for field in _FIELD.finditer(piece.text, *match.span("body"))}
    if not {"module", "option", "value"} <= set(fields):
        return
    spans = {
        key: field.span(next(group for group in _GROUPS if field[group] is not None))
        for key, field in fields.items()
    }
    module = canonical(piece.text[slice(*spans["module"])])
    if module not in names.modules():
        return
    option = piece.cut(*spans["option"])
    token = joined([option, Span("=", ((0, option.place[1] - 1),)), piece.cut(*spans["value"])])
    where = where._replace(once=piece.at(match.start()))
    out.add(What.PARAMETER, token, name=f"{module}.{canonical(option.text)}", dotted=False, where=where)


def _module_before(text: str, at: int) -> str:
    """Return the module of ours that was named last before a place; empty where another name comes between,
    or none."""
    modules = list(_MODULE.finditer(text, max(0, at - _NEAR), at))
    if not modules:
        return ""
    last = modules[-1]
    module = names.MODULE_OF_TRAPS if last[2] else canonical(last[1])
    return module if module in names.modules() else ""
