"""How long a program takes from its start until words stand on the screen of a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

_ROWS, _COLUMNS = 48, 160
_SECONDS_MAX = 60.0


class NoScreenError(Exception):
    """The program ended, or never showed the words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is started, and the words that its first whole screen holds."""

    command: Sequence[str]
    words: Sequence[str]
    environ: Mapping[str, str]


def measure_first_screen(program: Program) -> float:
    """Start the program in a terminal of its own, end it once all words were written, and return the seconds.

    Raises:
        NoScreenError: They never were.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    start = perf_counter()
    process = subprocess.Popen(
        program.command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**program.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        _read_until(ours, [word.encode() for word in program.words], start)
        return perf_counter() - start
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read_until(terminal: int, words: list[bytes], start: float) -> None:
    shown = b""
    while not all(word in shown for word in words):
        rest = start + _SECONDS_MAX - perf_counter()
        is_ready = rest > 0 and select.select([terminal], [], [], rest)[0]
        try:
            chunk = os.read(terminal, 1 << 16) if is_ready else b""
        except OSError:
            chunk = b""
        if not chunk:
            raise NoScreenError(f"no screen with {words}; the end of what came: {shown[-300:]!r}")
        shown += chunk
