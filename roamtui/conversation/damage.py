"""Puts a damaged file of conversations aside and a new one in its place, with all that could be read of the old.

Rows are read page by page, without trusting anything that pages say of each other; the format is that of
https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from roamtui.conversation.codec import DAMAGE, decode_conversation, decode_exchange
from roamtui.conversation.database import migrate, name_beside
from roamtui.conversation.reading import fit_state, recover_exchange, recover_state

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
_COLUMNS = ("id", "source", "title", "model", "created_at", "updated_at", "state", "revision", "writer", "changed")
_TEXTS = _COLUMNS[:7]
_FIRST_COLUMNS = len(_TEXTS)
_INSERT = (
    "INSERT INTO conversations (id, source, title, model, created_at, updated_at, state, revision, writer, changed)"
    " VALUES (:id, :source, :title, :model, :created_at, :updated_at, :state, :revision, :writer, :changed)"
)
_EXCHANGE_START = '{"number": '
"""What a row of three columns begins with that is an exchange, however damaged."""
_Json = dict[str, Any]


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


@dataclass(slots=True)
class _Found:
    """What could be read of one conversation."""

    row: _Json = field(default_factory=dict)
    state: _Json = field(default_factory=dict)
    exchanges: dict[int, _Json] = field(default_factory=dict)
    """By number."""
    has_damage: bool = False
    """Whether one of them is only what is left of it."""


def replace_damaged(path: Path, identity: tuple[int, int] | None) -> str:
    """Put the damaged file aside under a name that says when, and a new one with what could be read in its place.

    Args:
        path: Where the file lies; nobody in this program has it open.
        identity: Device and inode of the file that was found damaged.

    Returns:
        A sentence about it, empty where another program has replaced the file meanwhile.

    Raises:
        OSError: It could not be put aside, or there is no room for a new one.
        sqlite3.Error: The new one could not be written.
    """
    with _alone(path.parent):
        found = path.stat()
        if identity is not None and (found.st_dev, found.st_ino) != identity:
            return ""
        conversations = _collect(path.read_bytes())
        aside = name_beside(path, "damaged")
        part = aside.with_name(f"{aside.name}.part")
        _write_new(part, conversations)
        _keep(path, aside)
        journal = path.with_name(f"{path.name}-journal")
        if journal.exists():
            journal.replace(aside.with_name(f"{aside.name}-journal"))
        part.replace(path)
        _flush(path.parent)
    return _tell(path, aside, conversations)


def list_damaged(path: Path) -> list[Path]:
    """Return the files that were put aside, oldest first."""
    return sorted(path.parent.glob(f"{path.stem}.damaged-*{path.suffix}"))


def _tell(path: Path, aside: Path, conversations: Mapping[str, _Found]) -> str:
    questions = sum(len(found.exchanges) for found in conversations.values())
    if not conversations:
        return f"{path} was damaged and nothing in it could be read: it is kept as {aside.name}, and a new one begun."
    counts = f"{_count(len(conversations), 'conversation')} with {_count(questions, 'question')}"
    return f"{path} was damaged: {counts} could be read and went on into a new file. The old one is {aside.name}."


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other programs from doing the same at the same time, where the system can."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _keep(path: Path, aside: Path) -> None:
    """Give a file a second name, so that there is a file at the first one at every moment."""
    try:
        os.link(path, aside)
    except OSError:
        shutil.copy2(path, aside)


def _flush(folder: Path) -> None:
    """Have the names of a folder on disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _collect(content: bytes) -> dict[str, _Found]:
    """Return the conversations of which something can be read, by id, oldest change first."""
    found: dict[str, _Found] = {}
    for row in read_rows(content):
        if len(row) == 3:
            _take_exchange(row, found)
        elif len(row) in (_FIRST_COLUMNS, len(_COLUMNS)):
            _take_conversation(row, found)
    whole = {key: value for key, value in found.items() if value.exchanges or value.state.get("open")}
    return dict(sorted(whole.items(), key=lambda item: _place_in_time(item[1].row)))


def _place_in_time(row: _Json) -> tuple[int, str]:
    changed = row.get("changed", 0)
    return changed if isinstance(changed, int) else 0, row.get("updated_at", "")


def _take_exchange(row: Row, found: dict[str, _Found]) -> None:
    conversation_id, number, data = row
    if not (isinstance(conversation_id, str) and isinstance(number, int) and isinstance(data, str)):
        return
    try:
        values = json.loads(data)
        decode_exchange(values)
    except DAMAGE:
        if not data.startswith(_EXCHANGE_START):
            return
        values = recover_exchange(data, number)
        found.setdefault(conversation_id, _Found()).has_damage = True
    found.setdefault(conversation_id, _Found()).exchanges[number] = values


def _take_conversation(row: Row, found: dict[str, _Found]) -> None:
    if not all(isinstance(value, str) for value in row[:_FIRST_COLUMNS]):
        return
    values = dict(zip(_COLUMNS, row, strict=False))
    known = found.setdefault(str(values["id"]), _Found())
    if known.row and known.row["updated_at"] > values["updated_at"]:
        return
    known.row, known.state = values, {}
    try:
        state = json.loads(str(values["state"]))
        decode_conversation(values, state, ())
    except DAMAGE:
        return
    known.state = state


def _write_new(part: Path, conversations: Mapping[str, _Found]) -> None:
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(sqlite3.connect(part, isolation_level=None)) as connection:
            migrate(connection, part)
            connection.execute("BEGIN")
            for place, (conversation_id, found) in enumerate(conversations.items(), 1):
                _insert(connection, conversation_id, found, place)
            connection.execute("COMMIT")
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _insert(connection: sqlite3.Connection, conversation_id: str, found: _Found, place: int) -> None:
    numbers = sorted(found.exchanges)
    exchanges = [{**found.exchanges[number], "number": index} for index, number in enumerate(numbers, 1)]
    state = found.state or recover_state(found.row.get("state", ""), tuple(map(decode_exchange, exchanges)))
    if numbers != [*range(1, len(exchanges) + 1)] or found.has_damage:
        state = fit_state(state, len(exchanges))
    first = exchanges[0]["question"][:80] if exchanges else ""
    texts = {"source": "", "title": first, "model": "", "created_at": "", "updated_at": ""} | found.row
    revision = texts.get("revision")  # kept, so that a program that has the conversation can go on with it
    values = texts | {
        "id": conversation_id,
        "state": json.dumps(state),
        "revision": revision if isinstance(revision, int) else 0,
        "writer": "",
        "changed": place,
    }
    connection.execute(_INSERT, values)
    connection.executemany(
        "INSERT INTO exchanges VALUES (?, ?, ?)",
        [(conversation_id, exchange["number"], json.dumps(exchange)) for exchange in exchanges],
    )
