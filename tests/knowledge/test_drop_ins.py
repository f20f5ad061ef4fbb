"""Knowledge that a host adds: what counts, what is left out, and how it gets to other hosts. With the real
program and the real ssh-keygen; what was read once in a process is kept there."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.cli.documents import DOCUMENTS
from rocmcfg.knowledge import catalogue, compiled, drop_ins, toml
from tests.support.hosts import debian_grub_host
from tests.support.program import Result, command, problem, process, unfolded
from tests.support.tools import require_root, require_tool

LOCAL = "etc/rocmcfg/knowledge.d"
ISSUE = """\
schema = 1
kind = "fault"
title = "A fault of our cluster"
summary = "Seen on node 7."
gfx = ["gfx1201"]
evidence = ["https://tracker.example.com/7"]
confidence = "reported"
cost = "None."

[workaround]
settings = ["amdgpu.runpm=0"]

[[signature]]
pattern = "frobnicator [0-9]+ wedged"
strength = "specific"
samples = ["amdgpu 0000:03:00.0: frobnicator 7 wedged"]
"""
TABLES = {
    "environment": '[OUR_VARIABLE]\nsummary = "Ours."\nreader = "our library"\n',
    "parameters": '[amdgpu.brandnew]\nsummary = "To come."\nepochs = [{from = "7.4.0", to = "7.4.0", '
    'type = "int", default = "0", permission = "0444"}]\n',
    "gpus": '[[gpu]]\ngfx = "gfx1299"\nfamily = "RDNA 9"\ncodename = "Navi 99"\nproducts = "RX 9999"\n'
    'pci = ["1002:9999"]\ngc_ip = "12.9.9"\n',
}


def run(*words: str | Path, root: Path) -> Result:
    return process(command(*words, "--root", root))


def add(root: Path, name: str, text: str, folder: str = LOCAL) -> Path:
    path = root / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))


@pytest.fixture
def filled(root: Path) -> Path:
    add(root, "issues/our-fault.toml", ISSUE)
    for name, text in TABLES.items():
        add(root, f"{name}.toml", text)
    return root


def test_what_is_added_counts_and_says_where_it_came_from(filled: Path, tmp_path: Path) -> None:
    log = tmp_path / "fault.log"
    log.write_text("[    1.0] amdgpu 0000:03:00.0: frobnicator 9 wedged\n")
    found = run("doctor", log, "--json", root=filled).document["matches"][0]
    assert (found["issue"], found["sources"][0]) == ("our-fault", f"/{LOCAL}/issues/our-fault.toml")
    assert "our-fault" in [one["issue"] for one in run("issues", "--json", root=filled).document["issues"]]
    for name, file in (("OUR_VARIABLE", "environment"), ("brandnew", "parameters")):
        assert f"  /{LOCAL}/{file}.toml\n" in run("explain", name, "-v", root=filled).out
    assert "RX 9999" in run("explain", "gfx1299", root=filled).out
    assert run("lint", add(filled, "x.env", "OUR_VARIABLE=1\n"), root=filled).code == 0
    add(filled, "environment.toml", '[[family]]\nreader = "ours"\n[family.names]\nOUR_OWN = "One of ours."\n')
    assert "One of ours." in run("explain", "OUR_OWN", root=filled).out


def test_the_nearer_one_wins(filled: Path) -> None:
    packaged = "usr/share/rocmcfg/knowledge.d"
    add(filled, "issues/our-fault.toml", ISSUE.replace("of our cluster", "as packaged"), packaged)
    add(filled, "environment.toml", TABLES["environment"].replace("Ours.", "Packaged."), packaged)
    assert "A fault of our cluster" in run("explain", "our-fault", root=filled).out
    assert "Ours." in run("explain", "OUR_VARIABLE", root=filled).out
    (filled / LOCAL / "issues/our-fault.toml").unlink()
    assert "A fault as packaged" in run("explain", "our-fault", root=filled).out
    shipped = "rdna4-expert-sched-cwsr"
    add(filled, f"issues/{shipped}.toml", ISSUE)
    assert "A fault of our cluster" in run("explain", shipped, root=filled).out


WRONG = [
    ("issues/bad.toml", 'schema = 1\nkind = "x"\n', "title: is missing"),
    ("issues/bad.toml", ISSUE.replace("[0-9]+", "[0-9"), "is not a regular expression"),
    ("issues/bad.toml", "title = \n", "TOML syntax"),
    ("issues/bad.toml", ISSUE.replace("[0-9]+", "([0-9]+.*)+"), "can take hours"),
    ("issues/bad.toml", ISSUE.replace("[0-9]+", "([0-9]|77)*"), "can take hours"),
    ("issues/bad.toml", ISSUE.replace("[0-9]+", "(([0-9]+)x?)+"), "can take hours"),
    (
        "issues/bad.toml",
        ISSUE.replace('"frobnicator [0-9]+ wedged"', f'"frobnicator {"a?" * 60}{"a" * 60}|wedged$"').replace(
            "frobnicator 7", f"frobnicator {'a' * 60}"
        ),
        "takes too long to match its own samples",
    ),
    ("issues/bad.toml", ISSUE.replace("cost =", 'lacks_fix = "zzz"\ncost ='), "no fix has the name zzz"),
    ("environment.toml", '[BAD]\nsumary = "x"\n', "BAD: no row of this file has the key sumary"),
    ("environment.toml", "[BAD]\nsummary = 7\n", "BAD: summary: must be a text in quotes"),
    ("parameters.toml", "[amdgpu.bad]\nepochs = []\n", "amdgpu.bad: it has no"),
    (
        "parameters.toml",
        TABLES["parameters"].replace("7.4.0", "seven"),
        "amdgpu.brandnew: epochs.0.from: 'seven' is not a kernel release",
    ),
    ("parameters.toml", "amdgpu = 1\n", "its tables differ from those"),
    ("gpus.toml", 'gpu = "x"\n', "it is not a table"),
    ("gpus.toml", "gpu = 7\n", "its tables differ from those"),
    ("gpus.toml", "schema = 2\n", "schema: must be 1"),
    ("issues/Node.Bus.toml", ISSUE, "files with this name are not read"),
    ("issues/x.TOML", ISSUE, "files with this name are not read"),
    ("our-fault.toml", ISSUE, "name it issues/NAME.toml"),
    ("issue/our-fault.toml", ISSUE, "files with this name are not read"),
    ("issues/bad.toml", ISSUE.replace("[0-9]+", "a{9999999999}"), "is not a regular expression"),
    ("environment.toml", '[BAD]\nsummary = "x"\npattern = "("\n', "pattern: '(' is not a regular"),
    (
        "environment.toml",
        '[BAD]\nsummary = "x"\ntraps = [{values = ["1"], kind = "bad", summary = "x", kernel = "6"}]\n',
        "BAD: traps.0.kind: must be 'inverted', 'default', 'no_effect', 'dangerous', 'obsolete', "
        "'misread', 'limited', 'costly' or 'debugging'; traps.0.kernel: '6' is not a comparison",
    ),
    ("environment.toml", '[BAD]\nsummary = "x"\n[BAD]\n', "BAD is defined twice, first in line 1"),
    (
        "environment.toml",
        '[BAD]\nsummary = "x"\n[[family]]\nreader = "x"\n[family.names]\nBAD = "y"\n',
        "BAD is defined twice, first in line 1 at /etc/rocmcfg/knowledge.d/environment.toml:6",
    ),
    (
        "environment.toml",
        '[BAD]\nsummary = "x"\nacts_on = {gfxx = ["gfx9"]}\n',
        "BAD: acts_on.gfxx: unknown key",
    ),
]


@pytest.mark.parametrize(("name", "text", "says"), WRONG)
def test_what_is_wrong_is_left_out_and_told(root: Path, name: str, text: str, says: str) -> None:
    add(root, name, text)
    checked = run("knowledge", "check", root=root)
    assert checked.code == 1
    assert "warning[RC1030]" in checked.err
    assert says in " ".join(checked.err.split())


@pytest.mark.parametrize("turn", range(max(Counter(name for name, _, _ in WRONG).values())))
def test_what_is_wrong_stops_nothing(root: Path, turn: int) -> None:
    """Of the texts above as many at once as there are names, until each had its turn."""
    for name in {name for name, _, _ in WRONG}:
        texts = [text for other, text, _ in WRONG if other == name]
        add(root, name, texts[turn % len(texts)])
    for words in (("plan", "-p", "gfx1201"), ("apply", "-p", "gfx1201", "--yes"), ("rollback", "--yes")):
        ran = run(*words, root=root)
        assert (ran.code, "Traceback" in ran.err) == (0, False), ran.err


def _inline(value: Any) -> str:
    """As TOML."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)} = {_inline(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    return value.isoformat() if isinstance(value, date) else json.dumps(value)


