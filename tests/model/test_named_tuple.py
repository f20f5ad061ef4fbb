"""Our `NamedTuple` is Python's, but for when a class is completed."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import types
import typing

import pytest

from rocmcfg.model.named_tuple import NamedTuple


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
