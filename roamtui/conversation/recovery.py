"""What is left of a conversation whose text on disk was changed: found key by key, where the whole decodes no more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Protocol

from roamtui.conversation.codec import decode_conversation, decode_exchange
from roamtui.conversation.events import ExpandStatus
from roamtui.conversation.notes import ExpansionNote
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.origin import Origin
from roamtui.conversation.plain_values import encode_value
from roamtui.conversation.transcript import Exchange, Stopped, Usage

DAMAGE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What decoding a damaged text raises."""
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
    "usage": encode_value(Usage()),
    "model": "",
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
        state |= {"open": encode_value(_find_last_open(exchanges)), "documents": {}, "content_hash": ""}
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
    for note in exchange.notes:
        if isinstance(note, ExpansionNote):
            yield from (one.id for one in note.tried if one.status is ExpandStatus.OPENED)


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
