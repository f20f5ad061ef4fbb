"""Share knowledge that a host adds: check it, export it as a bundle for others, and install a bundle."""

from __future__ import annotations

import time

from rocmcfg.host.files import read_callers_file, write_callers_file
from rocmcfg.host.signatures import NotSigned, signer, signing
from rocmcfg.host.view import Host, HostView, Unreadable
from rocmcfg.knowledge import bundle, catalogue, drop_ins
from rocmcfg.knowledge.file_names import MOST_OF_A_BUNDLE
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, Severity, fail
from rocmcfg.model.request import root_option
from rocmcfg.model.shape import NamedTuple

SIGNERS = "/etc/rocmcfg/allowed_signers"
_MODE = 0o755
_SIGNATURE = ".sig"
_DAY = 86_400  # seconds by which the clocks of two hosts may differ


class Added(NamedTuple):
    """The knowledge that one place adds. `issues` and `tables` are names of files. A bundle also has its
    `name`, its `version` and its `signer`, who is empty if no allowed signer vouches for it now."""

    place: str
    issues: tuple[str, ...]
    tables: tuple[str, ...]
    name: str = ""
    version: int | None = None
    signer: str = ""


class Checked(NamedTuple):
    """The knowledge that applies on a host: the number of issues, shipped and added, and what each place
    adds. The diagnostics say what is left out."""

    version: str
    issues: int
    added: tuple[Added, ...]


class Exported(NamedTuple):
    path: str
    name: str
    version: int
    files: tuple[str, ...]


class Installed(NamedTuple):
    """The result of an installation. `changed` is False if the same bundle was already installed. `signer` is
    who vouches for it."""

    path: str
    name: str
    version: int
    signer: str
    changed: bool


class Removed(NamedTuple):
    path: str
    name: str


def check(view: HostView) -> tuple[Checked, tuple[Diagnostic, ...]]:
    """Return everything that the host adds, fully read, with its problems."""
    catalogue.read_all()
    added, wrong = [], [problem.location for problem in drop_ins.problems()]
    for layer in drop_ins.layers():
        names = sorted(layer.files)
        tables = tuple(name for name in names if not name.startswith("issues/"))
        files = [name for name in names if name not in tables]
        issues = tuple(n for n in files if not any(place.startswith(layer.called(n)) for place in wrong))
        who = _signer(view, layer.place) if layer.name else ""
        added.append(Added(layer.place, issues, tables, layer.name, layer.version, who))
    return Checked(catalogue.version(), len(catalogue.known_issues()), tuple(added)), drop_ins.problems()


def export(view: HostView, path: str, name: str) -> Exported:
    """Write the host's own knowledge.d as a bundle to `path`. Raise RocmcfgError if anything in it is
    wrong."""
    drop_ins.look_in(view)
    own = [layer for layer in drop_ins.layers() if layer.place == drop_ins.LOCAL]
    if not own:
        hint = (
            "put known issues into its folder issues, one file each; `rocmcfg schema "
            "known-issue` shows the format"
        )
        raise fail("RC1033", f"{drop_ins.LOCAL} holds nothing to export", location=drop_ins.LOCAL, hint=hint)
    drop_ins.use(*own)
    _require_right(f"{drop_ins.LOCAL}/")
    files = {file: content.decode() for file, content in own[0].files.items()}
    made = bundle.Bundle(name, _version_at(time.time()), files)
    write_callers_file(path, made.dump())
    return Exported(path, made.name, made.version, tuple(sorted(files)))


def _version_at(seconds: float) -> int:
    """Return the version of an export made at this time, in seconds since 1970."""
    return int(time.strftime("%Y%m%d%H%M%S", time.gmtime(seconds)))


