"""Renders the templates of this folder. Written by docs/generate.py: change them, then run it."""

from __future__ import annotations

from typing import Any

from rocmcfg.files.filters import doubled_percent, quoted, reason


def conf_fish(*, variables: Any, whole: Any) -> str:
    out: list[str] = []
    if whole:
        out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
    for variable in variables:
        out += ['set -gx ', str(variable.name), " '", str((variable.text or '')), "'\n"]
    return "".join(out)


def environment_conf(*, variables: Any, whole: Any) -> str:
    out: list[str] = []
    if whole:
        out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
    for variable in variables:
        out += [str(variable.name), '=', str((variable.text or '')), '\n']
    return "".join(out)


def gentoo(*, variables: Any, whole: Any) -> str:
    out: list[str] = []
    if whole:
        out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
    for variable in variables:
        out += [str(variable.name), '="', str((variable.text or '')), '"\n']
    return "".join(out)


def initcpio_post_sh() -> str:
    out: list[str] = []
    out += ['#!/bin/sh\n# Written by rocmcfg: checks the applied kernel parameters against a kernel whose image was just built.\n# Undo: sudo rocmcfg rollback\n# Always exits with status 0: rocmcfg must never keep an image from being built.\n# When rocmcfg itself rebuilds the images, it checks them afterwards.\n[ -n "$KERNELVERSION" ] && [ -z "$ROCMCFG_STARTED" ] || exit 0\n']
    out += ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin:/run/current-system/profile/bin\n']
    out += ['command -v rocmcfg >/dev/null 2>&1 || exit 0\nrocmcfg check-kernel "$KERNELVERSION" </dev/null || true\nexit 0\n']
    return "".join(out)


def keep_list_conf(*, paths: Any) -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg: SteamOS updates keep these files. Undo: sudo rocmcfg rollback\n/etc/rocmcfg/**\n']
    for path in paths:
        out += [str(path), '\n']
    return "".join(out)


def kernel_install_sh() -> str:
    out: list[str] = []
    out += ['#!/bin/sh\n# Written by rocmcfg: checks the applied kernel parameters against a newly installed kernel.\n# Undo: sudo rocmcfg rollback\n# Always exits with status 0: rocmcfg must never keep a kernel from being installed.\n# When rocmcfg itself runs kernel-install, it checks the result afterwards.\n[ "$1" = add ] && [ -z "$ROCMCFG_STARTED" ] || exit 0\n# Root runs only the system\'s programs: sudo or su may pass on a PATH with a folder of another user.\n']
    out += ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin:/run/current-system/profile/bin\n']
    out += ['command -v rocmcfg >/dev/null 2>&1 || exit 0\nrocmcfg check-kernel "$2" </dev/null || true\nexit 0\n']
    return "".join(out)


def kernel_postinst_sh() -> str:
    out: list[str] = []
    out += ["#!/bin/sh\n# Written by rocmcfg: checks the applied kernel parameters against a newly installed kernel.\n# Undo: sudo rocmcfg rollback\n# Always exits with status 0: rocmcfg must never keep a kernel from being installed.\n# Root runs only the system's programs: sudo or su may pass on a PATH with a folder of another user.\n"]
    out += ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin:/run/current-system/profile/bin\n']
    out += ['command -v rocmcfg >/dev/null 2>&1 || exit 0\nrocmcfg check-kernel "$1" </dev/null || true\nexit 0\n']
    return "".join(out)


def marked_lines(*, begin: Any, end: Any, lines: Any) -> str:
    out: list[str] = []
    out += [str(begin), '\n', str(lines), str(end), '\n']
    return "".join(out)


def modprobe_conf(*, lines: Any, settings: Any) -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
    for setting in settings:
        out += ['# ', str(reason(setting)), '\n']
    for line in lines:
        out += [str(line), '\n']
    return "".join(out)


def profile_sh(*, variables: Any, whole: Any) -> str:
    out: list[str] = []
    if whole:
        out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
    for variable in variables:
        out += ['export ', str(variable.name), '=', str(quoted((variable.text or ''))), '\n']
    return "".join(out)


def service_conf(*, variables: Any, whole: Any) -> str:
    out: list[str] = []
    if whole:
        out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
        out += ['[Service]\n']
    for variable in variables:
        out += ['Environment="', str(variable.name), '=', str(doubled_percent((variable.text or ''))), '"\n']
    return "".join(out)


def system_conf(*, variables: Any, whole: Any) -> str:
    out: list[str] = []
    if whole:
        out += ['# Written by rocmcfg; the next `rocmcfg apply` replaces this file.\n# Undo: sudo rocmcfg rollback\n']
        out += ['[Manager]\n']
    for variable in variables:
        out += ['DefaultEnvironment="', str(variable.name), '=', str(doubled_percent((variable.text or ''))), '"\n']
    return "".join(out)


def trial_head() -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg for a trial boot.\n# `rocmcfg confirm` and `rocmcfg reject` remove it.\n']
    return "".join(out)


def user_environment_conf(*, checksum: Any, lines: Any) -> str:
    out: list[str] = []
    out += ['# Written by rocmcfg env --user; the next run replaces this file.\n# Undo: rocmcfg env --user --remove\n# sha256 of the lines below: ', str(checksum), '\n', str(lines)]
    return "".join(out)
