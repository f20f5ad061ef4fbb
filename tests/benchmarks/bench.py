"""Figures against their bars: `make bench`. Measures whole processes; nothing here is a timed test.

Every figure is the median over runs of a process that starts from nothing, as a user starts it. Two things
that are compared run in turns, A B A B, so that a slow minute of the machine meets both; their ratio is the
median over the pairs. Times are wall times, and times of the CPU: the program's and the kernel's for it. On a
busy machine these are steadier, and ratios are held against their bars by them. Memory is the peak of the
process (ru_maxrss of wait4).

Not for comparing two machines with each other. README.md beside this file holds the figures once taken.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DEMO = REPOSITORY / "docs" / "demo"
HEAVY = ("pydantic", "jinja2", "sh", "distro", "typer")
# Start-up is a third of a second of doctor's time, and counts for less the longer the log is.
LOG_MEGABYTES = 1000
DENSE_MEGABYTES = 15
NODES = "sys/devices/virtual/kfd/kfd/topology/nodes"
SETTINGS = (
    *("amdgpu.aspm=0", "amdgpu.audio=0", "amdgpu.bapm=0", "amdgpu.compute_multipipe=0", "amdgpu.dc=1"),
    *("amdgpu.deep_color=1", "amdgpu.dpm=1", "amdgpu.hw_i2c=1", "amdgpu.mcbp=0", "amdgpu.msi=1"),
    *("amdgpu.noretry=1", "amdgpu.runpm=0", "amdgpu.tmz=0", "amdgpu.vm_fault_stop=0"),
    *("karg.iommu=pt", "karg.pcie_aspm=off"),
)


@dataclass(frozen=True, slots=True)
class Run:
    """Times in seconds and peak memory in MiB of one process."""

    wall: float
    cpu: float
    peak: float


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. `over` is None where there is no bar."""

    what: str
    measured: str
    bar: str = ""
    over: bool | None = None


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure rocmcfg against its bars.")
    parser.add_argument("-n", type=int, default=15, metavar="RUNS", help="runs of each command (15)")
    runs = parser.parse_args().n
    with tempfile.TemporaryDirectory(prefix="rocmcfg-bench-") as temporary:
        figures = list(measure(Path(temporary), runs))
    print(f"{machine()}\nmedian of {runs} runs, whole processes\n")
    width = max(len(figure.what) for figure in figures)
    for figure in figures:
        verdict = "" if figure.over is None else "over" if figure.over else "ok"
        print(f"{figure.what:<{width}}  {figure.measured:>20}  {figure.bar:>9}  {verdict}".rstrip())
    return 1 if any(figure.over for figure in figures) else 0


def measure(temporary: Path, runs: int) -> Iterator[Figure]:
    yield from verify(temporary, runs)
    yield from plan(temporary, runs)
    yield from apply(temporary, runs)
    yield from growth(temporary, runs)
    yield from chains(temporary / "chains", runs)
    yield from doctor(temporary, min(runs, 5))
    yield from dense(temporary, min(runs, 5))
    yield from small(temporary, runs)
    yield from running(runs)
    yield from fleet(temporary / "fleet", min(runs, 5))
    yield from shipped(temporary / "shipped")
    yield from packaged(temporary / "packaged", runs)


def against(
    runs: int, what: str, mine: list[str], other_name: str, other: list[str], bar: float
) -> Iterator[Figure]:
    """A command against another program, or one of Python, that does as much."""
    program = shutil.which(other[0])
    if program is None:
        yield Figure(what, seconds(repeat(runs, mine)))
        yield Figure(f"  {other_name}", "not here")
        return
    pairs = in_turns(runs, mine, [program, *other[1:]])
    ratio = statistics.median(one.cpu / two.cpu for one, two in pairs)
    wall = statistics.median(one.wall / two.wall for one, two in pairs)
    yield Figure(what, seconds(one for one, _ in pairs))
    yield Figure(f"  {other_name}", seconds(two for _, two in pairs))
    yield Figure(
        "  ratio of the two (of wall times)", f"{ratio:.2f} ({wall:.2f})", f"<= {bar:g}", ratio > bar
    )


# -- the figures ----------------------------------------------------------------------------------------


