"""Names of hosts and accounts, by the sentences of the programs that say them; and mail addresses."""

from __future__ import annotations

import re

from rocmcfg.report.rule import ACCOUNT, NAME, OPAQUE, Rule, rule
from rocmcfg.report.words import LEVELS, ORDINARY, is_nobody, is_public

_HOST = r"[A-Za-z0-9_](?:[\w-]|\.(?=\w)){0,252}"
_STAMP = (
    r"(?:<\d{1,3}>\d?[ ]?)?(?:(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ 0-9]\d(?: \d{4})? \d\d:\d\d:\d\d(?:\.\d+)?"
    r"|(?:[A-Z][a-z]{2} )?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s\[\]]{0,16}"
    r"|\[ *\d{1,9}\.\d+\])(?: [A-Z]{2,5}(?= ))?"
)
_TAG = r"[\w./@()+-]{1,80}"
# Tags of daemons. What else stands where a tag would may be the logger of a program.
_DAEMON = (
    r"(?:kernel|systemd(?:-\w+)*|sshd(?:-\w+)*|sudo|su|CRON|cron|crond|NetworkManager|wpa_supplicant"
    r"|dbus-\w+|bluetoothd"
    r"|avahi-daemon|polkitd|gdm\S*|login|rsyslogd|dockerd|containerd|audit\w*|smartd|dnsmasq|dhclient"
    r"|dhcpcd|chronyd|ntpd"
    r"|rtkit-daemon|snapd|udisksd|ModemManager|iwd|smbd|nmbd|slurmd|kubelet|klogd|anacron|useradd|usermod"
    r"|groupadd|passwd)"
)
# Suffixes of units: getty@tty1.service is no address.
_UNITS = r"(?:automount|device|mount|path|scope|service|slice|socket|swap|target|timer)"


def _telling(name: str) -> bool:
    return not is_nobody(name) and name.lower() not in LEVELS


def _telling_word(name: str) -> bool:
    return _telling(name) and name.lower() not in ORDINARY


def _volume(name: str) -> bool:
    return _telling_word(name) and not re.fullmatch(
        r"(?i)[a-z]|(?:backup|bulk|c?drom|data|disk|drive|external|fast|hdd|models?|nas|nfs|nvme|raid"
        r"|scratch|share|ssd|tmp|usb|wslg?)s?\d?",
        name,
    )


def _own_site(name: str) -> bool:
    return _telling(name) and not is_public(name) and not re.fullmatch(r"[\d.]+", name)


