"""What --fix leaves can be read by whoever reads such a file: asked of the shells, of Python and of YAML."""

from __future__ import annotations

import ast
import subprocess

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rocmcfg.advice.lint.check import check, mended
from rocmcfg.advice.lint.wording import Knowledge
from rocmcfg.knowledge import catalogue
from tests.lint.judging import machine

KNOWLEDGE = Knowledge(catalogue.load(), machine("gfx1100"))
GONE = "HSA_XNACK=0"  # does nothing on this GPU, and goes where it can
BY_HAND = "Delete it yourself"


def _fixed(file: str, text: str) -> str:
    return mended(check(file, text, KNOWLEDGE), KNOWLEDGE)


# What stays as it is, and is told of in words: without the token nobody could read the rest, or it would mean
# something else.
STAYS = {
    "a command that another waits for": ("a.sh", "export GONE && prog\n"),
    "a command behind another": ("a.sh", "prog; export GONE\n"),
    "a command that another leads to": ("a.sh", "prog &&\nexport GONE\nrm x\n"),
    "a list of a subshell": ("a.sh", "(\nexport GONE\n)\n"),
    "what a pipe goes to": ("a.sh", "prog |\n# so\nGONE\n"),
    "a branch": ("a.sh", "if true; then\n  export GONE\nfi\n"),
    "a branch on one line": ("a.sh", "if true; then export GONE; else GONE; fi\n"),
    "a loop": ("a.sh", "for x in a b; do\n  GONE\ndone\n"),
    "a function": ("a.sh", "f() {\n  export GONE\n}\n"),
    "an array": ("a.sh", "env=(\n  GONE\n)\n"),
    "a pattern": ("a.sh", "case $x in\n  GONE) prog ;;\nesac\n"),
    "a blank that is escaped": ("a.sh", "prog A=b\\ GONE\n"),
    "a blank that is escaped behind it": ("a.sh", "prog 'A=b c' PYTORCH_ROCM_ARCH=a\\ b\n"),
    "an option that is an option's argument": ("a.sh", "docker run -e -e GONE\n"),
    "a command of another host": ("a.sh", "ssh h 'export GONE'\n"),
    "what is substituted": ("a.sh", "docker run -e PYTORCH_ROCM_ARCH=$(gfx) img\n"),
    "all that is printed": ("a.sh", "echo GONE >> /etc/environment\n"),
    "an instruction's part": ("Dockerfile", "FROM x\nRUN export GONE && prog\n"),
    "an instruction's list": ("Dockerfile", 'FROM x\nCMD ["env", "GONE", "prog"]\n'),
    "a comment between continued lines": ("Dockerfile", "FROM x\nENV A=b \\\n  # c\n  GONE\nRUN make\n"),
    "a prompt": ("a.md", "```console\n$ export GONE\n```\n"),
    "a quotation": ("a.md", "> ```sh\n> export GONE\n> ```\n"),
    "an option of an example": ("a.md", "```\ndocker run -e GONE img\n```\n"),
    "an item": ("a.yml", "environment:\n  - GONE\n"),
    "an item that goes on": ("a.yml", "command:\n  - GONE\n    prog\n"),
    "a flow list": ("a.yml", 'environment: ["", "GONE"]\n'),
    "an option of a text": ("a.yml", "run: docker run -e GONE img\n"),
    "all of a block": ("a.py", "import os\nif x:\n    os.environ['HSA_XNACK'] = '0'\n"),
    "all of a function": ("a.py", "def f():\n    os.environ['HSA_XNACK'] = '0'\n    os.environ['A'] = 'b'\n"),
    "a chain": ("a.py", "import os\nos.environ['A'] = os.environ['HSA_XNACK'] = '0'\n"),
    "a part of a line": ("a.py", "import os\nx = 1; os.environ['HSA_XNACK'] = '0'; y = 2\n"),
    "an item of a dict": ("a.py", "import os\nos.environ.update({'HSA_XNACK': '0'})\n"),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_cannot_go_without_harm_is_told_in_words(name: str) -> None:
    file, text = STAYS[name]
    text = text.replace("GONE", GONE)
    checked = check(file, text, KNOWLEDGE)
    found = [finding for finding in checked.findings if finding.remark.remove]
    assert found
    assert all(f.spelt.text is None and BY_HAND in f.remark.why for f in found)
    assert mended(checked, KNOWLEDGE) == text


GOES = {
    "in front of a command": ("GONE prog && GONE prog\n", "prog && prog\n"),
    "in front of a command of a branch": (
        "if GONE prog; then\n  GONE prog\nfi\n",
        "if prog; then\n  prog\nfi\n",
    ),
    "beside what stays": ("f() {\n  export A=b GONE\n}\n", "f() {\n  export A=b\n}\n"),
    "alone on its line": ("prog;\nexport GONE # so\nX=`a`\nGONE\nprog\n", "prog;\nX=`a`\nprog\n"),
    "all of a line": ("export GONE PYTORCH_ROCM_ARCH=a\nprog\n", "prog\n"),
    "for another host": ("ssh h 'GONE prog'\nbash -c \"GONE prog\"\n", "ssh h 'prog'\nbash -c \"prog\"\n"),
}


@pytest.mark.parametrize("name", GOES)
def test_what_can_go_goes(name: str) -> None:
    before, after = GOES[name]
    assert _fixed("a.sh", before.replace("GONE", GONE)) == after


def _read_by(shell: str, text: str) -> bool:
    return (
        subprocess.run([shell, "-n"], input=text.encode(), capture_output=True, check=False).returncode == 0
    )


_WORD = st.sampled_from(
    [GONE, "PYTORCH_ROCM_ARCH=a", "TORCH_USE_HIPBLASLT=0", "A=b", "HSA_XNACK='0'", "A=$(x)"]
)
_BEFORE = st.lists(_WORD, max_size=3).map(" ".join)
_COMMAND = st.one_of(
    st.tuples(_BEFORE, st.sampled_from(["prog", "prog x", "env prog", "sudo prog", ":"])).map(" ".join),
    st.lists(_WORD, min_size=1, max_size=2).map(lambda words: f"export {' '.join(words)}"),
    st.lists(_WORD, min_size=1, max_size=2).map(" ".join),
    _WORD.map("docker run -e {} img".format),
    _WORD.map("mpirun -x {} -x A prog".format),
    _WORD.map("ssh h '{} prog'".format).filter(lambda text: text.count("'") == 2),
    _WORD.map('bash -c "{} prog"'.format),
    _WORD.map("docker run \\\n  -e {} \\\n  img".format),
    _WORD.map("args=(-e {})".format),
    _WORD.map("echo {} >> /etc/environment".format),
    _WORD.map("cat <<EOF > /etc/environment\n{}\nEOF".format),
    st.just("options amdgpu gfxoff=0 sg_display=0 noretry=0"),
    st.just("GRUB_CMDLINE_LINUX=quiet\\ amdgpu.sg_display=0"),
    st.just('GRUB_CMDLINE_LINUX="quiet amdgpu.sg_display=0 amdgpu.gfxoff=0"'),
)
_SCRIPT = st.recursive(
    _COMMAND,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["\n", "; ", " && ", " ||\n", " | ", " &\n", " # c\n"]), inner).map(
            "".join
        ),
        inner.map("if true; then\n  {}\nfi".format),
        inner.map("if {}\nthen :; fi".format),
        inner.map("for x in a; do {}\ndone".format),
        inner.map("f() {{\n{}\n}}".format),
        inner.map("(\n{}\n)".format),
        inner.map("X=$(\n{}\n)".format),
        inner.map("case x in\n a) {}\n;;\nesac".format),
    ),
    max_leaves=5,
)


