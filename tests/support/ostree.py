"""Stand-ins for rpm-ostree and bootc, and a boot of the tree that they work on.

What they do to a tree is what the real ones do to a host as far as kernel arguments go: rpm-ostree 2026.2
(src/app/rpmostree-builtin-kargs.cxx; src/daemon/rpmostreed-transaction-types.cxx,
`kernel_arg_apply_patching`; rpmostreed-sysroot.cxx, "Transaction in progress"), bootc 1.16.9
(crates/lib/src/loader_entries.rs), libostree 2026.4 (src/libostree/ostree-sysroot-deploy.c: what is staged,
and its finalisation at shutdown). Nothing is downloaded, and a deployment is its boot entry alone.

A case says with files of the tree what shall go wrong: `run/busy` holds the title of another transaction,
`run/busy-in-a-moment` lets it begin after the question whether there is one; `run/does-nothing` lets `kargs`
end with 77 at once; with `run/no-daemon` rpm-ostree does not answer; `run/finalization-fails` lets the
shutdown lose the staged deployment; with `run/not-managed` bootc knows no booted system.
"""

from __future__ import annotations

import json
import re
import struct
import sys
from pathlib import Path

_STAGED = "run/ostree/staged-deployment"
_KEY = "x-options-source-"


# -- GLib's serialisation (GVariant Specification 1.0) ----------------------------------------------------


def text(value: str) -> tuple[str, bytes]:
    return "s", value.encode() + b"\0"


def texts(values: list[str]) -> tuple[str, bytes]:
    return "as", _framed([value.encode() + b"\0" for value in values], 1)


def table(values: dict[str, tuple[str, bytes]]) -> tuple[str, bytes]:
    """a{sv}"""
    return "a{sv}", _framed([_entry(key, *value) for key, value in values.items()], 8)


def pairs(values: dict[str, str]) -> tuple[str, bytes]:
    """a{ss}"""
    parts = [_sized(_key(key) + value.encode() + b"\0", [len(_key(key))]) for key, value in values.items()]
    return "a{ss}", _framed(parts, 1)


def _key(key: str) -> bytes:
    return key.encode() + b"\0"


def _entry(key: str, kind: str, value: bytes) -> bytes:
    name = _key(key)
    return _sized(name + bytes(-len(name) % 8) + value + b"\0" + kind.encode(), [len(name)])


def _framed(parts: list[bytes], alignment: int) -> bytes:
    body, ends = b"", []
    for part in parts:
        body += bytes(-len(body) % alignment) + part
        ends.append(len(body))
    return _sized(body, ends) if parts else b""


def _sized(body: bytes, ends: list[int]) -> bytes:
    forms = ((1, "B"), (2, "H"), (4, "I"))
    form = next(form for width, form in forms if len(body) + width * len(ends) < 1 << 8 * width)
    return body + b"".join(struct.pack(f"<{form}", end) for end in ends)


# -- deployments --------------------------------------------------------------------------------------


def _entries(root: Path) -> list[Path]:
    """The one that boots first."""
    found = (root / "boot/loader/entries").glob("ostree-*.conf")
    return sorted(found, key=lambda path: int(_value(path, "version")), reverse=True)


def _value(path: Path, key: str) -> str:
    found = re.search(rf"^{key}\s+(.*)$", path.read_text(), re.M)
    return found[1] if found else ""


def _first(root: Path) -> tuple[list[str], dict[str, str]]:
    """Arguments and extra keys of the deployment that boots next. The stand-ins' own note of what is staged
    lies beside the real file, so that no second reader of GVariant is needed."""
    note = root / (_STAGED + ".json")
    if note.exists():
        known = json.loads(note.read_text())
        return known["kargs"], known["extra"]
    entry = _entries(root)[0]
    keys = re.findall(rf"^{_KEY}(\S+)\s+(.*)$", entry.read_text(), re.M)
    return _words(_value(entry, "options")), {_KEY + name: value for name, value in keys}


def _words(line: str) -> list[str]:
    return re.findall(r'(?:[^\s"]|"[^"]*")+', line)


def _stage(root: Path, kargs: list[str], extra: dict[str, str]) -> None:
    values = {
        "target": table({"name": text(f"{'c' * 64}.1"), "osname": text("fedora")}),
        "kargs": texts([word for word in kargs if not word.startswith("ostree=")]),
    }
    if extra:
        values["bootconfig-extra"] = pairs(extra)
    staged = root / _STAGED
    staged.parent.mkdir(parents=True, exist_ok=True)
    note = staged.with_name(staged.name + ".json")
    for place, content in (
        (note, json.dumps({"kargs": kargs, "extra": extra}).encode()),
        (staged, table(values)[1]),
    ):
        new = place.with_name(place.name + ".new")
        try:
            new.write_bytes(content)
            new.replace(place)
        finally:
            new.unlink(missing_ok=True)
    print("Staging deployment... done")


