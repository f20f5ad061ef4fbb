"""rpm-ostree: Fedora's Atomic desktops, CoreOS, Bazzite, and bootc hosts whose bootc cannot keep arguments.

Every system on such a host is a deployment with a command line of its own. One call of `rpm-ostree kargs`
makes a new deployment with the arguments, which boots next. Deployments made by later updates inherit them.
The requested arguments are in /etc/rocmcfg/kernel-arguments; an argument that was set before rocmcfg stays
the user's. The running deployment keeps its old arguments and stays in the boot menu as the way back, so
there is no trial. An undo is one call, too.

rpm-ostree puts the new deployment in place when the host shuts down. If that fails, the old one boots, and
`rocmcfg verify` reports it after the reboot. rocmcfg refuses to begin while another transaction of rpm-ostree
is running. The initramfs is built with the image, so options in modprobe.d may not be read in time: settings
go to the command line.

Sources: rpm-ostree 2026.2 and libostree 2026.4. Tested with a stand-in, not on a real host.
"""

from __future__ import annotations

from collections.abc import Iterable

from rocmcfg.host.view import HostView
from rocmcfg.loaders.shared import kept_arguments
from rocmcfg.loaders.shared.kept_arguments import DeploymentChain, status
from rocmcfg.loaders.shared.ostree import deployments
from rocmcfg.model.diagnostic import Diagnostic, error


class _RpmOstree(DeploymentChain):
    """Runs rpm-ostree, which compares whole arguments, appends first and then deletes
    (src/app/rpmostree-builtin-kargs.cxx, and `kernel_arg_apply_patching` of
    src/daemon/rpmostreed-transaction-types.cxx)."""

    NAME = "rpm-ostree"
    PROGRAM = deployments.RPM_OSTREE
    DECISIVE = True
    TITLE = "rpm-ostree (Fedora Atomic, Bazzite, CoreOS)"
    MANUAL = "sudo rpm-ostree kargs --append-if-missing=ARGUMENT   for each of: {kargs}"
    TOOL = NAME
    KEEPS = "the kernel arguments of the next and all later deployments"
    SHOWS: tuple[str, ...] = (NAME, "kargs")
    UNCHANGED: tuple[int, ...] = (77,)  # RPM_OSTREE_EXIT_UNCHANGED

    def evidence(self, view: HostView, proof: tuple[str, ...]) -> tuple[str, ...]:
        paths = tuple(filter(view.exists, (deployments.BOOTED, "/sysroot/ostree")))
        return (*paths, self.PROGRAM) if paths and view.exists(self.PROGRAM) else ()

    def unable(self, view: HostView) -> Iterable[Diagnostic]:
        document, output = status(view, (self.TOOL, "status", "--json"))
        if document is None:
            summary = "rpm-ostree does not answer, and no other program can change its kernel arguments"
            hint = "run the command on the booted host itself, where rpm-ostreed.service can start"
            yield error("RC3141", summary, detail=output, hint=hint)
        # its title, its initiator, and its object path (`get_active_txn`)
        transaction = (document or {}).get("transaction")
        if isinstance(transaction, list) and transaction and transaction[0]:
            yield error(
                "RC3140",
                f"rpm-ostree is running a transaction on this host: {transaction[0]}",
                detail="only one transaction can run at a time, so rocmcfg's would be refused",
                hint="wait until it finishes (rpm-ostree status) or cancel it (rpm-ostree cancel), then run "
                "the command again",
            )

    def keep(self, wanted: str | None, held: str | None = None) -> tuple[str, ...]:
        kept = kept_arguments.words(wanted)
        append = [f"--append-if-missing={word}" for word in kept]
        delete = [f"--delete-if-present={word}" for word in kept_arguments.words(held) if word not in kept]
        return (self.TOOL, "kargs", *append, *delete, "--unchanged-exit-77")


BACKEND = _RpmOstree()
