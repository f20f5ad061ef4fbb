"""Names of hosts by the sentences of the programs that say them, who is at them, and mail addresses."""

from __future__ import annotations

import re

from rocmcfg.report.rule import ACCOUNT, NAME, Rule, rule
from rocmcfg.report.words import is_public, is_telling, is_telling_word

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


def _own_site(name: str) -> bool:
    return is_telling(name) and not is_public(name) and not re.fullmatch(r"[\d.]+", name)


def _at_a_prompt(name: str) -> bool:
    # "Last login:" as last(1) and PAM say it
    return is_telling_word(name) and name.lower() not in (
        "bad",
        "last",
        "first",
        "next",
        "password",
        "previous",
    )


IDENTITIES: tuple[Rule, ...] = (
    rule(
        "host",
        rf"^{_STAMP} (?P<x>{_HOST})(?= {_DAEMON}(?:\[\d+\])?:)",
        "",
        "syslog, journalctl: Nov 21 12:42:56 NAME kernel:, also with other times",
        is_telling,
        teaches=True,
    ),
    rule(
        "host",
        rf"^(?:<\d{{1,3}}>\d?[ ]?)?(?:[A-Z][a-z]{{2}} [ 0-9]\d \d\d:\d\d:\d\d(?:\.\d+)?"
        rf"|\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\S{{1,16}}) "
        rf"(?P<x>{_HOST})(?= {_TAG}\[\d+\]:)",
        "",
        "the same of any program: its process id behind it makes it certain",
        is_telling_word,
        teaches=True,
    ),
    rule(
        "host",
        rf"^(?:[A-Z][a-z]{{2}} [ 0-9]\d \d\d:\d\d:\d\d|\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{{0,16}}) "
        rf"(?P<x>{_HOST})(?= {_TAG}(?:\[\d+\])?:)",
        "",
        "the same without one; a module of Python may stand here, too",
        is_telling_word,
    ),
    rule(
        "host",
        rf"^<\d{{1,3}}>1 \S+ (?P<x>{_HOST}) \S+ ",
        "<",
        "RFC 5424",
        is_telling,
        teaches=True,
    ),
    rule(
        "host",
        rf"^(?P<x>{_HOST}) login:[ ]?(?:{NAME})?\s*$",
        "login:",
        "getty: HOST login: NAME",
        _at_a_prompt,
        teaches=True,
    ),
    rule(
        "user",
        rf"^{ACCOUNT} login: (?P<x>{NAME})\s*$",
        "login:",
        "getty: who answered",
        is_telling_word,
        teaches=True,
    ),
    rule(
        "host",
        rf"^[A-Z][\w!]{{2,20}}[ ](?:[\w./()+-]{{1,24}}[ ]){{1,6}}(?P<x>{_HOST})(?= tty\w{{1,6}}\s*$)",
        "tty",
        "issue(5): Debian GNU/Linux 13 HOST tty1",
        lambda name: is_telling_word(name) and len(name) > 2,
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
            not re.match(r"(?i)(?:rc|threading|_?thread|jail|sshd_config)\.", name) and is_telling(name)
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
        is_telling,
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
        is_telling_word,
        teaches=True,
    ),
    rule(
        "host",
        r"(?<![\w\\:])\\\\(?P<x>[A-Za-z][\w-]{1,62})(?=[\s\\])",
        "cifs smb share",
        "Windows: \\\\HOST\\share",
        is_telling_word,
        teaches=True,
    ),
    rule("host", rf"DHCP[A-Z]{{3,12}}\(\S{{1,16}}\) \S+ \S+ (?P<x>{_HOST})$", "dhcp", "dnsmasq", is_telling),
    rule(
        "user",
        rf"^\[?(?P<x>{NAME})(?=@{_HOST}(?:[: ][~/][^\s$#]*|[ ]\S+)?\]?[$#%](?: |$))",
        "@",
        "the prompt of a shell",
        is_telling,
        teaches=True,
    ),
    rule(
        "host",
        rf"^\[?{ACCOUNT}@(?P<x>{_HOST})(?=(?:[: ][~/][^\s$#]*|[ ]\S+)?\]?[$#%](?: |$))",
        "@",
        "the prompt of a shell",
        is_telling,
        teaches=True,
    ),
    rule(
        "user",
        rf"(?<![\w-])(?:ssh|scp|rsync|sftp|mosh)[ \t](?:-\S+[ \t](?:\d+[ \t])?){{0,6}}(?P<x>{NAME})(?=@)",
        "ssh scp rsync sftp mosh",
        "who logs in where",
        is_telling,
        teaches=True,
    ),
    rule(
        "host",
        rf"(?<![\w-])(?:ssh|scp|rsync|sftp"
        rf"|mosh)[ \t](?:-\S+[ \t](?:\d+[ \t])?){{0,6}}{ACCOUNT}@(?P<x>{_HOST})",
        "ssh scp rsync sftp mosh",
        "who logs in where",
        is_telling,
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
        is_telling,
        teaches=True,
    ),
)
