"""Run a trial with GRUB: by a variable on every normal entry. GRUB replaces it with the text that it removes
from its environment block before it boots. Later boots find no text there, even after a kernel that hangs."""

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
# Ubuntu's 10_linux puts this after everything else where it first boots without an initramfs.
_FIRST_TRY = "panic=-1"
# Arguments that Debian's and Ubuntu's 10_linux add to an entry by themselves.
_BY_THE_MENU = regex(r"root=|ro$|rw$|rootflags=|rootfstype=|resume|crashkernel=|\$|panic=-1$|dis_ucode_ldr$")


def script() -> Files:
    """Return a program for /etc/grub.d that prints the commands by which GRUB removes the arguments from the
    block, and uses them if that succeeded."""
    return {SCRIPT: (templates.trial_sh().encode(), 0o755)}


class GrubTrial(BootTrial):
    PLACES = (TRIAL_TOKEN,)
    FILES: tuple[str, ...] = (SCRIPT,)
    KEEPERS: tuple[EnvironmentBlock, ...] = (GRUB2, GRUB)

    def keeper(self, view: HostView) -> EnvironmentBlock:
        return next((block for block in self.KEEPERS if view.exists(block.MENU)), GRUB)

    def arming(self, view: HostView, arguments: Sequence[str]) -> ToolChange:
        holds, block = " ".join(arguments), self.keeper(view)
        reason = f"the arguments for one boot, in GRUB's environment block ({block.BLOCK})"
        return ToolChange(block.TOOL, block.keep(holds), holds, "", f"{VARIABLE}={holds}", reason, arms=True)

    def problems(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        yield from on_the_line(longest_line(observed.menu, arguments), observed.foreign, self.FILES[0])
        block = self.keeper(view)
        twice = [e.title for e in observed.menu.normal if contains(e.kargs, _FIRST_TRY)]
        if twice and not contains(observed.foreign, _FIRST_TRY):
            yield block.cannot(
                f"“{twice[0]}” boots first without an initramfs and, if that fails, with one, when the "
                "trial's arguments would already be used up (GRUB_FORCE_PARTUUID)"
            )
        yield from self.menu_problems(view, observed)
        yield from block.problems(view, arguments)

    def menu_problems(self, view: HostView, observed: Observed) -> Iterable[Diagnostic]:
        """Yield the other changes that regenerating the menu would make, which would affect the trial and
        later boots."""
        menu = observed.menu
        if observed.unknown_at or menu.unreadable:
            return
        asked_for = (*observed.foreign, *observed.ours)
        left = dict.fromkeys(k.text for k in surplus(menu, asked_for) if not _BY_THE_MENU.match(k.text))
        if left:
            yield warning(
                "RC4339",
                "the boot menu has arguments that are no longer in GRUB's files, and neither the trial nor "
                f"later boots will have them: {', '.join(left)}",
                location=menu.path,
                hint=f"run {menu.tool} and reboot first, so that the trial tries only one change",
            )
        missing = [
            k.text for k in asked_for if not all(contains(entry.kargs, k.text) for entry in menu.normal)
        ]
        if missing:
            yield error(
                "RC4333",
                "the boot menu does not have all arguments in GRUB's files, and regenerating it for the "
                f"trial would make them permanent: {', '.join(dict.fromkeys(missing))}",
                location=next(k.source for k in asked_for if k.text == missing[0]),
                hint=f"run {menu.tool} and reboot first, or remove them from that file; then run the "
                "command again",
            )

    def has_hook(self, view: HostView, menu: Menu) -> bool:
        """Return whether GRUB will run the trial's commands before it shows the entries."""
        printed = sections(text_or_empty(view, menu.path))
        return any(path == SCRIPT and body for path, body in printed)

    def check(self, view: HostView, menu: Menu, arguments: Sequence[str]) -> Iterable[Diagnostic]:
        """Yield an error where the menu has no hook, or where an argument after the trial's wins. The
        backend's own check covers an unreadable menu and the content of its entries."""
        if menu.unreadable:
            return
        if not self.has_hook(view, menu):
            ran = f"{menu.tool} ran without this script: check whether programs may run from /etc/grub.d"
            yield no_trial_in(self.FILES[0], ran if menu.tool else "")
        behind = (dropwhile(lambda karg: karg.text != TRIAL_TOKEN, entry.kargs) for entry in menu.normal)
        yield from dict.fromkeys(beaten([*chain.from_iterable(behind)], arguments))
