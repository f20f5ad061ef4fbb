"""The seam: what the rest of the program may ask of a host.

Paths are absolute within the host; only `local_view` and `local` know where its root lies. A planner, a
reader of facts and verify get a `HostView` and nothing more, which writes nothing; a `Host` writes, and only
the transaction, and what must be done by root besides it, holds one.
"""

from rocmcfg.host.local import LocalHost as Host
from rocmcfg.host.local_view import LocalView as HostView
from rocmcfg.host.local_view import drop_ins, text_or_empty
from rocmcfg.host.problems import CommandResult, Locked, ToolFailed, Unreadable, Unwritable

__all__ = [
    "CommandResult",
    "Host",
    "HostView",
    "Locked",
    "ToolFailed",
    "Unreadable",
    "Unwritable",
    "drop_ins",
    "text_or_empty",
]
