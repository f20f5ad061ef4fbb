"""rpm-ostree: Fedora's Atomic desktops, CoreOS, Bazzite, and bootc hosts whose bootc cannot do it.

Every system on such a host, a deployment, has a command line of its own: one call of `rpm-ostree kargs` makes
a new deployment with our arguments, which boots next. Those that later updates make inherit them. What we
asked for is in /etc/rocmcfg/kernel-arguments; an argument that was there before us stays yours. The
deployment that runs now keeps its old arguments, and is the way back in the boot menu; there is no trial. An
undo is one call again.

The new deployment is put in place when the host goes down. That can fail, and the old one boots then:
`rocmcfg verify` after the reboot says so. Where another transaction of rpm-ostree is under way nothing is
begun. The initramfs is built with the image, so that options in modprobe.d may not be read in time: settings
go to the command line.

Sources: rpm-ostree 2026.2 and libostree 2026.4. Played with a stand-in, not on a real host.
"""

from __future__ import annotations

from collections.abc import Iterable

from rocmcfg.host.view import HostView
from rocmcfg.loaders.shared import kept_arguments
from rocmcfg.loaders.shared.kept_arguments import DeploymentChain, status
from rocmcfg.loaders.shared.ostree import deployments
from rocmcfg.model.diagnostic import Diagnostic, error


class _RpmOstree(DeploymentChain):
    """It compares whole arguments, appends first and deletes then (src/app/rpmostree-builtin-kargs.cxx, and
    `kernel_arg_apply_patching` of src/daemon/rpmostreed-transaction-types.cxx)."""

    NAME = "rpm-ostree"
    PROGRAM = deployments.RPM_OSTREE
    DECISIVE = True
    TITLE = "rpm-ostree (Fedora Atomic, Bazzite, CoreOS)"
    MANUAL = "sudo rpm-ostree kargs --append-if-missing=ARGUMENT   for each of: {kargs}"
    TOOL = NAME
    KEEPS = "the kernel arguments of the deployment that boots next, and of those after it"
    SHOWS: tuple[str, ...] = (NAME, "kargs")
    UNCHANGED: tuple[int, ...] = (77,)  # RPM_OSTREE_EXIT_UNCHANGED

    def evidence(self, view: HostView, proof: tuple[str, ...]) -> tuple[str, ...]:
        paths = tuple(filter(view.exists, (deployments.BOOTED, "/sysroot/ostree")))
        return (*paths, self.PROGRAM) if paths and view.exists(self.PROGRAM) else ()

    def unable(self, view: HostView) -> Iterable[Diagnostic]:
        document, output = status(view, (self.TOOL, "status", "--json"))
        if document is None:
            summary = "rpm-ostree does not answer, and nobody else can change its kernel arguments"
            hint = "run the command on the booted host itself, with rpm-ostreed.service able to start"
            yield error("RC3141", summary, detail=output, hint=hint)
        # its title, who asked for it, and its object path (`get_active_txn`)
        transaction = (document or {}).get("transaction")
        if isinstance(transaction, list) and transaction and transaction[0]:
            yield error(
                "RC3140",
                f"rpm-ostree is at work on this host: {transaction[0]}",
                detail="one transaction at a time may run, and rocmcfg's would be refused",
                hint="wait for its end (rpm-ostree status), or end it (rpm-ostree cancel), then run the "
                "command again",
            )

    def keep(self, wanted: str | None, held: str | None = None) -> tuple[str, ...]:
        kept = kept_arguments.words(wanted)
        append = [f"--append-if-missing={word}" for word in kept]
        delete = [f"--delete-if-present={word}" for word in kept_arguments.words(held) if word not in kept]
        return (self.TOOL, "kargs", *append, *delete, "--unchanged-exit-77")


BACKEND = _RpmOstree()
