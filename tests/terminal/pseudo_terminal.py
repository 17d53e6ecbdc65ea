"""A program in a pseudo-terminal, without tmux: what it writes, byte by byte."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl
    import pty
    import struct
    import termios

_SECONDS_MAX = 120.0
_TAKE_TERMINAL = """\
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""The first process of a session gets its terminal like this, as from a window or from ssh."""


class PseudoTerminal:
    """The installed program in a terminal of 40 lines, and all that it has written."""

    def __init__(
        self,
        arguments: Sequence[str | Path],
        home: Path,
        *,
        environ: Mapping[str, str],
        program: Sequence[str | Path] = (Path(sys.executable).with_name("roamtui"),),
        columns: int = 160,
        is_controlling: bool = False,
    ) -> None:
        """Start the program. `is_controlling` is whether the program is told when the terminal goes away."""
        self.written = b""
        self._is_open = True
        self._terminal, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        unset = ("TMUX", "STY", "NO_COLOR", "TERM_PROGRAM", "TEXTUAL_DRIVER")
        inherited = {key: value for key, value in os.environ.items() if key not in unset}
        folders = {"HOME": str(home), "XDG_CONFIG_HOME": str(home)}
        command = [*program, *arguments]
        if is_controlling:
            command = [sys.executable, "-c", _TAKE_TERMINAL, *command]
        self.process = subprocess.Popen(
            command,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env={**inherited, **folders, **environ},
            start_new_session=True,
        )
        os.close(inner)

    def wait_for(self, wanted: bytes) -> None:
        """Read until the program has written these bytes."""
        end = time.monotonic() + _SECONDS_MAX
        while wanted not in self.written:
            assert time.monotonic() < end, f"{wanted!r} did not come: {self.written[-2_000:]!r}"
            self._read()

    def read_for(self, seconds: float) -> None:
        """Read all that the program writes in this time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._read()

    def _read(self) -> None:
        with suppress(OSError):  # Linux reports the end like this
            if select.select([self._terminal], [], [], 0.1)[0]:
                self.written += os.read(self._terminal, 65_536)

    def type(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def hang_up(self) -> None:
        """Take the terminal away, as a window that closes does."""
        os.close(self._terminal)
        self._is_open = False

    def wait_for_end(self) -> int:
        """Read all until the program has ended, and return its exit status."""
        end = time.monotonic() + _SECONDS_MAX
        while self.process.poll() is None:
            assert time.monotonic() < end, f"It goes on: {self.written[-2_000:]!r}"
            if self._is_open:
                self._read()
        with suppress(OSError):  # likewise
            while self._is_open and select.select([self._terminal], [], [], 0.1)[0]:
                piece = os.read(self._terminal, 65_536)
                if not piece:
                    break
                self.written += piece
        return self.process.returncode

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self._is_open:
            self.hang_up()


@contextmanager
def open_guide(folder: Path, *arguments: str, **environ: str) -> Iterator[PseudoTerminal]:
    """Run the app over a small guide, which a folder gets."""
    (folder / "guide.md").write_text("# Guide\n\n## Part\n\nThe deposit is 7 euros.\n")
    environ = {"TERM": "xterm-256color", **environ}
    with closing(PseudoTerminal([folder / "guide.md", *arguments], folder, environ=environ)) as terminal:
        yield terminal
