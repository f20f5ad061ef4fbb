"""A guest frozen in the middle of a boot, from which others go on: it saves each of them its first boot.

QEMU's live migration, into a file. What is frozen is a guest that has booted and then got rocmcfg installed,
as on the machine of someone who has just installed the package. All later boots of a scenario are real.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Frozen:
    """The files of a frozen guest. They fit the QEMU and the command line that wrote them, no others."""

    folder: Path

    @property
    def disk(self) -> Path:
        """As after a power cut right after a sync: a cold start is possible from it as well."""
        return self.folder / "disk.qcow2"

    @property
    def variables(self) -> Path:
        return self.folder / "vars.fd"

    @property
    def memory(self) -> Path:
        return self.folder / "memory"

    @property
    def boot(self) -> str:
        return (self.folder / "boot-id").read_text()

    def going_on(self) -> list[str]:
        """Arguments with which QEMU does not start the machine but goes on with it."""
        return ["-incoming", f"exec:cat {shlex.quote(str(self.memory))}"]
