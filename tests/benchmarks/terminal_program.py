"""A program in a terminal of its own, watched from outside: what it writes, and its memory."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from time import monotonic

_ROWS, _COLUMNS = 48, 160
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class TerminalProgram:
    """Started at once; give it up with `close`."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        self.start = monotonic()
        self._process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            start_new_session=True,
        )
        os.close(theirs)
        self._written = bytearray()
        self._changed = Condition()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while select.select([self._ours], [], [], 1.0)[0] or self._process.poll() is None:
                if not select.select([self._ours], [], [], 0)[0]:
                    continue
                chunk = os.read(self._ours, 1 << 16)
                with self._changed:
                    self._written += chunk
                    self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def wait_for(self, word: str, until: float) -> float | None:
        """Return the seconds from the start until `word` was written; None where it was not by the moment `until`."""
        wanted = word.encode()
        with self._changed:
            while wanted not in self._written:
                rest = until - monotonic()
                if rest <= 0 or self._process.poll() is not None:
                    return None
                self._changed.wait(min(rest, 1.0))
            return monotonic() - self.start

    def memory_bytes(self) -> int:
        """Return the memory that it holds now."""
        return int(Path(f"/proc/{self._process.pid}/statm").read_text("utf-8").split()[1]) * _PAGE_BYTES

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._reader.join(3)
        os.close(self._ours)
