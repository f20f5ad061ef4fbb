"""Why a program sees no GPU: the first layer that fails is the answer, and nothing passes without proof."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from rocmcfg.advice.doctor.access import Access, Evidence, walk
from rocmcfg.advice.doctor.access_facts import hides_all
from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.host.local import LocalHost
from rocmcfg.host.local_view import LocalView
from rocmcfg.knowledge import catalogue, faults
from rocmcfg.knowledge.no_gpu import access_layers
from rocmcfg.workflow import diagnosing
from tests.support.hosts import File, Link, debian_grub_host
from tests.support.program import rocmcfg, unfolded

NO_DEVICE = "ggml_cuda_init: failed to initialize ROCm: no ROCm-capable device is detected"
GPU = "sys/bus/pci/devices/0000:03:00.0"
TORCH = "usr/lib/python3/dist-packages/torch/version.py"


def access(root: Path, line: str = "", environment: Mapping[str, str] | None = None) -> Access:
    """Of a host and a log; without a line of the host alone."""
    log = root.parent / "of.log"
    log.write_text(f"{line}\n")
    paths = [str(log)] if line else []
    (root / "var/log").mkdir(parents=True, exist_ok=True)
    (root / "var/log/kern.log").write_text("all is well\n")
    made = diagnosing.diagnose(LocalHost(str(root)), paths, Options(), environment or {}).access
    assert made is not None
    return made


def status(walked: Access) -> dict[str, str]:
    return {layer.id: layer.status for layer in walked.layers}


# -- the table -------------------------------------------------------------------------------------


def test_each_cause_is_shown_by_a_host_or_by_a_class_that_exists() -> None:
    issues = {issue.id for issue in catalogue.known_issues()}
    causes = [cause for layer in access_layers() for cause in layer.causes]
    assert len({cause.id for cause in causes}) == len(causes)
    for cause in causes:
        assert set(cause.issues) <= issues, cause.id
        assert set(cause.faults) <= set(faults.faults()), cause.id
        assert cause.command
        assert cause.cure.endswith(".")
        assert cause.meaning.endswith(".")
        assert not cause.title.endswith(".")


def test_no_class_of_a_log_names_two_causes() -> None:
    named = [id for layer in access_layers() for cause in layer.causes for id in cause.faults + cause.issues]
    assert len(set(named)) == len(named)


def test_what_a_host_shows_is_in_the_table(tmp_path: Path) -> None:
    from rocmcfg.advice.doctor import access_facts
    from rocmcfg.workflow.planning import collect_facts

    view = LocalHost(str(debian_grub_host(tmp_path, loaded=False)))
    shown = access_facts.read(view, collect_facts(view), {}, {})
    layers = access_layers()
    assert set(shown) <= {layer.id for layer in layers} | {c.id for layer in layers for c in layer.causes}


# -- the walk --------------------------------------------------------------------------------------


def test_the_first_layer_that_fails_is_the_answer_and_nothing_above_is_looked_at() -> None:
    shown = {"pci": Evidence(True), "driver": Evidence(False), "rights": Evidence(False)}
    walked = walk(access_layers(), shown, ())
    assert walked.answer is not None
    assert (walked.answer.layer, walked.answer.cause.id) == ("driver", "driver-gave-up")
    assert status(walked)["pci"] == "passed"
    assert status(walked)["rights"] == "not checked"


def test_what_cannot_be_told_never_passes_and_never_fails() -> None:
    walked = walk(access_layers(), {"pci": Evidence(None)}, ())
    assert walked.answer is None
    assert set(status(walked).values()) == {"unknown"}


def test_a_layer_below_that_of_the_log_is_the_answer_of_its_own_host() -> None:
    walked = walk(access_layers(), {"rights": Evidence(False, "/dev/kfd")}, {"AMD-1101"})
    assert walked.answer is not None
    assert (walked.answer.layer, walked.answer.source) == ("rights", "the host")


def test_without_the_host_the_log_names_the_layer() -> None:
    walked = walk(access_layers(), {}, {"AMD-1101", "AMD-1003"})
    assert walked.answer is not None
    assert (walked.answer.cause.id, walked.answer.source) == ("locked", "the log")


def test_the_hosts_own_log_of_an_earlier_boot_accuses_no_layer_that_passes_now() -> None:
    shown = {"pci": Evidence(True), "driver": Evidence(True)}
    assert walk(access_layers(), shown, {"AMD-302"}, own_log=True).answer is None
    assert walk(access_layers(), shown, {"AMD-302"}).answer is not None


def test_a_pytorch_for_nvidia_is_no_answer_to_another_program() -> None:
    shown = {"framework": Evidence(False, "torch")}
    ollama = walk(access_layers(), shown, {"AMD-1309"}).answer
    assert ollama is not None
    assert ollama.cause.id == "ollama-discovery"
    own = walk(access_layers(), shown, {"AMD-1302"}).answer
    assert own is not None
    assert own.cause.id == "framework-no-gpu"


# -- hosts -----------------------------------------------------------------------------------------


def test_a_sound_host_passes_where_its_root_shows_it(tmp_path: Path) -> None:
    walked = access(debian_grub_host(tmp_path))
    assert walked.answer is None
    states = status(walked)
    assert {id for id, state in states.items() if state == "passed"} == {"pci", "driver", "topology"}
    assert states["kfd"] == states["rights"] == "unknown", "another root has no /dev"


NOT_SET = "CONFIG_DRM_AMDGPU=m\n# CONFIG_HSA_AMD is not set\n"
DEBIAN = "6.12.107+deb13-amd64"


@pytest.mark.parametrize(
    ("host", "extra", "cause"),
    [
        ({"gfx": None}, {"sys/bus/pci/devices/0000:00:02.0/vendor": "0x8086\n"}, "no-pci-device"),
        ({"loaded": False, "booted_with": "quiet nomodeset"}, {}, "nomodeset"),
        ({"loaded": False, "booted_with": "amdgpu.modeset=0"}, {}, "nomodeset"),
        ({"loaded": False, "booted_with": "module_blacklist=nouveau,amdgpu"}, {}, "blacklisted"),
        ({"loaded": False, "modprobe_d": {"off.conf": "blacklist amdgpu\n"}}, {}, "blacklisted"),
        ({"loaded": False, "modprobe_d": {"off.conf": "install amdgpu /bin/false\n"}}, {}, "blacklisted"),
        (
            {"loaded": False},
            {f"{GPU}/driver": Link("../../drivers/vfio-pci"), "sys/bus/pci/drivers/vfio-pci/bind": ""},
            "vfio",
        ),
        ({"loaded": False, "driver": "missing"}, {}, "no-module"),
        ({"loaded": False}, {"usr/lib/firmware/other.bin": ""}, "firmware"),
        ({"loaded": False}, {}, "not-loaded"),
        ({"loaded": False}, {"sys/module/amdgpu/version": "6.3.6\n"}, "driver-gave-up"),
        ({"kfd": False}, {f"boot/config-{DEBIAN}": NOT_SET}, "no-hsa-amd"),
    ],
)
def test_a_host_shows_the_cause(
    tmp_path: Path, host: dict[str, object], extra: dict[str, File], cause: str
) -> None:
    walked = access(debian_grub_host(tmp_path, extra=extra, **host))  # type: ignore[arg-type]
    assert walked.answer is not None
    assert walked.answer.cause.id == cause
    assert walked.answer.source == "the host"


def test_a_kernel_with_kfd_is_not_accused_by_its_configuration(tmp_path: Path) -> None:
    assert access(debian_grub_host(tmp_path, extra={f"boot/config-{DEBIAN}": NOT_SET})).answer is None


def test_a_topology_of_processors_alone_has_no_gpu(tmp_path: Path) -> None:
    cpu = {"sys/class/kfd/kfd/topology/nodes/0/properties": "cpu_cores_count 16\nsimd_count 0\n"}
    walked = access(debian_grub_host(tmp_path, kfd=False, extra=cpu))
    assert walked.answer is not None
    assert walked.answer.cause.id == "no-gpu-node"


def test_a_gpu_that_kfd_never_supported_is_named(tmp_path: Path) -> None:
    old = {
        "sys/class/kfd/kfd/topology/nodes/0/properties": "simd_count 0\n",
        f"{GPU}/device": "0x6798\n",
    }
    walked = access(debian_grub_host(tmp_path, kfd=False, ip_discovery=False, extra=old))
    assert walked.answer is not None
    assert walked.answer.cause.id == "too-old-gpu"


@pytest.mark.parametrize(
    ("group", "container", "members", "cause"),
    [
        ("render", "", "", "not-in-group"),
        ("render", "", "ann,me", "not-logged-in-again"),
        ("root", "", "", "root-only"),
        ("render", "podman", "", "group-in-container"),
    ],
)
def test_a_device_that_the_user_may_not_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, container: str, members: str, cause: str
) -> None:
    extra = {"dev/kfd": "", "dev/dri/renderD128": "", "etc/group": f"root:x:0:\nrender:x:109:{members}\n"}
    root = debian_grub_host(tmp_path, container=container or None, extra=extra)
    monkeypatch.setattr(LocalView, "offline", False)
    monkeypatch.setattr(LocalView, "closed_to_us", lambda _, path: group if path == "/dev/kfd" else None)
    monkeypatch.setattr(LocalView, "login_name", "me")
    monkeypatch.setattr(LocalView, "runs_tools", False)
    answer = access(root).answer
    assert answer is not None
    assert (answer.layer, answer.cause.id) == ("rights", cause)


@pytest.mark.parametrize(("is_root", "state"), [(True, "unknown"), (False, "passed")])
def test_root_proves_nothing_about_the_rights_of_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_root: bool, state: str
) -> None:
    root = debian_grub_host(tmp_path, extra={"dev/kfd": ""})
    monkeypatch.setattr(LocalView, "offline", False)
    monkeypatch.setattr(LocalView, "closed_to_us", lambda *_: None)
    monkeypatch.setattr(LocalView, "is_root", is_root)
    monkeypatch.setattr(LocalView, "runs_tools", False)
    assert status(access(root))["rights"] == state


def test_a_container_without_the_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = debian_grub_host(tmp_path, container="docker")
    monkeypatch.setattr(LocalView, "offline", False)
    monkeypatch.setattr(LocalView, "runs_tools", False)
    answer = access(root).answer
    assert answer is not None
    assert answer.cause.id == "no-device-in-container"


@pytest.mark.parametrize("is_offered", [True, False])
def test_wsl_has_no_device_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_offered: bool
) -> None:
    release = {"proc/sys/kernel/osrelease": "6.6.87.2-microsoft-standard-WSL2\n"}
    dxg: dict[str, File] = {"dev/dxg": ""} if is_offered else {}
    root = debian_grub_host(tmp_path, gfx=None, extra={**release, **dxg})
    monkeypatch.setattr(LocalView, "offline", False)
    monkeypatch.setattr(LocalView, "runs_tools", False)
    walked = access(root)
    assert (walked.answer.cause.id if walked.answer else None) == (None if is_offered else "wsl")


@pytest.mark.parametrize(
    ("name", "value", "count", "hides"),
    [
        ("ROCR_VISIBLE_DEVICES", "", 1, True),
        ("HIP_VISIBLE_DEVICES", "", 1, False),
        ("HIP_VISIBLE_DEVICES", "-1", 1, True),
        ("ROCR_VISIBLE_DEVICES", "2,3,1,0", 1, True),
        ("ROCR_VISIBLE_DEVICES", "0,5", 1, False),
        ("ROCR_VISIBLE_DEVICES", "2", 0, False),
        ("ROCR_VISIBLE_DEVICES", "GPU-1234567890abcdef", 1, False),
        ("CUDA_VISIBLE_DEVICES", None, 1, False),
    ],
)
def test_which_values_hide_every_gpu(name: str, value: str | None, count: int, hides: bool) -> None:
    assert hides_all(name, value, count) is hides


@pytest.mark.parametrize(
    ("variable", "cause"),
    [("ROCR_VISIBLE_DEVICES=4", "hidden"), ("HSA_OVERRIDE_GFX_VERSION=", "empty-override")],
)
def test_a_variable_in_a_file_hides_the_gpu(tmp_path: Path, variable: str, cause: str) -> None:
    root = debian_grub_host(tmp_path, extra={"etc/environment": f"{variable}\n"})
    answer = access(root).answer
    assert answer is not None
    assert answer.cause.id == cause
    assert "/etc/environment" in answer.detail


def test_the_pytorch_of_the_active_environment_is_read_without_importing_it(tmp_path: Path) -> None:
    version = "__version__ = '2.9.1+cu128'\ncuda = '12.8'\nhip = None\n"
    own = {"home/me/venv/lib/python3.13/site-packages/torch/version.py": version}
    answer = access(
        debian_grub_host(tmp_path, extra=own), environment={"VIRTUAL_ENV": "/home/me/venv"}
    ).answer
    assert answer is not None
    assert answer.cause.id == "torch-not-rocm"
    assert "2.9.1+cu128" in answer.detail
    systems = access(debian_grub_host(tmp_path, name="system", extra={TORCH: version}))
    assert systems.answer is None, "programs bring their own"
    assert status(systems)["framework"] == "unknown"


def test_a_library_without_code_for_the_gpu(tmp_path: Path) -> None:
    tensile = "opt/rocm-7.1.0/lib/rocblas/library/TensileLibrary_lazy_gfx90a.dat"
    answer = access(debian_grub_host(tmp_path, extra={tensile: ""})).answer
    assert answer is not None
    assert answer.cause.id == "no-code"


# -- what is printed -------------------------------------------------------------------------------


def test_the_hosts_cause_comes_before_the_answer_of_the_log(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, loaded=False, modprobe_d={"off.conf": "blacklist amdgpu\n"})
    log = tmp_path / "program.log"
    log.write_text(f"{NO_DEVICE}\n")
    printed = unfolded(rocmcfg("doctor", log, "--root", root).out)
    assert printed.index("the module amdgpu is on a blacklist") < printed.index("AMD-1101")


def test_a_log_of_another_machine_is_not_refined_by_this_host(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, loaded=False, modprobe_d={"off.conf": "blacklist amdgpu\n"})
    log = tmp_path / "program.log"
    log.write_text(f"amdgpu 0000:c5:00.0: amdgpu: ring gfx timeout\n{NO_DEVICE}\n")
    done = rocmcfg("doctor", log, "--root", root, "--json")
    answer = done.document["access"]["answer"]
    assert (answer["source"], answer["id"]) == ("the log", "no-hip-device")
    assert "blacklist" not in rocmcfg("doctor", log, "--root", root).out


def test_a_log_that_may_be_another_machines_is_not_refined_either(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, loaded=False, booted_with="nomodeset")
    log = tmp_path / "program.log"
    log.write_text(f"Aug 05 08:56:27 server kernel: amdgpu: x\n{NO_DEVICE}\n")
    document = rocmcfg("doctor", log, "--root", root, "--json").document
    assert document["access"]["answer"]["source"] == "the log"
    assert document["harmful"] == []


def test_the_way_is_printed_without_a_log(tmp_path: Path) -> None:
    printed = unfolded(rocmcfg("doctor", "--root", debian_grub_host(tmp_path)).out)
    assert "passed PCI bus, driver amdgpu" in " ".join(printed.split())
    assert "unknown /dev/kfd, rights" in " ".join(printed.split())