@settings(max_examples=300)
@given(_SCRIPT)
@example("options amdgpu gfxoff=0 noretry=0; args=(-e TORCH_USE_HIPBLASLT=0)")
def test_a_shell_reads_what_is_left_of_a_script(script: str) -> None:
    text = f"{script}\n"
    after = _fixed("a.sh", text)
    for shell in ("bash", "dash"):
        assert after == text or not _read_by(shell, text) or _read_by(shell, after), after


_STATEMENT = st.sampled_from(
    [
        "os.environ['HSA_XNACK'] = '0'",
        "os.environ['A'] = 'b'",
        "os.environ['A'] = os.environ['HSA_XNACK'] = '0'",
        "os.environ['TORCH_USE_HIPBLASLT'] = \"0\"  # so",
        "os.environ.setdefault('HSA_XNACK', '0')",
        "os.environ['HSA_XNACK'] = \\\n  '0'",
        "os.environ['HSA_XNACK'] = '0'; x = 1",
        "x = 1; os.environ['HSA_XNACK'] = '0'",
        "x = dict(os.environ, HSA_XNACK='0')",
        "'A docstring.'",
    ]
)


def _block(head: str, lines: list[str], indent: str = "    ") -> str:
    return f"{head}\n" + "\n".join(indent + one for text in lines for one in text.split("\n"))


_PYTHON = st.recursive(
    _STATEMENT,
    lambda inner: st.one_of(
        st.tuples(
            st.sampled_from(["if x:", "def f():", "for x in y:", "with x:", "class A:", "try:"]),
            st.lists(inner, min_size=1, max_size=3),
        ).map(lambda both: _block(*both) + ("\nfinally:\n    pass" if both[0] == "try:" else "")),
        _STATEMENT.filter(lambda text: "\n" not in text).map("if x: {}".format),
        st.lists(inner, min_size=1, max_size=3).map("\n".join),
    ),
    max_leaves=6,
)


@settings(max_examples=300)
@given(_PYTHON)
def test_python_reads_what_is_left_of_a_program(program: str) -> None:
    text = f"import os\n{program}\n"
    ast.parse(text)
    ast.parse(_fixed("a.py", text))


_YAML = st.lists(
    st.sampled_from(
        [
            "a:\n  environment:\n    - HSA_XNACK=0\n    - TORCH_USE_HIPBLASLT=0\n",
            'b:\n  environment:\n    HSA_XNACK: "0"\n    TORCH_USE_HIPBLASLT: 0 # so\n',
            "c: [HSA_XNACK=0, 'TORCH_USE_HIPBLASLT=0']\n",
            'd: {HSA_XNACK: 0, TORCH_USE_HIPBLASLT: "0"}\n',
            "e:\n  - HSA_XNACK=0\n    prog\n",
            "f: >\n  docker run -e HSA_XNACK=0\n  -e TORCH_USE_HIPBLASLT=0 img\n",
            "g: &x\n  - 'TORCH_USE_HIPBLASLT=0'\nh: *x\n",
        ]
    ),
    unique=True,
).map("".join)


@given(_YAML)
def test_yaml_reads_what_is_left_of_a_document(text: str) -> None:
    before, after = yaml.safe_load(text), yaml.safe_load(_fixed("compose.yml", text))
    assert str(after).replace("BLAS_PREFER", "USE") == str(before)
