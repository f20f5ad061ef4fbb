"""Load the knowledge that a host adds to the shipped one: files in the shipped format in `knowledge.d`, and
installed bundles. The nearer one wins, file by file for known issues and row by row elsewhere. Mistakes are
left out with a warning: nothing that a host adds may keep `rollback` from working.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.knowledge import bundle, toml
from rocmcfg.knowledge.duplicates import duplicates
from rocmcfg.knowledge.file_names import MOST_OF_A_BUNDLE, MOST_OF_A_FILE, TABLES, is_file
from rocmcfg.model.diagnostic import Diagnostic, cut, warning
from rocmcfg.model.regex import UnshippedPattern, regex
from rocmcfg.model.shape import NamedTuple

PACKAGED = "/usr/share/rocmcfg/knowledge.d"
BUNDLES = "/etc/rocmcfg/knowledge.d/bundles"  # one file each, in the format of `bundle`
LOCAL = "/etc/rocmcfg/knowledge.d"
_MEANT = regex(r"[a-z0-9_-]+|(?i:.+\.toml)")  # names that are not valid, but were probably meant to be read


class Layer(NamedTuple):
    """Files by their name in knowledge.d. `place` names the layer in messages and sources. A bundle has a
    `name` and a `version`."""

    place: str
    files: Mapping[str, bytes]
    name: str = ""
    version: int | None = None

    def called(self, name: str) -> str:
        return f"{self.place}/{name}"


_layers: list[Layer] = []
_problems: dict[Diagnostic, None] = {}


def look_in(view: HostView) -> None:
    """Use the knowledge that this host adds from now on. Call it before anything is read, since that is
    cached."""
    use(*(layer for layer in [_folder(view, PACKAGED), *_bundles(view), _folder(view, LOCAL)] if layer.files))


def use(*layers: Layer) -> None:
    """Use these layers from now on, the nearer one last."""
    _layers[:] = layers


def problems() -> tuple[Diagnostic, ...]:
    """Return the warnings about knowledge that was left out so far."""
    return tuple(_problems)


def take_problems() -> tuple[Diagnostic, ...]:
    """Return the same warnings and forget them, for a caller that shows them itself."""
    diagnostics = problems()
    _problems.clear()
    return diagnostics


def layers() -> tuple[Layer, ...]:
    return tuple(_layers)


def _folder(view: HostView, folder: str) -> Layer:
    names = [name for name in view.names(folder) if name not in ("issues", "bundles")]
    names += [f"issues/{name}" for name in view.names(f"{folder}/issues")]
    for name in names:
        if not is_file(name) and _MEANT.fullmatch(name.rpartition("/")[2]):
            tables = ", ".join(f"{table}.toml" for table in TABLES)
            hint = f"name it issues/NAME.toml, with small letters, digits and hyphens, or one of {tables}"
            left_out(f"{folder}/{name}", "files with this name are not read", hint)
    files = [name for name in names if is_file(name)]
    contents = {name: read_trusted(view, f"{folder}/{name}", MOST_OF_A_FILE) for name in files}
    return Layer(folder, {name: content for name, content in contents.items() if content is not None})


def _bundles(view: HostView) -> Iterator[Layer]:
    """Yield the newest readable bundle of each name, or the one before it where that is damaged."""
    for name in (n for n in view.names(BUNDLES) if n.endswith(".json")):
        path = f"{BUNDLES}/{name}"
        for file in (path, path + bundle.BEFORE):
            content = read_trusted(view, file, MOST_OF_A_BUNDLE)
            if content is None:
                continue
            try:
                parsed = bundle.parse(content, file)
                yield Layer(file, parsed.encoded, parsed.name, parsed.version)
                break
            except bundle.Broken as problem:
                hint = "install the bundle again; until then the one before it counts, if there is one"
                left_out(file, problem.diagnostics[0].detail, hint)


def read_trusted(view: HostView, path: str, most: int) -> bytes | None:
    """Return the content; None where there is no such file, and with a warning where it must not be
    trusted."""
    try:
        content = view.read(path)
        weak = view.weakness(path) if content is not None else None
    except Unreadable as problem:
        left_out(path, problem.reason)
        return None
    if content is not None and weak is not None:
        left_out(path, weak.words(here=not view.offline))
    elif content is not None and len(content) > most:
        left_out(path, f"it is larger than {most >> 20} MiB")
    else:
        return content
    return None


def issues(fixes: Container[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the id, the place and the document of each known issue, the nearer one of an id last. `fixes` are
    the names of the kernels' fixes that an issue may refer to."""
    owners: dict[str, Layer] = {}
    for layer in _layers:
        for name in sorted(layer.files):
            if not name.startswith("issues/"):
                continue
            from rocmcfg.knowledge.issue_schema import mistakes

            document = _document(layer, name)
            if document is None:
                continue
            if wrong := mistakes(document, fixes):
                left_out(layer.called(name), "; ".join(wrong))
            elif not _in_two_bundles(layer, name, name, owners):
                for signature in document.get("signature", ()):
                    signature["pattern"] = _pattern(layer.called(name), signature["pattern"])
                yield name[len("issues/") : -len(".toml")], layer.called(name), document


