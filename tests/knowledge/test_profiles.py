"""Reading profiles: every problem at once, each with its file, line and key."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unreadable
from rocmcfg.knowledge import profiles
from rocmcfg.knowledge.profile_schema import ProfileFile, validate
from rocmcfg.knowledge.profiles import NoSuchProfile
from rocmcfg.model.desired import Channel, Kind
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError
from rocmcfg.model.facts import Gpu
from rocmcfg.model.profile import Profile
from rocmcfg.workflow.profiles import validate_profiles
from tests.support.hosts import FileMap, make_root

HEAD = 'schema = 1\nsummary = "A sample."\n'
LOCAL = "etc/rocmcfg/profiles"
EMPTY = LocalHost("/nonexistent-root")


def host(tmp_path: Path, **texts: str | bytes) -> LocalHost:
    files: FileMap = {f"{LOCAL}/{name}.toml": text for name, text in texts.items()}
    return LocalHost(str(make_root(tmp_path, files)))


def load(tmp_path: Path, text: str | bytes) -> Profile:
    return profiles.load(host(tmp_path, sample=text), ["sample"])[0]


def problems(tmp_path: Path, text: str | bytes) -> list[Diagnostic]:
    with pytest.raises(RocmcfgError) as stop:
        load(tmp_path, text)
    return list(stop.value.diagnostics)


def gpu(gfx: str, *, integrated: bool = False) -> Gpu:
    return Gpu(gfx, gfx, "kfd", integrated=integrated)


def said(found: Sequence[Diagnostic]) -> list[tuple[str, str]]:
    """Line and summary of each."""
    return [(d.location.partition(":")[2], d.summary) for d in found]


def test_a_setting_has_a_short_and_a_long_form(tmp_path: Path) -> None:
    profile = load(
        tmp_path,
        HEAD
        + 'gfx = ["gfx1201"]\n[module.amdgpu]\nrunpm = 0\n[module.amdgpu.cwsr-enable]\nvalue = "0"\n'
        + 'because = "It\\n  crashes."\nevidence = ["https://example.org/1"]\ncost = "None."\n'
        + 'confidence = "asked for"\noptional = true\nvia = "modprobe"\n'
        + 'when = { lacks-fix = "cwsr-expert-scheduling", rocm = ">=7.0,<7.2", kernel = "<6.19", '
        + 'gfx = ["gfx1201"] }\n'
        + '[features]\ngfxoff = false\n[cmdline]\nnosmt = true\nconsole = ["tty0", "ttyS0"]\n'
        + '"pcie_aspm.policy" = "performance"\n[env]\nHSA_XNACK = "0"\n',
    )
    assert [(s.id, s.kind, s.value, s.location) for s in profile.settings] == [
        ("amdgpu.runpm", Kind.PARAMETER, 0, f"/{LOCAL}/sample.toml:5"),
        ("amdgpu.cwsr_enable", Kind.PARAMETER, "0", f"/{LOCAL}/sample.toml:6"),
        ("feature.gfxoff", Kind.FEATURE, False, f"/{LOCAL}/sample.toml:16"),
        ("karg.nosmt", Kind.KARG, True, f"/{LOCAL}/sample.toml:18"),
        ("karg.console", Kind.KARG, ("tty0", "ttyS0"), f"/{LOCAL}/sample.toml:19"),
        ("karg.pcie_aspm.policy", Kind.KARG, "performance", f"/{LOCAL}/sample.toml:20"),
        ("env.HSA_XNACK", Kind.ENV, "0", f"/{LOCAL}/sample.toml:22"),
    ]
    long = profile.settings[1]
    assert (long.because, long.cost, long.confidence, long.optional) == (
        "It crashes.",
        "None.",
        "asked for",
        True,
    )
    assert (long.via, long.evidence) == (Channel.MODPROBE, ("https://example.org/1",))
    (when,) = long.when
    assert (when.lacks_fix, when.gfx) == ("cwsr-expert-scheduling", ("gfx1201",))
    assert when.rocm is not None
    assert when.rocm.contains((7, 1))
    assert when.kernel is not None
    assert not when.kernel.contains((6, 19))
    assert (profile.gfx, profile.shipped, profile.extends) == (("gfx1201",), False, "")


def test_every_problem_is_reported_at_once_with_its_line(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        "schema = 2\nsumary = 'x'\ngfx = ['rx9070']\n[module.amdgpu]\nrunpm = 1.5\nnoretry = [1, 2]\n"
        "[module.amdgpu.tmz]\nvalue = 0\nwhy = 'x'\nwhen = { kernel = '6.12', fix = 'y' }\n"
        "via = 'grub'\noptional = 1\nconfidence = 'sure'\n[env]\nA = ''\n[colours]\nred = 1\n",
    )
    lines = {(line, summary.partition(":")[0]) for line, summary in said(found)}
    assert {
        ("1", "schema"),
        ("1", "summary"),
        ("2", "sumary"),
        ("3", "gfx.0"),
        ("5", "module.amdgpu.runpm.value"),
        ("6", "module.amdgpu.noretry.value"),
        ("9", "module.amdgpu.tmz.why"),
        ("10", "module.amdgpu.tmz.when.kernel"),
        ("10", "module.amdgpu.tmz.when.fix"),
        ("11", "module.amdgpu.tmz.via"),
        ("12", "module.amdgpu.tmz.optional"),
        ("13", "module.amdgpu.tmz.confidence"),
        ("15", "env.A.value"),
        ("16", "colours"),
    } == lines
    assert {d.location.partition(":")[0] for d in found} == {f"/{LOCAL}/sample.toml"}
    assert {d.id for d in found} == {"RC1003"}


def test_mistakes_of_every_kind_are_told_in_one_pass(tmp_path: Path) -> None:
    """Types and unknown keys, then what the rows mean, then what is said elsewhere in the file."""
    text = (
        f"{HEAD}extends = 'nosuch'\n"
        "[parameters.spare]\nsummary = 'x'\n[parameters.bad]\nsummary = 'x'\nmin = 3\nmax = 1\n"
        "[module.amdgpu]\nrunpm = 1.5\n"
        "mes = { value = { from = 'nowhere' } }\nmes_kiq = { value = { from = 'bad' } }\n"
        "noretry = { value = 1, when = { lacks-fix = 'nosuch' } }\n"
        "tmz = { value = 0, when = { kernel = '>=7.0,<6.0', gfx = [], gpus = '>=1.5' } }\n"
        "[env]\n1X = 'a'\nY = { value = '1', wy = 1 }\n[cmdline]\nquiet = false\n"
    )
    found = {(line, summary.partition(":")[0]) for line, summary in said(problems(tmp_path, text))}
    assert found == {
        ("3", "extends"),
        ("6", "parameters.bad"),
        ("11", "module.amdgpu.runpm.value"),
        ("14", "amdgpu.noretry"),
        ("15", "module.amdgpu.tmz.when.kernel"),
        ("15", "module.amdgpu.tmz.when.gfx"),
        ("15", "module.amdgpu.tmz.when.gpus"),
        ("17", "env.1X"),
        ("18", "env.Y.wy"),
        ("20", "cmdline.quiet"),
    }


@pytest.mark.parametrize("name", ["summary", "schema"])
def test_a_wrong_setting_of_any_name_hides_no_other_mistake(tmp_path: Path, name: str) -> None:
    found = problems(tmp_path, f'{HEAD}[module.amdgpu]\n{name} = [3]\n[env]\n"a b" = "0"\n')
    assert [line for line, _ in said(found)] == ["4", "6"]


def test_a_parameter_is_used_and_what_is_used_is_declared(tmp_path: Path) -> None:
    text = (
        f"{HEAD}[parameters.spare]\nsummary = 'x'\n[module.amdgpu]\nmes = {{ value = {{ from = 'no' }} }}\n"
    )
    assert {(d.id, d.location.rpartition(":")[2]) for d in problems(tmp_path, text)} == {
        ("RC1008", "3"),
        ("RC1007", "6"),
    }


@pytest.mark.parametrize(
    ("when", "about"),
    [
        ("kernel = '>=7.0,<6.0'", "can never hold"),
        ("rocm = '<0'", "can never hold"),
        ("kernel = '==6.1,==6.2'", "can never hold"),
        ("pytorch = '>2.6,<2.6'", "can never hold"),
        ("gfx = []", "the list is empty"),
        ("gpus = '>=1.5'", "whole numbers"),
    ],
)
def test_a_condition_that_says_nothing_is_refused(tmp_path: Path, when: str, about: str) -> None:
    (found,) = problems(tmp_path, f"{HEAD}[module.amdgpu]\nmes = {{ value = 0, when = {{ {when} }} }}\n")
    assert about in found.summary
    assert found.location.endswith(":4")


UNSAFE = {
    "a blank": '"a b"',
    "a tab": '"a\\tb"',
    "a line break": '"0\\n"',
    "a NUL": '"a\\u0000"',
    "'\"'": "'\"a\"'",
    '"\'"': "\"'a'\"",
    "'$'": '"$(reboot)"',
    "'`'": '"`reboot`"',
    "'\\\\'": "'a\\b'",
    "'#'": '"a#b"',
    "'é'": '"é"',
    "'٣'": '"٣"',
    "the value is empty": '""',
}


@pytest.mark.parametrize("section", ["module.amdgpu", "cmdline", "env"])
@pytest.mark.parametrize(("reason", "value"), UNSAFE.items(), ids=list(UNSAFE))
def test_a_value_that_a_boot_file_cannot_hold_is_refused(
    tmp_path: Path, section: str, reason: str, value: str
) -> None:
    for written in (value, f"{{ value = {value} }}"):
        found = problems(tmp_path, f"{HEAD}[{section}]\nNAME = {written}\n")
        assert [d.location for d in found] == [f"/{LOCAL}/sample.toml:4"]
        assert reason in found[0].summary


@pytest.mark.parametrize("value", ["1.5", "2026-01-01", "0x1" + "0" * 5000, "[1]", "[]", '["a b"]', "[true]"])
def test_a_value_of_another_type_is_refused(tmp_path: Path, value: str) -> None:
    assert [d.location for d in problems(tmp_path, f"{HEAD}[cmdline]\nx = {value}\n")] == [
        f"/{LOCAL}/sample.toml:4"
    ]


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("[features]\ngfxoff = 0", "a feature is true or false"),
        ("[cmdline]\nquiet = false", "cannot be removed"),
        ('[module.amdgpu]\ndisable_cu = ["a", "b"]', "a parameter has one value"),
        ("[env]\nX = true", "the value of a variable is a text"),
        ('[env]\nX = ["a"]', "the value of a variable is a text"),
        ('[env]\n"1X" = "a"', "not a name of an environment variable"),
        ('[env]\n"A B" = "a"', "not a name of an environment variable"),
        ('[env]\n"X\\n" = "a"', "not a name of an environment variable"),
        ('[cmdline]\n"a b" = "a"', "not a name"),
        ('[cmdline]\n"a\\n" = "a"', "not a name"),
        ('[cmdline]\n"$x" = "a"', "not a name"),
        ('[cmdline]\n"-x" = "a"', "not a name"),
        ('[module.amdgpu]\n"a;b" = 1', "not a name"),
        ('[env]\nX = { value = "1", via = "cmdline" }', "`via`"),
        ("[cmdline]\nx = { value = true, via = 'modprobe' }", "`via`"),
        ("[module.amdgpu]\nx = { value = 1, via = 'environment' }", "`via`"),
        ("[module.amdgpu]\nx = {}", "is missing"),
        ("[module]\namdgpu = 1", "must be a table"),
        ("[env]\nX = { value = '1', because = 1 }", "must be a text in quotes"),
        ("[env]\nX = { value = '1', evidence = 'x' }", "must be a list"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_line(tmp_path: Path, text: str, about: str) -> None:
    found = problems(tmp_path, f"{HEAD}{text}\n")
    assert about in found[0].summary
    assert found[0].location.startswith(f"/{LOCAL}/sample.toml:")
    assert found[0].location.rpartition(":")[2] in ("3", "4")


@pytest.mark.parametrize("module", ["am dgpu", "amdgpu\n", "a.b$", ""])
def test_a_module_is_named_like_a_module(tmp_path: Path, module: str) -> None:
    quoted = module.replace("\n", "\\n")
    assert problems(tmp_path, f'{HEAD}[module."{quoted}"]\nx = 1\n')


@pytest.mark.parametrize(
    "text",
    [
        "[module.amdgpu]\ncwsr_enable = 0\ncwsr-enable = 0",
        '[module.amdgpu]\nrunpm = 0\n[cmdline]\n"amdgpu.runpm" = "0"',
        '[module.amdgpu]\ncwsr_enable = 0\n[cmdline]\n"amdgpu.cwsr-enable" = "0"',
        '[cmdline]\npci-x = "1"\npci_x = "2"',
    ],
)
def test_one_thing_said_twice_names_both_places(tmp_path: Path, text: str) -> None:
    (found,) = problems(tmp_path, f"{HEAD}{text}\n")
    last = len((HEAD + text).splitlines())
    assert found.id == "RC1004"
    assert found.location == f"/{LOCAL}/sample.toml:{last}"
    assert found.detail == f"first at /{LOCAL}/sample.toml:4"


def test_a_variable_and_an_argument_may_share_a_name(tmp_path: Path) -> None:
    assert len(load(tmp_path, HEAD + '[cmdline]\nX = "1"\n[env]\nX = "1"\n').settings) == 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("schema = 1\nsummary = x\n", "2:11"),
        ("schema = 1\nschema = 2\n", "2"),
        ("[module.amdgpu\n", "1:15"),
        ('summary = "x', "1"),
        ("a = 1\n\n\nb =", "4"),
    ],
)
def test_a_syntax_error_has_its_line(tmp_path: Path, text: str, line: str) -> None:
    (found,) = problems(tmp_path, text)
    assert found.id == "RC1002"
    assert found.location.startswith(f"/{LOCAL}/sample.toml:{line}")
    assert "(at " not in found.summary


def test_bytes_that_are_not_utf8_have_a_line(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, b'schema = 1\nsummary = "\xff"\n')
    assert (found.id, found.location) == ("RC1001", f"/{LOCAL}/sample.toml:2")


def test_problems_of_several_files_come_together(tmp_path: Path) -> None:
    view = host(tmp_path, one=HEAD + "a = 1\n", two=HEAD + "b = 1\n", three="x = y\n")
    with pytest.raises(RocmcfgError) as stop:
        profiles.load(view, ["one", "two", "three", "one"])
    assert [d.location for d in stop.value.diagnostics] == [
        f"/{LOCAL}/one.toml:3",
        f"/{LOCAL}/two.toml:3",
        f"/{LOCAL}/three.toml:1:5",
    ]


def test_a_reason_becomes_one_line_without_control_characters(tmp_path: Path) -> None:
    profile = load(
        tmp_path, HEAD + '[env]\nX = { value = "1", because = "a\\n$(b)\\u0000\\u001b[31m `c`" }\n'
    )
    assert profile.settings[0].because == "a $(b)[31m `c`"


@given(st.text(max_size=40))
def test_a_reason_can_never_leave_its_comment(text: str) -> None:
    given = {"schema": 1, "summary": text, "env": {"X": {"value": "1", "because": text}}}
    document, wrong = validate(given)
    assert document is not None, wrong
    for sentence in (document["summary"], document["env"]["X"]["because"]):
        assert len(sentence.splitlines()) <= 1
        assert sentence.isprintable()


# -- extends ---------------------------------------------------------------------------------------------


def test_extends_adds_to_the_base_and_takes_its_gpus(tmp_path: Path) -> None:
    view = host(
        tmp_path,
        base=HEAD + 'gfx = ["gfx1200", "gfx1201"]\nnotes = ["Base."]\n[module.amdgpu]\nrunpm = 0\ntmz = 0\n',
        sample=HEAD + 'extends = "base"\nnotes = ["Own."]\n[module.amdgpu]\nrunpm = 0\nnoretry = 0\n',
    )
    (profile,) = profiles.load(view, ["sample"])
    assert [(s.id, s.location.rpartition("/")[2]) for s in profile.settings] == [
        ("amdgpu.tmz", "base.toml:7"),
        ("amdgpu.runpm", "sample.toml:6"),
        ("amdgpu.noretry", "sample.toml:7"),
    ]
    assert {s.profile for s in profile.settings} == {"sample"}
    assert (profile.gfx, profile.notes) == (("gfx1200", "gfx1201"), ("Base.", "Own."))


def test_a_value_that_contradicts_the_base_names_both_places(tmp_path: Path) -> None:
    view = host(
        tmp_path,
        base=HEAD + "[module.amdgpu]\nrunpm = 0\n",
        sample=HEAD + 'extends = "base"\n[module.amdgpu]\nrunpm = 1\n',
    )
    with pytest.raises(RocmcfgError) as stop:
        profiles.load(view, ["sample"])
    (found,) = stop.value.diagnostics
    assert (found.id, found.location) == ("RC1012", f"/{LOCAL}/sample.toml:5")
    assert f"/{LOCAL}/base.toml:4" in found.detail


def test_a_circle_of_extends_is_shown_and_ends(tmp_path: Path) -> None:
    view = host(tmp_path, a=HEAD + 'extends = "b"\n', b=HEAD + 'extends = "c"\n', c=HEAD + 'extends = "b"\n')
    with pytest.raises(RocmcfgError, match="b → c → b") as stop:
        profiles.load(view, ["a"])
    assert stop.value.diagnostics[0].location == f"/{LOCAL}/c.toml:3"
    with pytest.raises(RocmcfgError, match="self → self"):
        profiles.load(host(tmp_path / "x", self=HEAD + 'extends = "self"\n'), ["self"])


def test_extending_what_does_not_exist_is_reported_where_it_stands(tmp_path: Path) -> None:
    view = host(tmp_path, sample=HEAD + 'extends = "rdna44"\n', other=HEAD + "x = 1\n")
    with pytest.raises(RocmcfgError) as stop:
        profiles.load(view, ["sample", "other"])
    first, second = stop.value.diagnostics
    assert first.location == f"/{LOCAL}/sample.toml:3"
    assert first.summary.startswith("extends: no profile has the name 'rdna44'")
    assert "rdna4" in first.hint
    assert second.location == f"/{LOCAL}/other.toml:3"


def test_a_broken_base_is_reported_in_its_own_file(tmp_path: Path) -> None:
    view = host(tmp_path, sample=HEAD + 'extends = "base"\n', base=HEAD + "x = 1\n")
    with pytest.raises(RocmcfgError) as stop:
        profiles.load(view, ["sample"])
    assert [d.location for d in stop.value.diagnostics] == [f"/{LOCAL}/base.toml:3"]


@pytest.mark.parametrize("extends", ["/etc/base.toml", "../base", "base.toml", "./base"])
def test_a_base_is_named_and_never_a_file_of_the_running_host(tmp_path: Path, extends: str) -> None:
    view = host(tmp_path, base=HEAD, sample=HEAD + f'extends = "{extends}"\n')
    with pytest.raises(RocmcfgError) as stop:
        profiles.load(view, ["sample"])
    (found,) = stop.value.diagnostics
    assert (found.id, found.location) == ("RC1003", f"/{LOCAL}/sample.toml:3")
    assert "must be a profile's name, not a path" in found.summary
    assert found.hint


def test_a_chain_of_extends_has_an_end(tmp_path: Path) -> None:
    texts = {f"p{n}": HEAD + f'extends = "p{n + 1}"\n' for n in range(2000)}
    view = host(tmp_path, **texts, p2000=HEAD)
    assert profiles.load(view, ["p1984"])[0].extends == "p1985"
    with pytest.raises(RocmcfgError, match="more than 16") as stop:
        profiles.load(view, ["p0"])
    assert [d.id for d in stop.value.diagnostics] == ["RC1014"]


# -- finding them ----------------------------------------------------------------------------------------


def test_every_shipped_profile_loads() -> None:
    names = profiles.names(EMPTY)
    assert "gfx1201" in names
    loaded = profiles.load(EMPTY, names)
    assert [p.name for p in loaded] == list(names)
    assert all(p.shipped and p.settings and p.summary for p in loaded)


def test_a_local_profile_hides_the_shipped_one_of_its_name(tmp_path: Path) -> None:
    view = host(tmp_path, gfx1201=HEAD)
    (profile,) = profiles.load(view, ["gfx1201"])
    assert (profile.summary, profile.shipped) == ("A sample.", False)
    assert profiles.names(view).count("gfx1201") == 1
    assert profiles.local_path("gfx1201") == f"/{LOCAL}/gfx1201.toml"


def test_a_path_names_a_file_of_the_caller(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(HEAD + "[module.amdgpu]\nrunpm = 0\n")
    (profile,) = profiles.load(EMPTY, [str(file)])
    assert (profile.name, profile.location, profile.shipped) == ("mine", str(file), False)
    assert profile.settings[0].location == f"{file}:4"


def test_a_path_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="No such file"):
        profiles.load(EMPTY, [str(tmp_path / "none.toml")])


@pytest.mark.parametrize("kind", ["a pipe", "a directory", "a device", "too large"])
@pytest.mark.parametrize("local", [True, False], ids=["of the root", "of the caller"])
def test_a_profile_is_a_regular_file_of_bounded_size(tmp_path: Path, kind: str, local: bool) -> None:
    view = host(tmp_path, other=HEAD)
    path = tmp_path / "root" / LOCAL / "sample.toml"
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a directory":
        path.mkdir()
    elif kind == "a device":
        path.symlink_to("/dev/zero")
        (tmp_path / "root/dev").mkdir()
        os.mkfifo(tmp_path / "root/dev/zero")  # the link of a root stays inside it
    else:
        path.write_bytes(b"#" * (1024 * 1024 + 1))
    name = "sample" if local else str(path)
    with pytest.raises(RocmcfgError) as stop:
        profiles.load(view, [name])
    (found,) = stop.value.diagnostics
    assert found.id == "RC1006"
    assert "1 MiB" in found.hint
    assert profiles.load(view, ["other"])[0].name == "other"


@pytest.mark.parametrize("name", ["", "a\0b", "gfx1210", "..", "RDNA-4"])
def test_an_unknown_name_stops_with_what_is_known(name: str) -> None:
    with pytest.raises(NoSuchProfile) as stop:
        profiles.load(EMPTY, [name])
    assert "gfx1201" in stop.value.diagnostics[0].detail


def test_an_unknown_name_is_not_answered_with_a_page_of_names(tmp_path: Path) -> None:
    view = host(tmp_path, **{f"a{n:03}": HEAD for n in range(300)})
    with pytest.raises(NoSuchProfile) as stop:
        profiles.load(view, ["nonesuch"])
    detail = stop.value.diagnostics[0].detail
    assert "a019 and " in detail
    assert "a020" not in detail


def test_a_misspelt_name_is_answered_with_the_right_one() -> None:
    with pytest.raises(NoSuchProfile) as stop:
        profiles.load(EMPTY, ["gfx120l"])
    assert stop.value.diagnostics[0].hint.startswith("did you mean gfx120")


def test_auto_takes_the_profile_of_the_gpus_own_name_or_its_familys(tmp_path: Path) -> None:
    assert profiles.for_gpus(EMPTY, [gpu("gfx1201")]) == ("gfx1201",)
    family = profiles.for_gpus(EMPTY, [gpu("gfx1035"), gpu("gfx1036")])  # no profile has their names
    assert family == ("rdna2",)
    assert profiles.for_gpus(EMPTY, [gpu("gfx9999")]) == ()
    local = host(tmp_path, mine=HEAD + 'gfx = ["gfx1036"]\n')
    assert profiles.for_gpus(local, [gpu("gfx1036")]) == ("rdna2",)  # a local one is never chosen by itself
    named = host(tmp_path, gfx1036=HEAD + 'gfx = ["gfx1036"]\n')
    assert profiles.for_gpus(named, [gpu("gfx1035"), gpu("gfx1036")]) == ("rdna2", "gfx1036")


def test_auto_is_not_stopped_by_a_broken_local_profile_of_another_gpu(tmp_path: Path) -> None:
    view = host(tmp_path, gfx906=HEAD + "x = 1\n")
    assert profiles.for_gpus(view, [gpu("gfx1036")]) == ("rdna2",)


@pytest.mark.parametrize("extends", ["", "rdna4"])
@pytest.mark.parametrize("gfx", [(), ("gfx1201",)])
def test_a_new_profile_is_a_valid_one(tmp_path: Path, extends: str, gfx: tuple[str, ...]) -> None:
    profile = load(tmp_path, profiles.skeleton(extends, gfx))
    assert profile.extends == extends
    if gfx:
        assert profile.gfx == gfx


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from([">=2", "gfx1201", "n"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["from", "times", "kernel", "gpus", "igpu", "gfx", "min", "max", "within", "unit", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(JSON, JSON, JSON, JSON)
def test_whatever_stands_under_the_keys_of_a_setting_is_taken_or_told(
    value: object, when: object, parameter: object, use: object
) -> None:
    document = {
        "schema": 1,
        "summary": "x",
        "use": use,
        "parameters": {"n": parameter},
        "module": {"ttm": {"a": {"value": value, "when": when}, "b": value}},
    }
    right, wrong = validate(document)
    assert right is not None, "what is right is looked into further"
    assert wrong or right == ProfileFile.model_validate(document).model_dump(mode="json", by_alias=True)
    assert all(message for _, message, _ in wrong)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_profile_or_a_problem_with_a_place(content: bytes) -> None:
    found: list[Diagnostic] = []
    try:
        profiles._read(profiles._File(content, "f.toml"), "f", found)
    except RocmcfgError as stop:
        found += stop.diagnostics
    assert found
    assert all(d.location.startswith("f.toml:") for d in found)


WORDS = st.sampled_from(
    [
        '""',
        "[]",
        "{}",
        "-1",
        "1.5",
        "true",
        '"nosuch"',
        "[1]",
        '{ from = "x" }',
        '{ lacks-fix = "x" }',
        "x = 1",
    ]
)
SHIPPED = [path.read_text() for path in sorted(Path(profiles.shipped_dir()).glob("*.toml"))]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SHIPPED), st.lists(st.tuples(st.integers(0, 200), WORDS), min_size=1, max_size=4))
def test_whatever_is_spoilt_in_a_profile_is_told_with_its_place(
    text: str, spoilt: list[tuple[int, str]]
) -> None:
    """What is right of it is looked into further, so that nothing half read may stop the search."""
    lines = text.splitlines()
    for number, word in spoilt:
        at = number % len(lines)
        key, equals, _ = lines[at].partition(" = ")
        lines[at] = f"{key} = {word}" if equals else word if word == "x = 1" else lines[at]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "p.toml"
        place.write_text("\n".join(lines))
        for found in validate_profiles(EMPTY, [str(place)]):
            assert found.location or found.id == "RC2046", found