def verify(temporary: Path, runs: int) -> Iterator[Figure]:
    root = sample(temporary / "verify")
    asked = [word for text in SETTINGS for word in ("--set", text)]
    must([*rocmcfg("apply", root), "--profile", "gfx1201", "--yes", "--quiet", *asked])
    must([sys.executable, str(DEMO / "reboot.py"), str(root)])
    shown = must(rocmcfg("verify", root))
    if "In effect: all 20 settings." not in shown:
        sys.exit(f"verify does not show 20 settings in effect:\n{shown}")
    # It checks the settings of a profile as verify does. Without its daemon it says so, and fails.
    yield from against(
        runs,
        "verify, 20 settings in effect",
        rocmcfg("verify", root),
        "tuned-adm verify",
        ["tuned-adm", "verify"],
        1.0,
    )
    yield Figure("  peak memory", memory(repeat(1, rocmcfg("verify", root))))
    loaded = imported(rocmcfg("verify", root))
    names = ", ".join(name for name in HEAVY if name in loaded) or "none"
    yield Figure(f"  imports of {', '.join(HEAVY)}", names, "none", names != "none")


def plan(temporary: Path, runs: int) -> Iterator[Figure]:
    root = sample(temporary / "plan")
    command = [*rocmcfg("plan", root), "--profile", "gfx1201"]
    defaults = "augtool print /files/etc/default/grub"
    yield from against(runs, "plan --profile gfx1201", command, defaults, defaults.split(), 0.3)
    peak = repeat(1, command)[0].peak
    yield Figure("  peak memory", f"{peak:.0f} MiB", "<= 60 MiB", peak > 60)


