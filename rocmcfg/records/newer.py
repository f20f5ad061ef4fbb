"""What every reader of a record says of one that a newer rocmcfg wrote."""

from __future__ import annotations

from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, error


class NewerRecord(RocmcfgError):
    """A receipt or a trial that nobody may take for a damaged one: it holds what we do not know."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(newer(path, what))


def newer(path: str, what: str) -> Diagnostic:
    return error(
        "RC4029",
        f"{path} was written by a newer rocmcfg: this one does not know {what}",
        location=path,
        hint="use the rocmcfg that wrote it, or a newer one",
    )
