# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT
"""The installed rocmcfg, run with --json. Only this file of the collection starts programs."""

import os
import sys

from ansible_collections.rocmcfg.amdgpu.plugins.module_utils import answer, request

# The options of every module. With module_defaults for the group, each module must accept all three.
HOST_OPTIONS = {
    "executable": {"type": "path"},
    "root": {"type": "path"},
    "chroot": {"type": "bool", "default": False},
}
OLDEST_PYTHON = (3, 6)
# As root, run only the system's programs: a PATH that sudo passed on may hold a folder of another user.
DIRECTORIES = (
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/run/current-system/sw/bin",
    "/run/current-system/profile/bin",
)


def refuse(module, said, **more):
    """Ends the task for a reason of the module's own, with the results that every failure has."""
    results = {"rc": None, "diagnostics": [], "rolled_back": False, "recovery_required": False}
    results.update(more)
    module.fail_json(msg=said, **results)


def refuse_old_python(module):
    """Ends the task if the Python is too old for the modules; ansible-core 2.16 still starts them."""
    if sys.version_info < OLDEST_PYTHON:
        refuse(
            module,
            "rocmcfg.amdgpu needs Python 3.6 or newer on the target, but runs with {0} ({1}). "
            "Set ansible_python_interpreter to a newer one.".format(
                ".".join(str(n) for n in sys.version_info[:3]), sys.executable
            ),
        )


def is_root():
    return os.geteuid() == 0


def _installed(module):
    """The first rocmcfg in the system's directories. For users other than root, PATH comes first."""
    program = None if is_root() else module.get_bin_path("rocmcfg")
    for directory in DIRECTORIES:
        path = os.path.join(directory, "rocmcfg")
        if not program and os.path.isfile(path) and os.access(path, os.X_OK):
            program = path
    return program


class Program(object):
    """rocmcfg on this host. Any failure ends the task with one message."""

    def __init__(self, module, path):
        self._module = module
        self.path = path
        self.version = None
        self.code, output, errors = self._run(["--version"])
        self.version = answer.version(output)
        if self.version is None:
            self._unusable(answer.no_version(output, errors, self.code))

    @classmethod
    def of(cls, module, required=True):
        """The program that the task names, or the installed one. None if neither exists nor is required."""
        try:
            request.check_paths(module.params)
        except request.NotAsWritten as problem:
            refuse(module, str(problem))
        named = module.params["executable"]
        if named:
            if os.path.isfile(named) and os.access(named, os.X_OK):
                return cls(module, named)
            path = None
            where = "at {0} (executable)".format(named)
        else:
            path = _installed(module)
            where = "in {0}".format(", ".join(DIRECTORIES))
            where = where if is_root() else "on PATH or " + where
        if path:
            return cls(module, path)
        if required:
            refuse(
                module,
                "There is no rocmcfg {0} on this host. Install it first, for example with the role "
                "rocmcfg.amdgpu.install, or set executable to its path.".format(where),
            )
        return None

    def ask(self, arguments, accept=(0,), warn=True):
        """The document of a command; ends the task unless its exit code is one of `accept`. Its warnings are
        shown as warnings of the task, unless another command repeats them."""
        self.code, output, errors = self._run(list(arguments) + ["--json"])
        found = None
        try:
            found = answer.document(output, errors, self.code)
            if self.code in accept:
                answer.complete(found, arguments[0])
        except answer.Unreadable as problem:
            said = str(problem)
            if "--yes" in arguments and self.code >= 0:
                said = (
                    said.rstrip(".")
                    + ". It was told to change the host; `rocmcfg history` there shows whether it did."
                )
            self._unusable(said)
        if self.code not in accept:
            self.fail(answer.failure(found, self.code))
        for warning in answer.of_severity(found, "warning") if warn else ():
            self._module.warn("rocmcfg: " + answer.sentence(warning))
        return found

    def fail(self, results):
        """Ends the task with these results and those that every failure has."""
        results = dict(results)
        results.setdefault("rc", self.code)
        refuse(self._module, results.pop("msg"), version=self.version, executable=self.path, **results)

    def _unusable(self, said):
        known = self.version or "unknown"
        self.fail({"msg": "{0} (version {1}) cannot be used: {2}".format(self.path, known, said)})

    def _run(self, arguments):
        # A run that only reads must leave no trace, but by default Python would write bytecode.
        environment = {"LC_ALL": "C.UTF-8", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        if is_root():
            environment["PATH"] = os.pathsep.join(DIRECTORIES)
        self.code = None
        try:
            # Without the last two, Ansible would expand $NAME and ~, and end the task itself on an error.
            return self._module.run_command(
                [self.path] + arguments,
                environ_update=environment,
                expand_user_and_vars=False,
                handle_exceptions=False,
            )
        except OSError as problem:
            reason = problem.strerror or str(problem)
            self._unusable(answer.unstartable(problem.errno, reason, _first_line(self.path)))
        except ValueError as problem:
            # a NUL, or half of a surrogate pair: no command line can carry them
            self.fail(
                {"msg": "A name or value in the task cannot be passed to a program: {0}.".format(problem)}
            )


def _first_line(path):
    try:
        with open(path, "rb") as opened:
            lines = opened.read(256).splitlines()
    except OSError:
        return ""
    return lines[0].decode("utf-8", "replace") if lines else ""