def _places(value: Any) -> Iterator[tuple[str | int, ...]]:
    for key, one in value.items() if isinstance(value, dict) else enumerate(value):
        yield (key,)
        if isinstance(one, dict | list):
            yield from ((key, *path) for path in _places(one))


def _changed(value: Any, path: Sequence[str | int], to: Any) -> Any:
    copied = value.copy()
    copied[path[0]] = _changed(value[path[0]], path[1:], to) if path[1:] else to
    return copied


def _rows(name: str) -> list[tuple[tuple[str, ...], Any]]:
    """Shipped rows of a kind, each with the keys of the tables that it stands in."""
    data = Path(compiled.PACKAGE) / "knowledge/data"
    if name == "issues":
        return [((), toml.loads(path.read_text())) for path in sorted((data / name).glob("*.toml"))]
    document = toml.loads((data / f"{name}.toml").read_text())
    if name == "gpus":
        return [(("gpu", "[]"), row) for row in document["gpu"]]
    tables = [(key, table) for key, table in document.items() if isinstance(table, dict) and key != "sources"]
    if name == "environment":
        return [((key,), row) for key, row in tables]
    return [((module, key), row) for module, table in tables for key, row in table.items()]


def test_what_names_nothing_and_no_number_means_nothing(root: Path) -> None:
    notes = '[amdgpu.ppfeaturemask]\ncopied = {0xfffd3fff = ["none"]}\nmeanings = {0xzz = "x", 0x1 = "one"}\n'
    add(root, "parameter_notes.toml", notes)
    mask = "ppfeaturemask=0xfffd3fff"
    file = add(root, "a.conf", f"options amdgpu {mask}\n")
    for words in (("lint", file), ("plan", "--set", f"amdgpu.{mask}"), ("explain", mask)):
        assert "RC9000" not in run(*words, root=root).err
    assert "one" in run("explain", mask, root=root).out


