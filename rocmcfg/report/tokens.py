"""Secrets that are known by how they look or where they stand, without a key before them."""

from __future__ import annotations

import re

from rocmcfg.report.rule import WORD, Rule, rule

# What services put before their keys, so that scanners find them in what was published by mistake.
_BEGINNINGS = (
    r"(?:hf_|gh[oprsu]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-|xox[a-z](?:\.xox[a-z])?-|xapp-"
    r"|nvapi-|dckr_(?:pat|oat)_"
    r"|pypi-|npm_|gsk_|xai-|r8_|do[op]_v1_|shp(?:at|ca|pa|ss)_|whsec_|tskey-|lin_api_|sntry[su]_|gl(?:c"
    r"|sa)_|hv[sbr]\.|ntn_|figd_"
    r"|PMAK-|pat-na1-|pplx-|lsv2_[ps][kt]_|jina_|AGE-SECRET-KEY-|sq0(?:atp|csp)-|sk-ant-|sk-proj-|sk-or-"
    r"|[spr]k_(?:live|test)_)"
)
# The same, but words begin so too: what follows has to look like a key.
_BEGINNINGS_OF_WORDS = r"(?:(?:sk|pk|rk|rnd|tfp|fw|ls_|ops|secret|key|api|psk)[-_])"


def _random(text: str) -> bool:
    """Keys mix digits and letters, words do not; what holds separators alone is a word of many parts."""
    return any(c.isdigit() for c in text) and sum(c.isalpha() for c in text) > 3


def _credential(text: str) -> bool:
    return (
        _random(text) or (text.lower() != text and not text.isupper() and not text.istitle()) or "=" in text
    )


def _base64(text: str) -> bool:
    cases = (
        any(c.islower() for c in text) and any(c.isupper() for c in text) and any(c.isdigit() for c in text)
    )
    return cases and not text.startswith("/") and text.count("/") <= 2 + len(text) // 16


