"""Settings in files as people write them: what lint reads of each, and what it passes over."""

from __future__ import annotations

import pytest

from tests.lint.judging import judged, told
from tests.lint.shapes import settings

ONE, TWO = "HSA_ENABLE_SDMA=0", "MIOPEN_FIND_MODE=FAST"
DOCSTRING = """def f():
    '''Set
    os.environ["HSA_XNACK"] = "0"
    '''
    os.environ["HSA_ENABLE_SDMA"] = "0"
"""
FORMS: dict[str, tuple[str, str, list[str]]] = {
    "a comment of a document": (
        "a.md",
        "<!-- amdgpu.runpm=0\n```sh\nexport HSA_XNACK=0\n```\n-->\nSet `HSA_ENABLE_SDMA=0`.\n",
        [ONE],
    ),
    "a mark of a comment in an example": (
        "a.md",
        "```sh\necho '<!--'\nexport HSA_ENABLE_SDMA=0\n```\n",
        [ONE],
    ),
    "a comment of a notebook": (
        "a.ipynb",
        '{"source": [\n"#%env HSA_XNACK=0\\n",\n"os.environ[\'HSA_ENABLE_SDMA\'] = \'0\'"]}\n',
        [ONE],
    ),
    "comments between lines of a string": (
        "a.json",
        '{"content": "# ROCm\\nHSA_ENABLE_SDMA=0\\n# HSA_XNACK=0\\nMIOPEN_FIND_MODE=FAST\\n"}\n',
        [ONE, TWO],
    ),
    "a script in a string": (
        "a.json",
        '{"content": "#!/bin/sh\\nexport HSA_ENABLE_SDMA=0\\n"}\n',
        [ONE],
    ),
    "a magic command of a notebook": ("a.ipynb", '{"source": ["%env MIOPEN_FIND_MODE FAST\\n"]}\n', [TWO]),
    "what is struck out": ("a.md", "~~`amdgpu.runpm=0`~~, ~~HSA_XNACK=0~~ and `HSA_ENABLE_SDMA=0`\n", [ONE]),
    "the scripts of a trap and of eval": (
        "a.sh",
        "trap 'echo \"HSA_XNACK=0 failed\"; exit 1' ERR\neval 'export HSA_ENABLE_SDMA=0; true'\n",
        [ONE],
    ),
    "what a script says": ("a.sh", "cat <<EOF\nAdd amdgpu.runpm=0 to your menu.\nEOF\n", []),
    "what a script writes": (
        "a.sh",
        "cat <<EOF >/etc/kernel/cmdline\namdgpu.runpm=0\nEOF\n",
        ["amdgpu.runpm=0"],
    ),
    "a block of YAML as a value": ("a.yaml", "env:\n  HSA_ENABLE_SDMA: >-\n    0\n", ["HSA_ENABLE_SDMA=?"]),
    "a command in a block of YAML": ("a.yaml", "run: |\n  modprobe amdgpu runpm=0\n", ["amdgpu.runpm=0"]),
    "lines of options in a string": (
        "a.nix",
        'x = "options amdgpu runpm=0\\noptions amdgpu aspm=0";\n',
        ["amdgpu.aspm=0", "amdgpu.runpm=0"],
    ),
    "documentation in Python": ("a.py", DOCSTRING, [ONE]),
    "behind a text in Python": ("a.py", f'X = """\nset\n"""\n{DOCSTRING}', [ONE]),
    "a string of Python instead of a comment": (
        "a.py",
        "A = 'b'\n\'\'\'\nos.environ['HSA_XNACK'] = '0'\n\'\'\'\nos.environ['HSA_ENABLE_SDMA'] = '0'\n",
        [ONE],
    ),
    "a text that Python writes": (
        "a.py",
        'run("""\nos.environ["HSA_ENABLE_SDMA"] = "0"\n""")\n',
        [ONE],
    ),
    "a block of Python that is switched off": (
        "a.py",
        'if False:\n    os.environ["HSA_XNACK"] = "0"\nelse:\n    os.environ["HSA_ENABLE_SDMA"] = "0"\n',
        [ONE],
    ),
    "a value of YAML with a tag": ("a.yaml", "env:\n  HSA_ENABLE_SDMA: !!str 0\n", [ONE]),
    "a value of YAML with an anchor": ("a.yaml", 'env:\n  HSA_ENABLE_SDMA: &off "0"\n', [ONE]),
    "an alias of YAML": ("a.yaml", "env:\n  HSA_ENABLE_SDMA: *off\n", ["HSA_ENABLE_SDMA=?"]),
    "a value before its name": (
        "pod.yaml",
        'env:\n- value: "0"\n  name: HSA_ENABLE_SDMA\n- value: FAST\n  name: MIOPEN_FIND_MODE\n',
        [ONE, TWO],
    ),
    "sed in a list": (
        "user-data",
        "#cloud-config\nruncmd:\n  - [sed, -i, 's/quiet/quiet amdgpu.runpm=0/', /etc/default/grub]\n",
        ["amdgpu.runpm=0"],
    ),
    "what the entry point of a container gets": (
        "a.container",
        "[Container]\nExec=sh -c 'HSA_ENABLE_SDMA=0 python a.py'\n",
        [ONE],
    ),
    "a branch of fish": (
        "/etc/fish/config.fish",
        "if status is-interactive\n  set -gx HSA_ENABLE_SDMA 0\nend\nMIOPEN_FIND_MODE=FAST python a.py\n",
        [ONE, TWO],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_what_is_read_of_a_form(name: str) -> None:
    file, text, expected = FORMS[name]
    assert settings(judged(file, text)) == expected


@pytest.mark.parametrize(
    ("file", "text", "literal"),
    [
        ("a.sh", "export HSA_ENABLE_SDMA = 0\n", "HSA_ENABLE_SDMA=0"),
        ("a.sh", "#!/bin/sh\nHSA_ENABLE_SDMA =0\n", "HSA_ENABLE_SDMA=0"),
        ("a.sh", "export HSA_ENABLE_SDMA = '0'\n", None),
        ("a.service", "[Service]\nEnvironment=HSA_ENABLE_SDMA = 0\n", "HSA_ENABLE_SDMA=0"),
        ("/etc/environment", "HSA_ENABLE_SDMA = 0\n", "HSA_ENABLE_SDMA=0"),
        ("env.list", "HSA_ENABLE_SDMA = 0\n", "HSA_ENABLE_SDMA=0"),
        ("Dockerfile", "FROM x\nENV HSA_ENABLE_SDMA = 0\n", "HSA_ENABLE_SDMA=0"),
    ],
)
def test_a_blank_before_the_sign_is_reported(file: str, text: str, literal: str | None) -> None:
    (finding,) = judged(file, text).findings
    assert "no blank between HSA_ENABLE_SDMA and =" in finding.remark.summary
    assert finding.remark.literal == literal


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.sh", "[ HSA_ENABLE_SDMA = 0 ] && test HSA_ENABLE_SDMA = 0\n"),
        ("a.1", "export A=b\nHSA_ENABLE_SDMA = 0\n"),  # TOML, in a text of unknown kind
        (".env", "HSA_ENABLE_SDMA = 0\n"),
        ("/etc/environment.d/a.conf", "HSA_ENABLE_SDMA = 0\n"),
    ],
)
def test_a_blank_before_the_sign_is_no_fault_everywhere(file: str, text: str) -> None:
    assert judged(file, text).findings == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set HSA_ENABLE_SDMA 0\n", [("set HSA_ENABLE_SDMA 0", "not_exported")]),
        ("set -g HSA_ENABLE_SDMA 0\nset -x HSA_ENABLE_SDMA\n", []),
        ("set -g HSA_ENABLE_SDMA 0\nset -gx HSA_ENABLE_SDMA 0\n", []),
        ("set -q HSA_ENABLE_SDMA\nset -l HSA_ENABLE_SDMA 0\n", []),
    ],
)
def test_a_variable_of_fish_alone_is_reported(text: str, expected: list[tuple[str, str]]) -> None:
    assert told(judged("/etc/fish/conf.d/a.fish", text)) == expected


@pytest.mark.parametrize(
    ("lines", "lost"),
    [
        (["UnsetEnvironment=HSA_ENABLE_SDMA", "Environment=HSA_ENABLE_SDMA=0"], True),
        (["Environment=HSA_ENABLE_SDMA=0", "UnsetEnvironment=HSA_ENABLE_SDMA"], True),
        (["UnsetEnvironment=HSA_ENABLE_SDMA", "UnsetEnvironment=", "Environment=HSA_ENABLE_SDMA=0"], False),
    ],
)
def test_what_a_unit_unsets_is_gone_wherever_that_stands(lines: list[str], lost: bool) -> None:
    findings = told(judged("a.service", "\n".join(["[Service]", *lines, ""])))
    assert findings == ([("HSA_ENABLE_SDMA=0", "conflict")] if lost else [])
