"""`search_sections`: finds sections that the outline does not show."""

import asyncio
from collections.abc import Mapping, Sequence

from roamtui.agent.question_context import list_history_texts, make_search_event, make_view
from roamtui.agent.tools import Tool, ToolContext, ToolResponse, parse_number
from roamtui.document.library import Library
from roamtui.models.base import ToolSpec
from roamtui.outline.coverage import measure_coverage, write_absence
from roamtui.outline.labels import format_path
from roamtui.outline.references import explain_unresolved, find_unread_pages, resolve_reference
from roamtui.plain import sanitise_line
from roamtui.retrieval.choose import drop_weak_hits
from roamtui.retrieval.render import format_short_path, render_hits

NAME = "search_sections"
LIMIT_DEFAULT = 5
LIMIT_MAX = 20
_DESCRIPTION = 'Find sections by words or by a "phrase", also only `within` one.'
_QUERY_LENGTH_MAX = 1_000
_LEFT_OUT_NAMED_MAX = 4
_PROPERTIES = {
    "query": {"type": "string"},
    "limit": {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
    "within": {"type": "string", "description": "Id of a section."},
}
_QUERY_KEYS = ("query", "q", "queries", "keywords", "text", "_raw")
_NO_QUERY = 'search_sections needs a query, such as {"query": "late fees"}.'


async def _run(arguments: Mapping[str, object], context: ToolContext) -> ToolResponse:
    """Search, and list the hits with excerpts."""
    value = next(filter(None, map(arguments.get, _QUERY_KEYS)), "")
    words = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    query = sanitise_line(words)[:_QUERY_LENGTH_MAX]
    if not query or context.searcher is None:
        return ToolResponse(text=_NO_QUERY, query=query, is_refused=True)
    state = context.conversation.state
    library = state.library
    context.searcher.refresh(library)
    asked = state.exchanges[-1].within if state.is_asking else None
    within = asked if asked in library else None
    note = ""
    if named := str(arguments.get("within") or "").strip():
        reference = resolve_reference(library, named)
        if reference is not None and reference.section_id in library:
            within = library.current_id(reference.section_id)
        elif reference is None or reference.section_id != library.root_id:
            searched = f"Only [{within}] was" if within is not None else "All sections were"
            note = f"({searched} searched: {explain_unresolved(library, named)})"
    limit = parse_number(arguments.get("limit"), default=LIMIT_DEFAULT, low=1, high=LIMIT_MAX)
    earlier = list_history_texts(state.exchanges[:-1])
    hits = await asyncio.to_thread(
        context.searcher.search, query, limit=limit, within=within, earlier=earlier
    )
    hits = drop_weak_hits(hits)
    room = min(context.room_tokens, context.search_tokens)
    view = make_view(state, shown=context.excerpts, room_tokens=room)
    listed = await asyncio.to_thread(render_hits, view, hits, query)
    results = tuple((section_id, "found") for section_id in listed.section_ids)
    coverage = await asyncio.to_thread(measure_coverage, library, within)
    if results:
        parts = [listed.text]
        if listed.missing:
            parts.append(f"({write_absence(coverage, *listed.missing)})")
    else:
        absence = write_absence(coverage, "Nothing was found", *listed.missing)
        parts = [f"{absence} Try other words, or choose from the outline."]
        parts += await asyncio.to_thread(_list_similar_pages, library, query)
    if "limit" in arguments and results and listed.left_out:
        parts.append(_format_left_out(library, listed.left_out))
    elif "limit" in arguments and 0 < len(hits) < limit:
        parts.append(f"({len(hits)} of {limit} shown: no other section matches well.)")
    context.conversation.apply_unsaved(make_search_event(library, query, hits))
    text = "\n".join(filter(None, (*parts, note)))
    return ToolResponse(text=text, query=query, results=results, excerpts=listed.excerpts)


def _format_left_out(library: Library, section_ids: Sequence[str]) -> str:
    named = section_ids[:_LEFT_OUT_NAMED_MAX]
    titles = [f"[{section_id}] {format_short_path(library, section_id)}" for section_id in named]
    if len(section_ids) > len(named):
        titles.append(f"{len(section_ids) - len(named)} more")
    return f"(No room for these, or they only repeat text above: {'; '.join(titles)}.)"


def _list_similar_pages(library: Library, query: str) -> list[str]:
    """List the unread pages with similar titles, which search cannot read."""
    pages = find_unread_pages(library, query)
    lines = [f"- [{page_id}] {format_path(library, page_id)} (page)" for page_id in pages]
    return ["Pages that were not read:", *lines] if lines else []


TOOL = Tool(
    spec=ToolSpec(
        name=NAME,
        description=_DESCRIPTION,
        parameters={"type": "object", "properties": _PROPERTIES, "required": ["query"]},
    ),
    run=_run,
)
