"""The installed program in a terminal that says it is kitty: what it writes there, byte by byte."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from base64 import b64decode
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.sources.sample_pictures import make_png

if sys.platform != "win32":
    import fcntl
    import pty
    import struct
    import termios

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind"),
    pytest.mark.skipif(find_spec("PIL") is None, reason="Pillow is not installed"),
]
_PROGRAM = Path(sys.executable).with_name("roamtui")
_SECONDS_MAX = 120.0


class Kitty:
    """The program in a terminal, and all that it has written."""

    def __init__(self, folder: Path) -> None:
        self.written = b""
        self._terminal, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        unset = ("TMUX", "STY", "NO_COLOR", "TERM_PROGRAM", "TEXTUAL_DRIVER")
        environ = {key: value for key, value in os.environ.items() if key not in unset}
        environ |= {
            "TERM": "xterm-kitty",
            "COLORTERM": "truecolor",
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder),
        }
        self.process = subprocess.Popen(
            [_PROGRAM, folder / "guide.md"],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env=environ,
            start_new_session=True,
        )
        os.close(inner)

    def wait_for(self, wanted: bytes) -> None:
        """Read until the program has written these bytes."""
        end = time.monotonic() + _SECONDS_MAX
        while wanted not in self.written:
            assert time.monotonic() < end, f"{wanted!r} did not come: {self.written[-2_000:]!r}"
            if select.select([self._terminal], [], [], 0.1)[0]:
                self.written += os.read(self._terminal, 65_536)

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._terminal, keys)

    def close(self) -> None:
        """End the program."""
        self.process.kill()
        self.process.wait()
        os.close(self._terminal)


def test_an_image_is_sent_shown_and_forgotten(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(make_png(80, 96, (255, 0, 0), (0, 0, 255)))
    (tmp_path / "guide.md").write_text("# Guide\n\n![Two stripes](a.png)\n")
    kitty = Kitty(tmp_path)
    try:
        kitty.wait_for(b"Ask this document")
        kitty.type(b"\x1b")
        kitty.wait_for(b"fold")
        kitty.type(b"\r")
        last_cell = "\U0010eeee\u033d\u034a".encode()
        kitty.wait_for(last_cell)
        sent = re.findall(rb"\x1b_G([^;\x1b]*);([^\x1b]*)\x1b\\", kitty.written)
        (head, payload), *more = sent
        found = re.fullmatch(rb"a=T,U=1,q=2,f=100,i=(\d+),c=10,r=6,m=0", head)
        assert found
        assert more == []
        assert b64decode(payload).startswith(b"\x89PNG")
        assert kitty.written.index(b"\x1b_G") < kitty.written.index(last_cell), "placeholders need their image"
        image_id = int(found[1])
        colour = ";".join(str(image_id >> shift & 0xFF) for shift in (16, 8, 0)).encode()
        kitty.wait_for(b"38;2;" + colour)
        kitty.type(b"\x11")
        kitty.wait_for(b"\x1b[?1049l")
        forgotten = b"\x1b_Ga=d,d=I,q=2,i=%d\x1b\\" % image_id
        assert kitty.written.index(forgotten) < kitty.written.index(b"\x1b[?1049l")
    finally:
        kitty.close()
