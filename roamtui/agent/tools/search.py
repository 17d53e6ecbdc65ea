"""`search_sections`: finds sections by words where the outline shows none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from roamtui.agent.events import SearchHit, SectionsSearched, ToolFinished, ToolResult
from roamtui.agent.prompt import SEARCH_DESCRIPTION
from roamtui.agent.tools.base import ToolContext, ToolOutcome
from roamtui.document.plain import plain_line
from roamtui.models.base import ToolSpec
from roamtui.outline.labels import defuse, describe_size_briefly, name_path

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "search_sections"
LIMIT_DEFAULT = 8
LIMIT_MAX = 20
_QUERY_LENGTH_MAX = 1_000
_NO_QUERY = 'search_sections needs a query, such as {"query": "late fees"}.'


class SearchTool:
    """Ranks sections by words."""

    spec = ToolSpec(
        name=NAME,
        description=SEARCH_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words that the section should contain."},
                "limit": {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
                "within": {
                    "type": "string",
                    "description": "Id of a section to search in; default: that of the question, else everything.",
                },
            },
            "required": ["query"],
        },
    )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """Return ranked ids with path, size and the best sentence."""
        query = plain_line(_read_text(arguments, "query") or _read_text(arguments, "_raw"))[:_QUERY_LENGTH_MAX]
        if not query or context.searcher is None:
            return ToolOutcome(text=_NO_QUERY, finished=ToolFinished(tool=NAME, query=query))
        library = context.session.state.library
        context.searcher.refresh(library)
        asked_within = _find_asked_section(context)
        within = _read_text(arguments, "within").strip("[]") or asked_within
        note = ""
        if within is not None and within not in library:
            place = "the section that the question is about" if asked_within else "the whole document"
            note = f'("{within[:40]}" is no section id, so {place} was searched.)'
            within = asked_within
        limit = _read_limit(arguments.get("limit"))
        earlier = _list_turns(context)
        hits = await asyncio.to_thread(context.searcher.search, query, limit=limit, within=within, earlier=earlier)
        lines = [
            f"{rank}. [{hit.section_id}] {name_path(library, hit.section_id)} "
            f"({describe_size_briefly(library.node(hit.section_id))})\n   {defuse(hit.snippet)}"
            for rank, hit in enumerate(hits, start=1)
        ]
        found = tuple(
            SearchHit(
                section_id=hit.section_id,
                path=library.node(hit.section_id).path,
                score=hit.score,
                snippet=hit.snippet,
            )
            for hit in hits
        )
        finished = ToolFinished(
            tool=NAME, query=query, results=tuple(ToolResult(id=hit.section_id, status="found") for hit in hits)
        )
        text = "\n".join(lines) or "Nothing found. Try other words, or choose from the outline."
        events = (SectionsSearched(query=query, hits=found),)
        return ToolOutcome(text=f"{text}\n{note}" if note else text, finished=finished, events=events)


def _list_turns(context: ToolContext) -> tuple[str, ...]:
    """Return the questions and answers before the question under way, oldest first."""
    exchanges = context.session.state.transcript.exchanges[:-1]
    return tuple(text for exchange in exchanges for text in (exchange.question, exchange.answer) if text)


def _find_asked_section(context: ToolContext) -> str | None:
    """Return the section that the question under way is about, None for the whole document."""
    state = context.session.state
    within = state.transcript.exchanges[-1].within if state.is_asking else None
    return within if within in state.library else None


def _read_text(arguments: Mapping[str, object], key: str) -> str:
    value = arguments.get(key)
    return value.strip() if isinstance(value, str) else ""


def _read_limit(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return LIMIT_DEFAULT
    try:
        return max(1, min(LIMIT_MAX, int(value)))
    except (ValueError, OverflowError):
        return LIMIT_DEFAULT
