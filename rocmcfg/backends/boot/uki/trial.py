"""Trials of an image under systemd-boot: an entry that starts it with a line of its own.

Without Secure Boot systemd-stub takes the options of the entry in place of what is built in, and appends the
addons to them (src/boot/stub.c of systemd 254 to 262, use_load_options). The key is `efi`: systemd-boot
before 258 knows no `uki`. `make loaders` shows both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.backends.boot.menu import beaten
from rocmcfg.backends.boot.one_shot import Listed, SecondEntry
from rocmcfg.backends.boot.uki import reader
from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import Diagnostic

_HINT = (
    "the stub appends every addon: take that value back (`rocmcfg rollback`) and reboot first; or apply "
    "without --trial"
)


class _Trial(SecondEntry):
    def original(self, view: HostView, chosen: Listed) -> tuple[str, bytes, int] | None:
        """The mode is that of loader.conf, since that of a file on FAT is what the partition gives it."""
        root, _, name = chosen.path.partition("/EFI/Linux/")
        lines = [uki.line for uki in reader.images(view).images if name and uki.path.endswith(f"/{name}")]
        if not lines:
            return None
        beside = view.state(f"{root}/loader/loader.conf")
        text = f"title {name}\nefi /EFI/Linux/{name}\noptions {lines[0]}\n"
        return f"{root}/loader/entries", text.encode(), beside.mode if beside else 0o644

    def beaten(self, view: HostView, chosen: Listed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        name = chosen.path.rpartition("/")[2]
        kargs = next((entry.kargs for entry in reader.read(view).entries if entry.id == name), ())
        later = [karg for karg in kargs if not karg.source.endswith(f"/{name}")]
        return beaten(later, arguments, _HINT)


TRIAL = _Trial()
