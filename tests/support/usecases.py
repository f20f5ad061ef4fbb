"""The use cases as the tests call them: one place to mend when a signature changes."""

from __future__ import annotations

from typing import Any

from rocmcfg.host.view import Host, HostView
from rocmcfg.model.plan import Plan
from rocmcfg.model.request import Request
from rocmcfg.model.trial import Terms
from rocmcfg.records.journal import read_all
from rocmcfg.records.steps import Journal
from rocmcfg.workflow import applying, confirming, planning, taking_over, undoing


def quiet(_: str) -> None:
    return


def plan(view: HostView, **request: Any) -> Plan:
    return planning.plan(view, Request(**request)).plan


def apply(host: Host, **request: Any) -> None:
    assert applying.apply(host, Request(**request), lambda _: True, quiet) is not None


def attempt(host: Host, terms: Terms | None = None, **request: Any) -> None:
    """An apply as a trial."""
    asked = terms or Terms()
    assert applying.apply(host, Request(**request), lambda _: True, quiet, terms=asked) is not None


def take_over(host: Host, name: str = "own", **request: Any) -> taking_over.TakenOver:
    taken = taking_over.take_over(host, name, Request(**request), lambda _: True, quiet)
    assert taken is not None
    return taken


def confirm(host: Host) -> None:
    assert confirming.confirm(host, lambda _: True, quiet) is not None


def reject(host: Host) -> None:
    assert undoing.reject(host, lambda _: True, quiet) is not None


def rollback(host: Host) -> None:
    assert undoing.rollback(host, to=None, force=False, confirm=lambda _: True, progress=quiet) is not None


def recover(host: Host) -> None:
    undoing.recover(host, force=False, progress=quiet)


def journals(view: Host) -> list[Journal]:
    return read_all(view)
