"""What is wrong with a host besides its logs. Each check is a small function that returns diagnostics; a host
with nothing wrong gives none."""

from __future__ import annotations

from collections.abc import Mapping

from rocmcfg.doctor.host_checks import settings, software, variables
from rocmcfg.facts.system import Hardware
from rocmcfg.host.view import HostView
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.facts import Facts
from rocmcfg.records.receipt import Receipt


def check(
    view: HostView,
    facts: Facts,
    hardware: Hardware,
    receipt: Receipt | None,
    known: Catalogue,
    environment: Mapping[str, str],
) -> list[Diagnostic]:
    """All checks of this host. `environment` is the caller's own; empty for another root."""
    # the version of AMD's own driver where it runs; the kernel's own driver has none
    dkms = hardware.driver_version if any(k.running and k.dkms for k in facts.kernels) else ""
    return [
        *settings.not_in_effect(view, receipt),
        *settings.contested(view, facts, receipt, known),
        *settings.not_generated(view, facts, known),
        *settings.other_writers(view, receipt),
        *settings.tuners(view, facts, known),
        *software.driver_and_rocm(dkms, facts.rocm, "this host", facts.rocm_source),
        *software.firmware(facts, hardware),
        *variables.override(view, facts, environment),
        *variables.mixed_gpus(view, facts, environment),
    ]