def apply(temporary: Path, runs: int) -> Iterator[Figure]:
    """Under --root no host tool runs: all of the time is rocmcfg's own, on top of what the tools take."""
    taken = []
    for number in range(runs):
        root = sample(temporary / "apply" / str(number))
        taken.append(timed([*rocmcfg("apply", root), "--profile", "gfx1201", "--yes"]))
    yield Figure("apply --root (no host tool runs)", seconds(taken))
    yield Figure("  peak memory", memory(taken))
    tool = shutil.which("grub-mkconfig")
    if tool is None:
        yield Figure("  grub-mkconfig of this machine", "not here")
        return
    # Without -o it prints the menu and writes nothing.
    os.environ["GRUB_DISABLE_OS_PROBER"] = "true"
    if subprocess.run([tool], capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode:
        yield Figure("  grub-mkconfig of this machine", "fails here")
        return
    tool_runs = repeat(min(runs, 5), [tool])
    share = median_wall(taken) / median_wall(tool_runs)
    yield Figure("  grub-mkconfig of this machine", seconds(tool_runs))
    yield Figure("  apply's own time, of that", f"{share:.0%}")


def growth(temporary: Path, runs: int) -> Iterator[Figure]:
    def files(count: int) -> Callable[[Path], None]:
        def add(root: Path) -> None:
            for number in range(count):
                path = root / f"etc/modprobe.d/other-{number:04}.conf"
                path.write_text(f"# not ours\noptions other{number} depth={number}\n")

        return add

    def nodes(count: int) -> Callable[[Path], None]:
        def add(root: Path) -> None:
            for number in range(2, count + 1):
                shutil.copytree(root / NODES / "1", root / NODES / str(number))

        return add

    # Ten times the files may take ten times as long, eight times the nodes eight times.
    for what, few, many, add in (("modprobe.d files", 100, 1000, files), ("GPU nodes", 8, 64, nodes)):
        small_root, large_root = sample(temporary / f"{what}-few"), sample(temporary / f"{what}-many")
        add(few)(small_root)
        add(many)(large_root)
        commands = ([*rocmcfg("plan", root), "--profile", "gfx1201"] for root in (large_root, small_root))
        pairs = in_turns(runs, *commands)
        ratio = statistics.median(large.wall / small.wall for large, small in pairs)
        yield Figure(f"plan, {few} {what}", seconds(small for _, small in pairs))
        yield Figure(f"plan, {many} {what}", seconds(large for large, _ in pairs))
        yield Figure("  ratio of the two", f"{ratio:.2f}", f"<= {many // few}", ratio > many / few)


def chains(temporary: Path, runs: int) -> Iterator[Figure]:
    """Each boot chain against Debian's GRUB, by the least CPU time of its runs, all in turns. Without
    programs of the host; where one has to run, the plan is made and then refused."""
    if shutil.which("grub-editenv") is None:
        yield Figure("boot chains", "no grub-common")
        return
    sys.path.insert(0, str(REPOSITORY))
    from tests.benchmarks.chains import HOSTS, KARGS, make

    roots = {name: make(temporary, name) for name in HOSTS}
    commands = {
        f"{command}, {name}": [*rocmcfg(command, root), *asked]
        for command, asked, at in (("plan", KARGS, 0), ("verify", (), 1))
        for name, root in ((name, roots[name][at]) for name in HOSTS)
    }
    taken: dict[str, list[Run]] = {what: [] for what in commands}
    for _ in range(runs + 1):
        for what, argv in commands.items():
            taken[what].append(timed(argv, may_fail=True))
    least = {what: min(run.cpu for run in found[1:]) for what, found in taken.items()}
    for what, cpu in least.items():
        ratio = cpu / least[f"{what.partition(',')[0]}, {HOSTS[0]}"]
        yield Figure(what, f"{cpu * 1000:.0f} ms, {ratio:.2f}", "<= 1.3", ratio > 1.3)


def doctor(temporary: Path, runs: int) -> Iterator[Figure]:
    """Against grep with the signatures of the known issues alone, in the C locale, where it is fastest."""
    grep = shutil.which("grep")
    if grep is None:
        yield Figure("doctor against grep -cE", "no grep")
        return
    signatures = temporary / "patterns"
    maker = [sys.executable, str(Path(__file__).with_name("logs.py"))]
    must([*maker, "patterns", str(signatures)])
    for kind in ("quiet", "storm", "gemm"):
        log = temporary / f"{kind}.log"
        must([*maker, kind, str(LOG_MEGABYTES), str(log)])
        mine = [*rocmcfg("doctor", sample(temporary / f"doctor-{kind}")), "--log", str(log)]
        # Its output goes through a pipe: to /dev/null, grep stops at the first line that it finds.
        script = 'LC_ALL=C "$1" -acE -f "$2" "$3" | cat'
        search = ["/bin/sh", "-c", script, "sh", grep, str(signatures), str(log)]
        pairs = in_turns(runs, mine, search)
        ratio = statistics.median(one.cpu / other.cpu for one, other in pairs)
        wall = statistics.median(one.wall / other.wall for one, other in pairs)
        bar = 2 if kind == "gemm" else 3
        peak = max(dense.peak for dense, _ in pairs)
        yield Figure(f"doctor, {kind} log of {LOG_MEGABYTES} MB", seconds(one for one, _ in pairs))
        yield Figure("  grep -cE of the same patterns", seconds(other for _, other in pairs))
        yield Figure(
            "  ratio of the two (of wall times)", f"{ratio:.2f} ({wall:.2f})", f"<= {bar}", wall > bar
        )
        yield Figure("  peak memory, grep's included", f"{peak:.0f} MiB", "<= 100 MiB", peak > 100)
        log.unlink()


def dense(temporary: Path, runs: int) -> Iterator[Figure]:
    """What a storm of many kinds of faults costs beyond the start of doctor."""
    root, log, line = sample(temporary / "dense"), temporary / "dense.log", temporary / "line.log"
    must([sys.executable, str(Path(__file__).with_name("logs.py")), "dense", str(DENSE_MEGABYTES), str(log)])
    line.write_text("hello world\n")
    mine, start = ([*rocmcfg("doctor", root), "--log", str(path)] for path in (log, line))
    pairs = in_turns(runs, mine, start)
    beyond = statistics.median(dense.cpu - other.cpu for dense, other in pairs)
    peak = max(dense.peak for dense, _ in pairs)
    yield Figure(f"doctor, dense log of {DENSE_MEGABYTES} MB", seconds(dense for dense, _ in pairs))
    yield Figure("  CPU time beyond its start", f"{beyond:.2f} s", "<= 1.5 s", beyond > 1.5)
    yield Figure("  peak memory", f"{peak:.0f} MiB", "<= 100 MiB", peak > 100)


def small(temporary: Path, runs: int) -> Iterator[Figure]:
    root = sample(temporary / "small")
    log, setting = temporary / "one.log", temporary / "amdgpu.conf"
    log.write_text("hello world\n")
    setting.write_text("options amdgpu cwsr_enable=0\n")
    for words in (
        ["status"],
        ["explain", "cwsr_enable"],
        ["lint", str(setting)],
        ["doctor", "--log", str(log)],
    ):
        command = [*program(), *words, "--root", str(root)]
        typer = [sys.executable, "-c", "import typer"]
        yield from against(runs, f"{words[0]}, one line", command, "python -c 'import typer'", typer, 2)
    for what, command in (
        ("--help", [*program(), "--help"]),
        ("--version", [*program(), "--version"]),
    ):
        yield Figure(what, seconds(repeat(runs, command)))


def running(runs: int) -> Iterator[Figure]:
    """What waiting for a program adds: `env` resolves the same variables, and only prints them."""
    pairs = in_turns(
        runs,
        [*program(), "run", "--set", "env.HSA_XNACK=1", "--", "/bin/true"],
        [*program(), "env", "--set", "env.HSA_XNACK=1"],
    )
    more = statistics.median(run.wall - env.wall for run, env in pairs) * 1000
    yield Figure("run --set env.HSA_XNACK=1 -- true", seconds(run for run, _ in pairs))
    yield Figure("  more than env, which waits for nothing", f"{more:.0f} ms", "<= 30 ms", more > 30)
    alone = repeat(runs, [*program(), "run", "--", "/bin/true"])
    yield Figure("run -- true", seconds(alone))
    with tempfile.TemporaryDirectory() as state:
        cost = [*program(), "try", "--cost", "--set", "env.HSA_XNACK=1", "--", "/bin/true"]
        tries = repeat(runs, ["/usr/bin/env", f"XDG_STATE_HOME={state}", *cost])
    yield Figure("try --cost -- true, which runs it 22 times", seconds(tries))
    each = statistics.median(run.wall for run in tries) * 1000 / 22  # its start included
    yield Figure("  for each of them", f"{each:.0f} ms", "<= 30 ms", each > 30)


def fleet(work: Path, runs: int) -> Iterator[Figure]:
    """10,000 hosts with three documents each: the least time of the CPU, the memory and the page."""
    sys.path.insert(0, str(REPOSITORY))
    from tests.benchmarks.fleet import in_browser, make

    page = work / "page.html"
    make(work / "hosts", 10_000, 3)
    for what, options in (
        ("table", ()),
        ("JSON", ("--json",)),
        ("page", ("--html", str(page))),
    ):
        taken = repeat(runs, [*program(), "fleet", str(work / "hosts"), *options])
        cpu = min(run.cpu for run in taken)
        peak = max(run.peak for run in taken)
        yield Figure(f"fleet, 10,000 hosts, {what}: CPU", f"{cpu:.2f} s", "<= 2 s", cpu > 2)
        yield Figure("  peak memory", f"{peak:.0f} MiB", "<= 150 MiB", peak > 150)
    large = page.stat().st_size
    yield Figure("  the page", size(large), "<= 8 MB", large > 8e6)
    if shutil.which("chromium") is None:
        yield Figure("  in a browser", "no chromium")
        return
    for what, slowest in in_browser(page).items():
        yield Figure(f"  {what}, slowest", f"{slowest:.0f} ms", "<= 300 ms", slowest > 300)


def shipped(work: Path) -> Iterator[Figure]:
    """Sizes of what users download, and of what it becomes on their disk."""
    made = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(work), str(REPOSITORY)]
    can = tried([str(REPOSITORY / "packaging/debian/build"), "--output", str(work)])
    tried(made)
    for pattern, what in (("*.whl", "wheel"), ("*.tar.gz", "sdist"), ("*.deb", ".deb, for six Pythons")):
        found = next(work.glob(pattern), None) if work.is_dir() else None
        yield Figure(what, "not here" if found is None else size(found.stat().st_size))
    if can and tried(["dpkg-deb", "-x", str(next(work.glob("*.deb"))), str(work / "x")]):
        files = [path.stat().st_size for path in (work / "x").rglob("*") if path.is_file()]
        yield Figure("  installed, without byte code", size(sum(files)))


