"""The interface through which the rest of the program uses a host.

Paths are absolute within the host; only `local_view` and `local` know where its root is. A planner, a reader
of facts and verify get a `HostView`, which writes nothing. A `Host` writes, and only the transaction,
recovery, and the other steps that need root hold one. A planner that writes does not type-check.
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
