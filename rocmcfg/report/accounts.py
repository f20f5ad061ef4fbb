"""Names of accounts, by where paths have them and by the sentences of the programs that say them."""

from __future__ import annotations

import re

from rocmcfg.report.rule import ACCOUNT, NAME, OPAQUE, Rule, rule
from rocmcfg.report.words import is_telling, is_telling_word


def _volume(name: str) -> bool:
    return is_telling_word(name) and not re.fullmatch(
        r"(?i)[a-z]|(?:backup|bulk|c?drom|data|disk|drive|external|fast|hdd|models?|nas|nfs|nvme|raid"
        r"|scratch|share|ssd|tmp|usb|wslg?)s?\d?",
        name,
    )


ACCOUNTS: tuple[Rule, ...] = (
    # -- accounts in paths --------------------------------------------------------------------------------
    rule(
        "user",
        r"(?i)(?<!\w)(?:/|%2f|\\/)(?:home|homes|users)(?:/|%2f|\\/)(?P<x>[^\s/\"'`:;,|<>()\[\]{}%\\?&*=]+)",
        "home users",
        "home directories, also of /data/users and of macOS",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        r"(?i)/(?:data|export|fs|gpfs|lustre|mnt|net|nfs|scratch|shared|srv|storage|var|vol\w{0,9}|work)"
        r"/(?:home|homes|users)/(?P<x>[^\s/\"'`:;,|<>()\[\]{}%\\?&*=]+)",
        "/home /users",
        "the same below another directory",
        is_telling_word,
        teaches=True,
    ),
    rule(
        "user",
        r"(?i)(?<=[\w.])/(?:home|homes|users)/(?P<x>[^\s/\"'`:;,|<>()\[\]{}%\\?&*=]+)(?=/)",
        "/home /users",
        "the same below any; paths of web services look so, too",
        is_telling_word,
    ),
    rule(
        "user",
        r"(?i)(?:(?<![A-Za-z])[A-Z]:|\\mnt\\c)\\{1,4}Users\\{1,4}(?P<x>[^\s\\/\"':;,|<>]+)",
        "users",
        "Windows",
        lambda name: is_telling(name) and name.lower() not in ("public", "all"),
        teaches=True,
    ),
    rule(
        "user",
        r"(?:/run)?/media/(?P<x>[^\s/\"'`:;,|<>\\]+)(?=/)",
        "/media/",
        "udisks: /run/media/NAME/LABEL",
        _volume,
        teaches=True,
    ),
    rule(
        "label",
        r"(?:/run)?/media/[^\s/]+/(?P<x>[^\s/\"'`:;,|<>\\]+)",
        "/media/",
        "udisks: the label of a disk",
        _volume,
    ),
    rule(
        "label",
        r"(?<![\w])/mnt/(?P<x>[^\s/\"'`:;,|<>\\)\]]+)",
        "/mnt/",
        "what a disk or share is called",
        _volume,
    ),
    rule(
        "user",
        r"(?<![\w-])(?:home|media|run-media)-(?P<x>[a-z_][\w]*)(?=[\w\\-]*\.(?:mount|automount))",
        "mount",
        "systemd: home-NAME.mount",
        is_telling_word,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w/~.)\]-])~(?P<x>{NAME})(?=/)",
        "~",
        "the shell's ~NAME/",
        is_telling_word,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?:^|(?<=[\s\"'=:]))~(?P<x>{NAME})(?=$|[\s\"':;,)])",
        "~",
        "the shell's ~NAME",
        is_telling_word,
    ),
    rule(
        "user",
        rf"(?:@[\w.-]{{1,200}}|[{OPAQUE}]):(?P<x>{NAME})(?=/[\w.-]{{1,200}}\.git)",
        ".git",
        "git over ssh: whose repository",
        is_telling_word,
    ),
    rule(
        "user",
        r"(?<![\w.-])wandb\.ai/(?P<x>[\w-]+)",
        "wandb.ai/",
        "Weights & Biases",
        is_telling_word,
        teaches=True,
    ),
    # -- accounts in sentences ----------------------------------------------------------------------------
    rule(
        "user",
        rf"(?i)(?:accepted|failed|postponed|partial) \S+ for (?:(?:invalid"
        rf"|illegal) user )?(?P<x>{NAME}) from ",
        "for",
        "sshd",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?i)(?<![\w-])(?:(?:invalid|illegal|authenticating|new|change|delete|add|lock|unlock|set|switch"
        rf"|as|of|for|by|root by|run|removed) "
        rf"user|user (?:name)?(?=\S+ (?:logged|from|not|is|does|has|was|of|at|on|by|may|authoriz|added"
        rf"|removed|in sudoers)))[ ]"
        rf"?[`'\"]?(?P<x>{NAME})",
        "user",
        "sshd, PAM, logind, useradd: NAME behind `user`",
        is_telling_word,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?i)(?<![\w-])(?:user|role|account|owner|login)(?: name)?:? [\"'`](?P<x>{NAME})(?=[\"'`])",
        "user role account owner login",
        "databases and services: user 'NAME'",
        is_telling_word,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?:User Manager for|for user:) (?P<x>{NAME})",
        "user",
        "systemd and others",
        is_telling_word,
    ),
    rule(
        "user",
        rf"(?<![\w.-])User (?P<x>{NAME})(?=[.,]|$|[ ](?:logged|from|not|is|has|at))",
        "user",
        "systemd: Started Session 3 of User NAME.",
        is_telling_word,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<=[ (])by (?:\([^)]{{0,40}}\) )?(?P<x>{NAME})(?=\([ue]?[ui]id=|\(uid)",
        "by",
        "PAM: session opened for user root(uid=0) by NAME(uid=1000)",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?i)(?:password (?:changed )?for|exceeded for|shell(?: on \S+)? for|command for|attempts? (?:by"
        rf"|for)|logged in as"
        rf"|login (?:by|for)|running as|started by|on behalf of|account of|owned by|crontab for|session for"
        rf"|subsystem '\w+' for"
        rf"|mail for|quota for|unix-user:|authentication for):?[ ]?[`'\"]?(?P<x>{NAME})",
        "for as by of unix-user",
        "sudo, PAM, sshd, login, polkit",
        is_telling_word,
    ),
    rule(
        "user",
        rf"(?i)(?:password for|exceeded for|shell(?: on \S+)? for|unix-user:|logged in as|session for"
        rf"|changed for)[ ]?(?P<x>{NAME})"
        rf"(?=:| from | to |$|[).])",
        "for unix-user as",
        "the surest of these",
        is_telling_word,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])sudo(?:\[\d+\])?: +(?P<x>{NAME})(?= : )",
        "sudo",
        "sudo: NAME : TTY=pts/0 ; PWD=…",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])(?:cron|crond|crontab|anacron|atd)(?:\[\d+\])?: \((?P<x>{NAME})\)",
        "cron atd",
        "cron: (NAME) CMD (…)",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])CRON(?:\[\d+\])?: \((?P<x>{NAME})\)",
        "cron",
        "the same of Debian",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?:BEGIN|END|LIST|REPLACE|RELOAD|EDIT)[A-Z ]* \((?P<x>{NAME})\)",
        "cron",
        "crontab",
        is_telling,
    ),
    rule(
        "user",
        rf"\(to {ACCOUNT}\) (?P<x>{NAME}) on ",
        "(to",
        "su: (to root) NAME on pts/1",
        is_telling,
        teaches=True,
    ),
    rule("user", rf"\(to (?P<x>{NAME})\) ", "(to", "su: (to NAME) root on pts/1", is_telling, teaches=True),
    rule(
        "user",
        rf"(?:[ug]id|groups|group|euid|auid)=\d{{1,10}}\((?P<x>{NAME})\)",
        "id= group",
        "id(1)",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"[=,(]1\d{{3,9}}\((?P<x>{NAME})\)",
        "(",
        "id(1): groups of an account",
        is_telling,
        teaches=True,
    ),
    rule("user", rf"(?i)userid=(?P<x>{NAME})\(\d+\)", "userid", "Slurm", is_telling, teaches=True),
    rule(
        "user",
        rf"(?<![\w-])(?:sudo|runuser|chpst|gosu|machinectl)[ \t](?:-\S+[ \t]){{0,4}}-u[ \t]?(?P<x>{NAME})",
        "sudo runuser",
        "sudo -u NAME",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])su[ \t]+(?:-l?[ \t]+)?(?P<x>{NAME})(?=$|[ \t]+-c)",
        "su",
        "su - NAME",
        is_telling_word,
    ),
    rule(
        "user", rf"(?<![\w-])su[ \t]+-l?[ \t]+(?P<x>{NAME})", "su", "su - NAME", is_telling_word, teaches=True
    ),
    rule(
        "user",
        rf"(?<![\w-])(?:chown|chgrp|install -o)[ \t](?:-\S+[ \t]){{0,4}}(?P<x>{NAME})(?=[: \t])",
        "chown chgrp install",
        "chown NAME:NAME",
        is_telling_word,
    ),
    rule(
        "user",
        rf"(?<![\w-])chown[ \t](?:-\S+[ \t]){{0,4}}{ACCOUNT}?:(?P<x>{NAME})(?=[ \t])",
        "chown",
        "chown NAME:GROUP",
        is_telling_word,
    ),
    rule(
        "user",
        rf"^(?:total \d+\s)?[-dlbcps][-rwxsStT]{{9}}[.+@]?[ \t]+\d+[ \t]+(?P<x>{NAME})(?=[ \t])",
        "rw r-x r--",
        "ls -l",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"^[-dlbcps][-rwxsStT]{{9}}[.+@]?[ \t]+\d+[ \t]+\S+[ \t]+(?P<x>{NAME})(?=[ \t])",
        "rw r-x r--",
        "ls -l: the group",
        is_telling_word,
    ),
    rule(
        "user",
        rf"^(?P<x>{NAME})\+?[ \t]+\d+[ \t]+\d+\.\d[ \t]+\d+\.\d[ \t]+\d+[ \t]+\d+[ \t]",
        ".",
        "ps aux",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"^[ \t]*\d+[ \t]+(?P<x>{NAME})\+?[ \t]+(?:20|rt|-?\d+)[ \t]+-?\d+[ \t]+[\d.]+[gmt]?[ \t]",
        "",
        "top",
        is_telling,
    ),
    rule(
        "user",
        rf"^(?P<x>{NAME})(?=:[^:\s]*:\d+:\d+:[^:]*:/)",
        ":/",
        "passwd(5)",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"^(?P<x>{NAME})(?=:[{OPAQUE}*!]+:\d+:\d*:)",
        ":",
        "shadow(5); its hash is gone already",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])(?:(?:docker|podman) login|psql|pg_\w+|mysql\w*"
        rf"|smbclient)[ \t](?:[^\n|;]{{0,200}}?[ \t])?(?:-[uU][ \t]?|--username[ \t=])(?P<x>{NAME})",
        "login psql pg_ mysql smbclient",
        "clients of databases and registries",
        is_telling_word,
    ),
    rule(
        "name",
        rf"^{ACCOUNT}:[^:\s]*:1\d{{3,9}}:\d+:(?P<x>[^:,]+)[^:]*:/",
        ":/",
        "passwd(5): a real name",
        is_telling,
    ),
    rule(
        "user",
        rf"(?i)new (?:user|group)(?: account)?: name=(?P<x>{NAME})",
        "name=",
        "useradd",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"add [`'\"](?P<x>{NAME})[`'\"] to (?:shadow )?group",
        "group",
        "usermod",
        is_telling,
        teaches=True,
    ),
    rule(
        "name",
        r"(?P<x>(?<![\w.])[A-Z][a-z]{1,30})(?=['\N{RIGHT SINGLE QUOTATION MARK}]s? (?:AirPods|Beats|Buds"
        r"|Desktop|Galaxy|Headphones|iMac"
        r"|iPad|iPhone|Keyboard|Laptop|MacBook|Magic|Mouse|PC|Phone|Pixel|Speaker|TV|Tablet|Watch|WH-|WF-))",
        "' \N{RIGHT SINGLE QUOTATION MARK}",
        "Bluetooth: what somebody's things call themselves",
    ),
)
