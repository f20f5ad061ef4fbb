"""The encoder behind every --json document: what a noun publishes, and under which names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import pytest

from rocmcfg.model.published import encode, published


class Colour(str, Enum):
    RED = "red"


class Wheel(NamedTuple):
    size: int
    colour: Colour = Colour.RED


@published("kW=power")
@dataclass(frozen=True, slots=True)
class Engine:
    power: int
    serial: str


@published("wheels sizes=wheels.size", "engine: power", "doubled", "note?")
@dataclass(frozen=True, slots=True)
class Car:
    wheels: tuple[Wheel, ...]
    engine: Engine | None
    note: str | None = None
    secret: str = "x"

    @property
    def doubled(self) -> int:
        return 2 * (self.engine.power if self.engine else 0)


@published("*engine", "names")
class Garage(NamedTuple):
    engine: Engine

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        return {"a": ("b",)}


def test_a_noun_without_a_list_publishes_all_of_its_fields() -> None:
    assert encode(Wheel(3)) == {"size": 3, "colour": "red"}
    assert encode((Wheel(1), None, True)) == [{"size": 1, "colour": "red"}, None, True]


def test_a_list_chooses_renames_and_reaches_into_parts() -> None:
    car = Car((Wheel(1), Wheel(2)), Engine(5, "s"))
    assert encode(car) == {
        "wheels": [{"size": 1, "colour": "red"}, {"size": 2, "colour": "red"}],
        "sizes": [1, 2],
        "power": 5,
        "doubled": 10,
    }
    assert encode(Car((), None, "n")) == {"wheels": [], "sizes": [], "power": None, "doubled": 0, "note": "n"}


def test_a_part_can_be_put_in_whole() -> None:
    assert encode(Garage(Engine(7, "s"))) == {"kW": 7, "names": {"a": ["b"]}}


def test_what_nobody_published_is_refused() -> None:
    with pytest.raises(TypeError, match="bytes has no place"):
        encode(Garage(Engine(b"", "s")))  # type: ignore[arg-type]
