"""Whatever a file or a program of a host says, a command ends with an answer or a documented error, and never
as a defect of rocmcfg (RC9000). Real trees, read through a host that changes what is read; every change comes
from a seed, which the failure names.

A reader that is not reached by a whole command is a line of READERS.
"""

from __future__ import annotations

import io
import json
import os
import random
import resource
import shutil
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import pytest

from rocmcfg import initramfs
from rocmcfg.advice.doctor.reading import probes
from rocmcfg.advice.doctor.reading.log_facts import read_facts
from rocmcfg.advice.doctor.reading.logs import unpacked
from rocmcfg.advice.doctor.reading.scan import Scanner
from rocmcfg.advice.fleet import collection
from rocmcfg.advice.fleet.endings import Endings
from rocmcfg.advice.fleet.reports import Reader
from rocmcfg.advice.fleet.survey import survey
from rocmcfg.advice.report.redact import Redactor
from rocmcfg.change.trial import record
from rocmcfg.experiments.kinds import course
from rocmcfg.facts import crash_events, gpu_clients, gpus, kernels, logins, rocm, system
from rocmcfg.files import environment, environment_targets
from rocmcfg.host import kernel_log
from rocmcfg.host.local import LocalHost
from rocmcfg.host.user_state import UserState
from rocmcfg.host.view import CommandResult, Unreadable
from rocmcfg.knowledge import bundle, catalogue, diagnosis, faults, profiles, toml
from rocmcfg.loaders import detection, registry
from rocmcfg.loaders.shared import pe_image
from rocmcfg.loaders.shared.ostree import deployments, gvariant
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError
from rocmcfg.model.experiment import CONTROL, Design, Outcome, Step, Variable
from rocmcfg.model.profile import Profile
from rocmcfg.records import journal, receipt, tries
from rocmcfg.state import values
from rocmcfg.workflow import fleet, linting
from tests.cases import case
from tests.crashes import crashing
from tests.fleet.hosts import status, verify
from tests.support import ostree
from tests.support.mutations import mutate
from tests.support.program import SOURCE, rocmcfg
from tests.support.tool_host import QuickHost

KNOWN = catalogue.load()
MEMORY = 1 << 30  # bytes that all of it may come to need
SHORT, SHORT_COMMANDS = 100, 10
LONG, LONG_COMMANDS = (20_000, 2_000) if os.environ.get("ROCMCFG_TEST_LONG") else (1_000, 100)  # `make fuzz`
COMMANDS: Sequence[Sequence[str]] = (
    ("status",),
    ("status", "-v", "--json"),
    ("verify",),
    ("facts", "-v"),
    ("plan", "--set", "amdgpu.runpm=0", "--any-gpu"),
    ("plan", "--set", "amdgpu.runpm=0", "--any-gpu", "--via", "modprobe"),
    ("plan", "--set", "amdgpu.runpm=0", "--any-gpu", "--trial"),
    ("doctor",),
    ("report",),
    ("lint",),
    ("rollback", "--dry-run"),
    ("history",),
    ("issues",),
    ("crashes", "list"),
    ("crashes", "report"),
    ("take-over", "--dry-run"),
    ("explain", "amdgpu.runpm"),
)


class Changed(QuickHost):
    """A host of which one answer, or each from one on, is not as it was. `answers` counts them."""

    rng: ClassVar[random.Random]
    at: ClassVar[int]
    to_the_end: ClassVar[bool]
    answers: ClassVar[int]
    changed: ClassVar[list[str]]

    @classmethod
    def begin(cls, seed: str, at: int, *, to_the_end: bool) -> None:
        cls.rng, cls.at, cls.to_the_end = random.Random(seed), at, to_the_end
        cls.answers, cls.changed = 0, []

    def _said(self, what: str, content: bytes) -> bytes:
        number = Changed.answers
        Changed.answers += 1
        if number < self.at or (number > self.at and not self.to_the_end):
            return content
        self.changed.append(what)
        return mutate(self.rng, content)

    def read(self, path: str) -> bytes | None:
        content = super().read(path)
        return None if content is None else self._said(path, content)

    def stream(self, path: str) -> BinaryIO | None:
        stream = super().stream(path)
        if stream is None:
            return None
        with stream:
            return io.BytesIO(self._said(path, stream.read(1 << 20)))

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        asked = super().query(argv)
        if asked is None:
            return None
        said = self._said(" ".join(argv), asked.stdout.encode("utf-8", "replace"))
        return asked._replace(stdout=said.decode("utf-8", "replace"))


