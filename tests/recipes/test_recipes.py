"""Every recipe of docs/recipes works as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.recipe import FOLDER, follow, steps
from tests.support.program import SOURCE

RECIPES = sorted(FOLDER.glob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_works(recipe: Path, tmp_path: Path) -> None:
    follow(recipe, tmp_path)


def test_a_recipe_has_steps_and_contributing_leads_to_it() -> None:
    contributing = (SOURCE / "CONTRIBUTING.md").read_text()
    for recipe in RECIPES:
        assert len(steps(recipe)) > 1, recipe.name
        assert f"(docs/recipes/{recipe.name})" in contributing
