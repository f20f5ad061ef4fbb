"""Makes logs of any size for the benchmark of doctor: a quiet one, a storm of faults, a dense one with every
line of amdgpu that the knowledge has, and what HIP prints with AMD_LOG_LEVEL=3, where lines are long and hold
names of GEMM kernels.

    python tests/benchmarks/logs.py quiet 1000 quiet.log      # 1000 MB
    python tests/benchmarks/logs.py storm 1000 storm.log
    python tests/benchmarks/logs.py dense 15 dense.log
    python tests/benchmarks/logs.py gemm 1000 gemm.log
    python tests/benchmarks/logs.py patterns patterns.txt     # the signatures, for grep -f

The same arguments give the same bytes.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from rocmcfg.knowledge import catalogue, faults

_QUIET = (
    "amdgpu 0000:03:00.0: amdgpu: ring comp_1.{a}.0 uses VM inv eng {b} on hub 0",
    "usb 1-{a}: new high-speed USB device number {b} using xhci_hcd",
    'audit: type=1400 audit(17{a}.{b}:12): apparmor="STATUS" operation="profile_load"',
    "[drm] Initialized amdgpu 3.{a}.{b} for 0000:03:00.0 on minor 1",
    "EXT4-fs (nvme0n1p{a}): mounted filesystem with ordered data mode. Opts: {b}",
    "amdgpu 0000:03:00.0: amdgpu: SMU is resumed successfully! {a}.{b}",
    "nvme nvme{a}: {b}/0/0 default/read/poll queues",
    "perf: interrupt took too long ({a} > {b}), lowering kernel.perf_event_max_sample_rate",
    "wlp4s0: authenticated with {a} {b}",
    "pcieport 0000:00:01.{a}: AER: Corrected error message received from 0000:{b}",
)
_FAULTS = (
    "amdgpu 0000:2f:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:169 vmid:{b} pasid:{a}, for process x)",
    "amdgpu 0000:2f:00.0: amdgpu:   in page starting at address 0x{a:016x} from client {b}",
    "amdgpu 0000:2f:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00{a:05x}{b}",
    "amdgpu 0000:2f:00.0: amdgpu:      Faulty UTCL2 client ID: CB/DB (0x{b})",
    "[drm:mes_v11_0_submit_pkt_and_poll_completion [amdgpu]] *ERROR* MES failed to response msg=3",
    "[drm:amdgpu_mes_unmap_legacy_queue [amdgpu]] *ERROR* failed to unmap legacy queue",
    "amdgpu 0000:2f:00.0: amdgpu: GPU mode1 reset",
    "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq={a}, emitted seq={b}",
)


_FLAGS = (
    "AFC",
    "AFEM",
    "CLR",
    "CADS",
    "DTLA",
    "EPS",
    "GRPM",
    "GLS",
    "LPA",
    "NLCA",
    "PGR",
    "SIA",
    "VWA",
    "WSGRA",
)


def _gemm(names: int = 30) -> tuple[str, ...]:
    """Lines of 1 KiB, each of them with the name of a kernel that reads past its operand."""
    chance = random.Random(names)
    made = []
    for _ in range(names):
        flags = "_".join(f"{chance.choice(_FLAGS)}{chance.randrange(32)}" for _ in range(120))
        name = f"Cijk_Ailk_Bjlk_BBS_BH_UserArgs_MT64x64x64_SN_DTVA0_DTVB1_ISA1201_IU1_{flags}"
        made.append(":3:rocvirtual.cpp :{b}: {a} us: ShaderName : " + name)
    return tuple(made)


def _dense(size: int) -> Iterator[str]:
    """Lines of the driver, hundreds of kinds in no order, each time with other numbers."""
    issues = (s for issue in catalogue.known_issues() for g in issue.signatures for s in g.samples)
    lines = [*(line.text for fault in faults.faults().values() for line in fault.lines), *issues]
    kinds = list(dict.fromkeys(line for line in lines if re.search("amdgpu|drm|kfd", line)))
    chance, made, now = random.Random(size), 0, 0.0
    hexadecimal, decimal = re.compile("(?<=0x)[0-9a-fA-F]+"), re.compile(r"(?<![\w.])\d{2,}(?![\w.])")

    def other(number: re.Match[str], digits: str) -> str:
        return "".join(chance.choices(digits, k=len(number[0])))

    while made < size:
        text = hexadecimal.sub(lambda number: other(number, "0123456789abcdef"), chance.choice(kinds))
        text = decimal.sub(lambda number: other(number, "0123456789"), text)
        now += chance.random() / 50
        line = f"2026-11-21T12:00:00+00:00 host kernel: [{now:12.6f}] {text}\n"
        made += len(line)
        yield line


def write(kind: str, megabytes: int, path: Path) -> None:
    """`kind` is quiet (nothing wrong but one failure in the middle), storm (faults and nothing else), dense
    (hundreds of kinds of faults) or gemm (a long line for every kernel that was started)."""
    if kind == "dense":
        path.write_text("".join(_dense(megabytes * 1_000_000)))
        return
    block = _block(_gemm(), 10_000) if kind == "gemm" else _block(_QUIET if kind == "quiet" else _FAULTS)
    count = max(megabytes * 1_000_000 // len(block), 1)
    with path.open("wb") as stream:
        for number in range(count):
            stream.write(block)
            if kind == "quiet" and number == count // 2:
                stream.write(_block(_FAULTS, 40))


def _block(lines: tuple[str, ...], count: int = 100_000) -> bytes:
    chance = random.Random(count)
    made, now = [], 0.0
    for number in range(count):
        now += chance.random() / 50
        text = lines[number % len(lines)].format(a=chance.randrange(9999), b=chance.randrange(9))
        made.append(f"2026-11-21T12:00:00+00:00 kernel: [{now:12.6f}] {text}\n")
    return "".join(made).encode()


def patterns() -> list[str]:
    return list(dict.fromkeys(s.pattern for issue in catalogue.known_issues() for s in issue.signatures))


if __name__ == "__main__":
    if sys.argv[1] == "patterns":
        Path(sys.argv[2]).write_text("\n".join(patterns()) + "\n")
    else:
        write(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