_OTHERS: tuple[Any, ...] = (7, 1.5, True, "~~", [], {}, date(2020, 1, 1))  # one of each type
_FREE = {"meanings", "bits", "copied"}  # tables whose keys are values
_READ: dict[str, Callable[[], object]] = {
    "parameters": lambda: tuple(catalogue.load().parameters),
    "parameter_notes": catalogue._notes,
    "environment": lambda: tuple(catalogue.load().variables),
    "gpus": catalogue.gpu_models,
    "issues": lambda: tuple(drop_ins.issues(catalogue.load().fixes)),
}


@pytest.fixture
def forgetful() -> Iterator[Callable[[], None]]:
    """What was read is forgotten, before and after."""

    def forget() -> None:
        for read in (catalogue.load, catalogue._notes, catalogue.gpu_models):
            read.cache_clear()
        drop_ins.take_problems()
        drop_ins.use()

    forget()
    yield forget
    forget()


@pytest.mark.bulk
@pytest.mark.parametrize("name", _READ)
def test_a_value_of_another_type_is_left_out_wherever_it_stands(
    name: str, forgetful: Callable[[], None]
) -> None:
    """Of each key that some shipped row has, nested ones too: no value of another of TOML's types, and no key
    that is misspelt, goes into the program."""

    def told(tables: tuple[str, ...], document: Any) -> str:
        forgetful()
        for key in reversed(tables):
            document = [document] if key == "[]" else {key: document}
        file = "issues/x.toml" if name == "issues" else f"{name}.toml"
        text = "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in document.items())
        drop_ins.use(drop_ins.Layer("x", {file: text.encode()}))
        _READ[name]()
        return " ".join(one.summary for one in drop_ins.take_problems())

    seen = set()
    for tables, row in _rows(name):
        for path in _places(row):
            kind = tuple("" if isinstance(key, int) or not key.isidentifier() else key for key in path)
            if kind in seen or kind == ("schema",):
                continue
            seen.add(kind)
            assert told(tables, row) == ""
            was = functools.reduce(lambda value, key: value[key], path, row)
            for other in _OTHERS:
                if type(other) is not type(was):
                    assert str(path[-1]) in told(tables, _changed(row, path, other)), (path, other)
            if isinstance(was, dict) and kind[-1] not in _FREE:
                assert "unknown" in told(tables, _changed(row, (*path, "acts_onn"), 7)), path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is handed over by what others may write")
