"""What users type and write by mistake: one clear error with its id and a way out, and nothing changed."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest

from tests.support.hosts import debian_grub_host, make_root
from tests.support.program import Result, as_nobody, command, problem, process, rocmcfg
from tests.support.trees import Tree, tree

DROP_IN = "etc/default/grub.d/zz-rocmcfg.cfg"
RUNPM = ("--set", "amdgpu.runpm=0")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path)


@pytest.fixture
def before(root: Path) -> Tree:
    return tree(root)


def apply(root: Path, *options: str | Path) -> Result:
    return rocmcfg("apply", "--root", root, "--yes", *options)


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "--against", ""),
        ("verify", "--metrics="),
        ("facts", "--save", ""),
        ("fleet", "--html", "", "FILE"),
        ("fleet", "--since", "", "FILE"),
        ("report", "--bundle", ""),
    ],
)
def test_a_variable_of_a_script_that_is_not_set_names_no_file(words: tuple[str, ...]) -> None:
    """A gate without its golden host would be open."""
    assert "the name is empty" in problem(rocmcfg(*words), "RC0001", 2)


# -- who and where -------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", [("apply", *RUNPM), ("rollback",), ("recover",), ("history",)])
def test_changing_the_running_host_needs_root(verb: tuple[str, ...]) -> None:
    yes = () if verb[0] in ("recover", "history") else ("--yes",)
    found = as_nobody(command(*verb, *yes))
    said = problem(found, "RC3025" if verb == ("history",) else "RC3023", 1)
    assert f"sudo rocmcfg {verb[0]}" in said


def test_to_run_the_programs_of_a_tree_needs_root(root: Path) -> None:
    (root / "etc").mkdir(exist_ok=True)
    with mock.patch.object(os, "geteuid", return_value=1000):
        printed = problem(rocmcfg("plan", "--chroot", "--root", root, *RUNPM), "RC3022", 1)
    assert "sudo" in printed


def test_a_profile_of_too_many_settings_is_refused(root: Path, tmp_path: Path) -> None:
    names = "\n".join(f'ROCMCFG_TEST_{n} = "1"' for n in range(301))
    path = tmp_path / "many.toml"
    path.write_text(f'schema = 1\nsummary = "Many."\n[env]\n{names}\n')
    refused = rocmcfg("profile", "validate", path, "--root", root)
    assert (refused.code, "error[RC1018]" in refused.err, "301 settings" in refused.err) == (1, True, True)


def test_a_line_of_etc_environment_that_pam_would_cut_is_refused(root: Path, before: Tree) -> None:
    (root / "etc/environment").write_text("LANG=C\n")
    (root / "etc/pam.d").mkdir()
    options = ("--set", f"env.ROCMCFG_TEST={'a' * 1100}", "--env-target", "environment")
    refused = rocmcfg("plan", *options, "--root", root)
    assert "1023 bytes" in problem(refused, "RC3304", 1)


def test_without_a_terminal_a_question_is_not_asked(root: Path, before: Tree) -> None:
    for verb in (("apply", *RUNPM), ("rollback",)):
        said = problem(rocmcfg(*verb, "--root", root), "RC3024", 1)
        assert "--yes" in said
        assert ("--dry-run" if verb == ("rollback",) else "rocmcfg plan") in said
    assert tree(root) == before


def test_json_asks_no_question_either(root: Path, before: Tree) -> None:
    found = rocmcfg("apply", *RUNPM, "--root", root, "--json", answer="y\n")
    assert (found.code, found.ids) == (2, ["RC0001"])
    assert rocmcfg("rollback", "--root", root, "--json", answer="y\n").code == 2
    assert tree(root) == before


@pytest.mark.parametrize("verb", [("status",), ("plan", *RUNPM), ("apply", *RUNPM, "--yes"), ("verify",)])
def test_a_root_that_is_no_directory(tmp_path: Path, verb: tuple[str, ...]) -> None:
    (tmp_path / "file").touch()
    for wrong in ("missing", "file"):
        problem(rocmcfg(*verb, "--root", tmp_path / wrong), "RC3020", 1)


def test_chroot_needs_a_root_to_change_to() -> None:
    problem(rocmcfg("plan", *RUNPM, "--chroot"), "RC3021", 2)


@pytest.mark.parametrize("engine", ["docker", "podman", "systemd-nspawn", "lxc"])
def test_a_container_has_no_kernel_to_configure(tmp_path: Path, engine: str) -> None:
    root = debian_grub_host(tmp_path, container=engine)
    before = tree(root)
    said = problem(apply(root, *RUNPM), "RC3010", 1)
    assert "`rocmcfg env" in said
    assert tree(root) == before
    assert "Container" in rocmcfg("status", "--root", root).out


def test_a_host_without_an_amd_gpu(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx=None)
    before = tree(root)
    said = problem(apply(root, "--profile", "rdna4"), "RC2010", 1)
    assert "no AMD GPU was found" in said
    problem(apply(root, "--profile", "auto"), "RC2024", 1)
    assert tree(root) == before
    found = rocmcfg("status", "--root", root)
    assert found.code == 0
    assert "no AMD GPU found" in found.out


# -- profiles ------------------------------------------------------------------------------------------


def test_no_such_profile_names_those_that_look_like_it(root: Path, before: Tree) -> None:
    said = problem(apply(root, "--profile", "gfx1021"), "RC1010", 1)
    assert "did you mean gfx1201" in said
    problem(apply(root, "--profile", ""), "RC1010", 1)
    said = problem(apply(root, "--profile", "/nowhere/x.toml"), "RC3001", 1)
    assert "check the path" in said
    assert "root" not in said.split("help:")[1]
    assert tree(root) == before


BROKEN_PROFILES = {
    "syntax": ("[module.amdgpu]\nrunpm = = 0\n", "RC1002", "mine.toml:4:9"),
    "unclosed text": ('[module.amdgpu]\nrunpm = "0\n', "RC1002", "mine.toml:4"),
    "twice the same key": ("[module.amdgpu]\nrunpm = 0\nrunpm = 1\n", "RC1002", "mine.toml:5"),
    "wrong type": ("[module.amdgpu]\nrunpm = 0.5\n", "RC1003", "not float"),
    "a date": ("[module.amdgpu]\nrunpm = 2026-01-01\n", "RC1003", "not date"),
    "a feature that is a number": ("[features]\ngfxoff = 0\n", "RC1003", "mine.toml:4"),
    "a misspelt section": ("[modules.amdgpu]\nrunpm = 0\n", "RC1003", "unknown key"),
    "a misspelt key": ("[module.amdgpu.runpm]\nvalue = 0\nbecuase = 'x'\n", "RC1003", "becuase"),
    "a version that is none": ("[module.amdgpu.runpm]\nvalue = 0\nwhen = { rocm = '7' }\n", "RC1003", "when"),
    "an unknown gfx": ("[module.amdgpu.runpm]\nvalue = 0\nwhen = { gfx = ['navi'] }\n", "RC1003", "navi"),
    "an empty text": ('[module.amdgpu]\nrunpm = ""\n', "RC1003", "the value is empty"),
    "a blank": ('[cmdline]\niommu = "pt amdgpu.runpm=0"\n', "RC1003", "a blank"),
    "a quote": ("[cmdline]\niommu = 'pt\"'\n", "RC1003", "'\"'"),
    "an apostrophe": ('[cmdline]\niommu = "pt\'"\n', "RC1003", '"\'"'),
    "a command": ('[env]\nHSA_XNACK = "$(reboot)"\n', "RC1003", "'$'"),
    "backticks": ('[env]\nHSA_XNACK = "`reboot`"\n', "RC1003", "'`'"),
    "a line break": ('[env]\nHSA_XNACK = "0\\nEVIL=1"\n', "RC1003", "a line break"),
    "a line break at the end": ('[env]\nHSA_XNACK = "0\\n"\n', "RC1003", "a line break"),
    "a NUL": ('[env]\nHSA_XNACK = "0\\u0000"\n', "RC1003", "a NUL"),
    "not ASCII": ('[env]\nHSA_XNACK = "ä"\n', "RC1003", "'ä'"),
    "full-width digits": ('[module.amdgpu]\nrunpm = "０"\n', "RC1003", "'０'"),
    "a variable with a blank in its name": ('[env]\n"A B" = "1"\n', "RC1003", "not a name"),
    "an argument with = in its name": ('[cmdline]\n"a=b" = "1"\n', "RC1003", "not a name"),
    "a module with a blank in its name": ('[module."amd gpu"]\nrunpm = 0\n', "RC", ""),
    "out of range": ("[module.amdgpu]\ncwsr_enable = 2\n", "RC2105", "mine.toml:4"),
    "no such fix": (
        "[module.amdgpu.runpm]\nvalue = 0\nwhen = { lacks-fix = 'nope' }\n",
        "RC",
        "nope",
    ),
    "said twice": ("[module.amdgpu]\ncwsr_enable = 0\ncwsr-enable = 0\n", "RC1004", "set twice"),
    "itself": ("extends = 'mine'\n", "RC1011", "extends itself"),
}


@pytest.mark.parametrize("name", BROKEN_PROFILES)
def test_a_broken_profile_is_refused_at_its_line(root: Path, name: str) -> None:
    text, id, says = BROKEN_PROFILES[name]
    make_root(root.parent, {"etc/rocmcfg/profiles/mine.toml": 'schema = 1\nsummary = "x"\n' + text})
    before = tree(root)
    found = apply(root, "--profile", "mine")
    assert found.code == 1, found.out
    assert "Traceback" not in found.err
    assert "RC9000" not in found.err
    assert f"error[{id}" in found.err
    assert says in found.err
    assert "mine.toml" in found.err, "where"
    assert rocmcfg("profile", "validate", "mine", "--root", root).code == 1
    assert tree(root) == before


def test_a_profile_that_is_not_utf8_or_not_readable(root: Path) -> None:
    make_root(root.parent, {"etc/rocmcfg/profiles/mine.toml": b'schema = 1\nsummary = "\xff"\n'})
    said = problem(apply(root, "--profile", "mine"), "RC1001", 1)
    assert "mine.toml:2" in said
    listed = rocmcfg("profile", "list", "--root", root)
    assert listed.code == 1
    assert "gfx1201" in listed.out, "the others are listed all the same"


def test_one_profile_that_cannot_be_read_hides_no_other(root: Path) -> None:
    local = root / "etc/rocmcfg/profiles"
    make_root(root.parent, {"etc/rocmcfg/profiles/good.toml": 'schema = 1\nsummary = "x"\n'})
    os.mkfifo(local / "pipe.toml")
    (local / "folder.toml").mkdir()
    (local / "nowhere.toml").symlink_to("/none")
    listed = rocmcfg("profile", "list", "--root", root, "--json")
    assert (listed.code, sorted(listed.ids)) == (1, ["RC1006", "RC1006", "RC1010"])
    assert {"good", "gfx1201"} <= {p["name"] for p in listed.document["profiles"]}
    assert rocmcfg("status", "--root", root).code == 0
    assert rocmcfg("explain", "runpm", "--root", root).code == 0
    problem(apply(root, "--profile", "pipe"), "RC1006", 1)


def test_a_new_profile_extends_no_path(root: Path, before: Tree) -> None:
    for base in ("/etc/x.toml", "x.toml", "../x"):
        assert rocmcfg("profile", "new", "mine", "--extends", base, "--root", root).code == 2
    assert tree(root) == before


def test_all_mistakes_of_all_profiles_are_told_at_once(root: Path) -> None:
    wrong = 'schema = 2\nsummary = "x"\ngfx = ["navi"]\n[module.amdgpu]\nrunpm = " "\n[env]\nA = 1.5\n'
    make_root(root.parent, {"etc/rocmcfg/profiles/mine.toml": wrong})
    found = rocmcfg("apply", "--profile", "mine", "--root", root, "--yes", "--json")
    lines = {d["location"].rpartition(":")[2] for d in found.document["diagnostics"]}
    assert {"1", "3", "5", "7"} <= lines


# -- --set ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "amdgpu.runpm=",
        "amdgpu.runpm=0 quiet",
        'amdgpu.runpm="0"',
        "amdgpu.runpm='0'",
        "karg.iommu=$(reboot)",
        "karg.iommu=`reboot`",
        "env.HSA_XNACK=0\nEVIL=1",
        "env.HSA_XNACK=0\n",
        "env.HSA_XNACK=ä",
        "karg.iommu=pt\\",
        "karg.iommu=pt;reboot&",
        "karg.iommu=pt#x",
        "karg.iommu=p*",
    ],
)
def test_a_value_with_a_character_that_a_boot_file_must_not_see(root: Path, before: Tree, text: str) -> None:
    problem(apply(root, "--set", text), "RC2002", 2)
    assert tree(root) == before


@pytest.mark.parametrize(
    "text",
    [
        "env.A B=1",
        "env.A;reboot;=1",
        "env.1A=1",
        "env.$(reboot)=1",
        "env.=1",
        "env.HSA_XNACK\n=1",
        "karg.a b=1",
        "karg.`reboot`",
        'karg."',
        "karg.a\nb",
        "karg.ä=1",
        "amdgpu.run pm=0",
        "amdgpu.$x=0",
        "amd gpu.runpm=0",
        "unknown_module.$(reboot)=0",
        "unknown_module.a\nb=0",
        "x;reboot;.a=0",
    ],
)
def test_a_name_with_a_character_that_a_boot_file_must_not_see(root: Path, before: Tree, text: str) -> None:
    found = apply(root, "--set", text)
    assert found.code == 2, f"{text!r} was applied:\n{found.out}"
    assert "Traceback" not in found.err
    assert "RC9000" not in found.err
    assert tree(root) == before


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        ("plan --set feature.gfxoff=maybe", "RC2002", 2),
        ("plan --set amdgpu.runpm=0 --set amdgpu.runpm=1", "RC2041", 2),
        ("plan --set amdgpu.runpm=0 --set amdgpu.nosuch=1", "RC2101", 1),
        ("plan --set amdgpu.runpm=0 --set amdgpu.nosuch=1 --set karg.a= ", "RC2002", 2),
        ("plan --set amdgpu.runpm=99", "RC2105", 1),
        ("plan --boot-backend nosuch", "RC0001", 2),
        ("plan --boot-backend limine", "RC3014", 1),
        ("plan --profile nosuch", "RC1010", 1),
        ("plan --profile /nosuch.toml", "RC3001", 1),
        ("rollback --to -1 --yes", "RC0001", 2),
        ("rollback --to 7 --yes", "RC4024", 1),
        ("explain amdgpu.runpm --kernel x", "RC6002", 2),
        ("explain amdgpu.runpm --kernel 6.8", "", 0),
        ("doctor --kernel x", "RC0001", 2),
        ("lint --kernel x /etc/fstab", "RC7004", 2),
        ("lint /nosuch", "RC3001", 1),
    ],
)
def test_words_that_are_wrong_on_any_host_are_usage_and_what_this_one_lacks_is_an_error(
    root: Path, line: str, id: str, code: int
) -> None:
    found = rocmcfg(*line.split(), "--root", root, "--json")
    assert found.code == code
    assert not id or id in found.ids


def test_a_document_that_is_none_is_wrong_usage() -> None:
    problem(rocmcfg("schema", "nosuch"), "RC0002", 2)


@pytest.mark.parametrize(
    "text", ["", "=", "runpn=0", "runpm", "amdgpu.runpm", ".x=1", "amdgpu.=1", "env.HSA_XNACK"]
)
def test_a_set_that_does_not_say_what(root: Path, before: Tree, text: str) -> None:
    found = rocmcfg("apply", "--root", root, "--yes", "--set", text)
    assert found.code == 2
    assert "error[RC2001]" in found.err
    as_json = rocmcfg("apply", "--root", root, "--yes", "--json", "--set", text)
    assert (as_json.code, as_json.ids) == (2, ["RC2001"])
    assert tree(root) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("appply",),
        ("plan", "--nonsense"),
        ("plan", "--via", "grub", *RUNPM),
        ("rollback", "--to", "x"),
        ("rollback", "--to", "-1"),
        ("rollback", "--to", "1", "--pristine"),
        ("verify", "--pid", "x"),
        ("plan", "--boot-backend", "nosuch", *RUNPM),
        ("plan", "--env-target", "nosuch", *RUNPM),
        ("env", "--remove"),
        ("profile", "new", "../x"),
        ("profile", "new", "auto"),
        ("profile", "new", "x", "--gfx", "navi"),
    ],
)
def test_usage_errors_are_exit_2_in_text_and_in_json(arguments: tuple[str, ...]) -> None:
    found = process(command(*arguments))
    assert found.code == 2
    assert "Traceback" not in found.err
    assert found.out == ""
    as_json = process(command(*arguments, "--json"))
    assert as_json.code == 2
    assert as_json.ids == ["RC0001"]


@pytest.mark.parametrize(
    ("line", "id"),
    [
        ("profile new x --gfx navi", "RC0001"),
        ("apply --json --set amdgpu.runpm=0", "RC0001"),
        ("rollback --json", "RC0001"),
        ("confirm --json", "RC0001"),
        ("apply --yes --set runpn", "RC2001"),
        ("apply --yes --set feature.gfxoff=maybe", "RC2002"),
        ("apply --yes --set amdgpu.runpm=0 --set amdgpu.runpm=1", "RC2041"),
        ("apply --yes --set amdgpu.runpm=0 --health-check true", "RC0001"),
        ("apply --yes --chroot --set amdgpu.runpm=0", "RC3021"),
        ("plan --chroot --root ROOT --set feature.gfxoff=maybe", "RC2002"),
        ("apply --yes --chroot --root ROOT --set runpn", "RC2001"),
        ("rollback --json --chroot --root ROOT", "RC0001"),
    ],
)
def test_wrong_usage_is_told_before_missing_rights(root: Path, line: str, id: str) -> None:
    """Else its author runs it again with sudo, only to meet the mistake then."""
    with mock.patch.object(os, "geteuid", return_value=1000):
        found = rocmcfg(*(str(root) if word == "ROOT" else word for word in line.split()))
    assert (found.code, "sudo" in found.err + found.out) == (2, False), found.err
    assert f"error[{id}]" in found.err or id in found.ids


def test_a_misspelt_command_is_told_its_right_name() -> None:
    assert "did you mean `rocmcfg apply`?" in process(command("appply")).err