IDENTITIES: tuple[Rule, ...] = (
    rule(
        "host",
        rf"^{_STAMP} (?P<x>{_HOST})(?= {_DAEMON}(?:\[\d+\])?:)",
        "",
        "syslog, journalctl: Nov 21 12:42:56 NAME kernel:, also with other times",
        _telling,
        teaches=True,
    ),
    rule(
        "host",
        rf"^(?:<\d{{1,3}}>\d?[ ]?)?(?:[A-Z][a-z]{{2}} [ 0-9]\d \d\d:\d\d:\d\d(?:\.\d+)?"
        rf"|\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\S{{1,16}}) "
        rf"(?P<x>{_HOST})(?= {_TAG}\[\d+\]:)",
        "",
        "the same of any program: its process id behind it makes it certain",
        _telling_word,
        teaches=True,
    ),
    rule(
        "host",
        rf"^(?:[A-Z][a-z]{{2}} [ 0-9]\d \d\d:\d\d:\d\d|\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{{0,16}}) "
        rf"(?P<x>{_HOST})(?= {_TAG}(?:\[\d+\])?:)",
        "",
        "the same without one; a module of Python may stand here, too",
        _telling_word,
    ),
    rule(
        "host",
        rf"^<\d{{1,3}}>1 \S+ (?P<x>{_HOST}) \S+ ",
        "<",
        "RFC 5424",
        _telling,
        teaches=True,
    ),
    rule(
        "host",
        rf"(?i)(?:hostname (?:set )?to |set hostname to |host name is |hostname changed from [^ ]+ to "
        rf"|hostname |connecting to host "
        rf"|nfs: server |connect to host |connection to |resolve host(?:name)?:? "
        rf"|welcome to )[\"'<]?(?P<x>{_HOST})"
        rf"(?=[\"'>]|[ ]port |[ ](?:closed|not responding|ok|timed)|[:.,]|$)",
        "host server connection welcome",
        "systemd, NetworkManager, avahi, ssh, NFS: sentences about hosts",
        _own_site,
        teaches=True,
    ),
    rule(
        "host",
        rf"(?i)(?<![\w.])(?:from|to) (?P<x>{_HOST}) port \d",
        "port",
        "sshd with UseDNS",
        _own_site,
        teaches=True,
    ),
    rule(
        "host",
        r"(?P<x>(?<![\w.-])(?:[A-Za-z0-9][\w-]{0,62}\.){1,4}(?:local|lan|internal|intranet|corp"
        r"|localdomain|home\.arpa|fritz\.box"
        r"|ts\.net|duckdns\.org|dyndns\.org|no-ip\.org|ddns\.net|cluster\.local|myfritz\.net))(?![\w-]"
        r"|\.\w)",
        ".local .lan .internal .intranet .corp .home fritz ts.net dns. no-ip",
        "RFC 6762, RFC 8375 and what routers and VPNs call their networks",
        lambda name: (
            not re.match(r"(?i)(?:rc|threading|_?thread|jail|sshd_config)\.", name) and _telling(name)
        ),
    ),
    rule(
        "host",
        r"(?<![\w.-])(?P<x>(?:ip|ec2|host|dslb|static|dyn|dynamic|pool|cpe"
        r"|vps)-(?:\d{1,3}-){3}\d{1,3}[\w.-]{0,200})",
        "ip- ec2- host- dslb static dyn pool cpe vps",
        "names that providers make of an address",
        teaches=True,
    ),
    rule(
        "site",
        rf"(?i)(?<![\w+.-])(?:https?|wss?|ftps?|sftp|ssh|git|redis|amqps?|mongodb(?:\+srv)?|postgres(?:ql)?"
        rf"|mysql|nfs|smb|tcp|udp|grpc)"
        rf"://(?:[^\s/?#\"'<>]{{0,80}}@)?(?P<x>{_HOST})",
        "://",
        "URL: a site that is not one that everybody uses",
        _own_site,
    ),
    rule(
        "host",
        rf"(?:^|(?<=\s))(?P<x>{_HOST})(?=:\d{{1,7}}:\d{{1,7}} \[\d{{1,3}}\] )",
        "] ",
        "NCCL, RCCL: HOST:PID:TID [GPU] NCCL INFO",
        _telling,
        teaches=True,
    ),
    rule(
        "host",
        rf"(?i)(?<!\w)(?:connect\w{{0,6}}(?:\(\))?|reach|resolve|server|peer|client|endpoint|store"
        rf"|host) (?:(?:to|on|from|at) )?"
        rf"(?P<x>{_HOST})(?=:\d{{2,5}}(?![\w.:]))",
        "connect reach resolve server peer client endpoint store host",
        "who talks to whom",
        _own_site,
    ),
    rule(
        "host",
        rf"(?i)(?<![\w./-])(?P<x>{_HOST})(?=:/(?:export|srv|volume\d?|mnt|home|data|nfs|vol|tank"
        rf"|pool)\w{{0,20}}(?:[/\s]|$))",
        "nfs mount export",
        "NFS: HOST:/export",
        _telling_word,
        teaches=True,
    ),
    rule(
        "host",
        r"(?<![\w\\:])\\\\(?P<x>[A-Za-z][\w-]{1,62})(?=[\s\\])",
        "cifs smb share",
        "Windows: \\\\HOST\\share",
        _telling_word,
        teaches=True,
    ),
    rule("host", rf"DHCP[A-Z]{{3,12}}\(\S{{1,16}}\) \S+ \S+ (?P<x>{_HOST})$", "dhcp", "dnsmasq", _telling),
    rule(
        "user",
        rf"^\[?(?P<x>{NAME})(?=@{_HOST}(?:[: ][~/][^\s$#]*|[ ]\S+)?\]?[$#%](?: |$))",
        "@",
        "the prompt of a shell",
        _telling,
        teaches=True,
    ),
    rule(
        "host",
        rf"^\[?{ACCOUNT}@(?P<x>{_HOST})(?=(?:[: ][~/][^\s$#]*|[ ]\S+)?\]?[$#%](?: |$))",
        "@",
        "the prompt of a shell",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])(?:ssh|scp|rsync|sftp|mosh)[ \t](?:-\S+[ \t](?:\d+[ \t])?){{0,6}}(?P<x>{NAME})(?=@)",
        "ssh scp rsync sftp mosh",
        "who logs in where",
        _telling,
        teaches=True,
    ),
    rule(
        "host",
        rf"(?<![\w-])(?:ssh|scp|rsync|sftp"
        rf"|mosh)[ \t](?:-\S+[ \t](?:\d+[ \t])?){{0,6}}{ACCOUNT}@(?P<x>{_HOST})",
        "ssh scp rsync sftp mosh",
        "who logs in where",
        _telling,
        teaches=True,
    ),
    rule(
        "name",
        r"(?<![\w.'-])(?P<x>[A-Z][\w.'-]{0,40}(?: [A-Z][\w.'-]{0,40}){0,3})(?= \(?<[^<>\s@]{1,64}@)",
        "@",
        "Name <address>",
    ),
    rule(
        "mail",
        rf"(?<![\w.+-])(?P<x>[A-Za-z_][\w.+-]*@(?!sha\d{{3}}:)(?![\w.-]{{1,200}}\.{_UNITS}(?![\w.-]))(?!\w+[.]?\w*\.{_UNITS})[A-Za-z][\w-]*(?:\.[\w-]+)*)",
        "@",
        "a mail address, or an account at a host",
        # a unit's instance such as getty@tty1 or user@1000 has no dot before and a program in front
        lambda text: (
            not re.match(r"(?:getty|serial-getty|modprobe|systemd-[\w-]+|autovt|user|dbus-[\w.-]+)@", text)
        ),
    ),
    rule(
        "mail",
        r"(?i)(?<![\w.+-])(?P<x>[\w.+-]+%40[A-Za-z][\w-]*(?:\.[\w-]+)+)",
        "%40",
        "the same in a URL",
    ),
    rule(
        "user",
        rf"(?<![\w-])(?:syncthing|code-server|vncserver|jupyter(?:hub|lab)?|mpd|emacs|borgmatic|rootless"
        rf"|podman|ollama|tigervnc)@:?"
        rf"(?P<x>{NAME}?)(?=\.{_UNITS})",
        "@",
        "units that run for an account",
        _telling,
        teaches=True,
    ),
    # -- accounts in paths --------------------------------------------------------------------------------
    rule(
        "user",
        r"(?i)(?<!\w)(?:/|%2f|\\/)(?:home|homes|users)(?:/|%2f|\\/)(?P<x>[^\s/\"'`:;,|<>()\[\]{}%\\?&*=]+)",
        "home users",
        "home directories, also of /data/users and of macOS",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        r"(?i)/(?:data|export|fs|gpfs|lustre|mnt|net|nfs|scratch|shared|srv|storage|var|vol\w{0,9}|work)"
        r"/(?:home|homes|users)/(?P<x>[^\s/\"'`:;,|<>()\[\]{}%\\?&*=]+)",
        "/home /users",
        "the same below another directory",
        _telling_word,
        teaches=True,
    ),
    rule(
        "user",
        r"(?i)(?<=[\w.])/(?:home|homes|users)/(?P<x>[^\s/\"'`:;,|<>()\[\]{}%\\?&*=]+)(?=/)",
        "/home /users",
        "the same below any; paths of web services look so, too",
        _telling_word,
    ),
    rule(
        "user",
        r"(?i)(?:(?<![A-Za-z])[A-Z]:|\\mnt\\c)\\{1,4}Users\\{1,4}(?P<x>[^\s\\/\"':;,|<>]+)",
        "users",
        "Windows",
        lambda name: _telling(name) and name.lower() not in ("public", "all"),
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
        _telling_word,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w/~.)\]-])~(?P<x>{NAME})(?=/)",
        "~",
        "the shell's ~NAME/",
        _telling_word,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?:^|(?<=[\s\"'=:]))~(?P<x>{NAME})(?=$|[\s\"':;,)])",
        "~",
        "the shell's ~NAME",
        _telling_word,
    ),
    rule(
        "user",
        rf"(?:@[\w.-]{{1,200}}|[{OPAQUE}]):(?P<x>{NAME})(?=/[\w.-]{{1,200}}\.git)",
        ".git",
        "git over ssh: whose repository",
        _telling_word,
    ),
    rule(
        "user",
        r"(?<![\w.-])wandb\.ai/(?P<x>[\w-]+)",
        "wandb.ai/",
        "Weights & Biases",
        _telling_word,
        teaches=True,
    ),
    # -- accounts in sentences ----------------------------------------------------------------------------
    rule(
        "user",
        rf"(?i)(?:accepted|failed|postponed|partial) \S+ for (?:(?:invalid"
        rf"|illegal) user )?(?P<x>{NAME}) from ",
        "for",
        "sshd",
        _telling,
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
        _telling_word,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?i)(?<![\w-])(?:user|role|account|owner|login)(?: name)?:? [\"'`](?P<x>{NAME})(?=[\"'`])",
        "user role account owner login",
        "databases and services: user 'NAME'",
        _telling_word,
        teaches=True,
    ),
    rule(
        "user", rf"(?:User Manager for|for user:) (?P<x>{NAME})", "user", "systemd and others", _telling_word
    ),
    rule(
        "user",
        rf"(?<![\w.-])User (?P<x>{NAME})(?=[.,]|$|[ ](?:logged|from|not|is|has|at))",
        "user",
        "systemd: Started Session 3 of User NAME.",
        _telling_word,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<=[ (])by (?:\([^)]{{0,40}}\) )?(?P<x>{NAME})(?=\([ue]?[ui]id=|\(uid)",
        "by",
        "PAM: session opened for user root(uid=0) by NAME(uid=1000)",
        _telling,
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
        _telling_word,
    ),
    rule(
        "user",
        rf"(?i)(?:password for|exceeded for|shell(?: on \S+)? for|unix-user:|logged in as|session for"
        rf"|changed for)[ ]?(?P<x>{NAME})"
        rf"(?=:| from | to |$|[).])",
        "for unix-user as",
        "the surest of these",
        _telling_word,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])sudo(?:\[\d+\])?: +(?P<x>{NAME})(?= : )",
        "sudo",
        "sudo: NAME : TTY=pts/0 ; PWD=…",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])(?:cron|crond|crontab|anacron|atd)(?:\[\d+\])?: \((?P<x>{NAME})\)",
        "cron atd",
        "cron: (NAME) CMD (…)",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])CRON(?:\[\d+\])?: \((?P<x>{NAME})\)",
        "cron",
        "the same of Debian",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?:BEGIN|END|LIST|REPLACE|RELOAD|EDIT)[A-Z ]* \((?P<x>{NAME})\)",
        "cron",
        "crontab",
        _telling,
    ),
    rule(
        "user",
        rf"\(to {ACCOUNT}\) (?P<x>{NAME}) on ",
        "(to",
        "su: (to root) NAME on pts/1",
        _telling,
        teaches=True,
    ),
    rule("user", rf"\(to (?P<x>{NAME})\) ", "(to", "su: (to NAME) root on pts/1", _telling, teaches=True),
    rule(
        "user",
        rf"(?:[ug]id|groups|group|euid|auid)=\d{{1,10}}\((?P<x>{NAME})\)",
        "id= group",
        "id(1)",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"[=,(]1\d{{3,9}}\((?P<x>{NAME})\)",
        "(",
        "id(1): groups of an account",
        _telling,
        teaches=True,
    ),
    rule("user", rf"(?i)userid=(?P<x>{NAME})\(\d+\)", "userid", "Slurm", _telling, teaches=True),
    rule(
        "user",
        rf"(?<![\w-])(?:sudo|runuser|chpst|gosu|machinectl)[ \t](?:-\S+[ \t]){{0,4}}-u[ \t]?(?P<x>{NAME})",
        "sudo runuser",
        "sudo -u NAME",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])su[ \t]+(?:-l?[ \t]+)?(?P<x>{NAME})(?=$|[ \t]+-c)",
        "su",
        "su - NAME",
        _telling_word,
    ),
    rule(
        "user", rf"(?<![\w-])su[ \t]+-l?[ \t]+(?P<x>{NAME})", "su", "su - NAME", _telling_word, teaches=True
    ),
    rule(
        "user",
        rf"(?<![\w-])(?:chown|chgrp|install -o)[ \t](?:-\S+[ \t]){{0,4}}(?P<x>{NAME})(?=[: \t])",
        "chown chgrp install",
        "chown NAME:NAME",
        _telling_word,
    ),
    rule(
        "user",
        rf"^(?:total \d+\s)?[-dlbcps][-rwxsStT]{{9}}[.+@]?[ \t]+\d+[ \t]+(?P<x>{NAME})(?=[ \t])",
        "rw r-x r--",
        "ls -l",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"^[-dlbcps][-rwxsStT]{{9}}[.+@]?[ \t]+\d+[ \t]+\S+[ \t]+(?P<x>{NAME})(?=[ \t])",
        "rw r-x r--",
        "ls -l: the group",
        _telling_word,
    ),
    rule(
        "user",
        rf"^(?P<x>{NAME})\+?[ \t]+\d+[ \t]+\d+\.\d[ \t]+\d+\.\d[ \t]+\d+[ \t]+\d+[ \t]",
        ".",
        "ps aux",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"^[ \t]*\d+[ \t]+(?P<x>{NAME})\+?[ \t]+(?:20|rt|-?\d+)[ \t]+-?\d+[ \t]+[\d.]+[gmt]?[ \t]",
        "",
        "top",
        _telling,
    ),
    rule(
        "user",
        rf"^(?P<x>{NAME})(?=:[^:\s]*:\d+:\d+:[^:]*:/)",
        ":/",
        "passwd(5)",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"^(?P<x>{NAME})(?=:[{OPAQUE}*!]+:\d+:\d*:)",
        ":",
        "shadow(5); its hash is gone already",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])(?:(?:docker|podman) login|psql|pg_\w+|mysql\w*"
        rf"|smbclient)[ \t](?:[^\n|;]{{0,200}}?[ \t])?(?:-[uU][ \t]?|--username[ \t=])(?P<x>{NAME})",
        "login psql pg_ mysql smbclient",
        "clients of databases and registries",
        _telling_word,
    ),
    rule(
        "name",
        rf"^{ACCOUNT}:[^:\s]*:1\d{{3,9}}:\d+:(?P<x>[^:,]+)[^:]*:/",
        ":/",
        "passwd(5): a real name",
        _telling,
    ),
    rule(
        "user",
        rf"(?i)new (?:user|group)(?: account)?: name=(?P<x>{NAME})",
        "name=",
        "useradd",
        _telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"add [`'\"](?P<x>{NAME})[`'\"] to (?:shadow )?group",
        "group",
        "usermod",
        _telling,
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
