"""Which settings hand over the machine, and that nothing we ship or advise does."""

from __future__ import annotations

import re

import pytest

from rocmcfg.change.planning.combine import parse_set
from rocmcfg.judging.hand_overs import hand_overs
from rocmcfg.knowledge import catalogue, profiles
from rocmcfg.model.profile import Setting
from tests.support.program import SOURCE

KNOWN = catalogue.load()


def met(text: str) -> bool:
    setting = parse_set(text)
    assert isinstance(setting, Setting), setting
    return bool(list(hand_overs([setting], KNOWN)))


@pytest.mark.parametrize(
    "text",
    [
        "karg.init=/tmp/x",
        "karg.rdinit=/x",
        "karg.root=/dev/sdb1",
        "karg.initrd=/x",
        "karg.systemd.run=/tmp/x",
        "karg.systemd.debug-shell",
        "karg.systemd.debug_shell=1",
        "karg.systemd.setenv=LD_PRELOAD=/tmp/x",
        "karg.systemd.set-credential=a:b",
        "karg.rd.break",
        "karg.rd.systemd.debug_shell",
        "karg.mount.usr=/dev/sdb",
        "karg.luks.key=/x",
        "karg.break=premount",
        "karg.single",
        "karg.S",
        "karg.1",
        "karg.emergency",
        "karg.recovery",
        "karg.selinux=0",
        "karg.apparmor=0x0",
        "karg.sysctl.kernel.core_pattern=/tmp/x",
        "karg.sysctl.kernel..modprobe=/tmp/x",
        "karg.sysctl.kernel.core-pattern=/tmp/x",
        "karg.cryptopts=keyscript=/tmp/x",
        "karg.TOMOYO_loader=/tmp/x",
        "karg.dm-mod.create=x",
        # an unknown argument is a variable of the first process
        "karg.LD_PRELOAD=/tmp/x",
        "karg.BASH_ENV=/tmp/x",
        # the same arguments, written as parameters of a module
        "systemd.run=/tmp/x",
        "rd.break=1",
        "sysctl.kernel=x",
        "firmware_class.path=/tmp/x",
        "firmware-class.path=/tmp/x",
        "drbd.usermode_helper=/tmp/x",
        "env.PATH=/tmp:/usr/bin",
        "env.LD_PRELOAD=/usr/lib/x.so",
        "env.LD_AUDIT=x.so",
        "env.LD_LIBRARY_PATH=/home/eve/lib",
        "env.LD_LIBRARY_PATH=/usr/lib:/home/eve/lib",
        "env.LD_LIBRARY_PATH=/usr/lib;/home/eve/lib",
        "env.LD_LIBRARY_PATH=/usr/lib:",
        "env.LD_LIBRARY_PATH=/usr/lib/../../home/eve",
        "env.LD_LIBRARY_PATH=/usrlocal",
        "env.LD_LIBRARY_PATH=/opt/rocmet",
        "env.LD_LIBRARY_PATH=lib",
        "env.HSA_TOOLS_LIB=/home/eve/x.so",
        "env.HSA_TOOLS_LIB=./x.so",
        "env.BASH_ENV=/tmp/x",
        "env.PROMPT_COMMAND=/tmp/x",
        "env.PYTHONPATH=/tmp",
        "env.GIT_SSH_COMMAND=/tmp/x",
        "env.https_proxy=http://eve:3128",
        "env.TMPDIR=/home/eve",
        "env.ROCM_PATH=/home/eve/rocm",
        "env.VK_ICD_FILENAMES=/home/eve/x.json",
        "env.LIBVA_DRIVER_NAME=../../home/eve/x",
        "env.AMD_LOG_LEVEL_FILE=/home/eve/x",
        "env.AMD_LOG_LEVEL_FILE=/etc/passwd",
        "env.PYTORCH_TUNABLEOP_FILENAME=/home/eve/x",
        "env.HIPCC_LINK_FLAGS_APPEND=-fplugin=x.so",
        "env.NCCL_TOPO_FILE=/home/eve/x.xml",
    ],
)
def test_who_chooses_it_has_the_machine(text: str) -> None:
    assert met(text)


