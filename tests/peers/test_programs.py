"""rocmcfg says of random files what the real programs make of them. Of files as people write them it says
so in all cases; of odd ones it says the same, refuses them, or says that it cannot tell. Exceptions are in
differences.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers import debian, figures, judgement
from tests.peers.judgement import Outcome
from tests.peers.programs import (
    bootctl,
    environment_d,
    grub_mkconfig,
    grub_script,
    kmod,
    mkinitcpio,
    next_arg,
    pam_env,
    profile_d,
    ukify,
)
from tests.peers.programs.program import Program

PROGRAMS = (
    bootctl.PROGRAM,
    environment_d.PROGRAM,
    grub_mkconfig.PROGRAM,
    grub_script.PROGRAM,
    kmod.PROGRAM,
    mkinitcpio.PROGRAM,
    next_arg.PROGRAM,
    pam_env.PROGRAM,
    profile_d.PROGRAM,
    ukify.PROGRAM,
)
_FILES = 300  # of each kind


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_files_as_people_write_them_are_read_as_the_program_reads_them(
    program: Program, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    cases = program.cases("ordinary", _FILES, tmp_path)
    if request.config.getoption("--write"):
        figures.write(
            "ordinary",
            program.name,
            _version(program),
            judgement.figures(program.name, cases, ()),
            program.reads,
        )
    wrong = [case for case in cases if case.outcome is not Outcome.AGREE]
    assert not wrong, f"{len(wrong)} of {len(cases)}, such as {wrong[0]}"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_odd_files_give_no_wrong_value(
    program: Program, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    cases, rows = program.cases("odd", _FILES, tmp_path), judgement.table()
    if request.config.getoption("--write"):
        figures.write(
            "odd",
            program.name,
            _version(program),
            judgement.figures(program.name, cases, rows),
            program.reads,
        )
    wrong = judgement.unexpected(program.name, cases, rows)
    assert not wrong, wrong


def _version(program: Program) -> str:
    return debian.version(program.package) if program.package else "6.12"
