"""A trial that is a boot of a try: nobody keeps it, and the next one may follow in its own boot."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.change.trial import record as trial
from rocmcfg.host.view import Host
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.trial import Stage, Terms
from rocmcfg.workflow.confirming import watch
from tests.support import usecases as use
from tests.support.boots import reboot
from tests.support.hosts import debian_grub_host
from tests.support.tool_host import QuickHost
from tests.support.tools import require_tool
from tests.support.trials import CWSR, configuration

OF_TRY = Terms(of_try=3)


@pytest.fixture(autouse=True)
def _real_grub_editenv() -> None:
    require_tool("grub-editenv", "grub-common")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path)


@pytest.fixture
def host(root: Path) -> Host:
    return QuickHost(str(root))


def test_nobody_keeps_it(root: Path, host: Host) -> None:
    use.attempt(host, OF_TRY, **CWSR)
    reboot(root)
    with pytest.raises(RocmcfgError) as stop:
        use.confirm(host)
    assert [(d.id, "try R3" in d.summary) for d in stop.value.diagnostics] == [("RC4348", True)]
    watched = watch(host, lambda _: None, lambda _: True, use.quiet)
    assert watched == "the trial is a boot of try R3, which keeps none"
    assert trial.load(host) is not None
    assert "cwsr" not in reboot(root)


def test_the_next_one_may_follow_in_its_boot(root: Path, host: Host) -> None:
    """Any other trial is refused there: it would have nothing proven to fall back to."""
    before = configuration(root)
    use.attempt(host, OF_TRY, **CWSR)
    reboot(root)
    use.reject(host)
    assert configuration(root) == before
    with pytest.raises(RocmcfgError) as stop:
        use.attempt(host, **CWSR)
    assert "RC4332" in [d.id for d in stop.value.diagnostics]
    use.attempt(host, OF_TRY, **CWSR)
    armed = trial.load(host)
    assert armed is not None
    assert trial.stage(host, armed) is Stage.ARMED
    assert "amdgpu.cwsr_enable=0" in reboot(root)
    assert trial.stage(host, armed) is Stage.RUNNING
    use.reject(host)
    assert configuration(root) == before
