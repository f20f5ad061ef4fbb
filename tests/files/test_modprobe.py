"""modprobe.d: our file, and all files together as the real modprobe merges them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rocmcfg.files import modprobe
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unreadable
from rocmcfg.model.desired import Channel
from rocmcfg.model.kargs import last
from tests.support import next_arg
from tests.support.hosts import File, debian_grub_host, make_root
from tests.support.program import rocmcfg
from tests.support.settings import feature, parameter
from tests.support.tools import require_tool, run

DIRECTORIES = ("etc", "run", "usr/local/lib", "usr/lib", "lib")
SETTINGS = (
    parameter("amdgpu.runpm", "0", because="It hangs; $(see) \\", channel=Channel.MODPROBE),
    feature("gfxoff", "0xfff73fff", channel=Channel.MODPROBE),
    feature("stutter", "0xfff73fff", channel=Channel.MODPROBE),
    parameter("ttm.pages_limit", "4194304", channel=Channel.MODPROBE),
)


def read(root: Path) -> list[tuple[str, str]]:
    return [
        (line.module, word) for line in modprobe.lines(LocalHost(str(root))) for word in line.text.split()
    ]


def merged(root: Path) -> list[tuple[str, str]]:
    """What modprobe makes of the same directories: `options MODULE REST` lines in its order."""
    argv = [require_tool("modprobe", package="kmod"), "--showconfig"]
    for directory in DIRECTORIES:
        if (root / directory / "modprobe.d").is_dir():
            argv += ["--config", str(root / directory / "modprobe.d")]
    result = run(argv)
    assert result.returncode == 0, result.stderr
    found = []
    for line in result.stdout.split("\n"):
        words = line.split(" ", 2)
        if words[0] == "options":
            # the kernel command line of this machine is in it too, in front of nothing of ours
            found += [(words[1], text) for text in words[2].split()]
    return found


def oracle(tmp_path: Path, files: dict[str, File]) -> list[tuple[str, str]]:
    """Both readings, which must agree on the modules of the test."""
    root = make_root(tmp_path, files)
    real = [option for option in merged(root) if option[0].startswith(("amd", "ttm"))]
    assert [o for o in read(root) if o[0].startswith(("amd", "ttm"))] == real
    return real


def test_a_later_modprobe_file_wins_whatever_its_directory(tmp_path: Path) -> None:
    found = oracle(
        tmp_path,
        {
            "etc/modprobe.d/b.conf": "options amdgpu runpm=1\n",
            "lib/modprobe.d/c.conf": "options amdgpu runpm=2\n",
            "run/modprobe.d/a.conf": "options amdgpu runpm=0\n",
            "usr/lib/modprobe.d/B.conf": "options amdgpu runpm=9\n",
        },
    )
    assert [text for _, text in found] == ["runpm=9", "runpm=0", "runpm=1", "runpm=2"]
    kargs = modprobe.read_options(LocalHost(str(tmp_path / "root")))
    winner = last(kargs, "amdgpu.runpm")
    assert winner is not None
    assert winner.source == "/lib/modprobe.d/c.conf:1"


def test_a_file_of_the_same_name_hides_those_of_later_directories(tmp_path: Path) -> None:
    found = oracle(
        tmp_path,
        {f"{d}/modprobe.d/a.conf": f"options amdgpu from={d.replace('/', '_')}\n" for d in DIRECTORIES},
    )
    assert found == [("amdgpu", "from=etc")]
    assert (
        oracle(tmp_path / "b", {"etc/modprobe.d/a.conf": "", "lib/modprobe.d/a.conf": "options amdgpu a=1\n"})
        == []
    )


def test_only_conf_files_count_and_no_hidden_ones(tmp_path: Path) -> None:
    files: dict[str, File] = {
        f"etc/modprobe.d/{name}": "options amdgpu a=1\n"
        for name in ("a.conf.bak", "a", ".a.conf", "a.dpkg-old")
    }
    assert oracle(tmp_path, files | {"etc/modprobe.d/x.conf": "options amdgpu b=1\n"}) == [("amdgpu", "b=1")]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("options amdgpu a=1 b=2\n", [("amdgpu", "a=1"), ("amdgpu", "b=2")]),
        ("options amdgpu a=1 \\\nb=2\n", [("amdgpu", "a=1"), ("amdgpu", "b=2")]),
        ("options amdgpu a=1\\\nb=2\n", [("amdgpu", "a=1b=2")]),
        ("options amd-gpu a-b=1\n", [("amd_gpu", "a-b=1")]),
        ("\toptions\tamdgpu\ta=1\n", [("amdgpu", "a=1")]),
        ("# options amdgpu a=1\n#\\\noptions amdgpu b=1\n", []),
        ("options amdgpu\nOptions amdgpu a=1\noption amdgpu a=1\n", []),
        ("options amdgpu a=1", [("amdgpu", "a=1")]),
        ("blacklist amdgpu\nsoftdep amdgpu pre: ttm\noptions ttm a=1\n", [("ttm", "a=1")]),
        ("options amdgpu a=1\noptions amdgpu a=2\n", [("amdgpu", "a=1"), ("amdgpu", "a=2")]),
    ],
)
def test_a_line_is_read_as_kmod_reads_it(tmp_path: Path, text: str, options: list[tuple[str, str]]) -> None:
    assert oracle(tmp_path, {"etc/modprobe.d/a.conf": text}) == options


def test_blanks_inside_quotes_belong_to_the_value(tmp_path: Path) -> None:
    root = make_root(tmp_path, {"etc/modprobe.d/a.conf": 'options amdgpu a="x y" b=1\n'})
    assert [o.text for o in modprobe.read_options(LocalHost(str(root)))] == ['amdgpu.a="x y"', "amdgpu.b=1"]


WORDS = st.lists(
    st.sampled_from(
        ["options", "amdgpu", "amd-gpu", "ttm", "a=1", "b-c=2", "blacklist", "#", "\\", "\\x", "\\\\", "a=\\"]
    ),
    max_size=5,
)
LINES = st.lists(
    st.tuples(
        st.sampled_from(["", " ", "\t", "options amdgpu "]),
        WORDS.map(" ".join),
        st.sampled_from(["", " ", "\\"]),
    ),
    max_size=5,
).map(lambda lines: "\n".join("".join(line) for line in lines))


# without the final line break kmod 30 takes the end of the file for a character after a backslash
@example(texts=("options amdgpu\\\na=1 options", ""), end="")  # a module called `amdgpua=1`
@given(texts=st.tuples(LINES, LINES), end=st.just("\n"))
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_file_is_read_as_kmod_reads_it(tmp_path: Path, texts: tuple[str, str], end: str) -> None:
    oracle(
        tmp_path,
        {"etc/modprobe.d/a.conf": texts[0] + end, "usr/lib/modprobe.d/a0.conf": texts[1] + end},
    )


def test_our_file_gives_one_line_per_parameter(tmp_path: Path) -> None:
    content = modprobe.propose(SETTINGS)
    assert modprobe.propose(()) is None
    found = oracle(
        tmp_path,
        {modprobe.PATH: content or b"", "lib/modprobe.d/yy.conf": "options amdgpu runpm=1\n"},
    )
    assert found == [
        ("amdgpu", "runpm=1"),
        ("amdgpu", "runpm=0"),
        ("amdgpu", "ppfeaturemask=0xfff73fff"),
        ("ttm", "pages_limit=4194304"),
    ]


def test_a_reason_that_ends_in_a_backslash_does_not_swallow_the_option(tmp_path: Path) -> None:
    setting = parameter("amdgpu.runpm", "0", because="See C:\\", channel=Channel.MODPROBE)
    content = modprobe.propose([setting]) or b""
    assert oracle(tmp_path, {modprobe.PATH: content}) == [("amdgpu", "runpm=0")]


def test_what_others_wrote_is_seen_without_ours(tmp_path: Path) -> None:
    root = make_root(
        tmp_path, {modprobe.PATH: "options amdgpu a=1\n", "etc/modprobe.d/a.conf": "options amdgpu b=1\n"}
    )
    view = LocalHost(str(root))
    assert [o.text for o in modprobe.read_options(view, include_ours=False)] == ["amdgpu.b=1"]
    assert [o.source for o in modprobe.read_options(view)] == [
        "/etc/modprobe.d/a.conf:1",
        f"{modprobe.PATH}:1",
    ]


def test_a_file_that_cannot_be_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_root(
        tmp_path,
        {"etc/modprobe.d/a.conf": "options amdgpu a=1\n", "etc/modprobe.d/b.conf": "options amdgpu b=1\n"},
    )
    real = LocalHost.read

    def read_some(self: LocalHost, path: str) -> bytes | None:
        if path.endswith("a.conf"):
            raise Unreadable(path, "Permission denied")
        return real(self, path)

    monkeypatch.setattr(LocalHost, "read", read_some)
    assert read(root) == [("amdgpu", "b=1")]


WORDS = st.sampled_from(
    [
        "runpm=0",
        "dpm=1",
        'ppfeaturemask="0x1',
        'vm_size="4',
        '"mcbp=1"',
        '"runpm"=1',
        "--",
        '"--"',
        'gttsize=1"2 3"',
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=3))
@example([['ppfeaturemask="0xfff7ffff'], ["cwsr_enable=0"]])
@example([["--"], ["cwsr_enable=0"]])
def test_what_the_module_gets_is_what_kmod_joins_and_the_kernel_reads(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]]
) -> None:
    names = (f"etc/modprobe.d/{number}.conf" for number in range(len(lines)))
    files: dict[str, File] = {
        name: f"options amdgpu {' '.join(line)}\n" for name, line in zip(names, lines, strict=True)
    }
    root = make_root(tmp_path_factory.mktemp("host"), files)
    argv = [
        require_tool("modprobe", package="kmod"),
        "--showconfig",
        "--config",
        str(root / "etc/modprobe.d"),
    ]
    shown = (line.split(" ", 2) for line in run(argv).stdout.split("\n"))
    joined = " ".join(words[2] for words in shown if words[:2] == ["options", "amdgpu"])
    read = [(karg.name, karg.value) for karg in modprobe.read_options(LocalHost(str(root)))]
    assert read == [(f"amdgpu.{name}", value) for name, value in next_arg.arguments(joined)]


@pytest.mark.parametrize("via", ["cmdline", "modprobe"])
@pytest.mark.parametrize(
    ("line", "id"), [('ppfeaturemask="0xfff7ffff', "RC3170"), ("runpm=0 -- init.arg", "RC3171")]
)
def test_nothing_is_written_behind_what_swallows_it(tmp_path: Path, via: str, line: str, id: str) -> None:
    """The open quote alone does no harm, and an option of ours behind it keeps amdgpu from loading."""
    root = debian_grub_host(tmp_path, gfx="gfx1201")
    (root / "etc/modprobe.d").mkdir(exist_ok=True)
    (root / "etc/modprobe.d/10-oc.conf").write_text(f'# mine\noptions amdgpu {line}\noptions snd x="\n')
    done = rocmcfg("apply", "--root", root, "--set", "amdgpu.cwsr_enable=0", "--via", via, "--yes")
    assert (done.code, f"error[{id}]" in done.err) == (1, True), done.out + done.err
    assert "at /etc/modprobe.d/10-oc.conf:2" in done.err
    other = rocmcfg("plan", "--root", root, "--set", "karg.iommu=pt")
    assert id not in other.err, "an argument of the kernel is no option of that module"
