# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT
"""Whether a window in the week is open at a time. Pure: runs on the controller."""

import re

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: is_open
short_description: Whether one of several windows in the week is open
version_added: 0.1.0
description:
  - Returns whether a time is in one of several windows of the week.
  - Without windows it is always open.
positional: _input, time
options:
  _input:
    description:
      - The windows. Each has C(days), the days on which it opens (V(mon) to V(sun); without it every day),
        and C(from) and C(to) as hours and minutes. If C(to) is not after C(from), it closes on the next day.
    type: list
    elements: dict
    required: true
  time:
    description: The day of the week, V(1) for Monday, and the time, as C(date '+%u %H:%M') prints them.
    type: str
    required: true
author:
  - The rocmcfg authors (@rocmcfg)
"""

EXAMPLES = r"""
- name: Say whether it is the night of a weekend
  ansible.builtin.debug:
    msg: "{{ windows | rocmcfg.amdgpu.is_open('6 23:10') }}"
  vars:
    windows: [{days: [sat, sun], from: "22:00", to: "05:00"}]
"""

RETURN = r"""
_value:
  description: Whether one of the windows is open.
  type: bool
"""

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = 24 * 60
_WEEK = 7 * _DAY
_EXAMPLE = "Write windows as [{days: [sat, sun], from: '22:00', to: '05:00'}]."


def is_open(windows, time):
    """Whether a time is in one of the windows; always without any. Raises AnsibleFilterError."""
    spans = [span for window in _listed(windows) for span in _spans(window)]
    now = re.match(r"([1-7]) (\d\d):(\d\d)\Z", str(time).strip())
    if not now:
        raise AnsibleFilterError("this is not a time of date '+%u %H:%M': {0!r}".format(str(time)))
    day, hour, minute = (int(part) for part in now.groups())
    at = (day - 1) * _DAY + hour * 60 + minute
    return not spans or any((at - begin) % _WEEK < length for begin, length in spans)


def _listed(windows):
    if isinstance(windows, (list, tuple)):
        return windows
    raise AnsibleFilterError("the windows are no list. " + _EXAMPLE)


def _spans(window):
    """The begin of a window, in minutes of the week, and its length, for each of its days."""
    if not isinstance(window, dict) or not {"from", "to"} <= set(window) <= {"days", "from", "to"}:
        raise AnsibleFilterError(
            "a window has from, to and, if it is not for every day, days: {0}. {1}".format(window, _EXAMPLE)
        )
    begin, end = (_minutes(window[name], name) for name in ("from", "to"))
    return [(_number(day) * _DAY + begin, (end - begin - 1) % _DAY + 1) for day in _days(window)]


def _days(window):
    days = window.get("days", DAYS)
    if isinstance(days, str) or not isinstance(days, (list, tuple)) or not days:
        raise AnsibleFilterError("days is no list of days: {0!r}. {1}".format(days, _EXAMPLE))
    return days


def _number(day):
    if not isinstance(day, str) or day.lower() not in DAYS:
        raise AnsibleFilterError("{0!r} is not a day: write {1}".format(day, ", ".join(DAYS)))
    return DAYS.index(day.lower())


def _minutes(value, name):
    read = re.match(r"(\d{1,2}):(\d\d)\Z", str(value))
    # YAML reads 22:00 without quotes as the number 1320, which is its minutes; 22 alone may be hours.
    unquoted = isinstance(value, int) and not isinstance(value, bool) and 60 <= value <= _DAY
    minutes = int(read.group(1)) * 60 + int(read.group(2)) if read else value if unquoted else None
    if minutes is None or minutes > _DAY or (read and int(read.group(2)) > 59):
        raise AnsibleFilterError("{0}: {1!r} is not a time: write '22:00', in quotes".format(name, value))
    return minutes


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        return {"is_open": is_open}
