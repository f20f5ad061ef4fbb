"""Addresses of networks, ids of machines, disks and their contents, serials."""

from __future__ import annotations

import ipaddress
import re

from rocmcfg.report.rule import HEX, WORD, Rule, rule
from rocmcfg.report.words import ORDINARY, is_nobody

_NUMBER = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_COLON = r"(?::|%3[Aa]|\\x3[aA]|\\:)"
_DASH = r"(?:-|\\x2[dD]|%2[dD])"
_IP6 = ("2000::/3", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "::ffff:0:0/96", "64:ff9b::/96")
_IP6_NETWORKS = tuple(ipaddress.IPv6Network(network) for network in _IP6)
_PRIVATE = tuple(
    ipaddress.IPv4Network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10")
)
# Behind one of these, four numbers are a version and no address.
_VERSION_BEFORE = re.compile(
    r"(?i)(?:version|driver|release|firmware|\bfw|rocm|amdgpu|bios|\bv|\bver|revision|build|dkms|kernel"
    r"|python|torch|hip|rev"
    r"|core|runtime|library|package|upgrade|from version|to version)\b\W{0,4}$|(?:[A-Za-z]|\.so\.?)[-_]?$"
    r"|\b\d+(?:\.\d+){3}\S* (?:->|to|=>) $"
)
_VERSION_BEHIND = re.compile(r"[-+~_]?[A-Za-z+~]|-\d{4}|-\d+(?![\d.]*\.)|_\d")


def telling_ip(text: str, line: str, start: int, end: int) -> bool:
    """Whether four numbers with dots are an address, and one that tells something."""
    if text.count(".") < 3 or text.endswith("."):
        return True  # one that was cut
    address = ipaddress.IPv4Address(".".join(str(int(part)) for part in text.split(".")))
    if address.is_loopback or address.is_unspecified or address.is_multicast or text.startswith("255.255."):
        return False
    before = line[max(0, start - 32) : start]
    if any(address in network for network in _PRIVATE):
        return not re.search(r"(?i)(?:version|driver|release|firmware|bios)\W{0,4}$", before)
    return not (_VERSION_BEFORE.search(before) or _VERSION_BEHIND.match(line, end, end + 24))


def _ip6(text: str) -> bool:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return any(address in network for network in _IP6_NETWORKS)


def _mac(text: str) -> bool:
    return len(set(re.sub(r"%3[Aa]|\\x3[aA]|[^0-9A-Fa-f]", "", text).lower())) > 1


def _serial(text: str) -> bool:
    if "8250" in text:
        return False
    return any(c.isdigit() for c in text) or (
        text.isupper() and text.lower() not in ORDINARY and not is_nobody(text)
    )


def _of_a_disk(text: str) -> bool:
    digits = sum(c.isdigit() for c in text)
    return 4 <= digits <= len(text) - 2


def _wireless(text: str) -> bool:
    return text.lower() not in ORDINARY and not is_nobody(text) and text.lower() not in ("up", "down")


_DEVICES = (
    "block|bus|by-id|char|cpu|disk|dma_heap|dri|fd|hugepages|infiniband|input|kfd|loop|mapper|md|mqueue|net|pts|serial|shm"
    "|snd|usb|v4l|vfio|zvol|raw|mtd|cgroup|core|hwrng|tpm|ttyS?|char|net|sg|nvme"
)

