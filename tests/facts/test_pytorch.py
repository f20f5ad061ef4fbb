"""PyTorch as its `torch/version.py` tells: read as text, wherever it may lie, whatever is in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.facts.rocm import read_pytorch
from rocmcfg.host.local import LocalHost
from rocmcfg.model.facts import PyTorch
from tests.support.hosts import Link, make_root

PLACE = "usr/lib/python3/dist-packages/torch/version.py"


def version_py(version: str, hip: str | None = None, rocm: str | None = "-") -> str:
    """As PyTorch's build writes it; older ones have no `rocm` line at all."""
    lines = [
        "from typing import Optional",
        "__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'rocm']",
        f"__version__ = '{version}'",
        "debug = False",
        "cuda: Optional[str] = None",
        f"hip: Optional[str] = {hip!r}",
    ]
    return "\n".join([*lines, *([] if rocm == "-" else [f"rocm: Optional[str] = {rocm!r}"])]) + "\n"


def found(tmp_path: Path, text: str | bytes, *own: str) -> tuple[PyTorch, ...]:
    return read_pytorch(LocalHost(str(make_root(tmp_path, {PLACE: text}))), own)


@pytest.mark.parametrize(
    ("text", "version", "rocm"),
    [
        (version_py("2.9.1+rocm7.0", "7.0.51831-7c9236b16"), (2, 9, 1), (7, 0)),
        (version_py("2.9.1+rocm7.1.1.lw.git351ff442", "7.1.25424"), (2, 9, 1), (7, 1, 1)),
        (version_py("2.13.0+rocm10.0.0", "7.15.26333", "10.0.0"), (2, 13, 0), (10, 0, 0)),
        (version_py("2.12.0", "7.2.53211", "7.2.3"), (2, 12, 0), (7, 2, 3)),
        (version_py("2.8.0a0+gitabc", "6.4.43483"), (2, 8, 0), (6, 4)),
        # from TheRock on HIP counts by itself, so that nothing can be read from it
        (version_py("2.10.0a0+gitabc", "7.13.26001"), (2, 10, 0), None),
        ("__version__ = '1.13.1+rocm5.2'\ndebug = False\nhip = '5.2.21151'\n", (1, 13, 1), (5, 2)),
    ],
)
def test_the_version_and_the_rocm_that_it_brings(
    tmp_path: Path, text: str, version: tuple[int, ...], rocm: tuple[int, ...] | None
) -> None:
    (torch,) = found(tmp_path, text)
    assert (torch.version, torch.rocm, torch.source, torch.own) == (version, rocm, f"/{PLACE}", False)


@pytest.mark.parametrize(
    "text",
    [
        version_py("2.9.1+cpu"),
        version_py("2.14.0+cu130", None, None),
        "",
        "__version__ = unknown\nhip = '7.0'\n",
        b"\xff\xfe__version__ = '2.9.1+rocm7.0'",
    ],
    ids=["processor", "other maker", "empty", "no version", "not text"],
)
def test_what_is_no_build_for_amd_gpus_is_left_out(tmp_path: Path, text: str | bytes) -> None:
    assert found(tmp_path, text) == ()


def test_every_place_of_the_system_is_looked_into_and_a_link_counts_once(tmp_path: Path) -> None:
    old, new = version_py("2.8.0+rocm6.4", "6.4.4"), version_py("2.9.1+rocm7.0", "7.0.5")
    root = make_root(
        tmp_path,
        {
            "usr/local/lib/python3.12/dist-packages/torch/version.py": old,
            "opt/conda/lib/python3.11/site-packages/torch/version.py": new,
            "usr/lib/python3.13/site-packages/torch/version.py": new,
            "usr/lib64": Link("lib"),
            "usr/lib/python3-apt/site-packages/torch/version.py": version_py("9.9+rocm9", "9.9"),
        },
    )
    texts = [torch.text for torch in read_pytorch(LocalHost(str(root)))]
    assert sorted(texts) == ["2.8.0+rocm6.4", "2.9.1+rocm7.0"]


def test_a_virtual_environment_of_the_caller_is_marked_as_such(tmp_path: Path) -> None:
    root = make_root(
        tmp_path,
        {
            PLACE: version_py("2.8.0+rocm6.4", "6.4.4"),
            "home/x/venv/lib/python3.12/site-packages/torch/version.py": version_py("2.9.1+rocm7.0", "7.0.5"),
        },
    )
    torches = read_pytorch(LocalHost(str(root)), ("/home/x/venv", "/home/x/none"))
    assert [(t.text, t.own) for t in torches] == [("2.9.1+rocm7.0", True), ("2.8.0+rocm6.4", False)]


@given(
    st.binary(max_size=200) | st.text(max_size=80).map(lambda t: f"__version__ = '{t}'\nhip='{t}'".encode())
)
def test_any_bytes_are_a_version_or_none(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    for torch in found(tmp_path_factory.mktemp("torch"), content):
        assert torch.version
