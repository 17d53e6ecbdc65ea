"""Reads a conversation out of the tables: whole where it can be, else as far as it can be, with the damaged rows kept.

A row that is damaged goes into a table of its own before anything is written in its place.

What no longer decodes as a whole is found key by key.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

import msgspec

from roamtui.conversation.codec import DAMAGE, Damage, SavedConversation, decode_conversation, decode_exchange
from roamtui.conversation.commands import Origin
from roamtui.conversation.events import SectionsExpanded
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.state import Exchange
from roamtui.conversation.transcript import Stopped, Usage
from roamtui.errors import StoreError

LOST_QUESTION = "(This question could not be read.)"
_TOLD = "This message was damaged on disk: what could be read of it is shown."
_NO_EXCHANGE: Mapping[str, Any] = {
    "question": LOST_QUESTION,
    "within": None,
    "open_before": [],
    "preface": "",
    "steps": [],
    "answer": "",
    "citations": [],
    "usage": msgspec.to_builtins(Usage()),
    "model": "",
    "events": [],
    "notes": [],
    "steps_taken": 0,
}
_NO_STATE: Mapping[str, Any] = {
    "system": "",
    "prologue": "",
    "rebuilt_at": 0,
    "history_from": 0,
    "open": [],
    "unfolded": [],
    "reading": None,
    "batches": [],
    "content_hash": "",
    "documents": {},
    "links": [],
    "approved_origins": [],
}
_ANYWHERE = {"id": "", "title": "", "model": ""}
_PLACES_MAX = 5
"""Where a key is looked for: it stands once in a text that somebody did not make to cost time."""
_DECODER = json.JSONDecoder(strict=False)
NO_SUCH = 'There is no conversation "{}". `roamtui conversations` lists them.'
_TABLE = """CREATE TABLE IF NOT EXISTS damaged_rows (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    kept_at TEXT NOT NULL, part TEXT NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL
) STRICT"""
"""Made when it is needed first, beside the tables of every version: older programs pass it over."""
_KEEP_EXCHANGE = (
    "INSERT INTO damaged_rows SELECT conversation_id, ?, 'exchange', CAST(coalesce(number, 0) AS INTEGER), "
    "coalesce(CAST(data AS BLOB), x'') FROM exchanges WHERE conversation_id = ? AND rowid = ?"
)
_KEEP_STATE = (
    "INSERT INTO damaged_rows SELECT id, ?, 'state', 0, coalesce(CAST(state AS BLOB), x'') "
    "FROM conversations WHERE id = ?"
)


class _Decode(Protocol):
    def __call__(self, values: Mapping[str, Any], /) -> object: ...


def recover_exchange(text: str, number: int) -> dict[str, Any]:
    """Return what a damaged text still says of an exchange, as values that decode; its error says that it is not all.

    Args:
        text: What lies on disk.
        number: The number that the exchange has.
    """
    fixed = {"number": number, "stopped": Stopped.ERROR.value, "error": _TOLD}
    return _recover(text, {**_NO_EXCHANGE, **fixed}, tuple(_NO_EXCHANGE), decode_exchange)


def recover_state(text: str, exchanges: tuple[Exchange, ...]) -> dict[str, Any]:
    """Return what a damaged text still says of a state, as values that decode; what was open else as last noted.

    Args:
        text: What lies on disk.
        exchanges: The questions of the conversation, as far as they could be read.
    """
    state = _recover(
        text, {**_NO_STATE, "needs_rebuild": True}, tuple(_NO_STATE), lambda s: decode_conversation(_ANYWHERE, s, ())
    )
    if not state["open"]:
        state |= {"open": msgspec.to_builtins(_find_last_open(exchanges)), "documents": {}, "content_hash": ""}
    return fit_state(state, len(exchanges))


def fit_state(state: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return a state whose transcript is built anew over `count` questions before the next one."""
    return {**state, "needs_rebuild": True, "rebuilt_at": count, "history_from": 0}


def _find_last_open(exchanges: tuple[Exchange, ...]) -> tuple[OpenSection, ...]:
    """Return what was open before the last question that can still be read, and what was opened from then on."""
    opened: dict[str, OpenSection] = {}
    for exchange in reversed(exchanges):
        new = {section_id: _open_anew(section_id, exchange.number) for section_id in _list_opened(exchange)}
        opened = {section.section_id: section for section in exchange.open_before} | new | opened
        if exchange.open_before or exchange.error != _TOLD:
            break
    return tuple(opened.values())