def install(host: Host, path: str) -> Installed:
    """Install the bundle at `path`, a file of the caller's, with its signature at `path`.sig. Raise
    NotSigned, Broken, or RocmcfgError if it is from the future, older than the installed one, or wrong in any
    part."""
    content = _read(path, MOST_OF_A_BUNDLE)
    try:
        signature = _read(path + _SIGNATURE, 1 << 16)
    except Unreadable as problem:
        hint = f"get it together with the bundle, whose author creates it with: {signing(path)}"
        why = f"its signature {path}{_SIGNATURE} cannot be read: {problem.reason}"
        raise NotSigned(path, why, hint) from None
    allowed = drop_ins.read_trusted(host, SIGNERS, 1 << 20)
    if allowed is None:
        problems = [fault for fault in drop_ins.take_problems() if fault.location == SIGNERS]
        if problems:
            raise NotSigned(
                path,
                problems[0].summary,
                f"make root the owner of {SIGNERS}, and the only user who can write it",
            )
        hint = "put the signer's public key into it (ssh-keygen(1), ALLOWED SIGNERS)"
        raise NotSigned(path, f"{SIGNERS} does not exist, so no signer is allowed", hint)
    who = signer(content, signature, allowed, path)
    made = bundle.parse(content, path)
    if made.version > _version_at(time.time() + _DAY):
        raise fail(
            "RC1036",
            f"version {made.version} of {made.name} was not installed: its date is in the future",
            detail="a version is the time of the export, or a smaller number: this one would block "
            "every export made before that time",
            location=path,
            hint="export it again; or set the clock of this host if it is wrong",
        )
    drop_ins.use(drop_ins.Layer(path, made.encoded))
    _require_right(f"{path}/")
    target = f"{drop_ins.BUNDLES}/{made.name}.json"
    with host.lock():
        before, signed = host.read(target), host.read(target + _SIGNATURE)
        there = _parsed(before, target)
        last = there or _parsed(host.read(target + bundle.BEFORE), target)  # the last valid one
        if last is not None and last != made and last.version >= made.version:
            raise fail(
                "RC1034",
                f"version {made.version} of {made.name} was not installed: version {last.version} "
                "is already installed",
                location=path,
                hint="export it again; or remove the installed one: sudo rocmcfg knowledge remove "
                f"{made.name}{root_option(host.root)}",
            )
        written = {target: content, target + _SIGNATURE: signature}
        if before is not None and there is not None and there != made:
            kept = {"": before, _SIGNATURE: signed or b""}
            written = {**{target + bundle.BEFORE + end: was for end, was in kept.items()}, **written}
        changed = there != made or signed != signature
        if changed:
            host.make_dirs(drop_ins.BUNDLES, _MODE)
            for file, text in written.items():
                host.write(file, host.new_file(text, 0o644), keep_mtime=False)
        drop_ins.read_trusted(host, target, MOST_OF_A_BUNDLE)
        _require_right(target)
    return Installed(target, made.name, made.version, who, changed)


def _parsed(content: bytes | None, place: str) -> bundle.Bundle | None:
    try:
        return bundle.parse(content, place) if content is not None else None
    except bundle.Broken:
        return None


def remove(host: Host, name: str) -> Removed:
    """Remove the bundle, and the one before it. Raise RocmcfgError if there is no bundle of this name."""
    target = f"{drop_ins.BUNDLES}/{name}.json"
    with host.lock():
        # the previous one first: it would apply if a power cut left it alone
        ends = (bundle.BEFORE, bundle.BEFORE + _SIGNATURE, _SIGNATURE, "")
        files = [target + end for end in ends] if bundle.is_name(name) else []
        there = [file for file in files if host.exists(file)]
        if not there:
            hint = f"`rocmcfg knowledge list{root_option(host.root)}` shows the installed bundles"
            raise fail("RC1035", f"there is no bundle {name!r}", location=drop_ins.BUNDLES, hint=hint)
        for file in there:
            host.remove(file)
    drop_ins.take_problems()  # forget the problems of the removed files
    return Removed(target, name)


def _signer(view: HostView, place: str) -> str:
    read = [
        drop_ins.read_trusted(view, path, MOST_OF_A_BUNDLE) for path in (place, place + _SIGNATURE, SIGNERS)
    ]
    content, signature, allowed = (part or b"" for part in read)
    try:
        return signer(content, signature, allowed, place)
    except NotSigned:
        return ""


def _require_right(place: str) -> None:
    """Raise RocmcfgError if anything in `place` is wrong. Other problems of this host are no reason to refuse
    it."""
    catalogue.read_all()
    problems = drop_ins.take_problems()
    if wrong := [fault for fault in problems if fault.location.startswith(place)]:
        raise RocmcfgError(*(fault._replace(severity=Severity.ERROR) for fault in wrong))


def _read(path: str, most: int) -> bytes:
    content, _ = read_callers_file(path, most)
    if content is None or len(content) > most:
        raise Unreadable(path, f"it is not a regular file of at most {most >> 10} KiB")
    return content