@pytest.mark.parametrize(
    "text",
    [
        "karg.iommu=pt",
        "karg.initcall_debug",
        "karg.rootwait",
        "karg.mitigations=off",
        "karg.quiet",
        "karg.3",
        "karg.rd.driver.blacklist=nouveau",
        "karg.sysctl.vm.compaction_proactiveness=20",
        "karg.sysctl.kernel.numa_balancing=0",
        "karg.systemd.log_level=debug",
        "karg.modprobe.blacklist=radeon",
        "amdgpu.runpm=0",
        "feature.gfxoff=false",
        "env.LD_LIBRARY_PATH=/opt/rocm/lib",
        "env.LD_LIBRARY_PATH=/opt/rocm-7.1.0/lib:/usr/lib/x86_64-linux-gnu:/lib64",
        "env.LD_BIND_NOW=1",
        "env.HSA_TOOLS_LIB=librocm-debug-agent.so.2",
        "env.HSA_TOOLS_LIB=/opt/rocm/lib/librocm-debug-agent.so.2",
        "env.NCCL_NET_PLUGIN=none",
        "env.ROCM_PATH=/opt/rocm-7.1.0",
        "env.HSA_OVERRIDE_GFX_VERSION=11.0.0",
        "env.PYTHONUNBUFFERED=1",
        "env.LIBVA_DRIVER_NAME=radeonsi",
        "env.PYTORCH_TUNABLEOP_VERBOSE_FILENAME=err",
        "env.AMD_LOG_LEVEL=4",
    ],
)
def test_what_does_not_is_left_alone(text: str) -> None:
    assert not met(text)


# What part of a name says that the value may be a file, a program, or a machine.
NAMES_A_PLACE = re.compile(
    "FILE|PATH|DIR|LIB|LOG|CACHE|DUMP|TRACE|SAVE|TEMP|TOOL|PLUGIN|LOAD|CONF|INI|HOME|ROOT|DB|OUT|TOPO|COMPILE|EXEC"
    "|CMD|COMMAND|HOST|SOCK|URL|ADDR|PROFIL|SCRIPT|HOOK|FLAGS|OPTIONS|REDIRECT|DATA|MODULE|OVERRIDE|NAME|CERT|PREFIX"
    "|PATTERN|TARGET|DRIVER|CORE"
)
# Names that such a part does not make a place. Nothing need be said where the reader takes a closed list of
# words, or a pattern that no path fits.
HARMLESS = {
    "AMDGPU_TARGET": "the name of a chip",
    "GPU_TARGET": "the name of a chip",
    "TENSILE_DB": "a number, as a mask",
    "HIP_FORCE_QUEUE_PROFILING": "nothing reads it",
    "NCCL_IGNORE_CPU_AFFINITY": "a number: is it 0?",
    "NCCL_SOCKET_IFNAME": "names of network interfaces, compared with those that are there",
    "OLLAMA_LLM_LIBRARY": "the name of a backend among those that Ollama brought",
    "RCCL_LOG_LEVEL": "a number",
    "TORCH_COMPILE_DEBUG": "a number: is it 0?",
    "TORCH_SHOW_CPP_STACKTRACES": "a number: is it 0?",
}


def test_each_variable_whose_name_speaks_of_a_place_is_judged() -> None:
    place = "/home/eve/x"
    for name, variable in KNOWN.variables.items():
        closed = variable.values or (variable.pattern and not re.fullmatch(variable.pattern, place))
        if NAMES_A_PLACE.search(name) and not closed:
            assert met(f"env.{name}={place}") != (name in HARMLESS), f"{name}: {variable.summary}"
    assert HARMLESS.keys() <= KNOWN.variables.keys()


def test_nothing_that_we_ship_or_advise_hands_over_the_machine() -> None:
    from rocmcfg.host.local import LocalHost

    names = [path.stem for path in (SOURCE / "profiles").glob("*.toml")]
    for profile in profiles.load(LocalHost(str(SOURCE)), names):
        assert not list(hand_overs(profile.settings, KNOWN)), profile.name
    for issue in catalogue.known_issues():
        assert not [text for text in issue.workaround.settings if met(str(text))], issue.id
    for name, argument in KNOWN.arguments.items():
        value = next(iter(argument.values), "1")
        assert not met(f"karg.{name}={value}"), name


def test_each_row_says_what_it_gives_and_where_that_is_said() -> None:
    for rows in KNOWN.hand_overs.values():
        for row in rows:
            assert row.names
            assert not row.gives.endswith(".")
            assert row.sources
            for one in row.but:
                assert any(one.startswith(name.rstrip("*")) for name in row.names), one


def test_our_own_modules_need_no_look() -> None:
    """Their parameters are passed over without reading the table."""
    patterns = [name for row in KNOWN.hand_overs["argument"] for name in row.names]
    for module in KNOWN.modules():
        assert not [p for p in patterns if p.startswith((f"{module}.", "*"))]
