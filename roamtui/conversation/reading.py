"""Reads a conversation out of the tables: whole where it can be, else as far as it can be, with the damaged rows kept.

A row that is damaged goes into a table of its own before anything is written in its place.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from typing import Any

from roamtui.conversation.codec import Damage, SavedConversation, decode_conversation, decode_exchange
from roamtui.conversation.recovery import DAMAGE, fit_state, recover_exchange, recover_state
from roamtui.conversation.transcript import Exchange
from roamtui.errors import StoreError

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
