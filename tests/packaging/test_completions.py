"""The completions as a user meets them: in the real shells, found where they are installed."""

from __future__ import annotations

import fcntl
import importlib
import os
import pty
import re
import resource
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from rocmcfg.cli import complete
from tests.support.program import rocmcfg
from tests.support.tools import HANG, require_tool

REPOSITORY = Path(__file__).parents[2]
SHIPPED = REPOSITORY / "packaging/completions"
PROGRAM = """#!{python} -I
import sys
sys.path.insert(0, "{source}")
from rocmcfg.cli import complete
from rocmcfg.cli.app import main
complete._PATIENCE = {patience}
main()
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine gets more time than a user would give it; the end of it would end these tests."""
    monkeypatch.setattr(complete, "_PATIENCE", HANG)


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody with the program on PATH, and nothing of ours in the home directory."""
    program = tmp_path / "bin/rocmcfg"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable, source=REPOSITORY, patience=HANG))
    program.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    return {
        "PATH": f"{program.parent}:/usr/bin:/bin",
        "HOME": str(home),
        "TERM": "dumb",
        "PS1": "$ ",
        "LC_ALL": "C.UTF-8",
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A host with local profiles: a good one, a broken one, a pipe, and one that a shell would misread."""
    root = tmp_path / "host"
    profiles = root / "etc/rocmcfg/profiles"
    profiles.mkdir(parents=True)
    good = 'schema = 1\nsummary = "ours"\n[module.amdgpu]\nrunpm = 0\n'
    good += "[module.amdgpu.aspm]\nvalue = 0\noptional = true\n"
    (profiles / "mine.toml").write_text(good)
    (profiles / "minus.toml").write_text("schema = [[[ \x00 not TOML")
    (profiles / "mi$(touch RAN)`touch RAN`.toml").write_text(good)
    os.mkfifo(profiles / "minipipe.toml")
    return root


class Terminal:
    """A shell on a terminal of its own. `tab` types a line and a TAB, and gives the line as it then is."""

    def __init__(self, argv: list[str], environment: Mapping[str, str], folder: Path) -> None:
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            os.execve(argv[0], argv, dict(environment))
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.seen = ""

    def read(self, until: str) -> str:
        said, end = "", time.monotonic() + HANG
        while not re.search(until, said):
            left = end - time.monotonic()
            assert left > 0, f"waited for {until!r}; the shell says {said!r}"
            if select.select([self._fd], [], [], left)[0]:
                said += os.read(self._fd, 1 << 16).decode("utf-8", "replace")
        self.seen += said
        return said

    def setup(self, *lines: str) -> None:
        for line in (*lines, "echo REA''DY"):
            os.write(self._fd, line.encode() + b"\n")
        self.read("READY")

    def tab(self, line: str) -> str:
        # the shells handle keys in order: ^T comes after the completion has ended
        os.write(self._fd, line.encode() + b"\t\x14")
        found = re.search(r"<<<(.*?)>>>", self.read(r"<<<.*?>>>"), re.S)
        assert found
        return found[1]

    def close(self) -> None:
        os.close(self._fd)
        os.waitpid(self._pid, 0)


