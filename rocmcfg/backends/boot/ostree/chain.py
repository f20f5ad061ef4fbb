"""Arguments of deployments, which rpm-ostree or bootc keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.kept_arguments import KeptChain
from rocmcfg.backends.boot.ostree import deployments
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic, error


class DeploymentChain(KeptChain):
    NO_TRIAL = "ostree writes its entries; the deployment that runs stays in the menu, as the way back"

    def deployment(self, view: HostView) -> str:
        """The one that boots next; empty where that cannot be told."""
        normal = self.reader.read(view).normal
        return normal[0].id if normal else ""

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        yield from super().preflight(view, observed, kargs)
        if path := deployments.transient_etc(view):
            yield error(
                "RC3143",
                "/etc is transient on this host: what is written there is gone at the next boot",
                location=path,
                hint="make the settings part of the image: rocmcfg render --format bootc",
            )
        yield from self.unable(view)


def status(view: HostView, argv: Sequence[str]) -> tuple[dict[str, Any] | None, str]:
    """What a program says in JSON; None where it does not, and what it says instead."""
    asked = view.query(argv)
    if asked is None:
        return None, "no program of this host can be run"
    try:
        document = json.loads(asked.stdout) if asked.ok else None
    except ValueError:
        document = None
    said = (asked.stderr or asked.stdout).strip()
    return document if isinstance(document, dict) else None, said
