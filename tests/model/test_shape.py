"""The machine of records: how the class of a noun is made, what its fields look like in a file, and what a
document shows of it."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

import pytest

from rocmcfg.model import shape
from rocmcfg.model.shape import Dialect, Malformed, NamedTuple, encode, published, reader


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


# -- the class of a noun --------------------------------------------------------------------------------

WITHOUT_FUTURE = """
from rocmcfg.model.shape import NamedTuple

class Part(NamedTuple):
    size: int

class Whole(NamedTuple):
    part: Part
    names: tuple[str, ...] = ()
"""


def test_a_class_has_its_fields_in_a_module_without_the_future_import() -> None:
    """From Python 3.14 on such a body has no `__annotations__`: tests/packages/test_python_3_14.py."""
    module: dict[str, Any] = {"__name__": __name__}
    exec(compile(WITHOUT_FUTURE, "without_future.py", "exec", dont_inherit=True), module)
    whole = module["Whole"]
    assert (whole._fields, whole._field_defaults) == (("part", "names"), {"names": ()})
    assert encode(whole(module["Part"](1))) == {"part": {"size": 1}, "names": []}
    assert shape.types(whole) == {"part": module["Part"], "names": tuple[str, ...]}


def _maker() -> Any:
    """Return the class of `NamedTuple`, which is called for each `class` statement."""
    return type(NamedTuple)


def test_the_finished_class_is_asked_for_what_its_body_does_not_tell() -> None:
    """As on Python 3.14, where the body has a function in the place of its annotations."""

    class Body(dict[str, Any]):
        def get(self, name: str, default: Any = None) -> Any:
            return default if name == "__annotations__" else super().get(name, default)

    body = Body(__annotations__={"size": "int", "name": "str"}, __module__=__name__, name="a")
    made = _maker()("Made", (NamedTuple,), body)
    assert (made._fields, made._field_defaults) == (("size", "name"), {"name": "a"})
    assert made(1) == (1, "a")


def test_a_class_without_annotations_has_no_fields() -> None:
    class Empty(NamedTuple):
        """Is published as a table without entries."""

    assert (Empty._fields, encode(Empty())) == ((), {})


def test_a_noun_has_no_second_base() -> None:
    """Its attributes would be lost without a word."""

    class Other:
        pass

    with pytest.raises(TypeError, match="Both is a NamedTuple and can have no other base"):
        _maker()("Both", (NamedTuple, Other), {})


class Ours(NamedTuple):
    """Said of it."""

    one: int
    two: str = "b"

    @property
    def both(self) -> str:
        return f"{self.one}{self.two}"

    def __str__(self) -> str:
        return self.both


class Pythons(typing.NamedTuple):
    one: int
    two: str = "b"


def test_it_is_a_tuple_as_pythons() -> None:
    mine, other = Ours(1), Pythons(1)
    assert (tuple(mine), hash(mine), mine.one, mine.both, str(mine)) == (other, hash(other), 1, "1b", "1b")
    assert (repr(mine), mine._asdict()) == (repr(other).replace("Pythons", "Ours"), other._asdict())
    assert (Ours._fields, Ours._field_defaults, Ours.__doc__) == (("one", "two"), {"two": "b"}, "Said of it.")
    assert mine._replace(two="c") == Ours(one=1, two="c") == Ours._make([1, "c"])
    assert copy.copy(mine) == pickle.loads(pickle.dumps(mine)) == mine
    assert not hasattr(mine, "__dict__")
    for wrong in ((), (1, "b", 3)):
        with pytest.raises(TypeError):
            Ours(*wrong)
    with pytest.raises(TypeError):
        Ours(1, three=3)  # type: ignore[call-arg]


class Single(NamedTuple):
    size: int


def test_a_mistake_in_a_call_names_the_class() -> None:
    """As Python's own does."""
    for wrong in ((), (1, 2)):
        with pytest.raises(TypeError, match=r"Single\.__new__\(\)"):
            Single(*wrong)
    assert (Single(1), pickle.loads(pickle.dumps(Single(2)))) == ((1,), (2,))


def test_a_class_gets_its_constructor_once_also_where_garbage_is_collected() -> None:
    class Late(NamedTuple):
        one: int

    def collect(frame: types.FrameType, event: str, _: object) -> object:
        """Before each line of ours."""
        if frame.f_globals["__name__"] != NamedTuple.__module__:
            return None
        if event == "line":
            gc.collect()
        return collect

    traced = sys.gettrace()
    sys.settrace(collect)  # type: ignore[arg-type]
    try:
        made_first = Late(1)
    finally:
        sys.settrace(traced)
    assert made_first.one == 1
    made = vars(Late)["__new__"]
    assert Late(2) == (2,)
    assert vars(Late)["__new__"] is made


# -- what a value looks like in a file ------------------------------------------------------------------


class Size(NamedTuple):
    width: int


SHAPES: list[tuple[Any, dict[str, Any]]] = [
    (str, {"form": "plain"}),
    (str | None, {"form": "union", "inner": (str,), "optional": True}),
    (str | int, {"form": "union", "inner": (str, int), "optional": False}),
    (tuple[str, ...], {"form": "list", "inner": (str,), "length": None}),
    (tuple[str, str], {"form": "list", "inner": (str,), "length": 2}),
    (list[str], {"form": "list", "inner": (str,), "length": None}),
    (Mapping[str, int], {"form": "table", "inner": (str, int)}),
    (dict[int, str], {"form": "table", "inner": (int, str)}),
    (Literal["a", "b"], {"form": "choice", "choices": {"a": "a", "b": "b"}}),
    (Colour, {"form": "choice", "choices": {"red": Colour.RED}}),
    (Annotated[str, len], {"form": "checked", "inner": (str,), "check": len}),
    (Size, {"form": "noun", "kind": Size}),
]


@pytest.mark.parametrize(("kind", "parts"), SHAPES)
def test_a_type_says_what_its_values_look_like(kind: Any, parts: dict[str, Any]) -> None:
    described = shape.shape(kind)._asdict()
    assert {name: described[name] for name in parts} == parts


def test_a_property_has_a_type_as_a_field_has() -> None:
    assert (shape.type_of(Car, "note"), shape.type_of(Car, "doubled")) == (str | None, int)


def test_a_strict_dialect_has_no_type_that_it_does_not_check() -> None:
    strict = Dialect(plain={str: str}, noun=lambda kind, table: kind(**table), strict=True)
    with pytest.raises(TypeError, match="has no place in a record"):
        reader(float, strict)


def test_a_table_of_numbers_is_read_by_their_texts() -> None:
    trusted = Dialect(plain={}, noun=lambda kind, table: kind(**table), strict=False)
    read = reader(Mapping[int, tuple[Size, ...]], trusted)
    assert read is not None
    assert read({"0x10": [{"width": 1}], "2": []}) == {16: (Size(1),), 2: ()}


def test_a_value_is_of_exactly_one_type() -> None:
    assert shape.exactly(int, 1) == 1
    with pytest.raises(Malformed, match="is of type bool, not int"):
        shape.exactly(int, True)


# -- what a document shows ------------------------------------------------------------------------------


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


def test_bytes_are_written_as_the_caller_says() -> None:
    assert encode({"a": (b"x",)}, bytes.decode) == {"a": ["x"]}
