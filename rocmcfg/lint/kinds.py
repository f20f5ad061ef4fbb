"""Which kind of file a text is: by its path, else by its name, else by what stands in it."""

from __future__ import annotations

import re
from enum import Enum
from os.path import basename


class Kind(str, Enum):
    GRUB_DEFAULTS = "grub defaults"
    GRUB_CFG = "grub.cfg"
    BOOT_ENTRY = "boot entry"
    CMDLINE = "kernel command line"
    MODPROBE = "modprobe.d"
    ENVIRONMENT = "environment file"
    DOCKER_ENV = "docker --env-file"
    PROFILE = "shell profile"
    SHELL = "shell script"
    UNIT = "systemd unit"
    DOCKERFILE = "Dockerfile"
    YAML = "YAML"
    PYTHON = "Python"
    NOTEBOOK = "notebook"
    MARKDOWN = "document"


_PATHS = (
    (Kind.GRUB_DEFAULTS, r"default/grub(?:\.d/[^/]+|\.[\w-]+)?$|default/(?:limine|grub-btrfs/config)$"),
    (Kind.BOOT_ENTRY, r"loader/entries/[^/]+\.conf$"),
    (Kind.CMDLINE, r"(?:^|/)proc/(?:\d+/)?cmdline$|kernel/cmdline(?:\.d/[^/]+)?$|(?:^|/)cmdline\.d/[^/]+$"),
    (Kind.MODPROBE, r"(?:^|/)modprobe\.d/[^/]+$"),
    (
        Kind.ENVIRONMENT,
        r"(?:^|/)environment\.d/[^/]+$|(?:^|/)etc/environment$|proc/\d+/environ$",
    ),
    (Kind.DOCKER_ENV, r"rocmcfg/env$|(?:^|/)env\.list$|(?:^|/)docker[\w.-]*\.env$"),
    (Kind.PROFILE, r"(?:^|/)profile\.d/[^/]+\.sh$|(?:^|/)etc/(?:profile|bash\.bashrc|zsh/\w+)$"),
    (Kind.UNIT, r"(?:^|/)systemd/.*\.(?:conf|service|socket|timer)$|\.service\.d/[^/]+\.conf$"),
)
_NAMES = (
    (Kind.GRUB_CFG, r"grub\.cfg(?:\.\w+)?$"),
    (Kind.GRUB_DEFAULTS, r"grub$|sdboot-manage\.conf$"),
    (Kind.BOOT_ENTRY, r"refind(?:_linux)?\.conf$"),
    (Kind.CMDLINE, r"cmdline(?:\.txt)?$"),
    (Kind.MODPROBE, r"modprobe\.conf$"),
    (Kind.ENVIRONMENT, r"environment$|\.?env$|.*\.env$|\.env\..+$|envfile$|environ$"),
    (
        Kind.PROFILE,
        r"\.?(?:bash|zsh|k|x)?_?(?:profile|login)$|\.(?:bash|zsh|ksh|mksh)rc$|\.zshenv$|\.xinitrc$",
    ),
    (Kind.SHELL, r".*\.(?:sh|bash|zsh|ksh|dash|fish|csh|tcsh|command)$"),
    (Kind.DOCKERFILE, r"(?:Docker|Container)file(?:\..+)?$|.*\.(?:docker|container)file$"),
    (Kind.YAML, r".*\.ya?ml$"),
    (Kind.UNIT, r".*\.(?:service|socket|timer)$"),
    (Kind.NOTEBOOK, r".*\.ipynb$"),
    (Kind.PYTHON, r".*\.pyi?$|.*\.pyw$"),
    (Kind.MARKDOWN, r".*\.(?:md|markdown|mdx|rst|txt|adoc|html?|org|tex)$"),
)
# All that modprobe.d(5) names.
DIRECTIVES = frozenset({"alias", "blacklist", "config", "install", "options", "remove", "softdep", "weakdep"})
# For a text whose path tells nothing: its kind is the first one whose patterns all match.
_CONTENTS = (
    (Kind.MARKDOWN, r"^[ \t>]*(?:```|~~~)|\]\(http|^\|.*\|[ \t]*\r?$"),
    (Kind.GRUB_CFG, r"^[ \t]*menuentry[ \t]"),
    (Kind.GRUB_DEFAULTS, r"^#?[ \t]*GRUB_\w+="),
    (Kind.BOOT_ENTRY, r"^(?:linux|initrd|efi)[ \t]+\S", r"^options[ \t]"),
    (Kind.DOCKERFILE, r"^FROM[ \t]+\S", r"^(?:RUN|ENV|CMD|COPY|ENTRYPOINT)[ \t]"),
    (Kind.UNIT, r"^\[(?:Service|Unit|Manager|Container)\][ \t]*\r?$"),
    (Kind.PYTHON, r"^(?:import|from) \w+|^os\.environ\b", "environ"),
    (Kind.NOTEBOOK, r"\A\s*\{", '"cells"', '"cell_type"'),
)
_BY_PATH = tuple((kind, re.compile(pattern)) for kind, pattern in _PATHS)
_BY_NAME = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _NAMES)

