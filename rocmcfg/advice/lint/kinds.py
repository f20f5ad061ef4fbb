"""Determine the kind of file that a text is: by its path, else by its name, else by its content."""

from __future__ import annotations

import re
from enum import Enum

from rocmcfg.judging.names import nearest
from rocmcfg.model.regex import regex


class FileKind(str, Enum):
    GRUB_DEFAULTS = "grub defaults"
    GRUB_CFG = "grub.cfg"
    BOOT_ENTRY = "boot entry"
    REFIND = "menu of rEFInd"
    CMDLINE = "kernel command line"
    MODPROBE = "modprobe.d"
    ENVIRONMENT = "environment file"
    ENVIRONMENT_D = "environment.d"
    PAM_ENVIRONMENT = "/etc/environment"
    DOCKER_ENV = "docker --env-file"
    PROFILE = "shell profile"
    FISH = "configuration of fish"
    SHELL = "shell script"
    UNIT = "systemd unit"
    TUNED = "TuneD profile"
    DOCKERFILE = "Dockerfile"
    YAML = "YAML"
    PYTHON = "Python"
    MARKDOWN = "document"
    OTHER = "file of another format"


BOOT_ENTRIES = frozenset({FileKind.BOOT_ENTRY, FileKind.REFIND})
# The paths of texts for people, among them names without an ending. Other endings belong to a program.
_FOR_PEOPLE = regex(r"(?:^|/)[^/.]*$|(?:^|/)(?:README|CHANGELOG|NOTES)\b[^/]*$|\.(?:log|out|err|dmesg|\d+)$")
PASTED = "pasted text"  # in place of a path

# The first kind whose pattern matches the path counts; case is ignored.
_PATHS = (
    (FileKind.GRUB_DEFAULTS, r"default/grub(?:\.d/[^/]+|\.[\w-]+)?$|default/(?:limine|grub-btrfs/config)$"),
    (FileKind.MODPROBE, r"/modprobe\.d/[^/]+$|/modprobe\.conf$"),
    (FileKind.TUNED, r"/tuned\.conf$"),
    (FileKind.GRUB_CFG, r"/grub\.cfg(?:\.\w+)?$"),
    (FileKind.GRUB_DEFAULTS, r"/(?:grub|sdboot-manage\.conf(?:\.d/[^/]+)?)$"),
    (FileKind.CMDLINE, r"/proc/(?:\d+/)?cmdline$|kernel/cmdline$|/cmdline\.d/[^/]+$|/cmdline(?:\.txt)?$"),
    (FileKind.BOOT_ENTRY, r"loader/entries/[^/]+\.conf$|/limine\.conf$"),
    (FileKind.REFIND, r"/refind(?:_linux)?\.conf$"),
    (FileKind.DOCKER_ENV, r"rocmcfg/env$|/env\.list$|/docker[\w.-]*\.env$"),
    (FileKind.ENVIRONMENT_D, r"/environment\.d/[^/]+$"),
    (FileKind.PAM_ENVIRONMENT, r"/environment$"),
    (FileKind.ENVIRONMENT, r"/(?:\.?env|envfile|environ|[^/]*\.env|\.env\..+)$"),
    (FileKind.PROFILE, r"/profile\.d/[^/]+\.sh$|/etc/(?:bash\.bashrc|zsh/\w+)$|/\.(?:xinitrc|zshenv)$"),
    (FileKind.PROFILE, r"/\.?(?:bash|zsh|k|x)?_?(?:profile|login)$|/\.(?:bash|zsh|ksh|mksh)rc$"),
    (FileKind.FISH, r"/fish/(?:(?:vendor_)?conf\.d/[^/]+|config)\.fish$"),
    (FileKind.SHELL, r"\.(?:sh|bash|zsh|ksh|dash|fish|csh|tcsh|command)$"),
    (FileKind.DOCKERFILE, r"/(?:Docker|Container)file(?:\.[^/]+)?$|\.(?:docker|container)file$"),
    (FileKind.YAML, r"\.(?:ya?ml|sls|bu|tpl)$|/user-data$"),
    (
        FileKind.UNIT,
        r"\.(?:service|socket|timer|container|pod|kube)$|/systemd/.*\.conf$|\.service\.d/[^/]+\.conf$",
    ),
    (FileKind.PYTHON, r"\.py[iw]?$"),
    (FileKind.MARKDOWN, r"\.(?:md|markdown|mdx|rst|txt|adoc|html?|org|tex)$"),
    (
        FileKind.OTHER,
        r"\.(?:nix|toml|json[5c]?|tf|tfvars|hcl|pp|lua|xml|ini|sls|rb|[jt]sx?|rs|go|scm|cue|dhall)$",
    ),
    (FileKind.OTHER, r"\.(?:jsonnet|properties|gradle|cmake|mk|bicep|plist|ign|bat|cmd|ps1)$"),
    (FileKind.OTHER, r"/(?:\w*Makefile|\.?justfile|Vagrantfile|Rakefile|Gemfile|Jenkinsfile)$"),
)
# All directives of modprobe.d(5).
DIRECTIVES = frozenset({"alias", "blacklist", "config", "install", "options", "remove", "softdep", "weakdep"})
# For a text whose path does not show its kind: it is the first one whose patterns all match.
_CONTENTS = (
    (FileKind.MARKDOWN, r"^[ \t>]*(?:```|~~~)|\]\(http|^\|.*\|[ \t]*\r?$"),
    (FileKind.GRUB_CFG, r"^[ \t]*menuentry[ \t]"),
    (FileKind.GRUB_DEFAULTS, r"^#?[ \t]*(?:export[ \t]+)?GRUB_\w+[ \t]*="),
    (FileKind.BOOT_ENTRY, r"^(?:linux|initrd|efi)[ \t]+\S", r"^options[ \t]"),
    (FileKind.DOCKERFILE, r"^FROM[ \t]+\S", r"^(?:RUN|ENV|CMD|COPY|ENTRYPOINT)[ \t]"),
    (FileKind.TUNED, r"^\[bootloader\][ \t]*\r?$", r"^cmdline\w*[ \t]*="),
    (FileKind.TUNED, r"^\[modules\][ \t]*\r?$", r"^[a-z][\w-]*[ \t]*=[^=\n]*="),
    (FileKind.UNIT, r"^\[(?:Service|Unit|Manager|Container)\][ \t]*\r?$"),
    (FileKind.PYTHON, r"^(?:import|from) \w+|^os\.environ\b", "environ"),
    (FileKind.YAML, r"^apiVersion:[ \t]", r"^kind:[ \t]"),
    # a schematic or a configuration of Talos, a gadget of Ubuntu Core
    (
        FileKind.YAML,
        r"^(?:customization|machine|kernel-cmdline):[ \t]*\r?$",
        r"^[ \t]+(?:extraKernelArgs|install|kernel|env|append):",
    ),
    (FileKind.YAML, r"\A(?:---\s+)?#cloud-config\b"),
)
_SHEBANG = regex(r"#!.*?\b(python|(?:ba|z|k|da|mk|fi|c|tc)?sh|env\s+-S)\b")
_LOOKED_AT = 64 << 10  # characters; the beginning of a file shows its kind
_SHELL_WORDS = regex(r"^[ \t]*(?:export|sudo|set -|if \[|for \w+ in|source|alias|fi$|done$|esac$)", re.M)
_BLANK_OR_COMMENT = regex(r"^[ \t]*(?:[#;].*)?$")
_ASSIGNMENT = regex(r"^[A-Za-z_]\w*=\S*[ \t]*$|^[A-Za-z_]\w*=([\"']).*\1[ \t]*$")
_SETS = regex(r"[ \t]*(?:export[ \t]+)?[A-Za-z_]\w*=|[ \t]*options[ \t]")
_MODULE_LINE = regex(r"\s*\w+\s+[\w-]+(?:\s+[\w-]+=\S*)+\s*")
_BARE = regex(r"[a-z][\w.-]*(?:=\S*)?|[A-Z]\w*=\S*")
# Only NAME=VALUE, one of them a module parameter: arguments for a boot menu.
_PASTED = regex(r"(?=(?:.*\s)?[\w-]+\.[\w-]+=)\s*[\w.-]+=\S*(?:\s+[\w.-]+=\S*)*\s*")
_INSIDE_QUOTES = regex(r"\b[A-Z][A-Z_]+=[\"'][^\"'\n]* ")  # a sentence that quotes an assignment
BOOT_WORDS = regex(r"(?:^|\s)(?:BOOT_IMAGE=|root=\S|ro|rw|quiet|splash|initrd=)(?:\s|\S*\s|$)")


