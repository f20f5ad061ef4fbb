"""The host that `verify` compares with the desired settings, read once."""

from __future__ import annotations

from rocmcfg.files.environment import Assignment
from rocmcfg.host.view import HostView
from rocmcfg.loaders.shared.menu import NO_FILE, Entry, Menu
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.checks import CheckStatus
from rocmcfg.model.kargs import Karg
from rocmcfg.model.shape import NamedTuple
from rocmcfg.records.receipt import Receipt
from rocmcfg.state.values import Running

Verdict = tuple[CheckStatus, str]  # with its detail


class VerifiedHost(NamedTuple):
    """What a host is verified against: its configuration, its running kernel, and the receipt."""

    view: HostView
    running: Running
    options: tuple[Karg, ...]
    loader: str
    menu: Menu | None
    receipt: Receipt | None
    env_files: dict[str, dict[str, Assignment]]
    later: dict[str, Assignment]
    pid_environment: dict[str, str] | None
    due: dict[str, None]  # the programs that must run before a setting is in effect
    again: str  # the command that applies the receipt again; empty without a receipt

    @property
    def entries(self) -> tuple[Entry, ...] | None:
        """Return the normal entries; None if they are unknown."""
        return self.menu.normal if self.menu and not self.menu.unreadable else None

    @property
    def hides_arguments(self) -> bool:
        """Return whether there is a boot menu that cannot be read, mostly because only root may read it."""
        reason = self.menu.unreadable if self.menu else ""
        return bool(reason) and not reason.startswith(NO_FILE)

    def left(self, tool: str) -> bool:
        """Return whether apply left a program to the user."""
        receipt = self.receipt
        return receipt is not None and receipt.activations.get(tool) is ActivationState.LEFT_TO_USER

    def waits_for(self, tool: str) -> Verdict:
        """Return the verdict on a setting that is in effect after a program has run, and note the program."""
        self.due[tool] = None
        return CheckStatus.PENDING_ACTIVATION, f"{tool} has not run since the apply"

    @property
    def generator_left(self) -> str:
        """Return the initramfs generator that apply left to the user, or an empty string. It is the only
        program besides the boot menu's that can be left."""
        menu_tool = self.menu.tool if self.menu else ""
        tools = self.receipt.activations if self.receipt else {}
        return next((tool for tool in tools if tool != menu_tool and self.left(tool)), "")
