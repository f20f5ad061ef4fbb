#!/usr/bin/env python3
"""Pretends to run `update-grub` and `grub-editenv`, and to reboot, a COPY of the sample host.

    cp -a docs/demo/sample-host /tmp/sample
    python3 docs/demo/reboot.py --update-grub /tmp/sample      # the boot menu only
    python3 docs/demo/reboot.py /tmp/sample                    # the boot menu, then a boot

It exists so that a reader can see `rocmcfg verify` go from "pending" to "in effect" without a Radeon and
without root. It is no test oracle and no part of rocmcfg: it knows the sample host's one boot loader, and it
refuses any tree that is not a copy of the sample host. What it imitates:

* grub-mkconfig: sources /etc/default/grub, then /etc/default/grub.d/*.cfg, in one shell under `set -e`;
* Ubuntu's 10_linux: "$GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT", with splash also $vt_handoff;
* grub-editenv: `set` and `unset` in /boot/grub/grubenv, 1024 bytes that end in "#";
* GRUB: expands variables and quotes, and hands the kernel one line; where the menu has the hook of a trial,
  it takes rocmcfg_next out of grubenv before that, and uses it for this boot alone;
* kmod: modprobe.d in basename order, the first directory wins, then the command line; the last value counts;
* the kernel's module parameters: how a value is parsed, refused and printed.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
SAMPLE = HERE / "sample-host"
CATALOGUE = HERE.parent.parent / "rocmcfg" / "knowledge" / "data" / "parameters.toml"

SOURCE_GRUB_DEFAULTS = """
set -e
root=$1
if test -f "$root/etc/default/grub"; then . "$root/etc/default/grub"; fi
for x in "$root"/etc/default/grub.d/*.cfg; do
  if [ -e "$x" ]; then . "$x"; fi
done
printf '%s\\0%s\\0' "$GRUB_CMDLINE_LINUX" "$GRUB_CMDLINE_LINUX_DEFAULT"
"""
# The directories and their order: modprobe.d(5). The first one that has a basename hides it in the others.
MODPROBE_DIRS = ("etc", "run", "usr/local/lib", "usr/lib", "lib")
INTEGER_RANGES = {
    "int": (-(2**31), 2**31 - 1),
    "uint": (0, 2**32 - 1),
    "hexint": (0, 2**32 - 1),
    "ullong": (0, 2**64 - 1),
}


# A trial: the program that prints GRUB's commands, and the variable of grubenv that they take.
TRIAL_SCRIPT = "/etc/grub.d/01_rocmcfg_trial"
TRIAL_VARIABLE = "rocmcfg_next"
BLOCK_HEAD = "# GRUB Environment Block\n"
BLOCK_SIZE = 1024


class InvalidValueError(Exception):
    """A value that the kernel refuses, so that the module does not load."""


def say(text: str) -> None:
    margin = "[simulation] "
    margin += " " * (len(text) - len(text.lstrip()))
    print(
        textwrap.fill(
            text.lstrip(),
            80,
            initial_indent=margin,
            subsequent_indent=margin + "  ",
            break_long_words=False,
            break_on_hyphens=False,
        ),
        flush=True,
    )


def grub_defaults(root: Path) -> tuple[str, str]:
    """Return GRUB_CMDLINE_LINUX and GRUB_CMDLINE_LINUX_DEFAULT as grub-mkconfig would see them."""
    shell = subprocess.run(
        ["sh", "-c", SOURCE_GRUB_DEFAULTS, "grub-mkconfig", str(root)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=10,
        env={"PATH": os.defpath, "LC_ALL": "C"},
        check=False,
    )
    fields = shell.stdout.split("\0")
    if shell.returncode or len(fields) < 3:
        detail = shell.stderr.strip() or "a sourced file ended with a false command, and `set -e` is on"
        sys.exit(f"[simulation] update-grub failed, grub.cfg is unchanged: {detail}")
    return fields[-3], fields[-2]


def update_grub(root: Path) -> bool:
    """Rewrite the linux lines that 10_linux printed; return whether anything changed."""
    always, default = grub_defaults(root)
    normal = f"{always} {default}"
    if "splash" in default.split():
        normal += " $vt_handoff"
    recovery = f"recovery nomodeset dis_ucode_ldr {always}"
    grub_cfg = root / "boot/grub/grub.cfg"
    before = grub_cfg.read_text()
    section, arguments, lines = "", normal, []
    for line in before.splitlines(keepends=True):
        if line.startswith("### BEGIN "):
            section = line.split()[2]
        elif line.lstrip().startswith("menuentry "):
            arguments = recovery if "-recovery-" in line else normal
        elif section == "/etc/grub.d/10_linux" and (kept := re.match(r"\s*linux\t\S+ root=\S+ ro ", line)):
            line = f"{kept.group()}{arguments}\n"  # noqa: PLW2901 - the loop rewrites what it reads
        lines.append(line)
    after = with_trial_hook(root, "".join(lines))
    if after != before:
        replace_text(grub_cfg, after)
    say(f"update-grub: /boot/grub/grub.cfg {'rewritten' if after != before else 'is already up to date'}")
    say("  a real host runs /etc/grub.d/* here and looks for kernels and other systems too")
    return after != before


def with_trial_hook(root: Path, menu: str) -> str:
    """Put into the menu what the program of a trial prints, or take it out where the program is gone."""
    begin, end = f"### BEGIN {TRIAL_SCRIPT} ###\n", f"### END {TRIAL_SCRIPT} ###\n\n"
    menu = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", "", menu, flags=re.S)
    script = root / TRIAL_SCRIPT.lstrip("/")
    if not script.exists():
        return menu
    said = subprocess.run(["sh", script], capture_output=True, text=True, timeout=10, check=True).stdout
    theme = "### BEGIN /etc/grub.d/05_debian_theme ###\n"
    return menu.replace(theme, f"{begin}{said}{end}{theme}")


def block(root: Path) -> dict[str, str]:
    """The variables of GRUB's environment block."""
    path = root / "boot/grub/grubenv"
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {name: value.replace("\\\\", "\\") for name, value in pairs}


def edit_block(root: Path, action: str, *words: str) -> None:
    variables = block(root)
    for word in words:
        name, _, value = word.partition("=")
        if action == "set":
            variables[name] = value
        else:
            variables.pop(name, None)
    body = "".join(f"{name}={value}\n" for name, value in variables.items())
    replace_text(root / "boot/grub/grubenv", (BLOCK_HEAD + body).ljust(BLOCK_SIZE, "#"))


def play(root: Path, argv: Sequence[str]) -> int:
    """What a program that rocmcfg starts does to the copy; 127 for one that is not played."""
    if argv[0] == "update-grub":
        update_grub(root)
    elif argv[0] == "grub-editenv":
        edit_block(root, *argv[2:])
    else:
        return 127
    return 0


def boot_line(root: Path) -> str:
    """Return what GRUB hands the kernel for the first entry (the sample has GRUB_DEFAULT=0), and take the
    arguments of a trial."""
    menu = (root / "boot/grub/grub.cfg").read_text()
    tried = block(root).get(TRIAL_VARIABLE, "") if f"save_env {TRIAL_VARIABLE}" in menu else ""
    if tried:
        edit_block(root, "set", f"{TRIAL_VARIABLE}=")
        say(f"GRUB: takes {tried} out of its environment block, for this boot alone")
    found = re.search(r"^menuentry .*?^\tlinux\t(.*?)$", menu, re.M | re.S)
    if not found:
        sys.exit("[simulation] boot/grub/grub.cfg has no entry to boot")
    line = found.group(1).replace("$vt_handoff", "vt.handoff=7").replace("$rocmcfg_trial", tried)
    line = re.sub(r"\$\{?\w+\}?", "", line)  # an unset GRUB variable is empty
    kernel, *arguments = shlex.split(line)
    # GRUB puts an argument with a blank into double quotes again (grub-core/lib/cmdline.c).
    return " ".join([f"BOOT_IMAGE={kernel}", *(f'"{a}"' if " " in a else a for a in arguments)])


def modprobe_options(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (source, assignment) of every `options amdgpu` word in the order in which kmod reads them."""
    files: dict[str, Path] = {}
    for directory in MODPROBE_DIRS:
        for path in sorted((root / directory / "modprobe.d").glob("*.conf")):
            if not path.name.startswith("."):
                files.setdefault(path.name, path)
    for name in sorted(files):
        for line in files[name].read_text().replace("\\\n", " ").splitlines():
            words = line.split()
            if words[:2] == ["options", "amdgpu"]:
                yield from ((f"/{files[name].relative_to(root)}", word) for word in words[2:])


def command_line_options(cmdline: str) -> Iterator[tuple[str, str]]:
    """Yield (source, assignment) of every `amdgpu.` argument; kmod reads on after `--`."""
    for word in re.findall(r'(?:[^\s"]|"[^"]*")+', cmdline):
        bare = word.replace('"', "")
        if bare.startswith("amdgpu."):
            yield "/proc/cmdline", bare.removeprefix("amdgpu.")


def kernel_int(text: str, kind: str) -> int:
    """Parse as kstrtoint() and kstrtouint() do with base 0: 0x is hex, a leading 0 is octal."""
    low, high = INTEGER_RANGES[kind]
    sign = r"[+-]?" if low < 0 else r"\+?"
    if not re.fullmatch(sign + r"(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", text):
        raise InvalidValueError
    digits = text.lstrip("+-")
    base = 16 if digits[:2] in ("0x", "0X") else 8 if digits.startswith("0") else 10
    number = -int(digits, base) if text.startswith("-") else int(digits, base)
    if not low <= number <= high:
        raise InvalidValueError
    return number


def kernel_bool(text: str) -> bool:
    """Parse as kstrtobool() does: it looks at the first letter, at two for on and off."""
    if text[:1] in tuple("yYtT1") or text[:2].lower() == "on":
        return True
    if text[:1] in tuple("nNfF0") or text[:2].lower() == "of":
        return False
    raise InvalidValueError


def printed(text: str | None, kind: str) -> str:
    """Return how sysfs prints the value that was given as `text` (None: a name without `=`)."""
    if kind in ("bool", "bint"):
        value = True if text is None else kernel_bool(text)
        return ("Y" if value else "N") if kind == "bool" else str(int(value))
    if text is None:
        raise InvalidValueError
    if kind in INTEGER_RANGES:
        number = kernel_int(text, kind)
        return f"{number:#08x}" if kind == "hexint" else str(number)
    return text


def version_key(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a kernel version: 6.14.0-37-generic is (6, 14, 0)."""
    found = re.match(r"\d+(\.\d+)*", text)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def catalogue_types(kernel: str) -> dict[str, str]:
    """Return each parameter's type on `kernel` from rocmcfg's catalogue; empty without the catalogue."""
    if not CATALOGUE.is_file():
        return {}
    parameters: dict[str, Any] = tomllib.loads(CATALOGUE.read_text()).get("amdgpu", {})
    types: dict[str, str] = {}
    for name, entry in parameters.items():
        for epoch in entry.get("epochs", ()):
            if name not in types or version_key(str(epoch.get("from", ""))) <= version_key(kernel):
                types[name] = epoch["type"]
    return types


def guessed_type(default: str) -> str:
    """Return a type that prints as `default` does; used where the catalogue is not at hand."""
    if default in ("Y", "N"):
        return "bool"
    if default.startswith("0x"):
        return "hexint"
    if not re.fullmatch(r"-?\d+", default):
        return "charp"
    number = int(default)
    return "int" if number < 2**31 else "uint" if number < 2**32 else "ullong"


def load_amdgpu(root: Path, cmdline: str) -> bool:
    """Give sys/module/amdgpu the state of a fresh boot; return False if the driver would not load."""
    module = root / "sys/module/amdgpu"
    if module.exists():
        shutil.rmtree(module)
    modules = (SAMPLE / "proc/modules").read_text().splitlines(keepends=True)
    defaults = SAMPLE / "sys/module/amdgpu/parameters"
    values = {path.name: path.read_text().removesuffix("\n") for path in defaults.iterdir()}
    kernel = (root / "proc/sys/kernel/osrelease").read_text().strip()
    types = {name: guessed_type(default) for name, default in values.items()} | catalogue_types(kernel)
    try:
        for source, word in (*modprobe_options(root), *command_line_options(cmdline)):
            name, equals, text = word.partition("=")
            name = name.replace("-", "_")
            if name not in values:
                say(f"  kernel log: amdgpu: unknown parameter '{name}' ignored   ({source})")
                continue
            try:
                values[name] = printed(text if equals else None, types[name])
            except InvalidValueError:
                say(f"  kernel log: amdgpu: '{text}' invalid for parameter '{name}'   ({source})")
                raise
            say(f"  amdgpu {name} reads {values[name]}   (asked for by {source}: {word})")
    except InvalidValueError:
        replace_text(root / "proc/modules", "".join(m for m in modules if not m.startswith("amdgpu ")))
        say("  amdgpu did NOT load: on a real host the screen stays black from here on")
        return False
    replace_text(root / "proc/modules", "".join(modules))
    shutil.copytree(SAMPLE / "sys/module/amdgpu", module)
    for name, value in values.items():
        replace_text(module / "parameters" / name, value + "\n")
    return True


def load_ttm(root: Path, cmdline: str) -> None:
    """The memory manager's limits, which the profile for Strix Halo sets, as they are written."""
    for word in cmdline.split():
        name, equals, text = word.removeprefix("ttm.").partition("=")
        path = root / "sys/module/ttm/parameters" / name
        if word.startswith("ttm.") and equals and path.is_file():
            replace_text(path, text + "\n")


def reboot(root: Path) -> bool:
    """Boot the first entry; return whether the driver loaded."""
    cmdline = boot_line(root)
    boot_id = str(uuid.uuid4())
    replace_text(root / "proc/cmdline", cmdline + "\n")
    replace_text(root / "proc/sys/kernel/random/boot_id", boot_id + "\n")
    say(f"reboot: new boot id {boot_id}")
    say(f"  kernel command line: {cmdline}")
    load_ttm(root, cmdline)
    loaded = load_amdgpu(root, cmdline)
    say("  a real host loads the real driver here; only that shows that a GPU works with these values")
    return loaded


def replace_text(path: Path, text: str) -> None:
    """Write beside, then rename, as grub-mkconfig and the shell scripts of a real host do; keep the mode."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text)
    if path.exists():
        shutil.copymode(path, fresh)
    fresh.replace(path)


def sample_copy(text: str) -> Path:
    """Return the resolved root; refuse what is not a copy of the sample host."""
    root = Path(text).resolve()
    hostname = root / "etc/hostname"
    if root == Path("/") or not hostname.is_file() or hostname.read_text().strip() != "sample":
        raise argparse.ArgumentTypeError(f"{text} is not a copy of the sample host")
    if root == SAMPLE:
        raise argparse.ArgumentTypeError(f"{text} is the sample itself: make a copy (cp -a) and name that")
    return root


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Simulate update-grub and a reboot on a copy of docs/demo/sample-host."
    )
    parser.add_argument("root", type=sample_copy, metavar="ROOT", help="a copy of docs/demo/sample-host")
    parser.add_argument("--update-grub", action="store_true", help="rewrite the boot menu, do not reboot")
    parser.add_argument("--boot", action="store_true", help="reboot with the menu that there is")
    options = parser.parse_args()
    say("this computer is not touched: files of the copy change as those of a real host would")
    if not options.boot:
        update_grub(options.root)
    if options.update_grub:
        say("not rebooted: the running kernel still has its old command line")
        return 0
    return 0 if reboot(options.root) else 1


if __name__ == "__main__":
    sys.exit(main())
