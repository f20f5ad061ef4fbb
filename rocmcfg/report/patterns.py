"""What tells who and where, as patterns. Each has a kind, which its placeholder names, and one named group:
that part goes, and what stands round it explains it. An earlier one keeps a later one from seeing a part.
"""

from __future__ import annotations

import re

# Names that many machines and accounts have. They tell nothing, and replacing them would garble the rest:
# a host called debian must not make "Debian" disappear.
TELLING_NOTHING = frozenset(
    """
    admin amd amdgpu arch archlinux centos computer debian desktop fedora gentoo gpu guest home host kernel
    laptop linux live localhost localdomain manjaro mint nixos none opensuse pc python python3 radeon rocm
    root rocky server suse system systemd test ubuntu user users worker workstation
    """.split()  # noqa: SIM905  # a list of words reads better than a column of quotes
)

_HEX = "[0-9A-Fa-f]"
_REST = r"[^\s\"',;|<>]+"  # of a word, up to what separates words in logs, files and tables
_NUMBER = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"

# What opens something: keys of services by their known beginnings, and whatever is called a secret.
_SECRETS = (
    r"\b(?P<secret>(?:sk|pk|rk|hf|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs]|nvapi|dckr_pat|pypi)[-_]"
    r"[A-Za-z0-9_-]{12,})",
    r"\b(?P<secret>(?:AKIA|ASIA)[0-9A-Z]{16})\b",
    r"\b(?P<secret>eyJ[\w-]{8,}\.[\w-]+\.[\w-]*)",
    r"(?i)\b(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/=-]{8,})",
    r"\bssh-(?:rsa|dss|ed25519)\s+(?P<secret>[A-Za-z0-9+/=]{16,})",
    rf"(?i)[\w-]*(?:api[_-]?key|access[_-]?key|secret|passw(?:or)?d|passphrase|credentials?)\w*\s*[=:]\s*[\"']?"
    rf"(?P<secret>(?!<){_REST})",
    # counts of tokens are what a log of training is full of
    r"(?i)[\w-]*token\s*[=:]\s*[\"']?(?P<secret>(?!<)[^\s\"',;|<>]{12,})",
    rf"(?i)(?<!\w)--?(?:password|passwd|pass|token|secret|api-key)\s+(?P<secret>(?!<){_REST})",
    r"://(?P<secret>[^\s/@]+)@",
)
_NUMBERS_OF_THINGS = (
    r"(?i)(?<![A-Za-z])(?:serial(?:[ _-]?(?:number|no\.?))?|asset[ _-]?tag|service[ _-]?tag|s/n)"
    rf"\s*[:=]\s*(?P<serial>{_REST})",
    r"(?i)(?<![A-Za-z])(?:serial(?: number| no\.?)?|s/n)\s+(?P<serial>(?=[\w-]*\d)[A-Za-z0-9-]{6,})",
    rf"(?i)\b(?:unique|hive|node guid)[ _]?(?:id)?\s*[:=]?\s*(?P<serial>(?:0x)?{_HEX}{{8,}})\b",
    rf"(?i)\b(?:wwn|eui|naa|nguid)[-.:= ]\s*(?P<serial>(?:0x)?{_HEX}{{8,}})",
)

RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, patterns in (
        (
            # In syslog and journal lines: "Nov 21 12:42:56 NAME kernel:", also with an ISO time.
            "host",
            (
                r"(?m)^(?:[A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*) "
                r"(?P<host>[\w.-]+)(?= [\w./-]+(?:\[\d+\])?:)",
            ),
        ),
        ("secret", _SECRETS),
        ("mail", (r"(?P<mail>\b[A-Za-z_][\w.+-]*@[A-Za-z][\w-]*(?:\.[\w-]+)*)",)),
        (
            "uuid",
            (
                rf"(?P<uuid>\b{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}\b)",
                # Of FAT (1234-ABCD), of an MBR partition (12345678-01), or what else follows the word.
                rf"\b(?:PART)?UUID=(?P<uuid>{_REST})",
            ),
        ),
        ("label", (rf"\b(?:PART)?LABEL=(?P<label>{_REST})",)),
        ("gpu-id", (rf"\bGPU-(?P<gpu_id>{_HEX}{{16}})\b",)),
        ("id", (rf"(?P<id>\b{_HEX}{{32}}\b)",)),
        ("disk", (rf"/dev/disk/by-(?:id|label|uuid|partuuid|partlabel|path)/(?P<disk>{_REST})",)),
        ("volume", (r"/dev/mapper/(?P<volume>[^\s\"',/;|<>]+)",)),
        ("network", (r"(?i)\bssid[ =:]+[\"']?(?P<network>(?!<)[^\s\"',;]+)",)),
        ("mac", (rf"(?P<mac>(?<![\w:])(?:{_HEX}{{2}}[:-]){{5}}{_HEX}{{2}}(?![\w:]))",)),
        (
            "ip",
            (
                rf"(?P<ip>(?<![\w:])(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}(?![\w:]))",
                rf"(?P<ip>(?<![\w:])(?:fe80|f[cd]{_HEX}{{2}}|2{_HEX}{{3}}):[0-9A-Fa-f:]*::?{_HEX}{{1,4}}"
                r"(?![\w:]))",
                rf"(?P<ip>(?<![\w.])(?:{_NUMBER}\.){{3}}{_NUMBER}(?![\w.]))",
            ),
        ),
        ("serial", _NUMBERS_OF_THINGS),
        (
            "user",
            (
                r"/(?:home|Users)/(?P<user>[^\s/\"':;,|<>]+)",
                r"(?i)[A-Z]:\\Users\\(?P<user>[^\s\\\"':;,|<>]+)",
                r"(?i)\b(?:user|logname|sudo_user)\s*[:=]\s*(?P<user>[\w.-]+)",
            ),
        ),
    )
    for pattern in patterns
)
# Four numbers behind one of these words are a version and no address.
VERSION_BEFORE = re.compile(r"(?i)(?:version|driver|release|firmware|rocm|amdgpu|bios|\bv)\W{0,3}$")
