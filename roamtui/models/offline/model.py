"""`OfflineModel`: the same messages and tools as for any model, answered by rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from roamtui.conversation.transcript import ToolCall, Usage
from roamtui.document.tokens import estimate_tokens
from roamtui.models.base import CallMade, ModelEvent, ModelStopped, Request, TextDelta, UsageReported
from roamtui.models.offline.choosing import choose_exceptions, choose_links, choose_sections, is_follow_up, make_query
from roamtui.models.offline.reading import Reading, read_messages
from roamtui.models.offline.writing import is_answered, is_answered_by_start, is_covered_by_given, write_answer

NAME = "offline"
_WINDOW_TOKENS = 128_000
_HITS = 8
_STEPS_MAX = 6
"""Calls for one question: search and open, then twice again where that opened pages to search in."""


class OfflineModel:
    """Searches, opens the best sections in one batch, and quotes the passages that fit best."""

    @property
    def name(self) -> str:
        """The name under which a person chooses it."""
        return NAME

    @property
    def window_tokens(self) -> int | None:
        """It reads at most this much, so that budgets hold as for any model."""
        return _WINDOW_TOKENS

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Yield one reply: calls while there is something to look for, then an answer, word by word."""
        reading = await asyncio.to_thread(read_messages, request.messages)
        tools = {tool.name for tool in request.tools} if request.allow_calls else set[str]()
        call = _choose_call(reading, tools)
        spent = sum(estimate_tokens(message.text) for message in request.messages)
        if call is not None:
            name, arguments = call
            text = json.dumps(arguments, ensure_ascii=False)
            yield CallMade(ToolCall(id=f"offline_{len(request.messages)}", name=name, arguments=text))
            yield UsageReported(Usage(input_tokens=spent, output_tokens=estimate_tokens(text), cost_usd=0.0))
            yield ModelStopped("tool_calls")
            return
        answer = await asyncio.to_thread(write_answer, reading)
        for word in answer.split(" "):
            yield TextDelta(word if word is answer else f"{word} ")
            await asyncio.sleep(0)
        yield UsageReported(Usage(input_tokens=spent, output_tokens=estimate_tokens(answer), cost_usd=0.0))
        yield ModelStopped("stop")

    async def close(self) -> None:
        """Nothing is held."""


def _choose_call(reading: Reading, tools: set[str]) -> tuple[str, dict[str, object]] | None:
    """Return the next call, None where it is time to answer."""
    if not reading.question.strip() or len(reading.steps) >= _STEPS_MAX:
        return None
    if not reading.has_searched and is_follow_up(reading.question) and is_covered_by_given(reading):
        return None
    if not reading.has_searched and reading.started_ids and is_answered_by_start(reading):
        return None
    if "search_sections" in tools and (not reading.has_searched or reading.has_new_page):
        return "search_sections", {"query": make_query(reading), "limit": _HITS}
    if "expand_sections" not in tools:
        return None
    section_ids: tuple[str, ...] = ()
    if not reading.steps or reading.steps[-1] == "search_sections":
        section_ids = choose_sections(reading)
    else:
        section_ids = choose_exceptions(reading)
    if not section_ids and _may_open_links(reading):
        section_ids = choose_links(reading.links, reading.question, reading.asked_ids | reading.given_ids)
    return ("expand_sections", {"section_ids": list(section_ids)}) if section_ids else None


def _may_open_links(reading: Reading) -> bool:
    """Return whether pages may be opened at a venture: once for a question that nothing at hand answers."""
    has_tried = any(section_id in reading.asked_ids for section_id, _ in reading.links)
    return bool(reading.links) and not has_tried and reading.within_id is None and not is_answered(reading)
