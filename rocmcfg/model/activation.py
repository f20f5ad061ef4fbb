"""The states of a program that processes our files."""

from __future__ import annotations

from enum import Enum


class ActivationState(str, Enum):
    PLANNED = "planned"
    DONE = "done"
    LEFT_TO_USER = "left_to_user"
    SKIPPED = "skipped"
