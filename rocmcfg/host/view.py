"""The seam: what the rest of the program may ask of a host.

Paths are absolute within the host; only `local_view` and `local` know where its root lies. A planner, a
reader of facts and verify get a `HostView`, which writes nothing; a `Host` writes, and only the transaction,
recovery, and what must be done by root besides them, holds one. A planner that writes does not type-check.
"""

from __future__ import annotations

from rocmcfg.host.local import LocalHost as Host
from rocmcfg.host.local_view import LocalView as HostView
from rocmcfg.host.local_view import drop_ins, text_or_empty
from rocmcfg.host.problems import CommandResult, Locked, ToolFailed, Unreadable, Unwritable
from rocmcfg.host.snapshot import Snapshot

__all__ = [
    "CommandResult",
    "Host",
    "HostView",
    "Locked",
    "Snapshot",
    "ToolFailed",
    "Unreadable",
    "Unwritable",
    "drop_ins",
    "text_or_empty",
]