def test_root_believes_no_file_that_others_may_write(filled: Path) -> None:
    (filled / LOCAL / "issues/our-fault.toml").chmod(0o666)
    said = run("explain", "our-fault", root=filled)
    assert "nothing is known" in said.err
    assert "warning[RC1030]" in run("issues", root=filled).err


def test_a_name_of_two_bundles_is_left_out_of_the_second(root: Path) -> None:
    """No bundle is nearer than another; what is in knowledge.d itself is."""
    for name, who in (("one", "the first"), ("two", "the second")):
        files = {
            "issues/our-fault.toml": ISSUE.replace("our cluster", who),
            "environment.toml": TABLES["environment"].replace("Ours.", f"Of {who}."),
        }
        bundle = {"schema": 1, "name": name, "version": 1, "files": files}
        add(root, f"bundles/{name}.json", json.dumps(bundle))
    checked = " ".join(run("knowledge", "check", root=root).err.split())
    assert f"issues/our-fault.toml is defined twice, first in /{LOCAL}/bundles/one.json/issues" in checked
    assert f"OUR_VARIABLE is defined twice, first in /{LOCAL}/bundles/one.json/environment.toml" in checked
    assert f"at /{LOCAL}/bundles/two.json/environment.toml " in checked
    assert "A fault of the first" in run("explain", "our-fault", root=root).out
    assert "Of the first." in run("explain", "OUR_VARIABLE", root=root).out
    add(root, "issues/our-fault.toml", ISSUE)
    assert "A fault of our cluster" in run("explain", "our-fault", root=root).out


