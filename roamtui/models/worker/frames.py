"""Frames on a pipe: four bytes of length, most significant first, then one JSON object."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Mapping

_LENGTH_BYTES = 4
FRAME_BYTES_MAX = 1 << 28
"""A length beyond this is no length: something else has written to the pipe."""

Frame = dict[str, Any]


class BrokenFrameError(Exception):
    """What came through the pipe is no frame."""


def write_json(value: object) -> str:
    """Return a value as JSON without spaces; lone surrogates pass, escaped."""
    return json.dumps(value, separators=(",", ":"))


def encode_frame(frame: Mapping[str, object], **written: str) -> bytes:
    """Return the bytes of `frame`, which has entries, with `written` after them, whose values are JSON already."""
    rest = "".join(f',"{name}":{text}' for name, text in written.items())
    data = f"{write_json(frame)[:-1]}{rest}}}".encode("ascii")
    return len(data).to_bytes(_LENGTH_BYTES, "big") + data


async def receive_frame(reader: asyncio.StreamReader) -> Frame | None:
    """Return the next frame, None at the end of the pipe.

    Raises:
        BrokenFrameError: What came is no frame.
    """
    try:
        length = _decode_length(await reader.readexactly(_LENGTH_BYTES))
        return _decode_frame(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def read_frame(pipe: BinaryIO) -> Frame | None:
    """Return the next frame of a blocking pipe, None at its end.

    Raises:
        BrokenFrameError: What came is no frame.
    """
    head = pipe.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    length = _decode_length(head)
    data = pipe.read(length)
    return _decode_frame(data) if len(data) == length else None


def _decode_length(head: bytes) -> int:
    length = int.from_bytes(head, "big")
    if length > FRAME_BYTES_MAX:
        raise BrokenFrameError(f"a frame of {length} bytes")
    return length


def _decode_frame(data: bytes) -> Frame:
    try:
        frame = json.loads(data)
    except ValueError as error:
        raise BrokenFrameError("no JSON") from error
    if not isinstance(frame, dict):
        raise BrokenFrameError("no JSON object")
    return frame
