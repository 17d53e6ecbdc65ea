"""`OfflineModel`: a deterministic model without a key or a network. It finds and quotes, but does not reason.

Like any model, it sees only messages and tools. From these, it extracts the question, the delivered sections and the
last search results. It opens the best hits of a search and the exceptions below them, or else the sections whose
titles are most similar to the question. Its answer is up to five passages. A passage is a whole paragraph with the
blocks that belong to it, as one quotation with the id of its section. If no passage contains enough of the question,
the answer is "Not found".
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from roamtui.conversation.transcript import Role, ToolCall, Usage
from roamtui.models.base import ModelEvent, ModelRequest, ReplyFinished, TextDelta, ToolCallReceived, UsageReported
from roamtui.models.offline_passages import EVIDENCE_MIN, LIMITS_HEADING, PassageAnswer
from roamtui.models.offline_request import HITS_MAX, ParsedRequest, parse_messages
from roamtui.search.lexicon import get_synonyms
from roamtui.search.terms import extract_query_terms, locate_terms

SECTIONS_MAX = 5
_TOKENS_MAX = 2_800
"""Maximum tokens of section text for a question, not counting the first section and small ones."""
_SMALL_TOKENS = 2_000
"""A section with at most this many tokens is opened even if the budget is used up."""
_BLOCK_TOKENS_MAX = 4_000
"""Maximum tokens of an opened section, because a long one is opened page by page."""
_PAGED_TOKENS_MIN = 3_900
"""Minimum size of a section that may have several pages, so that its first page is requested."""
_NOTICE = "(The offline model quotes passages; it does not reason. `--model`, or f2 in the app, chooses another.)"
"""End of the first answer in a conversation."""
_NO_USAGE = Usage(cost_usd=0.0)
"""Usage of each reply, because no provider counts tokens."""
_WINDOW_TOKENS = 128_000
_CALLS_MAX = 6
"""Maximum number of calls for a question: a search and an opening, and both twice more if pages were opened."""

_START_COVERAGE_MIN = 0.55
"""Minimum share of a question's weight that a section opened by search contains. With less, the model searches."""
_CERTAIN_EVIDENCE = 0.75
"""With less evidence, the model searches again for synonyms of the words of the question."""
_PAGES_MAX = 4
"""Maximum number of pages of the best hit that are read."""


class OfflineModel:
    """Searches, opens the best sections in one batch, and quotes the best passages."""

    name = "offline"
    window_tokens = _WINDOW_TOKENS
    """A limit, so that budgets apply as for other models."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield a reply: a call if there is something left to look for, otherwise an answer, word by word."""
        parsed = await asyncio.to_thread(parse_messages, request.messages)
        tools = {tool.name for tool in request.tools} if request.allow_calls else set[str]()
        passages = PassageAnswer(parsed)
        if call := await asyncio.to_thread(_choose_call, passages, tools):
            name, arguments = call
            text = json.dumps(arguments, ensure_ascii=False)
            yield ToolCallReceived(ToolCall(id=f"offline_{len(request.messages)}", name=name, arguments=text))
            yield UsageReported(_NO_USAGE)
            yield ReplyFinished("tool_calls")
            return
        answer = await asyncio.to_thread(passages.write)
        if not any(message.role is Role.ASSISTANT and _NOTICE in message.text for message in request.messages):
            answer = f"{answer}\n\n{_NOTICE}"
        for word in answer.split(" "):
            yield TextDelta(word if word is answer else f"{word} ")
            await asyncio.sleep(0)
        yield UsageReported(_NO_USAGE)
        yield ReplyFinished("stop")

    async def close(self) -> None:
        """Nothing to release."""