def test_a_bundle_goes_from_host_to_host_by_its_signature(filled: Path, tmp_path: Path) -> None:
    require_tool("ssh-keygen", "openssh-client")
    other = debian_grub_host(tmp_path / "other", kernels=("6.14.0-37-generic",))
    bundle, key = tmp_path / "site.json", tmp_path / "key"
    exported = run("knowledge", "export", bundle, "--json", root=filled)
    assert exported.code == 0, exported.err
    DOCUMENTS["knowledge export"].model_validate(exported.document)
    bundle.write_text(bundle.read_text().replace(str(exported.document["version"]), "7"))
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)

    def sign() -> None:
        bundle.with_name("site.json.sig").unlink(missing_ok=True)
        subprocess.run(
            ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "rocmcfg-knowledge", bundle], check=True
        )

    def install() -> Result:
        return run("knowledge", "install", bundle, root=other)

    assert "ssh-keygen -Y sign" in " ".join(problem(install(), "RC1032", 1).split())
    sign()
    assert "allowed_signers does not exist" in " ".join(problem(install(), "RC1032", 1).split())
    signers = add(
        other, "allowed_signers", "ops@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA==\n", "etc/rocmcfg"
    )
    problem(install(), "RC1032", 1)
    signers.write_text(
        f'ops@example.com namespaces="rocmcfg-knowledge" {key.with_suffix(".pub").read_text()}'
    )
    found = run("knowledge", "install", bundle, "--json", root=other).document
    DOCUMENTS["knowledge install"].model_validate(found)
    DOCUMENTS["knowledge check"].model_validate(run("knowledge", "check", "--json", root=other).document)
    assert (found["changed"], found["signer"], found["version"]) == (True, "ops@example.com", 7)
    assert "Already installed" in install().out
    installed = other / "etc/rocmcfg/knowledge.d/bundles/site.json"
    modes = [path.stat().st_mode & 0o777 for path in (installed, installed.parent)]
    assert modes == [0o644, 0o755], "whoever runs doctor reads it"
    assert "A fault of our cluster" in run("explain", "our-fault", root=other).out
    assert "site.json/issues/our-fault.toml" in run("explain", "our-fault", root=other).out

    content = bundle.read_text()
    bundle.write_text(content.replace("our cluster", "nobody"))
    problem(install(), "RC1032", 1)
    sign()
    assert "version 7 is already" in " ".join(problem(install(), "RC1034", 1).split())
    bundle.write_text(content.replace('"version": 7', '"version": 6'))
    sign()
    problem(install(), "RC1034", 1)
    bundle.write_text(content.replace('"version": 7', '"version": 99990101000000'))
    sign()
    assert "its date is in" in problem(install(), "RC1036", 1), "it would lock newer ones out"
    bundle.write_text(content.replace('"version": 7', '"version": 8').replace("[0-9]+", "[0-9"))
    sign()
    assert "is not a regular expression" in " ".join(problem(install(), "RC1030", 1).split())
    bundle.write_text(content.replace('"version": 7', '"version": 8').replace("our cluster", "two clusters"))
    sign()
    assert install().code == 0
    assert "A fault of two clusters" in run("explain", "our-fault", root=other).out
    installed.write_text(content[:100])
    damaged = run("explain", "our-fault", root=other)
    assert "A fault of our cluster" in damaged.out, "the last good one counts"
    assert "warning[RC1030]" in damaged.err
    assert "site 7, signed by ops@example.com" in unfolded(run("knowledge", "list", root=other).out)

    newest = bundle.read_text()
    bundle.write_text(content.replace('"version": 7', '"version": 6'))
    sign()
    assert "version 7 is already" in " ".join(problem(install(), "RC1034", 1).split()), (
        "that of the last good one"
    )
    bundle.write_text(newest)
    sign()
    unread = add(other, "bundles/site.json.sig", "", LOCAL)
    add(other, "issues/not-mine.toml", "")
    assert "A fault of two clusters" not in run("explain", "our-fault", root=other).out
    again = install()
    assert (again.code, "not-mine" in again.err) == (0, False), "nothing else on the host keeps it out"
    assert "A fault of two clusters" in run("explain", "our-fault", root=other).out
    unread.unlink()
    assert "Installed" in install().out, "the signature is put back"
    (other / LOCAL / "issues/not-mine.toml").unlink()
    if os.geteuid() == 0:  # whoever is not root has nothing to hand over
        installed.parent.chmod(0o777)
        problem(install(), "RC1030", 1)
        installed.parent.chmod(0o755)
    listed = unfolded(run("knowledge", "list", root=other).out)
    assert "site 8, signed by ops@example.com: 1 known issue, environment.toml, gpus.toml" in listed
    signers.write_text("")
    assert "not signed by an allowed signer now" in unfolded(run("knowledge", "list", root=other).out)
    assert "knowledge list" in problem(run("knowledge", "remove", "sites", root=other), "RC1035", 1)
    assert "RC1035" in run("knowledge", "remove", "../site", root=other).err
    removed = run("knowledge", "remove", "site", "--json", root=other).document
    DOCUMENTS["knowledge remove"].model_validate(removed)
    assert list(installed.parent.iterdir()) == [], "nor does the one before it count again"
    assert "This host adds nothing" in run("knowledge", "list", root=other).out


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"name": "../x"},
        {"version": "7"},
        {"version": 0},
        {"files": {}},
        {"files": {"../../etc/shadow": "x"}},
        {"files": {"issues/x.toml": 7}},
        {"files": {"issues/x.toml": "\ud800"}},
        {"files": {"x.toml": "x"}},
        {"version": 10**18},
        {"files": {"issues/x.toml": "#" * (1 << 20) + "\n"}},
    ],
)
def test_a_bundle_has_one_form(change: dict[str, object]) -> None:
    from rocmcfg.knowledge import bundle

    right = {"schema": 1, "name": "site", "version": 7, "files": {"issues/x.toml": "x"}}
    assert bundle.parse(json.dumps(right).encode(), "x").version == 7
    with pytest.raises(bundle.Broken, match="not a usable bundle of knowledge") as stop:
        bundle.parse(json.dumps({**right, **change}).encode(), "x")
    assert stop.value.diagnostics[0].id == "RC1031"