def added(
    name: str,
    shipped: Mapping[str, Any],
    kind: type,
    needed: Sequence[str] = (),
    rows_of: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> Mapping[str, Any]:
    """Return the rows of the table `name`, those of the host first. Each must have the types of the noun of
    the class `kind`, the keys that are `needed`, and no key that no shipped row has. `rows_of` finds the rows
    in a document."""
    own: dict[str, Any] = {}
    owners: dict[str, Layer] = {}
    file = f"{name}.toml"
    for layer in (layer for layer in _layers if file in layer.files):
        place, document = layer.called(file), _document(layer, file) or {}
        if document.pop("schema", 1) != 1:
            left_out(place, "schema: must be 1")
            continue
        twice = {duplicate.name: duplicate for duplicate in duplicates(layer.files[file].decode(), document)}
        try:
            rows = rows_of(document)
        except (AttributeError, TypeError, KeyError, ValueError):
            left_out(place, "its tables differ from those in rocmcfg's own file of this name")
            continue
        for id, row in rows.items():
            if wrong := _wrong(row, shipped, kind, needed):
                left_out(place, f"{cut(id)}: {wrong}")
            elif id in twice:
                left_out(f"{place}:{twice[id].line}", cut(twice[id].words))
            elif not _in_two_bundles(layer, file, id, owners):
                own[id] = {**_with_patterns(place, row), "sources": [place, *row.get("sources", ())]}
    return {**own, **{id: row for id, row in shipped.items() if id not in own}} if own else shipped


def _in_two_bundles(layer: Layer, file: str, name: str, owners: dict[str, Layer]) -> bool:
    """Return whether an earlier bundle defines the same name. It is left out here, since no bundle is nearer
    than another. `owners` are the layers that define the names so far."""
    before = owners.get(name)
    if layer.name and before is not None and before.name:
        why = f"{cut(name)} is defined twice, first in {before.called(file)}"
        hint = "remove it from one of the two bundles; until then the first one counts"
        left_out(layer.called(file), why, hint)
        return True
    owners[name] = layer
    return False


def _with_patterns(place: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with its regular expressions marked as a host's own."""
    row = {**row, **({"pattern": _pattern(place, row["pattern"])} if row.get("pattern") else {})}
    for trap in row.get("traps", ()):
        if trap.get("intended"):
            trap["intended"] = _pattern(place, trap["intended"])
    return row


def _pattern(place: str, text: str) -> UnshippedPattern:
    return UnshippedPattern(text, lambda why: _stopped(place, text, why))


def _stopped(place: str, pattern: str, why: str) -> None:
    diagnostic = warning(
        "RC1037",
        f"a pattern is ignored from now on: {why}",
        detail=cut(pattern),
        location=place,
        hint="write it without nested repeats, and include text that every match contains",
    )
    _problems[diagnostic] = None


def _wrong(row: Any, shipped: Mapping[str, Any], kind: type, needed: Sequence[str]) -> str:
    from rocmcfg.knowledge import forms

    if not isinstance(row, dict):
        return "it is not a table"
    keys = {"sources", *(key for shipped_row in shipped.values() for key in shipped_row)}
    if strange := [key for key in row if key not in keys]:
        return f"no row of this file has the key {strange[0]}"
    if lacking := [key for key in needed if key not in row]:
        return f"it has no {', '.join(lacking)}"
    return "; ".join(forms.mistakes(forms.of_noun(kind, whole=False), row))


def _document(layer: Layer, name: str) -> dict[str, Any] | None:
    document = toml.parse(layer.files[name], layer.called(name))
    if isinstance(document, Diagnostic):
        left_out(document.location, document.summary)
        return None
    return document


def left_out(location: str, why: str, instead: str = "") -> None:
    hint = "fix it, or remove it; rocmcfg's own knowledge counts in its place"
    diagnostic = warning("RC1030", f"left out of rocmcfg's knowledge: {why}", location=location, hint=hint)
    _problems[diagnostic._replace(hint=instead) if instead else diagnostic] = None
