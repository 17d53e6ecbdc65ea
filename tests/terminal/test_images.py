"""The installed program in a terminal that says it is kitty: what it writes there, byte by byte."""

import re
import sys
from base64 import b64decode
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.sources.sample_pictures import make_png
from tests.terminal.pseudo_terminal import PseudoTerminal

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind"),
    pytest.mark.skipif(find_spec("PIL") is None, reason="Pillow is not installed"),
]


_PLACEHOLDER = "\U0010eeee".encode()


def test_an_image_is_sent_before_it_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(make_png(80, 96, (255, 0, 0), (0, 0, 255)))
    (tmp_path / "guide.md").write_text("# Guide\n\n![Two stripes](a.png)\n")
    environ = {"TERM": "xterm-kitty", "COLORTERM": "truecolor"}
    with closing(PseudoTerminal([tmp_path / "guide.md"], tmp_path, environ=environ)) as kitty:
        kitty.wait_for(b"sk this document")
        kitty.type(b"\x1b")
        kitty.wait_for(b"fold")
        kitty.type(b"\r")
        kitty.wait_for(b"image: Two stripes")
        kitty.type(b"\rv")  # the second time, enter goes to the reader
        kitty.wait_for(_PLACEHOLDER)
        [(head, payload)] = re.findall(rb"\x1b_G([^;\x1b]*);([^\x1b]*)\x1b\\", kitty.written)
        found = re.fullmatch(rb"a=T,U=1,q=2,f=100,i=(\d+),c=64,r=38,m=0", head)
        assert found
        assert b64decode(payload).startswith(b"\x89PNG")
        assert kitty.written.index(b"\x1b_G") < kitty.written.index(_PLACEHOLDER), "placeholders need their image"
        image_id = int(found[1])
        colour = ";".join(str(image_id >> shift & 0xFF) for shift in (16, 8, 0)).encode()
        kitty.wait_for(b"38;2;" + colour)
