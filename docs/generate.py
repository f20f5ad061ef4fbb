#!/usr/bin/env python3
"""Writes the documentation that is facts of the code and its data, or checks that it still is right.

    python docs/generate.py            # rewrite them
    python docs/generate.py --check    # exit 1 and show the difference where one is out of date

Run it with a Python that has rocmcfg. `generators/` has one module per page; prose does not belong here.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from generators import boot_chains, compiled, completions, diagnostics, knowledge, man, readme, schema

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = {
    "README.md": readme.page,
    "docs/diagnostics.md": diagnostics.page,
    "docs/boot-chains.md": boot_chains.page,
    "docs/profiles.md": knowledge.profiles,
    "docs/parameters.md": knowledge.parameters,
    "docs/environment.md": knowledge.environment,
    "docs/issues.md": knowledge.issues,
    "rocmcfg/knowledge/profile.schema.json": schema.page,
    "packaging/man/rocmcfg.1": man.program_page,
    "packaging/man/rocmcfg-profile.5": man.profile_page,
    "packaging/completions/rocmcfg.bash": completions.bash,
    "packaging/completions/_rocmcfg": completions.zsh,
    "packaging/completions/rocmcfg.fish": completions.fish,
    "rocmcfg/knowledge/compiled.tsv": compiled.page,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Regenerate the generated parts of the documentation.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where one is stale")
    check = parser.parse_args().check
    stale = 0
    for name, page in PAGES.items():
        path = REPOSITORY / name
        text = page()
        before = path.read_text() if path.exists() else ""
        if before == text:
            continue
        if check:
            lines = difflib.unified_diff(before.splitlines(), text.splitlines(), name, "now", lineterm="")
            sys.stdout.write("\n".join(lines) + f"\n{name} is out of date: run docs/generate.py\n")
            stale = 1
        else:
            path.write_text(text)
            sys.stdout.write(f"written: {name}\n")
    return stale


if __name__ == "__main__":
    sys.exit(main())
