"""A browser without a window, for pages that the program writes. It speaks Chromium's DevTools protocol over
two pipes: no library and no network."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.tools import HANG, require_tool

# Chromium reads the protocol from descriptor 3, and writes it to 4.
_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1].split()]
for place, end in enumerate(ends, 3):
    os.dup2(end, place)
os.execv(sys.argv[2], sys.argv[2:])
"""


class Browser:
    """A page of a running browser. `messages` are the errors and remarks of its console."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read, self._held, self._last = write, read, b"", 0
        self._session = ""
        self._is_loaded = False
        self.messages: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol, and return its result."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            if not select.select([self._read], [], [], HANG)[0]:
                raise RuntimeError("the browser does not answer")
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser has ended")
            self._held += chunk
        text, _, self._held = self._held.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        method, values = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._is_loaded = True
        elif method == "Log.entryAdded":
            self.messages.append(values["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.messages.append(str(values["exceptionDetails"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        return message

    def open(self, address: str) -> None:
        """Open a page, and wait until it is loaded."""
        self.load(lambda: self.call("Page.navigate", url=address))

    def load(self, act: Callable[[], object]) -> None:
        """Wait for the page that an act loads."""
        self._is_loaded = False
        act()
        while not self._is_loaded:
            self._next()

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page; a promise is waited for."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(str(done["exceptionDetails"]))
        return done["result"].get("value")

    def press(self, key: str, code: int = 0, text: str = "") -> None:
        """Press a key and let it go, as the user of a keyboard does."""
        event = {"key": key, "windowsVirtualKeyCode": code, "text": text}
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        for character in text:
            self.press(character, text=character)

    def look(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Set the size of the window, and whether the user wants dark colours."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, path: Path, *, whole: bool = False) -> None:
        done = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(done["data"]))

    def accessible(self) -> list[tuple[str, str]]:
        """Return the roles and names that a screen reader gets."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        shown = (node for node in nodes if not node.get("ignored"))
        return [
            (str(n.get("role", {}).get("value", "")), str(n.get("name", {}).get("value", ""))) for n in shown
        ]


@contextmanager
def browser() -> Iterator[Browser]:
    """Start Chromium; skip the test where there is none."""
    program = next(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")), "chromium")
    program = require_tool(program, "chromium")
    to_browser, from_browser = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(prefix="rocmcfg-browser-") as profile:
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-extensions",
        ]
        options += [
            "--disable-background-networking",
            "--disable-dev-shm-usage",
            f"--user-data-dir={profile}",
        ]
        ends = f"{to_browser[0]} {from_browser[1]}"
        process = subprocess.Popen(
            [sys.executable, "-c", _START, ends, program, *options, "--remote-debugging-pipe"],
            env={
                **os.environ,
                **dict.fromkeys(("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), profile),
            },
            pass_fds=(to_browser[0], from_browser[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser[0])
        os.close(from_browser[1])
        try:
            yield Browser(to_browser[1], from_browser[0])
        finally:
            os.close(to_browser[1])
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(HANG)
            os.close(from_browser[0])
