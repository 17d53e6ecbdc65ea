"""List further places that mention a question's words: one line each, with the words around the best match.

It is what a search with grep gives, for few tokens. A model sees where else to look, and may quote the words.
"""

from collections.abc import Sequence

from msgspec import Struct

from roamtui.outline.labels import format_short_path
from roamtui.plain import sanitise_line
from roamtui.retrieval.choose import ModelView
from roamtui.search.passages import RANKED_LENGTH_MAX, rank_sentences
from roamtui.search.terms import TermMatcher
from roamtui.text import Bounds, Span, estimate_tokens, subtract_delivered

LEAD = "Also found, with the words around the match:"
_REACH = 55
"""Number of characters on each side of a match: together about 15 tokens beside it."""


class AlsoFound(Struct, frozen=True, kw_only=True):
    """The lines of further places."""

    lines: tuple[str, ...] = ()
    excerpts: tuple[Span, ...] = ()
    """The words in them."""
    section_ids: tuple[str, ...] = ()


def list_also_found(
    view: ModelView, section_ids: Sequence[str], matcher: TermMatcher, tokens_max: int
) -> AlsoFound:
    """List sections, best first, in at most `tokens_max` tokens. Text that the model has is not repeated."""
    library = view.library
    lines: list[str] = []
    excerpts: list[Span] = []
    listed: list[str] = []
    left = tokens_max - estimate_tokens(LEAD)
    for section_id in section_ids:
        span = _find_match(view, section_id, matcher)
        words = ""
        if span is not None:
            words = f": … {sanitise_line(library.text_at(span))} …"
        line = f"- [{section_id}] {format_short_path(library, section_id)}{words}"
        left -= estimate_tokens(line) + 1
        if left < 0:
            break
        lines.append(line)
        listed.append(section_id)
        if span is not None:
            excerpts.append(span)
    return AlsoFound(lines=tuple(lines), excerpts=tuple(excerpts), section_ids=tuple(listed))


def _find_match(view: ModelView, section_id: str, matcher: TermMatcher) -> Span | None:
    """Return the words around the match in a section's best sentence, or None if the model has them."""
    span = view.library.node(section_id).own_content_span
    text = view.library.clean_text(span)[:RANKED_LENGTH_MAX]
    best = rank_sentences(text, matcher, limit=1) if matcher.terms else ()
    if not best:
        return None
    places = [(start, end) for start, end, _ in matcher.locate(text) if best[0].start <= start < best[0].end]
    match = span.get_part(*_widen(text, places[0] if places else (best[0].start, best[0].start)))
    return match if subtract_delivered(match, view.delivered) == [(match.start, match.end)] else None


def _widen(text: str, match: Bounds) -> Bounds:
    """Return the whole words around a match, within its line."""
    line_start = text.rfind("\n", 0, match[0]) + 1
    line_end = text.find("\n", match[1])
    start = max(line_start, match[0] - _REACH)
    end = min(len(text) if line_end < 0 else line_end, match[1] + _REACH)
    if start > line_start:
        start = text.find(" ", start, match[0]) + 1 or match[0]
    if end < len(text) and not text[end].isspace():
        end = max(match[1], text.rfind(" ", match[1], end))
    return start, end
