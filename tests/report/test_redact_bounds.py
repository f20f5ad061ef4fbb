"""Redaction takes time linear in the text: four times as much of it takes about four times as long."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from operator import mul
from typing import Any

import pytest

from rocmcfg.advice.report.redact import Names, Redactor
from rocmcfg.advice.report.rules import Rule, rules
from tests.support.growth import AT_MOST, growth

pytestmark = pytest.mark.slow

# Where a text takes less, its growth is noise. What is quadratic takes a sixteenth of the time for a quarter
# of the text: whoever makes the texts shorter lowers this by the square.
MEASURABLE = 0.05


def seconds(text: str) -> float:
    redact = Redactor(["tower7.example.org"], ["mallory"])
    start = time.process_time()
    redact.learn(text)
    redact(text)
    return time.process_time() - start


def grown(made: Callable[[int], str], size: int, spent: Callable[[str], float] = seconds) -> float:
    return growth(lambda n: spent(made(n)), size, MEASURABLE)


CHARACTERS = "aA0_-./:@=~\\\"'([{<%$ +,;&#\t\x1b\0é"
PIECES = (
    'a.', 'a-', '0:', '00:', '00_', '1.', '1:', '::', '-A', 'A0', '%2', '\\x2d', '\x1b[', '\x1b]', 'a@',
    '@a.', '@.', '~a', 'password', 'password ', 'password=', "'password': ", '"password": "', 'password: {',
    'api_key=[', 'api_key=(', 'token,', 'auth="{', 'user=', 'user:', '--a ', '--password ', '<a',
    '<password>', '$(', 'pass:$(', "key='a,", 'key=a,b', 'k,a=', 'mysql ', 'mysql -', 'docker login ',
    'ssh -a ', 'login a password ', 'sudo -u ', 'chown -a ', 'Bearer ', '-----BEGIN A-----',
    '-----BEGIN A-----\n', '-----END A-----\n', '\n', '\r',
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n',
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA ', '://', '://a', 'http://a', 'A a',
    'A A ', "input: A's ", 'op="connection name=', "connection '", 'ssid ', "ssid='", 'user ', 'by (',
    'from a port ', 'to a ', 'by a', '/home/', '/home/a', '/media/a/', '\\Users\\', 'C:\\Users\\',
    'nvme-a_', 'nvme ssd A0', 'serial ', 'serial:', 'unique ', 'imei ', 'eyJa', 'hf_a', 'sk-a', 'SG.a.',
    '$6$a', 'ssh-rsa AAAA', 'SHA256:', 'Nov 21 12:42:56 ', 'volume group a ', 'dev-disk-by\\x2did-',
    '/dev/a/', 'rd.luks.name=a', '=>', ' =', '= ', '\\"', '\\\\', "\\'", '%22', '&quot;', "(b'",
    'a@b.service', '<user-1>', '…', 'a…', 'A_TOKEN ', 'secret ', "secret 'a", 'setenv ', '<add value="',
    '{"value": "', '<value>a', 'password for ', 'token is ', 'echo a ', 'echo a|', 'sudo -S ', '<<< ',
    'htpasswd -b ', 'net user ', 'user.name ', 'a login: ', 'A a tty', 'USER PID\n', 'USER PID\n1 1\n',
    'chown a:', 'AP "', 'iSerial 3 ', 'name: a\nvalue: ', 'value: ', '<key>a</key>\n<string>',
    'name = a\nemail = ', 'password is ', 'password is a', '*** JOB 1 ON ', '{"value":null,',
)  # fmt: skip


# Words that make the line one which most rules look at.
BEFORE = "password amdgpu nvme ssid user serial connect cifs @ '"


@pytest.mark.parametrize("piece", [*CHARACTERS, *PIECES])
def test_no_repetition_takes_more_than_its_length(piece: str) -> None:
    assert grown(lambda n: f"{BEFORE}{piece * n}@!", 6_000 // len(piece) + 1) <= AT_MOST


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.holes[0][0])
def test_bait_made_of_what_a_rule_looks_for_takes_no_more_than_its_length(rule: Rule) -> None:
    """Its own words, again and again: what lets it begin at every place."""

    def spent(text: str) -> float:
        start = time.process_time()
        rule.pattern.sub("x", text)
        return time.process_time() - start

    for word in (*own_words(rule), *rule.near, "a"):
        for bait in (word, f"{word} ", f"{word}=", f"{word}: a", f"-{word} /", f"{word}-a ", f"{word}a."):
            assert grown(partial(mul, bait), 5_000 // len(bait), spent) <= AT_MOST, bait


def own_words(rule: Rule) -> list[str]:
    """The literal words of its pattern, a dozen of them where it has many."""
    literal = re.sub(r"\\.|\(\?[a-z]+\)|\?P<\w+>|\[[^\]]*\]", " ", rule.pattern.pattern)
    words = sorted(set(re.findall("[A-Za-z]{2,}", literal)))
    return words[:: 1 + len(words) // 12]


@pytest.mark.parametrize(
    "made",
    [
        lambda n: " ".join(("abcdefghij0123456789" * 200)[:4000] for _ in range(n // 100)),
        lambda n: "\n".join(f"usb 1-2: SerialNumber: 0A1B{n:08d}" for n in range(n)),
        lambda n: "\n".join(f"Nov 21 12:42:56 node{n:06d} kernel: /home/u{n:06d}x/a" for n in range(n)),
        lambda n: "\n".join(f"password=abc{n:08d}" for n in range(n)),
        lambda n: "\n".join(f"ssid='my home network {n}'" for n in range(n)),
        lambda n: "x" * (40 * n),
        lambda n: "amdgpu: ring gfx_0.0.0 timeout " * n,
    ],
    ids=[
        "long words",
        "serials",
        "hosts and accounts",
        "secrets",
        "names of many words",
        "one line",
        "one line of words",
    ],
)
def test_a_log_of_many_names_takes_no_more_than_its_length(made: Callable[[int], str]) -> None:
    assert grown(made, 750) <= AT_MOST


def test_a_name_is_looked_for_by_its_words_and_not_one_by_one() -> None:
    """Counted: a thousand names more cost no look more."""

    class Counting(dict[str, str]):
        looks = 0

        def get(self, key: str, default: Any = None) -> Any:
            Counting.looks += 1
            return super().get(key, default)

    looks = []
    for names in (10, 1000):
        known = Names()
        for number in range(names):
            known.add(f"node{number}", "host")
        known._kinds = Counting(known._kinds)
        Counting.looks = 0
        assert len(list(known.places("amdgpu ring timeout on node3 and no more " * 50))) == 50
        looks.append(Counting.looks)
    assert looks[0] == looks[1]
