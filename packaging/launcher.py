#!/usr/bin/python3 -IS
"""Starts rocmcfg with the libraries of its package: none of pip's, none of the user's, no PYTHONPATH.

The file becomes /usr/bin/rocmcfg; tree.py fills in the constants. `-I` and `-S` keep foreign libraries out.
It must stay readable for Pythons that are too old, since it is what tells them so.
"""

import os
import sys

# The Pythons that the package has compiled libraries for. None: it leans on the distribution's.
PYTHONS = ()
# Where the distribution keeps its libraries, for a package that leans on them.
SYSTEM = ()


def main():
    version = sys.version_info[:2]
    if not fits(version):
        have = f"{name(PYTHONS[0])} to {name(PYTHONS[-1])}" if PYTHONS else "3.10 and newer"
        sys.exit(
            f"rocmcfg: {sys.executable or 'this'} is Python {name(version)}, and this package has its "
            f"libraries for {have}; nothing was changed. Install the rocmcfg of this release, or "
            f"name a Python that fits: `python3.X -IS {os.path.realpath(__file__)}`."
        )
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    # Not an absolute path: a package that was only unpacked, on a rescue disk say, runs as well.
    libraries = os.path.join(prefix, "lib", "rocmcfg")
    # After the standard library, which nothing that is bundled may shadow.
    sys.path += [os.path.join(libraries, "cp" + name(version).replace(".", "")), libraries, *SYSTEM]
    # Byte code is for the package's scripts to write and to remove; a run leaves none that they do not know.
    sys.dont_write_bytecode = True
    try:
        from rocmcfg.cli.app import main as rocmcfg
    except Exception as problem:  # a missing file, half a file, an empty one: each ends in another one
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
