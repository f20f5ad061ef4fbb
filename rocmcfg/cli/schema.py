"""`rocmcfg schema`: JSON Schema of every document that --json prints, of profiles and of known issues."""

from __future__ import annotations

from rocmcfg.cli import options as opt
from rocmcfg.cli.render import SCHEMA_VERSION, Printer


def schema(
    printer: Printer,
    name: str = opt.argument(
        "[NAME]", "One document: plan, verify, …, profile-file or known-issue.", "document", required=False
    ),
    json: bool = opt.OUTPUT["json"],  # noqa: ARG001  # it is JSON in any case
) -> None:
    """Print the JSON Schema of the documents (all of them, or one)."""
    import json as json_module

    from rocmcfg.cli import documents
    from rocmcfg.model.diagnostic import fail
    from rocmcfg.model.spelling import closest

    known = documents.schemas()
    if name and name not in known:
        near = closest(name, list(known))
        raise fail(
            "RC0002",
            f"no document is called {name!r}",
            hint=f"did you mean {near[0]}?" if near else "known: " + ", ".join(known),
        )
    chosen = known[name] if name else {"schema_version": SCHEMA_VERSION, "documents": known}
    printer.result(json_module.dumps(chosen, indent=1, ensure_ascii=False))
