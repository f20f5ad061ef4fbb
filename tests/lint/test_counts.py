"""Which of several lines counts where a program reads one of them: the first, or the last."""

from __future__ import annotations

import configparser

import pytest

from tests.lint.judging import judged


def without_effect(file: str, text: str) -> list[tuple[int, str]]:
    """(line, token) of each setting that is said to have no effect."""
    return [(f.line, f.text) for f in judged(file, text).findings if f.remark.kind == "conflict"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["cmdline: amdgpu.runpm=0", "cmdline: amdgpu.aspm=0"], [(3, "amdgpu.aspm=0")]),
        (["cmdline: amdgpu.runpm=0", "KERNEL_CMDLINE: amdgpu.aspm=0"], [(2, "amdgpu.runpm=0")]),
        (["kernel_cmdline: amdgpu.runpm=0", "cmdline: amdgpu.aspm=0"], [(3, "amdgpu.aspm=0")]),
        (["cmdline: amdgpu.runpm=0", "//B", "cmdline: amdgpu.aspm=0"], []),
        (["comment: cmdline: amdgpu.runpm=0", "cmdline: amdgpu.aspm=0"], []),
        (
            ["cmdline: quiet", "cmdline: amdgpu.aspm=0 amdgpu.aspm=1"],
            [(3, "amdgpu.aspm=0"), (3, "amdgpu.aspm=1")],
        ),
    ],
)
def test_limine_reads_one_command_line_of_an_entry(lines: list[str], expected: list[tuple[int, str]]) -> None:
    assert without_effect("/boot/limine.conf", "/A\n" + "\n".join(lines) + "\n") == expected


PROFILES = {
    "a repeated option": ("cmdline=amdgpu.runpm=0\ncmdline=amdgpu.aspm=0\n", [(2, "amdgpu.runpm=0")]),
    "another option": ("cmdline=amdgpu.runpm=0\ncmdline_b=amdgpu.aspm=0\n", []),
    "a value of two lines": ("cmdline=amdgpu.runpm=0\n  amdgpu.aspm=0\n", []),
    "a repeated section": (
        "cmdline=amdgpu.runpm=0\n[sysctl]\nvm.swappiness=1\n[bootloader]\ncmdline=amdgpu.aspm=0\n",
        [(2, "amdgpu.runpm=0")],
    ),
    "the place of the first": (
        "cmdline=quiet\ncmdline_b=amdgpu.runpm=1\ncmdline=amdgpu.runpm=0\n",
        [(4, "amdgpu.runpm=0")],
    ),
    "a minus": ("cmdline=amdgpu.runpm=0 amdgpu.aspm=0\ncmdline_b=-amdgpu.aspm=0\n", [(2, "amdgpu.aspm=0")]),
    "a minus for another value": ("cmdline=amdgpu.runpm=0\ncmdline_b=-amdgpu.runpm=1\n", []),
    "a minus before it": ("cmdline_b=-amdgpu.runpm=0\ncmdline=amdgpu.runpm=0\n", []),
}


@pytest.mark.parametrize("name", PROFILES)
def test_tuned_joins_the_last_value_of_each_option(name: str) -> None:
    text, expected = PROFILES[name]
    text = f"[bootloader]\n{text}"
    assert without_effect("/etc/tuned/a/tuned.conf", text) == expected
    # as plugins/plugin_bootloader.py joins what profiles/loader.py has read
    parser = configparser.ConfigParser(delimiters=("=",), inline_comment_prefixes=("#",), strict=False)
    parser.read_string(text)
    words: list[str] = []
    for value in parser["bootloader"].values():
        if value.startswith("-"):
            words = [word for word in words if word not in value[1:].split()]
        else:
            words += value.split()
    last = {word.partition("=")[0]: word for word in words if "=" in word}
    kept = judged("/etc/tuned/a/tuned.conf", text).assignments
    lost = {token for _, token in expected}
    assert {f"{a.name}={a.value}" for a in kept} - lost == set(last.values())


def test_a_repeated_module_of_tuned_has_the_last_options() -> None:
    text = "[modules]\namdgpu=runpm=0\namdgpu=aspm=0\n"
    assert without_effect("/etc/tuned/a/tuned.conf", text) == [(2, "runpm=0")]
