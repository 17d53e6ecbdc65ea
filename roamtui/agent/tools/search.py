"""`search_sections`: finds sections by several wordings at once."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest

from roamtui.agent.first_request import list_history_texts, make_search_event, make_view
from roamtui.agent.specs import QUERIES_MAX, SEARCH
from roamtui.agent.tools import Tool, ToolContext, ToolResponse
from roamtui.conversation.events import ToolFinished, WarningRaised
from roamtui.errors import RoamtuiError
from roamtui.outline.coverage import format_absence, measure_coverage
from roamtui.outline.labels import format_path
from roamtui.outline.references import explain_unresolved, resolve_reference, suggest_unread_pages
from roamtui.parallel import call_in_thread
from roamtui.retrieval import policy
from roamtui.retrieval.hit_list import render_hits
from roamtui.sanitiser import sanitise_line
from roamtui.search.base import Hit
from roamtui.text import format_count

_QUERY_LENGTH_MAX = 1_000
_QUERY_KEYS = ("queries", "query", "q", "keywords", "text", "_raw")
_ASKED_WITHIN = "the question is about it."
_NO_QUERY = "search_sections needs queries: a list of wordings to search for."


async def _run(arguments: Mapping[str, object], context: ToolContext) -> ToolResponse:
    """Search for each wording, and list the hits of all with excerpts."""
    wordings = _read_queries(arguments)
    queries = wordings[:QUERIES_MAX]
    if not queries:
        return ToolResponse(text=_NO_QUERY, event=ToolFinished(query=""), is_refused=True)
    assert context.searcher is not None, "without a searcher, no model is offered this tool"
    state = context.conversation.state
    library = state.library
    asked = state.exchanges[-1].within if state.is_asking else None
    within = asked if asked in library else None
    notes = []
    if left_out := wordings[QUERIES_MAX:]:
        wording = format_count(len(left_out), "more wording")
        notes.append(f"(Not searched: {wording}. The limit is {QUERIES_MAX} per call.)")
    if named := str(arguments.get("within") or "").strip():
        reference = resolve_reference(library, named)
        named_id = "" if reference is None else library.resolve_alias(reference.section_id)
        if named_id in library and within in (None, named_id, *library.node(named_id).ancestors):
            within = named_id
        elif named_id != library.root_id:
            searched = f"Only [{within}] was" if within is not None else "All sections were"
            reason = _ASKED_WITHIN if named_id in library else explain_unresolved(library, named)
            notes.append(f"({searched} searched: {reason})")
    earlier = list_history_texts(state.exchanges[:-1])
    view = make_view(state, earlier=context.earlier, room_tokens=context.room_tokens)
    limit = policy.HITS_MAX
    search = partial(context.searcher.search, library, limit=limit, within=within, earlier=earlier)
    try:
        found = [await call_in_thread(search, query) for query in queries]
    except RoamtuiError as error:  # the model reads it too
        context.conversation.publish(WarningRaised(message=f"The model could not search: {error}"))
        raise
    hits = _merge(found)[:limit]
    query = "; ".join(queries)
    listed = await asyncio.to_thread(render_hits, view, hits, query, tokens_max=context.excerpt_tokens)
    results = tuple((section_id, "found") for section_id in (*listed.section_ids, *listed.also_found))
    nothing = "" if results else "Nothing was found"
    absence = ""
    if nothing or listed.absent:
        coverage = await asyncio.to_thread(measure_coverage, library, within)
        absence = format_absence(coverage, nothing, listed.absent)
    if results:
        parts = [listed.text, f"({absence})" if absence else ""]
    else:
        parts = [f"{absence} Try other words, or choose from the outline."]
        pages = await asyncio.to_thread(suggest_unread_pages, library, query)
        parts += ["Pages that were not read:"] if pages else []
        parts += (f"- [{page_id}] {format_path(library, page_id)} (page)" for page_id in pages)
    found_event = make_search_event(library, query, hits, listed.section_ids)
    context.conversation.apply_unsaved(found_event)
    return ToolResponse(
        text="\n".join(filter(None, (*parts, *notes))),
        event=ToolFinished(query=query, results=results),
        excerpts=listed.excerpts,
        named_words=listed.named_words,
    )


def _read_queries(arguments: Mapping[str, object]) -> tuple[str, ...]:
    value = next(filter(None, map(arguments.get, _QUERY_KEYS)), "")
    texts: Iterable[object] = value if isinstance(value, list) else [value]
    queries = (sanitise_line(str(text))[:_QUERY_LENGTH_MAX] for text in texts)
    return tuple(dict.fromkeys(filter(None, queries)))


def _merge(found: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Merge hits by their ranks, each section once. Those that are asked for come before all others."""
    merged: dict[str, Hit] = {}
    for hit in filter(None, chain.from_iterable(zip_longest(*found))):
        merged.setdefault(hit.section_id, hit)
    return sorted(merged.values(), key=lambda hit: not hit.is_asked_for)


TOOL = Tool(spec=SEARCH, run=_run)