@pytest.fixture(scope="module")
def some_trees(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    return _trees(tmp_path_factory, ("grub", "kernelstub", "limine", "rpm-ostree"))


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    return _trees(tmp_path_factory, [folder.parent.name for folder in case.cases().values()])


def _trees(tmp_path_factory: pytest.TempPathFactory, loaders: Collection[str]) -> Mapping[str, Path]:
    """A host of each loader, after the commands of its first case in which something is applied; and a host
    with a crash."""
    folders = {"crashed": _crashed(tmp_path_factory.mktemp("crashed"))}
    for name, folder in case.cases().items():
        loader = name.partition("/")[0]
        one = case.read(folder)
        if loader not in loaders or loader in folders or not one.applied or "as-root" in one.host:
            continue
        place = tmp_path_factory.mktemp(loader) / "host"
        for number, (host, _) in enumerate(case.steps(one), 1):
            if number == len(one.commands):
                shutil.copytree(host, place, symlinks=True)
        folders[loader] = place
    return folders


def _crashed(folder: Path) -> Path:
    """A host with a saved crash, and with the next dump in the kernel."""
    root = crashing.crashed_root(folder)
    crashing.process(root, 42, "python3", "drm-driver: amdgpu\ndrm-memory-vram: 4 MiB\n")
    crashing.dump(root, "devcd1")
    crashing.save(root, "devcd1:7")
    return root


def _nothing_wrong(found: Iterator[str]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wrong = list(found)
    assert not wrong, "\n".join([f"{len(wrong)} seeds", *wrong[:20]])
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10 < MEMORY


# -- whole commands -------------------------------------------------------------------------------------


def _commands(trees: Mapping[str, Path], count: int) -> Iterator[str]:
    """What is wrong, with the seed that shows it."""
    rng = random.Random(f"commands of {count}")
    answers: dict[tuple[str, Sequence[str]], int] = {}
    for number in range(count):
        loader, words = rng.choice(sorted(trees)), rng.choice(COMMANDS)
        if (loader, words) not in answers:
            Changed.begin("", 1 << 30, to_the_end=False)
            rocmcfg(*words, "--root", trees[loader], host=Changed)
            answers[loader, words] = Changed.answers
        seed = f"{count}/{number}"
        Changed.begin(seed, rng.randrange(max(answers[loader, words], 1)), to_the_end=rng.random() < 0.1)
        said = rocmcfg(*words, "--root", trees[loader], host=Changed)
        told = f"seed {seed}: {loader}, {' '.join(words)}, changed {Changed.changed[:5]}\n{said.err}"
        if "RC9000" in said.out + said.err or said.code not in set(ExitCode):
            yield told


def test_no_command_takes_damaged_data_for_a_defect(some_trees: Mapping[str, Path]) -> None:
    _nothing_wrong(_commands(some_trees, SHORT_COMMANDS))


@pytest.mark.slow
def test_no_command_takes_damaged_data_for_a_defect_of_many(trees: Mapping[str, Path]) -> None:
    _nothing_wrong(_commands(trees, LONG_COMMANDS))


# -- readers --------------------------------------------------------------------------------------------


def _boot(host: LocalHost) -> None:
    for backend in registry.backends():
        observed = backend.observe(host)
        list(backend.preflight(host, observed, ["amdgpu.runpm=0"]))
        list(backend.unmanaged(host) or ())
    detection.detect(host, initramfs.detect(host))


def _facts(host: LocalHost) -> None:
    system.read_os(host)
    system.read_hardware(host, ("0000:03:00.0",))
    system.read_container(host)
    gpus.read_gpus(host, KNOWN.gpus)
    kernels.read_kernels(host)
    rocm.read_rocm(host)
    rocm.read_pytorch(host)
    logins.somebody_logged_in(host)


def _values(host: LocalHost) -> None:
    set_here = values.set_parameters(host, KNOWN.modules(), None)
    values.deviations(host, None, set_here, KNOWN)
    environment.for_everybody(host)
    environment_targets.later_assignments(host, ())


def _records(host: LocalHost) -> None:
    for read in (receipt.load, record.load, journal.read_all, journal.open_transaction):
        _read(read, host)


def _staged(host: LocalHost) -> None:
    deployments.staged(host)
    deployments.menu(host, "rpm-ostree")


def _crash(host: LocalHost) -> None:
    gpu_clients.read_clients(host)
    event = crash_events.read_event(host, "devcd1:7")
    assert event is not None
    crash_events.firmware_list(host, event.address)


READERS: Mapping[str, Callable[[LocalHost], object]] = {
    "boot loaders": _boot,
    "facts": _facts,
    "values": _values,
    "records": _records,
    "lint": lambda host: linting.lint(host, ()),
    "deployments": _staged,
    "profiles": lambda host: profiles.read(host, profiles.names(host)),
    "a crash": _crash,
}


def _log(content: bytes) -> None:
    known = diagnosis.log_knowledge()
    classes = faults.faults().values()
    wanted = probes.of_all(known, catalogue.known_issues(), classes)
    scanner = Scanner(wanted, use_grep=False)
    scanner.read("a", unpacked(io.BytesIO(content), "a"))
    read_facts(scanner, known, KNOWN.gpus)


def _toml(content: bytes) -> None:
    toml.parse(content, "x")
    toml.key_lines(content.decode("utf-8", "replace"))


def _redacted(content: bytes) -> None:
    redact, text = Redactor(), content.decode("utf-8", "replace")
    redact.learn(text)
    redact(text)


def _profile(name: str) -> Profile | None:
    try:
        return profiles.load(LocalHost("/"), [name])[0]
    except RocmcfgError:
        return None


def _fleet(content: bytes) -> None:
    """As of a folder with this file alone."""
    documents = collection.Collection(Reader())
    documents.add(content, "/fleet/node1.json", "", 0)
    fleet.page(survey(documents, Endings(_profile, KNOWN)))


class _Attempt(UserState):
    """The state of a user with the record of one try, which is not on the disk."""

    def __init__(self, content: bytes = b"") -> None:
        super().__init__("/tries")
        self.content = content

    def append(self, number: int, name: str, line: bytes) -> None:
        del number, name
        self.content += line

    def read(self, number: int, name: str) -> bytes:
        del number, name
        return self.content

    @classmethod
    def under_way(cls) -> _Attempt:
        """After six runs of which each without the setting failed."""
        made = cls()
        design = Design("cure", (Variable("HSA_XNACK", "1"),))
        begun = tries.Begun("2026-11-28T21:06:22Z", ("make", "check"), "/", design, tries.Terms(), "", {})
        tries.append(made, 1, begun)
        under_way = course(design)
        for _ in range(6):
            assert isinstance(under_way.next, Step)
            arm = under_way.next.arm
            ran = Outcome(arm, "exit" if arm == CONTROL else "", "", 1000)
            tries.append(made, 1, tries.Started(begun.time, arm, "b", "m"))
            tries.append(made, 1, tries.Ran(begun.time, ran))
            under_way.add(ran)
        return made


def _documented(read: Callable[[bytes], object], *errors: type[Exception]) -> Callable[[bytes], None]:
    def run(content: bytes) -> None:
        with suppress(*errors):
            read(content)

    return run


BUNDLE = bundle.Bundle("site", 7, {"issues/x.toml": 'schema = 1\nkind = "fault"\n'}).dump()
TABLE = ostree.table(
    {"kargs": ostree.texts(["quiet", "a=1"]), "target": ostree.table({"n": ostree.text("x")})}
)
LOG = b"".join(
    f"[    {n}.0] {sample}\n".encode()
    for n, issue in enumerate(catalogue.known_issues()[:40])
    for signature in issue.signatures
    for sample in signature.samples
)
FLEET = b"".join(json.dumps(made).encode() + b"\n" for made in (status(), verify()))
JOURNAL = json.dumps(
    {"PRIORITY": "4", "__MONOTONIC_TIMESTAMP": "1234567", "MESSAGE": [114, 105, 110, 103, 255], "_HOST": None}
).encode()
CONTENTS: Mapping[str, tuple[bytes, Callable[[bytes], None]]] = {
    "TOML": (
        (SOURCE / "profiles/strix.toml").read_bytes(),
        _toml,
    ),
    "bundle": (BUNDLE, _documented(lambda content: bundle.parse(content, "x"), bundle.Broken)),
    "GVariant": (TABLE[1], _documented(lambda content: gvariant.read("a{sv}", content), ValueError)),
    "log": (LOG, _documented(_log, RocmcfgError)),
    "report": (LOG, _redacted),
    "fleet": (FLEET, _fleet),
    "try": (
        _Attempt.under_way().content,
        _documented(lambda content: tries.load(_Attempt(content), 1), RocmcfgError),
    ),
    "journal": (JOURNAL, _documented(kernel_log.journal_line, RocmcfgError)),
}


def _readers(trees: Mapping[str, Path], count: int) -> Iterator[str]:
    rng = random.Random(f"readers of {count}")
    answers: dict[tuple[str, str], int] = {}
    for number in range(count):
        seed = f"{count}/{number}"
        if rng.random() < 0.3:
            name = rng.choice(sorted(CONTENTS))
            content, parse = CONTENTS[name]
            try:
                parse(mutate(random.Random(seed), content))
            except Exception:
                yield f"seed {seed}: {name}\n{traceback.format_exc(-4)}"
            continue
        loader, name = rng.choice(sorted(trees)), rng.choice(sorted(READERS))
        host = Changed(str(trees[loader]))
        if (loader, name) not in answers:
            Changed.begin("", 1 << 30, to_the_end=False)
            _read(READERS[name], host)
            answers[loader, name] = Changed.answers
        at = rng.randrange(max(answers[loader, name], 1))
        Changed.begin(seed, at, to_the_end=rng.random() < 0.1)
        try:
            _read(READERS[name], Changed(str(trees[loader])))
        except Exception:
            changed = f"{name} of {loader}, changed {Changed.changed[:5]}"
            yield f"seed {seed}: {changed}\n{traceback.format_exc(-4)}"


def _read(reader: Callable[[LocalHost], object], host: LocalHost) -> None:
    with suppress(RocmcfgError):
        reader(host)


def test_no_reader_raises_an_error_of_its_own(some_trees: Mapping[str, Path]) -> None:
    _nothing_wrong(_readers(some_trees, SHORT))


@pytest.mark.slow
def test_no_reader_raises_an_error_of_its_own_of_many(trees: Mapping[str, Path]) -> None:
    _nothing_wrong(_readers(trees, LONG))


# -- each of what was found -----------------------------------------------------------------------------


NESTED = ostree.table({"kargs": ("v", b"x" + b"\0v" * 5000)})[1]
OSTREE_ENTRY = "title a\nversion {}\noptions ostree=/{}ostree/boot.1/a/b/0 quiet\nlinux /vmlinuz-1\n"
ENTRY = "boot/loader/entries/ostree-9.conf"
DAMAGED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "nested variants": ("rpm-ostree", {"run/ostree/staged-deployment": NESTED}),
    "nested lists": ("kernelstub", {"etc/kernelstub/configuration": "[" * 200_000}),
    "a NUL in an entry": ("rpm-ostree", {ENTRY: OSTREE_ENTRY.format(9, "\0")}),
    "a version of thousands of digits": ("rpm-ostree", {ENTRY: OSTREE_ENTRY.format("9" * 5000, "")}),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_ended_every_command_is_said_to_be_unreadable(
    some_trees: Mapping[str, Path], tmp_path: Path, name: str
) -> None:
    loader, files = DAMAGED[name]
    root = tmp_path / "host"
    shutil.copytree(some_trees[loader], root, symlinks=True)
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    for words in COMMANDS:
        said = rocmcfg(*words, "--root", root)
        assert "RC9000" not in said.out + said.err, (words, said.err)


def test_a_variant_is_followed_as_deep_as_glib_follows_it() -> None:
    def nested(depth: int) -> bytes:
        return b"x" + b"\0s" + b"\0v" * depth

    assert gvariant.read("v", nested(100)) == "x"
    with pytest.raises(ValueError, match="nested more than 128 deep"):
        gvariant.read("v", nested(200))


@pytest.mark.parametrize("path", ["/a\0b", "/\ud800"])
def test_a_path_that_no_file_can_have_is_absent(tmp_path: Path, path: str) -> None:
    for host in (LocalHost(str(tmp_path)), LocalHost("/")):
        assert host.read(path) is None
        assert host.state(path) is None
        assert host.stream(path) is None
        assert not host.exists(path)
        assert not host.is_dir(path)
        assert not host.is_symlink(path)
        assert host.names(path) == ()
        assert host.real_path(path) == path
        assert not host.hidden(path)
        assert not host.has_tool(path)
        with suppress(Unreadable):
            assert host.weakness(path) is None


def test_a_damaged_image_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    (tmp_path / "a.efi").write_bytes(b"MZ" + b"\xff" * 200)
    with pytest.raises(Unreadable, match="it is damaged: it has no PE header"):
        pe_image.read(LocalHost(str(tmp_path)), "/a.efi")