def of(path: str, text: str) -> FileKind:
    """Return the kind of a text. A text of unknown kind is read as a document, unless it is a single line or
    all its lines set something: such a text was pasted, whatever the file is called."""
    kind, lines = by_path(path), _telling(text[:_LOOKED_AT].split("\n"))
    for_people = kind is FileKind.MARKDOWN or _FOR_PEOPLE.search(path) is not None
    if kind is FileKind.MARKDOWN and (len(lines) == 1 or all(map(_SETS.match, lines))):
        kind = None
    kind = kind or by_content(text) or (FileKind.MARKDOWN if for_people else FileKind.OTHER)
    pasted = kind is FileKind.MARKDOWN and path == PASTED and all(map(_BARE.fullmatch, text.split()))
    return FileKind.CMDLINE if pasted else kind


def by_path(path: str) -> FileKind | None:
    return next((kind for kind, pattern in _PATHS if re.search(pattern, f"/{path}", re.IGNORECASE)), None)


def by_content(text: str) -> FileKind | None:
    head = text[:_LOOKED_AT]
    if shebang := _SHEBANG.match(head):
        return FileKind.PYTHON if shebang[1] == "python" else FileKind.SHELL
    for kind, *patterns in _CONTENTS:
        if all(re.search(pattern, head, re.M) for pattern in patterns):
            return kind
    return _by_lines(head)


def _telling(lines: list[str]) -> list[str]:
    return [line.rstrip("\r") for line in lines if not _BLANK_OR_COMMENT.match(line.rstrip("\r"))]


def _by_lines(head: str) -> FileKind | None:
    lines = _telling(head.split("\n"))
    if not lines:
        return None
    first = [(line.split(None, 1)[0], line) for line in lines if line.strip()]
    if all(
        word in DIRECTIVES or (_MODULE_LINE.fullmatch(line) and nearest(word, DIRECTIVES, 1))
        for word, line in first
    ):
        return FileKind.MODPROBE
    if all(_ASSIGNMENT.match(line) for line in lines):
        # the names of variables are in capitals, and one argument alone may be pasted
        return FileKind.CMDLINE if lines[1:] == [] and lines[0][0].islower() else FileKind.ENVIRONMENT
    if _SHELL_WORDS.search(head):
        return FileKind.SHELL
    if (
        len(lines) == 1
        and "=" in lines[0]
        and not _INSIDE_QUOTES.search(lines[0])
        and (BOOT_WORDS.search(lines[0]) or _PASTED.fullmatch(lines[0]))
    ):
        return FileKind.CMDLINE
    return None
