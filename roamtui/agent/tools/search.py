"""`search_sections`: finds sections by words where the outline shows none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from roamtui.agent.prompt import SEARCH_DESCRIPTION
from roamtui.agent.tools.base import ToolContext, ToolOutcome, read_number
from roamtui.conversation.events import SearchHit, SectionsSearched, ToolFinished, ToolResult
from roamtui.document.plain import plain_line
from roamtui.models.base import ToolSpec
from roamtui.outline.labels import defuse, describe_size_briefly, find_opening, name_node, name_path
from roamtui.search.documents import SECTIONS_PER_DOCUMENT, DocumentHit, rank_documents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from roamtui.document.library import Library
    from roamtui.search.base import Hit

NAME = "search_sections"
LIMIT_DEFAULT = 8
LIMIT_MAX = 20
_QUERY_LENGTH_MAX = 1_000
_TITLE_LENGTH_MAX = 80
_SECTIONS_MAX = 100
_DOCUMENT = "document"
_KIND = {
    "type": "string",
    "enum": ["section", _DOCUMENT],
    "default": "section",
    "description": "document: rank whole documents of the library, each with its best sections.",
}
_PROPERTIES = {
    "query": {"type": "string", "description": "Words that the section should contain."},
    "limit": {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
    "within": {
        "type": "string",
        "description": "Id of a section to search in; default: that of the question, else everything.",
    },
}
_QUERY_KEYS = ("query", "q", "queries", "keywords", "text", "_raw")
_NO_QUERY = 'search_sections needs a query, such as {"query": "late fees"}.'


class SearchTool:
    """Ranks sections by words."""

    def __init__(self, *, has_documents: bool = False) -> None:
        """Rank sections, and whole documents too where the library has several."""
        self._has_documents = has_documents
        properties = {**_PROPERTIES, "kind": _KIND} if has_documents else _PROPERTIES
        self.spec = ToolSpec(
            name=NAME,
            description=SEARCH_DESCRIPTION,
            parameters={"type": "object", "properties": properties, "required": ["query"]},
        )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """Return ranked ids with path, size and the best sentence; of documents with their best sections."""
        query = plain_line(_read_query(arguments))[:_QUERY_LENGTH_MAX]
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
        limit = read_number(arguments.get("limit"), default=LIMIT_DEFAULT, low=1, high=LIMIT_MAX)
        wants_documents = _read_text(arguments, "kind") == _DOCUMENT and self._has_documents
        count = min(_SECTIONS_MAX, limit * SECTIONS_PER_DOCUMENT) if wants_documents else limit
        earlier = _list_turns(context)
        hits = await asyncio.to_thread(context.searcher.search, query, limit=count, within=within, earlier=earlier)
        if wants_documents:
            documents = rank_documents(library, hits, limit=limit)
            lines = [_describe_document(library, rank, found) for rank, found in enumerate(documents, start=1)]
            found = tuple(_tell_document(library, document) for document in documents)
        else:
            lines = [_describe_section(library, rank, hit) for rank, hit in enumerate(hits, start=1)]
            found = tuple(_tell_section(library, hit) for hit in hits)
        finished = ToolFinished(
            tool=NAME, query=query, results=tuple(ToolResult(id=hit.section_id, status="found") for hit in found)
        )
        text = "\n".join(lines) or "Nothing found. Try other words, or choose from the outline."
        events = (SectionsSearched(query=query, hits=found),)
        return ToolOutcome(text=f"{text}\n{note}" if note else text, finished=finished, events=events)


def _describe_section(library: Library, rank: int, hit: Hit) -> str:
    size = describe_size_briefly(library.node(hit.section_id))
    return f"{rank}. [{hit.section_id}] {name_path(library, hit.section_id)} ({size})\n   {defuse(hit.snippet)}"


def _describe_document(library: Library, rank: int, document: DocumentHit) -> str:
    size = describe_size_briefly(library.node(document.file_id))
    opening = find_opening(library, document.file_id)
    sections = "; ".join(
        f"[{hit.section_id}] {name_node(library.heading(hit.section_id), length_max=_TITLE_LENGTH_MAX)}"
        for hit in document.sections
    )
    head = f"{rank}. [{document.file_id}] {name_path(library, document.file_id)} ({size})"
    return f"{head}\n   {opening}\n   Best sections: {sections}" if opening else f"{head}\n   Best sections: {sections}"


def _tell_section(library: Library, hit: Hit) -> SearchHit:
    path = library.node(hit.section_id).path
    return SearchHit(section_id=hit.section_id, path=path, score=hit.score, snippet=hit.snippet, why=hit.why)


def _tell_document(library: Library, document: DocumentHit) -> SearchHit:
    path = library.node(document.file_id).path
    best = document.sections[0].snippet
    return SearchHit(section_id=document.file_id, path=path, score=document.score, snippet=best)


def _list_turns(context: ToolContext) -> tuple[str, ...]:
    """Return the questions and answers before the question under way, oldest first."""
    exchanges = context.session.state.transcript.exchanges[:-1]
    return tuple(text for exchange in exchanges for text in (exchange.question, exchange.answer) if text)


def _find_asked_section(context: ToolContext) -> str | None:
    """Return the section that the question under way is about, None for the whole document."""
    state = context.session.state
    within = state.transcript.exchanges[-1].within if state.is_asking else None
    return within if within in state.library else None


def _read_query(arguments: Mapping[str, object]) -> str:
    """Return what a model looks for, under whatever name and in whatever form it says so."""
    for key in _QUERY_KEYS:
        value = arguments.get(key)
        words = " ".join(filter(None, (str(item).strip() for item in value))) if isinstance(value, list) else value
        if isinstance(words, str) and words.strip():
            return words.strip()
    return ""


def _read_text(arguments: Mapping[str, object], key: str) -> str:
    value = arguments.get(key)
    return value.strip() if isinstance(value, str) else ""