@pytest.fixture
def bash(user: dict[str, str], tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal([require_tool("bash", "bash"), "--norc", "-i"], user, tmp_path)
    terminal.setup(
        f"source {SHIPPED}/rocmcfg.bash",
        r"""show() { printf '<%s>\n' "<<$READLINE_LINE>>"; READLINE_LINE=; READLINE_POINT=0; }""",
        r"""bind 'set bell-style none'; bind -x '"\C-t": show'""",
    )
    yield terminal
    terminal.close()


@pytest.fixture
def zsh(user: dict[str, str], tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal([require_tool("zsh", "zsh"), "-f", "-i"], user, tmp_path)
    terminal.setup(
        f"fpath=({SHIPPED} $fpath); autoload -U compinit; compinit -u -D; unsetopt beep",
        "show() { print -r -- '<'\"<<$BUFFER>>\"'>'; BUFFER=; zle -I }; zle -N show",
        "bindkey '^T' show; bindkey '^I' complete-word",
    )
    yield terminal
    terminal.close()


# What is typed, and what one TAB makes of it.
TYPED = {
    "rocmcfg pl": "rocmcfg plan ",
    "rocmcfg profile va": "rocmcfg profile validate ",
    "rocmcfg knowledge in": "rocmcfg knowledge install ",
    "rocmcfg knowledge install --ver": "rocmcfg knowledge install --verbose ",
    "rocmcfg plan --uncond": "rocmcfg plan --unconditional ",
    "rocmcfg plan --profile=rccl": "rocmcfg plan --profile=rccl-rdna4 ",
    "rocmcfg plan -p rccl": "rocmcfg plan -p rccl-rdna4 ",
    "rocmcfg plan --root host -p mine": "rocmcfg plan --root host -p mine ",
    "rocmcfg plan --root=host -p min": "rocmcfg plan --root=host -p min",  # four; and none is run
    "rocmcfg profile show rccl": "rocmcfg profile show rccl-rdna4 ",
    "rocmcfg plan --set amdgpu.runp": "rocmcfg plan --set amdgpu.runpm=",
    "rocmcfg plan --set amdgpu.runpm=2": "rocmcfg plan --set amdgpu.runpm=2 ",
    "rocmcfg plan --set=feature.gfxoff=f": "rocmcfg plan --set=feature.gfxoff=false ",
    "rocmcfg plan --set karg.pcie_aspm.policy=perf": "rocmcfg plan --set karg.pcie_aspm.policy=performance ",
    "rocmcfg plan --set karg.iommu=used": "rocmcfg plan --set karg.iommu=usedac ",
    "rocmcfg plan -p strix --set profile.": "rocmcfg plan -p strix --set profile.gtt_gib=",
    "rocmcfg plan --root host -p mine --with a": "rocmcfg plan --root host -p mine --with amdgpu.aspm ",
    "rocmcfg env --root host -p mine --without a": "rocmcfg env --root host -p mine --without amdgpu.runpm ",
    "rocmcfg explain pcie_gen_c": "rocmcfg explain pcie_gen_cap ",
    "rocmcfg explain rdna4-expert": "rocmcfg explain rdna4-expert-sched-cwsr ",
    "rocmcfg explain cwsr-exp": "rocmcfg explain cwsr-expert-scheduling ",
    "rocmcfg hel": "rocmcfg help ",
    "rocmcfg help pl": "rocmcfg help plan ",
    "rocmcfg help profile va": "rocmcfg help profile validate ",
    "rocmcfg help plan --uncond": "rocmcfg help plan --uncond",
    "rocmcfg apply --via mod": "rocmcfg apply --via modprobe ",
    "rocmcfg apply --boot-backend grub-m": "rocmcfg apply --boot-backend grub-mkconfig ",
    "rocmcfg schema profile-f": "rocmcfg schema profile-file ",
    "rocmcfg doctor --gfx gfx95": "rocmcfg doctor --gfx gfx950 ",
    "rocmcfg doctor --root=ho": "rocmcfg doctor --root=ho",  # home and host
    "rocmcfg doctor --log some.l": "rocmcfg doctor --log some.log ",
    "rocmcfg run -p rdna4 -- systemd-analy": "rocmcfg run -p rdna4 -- systemd-analyze ",
    "rocmcfg nonsense --prof": "rocmcfg nonsense --prof",
}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_tab_completes_what_was_typed(
    shell: str, root: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    require_tool("systemd-analyze", "systemd")
    terminal = request.getfixturevalue(shell)
    (tmp_path / "some.log").touch()
    wrong = {}
    for line, after in TYPED.items():
        found = terminal.tab(line)
        if found != after:
            wrong[line] = found
    assert not wrong
    assert not list(tmp_path.rglob("RAN"))
    assert not re.search("Traceback|rror|warning|not found", terminal.seen), terminal.seen


def test_bash_finds_the_completion_that_is_installed(user: dict[str, str], tmp_path: Path) -> None:
    """bash-completion loads completions/NAME when NAME is first completed."""
    loader = "/usr/share/bash-completion/bash_completion"
    if not os.path.exists(loader):
        require_tool("bash-completion-is-missing", "bash-completion")
    place = tmp_path / "data/bash-completion/completions"
    place.mkdir(parents=True)
    (place / "rocmcfg").symlink_to(SHIPPED / "rocmcfg.bash")
    terminal = Terminal(
        [require_tool("bash", "bash"), "--norc", "-i"],
        {**user, "XDG_DATA_HOME": str(tmp_path / "data")},
        tmp_path,
    )
    terminal.setup(
        f"source {loader}",
        r"""show() { printf '<%s>\n' "<<$READLINE_LINE>>"; READLINE_LINE=; READLINE_POINT=0; }""",
        r"""bind 'set bell-style none'; bind -x '"\C-t": show'""",
    )
    try:
        assert terminal.tab("rocmcfg plan --profile=rccl") == "rocmcfg plan --profile=rccl-rdna4 "
        terminal.setup("complete -p rocmcfg")
        assert "complete -F _rocmcfg rocmcfg" in terminal.seen
    finally:
        terminal.close()


def test_bash_cuts_words_where_its_user_wants_them_cut(user: dict[str, str]) -> None:
    """Many take = and : out of COMP_WORDBREAKS; the word is then one, and is replaced as one."""
    script = f"""source {SHIPPED}/rocmcfg.bash
        COMP_LINE='rocmcfg plan --set=amdgpu.runpm=2' COMP_POINT=33
        COMP_WORDS=(rocmcfg plan --set = amdgpu.runpm = 2) COMP_CWORD=6
        _rocmcfg; echo "$COMPREPLY"
        COMP_WORDBREAKS=$' \\n' COMP_WORDS=(rocmcfg plan --set=amdgpu.runpm=2) COMP_CWORD=2
        _rocmcfg; echo "$COMPREPLY"
        COMP_LINE='rocmcfg apply --v  --yes' COMP_POINT=17 COMP_WORDS=(rocmcfg apply --v --yes) COMP_CWORD=2
        _rocmcfg; echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], env=user, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["2", "--set=amdgpu.runpm=2", "--via --verbose"]
    assert done.stderr == ""


def test_fish_offers_the_same_with_a_remark(user: dict[str, str], root: Path, tmp_path: Path) -> None:
    fish = require_tool("fish", "fish")
    place = tmp_path / "data/fish/vendor_completions.d"
    place.mkdir(parents=True)
    (place / "rocmcfg.fish").symlink_to(SHIPPED / "rocmcfg.fish")
    (tmp_path / "some.log").touch()
    environment = {**user, "XDG_DATA_DIRS": f"{tmp_path}/data:/usr/share"}
    wanted = {
        "rocmcfg pl": "plan\tShow what apply would change, and why",
        "rocmcfg profile va": "validate\tCheck profiles ",
        "rocmcfg plan --uncond": "--unconditional\t",
        "rocmcfg knowledge install --ver": "--verbose\t",
        "rocmcfg explain rdna4-expert": "rdna4-expert-sched-cwsr\tRDNA 4",
        "rocmcfg hel": "help\t",
        "rocmcfg help pl": "plan\tShow what apply would change",
        "rocmcfg help profile va": "validate\t",
        "rocmcfg help plan --uncond": "",
        "rocmcfg --profile gf": "",  # a group has none; and no files either
        "rocmcfg plan --profile rccl": "rccl-rdna4\tTwo or more",
        "rocmcfg plan --profile=rccl": "--profile=rccl-rdna4\t",
        "rocmcfg plan -prccl": "-prccl-rdna4\t",
        "rocmcfg plan --root host -p mine": "mine\tours",
        "rocmcfg plan --set amdgpu.runp": "amdgpu.runpm=\t",
        "rocmcfg plan --set amdgpu.runpm=2": "amdgpu.runpm=2\tBAMACO",
        "rocmcfg plan -p strix --set profile.": "profile.gtt_gib=\t",
        "rocmcfg plan --root host -p mine --with a": "amdgpu.aspm",
        "rocmcfg apply --via mod": "modprobe\t",
        "rocmcfg doctor --log some.l": "some.log",
        "rocmcfg doctor some.l": "some.log",
        "rocmcfg run -p rdna4 -- git stat": "status\t",
    }
    script = "for line in $argv; echo == $line; complete -C $line; end"
    done = subprocess.run(
        [fish, "-c", script, *wanted],
        env=environment,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    said = dict(zip(wanted, re.split(r"^== .*\n", done.stdout, flags=re.M)[1:], strict=True))
    for line, first in wanted.items():
        assert said[line].startswith(first), (line, said[line])
        assert bool(said[line]) == bool(first), (line, said[line])
    assert done.stderr == ""
    assert not list(tmp_path.rglob("RAN"))


@pytest.mark.parametrize("script", sorted(path.name for path in SHIPPED.iterdir()))
def test_the_scripts_are_clean(script: str) -> None:
    shell = {"rocmcfg.bash": "bash", "_rocmcfg": "zsh", "rocmcfg.fish": "fish"}[script]
    checks = [[require_tool(shell, shell), "-n"]]
    if shell == "bash":
        checks.append([require_tool("shellcheck", "shellcheck"), "-s", "bash"])
    for check in checks:
        done = subprocess.run([*check, str(SHIPPED / script)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# -- what the scripts ask ---------------------------------------------------------------------------------


def test_whatever_is_asked_nothing_but_candidates_is_said(root: Path, tmp_path: Path) -> None:
    not_a_host = tmp_path / "file"
    not_a_host.touch()
    for words in (
        ("no-such-kind", ""),
        ("profile",),
        ("profile", "--root", not_a_host, ""),
        ("profile", "--root", tmp_path / "nothing", "gfx12"),
        ("optional", "-p", "minus", "--root", root, ""),
        ("optional", "-p", "no-such-profile", ""),
        ("setting", "-p", "minipipe", "--root", root, "profile."),
        ("setting", "-p"),
        ("setting", "nonsense.x="),
        ("transaction", "--root", root, ""),
        ("name", "=x"),
        ("name", "--help"),
        ("setting", "\udcff\x1b["),
    ):
        done = rocmcfg("complete", *words)
        assert (done.code, done.err) == (0, ""), words
        assert all(re.match(r"[\w.,:@%+=/-]+(\t|$)", line) for line in done.out.splitlines()), words
    offered = rocmcfg("complete", "profile", "--root", root, "mi").out
    assert "mine\tours\n" in offered
    assert "minus\n" in offered
    assert "touch" not in offered
    assert "auto\t" in rocmcfg("complete", "profile", "plan", "--root", root, "--profile", "").out
    assert "auto" not in rocmcfg("complete", "profile", "profile", "show", "--root", root, "").out


def test_a_transaction_is_offered_with_what_it_set(tmp_path: Path) -> None:
    from tests.support.hosts import debian_grub_host

    root = debian_grub_host(tmp_path)
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--yes", "--root", root).code == 0
    offered = rocmcfg("complete", "transaction", "rollback", "--root", root, "--to", "").out
    assert re.match(r"1\t\d{4}-\d\d-\d\d amdgpu.runpm=0\n0\t", offered)


def test_a_host_that_hangs_is_given_up_in_silence() -> None:
    script = f"""import sys, time
from rocmcfg.cli import app, complete
complete._PATIENCE = 0.2
complete._CANDIDATES["profile"] = lambda line: time.sleep({2 * HANG})
sys.argv = ["rocmcfg", "complete", "profile", ""]
app.main()"""
    ask = [sys.executable, "-c", script]
    done = subprocess.run(ask, cwd=REPOSITORY, capture_output=True, timeout=HANG, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_every_option_and_argument_that_takes_a_value_has_its_kind() -> None:
    sys.path.insert(0, str(REPOSITORY / "docs"))
    commands = importlib.import_module("generators.commands")

    program = commands.program()
    takes = {o.takes for c in program.all() for o in c.options if o.metavar}
    takes |= {a.takes for c in program.all() for a in c.arguments}
    known = {
        "file",
        "directory",
        "choice",
        "command",
        "profile-file",
        "free",
        *complete.KINDS,
        *commands.FIXED,
    }
    assert takes <= known


def processor_time(argv: list[str], env: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, env=dict(env), check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_tab_takes_little_more_than_the_libraries_that_it_needs(user: dict[str, str]) -> None:
    """The slowest question: today four times as long as it takes to import one library, which is a third of a
    second on the machine that this was written on."""
    words = ["complete", "setting", "plan", "-p", "strix", "--set", "profile."]
    program = f"{user['PATH'].partition(':')[0]}/rocmcfg"
    question = library = float("inf")
    for _ in range(10):  # whatever else the machine does only adds, and to either of the two
        question = min(question, processor_time([program, *words], user))
        library = min(library, processor_time([sys.executable, "-c", "import typer"], user))
        if question < 7 * library:
            return
    pytest.fail(f"{question:.2f} s, and {library:.2f} s for the library")
