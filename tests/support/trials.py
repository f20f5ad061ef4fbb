"""Trials on trees, for the tests of several rooms."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from rocmcfg.change.trial.standing import past_trial
from rocmcfg.host.view import Host
from rocmcfg.records.steps import Journal

from . import usecases
from .trees import Tree, tree

CWSR: dict[str, Any] = {"set": ("amdgpu.cwsr_enable=0",)}
BLOCK = "boot/grub/grubenv"


def configuration(root: Path) -> Tree:
    """Everything but what a boot changes, our records, and the block of GRUB."""
    left = ("proc", "sys", "var", BLOCK, "run")
    return {path: entry for path, entry in tree(root, times=False).items() if not path.startswith(left)}


def outcome(host: Host, id: int) -> str:
    journals = usecases.journals(host)
    found = past_trial(host, next(j for j in journals if j.id == id), journals)
    assert found is not None
    return found.outcome


def journal_file(root: Path, id: int) -> Path:
    return root / f"var/lib/rocmcfg/transactions/{id:06d}/journal.jsonl"


def without_last_line(file: Path) -> str:
    """What a power cut before it leaves; the kind of the line that is gone."""
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]))
    kind = json.loads(lines[-1])["kind"]
    assert isinstance(kind, str)
    return kind


def kexec(root: Path) -> None:
    """A new kernel that was handed the command line of the old one."""
    (root / "proc/sys/kernel/random/boot_id").write_text(f"{uuid.uuid4()}\n")


def states(journals: list[Journal]) -> list[str]:
    """Newest first."""
    return [journal.state for journal in journals]