ADDRESSES: tuple[Rule, ...] = (
    rule(
        "uuid",
        rf"(?<![0-9A-Za-z])(?P<x>{HEX}{{8}}{_DASH}(?:{HEX}{{4}}{_DASH}){{3}}{HEX}{{12}})(?![0-9A-Za-z])",
        "- \\x2d %2d",
        "RFC 9562, also as units and URLs write it",
    ),
    rule(
        "uuid",
        rf"(?i)(?<![0-9A-Za-z])(?P<x>{HEX}{{8}}{_DASH}{HEX}{{4}}{_DASH}{HEX}{{1,4}}[\w\\%-]{{0,30}})(?=…)",
        "…",
        "one that was cut",
    ),
    rule(
        "uuid",
        rf"\b(?:PART|PT)?UUID=[\"']?(?P<x>{WORD})",
        "uuid=",
        "of FAT (1234-ABCD) or an MBR (12345678-01)",
    ),
    rule("label", rf"\b(?:PART)?LABEL=[\"']?(?P<x>{WORD})", "label=", "root=LABEL=NAME"),
    rule(
        "gpu-id",
        rf"\bGPU-(?P<x>{HEX}{{16}})\b",
        "gpu-",
        "ROCr: what ROCR_VISIBLE_DEVICES takes",
        teaches=True,
    ),
    rule(
        "id",
        rf"(?<![0-9A-Za-z])(?P<x>{HEX}{{32}})(?![0-9A-Za-z])",
        "",
        "machine-id(5) and other ids without dashes",
    ),
    rule(
        "disk",
        r"/dev/disk/by-(?:id|label|uuid|partuuid|partlabel|path|diskseq|dname)/(?P<x>[^\s\"',;|<>]+)",
        "/by-",
        "udev",
    ),
    rule(
        "disk",
        r"dev-disk-by\\x2d(?:id|label|uuid|partuuid|partlabel|path)-(?P<x>[^\s\"',;|<>]+?)(?=\.(?:device"
        r"|swap|mount)|[\s\"',;|<>]|$)",
        "dev-disk-by",
        "the same as systemd names units",
    ),
    rule(
        "disk",
        r"(?<![A-Za-z0-9])(?:nvme|ata|scsi|usb|mmc|sas"
        r"|sata)-(?P<x>[\w.+:\\]{1,80}_[\w.+:\\-]{6,120}|eui\.\w+|\w+\.[0-9a-f]{16,})",
        "nvme- ata- scsi- usb- mmc- sas- sata-",
        "udev's names of disks end with the serial",
        lambda text: any(c.isdigit() for c in text),
    ),
    rule(
        "volume",
        r"/dev/mapper/(?P<x>[^\s\"',/;|<>]+)",
        "/dev/mapper/",
        "device mapper",
        lambda t: t != "control",
    ),
    rule(
        "volume",
        r"dev-mapper-(?P<x>[^\s\"',/;|<>]+?)(?=\.(?:device|swap)|[\s\"',;|<>]|$)",
        "dev-mapper",
        "the same as a unit",
    ),
    rule(
        "volume",
        rf"/dev/(?!(?:{_DEVICES})\d*/)(?P<x>[A-Za-z][\w.+-]{{1,126}}/[\w.+-]{{1,127}})",
        "/dev/",
        "LVM: /dev/GROUP/VOLUME",
    ),
    rule(
        "volume",
        r"(?i)(?:volume groups? |logical volumes? |\bVG |\bLV |rd\.lvm\.[vl][gv]="
        r"|rd\.luks\.name=\S{1,80}=)[\"']?(?P<x>[\w.+-]{2,127}(?:/[\w.+-]+)?)"
        r"(?=[\"']| (?:is|now|finished|complete|run|not|event|active|in)|[,.;]|$|(?<=[\w])\s)",
        "volume vg lv rd.l",
        "LVM: what groups and volumes are called",
        lambda text: (
            text.lower()
            not in ("group", "groups", "in", "is", "not", "now", "level", "of", "or", "to", "and")
        ),
        teaches=False,
    ),
    rule(
        "host",
        r"(?<![\w-])(?:name|md)[=/](?P<x>[A-Za-z][\w.-]{1,62}):\d+(?![\w:.])",
        "name= md/",
        "md: NAME:0",
    ),
    rule(
        "network",
        r"(?i)(?<![A-Za-z])e?ssid[ =:]{1,3}[\"'](?P<x>[^\"'\n]+)",
        "ssid",
        "a wireless network in quotes",
        teaches=True,
    ),
    rule(
        "network",
        r"(?i)(?<![A-Za-z])e?ssid[ =:]{1,3}(?P<x>[^\s\"',;)<>\[\]]+)(?=$|[\s,;)\]\"'])",
        "ssid",
        "a wireless network",
        lambda t: t.lower() not in ("list", "scan", "not", "is", "with", "changed", "hidden", "none", "in"),
        teaches=True,
    ),
    rule(
        "network",
        r"(?i)(?<![\w])connection [\"'](?P<x>[^\"'\n]{1,80})[\"']",
        "connection",
        "NetworkManager: what somebody called a connection",
        lambda text: (
            not re.fullmatch(
                r"(?i)lo|docker0|virbr\d+|br-?\w{1,12}|Wired connection \d|wired|close|keep-alive|refused",
                text,
            )
        ),
        teaches=True,
    ),
    rule(
        "network",
        r"(?<![\w-])(?:AP|BSS|(?i:access point|hotspot|wi-?fi|wlan|(?:wireless|wi-?fi) network))[ \t:=]{1,3}"
        r"[\"'](?P<x>[^\"'\n]{1,80})[\"']",
        "ap bss access hotspot wi wlan",
        "wpa_supplicant, iwd, NetworkManager: an access point by its name",
        _wireless,
        teaches=True,
    ),
    rule(
        "network",
        r"op=\"connection[^\"\n]{0,40}\"[^\n]{0,120}? name=\"(?P<x>[^\"\n]{1,80})",
        'op="connection',
        "NetworkManager's audit",
        lambda text: text not in ("lo", "docker0"),
        teaches=True,
    ),
    rule(
        "network",
        r"/system-connections/(?P<x>[^/\n\"']+?)(?=\.nmconnection|[\"'\n]|$)",
        "system-connections",
        "NetworkManager: its files",
    ),
    rule(
        "mac",
        rf"(?<![\w:.])(?P<x>(?:{HEX}{{2}}{_COLON}){{5,19}}{HEX}{{2}})(?!\w|:\w)",
        ": %3a \\x3a",
        "MAC (6), EUI-64 (8), both of a packet and its type (iptables: 14), InfiniBand (20)",
        _mac,
    ),
    rule(
        "mac",
        rf"(?<![\w-])(?P<x>(?:{HEX}{{2}}-){{5}}{HEX}{{2}})(?![\w-])",
        "-",
        "MAC as Windows writes it",
        _mac,
    ),
    rule(
        "mac",
        rf"(?<![0-9A-Za-z])(?P<x>(?:{HEX}{{2}}_){{5}}{HEX}{{2}})(?![0-9A-Za-z])",
        "_",
        "BlueZ: dev_AC_DE_48_…",
        _mac,
    ),
    rule(
        "mac",
        rf"(?<![\w.])(?P<x>(?=[0-9.]{{0,12}}[A-Fa-f])(?:{HEX}{{4}}\.){{2}}{HEX}{{4}})(?!\w|\.\w)",
        ".",
        "MAC as Cisco writes it",
    ),
    rule(
        "mac",
        rf"(?<![A-Za-z0-9])(?:enx|wlx|wwx|eth-)(?P<x>{HEX}{{12}})(?![A-Za-z0-9])",
        "enx wlx wwx eth-",
        "udev: names of network cards",
    ),
    rule(
        "ip",
        rf"(?<![\w:.])(?P<x>(?:{HEX}{{0,4}}:){{2,7}}(?:{HEX}{{1,4}}|(?:{_NUMBER}\.){{3}}{_NUMBER})?)(?!\w"
        rf"|:\w|\.\d)",
        ":",
        "IPv6 in all spellings (RFC 4291); what only looks like one is no address of a network",
        _ip6,
    ),
    rule(
        "ip",
        rf"(?<![A-Za-z0-9])(?<!\d\.)(?<![A-Za-z]\.)(?P<x>(?:{_NUMBER}\.){{3}}{_NUMBER})(?!\w|\.\d)",
        ".",
        "IPv4",
    ),
    rule(
        "mac",
        rf"(?<![\w:.])(?P<x>(?:{HEX}{{2}}:){{3,5}}{HEX}{{0,2}})(?=\u2026)",
        "\u2026",
        "one that was cut",
    ),
    rule("ip", r"(?<![\w.])(?P<x>(?:\d{1,3}\.){2,3}\d{0,3})(?=\u2026)", "\u2026", "one that was cut"),
    rule(
        "serial",
        rf"(?i)(?<![A-Za-z])(?:serial(?:[ _-]?(?:number|no\.?|num|#))?|asset[ _-]?tag|service[ _-]?tag|s/n"
        rf"|sn)"
        rf"[ \t]{{0,8}}[:=#][ \t]{{0,8}}[\"']?(?P<x>{WORD})",
        "serial tag s/n sn",
        "labels of manufacturers",
        lambda text: _serial(text) and len(text) > 3,
        teaches=True,
    ),
    rule(
        "serial",
        r"(?i)(?<![A-Za-z])(?:serial(?: number| no\.?)?|s/n)[ \t]+(?P<x>(?=[A-Za-z-]*\d)[A-Za-z0-9-]{6,64})",
        "serial s/n",
        "the same without a colon",
        _serial,
        teaches=True,
    ),
    rule(
        "serial",
        r"(?<!\w)iSerial[ \t]+\d{1,3}[ \t]+(?P<x>[^\s(][^\n]{0,126})",
        "iserial",
        "lsusb -v: the number of the string, and what it says",
        teaches=True,
    ),
    rule(
        "serial",
        rf"(?i)\b(?:unique|hive|node guid"
        rf"|sys image guid)[ _]?(?:id)?[ \t]{{0,8}}[:=]?[ \t]{{0,8}}(?P<x>(?:0x)?{HEX}{{8,}})\b",
        "unique hive guid",
        "amdgpu: ids of a GPU and of those linked with it",
        teaches=True,
    ),
    rule(
        "serial",
        rf"(?i)\b(?:wwn|wwid|eui|naa|nguid|t10)[-.:= ][ \t]{{0,8}}(?P<x>(?:naa\.|eui\.)?(?:0x)?{HEX}{{8,}})",
        "wwn wwid eui naa nguid t10",
        "ids of disks",
        teaches=True,
    ),
    rule(
        "serial",
        r"(?i)\b(?:imei|imsi|iccid|meid|msisdn)[^0-9\n]{1,12}(?P<x>\d{8,20})",
        "imei imsi iccid meid msisdn",
        "ModemManager",
    ),
    rule(
        "serial",
        r"(?<![A-Za-z0-9])(?P<x>S[0-9A-Z]{3}N[A-Z][0-9A-Z]{7,9}|WD-W[A-Z0-9]{8,12}|PHLN?\d{3}[0-9A-Z]{6,12}"
        r"|BTL[A-Z]\d[0-9A-Z]{8,14})"
        r"(?![A-Za-z0-9])",
        "s wd- phl btl",
        "serials of Samsung, Western Digital and Intel, which have a form",
        _of_a_disk,
        teaches=True,
    ),
    rule(
        "serial",
        r"(?<![A-Za-z0-9_.])(?P<x>[A-Z0-9]{10,20})(?![A-Za-z0-9_.])",
        "nvme ssd /dev/sd hdd usb smart udisk disk storage",
        "in a line about disks: capitals and digits that are no word",
        _of_a_disk,
        teaches=True,
    ),
)
