"""Cut the text of hits: small sections whole, the best passages of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.document.text import Bounds, Span, estimate_tokens, subtract_bounds
from roamtui.retrieval.choose import ModelView
from roamtui.search.base import Hit
from roamtui.search.passages import select_excerpt
from roamtui.search.terms import TermMatcher
from roamtui.search.units import UnitKind, find_units

_HEADINGS_LENGTH_MAX = 2_000
"""Maximum length, in characters, of a part of a section that is parsed to see if it has only headings."""


def choose_excerpts(view: ModelView, hits: Mapping[str, Hit], matcher: TermMatcher) -> dict[str, tuple[Span, ...]]:
    """Choose the excerpt of each hit: a small section whole while there is room, otherwise its best part.

    A hit whose excerpt is part of another one is left out. Hits are left out once the room of the view is used up.
    """
    library, policy = view.library, view.policy
    chosen: dict[str, tuple[Span, ...]] = {}
    used = wholes = rank = 0
    for section_id, hit in hits.items():
        tokens_max = policy.excerpt_tokens[min(rank, len(policy.excerpt_tokens) - 1)]
        whole_max = policy.whole_tokens[min(rank, len(policy.whole_tokens) - 1)]
        whole_max = min(whole_max, policy.wholes_tokens_max - wholes)
        if hit.is_named:
            tokens_max, whole_max = policy.named_excerpt_tokens, policy.named_whole_tokens
        if view.room_tokens is not None:
            tokens_max, whole_max = (min(tokens, view.room_tokens - used) for tokens in (tokens_max, whole_max))
            if tokens_max < policy.excerpt_tokens_min:
                break
        rank += not hit.is_named
        previous = [span for spans in chosen.values() for span in spans]
        excerpted, whole = library.node(section_id).own_content_span, library.node(section_id).content_span
        overlaps = any(map(whole.overlaps, previous))
        is_bare_chapter = hit.is_named and not has_text(library, excerpted)
        if not overlaps and (library.count_tokens(section_id)[1] <= whole_max or is_bare_chapter):
            excerpted = whole
        text = library.clean_text(excerpted)
        bounds = select_excerpt(text, matcher, tokens_max=tokens_max, whole_max=whole_max)
        spans = tuple(excerpted.get_part(start, end) for start, end in bounds)
        if not spans or any(_subtract(span, previous) for span in spans):
            chosen[section_id] = spans
            cost = sum(estimate_tokens(text[start:end]) for start, end in bounds)
            used += cost
            if not hit.is_named:
                wholes += cost
    if not any(chosen.values()):
        return chosen
    kinds = {section_id: library.node(section_id).kind for section_id in chosen}
    # a heading without text answers nothing, but a page may still be loaded
    return {one: spans for one, spans in chosen.items() if spans or kinds[one] is not NodeKind.SECTION}


def is_complete(library: Library, section_id: str, spans: Sequence[Span]) -> bool:
    """Return whether an excerpt has all the text of a section."""
    whole = library.node(section_id).content_span
    left = _subtract(whole, spans)
    return left != [(whole.start, whole.end)] and not any(
        end - start > _HEADINGS_LENGTH_MAX or has_text(library, Span(doc=whole.doc, start=start, end=end))
        for start, end in left
    )


def has_text(library: Library, span: Span) -> bool:
    """Return whether a span contains text other than headings."""
    return any(unit.kind is not UnitKind.HEADING for unit in find_units(library.clean_text(span)))


def _subtract(span: Span, shown: Sequence[Span]) -> list[Bounds]:
    return subtract_bounds(span.start, span.end, ((other.start, other.end) for other in shown if other.doc == span.doc))
