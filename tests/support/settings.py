"""Desired settings for tests of what the backends write."""

from __future__ import annotations

from rocmcfg.model.desired import Channel, DesiredSetting, Kind


def parameter(
    name: str, text: str, *, because: str = "", channel: Channel = Channel.CMDLINE
) -> DesiredSetting:
    module, _, short = name.partition(".")
    return DesiredSetting(
        name, Kind.PARAMETER, short, text, channel, module=module, parameter=name, because=because
    )


def feature(name: str, mask: str, *, channel: Channel = Channel.CMDLINE) -> DesiredSetting:
    return DesiredSetting(
        f"feature.{name}",
        Kind.FEATURE,
        name,
        mask,
        channel,
        module="amdgpu",
        parameter="amdgpu.ppfeaturemask",
    )


def karg(name: str, text: str | None) -> DesiredSetting:
    return DesiredSetting(f"karg.{name}", Kind.KARG, name, text, Channel.CMDLINE)


def variable(name: str, text: str) -> DesiredSetting:
    return DesiredSetting(f"env.{name}", Kind.ENV, name, text, Channel.ENVIRONMENT)


SETTINGS = (
    parameter("amdgpu.cwsr_enable", "0", because="The wave-save handler faults; see $(notes) and `more`."),
    parameter("amdgpu.runpm", "0"),
    feature("gfxoff", "0xfff53fff"),
    feature("stutter", "0xfff53fff"),
    karg("iommu", "pt"),
    karg("nosmt", None),
)
KARGS = (
    "amdgpu.cwsr_enable=0",
    "amdgpu.runpm=0",
    "amdgpu.ppfeaturemask=0xfff53fff",
    "iommu=pt",
    "nosmt",
)
