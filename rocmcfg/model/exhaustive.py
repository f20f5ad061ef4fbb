"""A check that every member of an enumeration is handled."""

from __future__ import annotations

from typing import NoReturn


def assert_never(value: NoReturn) -> NoReturn:
    """Fail mypy where the preceding `match` leaves out a member. `typing` has the same from Python 3.11 on.

    Raises AssertionError.
    """
    raise AssertionError(f"no case handles {value!r}")
