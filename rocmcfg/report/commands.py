"""Secrets and names in what people type and write: arguments of commands, sentences about a password."""

from __future__ import annotations

from rocmcfg.report.rule import NAME, Rule, rule
from rocmcfg.report.words import NO_VALUE, ORDINARY, is_telling_word

_ARGUMENT = r"(?:\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[^\s;&|\"'<>]+)"
# where a command begins: behind a prompt, in quotes, after another one
_COMMAND = r"(?:(?<![^;&|(\"'`$#>:])[ \t]?|(?<=[$#>:;&|] ))"
# what reads a password from its standard input
_READS = (
    r"(?:sudo[ \t](?:-\S+[ \t]){0,4}(?:-[A-Za-z]*S|--stdin)(?![\w-])"
    r"|(?:sudo[ \t](?:-\S+[ \t]){0,4})?(?:chpasswd|passwd[ \t]|smbpasswd|cryptsetup|su[ \t]|gpg[ \t]|kinit"
    r"|openssl[ \t]|[^|\n]{0,80}?--(?:password|token|passphrase)-?(?:stdin|fd|from-stdin)))"
)


def _mixed(text: str) -> bool:
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def _said(text: str) -> bool:
    """In a sentence, any word may stand behind `is`; a quoted one, or one with digits, is no part of it."""
    bare = text.strip("\"'`")
    return bare.lower() not in NO_VALUE and (_mixed(bare) or bare != text)


def _given(text: str) -> bool:
    bare = text.strip("\"'").lower()
    return bool(bare) and not text.startswith(("/", "*", "$", "-")) and bare not in NO_VALUE | ORDINARY


