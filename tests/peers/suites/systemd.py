"""systemd: environment files, environment.d, command lines, names and lines of boot entries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rocmcfg.loaders.shared import loader_entries
from rocmcfg.model.kargs import canonical, last
from tests.peers import literals, reading
from tests.peers.judgement import Answer, Case
from tests.peers.suites.suite import Suite

_TESTS = "src/test"
_CONF = "etc/environment.d/50-test.conf"


def _cases(sources: Path) -> list[Case]:
    tests = sources / _TESTS
    return [
        *_environment_files((tests / "test-env-file.c").read_text()),
        *_generator((sources / "test/units/TEST-81-GENERATORS.environment-d-generator.sh").read_text()),
        *_command_lines((tests / "test-proc-cmdline.c").read_text()),
        *_names((tests / "test-proc-cmdline.c").read_text()),
        *_counters((tests / "test-bootspec.c").read_text()),
        *_entry_lines((sources / "src/boot/test-efi-string.c").read_text()),
        *_expansions((tests / "test-env-util.c").read_text()),
    ]


def _environment_files(source: str) -> Iterator[Case]:
    """Each assignment of files that load_env_file reads, with which environment.d is read as well."""
    texts = {
        n: literals.c(body) for n, body in re.findall(r"#define env_file_(\d)\s(.*?)(?=\n\n)", source, re.S)
    }
    for number, body in re.findall(r"TEST\(load_env_file_(\d)\) \{(.*?)\n\}", source, re.DOTALL):
        expected = [literals.c(said) for said in re.findall(r"ASSERT_STREQ\(data\[\d\], (.*?)\);", body)]
        values = dict(text.partition("=")[::2] for text in expected)
        found = reading.sourced(_CONF, texts[number], values)
        for name, value in values.items():
            id, ours = f"env_file_{number} {name}", reading.only(found, [name])
            # an empty value is one in EnvironmentFile=, and none in environment.d (TEST-81)
            yield Case(id, texts[number], {name: value} if value else None, ours if value else None)
    for text in re.findall(r"FOREACH_STRING\(s,(.*?)\)", source, re.DOTALL)[:1]:
        for one in re.findall(literals.ONE, text):
            yield Case("invalid_utf8", one, None, None)
    for text in re.findall(r"FOREACH_STRING\(v,(.*?)\)", source, re.DOTALL)[:1]:
        for one in re.findall(literals.ONE, text):  # of what its own writer makes of the value
            yield Case("write_and_load_env_file", one, None, None)


def _generator(source: str) -> Iterator[Case]:
    """The file of TEST-81, without its lines of 4,096 characters, which the shell makes."""
    lines = source.partition("<<EOF\n")[2].partition("\nEOF\n")[0].splitlines()
    text = "\n".join(line for line in lines if "$(" not in line).replace("\\$", "$") + "\n"
    checks = dict(re.findall(r'\[\[ "\$(\w+)" == "(.*?)" \]\]', source))
    checks |= dict.fromkeys(re.findall(r'\[\[ -z "\$(\w+)" \]\]', source), "")
    found = reading.sourced(_CONF, text, checks)
    for name, value in checks.items():
        yield Case(f"TEST-81 {name}", text, {name: value}, reading.only(found, [name]))
    for name in re.findall(r"\[\[ ! -v (\w+) \]\]|\[\[ \"\$VERY_LONG\" =~", source):
        yield Case(f"TEST-81 {name or 'VERY_LONG'}", text, None, None)


def _command_lines(source: str) -> Iterator[Case]:
    """Each key that a test asks for. Lines of the firmware (SYSTEMD_EFI_OPTIONS) are read alike."""
    for name, body in re.findall(r"TEST\((proc_cmdline_\w+)\) \{(.*?)\n\}", source, re.DOTALL):
        line = ""
        set_to = {"SYSTEMD_EFI_OPTIONS": "", "SYSTEMD_PROC_CMDLINE": ""}  # what the latter says wins
        variables: dict[str, str] = {}
        for found in re.finditer(
            rf"putenv\(\(char\*\) (?P<set>{literals.ONE})|"
            r"get_(?:key|bool)\(\"(?P<key>[^\"]*)\", (?P<flags>.*?), (?P<into>&?\w+)\) (?P<rest>[^;]*);|"
            r"\"(?P<many>[\w-]+)\", &(?P<variable>value\d)|"
            r"(?:ASSERT_STREQ\((?P<is>value\d), (?P<text>\".*?\")\)|assert_se\(!(?P<none>value\d)\));",
            body,
        ):
            if found["set"]:
                variable, _, said = literals.c(found["set"]).partition("=")
                set_to[variable] = said
                line = "\n".join(set_to.values()).strip("\n")
            elif found["key"] is not None:
                yield _asked(name, line, found["key"], found["flags"], found["into"], found["rest"])
            elif found["many"]:
                variables[found["variable"]] = found["many"]
            elif found["is"]:
                key = variables[found["is"]]
                yield Case(f"{name} {key}", line, {key: literals.c(found["text"])}, _value(line, key))
            else:
                key = variables[found["none"]]
                yield Case(f"{name} {key}", line, {key: None}, _value(line, key))


def _asked(test: str, line: str, key: str, flags: str, into: str, rest: str) -> Case:
    """One question after a key: its value, its truth, or whether it is there with a value, or without one."""
    id = f"{test} {key}"
    if not key or "EINVAL" in rest or "TRUE_WHEN_MISSING" in flags:
        return Case(id, line, None, None)
    if told := re.search(rf"streq_ptr\(value, ({literals.ONE})\)", rest):
        return Case(id, line, {key: literals.c(told[1])}, _value(line, key))
    karg, answered = last(reading.arguments(line), key), "> 0" in rest
    if found := re.search(r"value == (true|false)", rest):
        truth = None if karg is None else "true" if karg.value in (None, "1", "yes") else "false"
        return Case(id, line, {key: found[1] if answered else None}, {key: truth})
    if "OPTIONAL" in flags:
        there = karg is not None
    elif into == "NULL":
        there = karg is not None and karg.value is None
    else:
        there = karg is not None and karg.value is not None
    return Case(id, line, {"there": "yes" if answered else "no"}, {"there": "yes" if there else "no"})


def _value(line: str, key: str) -> Answer:
    karg = last(reading.arguments(line), key)
    return {} if karg is None else {key: karg.value}


def _names(source: str) -> Iterator[Case]:
    for no, left, right in re.findall(
        r"assert_se\((!?)proc_cmdline_key_streq\(\"(.*?)\", \"(.*?)\"\)\)", source
    ):
        same = "no" if canonical(left) != canonical(right) else "yes"
        yield Case(f"key_streq {left} {right}", left, {"same": "no" if no else "yes"}, {"same": same})
    for no, left, right in re.findall(
        r"assert_se\((!?)proc_cmdline_key_startswith\(\"(.*?)\", \"(.*?)\"", source
    ):
        begins = "yes" if canonical(left).startswith(canonical(right)) else "no"
        yield Case(
            f"key_startswith {left} {right}", left, {"begins": "no" if no else "yes"}, {"begins": begins}
        )


def _counters(source: str) -> Iterator[Case]:
    """Names of boot entries and what stays of them when the boot counter goes on."""
    for name, status, stripped in re.findall(r'tries_one\("(.*?)", (\S+), (\S+),', source):
        id, stays = f"extract_tries {name}", stripped.strip('"') if status == "0" else name
        if name.endswith(".conf"):
            ours = {"id": loader_entries.entry_id(f"/loader/entries/{name}")}
            yield Case(id, name, {"id": stays.removesuffix(".conf")}, ours)
        else:
            yield Case(id, name, None, None)


def _entry_lines(source: str) -> Iterator[Case]:
    """Keys and values as systemd-boot divides the lines of an entry."""
    body = source.partition("TEST(line_get_key_value)")[2].partition("\n}")[0]
    found = re.search(rf"char s2\[\] = ({literals.SEVERAL});", body)
    assert found
    text = literals.c(found[1])
    part = body.partition('s2, " \\t"')[2]
    pairs = re.findall(r'streq8\(key, "(.*?)"\)\);\s*assert_se\(streq8\(value, "(.*?)"\)', part)
    entry = loader_entries.parse("/boot/loader/entries/x.conf", text)
    for key, value in pairs:
        yield Case(f"line_get_key_value {key}", text, {key: value}, {key: entry.first.get(key)})


def _expansions(source: str) -> Iterator[Case]:
    """Expansion on its own, which no file shows."""
    for name in re.findall(r"^TEST\((\w*(?:replace|expand|env)\w*)\)", source, re.MULTILINE):
        yield Case(f"test-env-util {name}", "", None, None)


SUITE = Suite(
    "systemd",
    (
        "*/src/test/test-env-file.c",
        "*/src/test/test-env-util.c",
        "*/src/test/test-proc-cmdline.c",
        "*/src/test/test-bootspec.c",
        "*/src/boot/test-efi-string.c",
        "*/test/units/TEST-81-GENERATORS.environment-d-generator.sh",
    ),
    _cases,
)
