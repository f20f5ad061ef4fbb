"""Every error of the HSA runtime and of HIP has a fault class with a cause and an action of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.catalogue import runtime_messages


def test_every_error_of_the_runtimes_has_a_fault_class_of_its_own() -> None:
    assert not runtime_messages.unanswered()


def test_a_missing_class_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "runtime-messages.txt"
    data.write_text(
        "# a comment\nHSA_STATUS_ERROR_OF_TOMORROW The text of tomorrow.\nhipErrorOfTomorrow a text\n"
    )
    monkeypatch.setattr(runtime_messages, "DATA", data)
    names = {message.name for message in runtime_messages.unanswered()}
    assert names == {"HSA_STATUS_ERROR_OF_TOMORROW", "hipErrorOfTomorrow"}