def packaged(work: Path, runs: int) -> Iterator[Figure]:
    """The tree that packages install, for this Python alone, against this environment."""
    tree, wheels, root = str(REPOSITORY / "packaging/tree.py"), work / "wheels", work / "root"
    python = ".".join(map(str, sys.version_info[:2]))
    fetched = tried([sys.executable, tree, "fetch", "--into", str(wheels), "--python", python])
    if not fetched or not tried(
        [sys.executable, tree, "install", "--destdir", str(root), "--wheels", str(wheels)]
    ):
        yield Figure("packaged: --version", "not here")  # no package index, most likely
        return
    launcher = [sys.executable, "-IS", str(root / "usr/bin/rocmcfg")]
    host = sample(work)
    must([*rocmcfg("apply", host), "--profile", "gfx1201", "--yes", "--quiet"])
    must([sys.executable, str(DEMO / "reboot.py"), str(host)])
    verify = ["verify", "--root", str(host)]
    yield Figure("packaged: verify without byte code", seconds(repeat(min(runs, 5), [*launcher, *verify])))
    must([sys.executable, "-m", "compileall", "-q", str(root / "usr/lib/rocmcfg")])
    os.sync()  # what was just written can only be dropped once it is on disk
    first = []
    for _ in range(min(runs, 5)):
        forget([root, Path(os.__file__).parent])
        first.append(timed([*launcher, *verify]))
    yield Figure("  verify, first run: nothing of it in memory", seconds(first))
    for arguments in (["--version"], verify):
        pairs = in_turns(runs, [*launcher, *arguments], [*program(), *arguments])
        yield Figure(f"  {arguments[0]}", seconds(mine for mine, _ in pairs))
        yield Figure(f"  {arguments[0]}, from this environment", seconds(other for _, other in pairs))


