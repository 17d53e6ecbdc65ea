"""Render hits as the lines that a model reads, with excerpts."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from roamtui.outline.expansion import format_given_sections, get_opened_span
from roamtui.outline.labels import format_short_path, format_size
from roamtui.outline.structure import get_canonical_id
from roamtui.retrieval import policy
from roamtui.retrieval.absent import format_absence_clause, list_absent_names
from roamtui.retrieval.also_found import ALSO_FOUND_LEAD, list_also_found
from roamtui.retrieval.excerpt import choose_excerpts, is_complete, is_delivered_text
from roamtui.retrieval.excerpt_lines import render_excerpt
from roamtui.retrieval.question_search import ModelView
from roamtui.search.base import Hit
from roamtui.search.terms import TermMatcher
from roamtui.text import Span, estimate_tokens


class HitList(Struct, frozen=True, kw_only=True):
    """Search hits, rendered for a model: the best with excerpts, then others with a line each."""

    text: str = ""
    """Empty if nothing was found."""
    excerpts: tuple[Span, ...] = ()
    """Document text in the list. The model may quote it."""
    named_words: tuple[Span, ...] = ()
    """Those of the excerpts that are only words below "also found", or in the mark for what is left out."""
    section_ids: tuple[str, ...] = ()
    """Sections that have an excerpt, or whose text the model has, in order."""
    also_found: tuple[str, ...] = ()
    """Sections with only a line under "also found"."""
    absent: str = ""
    """The clause for `format_absence` about words of the query that no text has; empty if there are none."""


def render_hits(
    view: ModelView,
    hits: Sequence[Hit],
    query: str,
    *,
    tokens_max: int = policy.HITS_TOKENS_MAX,
    opened: Sequence[str] = (),
) -> HitList:
    """Render hits, best first, as lines with excerpts. Text that the model has already is not repeated.

    The excerpts have at most `tokens_max` tokens in all. The sections `opened` will open above the list. Run
    this in a thread, because words are looked for in the whole library.
    """
    library = view.library
    matcher = TermMatcher.for_question(query)
    hits_by_id: dict[str, Hit] = {}
    for hit in hits:
        hits_by_id.setdefault(get_canonical_id(library, hit.section_id), hit)
    opened_spans = (get_opened_span(library, section_id, view.part_tokens) for section_id in opened)
    known = view.delivered | opened_spans
    view = replace(view, delivered=known)
    # next to a clear hit, only hits that are asked for get an excerpt
    excerpted = {each: hit for each, hit in hits_by_id.items() if hit.is_asked_for or not opened}
    chosen = choose_excerpts(view, excerpted, matcher, tokens_max)
    lines: list[str] = []
    excerpts: list[Span] = []
    named_words: list[Span] = []
    given: list[str] = []
    for section_id, spans in chosen.items():
        if not spans and is_delivered_text(library, section_id, known):
            given.append(section_id)
            continue
        page = library.get_line_range(library.node(section_id).span).page
        excerpts += spans
        notes = ["" if page is None else f"p. {page}"]
        if spans and is_complete(library, section_id, spans):
            notes.append("complete")
        else:
            notes.insert(0, format_size(library, section_id))
        marks = ", ".join(filter(None, notes))
        lines.append(f"- [{section_id}] {format_short_path(library, section_id)} ({marks})")
        quoted, named = render_excerpt(library, section_id, spans)
        lines += quoted
        named_words += named
    if given:
        lines.append(format_given_sections(library, given))
    view = replace(view, delivered=known | (*excerpts, *named_words))
    shown = {*chosen, *opened}
    others = [section_id for section_id in hits_by_id if section_id not in shown]
    left = max(0, view.room_tokens - estimate_tokens("\n".join(lines)))
    also = list_also_found(view, others, matcher, min(policy.ALSO_FOUND_TOKENS_MAX, left))
    if also:
        lines += [ALSO_FOUND_LEAD, *(place.line for place in also)]
    named_words += (place.span for place in also)
    return HitList(
        text="\n".join(lines),
        excerpts=(*excerpts, *named_words),
        named_words=tuple(named_words),
        section_ids=tuple(chosen),
        also_found=tuple(place.section_id for place in also),
        absent=format_absence_clause(list_absent_names(query, library)),
    )
