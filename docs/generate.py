#!/usr/bin/env python3
"""Writes the documentation that is facts of the code and its data, or checks that it still is right.

    python docs/generate.py            # rewrite them: a minute
    python docs/generate.py --data     # only those for which no command is run: seconds
    python docs/generate.py docs/reference/issues.md    # only this page, and the data that the program reads
    python docs/generate.py --check    # exit 1 and show the difference where one is out of date

Run it with a Python that has rocmcfg. `generators/` has one module per page; prose does not belong here.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Container, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from generators import (
    boot_chains,
    command_list,
    compiled,
    completions,
    diagnostics,
    faults,
    issues,
    knowledge,
    man,
    names,
    pages,
    pictures,
    readme,
    schema,
    templates,
)

REPOSITORY = Path(__file__).resolve().parents[1]
# The program reads them, and is run for the others.
FIRST = {
    "rocmcfg/knowledge/compiled.tsv": compiled.page,
    **{f"{folder}/__init__.py": partial(templates.page, folder) for folder in templates.folders()},
}


def undo_script() -> str:
    from rocmcfg.change.transaction.undo_script import script

    return script(None)


PAGES = {
    "docs/reference/commands.md": command_list.command_list,
    "docs/reference/profile-keys.md": command_list.profile_key_list,
    "docs/reference/diagnostics.md": diagnostics.page,
    "docs/reference/boot-chains.md": boot_chains.page,
    "docs/reference/profiles.md": knowledge.profiles,
    "docs/reference/parameters.md": names.parameters,
    "docs/reference/environment.md": names.environment,
    "docs/reference/issues.md": issues.page,
    "docs/reference/faults.md": faults.page,
    "rocmcfg/knowledge/profile.schema.json": schema.page,
    "packaging/man/man1/rocmcfg.1": man.program_page,
    **man.command_pages(),
    "packaging/man/man5/rocmcfg-profile.5": man.profile_page,
    "packaging/completions/rocmcfg.bash": completions.bash,
    "packaging/completions/_rocmcfg": completions.zsh,
    "packaging/completions/rocmcfg.fish": completions.fish,
    "rocmcfg/knowledge/diagnostics.tsv": diagnostics.table,
    "packaging/undo.sh": undo_script,
}
# Most of their time goes into the commands that they show.
RUN = (
    {"README.md": readme.page}
    | {name: partial(pages.page, name) for name in pages.names()}
    | {
        "docs/pictures/doctor.svg": pictures.doctor,
        "docs/pictures/plan.svg": pictures.plan,
    }
)


def texts(wanted: Container[str]) -> Iterator[tuple[str, str]]:
    for name, page in FIRST.items():
        yield name, page()
    with ThreadPoolExecutor() as pool:
        running = {name: pool.submit(page) for name, page in RUN.items() if name in wanted}
        for name, page in PAGES.items():
            if name in wanted:
                yield name, page()
        for name, future in running.items():
            yield name, future.result()


def main() -> int:
    parser = argparse.ArgumentParser(description="Regenerate the generated parts of the documentation.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where one is stale")
    parser.add_argument("--data", action="store_true", help="only the pages for which no command is run")
    every = [*PAGES, *RUN]
    parser.add_argument(
        "pages", metavar="PAGE", nargs="*", help="only these, such as docs/reference/issues.md"
    )
    given = parser.parse_args()
    if unknown := {*given.pages} - {*every}:
        parser.error(f"not generated: {', '.join(sorted(unknown))}")
    check, stale = given.check, 0
    chosen = [*given.pages, *(PAGES if given.data else ())]
    for name, text in texts(chosen or every):
        path = REPOSITORY / name
        before = path.read_text() if path.exists() else ""
        if before == text:
            continue
        if check:
            lines = difflib.unified_diff(before.splitlines(), text.splitlines(), name, "now", lineterm="")
            sys.stdout.write(
                "\n".join(line[:200] for line in lines) + f"\n{name} is out of date: run docs/generate.py\n"
            )
            stale = 1
        else:
            path.write_text(text)
            sys.stdout.write(f"written: {name}\n")
    return stale


if __name__ == "__main__":
    sys.exit(main())
