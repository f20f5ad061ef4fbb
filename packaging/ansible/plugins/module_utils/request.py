# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT
"""Turns the options of a task into the arguments of a command line.

Nothing here knows what a setting means: rocmcfg judges that. This only makes sure that rocmcfg gets the value
that the author of the playbook wrote, as far as a module can see it: an unquoted 007 arrives as the number 7,
and an unquoted date as a text that Ansible made.
"""

import json
import re

# All other settings are read as numbers, by the kernel or by rocmcfg: 0x1F and 31 are the same to them.
_NOT_NUMERIC = ("karg", "env", "feature")


class NotAsWritten(Exception):
    """A value that YAML may have changed on the way here, or an invalid name."""


def profile_arguments(parameters):
    """Options of `rocmcfg apply` for the parameters of the profile module. Raises NotAsWritten."""
    words = ["--profile={0}".format(name) for name in names("profiles", parameters.get("profiles"))]
    words.extend(settings(parameters.get("set") or {}))
    words.extend("--with={0}".format(name) for name in names("with", parameters.get("with")))
    words.extend("--without={0}".format(name) for name in names("without", parameters.get("without")))
    if parameters.get("unconditional"):
        words.append("--unconditional")
    if parameters.get("any_gpu"):
        words.append("--any-gpu")
    if parameters.get("via"):
        words.append("--via={0}".format(parameters["via"]))
    if parameters.get("boot_backend"):
        words.append("--boot-backend={0}".format(parameters["boot_backend"]))
    return words


def trial_arguments(parameters):
    """Options of `rocmcfg apply` that make a trial of it. Raises NotAsWritten."""
    terms = [(name, parameters.get(name)) for name in ("confirm_after", "health_check")]
    if not parameters.get("trial"):
        for name, value in terms:
            if value is not None:
                raise NotAsWritten("{0} is an option of a trial, so it needs trial: true".format(name))
        return []
    if parameters.get("state") == "absent":
        raise NotAsWritten(
            "trial: true tries settings, but state: absent has none. To end a trial, use "
            "rocmcfg.amdgpu.trial with state: rejected"
        )
    words = ["--trial"]
    for name, value in terms:
        if value is None:
            continue
        if not isinstance(value, str):
            raise NotAsWritten("{0}: {1}. {2}".format(name, _shown(value), _explanation(value)))
        if not value.strip():
            raise NotAsWritten("{0}: the text is empty; leave the option out".format(name))
        words.append("--{0}={1}".format(name.replace("_", "-"), value))
    return words


def terms(parameters):
    """The options of a trial, as the documents of rocmcfg have them: seconds or None, and a command. A value
    that is not a time is returned unchanged, and equals none in a document."""
    after = parameters.get("confirm_after")
    read = re.match(r"([0-9]{1,6})([smh])\Z", after or "")
    if read:
        after = int(read.group(1)) * {"s": 1, "m": 60, "h": 3600}[read.group(2)]
    return after, parameters.get("health_check") or ""


def rollback_arguments(target):
    """Options of `rocmcfg rollback` for how far the task goes back. Raises NotAsWritten."""
    if target == "previous":
        return []
    if isinstance(target, int) and not isinstance(target, bool) and target >= 0:
        return ["--to={0}".format(target)]
    # Templates give text where they are given a number.
    if isinstance(target, str) and re.match(r"[0-9]{1,18}\Z", target):
        return ["--to={0}".format(int(target))]
    shown = (
        "an empty text" if isinstance(target, str) and not target.strip() else json.dumps(target, default=str)
    )
    raise NotAsWritten(
        "to: {0} does not say how far to go back. Write the number of a transaction, as the module "
        "profile returns it and `rocmcfg history` shows it, or previous to undo the last one.".format(shown)
    )


def check_paths(parameters):
    """Raises NotAsWritten for an empty path, which comes from a variable without a value."""
    for name, otherwise in (("root", "the running host"), ("executable", "the rocmcfg that is found")):
        value = parameters.get(name)
        if value is not None and not value.strip():
            raise NotAsWritten(
                "{0}: the path is empty. If you mean {1}, leave {0} out; for a variable that may be empty, "
                'write {0}: "{{{{ NAME | default(omit, true) }}}}".'.format(name, otherwise)
            )


def host_arguments(parameters, chroot=True):
    """Options that say which host is meant; `chroot=False` for commands that run none of its tools."""
    words = []
    if parameters.get("root"):
        words.append("--root={0}".format(parameters["root"]))
    if chroot and parameters.get("chroot"):
        words.append("--chroot")
    return words


def names(option, values):
    """A list of profiles or settings, each checked to be text."""
    for value in values or ():
        if not isinstance(value, str):
            raise NotAsWritten(
                "{0}: this is not a name: {1}. {2}".format(option, _shown(value), _explanation(value))
            )
        if not value.strip():
            raise NotAsWritten("{0}: the name is empty; leave the entry out".format(option))
    return list(values or ())


def settings(wanted):
    """`--set` options for a dictionary of settings, in the order of the task."""
    words = []
    for key, value in wanted.items():
        if not isinstance(key, str) or "=" in key:
            raise NotAsWritten(
                "set: {0} is not the name of a setting; write it as amdgpu.runpm: 0".format(_shown(key))
            )
        text = as_written(key, value)
        # In a dictionary there is no other way to write an argument without a value, such as karg.nosmt.
        bare = text == "" and key.startswith("karg.")
        words.append("--set={0}".format(key) if bare else "--set={0}={1}".format(key, text))
    return words


def as_written(key, value):
    """The text of a setting's value. Raises NotAsWritten if YAML may have changed it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise NotAsWritten("set: {0}: {1}. {2}".format(key, _shown(value), _explanation(value)))
    if key.partition(".")[0] in _NOT_NUMERIC and not -9 <= value <= 9:
        # By the time a module sees it, 0777, 0x1FF, 8:31 and 5_11 are all the number 511.
        raise NotAsWritten(
            "set: {0}: {1} is a number to YAML, which reads 0777, 0x1F, 1:30 and 1_000 as other numbers "
            'than they look. Put the value in quotes, for example "{1}".'.format(key, value)
        )
    return str(value)


def _shown(value):
    if value is None:
        return "there is no value (null)"
    if isinstance(value, bool):
        return "YAML turned it into {0} (bool)".format("true" if value else "false")
    if isinstance(value, dict):
        return "{0} is a dictionary".format(value)
    if isinstance(value, (list, tuple)):
        return "{0} is a list".format(value)
    return "YAML turned it into the number {0}".format(value)


def _explanation(value):
    if value is None:
        return 'Write a value, in quotes; an empty one is "".'
    if isinstance(value, bool):
        return (
            "on, off, yes, no, true and false become booleans before a module sees them. "
            'Put the value in quotes, for example "{0}".'.format("on" if value else "off")
        )
    if isinstance(value, dict):
        return "Write the names with dots: amdgpu.runpm: 0."
    if isinstance(value, (list, tuple)):
        return "Write a single value."
    return 'Put the value in quotes, for example "{0}".'.format(value)
