"""Tells a file of the program that is missing, empty or cut short from a defect of the program."""

from __future__ import annotations

from types import ModuleType

from rocmcfg.model.diagnostic import Diagnostic, error

_OURS = frozenset(
    {"rocmcfg", "pydantic", "pydantic_core", "typer", "click", "jinja2", "markupsafe", "sh", "distro"}
)


def damage(problem: BaseException) -> Diagnostic | None:
    """What the user is told where our own code could not be loaded; None for any other problem."""
    found = ""
    if isinstance(problem, ImportError):
        found = problem.name or ""
    elif isinstance(problem, AttributeError) and isinstance(problem.obj, ModuleType):
        found = problem.obj.__name__
    elif isinstance(problem, SyntaxError) and problem.filename and "/rocmcfg/" in problem.filename:
        found = "rocmcfg"  # nothing of ours is compiled but our own files
    if found.partition(".")[0] not in _OURS:
        return None
    return error(
        "RC9002",
        f"this installation is damaged: {problem}",
        hint="reinstall rocmcfg, then run the command again",
    )
