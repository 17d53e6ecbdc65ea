"""A program in a terminal of its own, watched from outside: what it writes, its time on the processor, its memory."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from time import monotonic, sleep

_ROWS, _COLUMNS = 48, 160
_TICK_SECONDS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_QUIET_SECONDS = 0.25
_IDLE_SHARE = 0.05
_IDLE_WINDOWS = 2


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
        self._last = self.start
        self._arrivals: list[tuple[int, float]] = []
        """How much was written by which moment."""
        self._changed = Condition()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def written(self) -> int:
        """How many bytes it has written so far."""
        return len(self._written)

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while select.select([self._ours], [], [], 1.0)[0] or self._process.poll() is None:
                if not select.select([self._ours], [], [], 0)[0]:
                    continue
                chunk = os.read(self._ours, 1 << 16)
                with self._changed:
                    self._written += chunk
                    self._last = monotonic()
                    self._arrivals.append((len(self._written), self._last))
                    self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def wait_for(self, word: str, until: float) -> float | None:
        """Return the seconds from the start until `word` was written; None where it was not by the moment `until`."""
        wanted = word.encode()
        with self._changed:
            while (place := self._written.find(wanted)) < 0:
                rest = until - monotonic()
                if rest <= 0 or self._process.poll() is not None:
                    return None
                self._changed.wait(min(rest, 1.0))
            arrival = bisect_left(self._arrivals, (place + len(wanted), 0.0))
            return self._arrivals[arrival][1] - self.start

    def wait_until_quiet(self, until: float) -> None:
        """Wait until nothing was written for a while."""
        while monotonic() < until and monotonic() - self._last < _QUIET_SECONDS:
            sleep(_QUIET_SECONDS / 5)

    def wait_until_idle(self, until: float) -> bool:
        """Wait until it does nothing; return whether that came by the moment `until`."""
        idle = 0
        while monotonic() < until:
            before = self.cpu_seconds()
            sleep(_QUIET_SECONDS)
            idle = idle + 1 if self.cpu_seconds() - before < _IDLE_SHARE * _QUIET_SECONDS else 0
            if idle == _IDLE_WINDOWS:
                return True
        return False

    def press(self, keys: bytes) -> None:
        """Send keys as a terminal does."""
        os.write(self._ours, keys)

    def cpu_seconds(self) -> float:
        """Return the time on the processor so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK_SECONDS

    def memory_bytes(self) -> int:
        """Return the memory that it holds now."""
        return read_memory(self._process.pid)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._reader.join(3)
        os.close(self._ours)


def read_memory(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text("utf-8").split()[1]) * _PAGE_BYTES
