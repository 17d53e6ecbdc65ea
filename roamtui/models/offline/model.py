"""`OfflineModel`: the same messages and tools as for any model, answered by rules.

It opens the best hits of a search and what limits them, else what has a title most like the question.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from roamtui.conversation.transcript import Role, ToolCall, Usage
from roamtui.models.base import CallMade, ModelEvent, ModelStopped, Request, TextDelta, UsageReported
from roamtui.models.offline.reading import Reading, is_follow_up, read_messages
from roamtui.models.offline.writing import (
    is_about_exceptions,
    is_answered,
    is_answered_by_start,
    is_covered_by_given,
    write_answer,
)
from roamtui.search.terms import query_terms

SECTIONS_MAX = 5
TOKENS_MAX = 2_800
"""Estimated tokens of section text for one question, the first section and small ones apart."""
_SMALL_TOKENS = 2_000
"""A section of at most this much is opened whatever the others cost."""
_BLOCK_TOKENS_MAX = 4_000
"""What opening one section costs at most: a page."""
NAME = "offline"
_LABEL = "(The offline model finds and quotes; it does not reason. `--model`, or f2 in the app, chooses another.)"
"""Stands below its first answer of a conversation."""
_FREE = Usage(cost_usd=0.0)
"""Tokens mean nothing where no provider counts them."""
_WINDOW_TOKENS = 128_000
_HITS = 8
_STEPS_MAX = 6
"""Calls for one question: search and open, then twice again where that opened pages to search in."""


def make_query(reading: Reading) -> str:
    """Return what to search for: the question, with the one before it where it leans on that."""
    if reading.earlier_questions and is_follow_up(reading.question):
        return f"{reading.question} {' '.join(query_terms(reading.earlier_questions[-1]))}"
    return reading.question


def choose_sections(reading: Reading) -> tuple[str, ...]:
    """Return up to five ids that were neither given nor asked for, the most promising first."""
    closed = reading.given_ids | reading.asked_ids
    if reading.found:
        return _take_hits(reading, closed)
    return () if reading.within_id is None or reading.within_id in closed else (reading.within_id,)


def _take_hits(reading: Reading, closed: frozenset[str]) -> tuple[str, ...]:
    chosen: list[str] = []
    tokens = 0
    for hit in reading.found[:SECTIONS_MAX]:
        cost = min(_BLOCK_TOKENS_MAX, hit.tokens)
        if hit.section_id in closed or hit.section_id in chosen:
            continue
        if chosen and cost > _SMALL_TOKENS and tokens + cost > TOKENS_MAX:
            continue
        chosen.append(hit.section_id)
        tokens += cost
    return tuple(chosen)


def choose_exceptions(reading: Reading) -> tuple[str, ...]:
    """Return ids of exceptions that the sections opened for this question name without their text."""
    closed = reading.given_ids | reading.asked_ids
    listed = (section_id for section_id, title in reading.listed if is_about_exceptions(title))
    return tuple(dict.fromkeys(section_id for section_id in listed if section_id not in closed))[:SECTIONS_MAX]


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
        if call is not None:
            name, arguments = call
            text = json.dumps(arguments, ensure_ascii=False)
            yield CallMade(ToolCall(id=f"offline_{len(request.messages)}", name=name, arguments=text))
            yield UsageReported(_FREE)
            yield ModelStopped("tool_calls")
            return
        answer = await asyncio.to_thread(write_answer, reading)
        if not any(message.role is Role.ASSISTANT and _LABEL in message.text for message in request.messages):
            answer = f"{answer}\n\n{_LABEL}"
        for word in answer.split(" "):
            yield TextDelta(word if word is answer else f"{word} ")
            await asyncio.sleep(0)
        yield UsageReported(_FREE)
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
    is_first = not reading.steps or reading.steps[-1] == "search_sections"
    section_ids = choose_sections(reading) if is_first else choose_exceptions(reading)
    section_ids = section_ids or _guess_sections(reading)
    return ("expand_sections", {"section_ids": list(section_ids)}) if section_ids else None


def _guess_sections(reading: Reading) -> tuple[str, ...]:
    """Return what to open at a venture, once for a question: without a search what its words name, else the nearest."""
    if reading.found or reading.within_id is not None or not query_terms(reading.question) or is_answered(reading):
        return ()
    if not reading.nearest_ids and not reading.has_searched:
        return (reading.question.strip(),)
    return () if reading.asked_ids.intersection(reading.nearest_ids) else reading.nearest_ids
