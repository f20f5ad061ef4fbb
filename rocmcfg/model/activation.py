"""Whether the program that makes something of our files has run."""

from __future__ import annotations

from enum import Enum


class ActivationState(str, Enum):
    PLANNED = "planned"
    DONE = "done"
    LEFT_TO_USER = "left_to_user"
    SKIPPED = "skipped"
