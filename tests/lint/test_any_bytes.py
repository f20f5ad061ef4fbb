"""Whatever a file holds: lint ends, soon, and every finding stands where it is said to stand."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rocmcfg.advice.lint import proposal
from rocmcfg.advice.lint.check import check
from rocmcfg.advice.lint.checked import Checked
from rocmcfg.advice.lint.kinds import FileKind
from rocmcfg.advice.lint.source import decode
from rocmcfg.advice.lint.wording import Knowledge
from rocmcfg.knowledge import catalogue
from tests.lint.judging import machine
from tests.support.growth import AT_MOST, growth

KNOWLEDGE = Knowledge(catalogue.load(), machine("gfx1100"))
# Pieces of which the readers make something, so that chance puts them together.
PIECES = [
    'options amdgpu ', 'gfxoff=0', 'amdgpu.gfxoff=0', 'amdgpu.noretry="0"', 'TORCH_USE_HIPBLASLT=1',
    'HSA_XNACK=0', 'export ', 'GRUB_CMDLINE_LINUX="', '"', "'", '\\', '\\\n', '\n', '\r\n', '\t', ' ', '#',
    '`', '```sh\n', '```\n', '$(', ')', '${', '}', '<<EOF\n', 'EOF\n', "<<-'E'\n",
    ' | tee /etc/modprobe.d/x.conf', '> /etc/environment', "sed -i 's/CMDLINE/", "/' f", 'ENV ', 'FROM x\n',
    '[Service]\n', 'Environment=', "os.environ['", "'] = '", "{'", "': '", 'import os\n', '- ',
    'environment:\n', ': ', "menuentry 'x' {\n", 'linux /vmlinuz ', '$ ', '> ', '| ', '\xfc', '\u2028',
    '\x0b', '\x85', '\U0001d518', '\ufeff', '/sys/module/amdgpu/parameters/gfxoff', 'amd_iommu=pt',
    '--args=', 'docker run -e ', 'echo ', 'printf ', 'set -gx ', '=', ';', 'name: ', 'value: ',
    'https://x/', '~~~\n', 'rocmcfg: ignore',
    '\x00', '&', '(', "'''", '"""', '\x0c',
]  # fmt: skip
TEXTS = st.one_of(
    st.binary(max_size=300),
    st.lists(st.sampled_from(PIECES), max_size=40).map(lambda parts: "".join(parts).encode()),
    st.tuples(st.lists(st.sampled_from(PIECES), max_size=15), st.binary(max_size=20)).map(
        lambda both: "".join(both[0]).encode() + both[1]
    ),
)


def _hold(checked: Checked) -> None:
    lines = checked.source.text.split("\n")
    for finding in checked.findings:
        assert 1 <= finding.line <= len(lines)
        behind = "\n".join(lines[finding.line - 1 :])
        assert behind[finding.column - 1 :].startswith(finding.text), finding
        assert finding.text
    proposal.diff(checked, proposal.proposed(checked))


@settings(max_examples=400)
@given(TEXTS, st.sampled_from(list(FileKind)))
@example("`amdgpu.gfxoff=0`".encode("utf-16"), FileKind.MARKDOWN)
@example(b"import os\n\x0cos.environ['TORCH_USE_HIPBLASLT'] = '1'", FileKind.PYTHON)
def test_any_text_of_any_kind(content: bytes, kind: FileKind) -> None:
    _hold(check("x", decode(content), KNOWLEDGE, kind=kind))


@settings(max_examples=200)
@given(TEXTS, st.text(max_size=20))
def test_any_text_of_any_name(content: bytes, name: str) -> None:
    _hold(check(name, decode(content), KNOWLEDGE))


BIG = 24 << 10
HUGE = [
    'a', ' ', 'a ', '"', "'", '`', '\\', '$(', '#', '<!--', '[', '=', 'A=', 'A=" ', '<<A\n', '```\n', '\n',
    '| a |', 'u@h', 'x@x.x.', 'https://', 'export HSA_XNACK=0 ', 'amdgpu.gfxoff=0 ', '`HSA_XNACK=0` ',
    's/a/b/ ', "- A: '", "os.environ['A']=", '(', '{', 'A: #', '\t', 'pip ', 'https://a amdgpu.noretry=0 ',
    "echo '\\n'", 'if false; then\n', "'''\n", 'cmdline=amdgpu.runpm=0\n', 'cmdline: amdgpu.runpm=0\n',
    'export HSA_XNACK=$A; A=$A\n', '"#\\n', ' sed s/a', '<!--\n', 'exit 0; set -e\n', 'HSA_XNACK =',
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(FileKind))
def test_no_text_takes_longer_than_its_length(kind: FileKind) -> None:
    """A regular expression or a search that looks twice shows in how the time grows."""
    for piece in HUGE:

        def seconds(size: int, text: str = (piece * BIG)[:BIG]) -> float:
            began = time.process_time()
            check("x", text[:size], KNOWLEDGE, kind=kind)
            return time.process_time() - began

        assert growth(seconds, BIG // 4) <= AT_MOST, piece
