"""Opens a session with pam_env for each file in/NUMBER, and writes what it sets, divided by NUL, to
out/NUMBER.

It runs in the Debian system, with that system's Python and PAM.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path


class Conversation(ctypes.Structure):
    _fields_ = (("call", ctypes.c_void_p), ("data", ctypes.c_void_p))


def session(pam: ctypes.CDLL, file: str) -> list[bytes]:
    Path("service").write_text(f"session required pam_env.so conffile=/dev/null readenv=1 envfile={file}\n")
    handle, talk = ctypes.c_void_p(), Conversation(None, None)
    place = os.getcwd().encode()
    assert pam.pam_start_confdir(b"service", b"root", ctypes.byref(talk), place, ctypes.byref(handle)) == 0
    pam.pam_open_session(handle, 0)
    pam.pam_getenvlist.restype = ctypes.POINTER(ctypes.c_char_p)
    found = pam.pam_getenvlist(handle)
    texts: list[bytes] = []
    while (text := found[len(texts)]) is not None:
        texts.append(text)
    pam.pam_end(handle, 0)
    return texts


if __name__ == "__main__":
    library = ctypes.CDLL("libpam.so.0")
    for number in range(int(sys.argv[1])):
        texts = session(library, f"{os.getcwd()}/in/{number}")
        Path(f"out/{number}").write_bytes(b"\0".join(texts))