def _choose_call(  # noqa: PLR0911 - one case per step
    passages: PassageAnswer, tools: set[str]
) -> tuple[str, dict[str, object]] | None:
    """Return the next call, or None if it is time to answer."""
    parsed = passages.parsed
    question = parsed.question
    if not question.strip() or len(parsed.steps) >= _CALLS_MAX:
        return None
    if not parsed.has_searched:
        terms = extract_query_terms(question) if parsed.is_follow_up else ()
        texts = (f"{section.path}\n{section.text}" for section in parsed.delivered)
        if terms and any({term for _, term in locate_terms(text, terms)} >= set(terms) for text in texts):
            return None  # an open section already contains every word of the follow-up
        opened = passages.ranking.candidates if parsed.preopened_ids else ()
        if any(candidate.coverage >= _START_COVERAGE_MIN for candidate in opened):
            return None  # the sections that search opened with the question cover enough of it
    if "search_sections" in tools and (not parsed.has_searched or parsed.has_new_page):
        if parsed.earlier_questions and parsed.is_follow_up:
            question = f"{question} {' '.join(extract_query_terms(parsed.earlier_questions[-1]))}"
        return "search_sections", {"query": question, "limit": HITS_MAX}
    if "expand_sections" not in tools:
        return None
    if not parsed.steps or parsed.steps[-1] == "search_sections":
        section_ids = choose_sections(parsed)
    else:  # open the exceptions that were listed without their text
        known_ids = parsed.delivered_ids | parsed.requested_ids
        listed = (section_id for section_id, title in parsed.listed_subsections if LIMITS_HEADING.match(title))
        section_ids = tuple(dict.fromkeys(section_id for section_id in listed if section_id not in known_ids))
        section_ids = section_ids[:SECTIONS_MAX] or _choose_pages(parsed)
        can_search_again = parsed.hits and not parsed.earlier_hits and "search_sections" in tools
        if not section_ids and can_search_again and passages.evidence < _CERTAIN_EVIDENCE:
            synonyms = " ".join(get_synonyms(extract_query_terms(question)))
            if synonyms:
                return "search_sections", {"query": synonyms, "limit": HITS_MAX}
    section_ids = section_ids or _guess_sections(passages)
    return ("expand_sections", {"section_ids": list(section_ids)}) if section_ids else None


def choose_sections(parsed: ParsedRequest) -> tuple[str, ...]:
    """Return up to five ids of sections that were neither delivered nor requested, best first."""
    known_ids = parsed.delivered_ids | parsed.requested_ids
    if not parsed.hits:
        return () if parsed.within_id is None or parsed.within_id in known_ids else (parsed.within_id,)
    chosen: dict[str, str] = {}
    tokens = 0
    for hit in parsed.hits[:SECTIONS_MAX]:
        cost = min(_BLOCK_TOKENS_MAX, hit.tokens)
        if hit.section_id in known_ids or hit.section_id in chosen:
            continue
        if chosen and cost > _SMALL_TOKENS and tokens + cost > _TOKENS_MAX:
            continue
        chosen[hit.section_id] = f"{hit.section_id}:1" if hit.tokens >= _PAGED_TOKENS_MIN else hit.section_id
        tokens += cost
    return tuple(chosen.values())


def _choose_pages(parsed: ParsedRequest) -> tuple[str, ...]:
    """Return the other pages of the best hit, because its best passage may be on any of them."""
    best_id = next((hit.section_id for hit in (*parsed.earlier_hits, *parsed.hits)), "")
    count = dict(parsed.page_counts).get(best_id, 1)
    pages = (f"{best_id}:{number}" for number in range(2, min(count, _PAGES_MAX) + 1))
    return tuple(page for page in pages if page not in parsed.requested_pages)


def _guess_sections(passages: PassageAnswer) -> tuple[str, ...]:
    """Guess sections to open if there are no hits: first by the words of the question, then by suggested ids, once."""
    parsed = passages.parsed
    if parsed.hits or parsed.within_id is not None or not extract_query_terms(parsed.question):
        return ()
    if passages.evidence >= EVIDENCE_MIN:
        return ()
    if not parsed.nearest_ids and not parsed.has_searched:
        return (parsed.question.strip(),)
    return () if parsed.requested_ids.intersection(parsed.nearest_ids) else parsed.nearest_ids
