"""A headless Chromium, driven through a pipe by its DevTools protocol."""

import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SECONDS_MAX = 180.0
_LAUNCH = """\
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(reads, 3), os.dup2(writes, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""The browser reads from descriptor 3 and writes to 4."""
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Return the browser's path, or None if none is installed."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Chromium:
    """One browser with one page."""

    def __init__(self, program: str, folder: Path) -> None:
        """Start the browser; it writes its files into `folder`."""
        reads, self._writes = os.pipe()
        self._reads, writes = os.pipe()
        command = [
            *(sys.executable, "-c", _LAUNCH, str(reads), str(writes), program),
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
            *(f"--user-data-dir={folder}", "--remote-debugging-pipe", "--window-size=1200,800", "about:blank"),
        ]
        silent = subprocess.DEVNULL
        self._process = subprocess.Popen(command, pass_fds=(reads, writes), stdout=silent, stderr=silent)
        os.close(reads)
        os.close(writes)
        self._held = b""
        self._kept: list[dict[str, Any]] = []
        """Messages that came while a call had no answer yet."""
        self.requested: list[str] = []
        """URLs that the page requested since `Network.enable` was called."""
        self._number = 0
        self._session: str | None = None
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method: str, **params: object) -> dict[str, Any]:
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self._kept.append(answer)
        assert "error" not in answer, answer
        return dict(answer.get("result", {}))

    def wait_for(self, is_wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the next wanted message, and drop others."""
        while not is_wanted(message := self._kept.pop(0) if self._kept else self._read()):
            pass
        return message

    def close(self) -> None:
        os.close(self._writes)
        os.close(self._reads)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            assert select.select([self._reads], [], [], _SECONDS_MAX)[0], "the browser says nothing"
            chunk = os.read(self._reads, 1 << 20)
            assert chunk, "the browser has ended"
            self._held += chunk
        first, _, self._held = self._held.partition(b"\0")
        message = dict(json.loads(first))
        if message.get("method") == "Network.requestWillBeSent":
            self.requested.append(message["params"]["request"]["url"])
        return message
