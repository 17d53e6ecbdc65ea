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
