"""`OfflineModel`: the same messages and tools as for any model, answered by rules.

It opens the best hits of a search and what limits them, else the outline's lines that share most words.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Iterator, Sequence

from roamtui.conversation.transcript import ToolCall, Usage
from roamtui.models.base import CallMade, ModelEvent, ModelStopped, Request, TextDelta, UsageReported
from roamtui.models.offline.exceptions import is_about_exceptions
from roamtui.models.offline.reading import Found, Reading, is_follow_up, read_messages
from roamtui.models.offline.writing import is_answered, is_answered_by_start, is_covered_by_given, write_answer
from roamtui.search.synonyms import find_synonyms
from roamtui.search.terms import find_terms, query_terms

LINKS_MAX = 3
"""Pages that are opened at once."""
_LIST_LENGTH_MAX = 12
"""Links of a list of which the first are opened although none shares a word with the question."""
_SYNONYM_SHARE = 0.5
SECTIONS_MAX = 5
TOKENS_MAX = 2_800
"""Estimated tokens of section text for one question, the first section and small ones apart."""
_SMALL_TOKENS = 2_000
"""A section of at most this much is opened whatever the others cost."""
_BLOCK_TOKENS_MAX = 4_000
"""What opening one section costs at most: a page."""
NAME = "offline"
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
    if reading.within_id is not None:
        return () if reading.within_id in closed else (reading.within_id,)
    ranked = rank_outline(reading.outline, query_terms(make_query(reading)))
    return tuple(section_id for section_id in ranked if section_id not in closed)[:SECTIONS_MAX]


def _take_hits(reading: Reading, closed: frozenset[str]) -> tuple[str, ...]:
    chosen: list[str] = []
    tokens = 0
    for hit in [hit for hit in reading.found if not _is_bare(hit)][:SECTIONS_MAX]:
        cost = min(_BLOCK_TOKENS_MAX, hit.tokens)
        if hit.section_id in closed or hit.section_id in chosen:
            continue
        if chosen and cost > _SMALL_TOKENS and tokens + cost > TOKENS_MAX:
            continue
        chosen.append(hit.section_id)
        tokens += cost
    return (*chosen, *_find_exceptions(reading, closed.union(chosen)))


def _find_exceptions(reading: Reading, closed: frozenset[str]) -> Iterator[str]:
    """Yield hits about exceptions that stand below or beside the best one."""
    best = reading.found[0].path
    for hit in reading.found:
        parent, _, title = hit.path.rpartition(" > ")
        is_near = parent in (best, best.rpartition(" > ")[0])
        if is_near and is_about_exceptions(title) and hit.section_id not in closed:
            yield hit.section_id


def choose_exceptions(reading: Reading) -> tuple[str, ...]:
    """Return ids of exceptions that the sections opened for this question name without their text."""
    closed = reading.given_ids | reading.asked_ids
    listed = (section_id for section_id, title in reading.listed if is_about_exceptions(title))
    return tuple(dict.fromkeys(section_id for section_id in listed if section_id not in closed))[:SECTIONS_MAX]


def _is_bare(hit: Found) -> bool:
    """Return whether opening a hit would show nothing but its heading."""
    return not hit.snippet.strip() and not hit.tokens


def rank_outline(outline: Sequence[tuple[str, str]], terms: Sequence[str]) -> list[str]:
    """Return the ids of outline lines that share words with the terms, most of them first."""
    scores = [
        (len({term for _, term in find_terms(line, terms)}), -index, section_id)
        for index, (section_id, line) in enumerate(outline)
    ]
    return [section_id for score, _, section_id in sorted(scores, reverse=True) if score]


def choose_links(links: Sequence[tuple[str, str]], question: str, closed: Collection[str]) -> tuple[str, ...]:
    """Return the ids of up to three links to open, those that say most of what is asked for first.

    Of a short list whose lines say none of it, these are the first ones: what is asked for may stand on any page.
    """
    terms = query_terms(question)
    others = [synonym for synonym in find_synonyms(terms) if synonym not in terms]
    scores = {
        section_id: len(_find_held(words, terms)) + _SYNONYM_SHARE * len(_find_held(words, others))
        for section_id, words in links
    }
    left = [section_id for section_id, _ in links if section_id not in closed]
    telling = sorted((section_id for section_id in left if scores[section_id]), key=lambda found: -scores[found])
    if not telling and len(links) <= _LIST_LENGTH_MAX:
        telling = left
    return tuple(telling[:LINKS_MAX])


def _find_held(text: str, terms: Sequence[str]) -> set[str]:
    return {term for _, term in find_terms(text, terms)}


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
