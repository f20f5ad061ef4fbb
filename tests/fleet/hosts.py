"""Documents of hosts, made from those that rocmcfg printed on the sample host of the demo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("data")
Document = dict[str, Any]


def document(command: str, **changes: Any) -> Document:
    """Return a document with other values of some fields."""
    return {**json.loads((DATA / f"{command}.json").read_text()), **changes}


def status(gpus: int = 1, kernel: str = "6.14.0-37-generic", newest: str = "", **changes: Any) -> Document:
    """Return a document of status for a host with so many GPUs and these kernels."""
    made = document("status", **changes)
    facts = made["facts"]
    facts["gpus"] = facts["gpus"] * gpus
    facts["running_kernel"] = kernel
    releases = [kernel, newest] if newest else [kernel]
    row = facts["kernels"][0]
    facts["kernels"] = [{**row, "release": each, "running": each == kernel} for each in releases]
    return made


def verify(state: str = "in_effect", running: str = "0", **changes: Any) -> Document:
    """Return a document of verify in which amdgpu.cwsr_enable has this running value, and the status that
    belongs to the state."""
    made = document("verify", status=state, **changes)
    statuses = {"in_effect": "in_effect", "pending": "pending_reboot", "differences": "drift"}
    made["checks"][0] |= {"running": running, "status": statuses[state]}
    return made


def put(path: Path, *documents: Document) -> Path:
    """Write documents into a file, one a line, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in documents))
    return path
