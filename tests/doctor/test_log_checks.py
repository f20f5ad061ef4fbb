"""doctor says before a crash that no log of it will be left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.hosts import File, debian_grub_host

from .test_host_checks import checks

JOURNALD: dict[str, File] = {"usr/lib/systemd/systemd-journald": ""}
KEPT: dict[str, File] = {"var/log/journal/0123/system.journal": ""}


@pytest.mark.parametrize(
    ("extra", "location"),
    [
        ({}, "/var/log/journal"),
        ({"etc/systemd/journald.conf": "[Journal]\n#Storage=auto\n"}, "/var/log/journal"),
        ({"etc/systemd/journald.conf": "[Journal]\nStorage=auto\n"}, "/var/log/journal"),
        (
            {**KEPT, "etc/systemd/journald.conf": "[Journal]\nStorage=volatile\n"},
            "/etc/systemd/journald.conf",
        ),
        (
            {
                **KEPT,
                "etc/systemd/journald.conf": "[Journal]\nStorage=persistent\n",
                "usr/lib/systemd/journald.conf.d/ram.conf": "[Journal]\nStorage = none\n",
            },
            "/usr/lib/systemd/journald.conf.d/ram.conf",
        ),
    ],
)
def test_a_journal_that_a_reboot_loses_is_named(
    tmp_path: Path, extra: dict[str, File], location: str
) -> None:
    assert checks(debian_grub_host(tmp_path, extra={**JOURNALD, **extra}))["RC8150"].location == location


@pytest.mark.parametrize(
    "extra",
    [
        {},  # no journald at all
        {**JOURNALD, **KEPT},
        {**JOURNALD, "etc/systemd/journald.conf": "[Journal]\nStorage=persistent\n"},
        {**JOURNALD, "var/log/kern.log": ""},  # rsyslog keeps it
        {
            **JOURNALD,
            **KEPT,
            "etc/systemd/journald.conf": "[Journal]\nStorage=volatile\n",
            "etc/systemd/journald.conf.d/50.conf": "[Journal]\nStorage=auto\n",
        },
    ],
)
def test_a_journal_that_stays_is_no_news(tmp_path: Path, extra: dict[str, File]) -> None:
    assert "RC8150" not in checks(debian_grub_host(tmp_path, extra=extra))


@pytest.mark.parametrize(
    ("extra", "named"),
    [
        ({"sys/module/pstore/parameters/backend": "(null)\n"}, True),
        ({"sys/fs/cgroup/cgroup.procs": ""}, True),
        ({"sys/module/pstore/parameters/backend": "efi_pstore\n", "sys/fs/pstore/x": ""}, False),
        ({}, False),  # a tree without /sys/fs shows nothing
    ],
)
def test_a_kernel_without_a_place_for_its_last_words(
    tmp_path: Path, extra: dict[str, File], named: bool
) -> None:
    assert ("RC8151" in checks(debian_grub_host(tmp_path, extra=extra))) is named


def test_a_container_has_no_logs_of_its_own(tmp_path: Path) -> None:
    extra = {**JOURNALD, "sys/module/pstore/parameters/backend": "(null)\n"}
    assert not {"RC8150", "RC8151"} & set(checks(debian_grub_host(tmp_path, container="docker", extra=extra)))