TOKENS: tuple[Rule, ...] = (
    rule(
        "secret",
        rf"(?<![A-Za-z0-9])(?P<x>{_BEGINNINGS}[A-Za-z0-9][A-Za-z0-9_.=-]{{9,}})",
        "- _ hv",
        "keys of services: OpenAI, Anthropic, Hugging Face, GitHub, GitLab, Slack, npm, PyPI, Stripe",
        lambda text: _random(text) or re.search(r"[-_.][A-Za-z0-9]{16,}", text) is not None,
        teaches=True,
    ),
    rule("secret", rf"(?<![A-Za-z0-9])(?P<x>{_BEGINNINGS}[\w.=-]+)(?=\u2026)", "\u2026", "the same, cut"),
    rule(
        "secret",
        rf"(?<![A-Za-z0-9])(?P<x>{_BEGINNINGS_OF_WORDS}[A-Za-z0-9][A-Za-z0-9_-]{{15,}})",
        "sk pk rk rnd tfp fw ls_ ops secret key api psk",
        "keys of other services",
        lambda text: re.search(r"[A-Za-z0-9]{16,}", text) is not None and _random(text),
        teaches=True,
    ),
    rule(
        "secret",
        r"(?<![A-Za-z0-9])(?P<x>(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[0-9A-Z]{16})(?![0-9A-Za-z])",
        "akia asia aroa aida abia acca",
        "AWS: the id of an access key or of who holds it",
        teaches=True,
    ),
    rule("secret", r"(?P<x>AIza[\w-]{20,})", "aiza", "Google: key of an API", teaches=True),
    rule(
        "secret",
        r"(?P<x>(?:ya29\.|GOCSPX-|1//0)[\w-]{16,})",
        "ya29 gocspx 1//0",
        "Google: OAuth",
        teaches=True,
    ),
    rule(
        "secret",
        r"(?i)hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<x>[\w/-]+)",
        "hooks.slack",
        "Slack: who has the address of a hook may post",
        teaches=True,
    ),
    rule(
        "secret",
        r"(?i)/api/(?:v\d+/)?webhooks/(?P<x>[\w/-]+)",
        "webhooks",
        "Discord: the same",
        teaches=True,
    ),
    rule(
        "secret",
        r"(?i)(?:webhook\.office\.com/webhookb2|office\.com/webhook|hc-ping\.com|ntfy\.sh"
        r"|hooks\.zapier\.com/hooks"
        r"|maker\.ifttt\.com/\w+/\w+/with/key|oapi\.dingtalk\.com/robot"
        r"|open\.feishu\.cn/open-apis/bot/v2/hook)/(?P<x>[^\s\"'<>]+)",
        "webhook hc-ping ntfy hooks ifttt dingtalk feishu",
        "other services whose address is the secret",
        teaches=True,
    ),
    rule(
        "secret",
        r"(?<!\d)(?P<x>\d{8,10}:[A-Za-z0-9_-]{30,})",
        ":",
        "Telegram: the token of a bot, in URLs as /botTOKEN/",
        teaches=True,
    ),
    rule(
        "secret",
        r"(?<![\w.-])(?P<x>[MNO][A-Za-z\d_-]{22,27}\.[\w-]{6}\.[\w-]{27,})",
        ".",
        "Discord: the token of a bot",
        teaches=True,
    ),
    rule(
        "secret",
        r"(?<![A-Za-z0-9])(?P<x>SG\.[\w-]{16,}\.[\w-]{16,}|(?:SK|AC)[0-9a-f]{32}|key-[0-9a-f]{32}"
        r"|dapi[0-9a-f]{32}"
        r"|ATATT3[\w=-]{16,}|[0-9a-f]{32}-us\d{1,2}|v1\.0-[0-9a-f]{16,}-[0-9a-f]{32,})",
        "sg. sk ac key- dapi atatt -us v1.0",
        "SendGrid, Twilio, Mailgun, Databricks, Atlassian, Mailchimp, Cloudflare",
        teaches=True,
    ),
    rule(
        "secret",
        r"(?<![A-Za-z0-9])(?P<x>eyJ[\w-]{8,}(?:\.[\w-]*){0,4})",
        "eyj",
        "JSON Web Token, also one that was cut",
        teaches=True,
    ),
    rule(
        "secret",
        r"(?i)(?<![\w-])(?:bearer|basic|negotiate|ntlm)[ \t]{1,4}(?P<x>[A-Za-z0-9._~+/=-]{8,})",
        "bearer basic negotiate ntlm",
        "HTTP: what follows the scheme (RFC 7235)",
        _credential,
        teaches=True,
    ),
    rule(
        "secret",
        rf"(?<![\w-])(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-\w+|sk-(?:ssh"
        rf"|ecdsa)[\w@.-]+)[ \t]+(?P<x>AAAA[A-Za-z0-9+/=]+"
        rf"(?:[ \t]+{WORD})?)",
        "ssh- ecdsa-",
        "OpenSSH: a public key names its owner on every host that trusts it; its comment does in words",
    ),
    rule(
        "fingerprint",
        r"(?<![A-Za-z0-9])(?:SHA256:(?P<x>[A-Za-z0-9+/]{43}=?)(?![A-Za-z0-9+/]))",
        "sha256:",
        "sshd, ssh-add: the fingerprint of a key; that of a container's image is hexadecimal",
    ),
    rule(
        "secret",
        r"(?P<x>\$(?:1|2[abxy]|5|6|7|y|gy|sha1|apr1|argon2[id]{1,2}|pbkdf2[\w-]*|scrypt)\$[./\w$=,+-]{8,})",
        "$",
        "crypt(5): the hash of a password",
    ),
    rule(
        "secret",
        r"(?<![A-Za-z0-9+/=])(?P<x>[A-Za-z0-9+/]{43}=)(?![A-Za-z0-9+/=])",
        "=",
        "WireGuard: a key",
        _base64,
    ),
    rule(
        "secret",
        r"(?<![^\s\"'=:>(\[,|])(?P<x>[A-Za-z0-9+/]{60,}={0,2})(?=$|[\s\"'\\\])},])",
        "",
        "a line of a private key whose first line is elsewhere; a session's state",
        _base64,
    ),
    rule(
        "secret",
        r"-----BEGIN [A-Z0-9 ]{0,40}-----(?P<x>[^-\n]+)",
        "-----begin",
        "PEM in one line, as JSON and variables hold it (RFC 7468)",
        lambda text: len(text.strip("\\nr \"'")) > 7,
    ),
    rule("secret", r"://(?P<x>[^\s/?#\"'<>]+)@", "@", "RFC 3986: user and password in a URL"),
)

BLOCK_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{1,40}-----\s*$")
BLOCK_ENDS = re.compile(r"-----END [A-Z0-9 ]{1,40}-----")
_BODY = re.compile(r"(?<![^\s\"'|>])[A-Za-z0-9+/]+={0,2}(?=[\"',\\rn]{0,4}$)")
_HEADER = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment): |(?:^|\s)$")


def key_blocks(lines: list[str]) -> dict[int, tuple[int, int]]:
    """Where in which lines the bodies of PEM blocks stand, also of those that begin or end elsewhere. Each
    line may have what a log puts before it."""
    bodies: dict[int, tuple[int, int]] = {}
    for number, line in enumerate(lines):
        if "-----" in line and BLOCK_BEGINS.search(line):
            _take(lines, range(number + 1, len(lines)), bodies)
        if "-----" in line and BLOCK_ENDS.search(line):
            _take(lines, range(number - 1, -1, -1), bodies)
    return bodies


def _take(lines: list[str], numbers: range, bodies: dict[int, tuple[int, int]]) -> None:
    """Takes bodies in the order of `numbers` until a line is none. Only the last one of a block is short."""
    for number in numbers:
        if number in bodies:
            return
        body = _BODY.search(lines[number].rstrip())
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if body is not None and (len(body[0]) >= 40 or "-----END" in after):
            bodies[number] = body.span()
        elif not _HEADER.search(lines[number]):
            return
