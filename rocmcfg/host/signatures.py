"""Check signatures of OpenSSH by `ssh-keygen -Y` (ssh-keygen(1), PROTOCOL.sshsig)."""

from __future__ import annotations

import os
import shlex
import tempfile

from rocmcfg.host import runner
from rocmcfg.model.diagnostic import RocmcfgError, error

NAMESPACE = "rocmcfg-knowledge"


def signing(path: str) -> str:
    """Return the command that signs a file with the caller's own key."""
    return f"ssh-keygen -Y sign -f ~/.ssh/id_ed25519 -n {NAMESPACE} {shlex.quote(path)}"


class NotSigned(RocmcfgError):
    def __init__(self, place: str, why: str, hint: str) -> None:
        super().__init__(error("RC1032", f"the bundle is not used: {why}", location=place, hint=hint))


def signer(content: bytes, signature: bytes, allowed: bytes, place: str) -> str:
    """Return the signer of the content of `place`, one of those in `allowed` (a file of allowed signers).
    Raises NotSigned."""
    with tempfile.TemporaryDirectory(prefix="rocmcfg-", dir=runner.temporary_folder() or "/tmp") as folder:
        paths = [os.path.join(folder, name) for name in ("content", "content.sig", "allowed_signers")]
        for path, text in zip(paths, (content, signature, allowed), strict=True):
            with open(path, "wb") as stream:
                stream.write(text)
        signed, signature_file, named = paths
        principals = runner.query(("ssh-keygen", "-Y", "find-principals", "-s", signature_file, "-f", named))
        if principals is None:
            raise NotSigned(
                place, "ssh-keygen is missing", "install openssh-client, or openssh on some distributions"
            )
        for name in principals.stdout.splitlines() if principals.ok else ():
            argv = (
                "ssh-keygen",
                "-Y",
                "verify",
                "-f",
                named,
                "-I",
                name,
                "-n",
                NAMESPACE,
                "-s",
                signature_file,
            )
            with open(signed, "rb") as stream:
                try:
                    with runner.stream(argv, stream.fileno(), failed=1) as output:
                        output.read()
                except OSError:
                    continue
            return name
    raise NotSigned(
        place,
        "its signature is not that of an allowed signer",
        "check that the .sig is of this file, and that its key is in /etc/rocmcfg/allowed_signers, in a line "
        f'that has not expired and is for namespaces="{NAMESPACE}" (ssh-keygen(1), ALLOWED SIGNERS)',
    )