COMMANDS: tuple[Rule, ...] = (
    rule(
        "secret",
        r"(?i)(?<!\w)(?:password|passphrase|passcode|passwort|kennwort|(?:api|access|license|secret)[ _-]?key"
        r"|token|secret)"
        r"(?: (?:for|of|to|on)(?: [^\s:]{1,64}){1,4}?)? (?:is|was)(?: (?:set|changed|now) to| now)?:? "
        r"(?P<x>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[^\s\"'<>][^\s\"']*)",
        "passw passphrase passcode kennwort key token secret",
        "what people write",
        _said,
    ),
    rule(
        "secret",
        r"(?i)(?<![\w-])(?:pin|puk|(?:one[- ]time|verification|security|pairing|confirmation|2fa)"
        r"[- ](?:code|pin))(?:[- ]?(?:code|number))?"
        r"(?: is| was)?(?:[ \t]?[:=][ \t]?|[ \t])[\"']?(?P<x>\d{4,10})(?![\w.])",
        "pin puk code",
        "numbers that unlock something; pins of a chip have fewer digits",
        lambda text: text not in ("1024", "2048", "4096"),
    ),
    rule(
        "secret",
        r"(?<![\w-])(?:login|authtoken|add-authtoken)[ \t]+(?:-\S+[ \t]+){0,6}(?P<x>[A-Za-z0-9][\w.-]{19,})"
        r"(?=$|[\s\"';|&])",
        "login authtoken",
        "wandb login KEY, ngrok authtoken KEY",
        _mixed,
        teaches=True,
    ),
    rule(
        "secret",
        rf"(?<![\w-])(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+)?(?:['\"]%s(?:\\n)?['\"][ \t]+)?"
        rf"(?P<x>[^|\n]{{1,200}}?)"
        rf"[ \t]{{0,8}}\|[ \t]{{0,8}}{_READS}",
        "echo printf",
        "echo PASSWORD | sudo -S",
    ),
    rule(
        "secret",
        rf"{_READS}[^|\n]{{0,80}}?<<<[ \t]{{0,8}}(?P<x>{_ARGUMENT})",
        "<<<",
        "sudo -S <<< PASSWORD",
    ),
    rule(
        "secret",
        rf"(?<![\w-])htpasswd[ \t]+(?:-\S+[ \t]+){{0,4}}-[A-Za-z]*b[A-Za-z]*[ \t]+"
        rf"(?:-\S+[ \t]+){{0,4}}(?:{_ARGUMENT}[ \t]+){{1,2}}"
        rf"(?P<x>{_ARGUMENT})",
        "htpasswd",
        "htpasswd -b FILE NAME PASSWORD, htpasswd -nb NAME PASSWORD",
    ),
    rule(
        "user",
        rf"(?<![\w-])htpasswd[ \t]+(?:-\S+[ \t]+){{1,8}}(?:{_ARGUMENT}[ \t]+)?(?P<x>{NAME})"
        rf"(?=[ \t]+(?:{_ARGUMENT}[ \t]*)?(?:$|[;&|>]))",
        "htpasswd",
        "the name beside it",
        is_telling_word,
    ),
    rule(
        "secret",
        rf"(?i){_COMMAND}net1?(?:\.exe)?[ \t]+user[ \t]+{_ARGUMENT}[ \t]+(?P<x>{_ARGUMENT})"
        rf"(?=[ \t]*(?:$|[/;&|]))",
        "net",
        "Windows, samba: net user NAME PASSWORD",
        _given,
    ),
    rule(
        "user",
        rf"(?i){_COMMAND}net1?(?:\.exe)?[ \t]+user[ \t]+(?P<x>{NAME})(?=[ \t]+\S+[ \t]*(?:$|[/;&|]))",
        "net",
        "the name beside it",
        is_telling_word,
    ),
    rule(
        "secret",
        rf"(?<![\w-])(?:redis-cli[ \t](?:[^\n|;]{{0,200}}?[ \t])?-a|ldap\w+[ \t](?:[^\n|;]{{0,200}}?[ \t])?-w"
        rf"|zip[ \t](?:[^\n|;]{{0,200}}?[ \t])?-P|(?:useradd|usermod)[ \t](?:[^\n|;]{{0,200}}?[ \t])?-p"
        rf"|ipmitool[ \t](?:[^\n|;]{{0,200}}?[ \t])?-P)"
        rf"[ \t]+(?P<x>{_ARGUMENT})",
        "redis-cli ldap zip useradd usermod ipmitool",
        "options of one letter that take a password",
    ),
    rule(
        "secret",
        rf"(?<![\w-])(?:7z[ar]?|rar|unrar)[ \t](?:[^\n|;]{{0,200}}?[ \t])?-p(?P<x>{_ARGUMENT})",
        "7z rar",
        "7z -pPASSWORD",
    ),
    rule(
        "secret",
        rf"(?<![\w-])-pass(?:in|out)?[ \t]+pass:(?P<x>{_ARGUMENT})",
        "pass:",
        "openssl -passin pass:PASSWORD",
    ),
    rule(
        "name",
        r"(?<![\w-])(?:user|author|committer)\.name(?:[ \t]*=[ \t]*|[ \t]+)[\"']?"
        r"(?P<x>[^\s\"'=;|&][^\"'\n;|&]{0,80})",
        ".name",
        "git config user.name, also as it is listed",
        lambda text: is_telling_word(text.strip()),
        teaches=True,
    ),
    rule(
        "user",
        r"(?i)otpauth://\w{1,8}/(?P<x>[^?\s\"'<>]+)",
        "otpauth",
        "the account of a second factor",
    ),
    rule(
        "secret",
        r"(?i)(?:^|[\s'\"])mysql\w*[ \t](?:[^\n|;]{0,200}?[ \t])?-p(?P<x>[^\s\"']+)",
        "mysql",
        "mysql -pPASSWORD",
    ),
    rule(
        "secret", r"(?<![\w-])sshpass[ \t]+-p[ \t]*[\"']?(?P<x>[^\s\"']+)", "sshpass", "sshpass -p PASSWORD"
    ),
    rule(
        "secret",
        r"(?<![\w-])(?:-u|--user|--proxy-user|-U)[ \t=]?[\"']?[^\s\"':/]{1,128}:(?P<x>[^\s\"']+)",
        "-u",
        "curl -u, wget: USER:PASSWORD",
        lambda text: not text.isdigit(),
    ),
    rule(
        "user",
        rf"(?<![\w-])(?:-u|--user|--proxy-user|-U)[ \t=]?[\"']?(?P<x>{NAME})(?=:[^\s\d])",
        "-u",
        "the name beside it",
        teaches=True,
    ),
    rule(
        "secret",
        r"(?<![\w-])login[ \t]+[^\s]+[ \t]+password[ \t]+(?P<x>\S+)",
        "password",
        ".netrc: machine HOST login NAME password PASSWORD",
        teaches=True,
    ),
    rule(
        "user",
        r"(?<![\w-])login[ \t]+(?P<x>[^\s]+)(?=[ \t]+password[ \t])",
        "password",
        ".netrc",
        teaches=True,
    ),
)
