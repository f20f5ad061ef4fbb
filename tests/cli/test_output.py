"""What a reader sees: 80 columns, colour only where it is wanted, no traceback when a pipe closes."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

import rocmcfg as package
from rocmcfg.cli.commands import COMMANDS
from rocmcfg.cli.printer import Printer
from rocmcfg.cli.terminal import wrap
from rocmcfg.model.diagnostic import error
from tests.support.hosts import debian_grub_host, make_root
from tests.support.program import DEMO, SOURCE, command, environment, process, rocmcfg, too_wide
from tests.support.trees import tree

PROFILES = sorted(path.stem for path in (SOURCE / "profiles").glob("*.toml"))


@pytest.mark.parametrize("verbose", [(), ("-v",)], ids=["plain", "verbose"])
@pytest.mark.parametrize("name", PROFILES)
def test_a_plan_and_a_profile_fit_eighty_columns(tmp_path: Path, name: str, verbose: tuple[str, ...]) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.8.0-90-generic", "6.14.0-37-generic"), gfx="gfx1201")
    for verb in (("plan", "--any-gpu", "--profile"), ("profile", "show")):
        found = rocmcfg(*verb, name, "--root", root, *verbose)
        assert found.code == 0, found.err
        assert too_wide(found.out + found.err) == []


def test_a_long_value_fits_too(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1100")
    found = rocmcfg("plan", "-p", "rdna3", "--with", "env.PYTORCH_ALLOC_CONF", "--root", root)
    assert "max_split_size_mb:512" in found.out
    assert too_wide(found.out + found.err) == []


@pytest.mark.parametrize("state", ["nothing", "applied", "everything wrong"])
@pytest.mark.parametrize("verbose", [(), ("-v",)], ids=["plain", "verbose"])
def test_status_verify_and_history_fit_eighty_columns(
    tmp_path: Path, state: str, verbose: tuple[str, ...]
) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))
    settings = ("--profile", "rdna4", "--with", "PYTORCH_NO_HIP_MEMORY_CACHING")
    if state != "nothing":
        more = ("--set", "feature.gfxoff=false", "--set", "karg.iommu=pt", "--set", "amdgpu.runpm=0")
        assert rocmcfg("apply", *settings, *more, "--root", root, "--yes").code == 0
    if state == "everything wrong":
        shutil.rmtree(root / "sys/module/amdgpu")
        (root / "etc/rocmcfg/env").unlink()
        (root / "etc/profile.d/zz-rocmcfg.sh").unlink()
    for verb in (("status",), ("verify",), ("history",), ("profile", "list")):
        found = rocmcfg(*verb, "--root", root, *verbose)
        assert too_wide(found.out + found.err) == []


@pytest.mark.parametrize(
    "name",
    [
        "ppfeaturemask=0xfffd3fff",
        "ppfeaturemask",
        "gfxoff",
        "mes=x",
        "gtt_size",
        "HSA_XNACK",
        "iommu=pt",
        "amd_iommu=pt",
        "cg_mask=0",
        "tmz=0",
        "HSA_OVERRIDE_GFX_VERSION=11.0.0",
        "ttm.pages_limit",
        "pci",
        "cwsr_enable",
        "MIOPEN_FIND_ENFORCE",
        "no_evict",
        "lockup_timeout=10000",
    ],
)
def test_an_explanation_fits_eighty_columns(tmp_path: Path, name: str) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.8.0-90-generic", "6.14.0-37-generic"))
    for verbose in ((), ("-v",)):
        found = rocmcfg("explain", name, "--root", root, *verbose)
        assert found.code == 0, found.err
        assert too_wide(found.out + found.err) == []


@pytest.mark.parametrize("verbose", [(), ("-v",), ("--fix",)])
def test_findings_fit_eighty_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verbose: tuple[str, ...]
) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1100")
    monkeypatch.chdir(SOURCE / "tests/lint/data")  # a checkout may lie in folders of any length
    for name in ("stability.txt", "convolution.txt"):
        found = rocmcfg("lint", name, "--root", root, *verbose)
        assert found.code == 3, found.err
        written = (SOURCE / "tests/lint/data" / name).read_text().splitlines()
        wide = [
            line
            for line in too_wide(found.out + found.err)
            if line[1:] not in written and not line.startswith("+")
        ]
        verdicts = ("    ", "  → ", "  keep  ", "  change  ", "  doubtful  ")
        own = [line for line in wide if not line.startswith(verdicts)]
        assert own == [], "only a token, and a line of a diff, may be as long as it was written"


def test_errors_fit_eighty_columns(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    wrong = ("amdgpu.cwsr_enable=foo", "amdgpu.gfxoff=0", "feature.gfxof=false", "karg.amd_iommu=pt")
    found = rocmcfg("plan", "--profile", "gfx1100", *(a for t in wrong for a in ("--set", t)), "--root", root)
    assert found.err.count("error[") == 5
    assert too_wide(found.out + found.err) == []


@pytest.mark.parametrize(
    "verb",
    [
        "",
        "status",
        "profile",
        "plan",
        "apply",
        "verify",
        "rollback",
        "history",
        "recover",
        "explain",
        "lint",
        "doctor",
        "report",
        "env",
        "run",
    ],
)
def test_help_fits_and_is_there_for_every_command(verb: str) -> None:
    found = process(command(*([verb] if verb else []), "--help"), env={"COLUMNS": "200"})
    assert found.code == 0
    assert "Usage:" in found.out
    assert [line for line in found.out.splitlines() if len(line) > 80] == []


def test_there_is_no_colour_but_on_a_terminal(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    assert "\x1b" not in rocmcfg("plan", "--set", "amdgpu.runpm=0", "--root", root).out


# What people read in a pager, as it is typed behind the name of the program.
PAGED = {
    "status": ("status", "-v"),
    "plan": ("plan",),
    "explain": ("explain", "rdna4-hipblaslt-gltr-overread"),
    "lint": ("lint", f"{DEMO}/advice.md", "--gfx", "9070xt"),
    "doctor": ("doctor", "--log", f"{DEMO}/fault.log", "-v"),
    "issues": ("issues", "--gfx", "9070xt"),
    "history": ("history", "-v"),
}


@pytest.fixture(scope="module")
def applied_host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = debian_grub_host(tmp_path_factory.mktemp("paged"), kernels=("6.14.0-37-generic",))
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes").code == 0
    return root


@pytest.mark.parametrize("words", PAGED.values(), ids=PAGED)
def test_a_pipe_gets_plain_text_of_eighty_columns(applied_host: Path, words: tuple[str, ...]) -> None:
    """Also on a terminal that shows links, whose variables the program in the pipe inherits."""
    paged = ["sh", "-c", '"$@" | cat', "sh", *command(*words, "--root", applied_host)]
    found = process(
        paged, env={"TERM": "xterm", "VTE_VERSION": "7600", "FORCE_COLOR": "", "CLICOLOR_FORCE": "0"}
    )
    assert found.out.count("\n") > 1, found.err
    assert "\x1b" not in found.out + found.err
    assert too_wide(found.out) == []


@pytest.mark.parametrize("words", PAGED.values(), ids=PAGED)
def test_a_pager_that_is_left_early_ends_the_command_quietly(
    applied_host: Path, words: tuple[str, ...]
) -> None:
    argv = command(*words, "--root", applied_host)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=SOURCE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        complaint = child.stderr.read().decode()
        code = child.wait()
    whole = process(argv)
    assert code == whole.code
    assert complaint == whole.err


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({"FORCE_COLOR": "1"}, True),
        ({"CLICOLOR_FORCE": "1", "TERM": "dumb"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
    ids=lambda each: " ".join(f"{k}={v}" for k, v in each.items()) if isinstance(each, dict) else "",
)
@pytest.mark.parametrize("words", [PAGED["status"], PAGED["plan"]], ids=["status", "plan"])
def test_a_pipe_gets_colours_where_they_are_asked_for(
    applied_host: Path, words: tuple[str, ...], variables: dict[str, str], coloured: bool
) -> None:
    """For `less -R`. Links stay out of a pipe, because an older pager shows them as letters."""
    env = {"NO_COLOR": "", "VTE_VERSION": "7600", **variables}
    found = process(command(*words, "--root", applied_host), env=env)
    assert ("\x1b[" in found.out) is coloured
    assert "\x1b]" not in found.out


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
    ids=["terminal", "NO_COLOR", "dumb"],
)
def test_no_color_and_dumb_terminals_are_respected(
    tmp_path: Path, variables: dict[str, str], coloured: bool
) -> None:
    root = debian_grub_host(tmp_path)
    terminal, slave = os.openpty()
    argv = command("plan", "--set", "amdgpu.runpm=0", "--root", root)
    base = {k: v for k, v in environment().items() if k not in ("NO_COLOR", "TERM")}
    with subprocess.Popen(argv, stdout=slave, stderr=slave, cwd=SOURCE, env={**base, **variables}) as child:
        os.close(slave)
        said = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            said += piece
        child.wait()
    os.close(terminal)
    assert (b"\x1b[" in said) == coloured


@pytest.mark.parametrize("verb", [("schema",), ("plan", "--profile", "rdna4"), ("profile", "list")])
@pytest.mark.parametrize("closed", ["head", "closed"])
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, verb: tuple[str, ...], closed: str) -> None:
    root = debian_grub_host(tmp_path)
    where = () if verb == ("schema",) else ("--root", str(root))
    line = " ".join(f"'{word}'" for word in command(*verb, *where))
    script = f"{line} | head -c 10 >/dev/null" if closed == "head" else f"{line} >&-"
    found = process(["sh", "-c", script])
    assert "Traceback" not in found.err, found.err
    assert "Exception ignored" not in found.err, found.err


def test_an_apply_whose_reader_went_away_is_done_all_the_same(tmp_path: Path) -> None:
    """Not half, and not an exit code 0 over nothing."""
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))
    argv = command("apply", "--profile", "rdna4", "--yes", "-v", "--root", root)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=SOURCE) as child:
        assert child.stdout is not None
        child.stdout.close()
        assert child.wait() == 0
    assert rocmcfg("verify", "--root", root).code == 6


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
def test_a_full_disk_under_the_output_is_said_once_and_stops_nothing(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",))
    where = ("--root", str(root))
    for verb, code in (
        (("apply", "--profile", "rdna4", "--yes", "-v", *where), 0),
        (("verify", *where), 6),
        (("plan", "--set", "amdgpu.runpm=0", "--detailed-exitcode", *where), 3),
        (("status", "--json", *where), 1),
        (("env", "--profile", "rdna4", *where), 1),
        (("--help",), 0),
    ):
        with FULL.open("w") as full:
            done = subprocess.run(
                command(*verb), stdout=full, stderr=subprocess.PIPE, cwd=SOURCE, text=True, check=False
            )
        assert done.returncode == code, done.stderr
        assert done.stderr.count("cannot write the output: No space left on device\n") == 1
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr
    with FULL.open("w") as full:
        wrong = subprocess.run(
            command("plan", "--profile", "x", *where), stdout=full, stderr=full, cwd=SOURCE, check=False
        )
    assert wrong.returncode == 1


def test_a_plan_that_could_not_be_shown_is_not_agreed_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocmcfg.cli.printer import Printer, write

    answers = io.StringIO("y\ny\n")
    monkeypatch.setattr("sys.stdin", answers)
    assert Printer("apply", json=False).ask("Apply this?")
    with (tmp_path / "out").open("w") as out, monkeypatch.context() as inner:
        inner.setattr("sys.stdout", out)

        def refuse(_: str) -> int:
            raise OSError(28, "No space left on device")

        inner.setattr(out, "write", refuse)
        write("the plan\n")
        assert not Printer("apply", json=False).ask("Apply this?")
    assert answers.read() == "y\n", "not even asked"


EVIL = "\x1b]0;title\x07\x1b[2J\x1b[31mred\r\x7f\x9b1A\u202e"


def _profile_with(text: str) -> dict[str, str]:
    return {"etc/rocmcfg/profiles/mine.toml": f'schema = 1\nsummary = "x"\n{text}\n'}


@pytest.mark.parametrize("endless", ["x" * 5000, "x, " * 1500])
def test_an_endless_value_fills_no_screen(tmp_path: Path, endless: str) -> None:
    root = debian_grub_host(tmp_path / "root")
    (root / "etc/profile.d").mkdir(exist_ok=True)
    (root / "etc/profile.d/hip.sh").write_text(f'export HIP_VISIBLE_DEVICES="{endless}"\n')
    asked = f"HIP_VISIBLE_DEVICES={endless}"
    for verb in (("status",), ("lint",), ("lint", "--fix"), ("explain", asked)):
        said = rocmcfg(*verb, "--root", root)
        assert "HIP_VISIBLE_DEVICES" in said.out + said.err, verb
        assert len(said.out + said.err) < 3500, verb
    (found,) = rocmcfg("status", "--root", root, "--json").document["others"]
    assert found["name"] == "HIP_VISIBLE_DEVICES"
    assert found["next_boot"].strip() == endless.strip(), "JSON has it whole"


def test_texts_of_a_host_do_not_command_the_terminal(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, extra={"etc/default/grub.d/00-x.cfg": f"# {EVIL}\n"})
    file = root / "etc/default/grub.d/zz-rocmcfg.cfg"
    file.parent.mkdir(exist_ok=True)
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes").code == 0
    file.write_text(f"{file.read_text()}{EVIL}\n")
    make_root(tmp_path, {"etc/os-release": f'ID=debian\nPRETTY_NAME="{EVIL}"\n'})
    make_root(tmp_path, _profile_with(f"['{EVIL.replace(chr(27), '')}']"))
    for verb in (("status",), ("verify",), ("plan", "--set", "amdgpu.tmz=0"), ("profile", "list")):
        found = rocmcfg(*verb, "--root", root)
        assert "RC9000" not in found.err
        assert not [c for c in found.out + found.err if c != "\n" and not c.isprintable()], found
        as_json = rocmcfg(*verb, "--root", root, "--json")
        assert as_json.document
        assert not [c for c in as_json.out if c != "\n" and not c.isprintable()]
    assert "\\x1b]0;title\\x07" in rocmcfg("status", "--root", root).out
    usage = rocmcfg("plan", f"--{EVIL}")
    assert usage.code == 2
    assert "\x1b" not in usage.err


def test_no_character_of_unicode_hides_text_or_turns_its_direction() -> None:
    """Decided by Unicode property, so that no list of characters can lack one: U+200E, U+200F and U+061C
    were lacking."""
    from rocmcfg.cli.unseen import clean

    turning = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        category = unicodedata.category(character)
        hidden = category in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in "\t\n"
        assert hidden or unicodedata.bidirectional(character) not in turning, hex(code)
        if hidden:
            assert clean(character).isascii(), hex(code)
            assert clean(character).isprintable(), hex(code)
        elif category not in ("Cn", "Co"):  # without a meaning, and with one for somebody alone
            assert clean(character) == character, hex(code)


def test_a_json_document_holds_no_character_that_is_not_seen(tmp_path: Path) -> None:
    unseen = "\u200e\u200f\u061c\u00ad\U000e0041\x7f"
    root = debian_grub_host(tmp_path, extra={"etc/os-release": f'ID=debian\nPRETTY_NAME="a{unseen}b"\n'})
    found = rocmcfg("status", "--root", root, "--json")
    assert not [c for c in found.out if c != "\n" and not c.isprintable()]
    assert unseen in json.dumps(found.document, ensure_ascii=False)
    assert "a\\u200e\\u200f" in rocmcfg("status", "--root", root).out


def test_only_colours_of_our_own_reach_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from rocmcfg.cli.printer import Printer

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    printer = Printer("status", json=False)
    printer.line(printer.paint("\x1b[32mgood\ttab", "error"))
    assert out.getvalue() == "\x1b[31m\\x1b[32mgood\ttab\x1b[0m\n"


def test_a_closed_pipe_does_not_hide_a_difference(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    argv = command("plan", "--set", "amdgpu.runpm=0", "--detailed-exitcode", "--root", root)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=SOURCE) as child:
        assert child.stdout is not None
        child.stdout.close()
        assert child.wait() == 3


def test_quiet_prints_problems_only(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    found = rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes", "-q")
    assert (found.code, found.out) == (0, "")
    wrong = rocmcfg("plan", "--set", "amdgpu.runpm=x", "--root", root, "-q")
    assert "error[RC2104]" in wrong.err
    assert rocmcfg("env", "--set", "env.HSA_XNACK=1", "-q").out == "export HSA_XNACK=1\n", "what it is for"


@pytest.mark.parametrize("before", range(60, 80))
def test_a_short_command_is_not_broken_between_two_lines(before: int) -> None:
    lines = wrap(f"{'x' * before} `rocmcfg profile show NAME` says why")
    assert any("`rocmcfg profile show NAME`" in line for line in lines)
    assert too_wide("\n".join(lines)) == []


def test_the_text_between_two_long_commands_is_broken() -> None:
    long = "`rocmcfg confirm --root /home/you/rocmcfg-case/host`"
    lines = wrap(
        f"keep it with {long} in its boot, or with {long} later, which is long enough for three lines"
    )
    assert all(len(line) > 50 for line in lines[:-1])


def test_version_and_module() -> None:
    assert process(command("--version")).out == f"rocmcfg {package.__version__}\n"
    assert process(command()).code in (0, 2), "the help"


def test_an_unexpected_error_is_a_message_and_debug_shows_the_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocmcfg.workflow import planning

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(planning, "plan", broken)
    argv = ("plan", "--set", "amdgpu.runpm=0", "--root", debian_grub_host(tmp_path))
    found = rocmcfg(*argv)
    assert found.code == 1
    assert "error[RC9000]: unexpected: ZeroDivisionError: planted" in found.err
    assert "Traceback" not in found.err
    with pytest.raises(ZeroDivisionError):
        rocmcfg(*argv, "--debug")


# -- profiles ------------------------------------------------------------------------------------------


def test_a_profile_is_started_edited_validated_and_applied(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    made = rocmcfg("profile", "new", "mine", "--extends", "rdna4", "--gfx", "gfx1201", "--root", root)
    assert made.code == 0, made.err
    path = root / "etc/rocmcfg/profiles/mine.toml"
    assert rocmcfg("profile", "validate", "mine", "--root", root).code == 0
    listed = rocmcfg("profile", "list", "--root", root, "--json").document["profiles"]
    assert [p["extends"] for p in listed if not p["shipped"]] == ["rdna4"]
    again = rocmcfg("profile", "new", "mine", "--root", root, "--json")
    assert (again.code, again.ids) == (1, ["RC1013"])
    path.write_text(path.read_text() + "\n[module.amdgpu]\nrunpm = 0\n")
    shown = rocmcfg("profile", "show", "mine", "--root", root)
    assert "amdgpu.runpm = 0" in shown.out
    assert rocmcfg("apply", "--profile", "mine", "--root", root, "--yes").code == 0


def test_extends_adds_and_never_changes(tmp_path: Path) -> None:
    text = 'schema = 1\nsummary = "x"\nextends = "rdna4"\n[module.amdgpu]\ncwsr_enable = 1\n'
    unknown = 'schema = 1\nsummary = "x"\nextends = "rdna5"\n'
    root = debian_grub_host(tmp_path)
    make_root(tmp_path, {"etc/rocmcfg/profiles/a.toml": text, "etc/rocmcfg/profiles/b.toml": unknown})
    for name, ids in (("a", ["RC1012", "RC2060"]), ("b", ["RC1010"])):
        found = rocmcfg("profile", "validate", name, "--root", root, "--json")
        assert (found.code, found.ids) == (1, ids)
        assert found.document["diagnostics"][0]["location"].startswith(f"/etc/rocmcfg/profiles/{name}.toml")


@pytest.mark.parametrize("name", PROFILES)
def test_every_shipped_profile_is_valid_and_can_be_shown_on_the_sample_host(name: str) -> None:
    before = tree(DEMO / "sample-host")
    assert rocmcfg("profile", "validate", name, "--root", DEMO / "sample-host").code == 0
    shown = rocmcfg("profile", "show", name, "--root", DEMO / "sample-host")
    assert shown.code == 0
    assert "On this host it sets" in shown.out or "with --any-gpu it would set" in shown.out
    assert tree(DEMO / "sample-host") == before


def test_a_file_is_a_profile_too(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text('schema = 1\nsummary = "x"\n[module.amdgpu]\nrunpm = 0\n')
    root = debian_grub_host(tmp_path)
    assert rocmcfg("apply", "--profile", path, "--root", root, "--yes").code == 0
    assert rocmcfg("status", "--root", root).code == 0


def test_the_last_cell_of_a_row_is_wrapped_where_that_leaves_room_for_the_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = "/etc/default/grub.d/some-very-long-name-of-a-file.cfg and another place"
    from rocmcfg.cli.printer import Printer

    Printer("status").table(("SETTING", "NEXT", "FROM"), [("amdgpu.noretry", "0", long), ("a", "1", "b")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("amdgpu.noretry  0     /etc/default/grub.d/")
    assert lines[2].strip()
    assert lines[2].startswith(" " * 22)
    assert lines[3].split() == ["a", "1", "b"]
    assert too_wide("\n".join(lines)) == []


def test_the_question_names_what_is_applied(tmp_path: Path) -> None:
    from rocmcfg.cli.plan_view import question
    from rocmcfg.host.local import LocalHost
    from rocmcfg.model.request import Request
    from rocmcfg.workflow.planning import plan

    planned = plan(LocalHost(str(debian_grub_host(tmp_path))), Request(("gfx1201",)))
    asked = question(planned, tries=False)
    assert asked.startswith("Apply amdgpu.cwsr_enable=0, ")
    assert asked.endswith(" more?")
    assert question(planned, tries=True).endswith(" at the next boot?")


def test_issues_of_a_gpu_come_before_those_of_any(tmp_path: Path) -> None:
    said = rocmcfg("issues", "--gfx", "7900xtx").out
    specific, _, any_gpu = said.partition("\nOf any GPU\n")
    assert "rdna3-mes-unmap-mode1" in specific
    assert "ray-rocr-visible-devices" in any_gpu
    assert "Only reported: users say so" in specific


@pytest.mark.parametrize("text", ["gtt_gib=16", "HSA_ENABLE_SDMA=0"])
def test_a_name_that_lacks_only_its_prefix_needs_no_remark(text: str, tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx="gfx1151")
    done = rocmcfg("plan", "--set", text, "--root", root)
    assert done.code == 0
    assert "RC2058" not in done.err + done.out


def test_a_program_in_a_container_is_not_told_to_apply_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocmcfg.facts.system.read_container", lambda _: "/.dockerenv")
    said = rocmcfg("run", "-p", "gfx1201", "--", "true").err
    assert "RC2033" in said
    assert "--trial" not in said


def test_a_long_command_is_continued_behind_a_backslash() -> None:
    """Copied with its line break, it is one command; a quoted text that is no command has no backslash."""
    root = "/a/folder/that/is/long/enough/to/need/a/line"
    lines = wrap(
        f"nothing is applied: check it with `rocmcfg verify --profile NAME --root {root}` again.", "  ", "  "
    )
    assert "`rocmcfg verify --profile NAME \\\n  --root" in "\n".join(lines)
    commands = (
        f"sudo rocmcfg apply -p gfx1201 --root {root} --yes",
        f"rocmcfg issues --root {root}",
        "sudo journalctl -k -b | grep -A 12 'a page fault' > fault.txt",
        'cat /sys/class/drm/card*/device/pp_dpm_sclk "/a folder/of two"',
    )
    texts = [f"see `{commands[0]}` there", f"4 open: {commands[1]}", "4 open: rocmcfg issues"]
    texts += [f"see `{command}` there" for command in commands[2:]]
    starts = ("sudo rocmcfg apply", "rocmcfg issues", "rocmcfg issues", "sudo journalctl", "`cat")
    for text, start in zip(texts, starts, strict=True):
        for shift in range(60):
            whole = f"{'x' * shift} {text}".strip()
            lines = wrap(whole)
            assert max(map(len, lines)) <= 80
            assert sum(start in line for line in lines) == 1
            assert " ".join(lines).replace(" \\ ", " ") == whole
            copied = "\n".join(lines).partition(start)[2].partition("`")[0].split("\n")
            assert all(line.endswith(" \\") for line in copied[:-1])
            assert all(line.count(quote) % 2 == 0 for line in copied for quote in "'\"")
    log = "`amdgpu 0000:03:00.0: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770)`"
    assert "\\" not in "".join(wrap(f"the kernel logs {log}"))
    assert "\\" not in "".join(wrap(f"the cause: rocmcfg reads {root} and {root} before the program runs"))


def test_each_command_for_a_host_is_named_in_a_hint_with_its_root() -> None:
    printer = Printer("status")
    printer.root = "/mnt/host"
    takes_root = [name for name, made in COMMANDS.items() if "root" in made.declared() and made.listed]
    assert "crashes on" in takes_root
    for name in takes_root:
        hint = printer._hint(error("RC0001", "x", hint=f"run `sudo rocmcfg {name}` now"))
        assert f"rocmcfg {name} --root /mnt/host" in hint
