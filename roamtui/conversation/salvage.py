"""Reads rows out of a damaged SQLite file, page by page, without trusting anything that pages say of each other.

The format is that of https://www.sqlite.org/fileformat2.html. Knows nothing of what the rows mean.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

Value = None | int | float | str | bytes
Row = tuple[Value, ...]

_MAGIC = b"SQLite format 3\x00"
_HEADER_LENGTH = 100
_PAGE_SIZES = tuple(1 << power for power in range(9, 17))
_PAGE_SIZE = 4096
"""SQLite's own choice for a new file."""
_LEAF = 0x0D
_LEAF_HEADER_LENGTH = 8
_INTEGER_LENGTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_FLOAT, _ZERO, _ONE, _BLOB = 7, 8, 9, 12


def read_rows(content: bytes) -> Iterator[Row]:
    """Yield each row that some leaf of a table holds whole; what is no row any more is passed over."""
    size = _find_page_size(content)
    for number in range(1, len(content) // size + 1):
        yield from _read_page(content, number, size)


def _find_page_size(content: bytes) -> int:
    if content[:16] == _MAGIC:
        (stated,) = struct.unpack(">H", content[16:18])
        size = 65_536 if stated == 1 else stated
        if size in _PAGE_SIZES:
            return size
    return _PAGE_SIZE


def _read_page(content: bytes, number: int, size: int) -> Iterator[Row]:
    start = (number - 1) * size
    header = start + (_HEADER_LENGTH if number == 1 else 0)
    if content[header] != _LEAF:
        return
    (count,) = struct.unpack(">H", content[header + 3 : header + 5])
    for index in range(count):
        place = header + _LEAF_HEADER_LENGTH + 2 * index
        if place + 2 > start + size:
            return
        (offset,) = struct.unpack(">H", content[place : place + 2])
        if offset >= size:
            continue
        row = _read_cell(content, start + offset, start + size, size)
        if row is not None:
            yield row


def _read_cell(content: bytes, place: int, end: int, size: int) -> Row | None:
    """Return the row of a cell, None where it is none."""
    try:
        length, place = _read_varint(content, place, end)
        _rowid, place = _read_varint(content, place, end)
        payload = _read_payload(content, place, end, length, size)
        return _read_record(payload)
    except (_NoRowError, IndexError, struct.error, UnicodeDecodeError):
        return None


class _NoRowError(Exception):
    """These bytes are no row."""


def _read_varint(content: bytes, place: int, end: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and the place after it."""
    value = 0
    for index in range(9):
        if place + index >= end:
            raise _NoRowError
        byte = content[place + index]
        if index == 8:
            return (value << 8) | byte, place + 9
        value = (value << 7) | (byte & 0x7F)
        if not byte & 0x80:
            return value, place + index + 1
    raise _NoRowError


def _read_payload(content: bytes, place: int, end: int, length: int, size: int) -> bytes:
    """Return what a cell holds, with what did not fit into its page."""
    if not 0 < length <= len(content):
        raise _NoRowError
    most = size - 35
    if length <= most:
        local = length
    else:
        least = (size - 12) * 32 // 255 - 23
        wanted = least + (length - least) % (size - 4)
        local = wanted if wanted <= most else least
    if place + local > end:
        raise _NoRowError
    payload = bytearray(content[place : place + local])
    if local < length:
        (number,) = struct.unpack(">I", content[place + local : place + local + 4])
        _follow(content, number, size, length, payload)
    return bytes(payload)


def _follow(content: bytes, number: int, size: int, length: int, payload: bytearray) -> None:
    """Add the pages that a payload goes on in, until it is whole."""
    seen: set[int] = set()
    while len(payload) < length:
        if number in seen or not 0 < number <= len(content) // size:
            raise _NoRowError
        seen.add(number)
        start = (number - 1) * size
        (number,) = struct.unpack(">I", content[start : start + 4])
        payload += content[start + 4 : start + min(size, 4 + length - len(payload))]


def _read_record(payload: bytes) -> Row:
    head_length, place = _read_varint(payload, 0, len(payload))
    kinds: list[int] = []
    while place < head_length:
        kind, place = _read_varint(payload, place, min(head_length, len(payload)))
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        value, place = _read_value(payload, place, kind)
        values.append(value)
    if place != len(payload):
        raise _NoRowError
    return tuple(values)


def _read_value(payload: bytes, place: int, kind: int) -> tuple[Value, int]:
    """Return a value of one of the kinds of the format, and the place after it."""
    if kind in (0, _ZERO, _ONE):
        return (None if kind == 0 else kind - _ZERO), place
    if kind in _INTEGER_LENGTHS:
        end = place + _INTEGER_LENGTHS[kind]
        return int.from_bytes(payload[place:end], "big", signed=True), end
    if kind == _FLOAT:
        return struct.unpack(">d", payload[place : place + 8])[0], place + 8
    if kind < _BLOB:
        raise _NoRowError
    end = place + (kind - _BLOB) // 2
    if end > len(payload):
        raise _NoRowError
    return (payload[place:end].decode("utf-8") if kind % 2 else payload[place:end]), end
