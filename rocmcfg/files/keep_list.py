"""Write the list of files in /etc that a SteamOS update keeps, in addition to its own list.

Each line of /etc/atomic-update.conf.d/*.conf is a path, in which `**` matches anything; the lists themselves
are kept too (steamos-customizations, atomic-update/rauc/atomic-update-keep.conf).
"""

from __future__ import annotations

from collections.abc import Iterable

from rocmcfg.files import templates
from rocmcfg.host.view import HostView

FOLDER = "/etc/atomic-update.conf.d"
PATH = f"{FOLDER}/rocmcfg.conf"


def propose(view: HostView, written: Iterable[str]) -> bytes | None:
    """Return the list of our written files; None where there are none, and on hosts without such lists."""
    paths = sorted(path for path in written if not path.startswith("/etc/rocmcfg/"))
    return templates.keep_list_conf(paths=paths).encode() if paths and view.is_dir(FOLDER) else None
