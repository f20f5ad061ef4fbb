"""The reader of /etc/default/grub against the shell that really sources it.

It may say that a value is unknown. It must never say a wrong one: what it says is held for what the user has
configured.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocmcfg.loaders.shared.shell_assignments import Environment
from tests.support.tools import HANG, require_tool

DEFAULT, ALWAYS = "GRUB_CMDLINE_LINUX_DEFAULT", "GRUB_CMDLINE_LINUX"
# grub-mkconfig runs under set -e and sources the file (util/grub-mkconfig.in). One shell serves all examples,
# each in a process of its own.
LOOP = """
while read -r path; do
  ( set -e; . "$path"; printf 'ended:%s\\036%s' "$GRUB_CMDLINE_LINUX_DEFAULT" "$GRUB_CMDLINE_LINUX"
  ) </dev/null 2>/dev/null
  printf '\\0'
done
"""


class Shell:
    """dash or bash, asked what a file leaves in the two variables."""

    def __init__(self, folder: Path, name: str = "dash") -> None:
        self._file = folder / "grub"
        other = folder / "other"
        other.write_text(f"{DEFAULT}=other\nX=other\n")
        self._process = subprocess.Popen(
            [require_tool(name, package=name), "-c", LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin", "HOME": "/root", "OTHER": str(other)},
        )

    def values(self, text: str) -> tuple[str, str] | None:
        """None where the file ends the shell, as it would end update-grub."""
        assert self._process.stdin
        assert self._process.stdout
        self._file.write_bytes(text.encode())
        self._process.stdin.write(f"{self._file}\n".encode())
        self._process.stdin.flush()
        output = bytearray()
        while not output.endswith(b"\0"):
            byte = os.read(self._process.stdout.fileno(), 65536)
            assert byte
            output += byte
        _, ended, said = output[:-1].decode().rpartition("ended:")
        if not ended:
            return None
        default, _, always = said.partition("\x1e")  # which no text here holds
        return default, always

    def close(self) -> None:
        self._process.communicate(timeout=HANG)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    found = Shell(tmp_path_factory.mktemp("grub"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    found = Shell(tmp_path_factory.mktemp("bash"), "bash")
    yield found
    found.close()


def ours(text: str, *, bash: bool = False) -> tuple[str | None, str | None]:
    environment = Environment(bash=bash)
    environment.read("grub", text)
    return environment.text(DEFAULT), environment.text(ALWAYS)


NAMES = st.sampled_from([DEFAULT, ALWAYS, "X", "Y"])
LITERAL = st.text(alphabet="abq0=.,:/-_%@+*?[]{}!^#", min_size=1, max_size=6)
OPERATORS = st.sampled_from([":+", ":-", "+", "-"])


@st.composite
def expansion(draw: st.DrawFn) -> str:
    name = draw(st.one_of(NAMES, st.sampled_from(["HOME", "PATH", "UNSET", "PWD", "LINENO"])))
    form = draw(st.integers(0, 3))
    if form == 0:
        return f"${name}"
    if form == 1:
        return f"${{{name}}}"
    word = draw(st.sampled_from(["", "a", "a b", "$X", "${Y}", "'q'", "~", "a$X-", "it's", "x  y", '"q r"']))
    if form == 2:
        return f"${{{name}{draw(OPERATORS)}{word}}}"
    return draw(
        st.sampled_from([f"${{#{name}}}", f"${{{name}%a*}}", "$?", "$1", "$$", "$", f"${{{name}:=z}}"])
    )


ESCAPE = st.sampled_from(["\\$", "\\\\", '\\"', "\\'", "\\a", "\\ ", "\\`", "\\\n", "\\#", "\\;"])
INSIDE = st.lists(
    st.one_of(
        LITERAL,
        expansion(),
        ESCAPE,
        st.sampled_from(
            [" ", "  ", "\t", "'", "#", " # ", "\n", ";", "&&", "~", "(", ")", "\\", "\r", "X=9"]
        ),
    ),
    max_size=5,
).map("".join)
PIECE = st.one_of(
    LITERAL,
    expansion(),
    ESCAPE,
    INSIDE.map(lambda s: f'"{s}"'),
    INSIDE.map(lambda s: "'" + s.replace("'", "") + "'"),
    st.sampled_from(
        ["~", "\r", "\x0b", "\xa0", "é", "`echo b`", "$(echo c)", '"`echo d`"', "$((1+1))", "$'e'"]
    ),
)
WORD = st.lists(PIECE, max_size=4).map("".join)


@st.composite
def assignment(draw: st.DrawFn) -> str:
    before = draw(st.sampled_from(["", "", "", " ", "\t", "export ", "export  ", "readonly ", "\r", "{ "]))
    after = draw(
        st.sampled_from(["", "", "", " ", ";", " # note", " # \\", ";#x", " &", " :", "; }", " || :"])
    )
    return f"{before}{draw(NAMES)}{draw(st.sampled_from(['=', '=', '=', '+=', ' = ']))}{draw(WORD)}{after}"


COMMENT = st.sampled_from(["# note", "#", "  # it's", '# "', "# X=1 \\", "\t#\\", "# <<EOF", "# $(", "#`"])
COMMAND = st.sampled_from(
    [
        "",
        "\\",
        ":",
        "unset X",
        f"unset {DEFAULT}",
        f"echo a; {DEFAULT}=echoed",
        "X=1; Y=2",
        f"X=1 {DEFAULT}=2",
        f"true && {DEFAULT}=and",
        f"false || {DEFAULT}=or",
        f"false && {DEFAULT}=never || :",
        f"[ -n x ] && {{ {DEFAULT}=braces; }}",
        f": ${{{DEFAULT}:=fallback}}",
        f': "${{{ALWAYS}=fallback}}"',
        f": $(({'X'} = 3))",
        '. "$OTHER"',
        '[ -r "$OTHER" ] && . "$OTHER"',
        'if [ -r "$OTHER" ]; then . "$OTHER"; fi',
        'command . "$OTHER"',
        f"eval {DEFAULT}=evaluated",
        f"""eval "{DEFAULT}='a b'" """,
        f"command eval {DEFAULT}=evaluated",
        f"e=eval; $e {DEFAULT}=hidden",
        f'export "{DEFAULT}=quoted"',
        f"export {DEFAULT}",
        f"export X=a {DEFAULT}=b",
        f"{DEFAULT}=prefix true",
        f"read {DEFAULT} <{'/dev/null'} || :",
        f"for {DEFAULT} in a b; do :; done",
        f"while false; do\n{DEFAULT}=loop\ndone",
        "return 0",
        "false || return 0",
        "[ -z x ] && return",
        "exit 0",
        f"set_it() {{ {DEFAULT}=called; }}",
        f"set_it() {{\n  {DEFAULT}=called\n}}",
        f"set_it()\n{{\n{DEFAULT}=called\n}}",
        f"set_it() ( {DEFAULT}=subshell )",
        "set_it || :",
        f"alias assign='{DEFAULT}=aliased'",
        "assign",
        f"(\n{DEFAULT}=subshell\n)",
        f"( {DEFAULT}=subshell )",
        f"X=$(\n{DEFAULT}=subshell\necho x)",
        f"X=`\n{DEFAULT}=subshell\n`",
        f"cat >/dev/null <<EOF\n{DEFAULT}=text\nEOF",
        f"cat >/dev/null <<'EOF'\n{DEFAULT}='\nEOF\n{ALWAYS}='",
        f"cat >/dev/null <<-EOF\n\t{DEFAULT}=text\n\tEOF",
        f"case $X in\n a) {DEFAULT}=one ;;\n *) {DEFAULT}=two\nesac",
        f"case x in (x) {DEFAULT}=paren;; esac",
        f"if false; then\n{DEFAULT}=no\nelse if false; then\n:\nfi\n{DEFAULT}=inner\nfi",
        f"if false; then if true; then\n:\nfi\n{DEFAULT}=no\nfi",
        f"if true; then echo fi\n{DEFAULT}=yes\nfi",
        f"if false; then echo fi\n{DEFAULT}=no\nfi",
        f"if [ -n '{DEFAULT}=x' ]\nthen {DEFAULT}=taken; fi",
        f"{{\n{DEFAULT}=group\n}}",
        "GRUB_DISTRIBUTOR=`( . /etc/os-release; echo ${NAME:-Debian} ) 2>/dev/null || echo Debian`",
        "GRUB_DISTRIBUTOR=`lsb_release -i -s 2> /dev/null || echo Debian`",
        f"echo 'it''s' \"{DEFAULT}=echoed\" >/dev/null",
        f"{DEFAULT}=a | cat",
        f"! {DEFAULT}=negated",
        "set -u",
        f"printf %s a >/dev/null; {DEFAULT}=printed",
    ]
)
LINE = st.one_of(assignment(), assignment(), COMMENT, COMMAND)


@st.composite
def file(draw: st.DrawFn) -> str:
    lines = draw(st.lists(LINE, min_size=1, max_size=6))
    end = draw(st.sampled_from(["\n", "\n", "\n", "\r\n"]))
    return end.join(lines) + draw(st.sampled_from([end, ""]))


@given(file())
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_value_is_the_shells_or_unknown(shell: Shell, text: str) -> None:
    real = shell.values(text)
    if real is None:
        return
    for said, true in zip(ours(text), real, strict=True):
        assert said in (None, true)


@given(file())
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_value_is_that_of_bash_or_unknown(bash: Shell, text: str) -> None:
    """sdboot-manage sources its files with bash, where `+=` adds."""
    real = bash.values(text)
    if real is None:
        return
    for said, true in zip(ours(text, bash=True), real, strict=True):
        assert said in (None, true)


def test_bash_adds_to_what_a_variable_holds() -> None:
    assert ours(f'{DEFAULT}="a"\n{DEFAULT}+=" b"\n', bash=True)[0] == "a b"
    assert ours(f'{DEFAULT}+="b"\n', bash=True)[0] == "b"
    assert ours(f'X=$(cat f)\nX+=" b"\n{DEFAULT}=$X\n', bash=True)[0] is None
    assert ours(f'PATH+=":/opt"\n{DEFAULT}=$PATH\n', bash=True)[0] is None
    assert ours(f'{ALWAYS}="a"\n' + f'{ALWAYS}+="${ALWAYS}"\n' * 60, bash=True)[1] is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('GRUB_CMDLINE_LINUX_DEFAULT="quiet splash"', "quiet splash"),
        ("GRUB_CMDLINE_LINUX_DEFAULT='quiet'", "quiet"),
        ("GRUB_CMDLINE_LINUX_DEFAULT=quiet # why", "quiet"),
        ("export GRUB_CMDLINE_LINUX_DEFAULT='a b'", "a b"),
        ('GRUB_CMDLINE_LINUX_DEFAULT="a \\\n b"', "a  b"),
        ("X=1\nGRUB_CMDLINE_LINUX_DEFAULT=a$X", "a1"),
        ('GRUB_CMDLINE_LINUX_DEFAULT="${GRUB_CMDLINE_LINUX_DEFAULT:+$GRUB_CMDLINE_LINUX_DEFAULT }a"', "a"),
        ("GRUB_CMDLINE_LINUX_DEFAULT=a\nGRUB_CMDLINE_LINUX_DEFAULT+=b", None),
        ("GRUB_DISTRIBUTOR=`( . /etc/os-release; echo ${NAME:-D} ) 2>/dev/null || echo D`\n", ""),
        ("GRUB_DISTRIBUTOR=$(lsb_release -i -s)\nGRUB_CMDLINE_LINUX_DEFAULT=quiet", "quiet"),
        ("if [ -x /bin/a ]; then\n  X=1\nfi\nGRUB_CMDLINE_LINUX_DEFAULT=quiet", None),
        ("# it's a note \\\nGRUB_CMDLINE_LINUX_DEFAULT=quiet", "quiet"),
        ('GRUB_CMDLINE_LINUX_DEFAULT="root=$GRUB_DEVICE"', None),
        ("if true; then GRUB_CMDLINE_LINUX_DEFAULT=a; fi", None),
    ],
)
def test_what_people_write_is_read(text: str, value: str | None) -> None:
    assert ours(text)[0] == value


def test_drop_ins_append_to_what_was_read_before_and_keep_their_place() -> None:
    environment = Environment()
    environment.read("/etc/default/grub", 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n')
    environment.read("grub.d/a.cfg", '\n\nGRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT a=1"\n')
    assert environment.text(DEFAULT) == "quiet a=1"
    sources = {s.source for s in environment.values[DEFAULT] if s.text.strip()}
    assert sources == {"/etc/default/grub:1", "grub.d/a.cfg:3"}


def test_an_unknown_value_says_where_it_became_unknown() -> None:
    environment = Environment()
    environment.read("grub", f"X=1\n{DEFAULT}=$(cat /etc/args)\n")
    assert environment.unknown[DEFAULT] == "grub:2"
    environment.read("more", "\n. /etc/other\n")
    assert environment.opaque == "more:2"
    assert environment.text(ALWAYS) is None


def test_a_plain_assignment_after_something_unreadable_is_known_again() -> None:
    environment = Environment()
    environment.read("a", f"cat <<EOF\n{DEFAULT}=text\nEOF\n")
    assert environment.text(DEFAULT) is None
    environment.read("b", f"{DEFAULT}=quiet\n")
    assert environment.text(DEFAULT) == "quiet"


def test_a_value_beyond_all_bounds_is_unknown_and_says_where() -> None:
    """Sixty lines that double it would come to an exabyte."""
    doubled = f'{ALWAYS}="a"\n' + f'{ALWAYS}="${ALWAYS}${ALWAYS}"\n' * 60
    environment = Environment()
    environment.read("f", doubled)
    assert environment.text(ALWAYS) is None
    assert environment.unknown[ALWAYS].startswith("f:")
    assert ours(f'{ALWAYS}="a"\n' + f'{ALWAYS}="${ALWAYS} b"\n' * 500)[1] == "a" + " b" * 500
    assert ours(f'{ALWAYS}="{"a" * 70_000}"\n')[1] is None


def test_a_word_of_names_is_not_tried_in_every_way() -> None:
    """Where a name could end anywhere, this took three times as long with each of them."""
    assert ours(f'{DEFAULT}="${{A:-{"$aaa" * 60}$1}}"\n')[0] is None
