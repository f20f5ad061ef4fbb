"""What must never leave a host in a report, and what must survive because it is what the report is for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.advice.report.redact import Redactor

SECRETS = {
    "host in a syslog line": ("Nov 21 12:42:56 tower7 kernel: amdgpu: x", "tower7"),
    "host of somebody else's log": (
        "2026-11-21T12:42:56.123+01:00 kaiserslautern kernel: amdgpu: x",
        "kaiserslautern",
    ),
    "full host name": ("mounted from tower7.example.org:/srv", "tower7"),
    "host in a volume's name": ("root=/dev/mapper/tower7--vg-root ro", "tower7"),
    "volume": ("root=/dev/mapper/secretvg-root ro", "secretvg"),
    "home": ("/home/mallory/venv/lib/python3.12", "mallory"),
    "home on macOS": ("/Users/mallory/x", "mallory"),
    "account in the text": ("started by mallory with pid 4", "mallory"),
    "account after USER=": ("USER=trent HOME=/home/trent", "trent"),
    "uuid": ("root=UUID=0c1f7a52-1b2c-4d3e-9f00-abcdefabcdef ro", "0c1f7a52"),
    "uuid of a FAT file system": ("UUID=7A3B-1F2E /boot/efi", "7A3B"),
    "partition of an MBR": ("root=PARTUUID=5a6b7c8d-02 ro", "5a6b7c8d"),
    "label": ("root=LABEL=mallorys-disk ro", "mallorys"),
    "GPU's id": ("ROCR_VISIBLE_DEVICES=GPU-deadbeefcafe0123", "deadbeefcafe0123"),
    "machine id": ("systemd.machine_id=0123456789abcdef0123456789abcdef", "0123456789abcdef"),
    "disk": ("/dev/disk/by-id/nvme-Samsung_SSD_S4EWNX0R123456", "S4EWNX0R"),
    "mac": ("r8169 0000:04:00.0 eth0: RTL8125B, 04:42:1a:0b:0c:0d, XID 641", "04:42:1a"),
    "mac with dashes": ("04-42-1A-0B-0C-0D", "0B-0C"),
    "ip": ("nfs: server 192.168.17.4 not responding", "192.168.17.4"),
    "ip 6": ("inet6 fe80::642:1aff:fe0b:c0d scope link", "fe0b"),
    "ip 6 in full": ("from 2001:0db8:0000:0000:0000:ff00:0042:8329", "8329"),
    "mail": ("Signed by alice.b@mail.example.com", "alice.b"),
    "serial of a USB device": ("usb 1-2: SerialNumber: 0A1B2C3D4E", "0A1B2C3D4E"),
    "serial number": ("Serial Number = PF-3XYZ12", "PF-3XYZ12"),
    "serial without a colon": ("nvme0: serial 692204001234 model X", "692204001234"),
    "serial of a product": ("product_serial=PC0ABC12", "PC0ABC12"),
    "S/N": ("S/N: PF-3XYZ12", "PF-3XYZ12"),
    "id of a GPU without a colon": ("unique_id 1a2b3c4d5e6f7a8b", "1a2b3c4d"),
    "hive of GPUs": ("XGMI: Add node 0, hive 0x123456789abcdef.", "123456789abcdef"),
    "wwn": ("wwn-0x5002538e40a0b0c1", "5002538e40a0b0c1"),
    "eui": ("nvme-eui.002538b331a0b0c1", "002538b331a0b0c1"),
    "network": ('wlan0: associated with SSID "mallorys-net"', "mallorys-net"),
    "home on Windows": (r"C:\Users\erin\x", "erin"),
    "account at a host": ("ssh carol@node07 'ls'", "node07"),
    "key of a service": ("export OPENAI_API_KEY=abcdefghijkl123", "abcdefghijkl123"),
    "key by its beginning": ("log in with sk-proj-abcdefghijklmnop0123", "abcdefghijklmnop"),
    "token of a hub": ("hf_abcdefghijklmnopqrstuv", "abcdefghijklmn"),
    "token of a forge": ("https://ghp_abcdefghijklmnopqrst@github.com", "abcdefghijklmn"),
    "key of a cloud": ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN"),
    "password in a URL": ("https://erin:pw1234@example.org/x", "pw1234"),
    "password as an option": ("mysql --password hunter2 -u x", "hunter2"),
    "password": ("password: hunter2", "hunter2"),
    "bearer": ("Authorization: Bearer abcdef0123456789", "abcdef0123456789"),
    "web token": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def", "eyJzdWIi"),
    "key of ssh": ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIabc erin", "AAAAC3NzaC1"),
    "asset tag": ("asset_tag: LAB-00017", "LAB-00017"),
    "a serial that was read": ("board QX77-1234-Z is old", "QX77-1234-Z"),
}


@pytest.fixture
def redact() -> Redactor:
    return Redactor(["tower7.example.org"], ["mallory", "root", "user"], {"QX77-1234-Z": "serial"})


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS)
def test_nothing_of_it_is_left(redact: Redactor, text: str, secret: str) -> None:
    assert secret.lower() in text.lower()
    assert secret.lower() not in redact(text).lower()


@pytest.mark.parametrize(
    "text",
    [
        "[45767.270210] [drm:mes_v11_0_submit_pkt_and_poll_completion [amdgpu]] *ERROR* MES failed",
        "[    4.112233] amdgpu 0000:2f:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00000B3A",
        "amdgpu 0000:2f:00.0: amdgpu:   in page starting at address 0x0000000000000000 from client 10",
        "smu fw version = 0x004e7300 (78.115.0)",
        "firmware version 1.2.3.4 loaded",
        "Linux version 6.12.107+deb13-amd64 (Debian 6.12.107-1)",
        "amdgpu.ppfeaturemask=0xfff73fff iommu=pt",
        "driver 30.10.1.0, ROCm: 6.4.1.0, amdgpu version: 6.12.12.1",
        "Memory access fault by GPU node-1 (Agent handle: 0x55d0c1f7a520) on address 0x7f6459a00000.",
        "MES failed to respond to msg=REMOVE_QUEUE, hive of bees",
        "token bucket",
        "root has uid 0, user has none",
        "[drm] initializing kernel modesetting (IP DISCOVERY 0x1002:0x744C 0x1EAE:0x7901 0xC8).",
        "12:42:56 03:00.0 0000:03:00.0 [1002:744c]",
        "Cijk_Ailk_Bjlk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x64",
        "/root/.cache /usr/share/rocmcfg /sys/class/drm/card0",
    ],
)
def test_what_a_report_is_for_stays(redact: Redactor, text: str) -> None:
    assert redact(text) == text


def test_the_same_thing_has_the_same_name_throughout(redact: Redactor) -> None:
    first = redact(
        "root=UUID=0c1f7a52-1b2c-4d3e-9f00-abcdefabcdef resume=UUID=11111111-2222-3333-4444-555555555555"
    )
    assert first == "root=UUID=<uuid-1> resume=UUID=<uuid-2>"
    assert redact("0C1F7A52-1b2c-4d3e-9f00-abcdefabcdef") == "<uuid-1>"


def test_a_name_that_one_line_gives_away_goes_from_all(redact: Redactor) -> None:
    lines = "Nov 21 12:42:56 node07 kernel: x\nprocess vllm-carol on node07-worker\n/home/carol/x"
    redact.learn(lines)
    said = redact(lines)
    assert "carol" not in said
    assert "node07" not in said
    assert said.count("<host-1>") == 2


@given(st.text(), st.text())
def test_any_text_twice_is_as_once(before: str, after: str) -> None:
    redact = Redactor(["tower7"], ["mallory"])
    once = redact(f"{before}\nNov 21 12:42:56 tower7 kernel: /home/mallory 10.0.0.7 {after}")
    assert redact(once) == once
    assert "mallory" not in once.lower() or "mallory" in (before + after).lower()