_SHEBANG = re.compile(r"#!.*?\b(python|(?:ba|z|k|da|mk|fi|c|tc)?sh|env\s+-S)\b")
_LOOKED_AT = 64 << 10  # characters; a file says what it is at its beginning
_SHELL_WORDS = re.compile(r"^[ \t]*(?:export|sudo|set -|if \[|for \w+ in|source|alias|fi$|done$|esac$)", re.M)
# What compose files, Kubernetes, workflows and playbooks begin with, at the margin.
_YAML_KEY = re.compile(
    r"^(?:services|apiVersion|kind|version|jobs|env|environment|spec|x-[\w-]+|-[ \t]+(?:hosts|name)):", re.M
)
_YAML_LINE = re.compile(r"---|[ \t]*(?:-[ \t]+\S|[\w.\"'/$-]+:(?:[ \t]|\r?$))")
_BLANK_OR_COMMENT = re.compile(r"^[ \t]*(?:[#;].*)?$")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=\S*[ \t]*$|^[A-Za-z_]\w*=([\"']).*\1[ \t]*$")
_ARGUMENT = re.compile(r"[\w.-]+=")
_OF_A_MODULE = re.compile(r"[\w-]+\.[\w-]+=")
_BOOT_WORDS = re.compile(r"(?:^|\s)(?:BOOT_IMAGE=|root=\S|ro|rw|quiet|splash|initrd=)(?:\s|\S*\s|$)")


def of(path: str, text: str) -> Kind:
    """A text whose kind nothing tells is read as a document."""
    return by_path(path) or by_content(text) or Kind.MARKDOWN


def by_path(path: str) -> Kind | None:
    for kind, pattern in _BY_PATH:
        if pattern.search(path):
            return kind
    name = basename(path)
    return next((kind for kind, pattern in _BY_NAME if pattern.match(name)), None)


def by_content(text: str) -> Kind | None:
    head = text[:_LOOKED_AT]
    if shebang := _SHEBANG.match(head):
        return Kind.PYTHON if shebang[1] == "python" else Kind.SHELL
    for kind, *patterns in _CONTENTS:
        if all(re.search(pattern, head, re.M) for pattern in patterns):
            return kind
    if _YAML_KEY.search(head) and _is_yaml(head):
        return Kind.YAML
    return _by_lines(head)


def _is_yaml(head: str) -> bool:
    """Most lines are keys or items; what is left may be a text that one of them holds."""
    said = _telling(head.split("\n")[:200])
    return sum(bool(_YAML_LINE.match(line)) for line in said) >= 0.8 * len(said)


def _telling(lines: list[str]) -> list[str]:
    """Those that are neither blank nor a comment."""
    return [line.rstrip("\r") for line in lines if not _BLANK_OR_COMMENT.match(line.rstrip("\r"))]


def _by_lines(head: str) -> Kind | None:
    said = _telling(head.split("\n"))
    if not said:
        return None
    first = [line.split(None, 1)[0] for line in said if line.strip()]
    if all(word in DIRECTIVES for word in first):
        return Kind.MODPROBE
    if all(_ASSIGNMENT.match(line) for line in said):
        return Kind.ENVIRONMENT
    if _SHELL_WORDS.search(head):
        return Kind.SHELL
    if len(said) == 1 and "=" in said[0] and (_BOOT_WORDS.search(said[0]) or _is_pasted(said[0])):
        return Kind.CMDLINE
    return None


def _is_pasted(line: str) -> bool:
    """Nothing but NAME=VALUE, one of them a module's: what goes into a boot menu."""
    words = line.split()
    return all(_ARGUMENT.match(word) for word in words) and any(_OF_A_MODULE.match(word) for word in words)
