# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT
"""Which minute of the week is in a window, and which windows are refused."""

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.rocmcfg.amdgpu.plugins.filter.is_open import is_open

NIGHTS = [{"days": ["sat", "sun"], "from": "22:00", "to": "05:00"}]


@pytest.mark.parametrize(
    ("time", "open_then"),
    [
        ("6 21:59", False),
        ("6 22:00", True),
        ("7 04:59", True),
        ("7 05:00", False),
        # the night of Sunday ends on Monday, in the next week
        ("1 04:59", True),
        ("1 05:00", False),
        ("5 23:00", False),
    ],
)
def test_a_window_that_opens_in_the_evening_closes_on_the_next_day(time, open_then):
    assert is_open(NIGHTS, time) is open_then


def test_a_window_without_days_opens_every_day_and_one_without_hours_is_never_closed():
    assert is_open([{"from": "12:00", "to": "13:00"}], "3 12:30")
    assert not is_open([{"from": "12:00", "to": "13:00"}], "3 13:00")
    for whole in ("00:00", "24:00"):
        assert is_open([{"days": ["Wed"], "from": "00:00", "to": whole}], "3 23:59")
        assert not is_open([{"days": ["Wed"], "from": "00:00", "to": whole}], "4 00:00")
    assert is_open([], "3 23:59")


def test_hours_without_quotes_are_what_yaml_makes_of_them():
    assert is_open([{"from": 22 * 60, "to": "05:00"}], "3 22:00")
    assert not is_open([{"from": 22 * 60, "to": "05:00"}], "3 21:59")


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ({"from": 22, "to": "05:00"}, "from: 22 is not a time"),
        ({"from": "22:60", "to": "05:00"}, "from: '22:60' is not a time"),
        ({"from": "22:00", "to": "25:00"}, "to: '25:00' is not a time"),
        ({"days": "sat", "from": "22:00", "to": "05:00"}, "days is no list"),
        ({"days": [], "from": "22:00", "to": "05:00"}, "days is no list"),
        ({"days": ["saturday"], "from": "22:00", "to": "05:00"}, "'saturday' is not a day: write mon, tue"),
        ({"day": ["sat"], "from": "22:00", "to": "05:00"}, "a window has from, to and"),
        ("sat 22:00", "a window has from, to and"),
    ],
)
def test_a_window_that_would_be_misread_is_refused(window, words):
    with pytest.raises(AnsibleFilterError, match=words):
        is_open([window], "6 22:00")


def test_a_clock_that_cannot_be_read_opens_nothing():
    with pytest.raises(AnsibleFilterError, match="not a time of date"):
        is_open(NIGHTS, "")
