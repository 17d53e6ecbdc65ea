"""Pieces of tool calls, as providers stream them, into whole calls."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from roamtui.conversation.transcript import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(slots=True, kw_only=True)
class _PartialCall:
    id: str
    name: str
    arguments: str


class CallAssembler:
    """Collects the pieces of the calls of one reply.

    Pieces belong together by their index, but a new id under the same index begins a new call: Ollama's
    parallel calls all have index 0.
    """

    def __init__(self, taken_ids: Iterable[str] = ()) -> None:
        self._taken = set(taken_ids)
        self._calls: list[_PartialCall] = []
        self._latest: dict[int, _PartialCall] = {}

    def add(self, *, index: int, id: str | None, name: str | None, arguments: str | None) -> None:  # noqa: A002
        """Take one piece, as the provider sent it."""
        call = self._latest.get(index)
        if call is None or _begins_call(call, id, name):
            call = _PartialCall(id="", name="", arguments="")
            self._latest[index] = call
            self._calls.append(call)
        call.id = call.id or id or ""
        call.name = call.name or name or ""
        call.arguments += arguments or ""

    def finish(self) -> tuple[ToolCall, ...]:
        """Return the calls in the order of their beginnings, each with an id that no other call has."""
        return tuple(
            ToolCall(id=self._claim_id(call.id), name=call.name or "unnamed", arguments=call.arguments or "{}")
            for call in self._calls
            if call.name or call.arguments
        )

    def _claim_id(self, wanted: str) -> str:
        claimed = wanted
        while not claimed or claimed in self._taken:
            claimed = f"call_{uuid4().hex[:24]}"
        self._taken.add(claimed)
        return claimed


def _begins_call(call: _PartialCall, new_id: str | None, new_name: str | None) -> bool:
    if new_id and call.id:
        return new_id != call.id
    return bool(new_name and call.arguments and not new_id and _is_json(call.arguments))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
