"""What the build of the Debian package asks the program, which no other test of a plain run calls."""

from __future__ import annotations

import re
import subprocess
import sys

from rocmcfg.backends import edits
from rocmcfg.planning.owned import owned_paths
from tests.support.program import SOURCE


def test_the_program_says_which_files_are_its_own() -> None:
    rules = (SOURCE / "packaging/debian/rules").read_text()
    asked = re.findall(r"python3 -B -c '([^']+)'", rules)
    assert len(asked) == 1
    done = subprocess.run(
        [sys.executable, "-B", "-c", asked[0]], cwd=SOURCE, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == sorted(path for path in owned_paths() if edits.editor(path) is None)