def reboot(root: Path) -> str:
    """Finalisation, and the line of the deployment that boots."""
    staged = root / _STAGED
    if staged.exists() and not (root / "run/finalization-fails").exists():
        kargs, extra = _first(root)
        old, *older = _entries(root)
        for path in older:
            path.unlink()
        link = root / f"ostree/boot.1/fedora/{'b' * 64}/1"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(f"../../../deploy/fedora/deploy/{'c' * 64}.1")
        (root / f"ostree/deploy/fedora/deploy/{'c' * 64}.1.origin").touch()
        line = [
            *(w for w in kargs if not w.startswith("ostree=")),
            f"ostree=/ostree/boot.1/fedora/{'b' * 64}/1",
        ]
        version = int(_value(old, "version")) + 1
        new = re.sub(rf"^({_KEY}.*|options .*|version .*)\n", "", old.read_text(), flags=re.M)
        new += f"version {version}\noptions {' '.join(line)}\n"
        new += "".join(f"{key} {value}\n" for key, value in extra.items())
        old.with_name(f"ostree-{version}.conf").write_text(new)
    for path in (staged, staged.with_name(staged.name + ".json"), root / "run/finalization-fails"):
        path.unlink(missing_ok=True)
    return _value(_entries(root)[0], "options")


# -- the programs -------------------------------------------------------------------------------------


def rpm_ostree(root: Path, arguments: list[str]) -> int:
    busy = root / "run/busy"
    if (root / "run/no-daemon").exists():
        print("error: Could not activate remote peer 'org.projectatomic.rpmostree1'", file=sys.stderr)
        return 1
    if arguments == ["status", "--json"]:
        transaction = (
            [busy.read_text().strip(), ":1.97", "/org/projectatomic/rpmostree1/fedora"]
            if busy.exists()
            else None
        )
        print(
            json.dumps({"deployments": _deployments(root), "transaction": transaction, "cached-update": None})
        )
        if (root / "run/busy-in-a-moment").exists():
            (root / "run/busy-in-a-moment").unlink()
            (root / "run/busy-at-last").touch()
        return 0
    if arguments == ["rollback"]:
        first, second = _entries(root)[:2]
        for path, version in ((first, _value(second, "version")), (second, _value(first, "version"))):
            path.write_text(re.sub(r"^version .*$", f"version {version}", path.read_text(), flags=re.M))
        return 0
    assert arguments[0] == "kargs", arguments
    kargs, extra = _first(root)
    if len(arguments) == 1:
        print(" ".join(kargs))
        return 0
    if busy.exists() or (root / "run/busy-at-last").exists():
        title = busy.read_text().strip() if busy.exists() else "upgrade"
        print(
            f"error: Transaction in progress: {title}\n"
            " You can cancel the current transaction with `rpm-ostree cancel`",
            file=sys.stderr,
        )
        return 1
    if (root / "run/does-nothing").exists():
        return 77
    new = list(kargs)
    for option in arguments[1:]:
        name, _, word = option.partition("=")
        if name == "--append" or (name == "--append-if-missing" and word not in new):
            new.append(word)
    for option in arguments[1:]:
        name, _, word = option.partition("=")
        if name in ("--delete-if-present", "--delete") and word in kargs:
            new.remove(word)
    if new == kargs:
        print("No changes.")
        return 77 if "--unchanged-exit-77" in arguments else 0
    _stage(root, new, extra)  # keys of others come from the entry that is merged
    return 0


def _deployments(root: Path) -> list[dict[str, object]]:
    """What is staged comes first, then what was booted by and by (kola's tests of rpm-ostree ask for it)."""
    kept = [{"booted": at == 0, "staged": False} for at, _ in enumerate(_entries(root))]
    staged = [{"booted": False, "staged": True}] if (root / _STAGED).exists() else []
    fixed = {"osname": "fedora", "pinned": False, "version": "43.20251120.0", "requested-packages": []}
    return [{**fixed, "checksum": "c" * 64, "serial": at, **one} for at, one in enumerate([*staged, *kept])]


# as `bootc status --json` of insights-core's tests has it (test_bootc.py)
_HEAD = {"apiVersion": "org.containers.bootc/v1", "kind": "BootcHost", "metadata": {"name": "host"}}


def bootc(root: Path, arguments: list[str]) -> int:
    if arguments[0] == "status":
        image = {"image": "registry.example/desktop:stable", "transport": "registry"}
        booted = {
            "image": {
                "image": image,
                "version": "43.20251120.0",
                "timestamp": None,
                "imageDigest": "sha256:0",
            },
            "incompatible": False,
            "pinned": False,
            "ostree": {"stateroot": "fedora", "checksum": "c" * 64, "deploySerial": 0},
        }
        known = None if (root / "run/not-managed").exists() else booted
        status = {"staged": None, "booted": known, "rollback": None, "type": "bootcHost" if known else None}
        print(json.dumps({**_HEAD, "spec": {"image": image}, "status": status}))
        return 0
    assert arguments[:2] == ["loader-entries", "set-options-for-source"], arguments
    if arguments[2:] == ["--help"]:
        return 0
    source = _KEY + arguments[arguments.index("--source") + 1]
    wanted = _words(arguments[arguments.index("--options") + 1]) if "--options" in arguments else []
    kargs, extra = _first(root)
    new = [word for word in kargs if word not in _words(extra.get(source, ""))]
    new += [word for word in wanted if word not in new]
    keys = {key: value for key, value in extra.items() if key != source}
    if wanted:
        keys[source] = " ".join(wanted)
    if (new, keys) != (kargs, extra):
        _stage(root, new, keys)
    return 0


def ostree(root: Path, arguments: list[str]) -> int:
    assert arguments == ["--version"], arguments
    said = root / "etc/ostree-version"
    version = said.read_text().strip() if said.exists() else "2026.4"
    print(f"libostree:\n Version: '{version}'\n Features:\n  - composefs")
    return 0
