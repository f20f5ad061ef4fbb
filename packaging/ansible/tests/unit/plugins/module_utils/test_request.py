# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT

import pytest
from ansible_collections.rocmcfg.amdgpu.plugins.module_utils import request


def test_the_words_of_a_task_become_options():
    words = request.profile_arguments(
        {
            "profiles": ["gfx1201", "/etc/mine.toml"],
            "set": {"amdgpu.runpm": 0, "karg.iommu": "pt", "env.HSA_TOOLS_LIB": "a.so"},
            "with": ["env.X"],
            "without": ["amdgpu.tmz"],
            "unconditional": True,
            "any_gpu": True,
            "via": "modprobe",
            "boot_backend": "grub",
        }
    )
    assert words == [
        "--profile=gfx1201",
        "--profile=/etc/mine.toml",
        "--set=amdgpu.runpm=0",
        "--set=karg.iommu=pt",
        "--set=env.HSA_TOOLS_LIB=a.so",
        "--with=env.X",
        "--without=amdgpu.tmz",
        "--unconditional",
        "--any-gpu",
        "--via=modprobe",
        "--boot-backend=grub",
    ]


def test_the_terms_of_a_trial_become_options():
    task = {"trial": True, "state": "present", "confirm_after": "10m", "health_check": "a | b"}
    assert request.trial_arguments(task) == ["--trial", "--confirm-after=10m", "--health-check=a | b"]
    assert request.trial_arguments({"trial": True, "state": "present"}) == ["--trial"]
    assert request.trial_arguments({"trial": False, "state": "absent"}) == []


@pytest.mark.parametrize(
    ("said", "seconds"), [("90s", 90), ("10m", 600), ("1h", 3600), (None, None), ("soon", "soon")]
)
def test_the_terms_of_a_trial_are_compared_in_seconds(said, seconds):
    assert request.terms({"confirm_after": said}) == (seconds, "")
    assert request.terms({"health_check": "a"}) == (None, "a")


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ({"confirm_after": "10m"}, "confirm_after is an option of a trial"),
        ({"health_check": "true"}, "health_check is an option of a trial"),
        ({"trial": True, "state": "absent"}, "has none"),
        ({"trial": True, "health_check": True}, "health_check: YAML turned it into true"),
        ({"trial": True, "confirm_after": 90}, "confirm_after: YAML turned it into the number 90"),
        ({"trial": True, "health_check": " "}, "health_check: the text is empty"),
    ],
)
def test_what_makes_no_sense_of_a_trial_is_refused(task, said):
    with pytest.raises(request.NotAsWritten) as refused:
        request.trial_arguments(dict({"state": "present"}, **task))
    assert said in str(refused.value)


def test_a_name_that_looks_like_an_option_stays_a_name():
    assert request.profile_arguments({"profiles": ["--yes"]}) == ["--profile=--yes"]


def test_a_kernel_argument_without_a_value():
    assert request.settings({"karg.nosmt": ""}) == ["--set=karg.nosmt"]
    assert request.settings({"env.NAME": ""}) == ["--set=env.NAME="]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("amdgpu.runpm", "-1"),
        ("amdgpu.ppfeaturemask", 0xFFF73FFF),
        ("profile.gtt_gib", 96),
        ("karg.iommu", "off"),
        ("karg.x", 9),
        ("env.X", -9),
    ],
)
def test_what_cannot_have_changed_on_the_way_arrives(key, value):
    assert request.as_written(key, value) == str(value)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("feature.gfxoff", False, "YAML turned it into false (bool)"),
        ("karg.iommu", True, "YAML turned it into true (bool)"),
        ("amdgpu.runpm", None, "there is no value (null)"),
        ("amdgpu.runpm", 1.5, "YAML turned it into the number 1.5"),
        ("amdgpu", {"runpm": 0}, "Write the names with dots"),
        ("karg.pci", ["a", "b"], "is a list"),
        ("karg.mode", 511, "0777"),
        ("env.MASK", 10, "in quotes"),
        ("feature.mask", -10, "in quotes"),
    ],
)
def test_what_yaml_may_have_changed_is_refused(key, value, said):
    with pytest.raises(request.NotAsWritten) as refused:
        request.settings({key: value})
    assert key in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize("key", [1.5, True, "amdgpu.runpm=0"])
def test_a_key_that_names_no_setting_is_refused(key):
    with pytest.raises(request.NotAsWritten):
        request.settings({key: "1"})


@pytest.mark.parametrize("option", ["profiles", "with", "without"])
@pytest.mark.parametrize("value", [False, 7, None, {"a": 1}, " "])
def test_elements_of_lists_are_names(option, value):
    with pytest.raises(request.NotAsWritten) as refused:
        request.profile_arguments({option: ["fine", value]})
    assert str(refused.value).startswith(option)


def test_what_only_looks_is_not_told_of_chroot():
    parameters = {"root": "/mnt", "chroot": True}
    assert request.host_arguments(parameters) == ["--root=/mnt", "--chroot"]
    assert request.host_arguments(parameters, chroot=False) == ["--root=/mnt"]


@pytest.mark.parametrize(
    ("target", "words"), [("previous", []), (0, ["--to=0"]), (3, ["--to=3"]), ("12", ["--to=12"])]
)
def test_how_far_to_go_back(target, words):
    assert request.rollback_arguments(target) == words


@pytest.mark.parametrize(
    "target", [None, "", " ", True, False, -1, "-1", 1.0, "1.0", "last", [3], {}, "\u0663"]
)
def test_whoever_does_not_say_how_far_is_told_what_to_write(target):
    with pytest.raises(request.NotAsWritten) as refused:
        request.rollback_arguments(target)
    assert "previous to undo the last one" in str(refused.value)


@pytest.mark.parametrize("option", ["root", "executable"])
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_path_is_not_the_running_host(option, value):
    with pytest.raises(request.NotAsWritten) as refused:
        request.check_paths({"root": None, "executable": None, option: value})
    assert "{0}: the path is empty".format(option) in str(refused.value)
    assert '%s: "{{ NAME | default(omit, true) }}"' % option in str(refused.value)


def test_a_path_that_is_not_given_is_fine():
    request.check_paths({"root": None, "executable": None})
