"""Pictures, written without a library."""

import struct
import zlib
from collections.abc import Sequence


def make_png(width: int, height: int, *colours: Sequence[int]) -> bytes:
    """Return a PNG file of horizontal stripes, from top to bottom. Without colours it is black."""
    stripes = [bytes(colour) for colour in colours] or [bytes(3)]
    rows = b"".join(b"\0" + stripes[row * len(stripes) // height] * width for row in range(height))
    return _write_png(struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0), zlib.compress(rows))


def make_bomb(side: int) -> bytes:
    """Return a small PNG file of `side` x `side` white pixels."""
    return _write_png(
        struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0), zlib.compress((b"\0" + b"\xff" * (side // 8)) * side, 9)
    )


def _write_png(head: bytes, pixels: bytes) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def make_gif(width: int, height: int, frames: int) -> bytes:
    """Return a GIF file: a red frame, then green ones."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes((255, 0, 0, 0, 255, 0))
    return head + b"".join(_make_frame(width, height, int(frame > 0)) for frame in range(frames)) + b";"


def _make_frame(width: int, height: int, colour: int) -> bytes:
    # Each pixel is a code of three bits after a code that clears the table, so that the table never grows.
    bits = "".join(f"{code:03b}"[::-1] for _ in range(width * height) for code in (4, colour)) + "101"
    bits += "0" * (-len(bits) % 8)
    data = bytes(int(bits[start : start + 8][::-1], 2) for start in range(0, len(bits), 8))
    blocks = b"".join(bytes((len(data[n : n + 255]),)) + data[n : n + 255] for n in range(0, len(data), 255))
    return b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02" + blocks + b"\0"
