"""Read the versions of installed packages: from the databases of dpkg and pacman, and from rpm itself.

Sources: dpkg(1) /var/lib/dpkg/status, deb822(5); libalpm be_local.c (a folder NAME-VERSION-RELEASE for each
package); rpm(8), `--queryformat`.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.regex import regex

_DPKG, _PACMAN = "/var/lib/dpkg/status", "/var/lib/pacman/local"
_RPM = ("/var/lib/rpm", "/usr/lib/sysimage/rpm")
_FIELD = regex(r"^(Package|Status|Version): *(\S.{0,200})$", re.M)
_VERSION = regex(r"[\w.+~:^-]{1,100}")
_MOST = 2000


def read_packages(view: HostView, patterns: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the versions of the installed packages whose names match one of the patterns, and why they
    cannot be told; empty if they can."""
    wanted = re.compile("|".join(map(fnmatch.translate, patterns)))
    try:
        if view.size(_DPKG):
            rows = _of_dpkg(view.text(_DPKG) or "")
        elif view.is_dir(_PACMAN):
            rows = (_of_folder(name) for name in view.names(_PACMAN))
        elif any(map(view.is_dir, _RPM)):
            result = view.query(("rpm", "-qa", "--queryformat", "%{NAME} %{VERSION}-%{RELEASE}\\n"))
            if result is None or not result.ok:
                return {}, "rpm cannot be asked"
            rows = (line.partition(" ")[::2] for line in result.stdout.splitlines())
        else:
            return {}, "there is no database of dpkg, rpm or pacman"
    except Unreadable as problem:
        return {}, problem.reason
    versions: dict[str, set[str]] = {}
    for name, version in rows:
        if wanted.fullmatch(name) and _VERSION.fullmatch(version) and len(versions) < _MOST:
            versions.setdefault(name, set()).add(version)  # several architectures or kernels
    return {name: ", ".join(sorted(versions[name])) for name in sorted(versions)}, ""


def _of_dpkg(text: str) -> Iterator[tuple[str, str]]:
    for entry in text.split("\n\n"):
        fields = dict(_FIELD.findall(entry))
        if fields.get("Status", "").endswith(" installed"):
            yield fields.get("Package", ""), fields.get("Version", "")


def _of_folder(name: str) -> tuple[str, str]:
    package, *numbers = name.rsplit("-", 2)
    return package, "-".join(numbers)
