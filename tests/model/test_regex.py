"""Patterns that users write."""

from __future__ import annotations

import warnings

from rocmcfg.model.regex import compiled, compiled_for_bytes


def test_a_pattern_of_a_user_is_compiled_without_a_warning_of_python() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled("[[a]").search("[")
        assert compiled_for_bytes("[[a]").search(b"[")