def test_no_key_of_a_bundle_stands_twice() -> None:
    """Of two, another reader would take the other one."""
    from rocmcfg.knowledge import bundle

    for content in (
        '{"schema": 1, "name": "site", "version": 7, "version": 8, "files": {"gpus.toml": ""}}',
        '{"schema": 1, "name": "site", "version": 7, "files": {"gpus.toml": "", "gpus.toml": "a"}}',
    ):
        with pytest.raises(bundle.Broken) as stop:
            bundle.parse(content.encode(), "x")
        assert "occurs twice" in stop.value.diagnostics[0].detail


def test_nothing_wrong_is_exported(root: Path, tmp_path: Path) -> None:
    problem(run("knowledge", "export", tmp_path / "a.json", root=root), "RC1033", 1)
    add(root, "environment.toml", '[BAD]\nsumary = "x"\n')
    problem(run("knowledge", "export", tmp_path / "a.json", root=root), "RC1030", 1)
    assert not (tmp_path / "a.json").exists()
    assert run("knowledge", "export", tmp_path / "a.json", "--name", "A/B", root=root).code == 2
    assert run("knowledge", "export", "-", root=root).code == 2


def test_a_diagnosis_and_a_report_carry_the_version_of_what_is_known(filled: Path, tmp_path: Path) -> None:
    log = tmp_path / "fault.log"
    log.write_text("[    1.0] amdgpu 0000:03:00.0: frobnicator 9 wedged\n")

    def version() -> str:
        found = str(run("doctor", log, "--json", root=filled).document["knowledge_version"])
        assert f"(knowledge {found})" in run("report", log, root=filled).out
        return found

    first = version()
    (filled / LOCAL / "issues/our-fault.toml").write_text(ISSUE.replace("node 7", "node 8"))
    second = version()
    assert first != second
    assert first.split("+")[0] == second.split("+")[0], "what came with the program is the same"


SLOW = "a?" * 40 + "a" * 40  # repeats nothing that repeats, and tries 2 ** 40 ways


@pytest.mark.parametrize("pattern", [f"wedged ({SLOW})[cd]|zz x", "wedged (a+b?){7}c|zz x"])
def test_a_pattern_that_takes_too_long_is_left_out_and_doctor_goes_on(
    root: Path, tmp_path: Path, pattern: str
) -> None:
    """No look at a form tells how long a pattern takes: its time is bounded, whatever the form."""
    slow = ISSUE.replace("frobnicator [0-9]+ wedged", pattern).replace("frobnicator 7 wedged", "zz x")
    add(root, "issues/slow.toml", slow)
    add(root, "issues/our-fault.toml", ISSUE)
    assert run("knowledge", "check", root=root).code == 0, "it matches its sample soon"
    log = tmp_path / "fault.log"
    lines = [f"[  1.0] amdgpu 0000:03:00.0: wedged {'a' * 200}"] * 3 + ["frobnicator 9 wedged"]
    log.write_text("\n".join(lines) + "\n")
    found = run("doctor", log, root=root)
    assert "our-fault" in found.out
    assert "Traceback" not in found.err
    told = unfolded(found.err)
    assert found.err.count("warning[RC1037]") == 1
    assert f"/{LOCAL}/issues/slow.toml" in told
    assert "it takes too long" in told


PARAMETER = """[amdgpu.own_list]
summary = "A list."
epochs = [{ from = "5.10.218", to = "7.3.4", type = "charp", default = "(null)", permission = "0444" }]
sources = ["https://example.org/1"]
"""


def test_the_value_of_another_users_profile_is_compared_for_a_limited_time(
    root: Path, tmp_path: Path
) -> None:
    require_root()
    add(root, "parameters.toml", PARAMETER)
    add(root, "parameter_notes.toml", '[amdgpu.own_list]\npattern = "(a+)+c"\n')
    profile = tmp_path / "theirs.toml"
    profile.write_text(f'schema = 1\nsummary = "x"\n[module.amdgpu]\nown_list = "{"a" * 39}"\n')
    os.chown(profile, 12345, 12345)
    refused = run("plan", "--profile", profile, "--any-gpu", root=root)
    assert (refused.code, "error[RC2111]" in refused.err) == (1, True), refused.err
    assert "it takes too long" in unfolded(refused.err)
