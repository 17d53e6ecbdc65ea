"""How much a model had read when it answered: measured once, and kept with the answer."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from roamtui.conversation.citations import Citation
from roamtui.conversation.events import AnswerBasis, SearchHit, SectionsOpened, SectionsSearched
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.outline.coverage import measure_coverage
from roamtui.outline.delivered import SpanSet
from roamtui.retrieval.excerpt import is_delivered_text
from roamtui.retrieval.question_search import complete_follow_up


def measure_basis(state: ConversationState, citations: Sequence[Citation]) -> AnswerBasis:
    """Measure what the model had read when it answered the last question, and what was found but not read.

    Text that it got for an earlier question counts, because its quotes are looked up there too. Sections that
    the `citations` of its answer name count as read.
    """
    library = state.library
    exchange = state.exchanges[-1]
    searches = [event for event in exchange.events if isinstance(event, SectionsSearched)]
    opened = state.collect_delivered()
    known = {citation.section_id for citation in citations}
    for event in exchange.events:
        if isinstance(event, SectionsOpened):
            known.update(event.opened_ids)
    known |= {hit.section_id for search in searches for hit in search.hits if hit.is_read}
    delivered = state.collect_read()
    unread: dict[str, SearchHit] = {}
    for hit in (hit for search in searches for hit in search.hits):
        is_known = hit.section_id in known or hit.section_id not in library
        if not is_known and not _is_read(library, hit.section_id, opened, delivered):
            unread.setdefault(hit.section_id, hit)
    whole, partly = _count_read(library, delivered, unread)
    coverage = measure_coverage(library, exchange.within)
    asked = {exchange.question, complete_follow_up(state.questions)}
    queries = dict.fromkeys(search.query for search in searches if search.query not in asked)
    return AnswerBasis(
        whole=whole,
        partly=partly,
        sections=library.section_count,
        pages=coverage.scope if coverage.read < coverage.total else "",
        queries=tuple(queries),
        unread=tuple(unread.values()),
    )


def _is_read(library: Library, section_id: str, opened: SpanSet, delivered: SpanSet) -> bool:
    """Return whether some text of a section is open, or all of it was delivered; False for an unread link."""
    if not library.node(section_id).is_loaded:
        return False
    own = library.node(section_id).own_content_span
    is_open = any(map(own.overlaps, opened))
    return is_open or is_delivered_text(library, section_id, delivered)


def _count_read(library: Library, delivered: SpanSet, unread: dict[str, SearchHit]) -> tuple[int, int]:
    """Count the sections that were read whole, and those read in part. Leave out the `unread` ones."""
    whole = 0
    partly = 0
    for key, bounds in delivered.bounds.items():
        document = library.documents_by_key.get(key)
        if document is None:
            continue
        starts = document.columns.starts
        rows: dict[int, None] = {}
        for start, end in bounds:
            first = max(0, bisect_right(starts, start) - 1)
            rows.update(dict.fromkeys(range(first, min(bisect_left(starts, end), len(document.columns)))))
        for row in rows:
            section_id = document.ids[row]
            if section_id in unread:
                continue
            if is_delivered_text(library, section_id, delivered):
                whole += 1
            else:
                partly += 1
    return whole, partly