def forget(places: Sequence[Path]) -> None:
    """Take files out of the page cache, as after a boot. What other processes have mapped stays: libc."""
    for place in places:
        for folder, _, names in os.walk(place):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


# -- processes ------------------------------------------------------------------------------------------


def program() -> list[str]:
    """The installed script, as users run it; without one, the module."""
    script = Path(sys.executable).with_name("rocmcfg")
    return [str(script)] if script.exists() else [sys.executable, "-m", "rocmcfg"]


def rocmcfg(command: str, root: Path) -> list[str]:
    return [*program(), command, "--root", str(root)]


def timed(command: list[str], *, may_fail: bool = False) -> Run:
    """One run, output thrown away. A failure ends the benchmark: its time would mean nothing."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    began = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    if status and not may_fail and command[0].startswith(str(Path(sys.executable).parent)):
        sys.exit(f"failed: {' '.join(command)}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def repeat(runs: int, command: list[str]) -> list[Run]:
    timed(command)  # warms the page cache and the byte code
    return [timed(command) for _ in range(runs)]


def in_turns(runs: int, one: list[str], other: list[str]) -> list[tuple[Run, Run]]:
    for command in (one, other):
        timed(command)
    return [(timed(one), timed(other)) for _ in range(runs)]


def must(command: Sequence[str]) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def tried(command: Sequence[str]) -> bool:
    """For what a machine may lack the tools or the network for."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return done.returncode == 0


def imported(command: Sequence[str]) -> set[str]:
    """The top-level modules that a run of the script imports, from Python's own import trace."""
    command = command if command[0] != sys.executable else command[1:]
    trace = subprocess.run(
        [sys.executable, "-X", "importtime", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    ).stderr
    return {line.rpartition("|")[2].strip().split(".")[0] for line in trace.splitlines()}


def sample(place: Path) -> Path:
    root = place / "host"
    shutil.copytree(DEMO / "sample-host", root, symlinks=True)
    return root


# -- how it looks ---------------------------------------------------------------------------------------


def median_wall(runs: Sequence[Run]) -> float:
    return statistics.median(run.wall for run in runs)


def seconds(runs: Sequence[Run] | Iterator[Run]) -> str:
    taken = list(runs)
    return (
        f"{median_wall(taken) * 1000:.0f} ms (CPU: {statistics.median(run.cpu for run in taken) * 1000:.0f})"
    )


def size(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def memory(runs: Sequence[Run] | Iterator[Run]) -> str:
    return f"{statistics.median(run.peak for run in runs):.0f} MiB"


def machine() -> str:
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    models = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    model = models[0] if models else platform.machine()
    kernel = ".".join(platform.release().split(".")[:2])
    return (
        f"{model}, {os.cpu_count()} CPUs, Linux {kernel}, Python {platform.python_version()}, "
        f"{time.strftime('%Y-%m-%d', time.gmtime())}"
    )


if __name__ == "__main__":
    sys.exit(main())
