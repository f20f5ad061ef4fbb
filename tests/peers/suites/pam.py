"""Linux-PAM: the file of variables of pam_env's own test."""

from __future__ import annotations

import re
from pathlib import Path

from tests.peers import literals, reading
from tests.peers.judgement import Case
from tests.peers.suites.suite import Suite


def _cases(sources: Path) -> list[Case]:
    source = (sources / "modules/pam_env/tst-pam_env-retval.c").read_text()
    found = []
    for file, body in re.findall(
        r"fopen\((my_env|usr_env), \"w\"\)\);\s*ASSERT_LT\(0, fprintf\(fp,(.*?)\)\);", source, re.S
    ):
        text = literals.c(body)
        names = [line.partition("=")[0] for line in text.splitlines()]
        answer = reading.sourced("etc/environment", text, names)
        said = dict(line.partition("=")[::2] for line in re.findall(r'"(\w+=\w+)"[,}\s]', source))
        for name in names:
            found.append(Case(f"{file} {name}", text, {name: said.get(name)}, reading.only(answer, [name])))
    for name in re.findall(r'"(\w+)\\tDEFAULT=', source):  # of pam_env.conf, which rocmcfg does not read
        found.append(Case(f"my_conf {name}", "", None, None))
    return found


SUITE = Suite("pam", ("*/modules/pam_env/tst-pam_env-retval.c",), _cases)
