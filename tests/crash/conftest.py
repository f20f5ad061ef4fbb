"""Every step, or a sample of them: `make test` takes the sample, `make faults` all."""

from __future__ import annotations

import pytest


@pytest.fixture(
    params=[
        # odd, so that it falls on the beginning of a step as well as on its middle
        pytest.param(9, id="a sample", marks=pytest.mark.bulk),
        pytest.param(1, id="every step", marks=pytest.mark.faults),
    ]
)
def stride(request: pytest.FixtureRequest) -> int:
    """From one step at which the process is killed to the next."""
    assert isinstance(request.param, int)
    return request.param
