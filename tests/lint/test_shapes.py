"""Every shape in which people set things: what is set is read, nothing else is, and what --fix proposes
leaves a file that its own language still reads."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from rocmcfg.advice.lint.assignment import Assignment, What
from rocmcfg.advice.lint.check import mended
from rocmcfg.advice.lint.wording import Knowledge
from rocmcfg.knowledge import catalogue
from rocmcfg.model.facts import Machine
from tests.lint import parsers
from tests.lint.judging import judged
from tests.lint.shapes import Shape, settings, shapes
from tests.support.growth import AT_MOST, growth

KNOWLEDGE = Knowledge(catalogue.load(), Machine())
# Names of which lint proposes another one, or nothing, in place of each setting.
SLIPS = {
    What.PARAMETER: ("exp_hw_suport", "nosuch"),
    What.ARGUMENT: ("pcie_asmp",),
    What.VARIABLE: ("HIP_LAUNCH_BLOKCING", "PYTORCH_ROCM_ARCH"),
}


@pytest.mark.parametrize("name", shapes())
def test_what_is_set_is_read_and_nothing_else(name: str) -> None:
    shape = shapes()[name]
    assert settings(judged(shape.file, shape.text)) == sorted(shape.read)


@pytest.mark.parametrize("name", shapes())
def test_a_mended_file_is_valid_in_its_own_language(name: str) -> None:
    """A slip is planted in place of each setting in turn."""
    shape = shapes()[name]
    parsers.check(shape.language, shape.text)
    for text in _with_a_slip(shape):
        after = mended(judged(shape.file, text), KNOWLEDGE)
        if after != text:
            parsers.check(shape.language, after)


@pytest.mark.parametrize("name", shapes())
def test_a_slip_is_mended_and_nothing_else(name: str) -> None:
    """But for what lint proposes for the text without a slip."""
    shape = shapes()[name]
    without = mended(judged(shape.file, shape.text), KNOWLEDGE)
    for text in _with_a_slip(shape):
        before = judged(shape.file, text)
        after = mended(before, KNOWLEDGE)
        for each in before.assignments:
            token = text[each.start : each.stop]
            if token in shape.text and token in without:
                assert after.count(token) == text.count(token), (text, after)


# A name stands there, and no form that lint knows sets it.
NOT_READ = {
    "build.zig": "exe.setting(.HSA_XNACK, 1);\nrun(amdgpu.runpm);\n",
    "settings.plist": "<dict>\n<key>HSA_XNACK</key>\n<string>1</string>\n<key>amdgpu.runpm</key>\n</dict>\n",
    "main.go": 'var names = []string{"HSA_XNACK",\n"amdgpu.runpm"}\n',
    "gpu.cue": "HSA_XNACK!: string\n#amdgpu.runpm\nx: amdgpu.runpm\n",
    "CMakeLists.cmake": "set(NAMES HSA_XNACK)\nset(PARAMETER amdgpu.runpm)\n",
    "Dockerfile": "FROM x\nARG HSA_XNACK=1\nLABEL about amdgpu.runpm\n",
}


@pytest.mark.parametrize("file", NOT_READ)
def test_a_name_that_no_setting_was_read_from_is_listed(file: str) -> None:
    checked = judged(file, NOT_READ[file])
    assert settings(checked) == []
    assert {name for name, _ in checked.unread} == {"HSA_XNACK", "amdgpu.runpm"}


@pytest.mark.parametrize("name", shapes())
def test_what_a_shape_sets_is_not_listed_as_unread(name: str) -> None:
    shape = shapes()[name]
    checked = judged(shape.file, shape.text)
    assert not {each.name for each in checked.assignments} & {name for name, _ in checked.unread}


# Names and values of ours that nobody sets, in the forms in which public files have them.
SETS_NOTHING = {
    "messages of a script": (
        "a.sh",
        'log_info "amdgpu.runpm=0 is set"\nwarn "HSA_XNACK=1 missing"\ndie "set iommu=pt first"\n'
        'print_status "add amdgpu.noretry=0"\n{\n  echo HSA_XNACK=1\n}\n(echo amdgpu.runpm=0)\n',
    ),
    "what a script looks for": (
        "a.sh",
        "if [[ $(cat /proc/cmdline) == *amdgpu.runpm=0* ]]; then :; fi\n"
        "PATTERN='amdgpu.gttsize=[0-9]+'\ncase $x in *iommu=pt*) ;; esac\nawk '/amdgpu.runpm=0/' f\n",
    ),
    "what a script reports": (
        "a.sh",
        'echo "HSA_XNACK=1" | tee -a "$RESULTS_FILE"\necho amdgpu.runpm=0 >> run.log\n'
        "echo iommu=pt >/dev/stderr\n",
    ),
    "what a measurement was made with": (
        "a.json",
        '{"host": "watch (accelerator-performance and fans), iommu=pt"}\n',
    ),
    "a table of what variables mean": (
        "a.py",
        "MEANING = {'HSA_XNACK': 'page migration', 'HSA_ENABLE_SDMA': 'copies by the engines'}\n",
    ),
    "functions that take away": (
        "a.sh",
        "remove_karg amdgpu.runpm=0\nkarg_delete 'iommu=pt'\nunset_env HSA_XNACK=1\n"
        "drop-kargs amdgpu.noretry=0\n",
    ),
    "names of tasks and of steps": (
        "a.yml",
        "- name: Set amdgpu.runpm=0 and HSA_XNACK=1 on all hosts\n  debug:\n    msg: HSA_XNACK=1 is needed\n",
    ),
    "an item that is to be absent": (
        "a.yml",
        "- lineinfile:\n    path: /etc/environment\n    line: HSA_XNACK=1\n    state: absent\n"
        '- {name: amdgpu.runpm, value: "0", state: absent}\n',
    ),
    "a script in YAML that looks and prints": (
        "a.yml",
        "run: |\n  grep -q amdgpu.runpm=0 /proc/cmdline\n  echo HSA_XNACK=1\n  unset HSA_XNACK\n",
    ),
    "comparisons": (
        "a.js",
        'if (process.env.HSA_XNACK === "1" || process.env.HSA_XNACK !== "0") '
        'f(process.env["HSA_XNACK"] == "1");\n',
    ),
    "defaults of what is read": (
        "a.rs",
        'let x = env::var("HSA_XNACK").unwrap_or("1".into());\nlet y = option_env("HSA_XNACK", "1");\n',
    ),
    "what is printed in other languages": (
        "a.go",
        'fmt.Println("HSA_XNACK=1")\nlog.Printf("amdgpu.runpm=0: %v", err)\npanic("iommu=pt is missing")\n',
    ),
    "what is thrown": (
        "a.ts",
        'throw new Error("set HSA_XNACK=1");\nconsole.warn(`amdgpu.runpm=0`);\nlogger.info("iommu=pt");\n',
    ),
    "comments of many languages": (
        "a.lua",
        "-- HSA_XNACK=1\n--[[ amdgpu.runpm=0\n]]\nx = 1 -- iommu=pt\n",
    ),
    "comments in a file of another kind": (
        "a.tf",
        "// HSA_XNACK = 1\n/* amdgpu.runpm=0 */\n# iommu=pt amdgpu.noretry=0\n",
    ),
    "a list to remove, with comments between its items": (
        "a.yml",
        "remove_args:\n  # of the old card\n\n  - amdgpu.runpm=0\n  # and of its board\n  - iommu=pt\n",
    ),
    "a removal in data": (
        "a.json",
        '{"remove_args": ["amdgpu.runpm=0", "iommu=pt"], "unset": "HSA_XNACK=1", '
        '"shouldNotExist": ["iommu=pt"]}\n',
    ),
}


@pytest.mark.parametrize("name", SETS_NOTHING)
def test_nothing_is_read_where_nothing_is_set(name: str) -> None:
    assert settings(judged(*SETS_NOTHING[name])) == []


# What a file may hold again and again: lists, tables, commands in another format.
REPEATED = {
    "a.yml": "- shell: |\n    export HSA_XNACK=1\n    echo amdgpu.runpm=0\n  args:\n    - amdgpu.runpm=0\n",
    "a.json": '{"a": "b", "HSA_XNACK": "1"},\n["amdgpu.runpm=0", "iommu=pt"],\n',
    "a.sh": '{ echo "export HSA_XNACK=1"; } >> f\nif grep -q amdgpu.runpm=0 f; then KARGS="iommu=pt"; fi\n',
    "Dockerfile": "RUN <<EOF\necho HSA_XNACK=1 > x.env\nEOF\nRUN cat <<E > f\n",
}


@pytest.mark.parametrize("file", REPEATED)
def test_time_grows_as_the_file_does(file: str) -> None:
    def seconds(times: int) -> float:
        began = time.process_time()
        judged(file, REPEATED[file] * times)
        return time.process_time() - began

    assert growth(seconds, 250) <= AT_MOST


def _with_a_slip(shape: Shape) -> Iterator[str]:
    for each in judged(shape.file, shape.text).assignments:
        for slip in SLIPS.get(each.what, ()):
            start, stop = each.name_at
            yield shape.text[:start] + _spelt(each, slip) + shape.text[stop:]


def _spelt(each: Assignment, slip: str) -> str:
    of_module = each.what is What.PARAMETER and each.dotted
    return f"{each.name.partition('.')[0]}.{slip}" if of_module else slip