def _list_opened(exchange: Exchange) -> Iterator[str]:
    for event in exchange.events:
        if isinstance(event, SectionsExpanded):
            yield from event.opened_ids


def _open_anew(section_id: str, number: int) -> OpenSection:
    return OpenSection(section_id=section_id, opened_by=Origin.AGENT, opened_at=number, last_used=number)


def _recover(text: str, values: dict[str, Any], keys: tuple[str, ...], decode: _Decode) -> dict[str, Any]:
    """Return `values` with all that `text` holds under some keys and that still decodes."""
    found = dict(values)
    for key in keys:
        for value in _find_values(text, key):
            try:
                decode({**values, key: value})
            except DAMAGE:
                continue
            found[key] = value
            break
    return found


def _find_values(text: str, key: str) -> Iterator[Any]:
    """Yield what stands after a key; a quotation mark inside a text has a backslash before it, so that is no key."""
    sign = f'"{key}": '
    place = text.find(sign)
    for _ in range(_PLACES_MAX):
        if place < 0:
            return
        with suppress(ValueError, RecursionError):
            yield _DECODER.raw_decode(text, place + len(sign))[0]
        place = text.find(sign, place + 1)


def read_conversation(connection: sqlite3.Connection, conversation_id: str) -> SavedConversation:
    """Return a conversation; what does not decode is replaced by what is left of it, and `damage` says so.

    Raises:
        StoreError: There is none with this id.
    """
    row = connection.execute("SELECT * FROM conversations WHERE id = ?", (conversation_id,)).fetchone()
    if row is None:
        raise StoreError(NO_SUCH.format(conversation_id))
    query = "SELECT rowid, number, data FROM exchanges WHERE conversation_id = ? ORDER BY number"
    rows = connection.execute(query, (conversation_id,)).fetchall()
    exchanges: list[Exchange] = []
    damaged: list[int] = []
    for index, (row_id, _, data) in enumerate(rows, start=1):
        exchange = _read_exchange(data, index)
        if exchange is None:
            damaged.append(row_id)
            exchange = decode_exchange(recover_exchange(read_text(data), index))
        exchanges.append(exchange)
    numbers = [number for _, number, _ in rows]
    has_gap = numbers != [*range(1, len(rows) + 1)]
    texts = {key: read_text(row[key]) for key in ("id", "title", "model", "state")}
    values = {**texts, "revision": read_number(row["revision"])}
    return _join(values, tuple(exchanges), Damage(row_ids=tuple(damaged), has_gap=has_gap))


def _join(row: dict[str, Any], exchanges: tuple[Exchange, ...], damage: Damage) -> SavedConversation:
    """Return a conversation of its parts, its transcript built anew where one of them is damaged."""
    try:
        state = json.loads(row["state"])
        if not damage.row_ids and not damage.has_gap:
            return decode_conversation(row, state, exchanges)
        return decode_conversation(row, fit_state(state, len(exchanges)), exchanges, damage)
    except DAMAGE:
        state = recover_state(row["state"], exchanges)
        return decode_conversation(row, state, exchanges, replace(damage, has_state=True))


def read_text(value: object) -> str:
    """Return a text even where a damaged file has something else in its place."""
    return value if isinstance(value, str) else ""


def read_number(value: object) -> int:
    """Return a whole number even where a damaged file has something else in its place."""
    return value if isinstance(value, int) else 0


def _read_exchange(data: str, number: int) -> Exchange | None:
    """Return an exchange that is whole, with the number of its place; None for another."""
    try:
        exchange = decode_exchange(json.loads(data))
    except DAMAGE:
        return None
    return exchange if exchange.number == number else replace(exchange, number=number)


def keep_damaged(connection: sqlite3.Connection, conversation_id: str, damage: Damage, now: str) -> None:
    """Copy damaged rows, byte by byte, to where nothing is written over them."""
    connection.execute(_TABLE)
    connection.executemany(_KEEP_EXCHANGE, [(now, conversation_id, row_id) for row_id in damage.row_ids])
    if damage.has_state:
        connection.execute(_KEEP_STATE, (now, conversation_id))
