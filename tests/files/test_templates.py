"""What docs/generate.py makes of templates gives the same bytes as jinja2 does from the templates."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.change.transaction.undo_script import Marks
from rocmcfg.model.desired import Channel, DesiredSetting, Kind
from tests.support.program import SOURCE

WORDS = (
    "plain",
    "",
    " ",
    "a b",
    "'",
    '"',
    "$x `id` ${#y}",
    "%h 100%%",
    "\\",
    "ä\n{{ x }}",
    "{% if %}",
    "<#",
    "&<>",
)
SETTINGS = tuple(
    DesiredSetting(f"env.N{number}", Kind.ENV, f"N{number}", text, Channel.ENVIRONMENT, because=because)
    for number, (text, because) in enumerate(zip((*WORDS, None), (*WORDS[1:], "\\ ", "why"), strict=True))
)
FACTS = [("newest", "000001"), ("file", *WORDS), ("made", "/etc/x y")]
MARKS = Marks(*WORDS[3:8])
VALUES: dict[str, tuple[Any, ...]] = {
    "facts": (None, [], FACTS),
    "lines": (WORDS, ()),
    "marks": (MARKS,),
    "names": (WORDS, ()),
    "paths": (WORDS, ()),
    "settings": (SETTINGS, ()),
    "variables": (SETTINGS, ()),
    "whole": (True, False),
}  # of all parameters that are no words
ONE_TEXT = ("marked_lines", "user_environment_conf")  # whose `lines` are one text


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SOURCE / "docs"))
    return importlib.import_module("generators.templates")


def inputs(parameters: tuple[str, ...], function: str) -> list[dict[str, Any]]:
    """Every value of every parameter, those of one place in the lists together."""
    values = {name: VALUES.get(name, WORDS) for name in parameters}
    if function in ONE_TEXT:
        values["lines"] = WORDS
    most = max(map(len, values.values()), default=1)
    return [{name: found[n % len(found)] for name, found in values.items()} for n in range(most)]


def test_each_template_is_rendered_as_jinja2_renders_it(compiler: Any) -> None:
    rendered = 0
    for folder in compiler.folders():
        module = importlib.import_module(folder.replace("/", "."))
        for name in compiler.names(folder):
            function = getattr(module, compiler.function_of(name))
            template = compiler.jinja().get_template(name)
            for given in inputs(
                tuple(function.__kwdefaults__ or function.__annotations__), function.__name__
            ):
                given.pop("return", None)
                assert function(**given) == template.render(**given), (name, given)
                rendered += 1
    assert rendered > 100


def test_what_is_committed_is_made_of_the_templates(compiler: Any) -> None:
    for folder in compiler.folders():
        made = (SOURCE / folder / "__init__.py").read_text()
        assert made == compiler.page(folder), "python docs/generate.py"


def test_a_file_that_is_called_a_template_is_one() -> None:
    """It uses the language of jinja2, or is included where that is used."""
    included = "".join(path.read_text() for path in SOURCE.glob("rocmcfg/**/*.j2"))
    for path in SOURCE.glob("rocmcfg/**/*.j2"):
        text = path.read_text()
        name = path.relative_to(SOURCE / "rocmcfg").as_posix()
        assert "{{" in text or "{%" in text or f'include "{name}"' in included, path


@pytest.mark.parametrize(
    "text",
    [
        "{% macro m() %}{% endmacro %}",
        "{{ a | upper }}",
        "{{ f(1) }}",
        "{% if a %}{% set b = 1 %}{% endif %}",
        "{{ out }}",
        "{% for a, b in c %}{% endfor %}",
    ],
)
def test_what_the_compiler_does_not_know_is_an_error(
    compiler: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    folder = tmp_path / "rocmcfg/templates"
    folder.mkdir(parents=True)
    (folder / "a.j2").write_text(text)
    monkeypatch.setattr(compiler, "PACKAGE", str(tmp_path / "rocmcfg"))
    with pytest.raises(ValueError, match="line 1"):
        compiler.page("rocmcfg/templates")
