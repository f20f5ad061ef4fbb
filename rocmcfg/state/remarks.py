"""Yield remarks on what a check of settings could not find out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocmcfg.files import environment
from rocmcfg.loaders.shared.menu import Menu
from rocmcfg.model.checks import Check, CheckStatus
from rocmcfg.model.desired import Channel
from rocmcfg.model.diagnostic import Diagnostic, info, warning
from rocmcfg.model.request import root_option


def remarks(checks: Sequence[Check], hidden: Menu | None, root: str) -> Iterator[Diagnostic]:
    """Yield a remark on each value that cannot be determined, and one on the `hidden` boot menu: what it
    gives to the next boot is unknown."""
    yield from _untold(checks)
    if hidden is not None and any(check.target == Channel.CMDLINE.value for check in checks):
        yield info(
            "RC5007",
            f"{hidden.path} cannot be read, so its effect on the next boot is unknown",
            detail=hidden.unreadable,
            location=hidden.path,
            hint=f"only root may read it: run `sudo rocmcfg verify{root_option(root)}`",
        )


def _untold(checks: Sequence[Check]) -> Iterator[Diagnostic]:
    for check in checks:
        if check.status is not CheckStatus.CANNOT_BE_TOLD:
            continue
        if not check.name.startswith("env."):
            yield warning(
                "RC3187",
                f"the value of {check.name} at the next boot cannot be determined",
                detail="the boot loader inserts the value of a variable there, after what rocmcfg wrote",
                location=check.source,
                hint="write the value itself there, or remove the argument; then regenerate the boot menu",
            )
            continue
        hint = f"set a literal value there, or remove it: {check.name.partition('.')[2]}={check.desired}"
        yield environment.untold(check.name.partition(".")[2], check.source, hint)
