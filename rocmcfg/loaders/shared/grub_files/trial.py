"""A trial with GRUB: a word on every normal entry, in whose place GRUB puts what it takes out of its
environment block before it boots. Every later boot finds nothing: a kernel that hangs has no say in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, dropwhile

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.loaders.shared.contract import BootTrial, Files, Observed
from rocmcfg.loaders.shared.grub_files import TRIAL_TOKEN, templates
from rocmcfg.loaders.shared.grub_files.defaults import longest_line
from rocmcfg.loaders.shared.grub_files.environment_block import GRUB, GRUB2, VARIABLE, EnvironmentBlock
from rocmcfg.loaders.shared.grub_files.mkconfig import sections
from rocmcfg.loaders.shared.menu import Menu, beaten, no_trial_in, on_the_line, surplus
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.kargs import contains
from rocmcfg.model.plan import ToolChange
from rocmcfg.model.regex import regex

SCRIPT = "/etc/grub.d/01_rocmcfg_trial"  # after 00_header, which loads the block; before the entries
# What Ubuntu's 10_linux puts behind everything else where it boots without an initramfs first.
_FIRST_TRY = "panic=-1"
# What Debian's and Ubuntu's 10_linux put on an entry by themselves.
_BY_THE_MENU = regex(r"root=|ro$|rw$|rootflags=|rootfstype=|resume|crashkernel=|\$|panic=-1$|dis_ucode_ldr$")


def script() -> Files:
    """Return a program for /etc/grub.d that prints the commands of GRUB which take the arguments out of the
    block, and use them where that succeeded."""
    return {SCRIPT: (templates.trial_sh().encode(), 0o755)}


class GrubTrial(BootTrial):
    PLACES = (TRIAL_TOKEN,)
    FILES: tuple[str, ...] = (SCRIPT,)
    KEEPERS: tuple[EnvironmentBlock, ...] = (GRUB2, GRUB)

    def keeper(self, view: HostView) -> EnvironmentBlock:
        return next((block for block in self.KEEPERS if view.exists(block.MENU)), GRUB)

    def arming(self, view: HostView, arguments: Sequence[str]) -> ToolChange:
        holds, block = " ".join(arguments), self.keeper(view)
        reason = f"the arguments of one boot, in GRUB's environment block ({block.BLOCK})"
        return ToolChange(block.TOOL, block.keep(holds), holds, "", f"{VARIABLE}={holds}", reason, arms=True)

    def problems(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        yield from on_the_line(longest_line(observed.menu, arguments), observed.foreign, self.FILES[0])
        block = self.keeper(view)
        twice = [e.title for e in observed.menu.normal if contains(e.kargs, _FIRST_TRY)]
        if twice and not contains(observed.foreign, _FIRST_TRY):
            yield block.cannot(
                f"“{twice[0]}” boots without an initramfs first and with one if that fails, and the trial's "
                "arguments would be gone by then (GRUB_FORCE_PARTUUID)"
            )
        yield from self.menu_problems(view, observed)
        yield from block.problems(view, arguments)

    def menu_problems(self, view: HostView, observed: Observed) -> Iterable[Diagnostic]:
        """Yield what generating the menu would change besides: the trial, and the boots after it, would have
        it."""
        menu = observed.menu
        if observed.unknown_at or menu.unreadable:
            return
        asked_for = (*observed.foreign, *observed.ours)
        left = dict.fromkeys(k.text for k in surplus(menu, asked_for) if not _BY_THE_MENU.match(k.text))
        if left:
            yield warning(
                "RC4339",
                "the boot menu has what GRUB's files do not ask for any more, and neither the trial nor "
                f"the boots after it will have it: {', '.join(left)}",
                location=menu.path,
                hint=f"run {menu.tool} and reboot first, so that the trial tries one thing alone",
            )
        missing = [
            k.text for k in asked_for if not all(contains(entry.kargs, k.text) for entry in menu.normal)
        ]
        if missing:
            yield error(
                "RC4333",
                "the boot menu does not have what GRUB's files say, and generating it for the trial would "
                f"make that permanent: {', '.join(dict.fromkeys(missing))}",
                location=next(k.source for k in asked_for if k.text == missing[0]),
                hint=f"run {menu.tool} and reboot first, or take it out of that file; then try this",
            )

    def has_hook(self, view: HostView, menu: Menu) -> bool:
        """Return whether GRUB will run the commands of `hook` before it shows the entries."""
        printed = sections(text_or_empty(view, menu.path))
        return any(path == SCRIPT and body for path, body in printed)

    def check(self, view: HostView, menu: Menu, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield an error where the menu lacks the hook, or an argument behind the trial's wins. Whether the
        menu can be read, and what its entries hold, the backend's own check says."""
        if menu.unreadable:
            return
        if not self.has_hook(view, menu):
            ran = f"{menu.tool} ran without this script: see whether /etc/grub.d may hold programs"
            yield no_trial_in(self.FILES[0], ran if menu.tool else "")
        behind = (dropwhile(lambda karg: karg.text != TRIAL_TOKEN, entry.kargs) for entry in menu.normal)
        yield from dict.fromkeys(beaten([*chain.from_iterable(behind)], arguments))
