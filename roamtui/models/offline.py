"""`OfflineModel`: a deterministic model without key or network. It finds and quotes; it does not reason.

Like any model it sees only messages and tools. It parses a request for the question, the delivered sections and the
last search results. It opens the best hits of a search and the exceptions below them, or else the sections whose
titles are most like the question. Its answer is up to five passages, whole paragraphs with what belongs to them, each
one quotation with the id of its section; or "Not found" if no passage holds enough of what the question is about.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from roamtui.conversation.transcript import Role, ToolCall, Usage
from roamtui.models.base import ModelEvent, ModelRequest, ReplyFinished, TextDelta, ToolCallReceived, UsageReported
from roamtui.models.offline_passages import EVIDENCE_MIN, EXCEPTIONS, PassageAnswer
from roamtui.models.offline_request import HITS_MAX, ParsedRequest, parse_messages
from roamtui.search.lexicon import get_synonyms
from roamtui.search.terms import (
    locate_terms,
    query_terms,
)

SECTIONS_MAX = 5
_TOKENS_MAX = 2_800
"""Estimated tokens of section text per question, not counting the first section and small ones."""
_SMALL_TOKENS = 2_000
"""A section up to this size is opened regardless of the budget."""
_BLOCK_TOKENS_MAX = 4_000
"""Opening one section costs at most one page."""
_LABEL = "(The offline model quotes passages; it does not reason. `--model`, or f2 in the app, chooses another.)"
"""Ends its first answer in a conversation."""
_FREE = Usage(cost_usd=0.0)
"""No provider counts tokens here."""
_WINDOW_TOKENS = 128_000
_STEPS_MAX = 6
"""Calls per question: search and open, then the same twice more if that opened pages to search in."""

_START_COVERAGE_MIN = 0.55
"""Minimum share of the question's weight in one section; below it, it searches even if search opened sections."""
_CERTAIN_EVIDENCE = 0.75
"""With less, it searches once more for synonyms of the question's words."""
_PAGES_MAX = 4
"""Pages of the best hit that are read."""


class OfflineModel:
    """Searches, opens the best sections in one batch, and quotes the best passages."""

    name = "offline"
    window_tokens = _WINDOW_TOKENS
    """A real limit, so that budgets apply as for any model."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield one reply: a call while there is something to look for, then an answer, word by word."""
        parsed = await asyncio.to_thread(parse_messages, request.messages)
        tools = {tool.name for tool in request.tools} if request.allow_calls else set[str]()
        passages = PassageAnswer(parsed)
        if call := await asyncio.to_thread(_choose_call, passages, tools):
            name, arguments = call
            text = json.dumps(arguments, ensure_ascii=False)
            yield ToolCallReceived(ToolCall(id=f"offline_{len(request.messages)}", name=name, arguments=text))
            yield UsageReported(_FREE)
            yield ReplyFinished("tool_calls")
            return
        answer = await asyncio.to_thread(passages.write)
        if not any(message.role is Role.ASSISTANT and _LABEL in message.text for message in request.messages):
            answer = f"{answer}\n\n{_LABEL}"
        for word in answer.split(" "):
            yield TextDelta(word if word is answer else f"{word} ")
            await asyncio.sleep(0)
        yield UsageReported(_FREE)
        yield ReplyFinished("stop")

    async def close(self) -> None:
        """Nothing to release."""


def _choose_call(  # noqa: PLR0911 - one case a step
    passages: PassageAnswer, tools: set[str]
) -> tuple[str, dict[str, object]] | None:
    """Return the next call, or None if it is time to answer."""
    parsed = passages.parsed
    question = parsed.question
    if not question.strip() or len(parsed.steps) >= _STEPS_MAX:
        return None
    if not parsed.has_searched:
        terms = query_terms(question) if parsed.is_follow_up else ()
        texts = (f"{section.path}\n{section.text}" for section in parsed.delivered)
        if terms and any({term for _, term in locate_terms(text, terms)} >= set(terms) for text in texts):
            return None  # an open section already contains every word of the follow-up
        opened = passages.ranking.candidates if parsed.started_ids else ()
        if any(candidate.coverage >= _START_COVERAGE_MIN for candidate in opened):
            return None  # the sections that search opened with the question cover enough of it
    if "search_sections" in tools and (not parsed.has_searched or parsed.has_new_page):
        if parsed.earlier_questions and parsed.is_follow_up:
            question = f"{question} {' '.join(query_terms(parsed.earlier_questions[-1]))}"
        return "search_sections", {"query": question, "limit": HITS_MAX}
    if "expand_sections" not in tools:
        return None
    if not parsed.steps or parsed.steps[-1] == "search_sections":
        section_ids = choose_sections(parsed)
    else:  # the exceptions that expansions listed without their text
        closed = parsed.delivered_ids | parsed.asked_ids
        listed = (section_id for section_id, title in parsed.listed if EXCEPTIONS.match(title))
        section_ids = tuple(dict.fromkeys(section_id for section_id in listed if section_id not in closed))
        section_ids = section_ids[:SECTIONS_MAX] or _choose_pages(parsed)
        has_words_left = parsed.found and not parsed.found_before and "search_sections" in tools
        if not section_ids and has_words_left and (other_words := _choose_synonyms(passages)):
            return "search_sections", {"query": other_words, "limit": HITS_MAX}
    section_ids = section_ids or _guess_sections(passages)
    return ("expand_sections", {"section_ids": list(section_ids)}) if section_ids else None


def choose_sections(parsed: ParsedRequest) -> tuple[str, ...]:
    """Return up to five ids that were neither delivered nor asked for, best first."""
    closed = parsed.delivered_ids | parsed.asked_ids
    if not parsed.found:
        return () if parsed.within_id is None or parsed.within_id in closed else (parsed.within_id,)
    chosen: list[str] = []
    tokens = 0
    for hit in parsed.found[:SECTIONS_MAX]:
        cost = min(_BLOCK_TOKENS_MAX, hit.tokens)
        if hit.section_id in closed or hit.section_id in chosen:
            continue
        if chosen and cost > _SMALL_TOKENS and tokens + cost > _TOKENS_MAX:
            continue
        chosen.append(hit.section_id)
        tokens += cost
    return tuple(chosen)


def _choose_synonyms(passages: PassageAnswer) -> str:
    """Return other words for those of the question if no passage holds most of it; empty if one does."""
    if passages.evidence >= _CERTAIN_EVIDENCE:
        return ""
    return " ".join(get_synonyms(query_terms(passages.parsed.question)))


def _choose_pages(parsed: ParsedRequest) -> tuple[str, ...]:
    """Return the further pages of the best hit: its best passage may be on any of them."""
    best_id = next((hit.section_id for hit in (*parsed.found_before, *parsed.found)), "")
    count = dict(parsed.page_counts).get(best_id, 1)
    pages = (f"{best_id}:{number}" for number in range(2, min(count, _PAGES_MAX) + 1))
    return tuple(page for page in pages if page not in parsed.asked_pages)


def _guess_sections(passages: PassageAnswer) -> tuple[str, ...]:
    """Guess what to open, once per question: before any search by its words, then the suggested ids."""
    parsed = passages.parsed
    if parsed.found or parsed.within_id is not None or not query_terms(parsed.question):
        return ()
    if passages.evidence >= EVIDENCE_MIN:
        return ()
    if not parsed.nearest_ids and not parsed.has_searched:
        return (parsed.question.strip(),)
    return () if parsed.asked_ids.intersection(parsed.nearest_ids) else parsed.nearest_ids
