"""A program that fails and says nothing is told of in words: a diagnostic has no empty explanation."""

from __future__ import annotations

from unittest import mock

import pytest

from rocmcfg.host.problems import CommandResult
from rocmcfg.host.view import HostView
from rocmcfg.loaders.shared import kept_arguments, one_shot

ARGV = ("bootctl", "list")


@pytest.mark.parametrize(
    ("status", "out", "err", "words"),
    [
        (1, "out", "first\nlast\n", ["first", "last"]),
        (1, "out\n", " \n", ["out"]),
        (1, "", "", ["`bootctl list` exited with status 1 and printed nothing"]),
        (None, "", "\n", ["`bootctl list` was stopped at its time limit and printed nothing"]),
    ],
)
def test_the_words_of_a_program_are_never_none(
    status: int | None, out: str, err: str, words: list[str]
) -> None:
    assert CommandResult(ARGV, status, out, err).words == words


@pytest.mark.parametrize("answer", [None, CommandResult(ARGV, 0, "[]", ""), CommandResult(ARGV, 1, "", "")])
def test_no_trial_for_want_of_an_entry_says_why(answer: CommandResult | None) -> None:
    view = mock.create_autospec(HostView, instance=True)
    view.query.return_value = answer
    view.read.return_value = None
    view.names.return_value = ()
    (refusal,) = one_shot.SecondEntry.uncopied(mock.Mock(), view, mock.Mock(), ())
    assert (refusal.id, bool(refusal.detail)) == ("RC4344", True)


def test_a_keeper_that_does_not_answer_says_why() -> None:
    view = mock.create_autospec(HostView, instance=True)
    view.query.return_value = CommandResult(("rpm-ostree", "status"), 1, "", "")
    assert kept_arguments.status(view, ("rpm-ostree", "status")) == (
        None,
        "`rpm-ostree status` exited with status 1 and printed nothing",
    )
