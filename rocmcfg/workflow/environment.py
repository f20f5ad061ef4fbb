"""The environment part of profiles: as pairs, and for one account. No GPU, loader or right is needed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import fail
from rocmcfg.workflow.planning import collect_facts, require_no_errors

if TYPE_CHECKING:
    from rocmcfg.model.state import Request


def variables(view: HostView, request: Request) -> list[tuple[str, str]]:
    from rocmcfg.knowledge import catalogue, profiles
    from rocmcfg.model.state import Kind
    from rocmcfg.planning.automatic import expand_auto
    from rocmcfg.planning.resolve import resolve
    from rocmcfg.state.configured import Effective

    facts = collect_facts(view, environments=_environments(view))
    names, _ = expand_auto(view, request, facts.gpus)
    loaded = [
        p._replace(settings=tuple(s for s in p.settings if s.kind is Kind.ENV))
        for p in profiles.load(view, names)
    ]
    concerned = tuple(s for s in request.set if s.startswith(("env.", "profile.")))
    only = request._replace(profiles=names, set=concerned)
    resolution = resolve(loaded, only, facts, catalogue.load(), lambda _: Effective())
    require_no_errors(resolution.diagnostics)
    return [(s.name, s.text or "") for s in resolution.desired]


def _environments(view: HostView) -> tuple[str, ...]:
    """The caller's virtual environment, else what `pip install --user` wrote: the PyTorch there, and the ROCm
    that it brings, is what will run."""
    if view.offline:
        return ()
    prefixes = [os.environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    prefixes.append(os.environ.get("HOME", "") + "/.local")
    return tuple(p for p in prefixes if p.startswith("/"))[:1]


def write_user_environment(host: Host, path: str, pairs: Sequence[tuple[str, str]]) -> None:
    """One account's variables, read by its systemd session. Raises for a file that is not ours."""
    from rocmcfg.backends.environment import user_file
    from rocmcfg.records.journal import make_dirs

    _require_own_file(host, path)
    make_dirs(host, path.rpartition("/")[0], 0o755)
    host.write(path, host.new_file(user_file(pairs), 0o644), keep_mtime=False)


def remove_user_environment(host: Host, path: str) -> bool:
    """False where there was nothing to remove."""
    if not host.exists(path) and not host.is_symlink(path):
        return False
    _require_own_file(host, path)
    host.remove(path)
    return True


def _require_own_file(view: HostView, path: str) -> None:
    from rocmcfg.backends.environment import is_as_written

    content = view.read(path)
    if view.is_symlink(path) or (content is not None and b"rocmcfg" not in content[:400]):
        raise fail(
            "RC4003",
            f"{path} exists and rocmcfg did not write it",
            location=path,
            hint="rename it, then run the command again",
        )
    if content is not None and not is_as_written(content):
        raise fail(
            "RC4002",
            f"{path} was edited since rocmcfg wrote it",
            location=path,
            hint="move your lines to a file of your own and delete this one, then run the command again",
        )
