#!/usr/bin/python3 -IS
"""Starts rocmcfg with the libraries of its package only: none of pip's, none of the user's, no PYTHONPATH.

The file becomes /usr/bin/rocmcfg; tree.py fills in the constants. `-I` and `-S` keep foreign libraries out.
It must stay valid for Pythons that are too old, because it is what reports that they are.
"""

import os
import sys

# The Pythons for which the package has compiled libraries. Empty: it uses the distribution's.
PYTHONS = ()
# Where the distribution keeps its libraries, for a package that uses them; {python} is the version of Python.
SYSTEM = ()


def main():
    version = sys.version_info[:2]
    if not fits(version):
        have = f"{name(PYTHONS[0])} to {name(PYTHONS[-1])}" if PYTHONS else "3.10 and newer"
        sys.exit(
            f"rocmcfg: {sys.executable or 'this'} is Python {name(version)}, but this package has "
            f"libraries for {have}; nothing was changed. Install the rocmcfg of this release, or "
            f"use a suitable Python: `python3.X -IS {os.path.realpath(__file__)}`."
        )
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    # Not an absolute path: a package that was only unpacked, for example on a rescue disk, must run as well.
    libraries = os.path.join(prefix, "lib", "rocmcfg")
    system = [path.replace("{python}", name(version)) for path in SYSTEM]
    # After the standard library, which no bundled library may shadow.
    sys.path += [os.path.join(libraries, "cp" + name(version).replace(".", "")), libraries, *system]
    # The package's scripts write and remove bytecode; a run must not leave files that they do not know.
    sys.dont_write_bytecode = True
    try:
        from rocmcfg.cli.app import main as rocmcfg
    except Exception as problem:  # a missing, truncated or empty file: each raises a different exception
        if "--debug" in sys.argv:
            raise
        sys.exit(
            f"rocmcfg: this installation is damaged ({type(problem).__name__}: {problem}); "
            "nothing was changed. Reinstall the package."
        )
    rocmcfg()


def fits(version):
    return version in PYTHONS if PYTHONS else version >= (3, 10)


def name(version):
    return ".".join(str(number) for number in version)


if __name__ == "__main__":
    main()
