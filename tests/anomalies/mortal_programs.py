"""Runs the real program again and again in processes that are killed, and keeps what each of them showed.

The processes are forks of one that has imported the program (`forking.py`): a fork costs a tenth of a start.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real_documents import PROJECT_DIR


@dataclass(frozen=True, kw_only=True)
class MortalRun:
    """What a run showed until it ended."""

    was_killed: bool
    code: int
    events: tuple[Mapping[str, Any], ...]
    """Whole lines of `ask --events`; a line that was cut off was not shown."""
    errors: str

    def find(self, name: str) -> list[Mapping[str, Any]]:
        return [event for event in self.events if event["event"] == name]


class MortalPrograms:
    """Starts runs of `roamtui` in homes of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._server = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.anomalies.forking"],
            cwd=PROJECT_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, home: Path, **given: object) -> MortalRun:
        """Run the program in a home until it ends or is killed; `given` may have `kill_at_write` and `umask`."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._count += 1
        out = self._folder / f"{self._count}"
        job = {"arguments": arguments, "home": str(home), "out": str(out), **given}
        self._server.stdin.write(json.dumps(job) + "\n")
        self._server.stdin.flush()
        return _read(out, int(self._server.stdout.readline()))

    def close(self) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(60)
        self._server.stdout.close()


def _read(out: Path, status: int) -> MortalRun:
    lines = out.read_text("utf-8", "replace").split("\n")[:-1]
    return MortalRun(
        was_killed=os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL,
        code=os.waitstatus_to_exitcode(status),
        events=tuple(json.loads(line) for line in lines if line.startswith("{")),
        errors=out.with_suffix(".err").read_text("utf-8"),
    )
