# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT
"""The installed rocmcfg, run with --json. The only place of the collection that starts a program."""

import os
import sys

from ansible_collections.rocmcfg.amdgpu.plugins.module_utils import answer

# What every module takes; with defaults for a group of them, each must know all three.
HOST_OPTIONS = {
    "executable": {"type": "path"},
    "root": {"type": "path"},
    "chroot": {"type": "bool", "default": False},
}
OLDEST_PYTHON = (3, 6)


def refuse_old_python(module):
    """Ends the task under a Python that the modules are not written for; ansible-core 2.16 still starts
    them."""
    if sys.version_info < OLDEST_PYTHON:
        module.fail_json(
            msg="rocmcfg.amdgpu needs Python 3.6 or newer on the target, and runs under {0} ({1}). "
            "Set ansible_python_interpreter to a newer one.".format(
                ".".join(str(n) for n in sys.version_info[:3]), sys.executable
            )
        )


class Program(object):
    """rocmcfg on this host. Whatever it cannot do ends the task with one message."""

    def __init__(self, module, path):
        self._module = module
        self.path = path
        self.version = answer.version(self._run(["--version"])[1])

    @classmethod
    def of(cls, module, required=True):
        """The program that the task names or PATH has. None where there is none and none is required."""
        named = module.params["executable"]
        if named:
            if os.path.isfile(named) and os.access(named, os.X_OK):
                return cls(module, named)
            path = None
            where = "at {0} (executable)".format(named)
        else:
            path = module.get_bin_path("rocmcfg", opt_dirs=["/usr/local/bin"])
            where = "on PATH or in the sbin directories"
        if path:
            return cls(module, path)
        if required:
            module.fail_json(
                msg="There is no rocmcfg {0} on this host. Install it first, for example with the role "
                "rocmcfg.amdgpu.install, or name it with executable.".format(where)
            )
        return None

    def ask(self, arguments, accept=(0,)):
        """The document of a command; ends the task unless its exit code is one of `accept`."""
        code, output, errors = self._run(list(arguments) + ["--json"])
        try:
            found = answer.document(output, errors, code)
        except answer.Unreadable as problem:
            self.fail(
                {
                    "msg": "{0} (version {1}) cannot be used: {2}".format(
                        self.path, self.version or "unknown", problem
                    ),
                    "rc": code,
                }
            )
        if code not in accept:
            self.fail(answer.failure(found, code))
        for warning in answer.of_severity(found, "warning"):
            self._module.warn("rocmcfg: " + answer.sentence(warning))
        return found

    def fail(self, results):
        results.setdefault("diagnostics", [])
        results.setdefault("rolled_back", False)
        results.setdefault("recovery_required", False)
        self._module.fail_json(version=self.version, executable=self.path, **results)

    def _run(self, arguments):
        # A run that only looks must leave no trace, and an unprepared Python would write its byte code.
        environment = {"LC_ALL": "C.UTF-8", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        return self._module.run_command([self.path] + arguments, environ_update=environment)
