"""How the program of a try is started: as its user, in a unit of its own, with an environment that nobody
else sees. That systemd does so is shown in a real guest."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from rocmcfg.host.foreground import Ended
from rocmcfg.host.other_user import environment_for
from rocmcfg.host.runner import ROOTS_PATH
from rocmcfg.host.unattended import Unattended
from rocmcfg.host.view import CommandResult
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.model.experiment import Design, Variable
from rocmcfg.model.request import Request
from rocmcfg.records.tries import Begun, Boots, Terms
from rocmcfg.workflow.as_unit import ENVIRONMENT, AsUnit, environment_file, passes
from rocmcfg.workflow.one_run import Stopped
from tests.support.hosts import make_root
from tests.support.rebooting import Lab
from tests.support.tool_host import QuickHost
from tests.support.tools import require_root, require_tool

AWKWARD = {
    "PLAIN": "a",
    "EMPTY": "",
    "BLANKS": " a  b ",
    "QUOTES": """a"b'c""",
    "DOLLARS": "$HOME ${HOME} $(id) `id`",
    "BACKSLASHES": "a\\b\\\\c\\",
    "LINES": "one\ntwo\n",
    "HASH": "# no comment",
    "LATER": "é 你好",
}


def test_every_value_comes_through_the_file(tmp_path: Path) -> None:
    """Inside double quotes systemd takes the same characters literally as a shell."""
    file = tmp_path / "environment"
    file.write_bytes(environment_file(AWKWARD))
    names = "\n".join(f'printf "%s\\0" "${name}"' for name in AWKWARD)
    done = subprocess.run(["sh", "-c", f". {file}\n{names}"], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == list(AWKWARD.values())


def test_what_systemd_would_drop_is_left_out_and_named() -> None:
    good, others = passes({**AWKWARD, "BELL": "\a", "BROKEN": "\udcff", "BASH_FUNC_x%%": "() { :; }"})
    assert good == AWKWARD
    assert others == ["BASH_FUNC_x%%", "BELL", "BROKEN"]


class Machine(QuickHost):
    """A host whose systemd is told how the unit ended. It keeps what was run."""

    shown = ""
    system_state = "running\n"

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.ran: list[tuple[str, ...]] = []

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        if argv[0] == "systemctl":
            output = self.system_state if argv[1] == "is-system-running" else self.shown
            return CommandResult(tuple(argv), 0, output, "")
        return super().query(argv)

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        del timeout, progress, mark
        self.ran.append(tuple(argv))
        return CommandResult(tuple(argv), 0, "", "")


class Program(Unattended):
    """What `systemd-run` would be called with; it ends as told."""

    def __init__(self, code: int, host: Machine) -> None:
        super().__init__()
        self.code, self.host = code, host
        self.called: list[str] = []
        self.environment: dict[str, str] = {}
        self.file = b""

    def run(self, command: Sequence[str], environment: Mapping[str, str], limit: float | None) -> Ended:
        del limit
        self.called, self.environment = [*command], {**environment}
        self.file = self.host.read(ENVIRONMENT) or b""
        assert oct((Path(self.host.root) / ENVIRONMENT[1:]).stat().st_mode & 0o777) == "0o600"
        return Ended(self.code, None, False, False, 1.0)


@pytest.fixture
def host(tmp_path: Path) -> Machine:
    return Machine(str(make_root(tmp_path, {"run/x": "", "var/lib/rocmcfg/x": ""})))


def begun(user: str = "alice") -> Begun:
    boots = Boots(user, {"LimitNOFILE": "1024:4096"}, "grub", "6.12", {}, Request(), (), ())
    design = Design("reboots", (Variable("amdgpu.cwsr_enable", "0"),), boots=3)
    return Begun("2026", ("./p", "$HOME"), "/home/alice", design, Terms(), "", {}, boots=boots)


def started(host: Machine, code: int = 0, user: str = "alice") -> tuple[Program, Ended]:
    program = Program(code, host)
    secret = {"SECRET": "s3cret", "ROCMCFG_STARTED": "mark"}
    ended = AsUnit(host, begun(user))(program, ("./p", "$HOME"), secret, None)
    assert not host.exists(ENVIRONMENT)
    return program, ended


def test_systemd_is_asked_by_no_program_of_the_callers_path(
    host: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_root()
    monkeypatch.setenv("PATH", "/home/eve/bin:/usr/bin")
    monkeypatch.setenv("LD_PRELOAD", "/home/eve/x.so")
    program, _ = started(host)
    assert program.environment == {"PATH": ROOTS_PATH}


def test_no_value_is_on_a_command_line(host: Machine) -> None:
    program, ended = started(host)
    assert ended.code == 0
    assert b'SECRET="s3cret"\n' in program.file
    assert "s3cret" not in " ".join(program.called) + str(program.environment)
    words = program.called
    assert words[0] == "systemd-run"
    for word in ("User=alice", "LimitNOFILE=1024:4096", f"EnvironmentFile={ENVIRONMENT}"):
        assert f"--property={word}" in words
    assert "--property=Before=rocmcfg-try.service" in words, "a shutdown must reach rocmcfg first"
    assert "--service-type=oneshot" in words, "of any other a death by SIGTERM counts as good"
    assert words[-3:] == ["/home/alice", "./p", "$$HOME"], "systemd would replace $HOME"
    assert not any(word.startswith("--property=User=") for word in started(host, user="root")[0].called)


@pytest.mark.parametrize(
    ("code", "status", "ends"),
    [(1, 3, (3, None)), (2, signal.SIGSEGV, (None, 11)), (3, signal.SIGABRT, (None, 6)), (2, 15, (None, 15))],
)
def test_it_ends_as_its_unit_did(
    host: Machine, code: int, status: int, ends: tuple[int | None, int | None]
) -> None:
    host.shown = f"LoadState=loaded\nResult=x\nExecMainCode={code}\nExecMainStatus={status}\n"
    _, ended = started(host, code=1)
    assert (ended.code, ended.signal) == ends
    assert host.ran[-2:] == [
        ("systemctl", "stop", "rocmcfg-try-program.service"),
        ("systemctl", "reset-failed", "rocmcfg-try-program.service"),
    ]


def test_a_unit_that_never_was_is_no_failure_of_the_program(host: Machine) -> None:
    host.shown = "LoadState=not-found\nResult=success\nExecMainCode=0\nExecMainStatus=0\n"
    with pytest.raises(RocmcfgError) as stop:
        started(host, code=1)
    assert [d.id for d in stop.value.diagnostics] == ["RC4609"]
    assert not host.exists(ENVIRONMENT)


def test_a_program_that_a_shutdown_ended_has_no_outcome(host: Machine) -> None:
    host.system_state = "stopping\n"
    with pytest.raises(Stopped):
        started(host)


def test_the_environment_is_the_users_without_sudo_and_systemd() -> None:
    import pwd

    nobody = pwd.getpwnam("nobody")
    own = environment_for(nobody, {"HOME": "/root", "SUDO_USER": "x", "INVOCATION_ID": "1", "A": "b"})
    assert own == {
        "A": "b",
        "HOME": nobody.pw_dir,
        "USER": "nobody",
        "LOGNAME": "nobody",
        "SHELL": nobody.pw_shell,
    }


def test_the_environment_is_roots_alone_and_goes_with_the_try(tmp_path: Path) -> None:
    require_tool("grub-editenv", "grub-common")
    lab = Lab(tmp_path)
    lab.begin(3)
    tries = lab.root / "var/lib/rocmcfg/tries"
    kept = tries / "1/environment.json"
    assert [oct(path.stat().st_mode & 0o777) for path in (tries, tries / "1", kept)] == [
        "0o700",
        "0o700",
        "0o600",
    ]
    assert (lab.root / "var/lib/rocmcfg/tries.on").read_text() == "1\n"
    lab.to_the_end()
    assert not kept.exists()
