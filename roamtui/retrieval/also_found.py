"""List further places that mention a question's words: one line each, with the words around the best match.

It is what a search with grep gives, for few tokens. A model sees where else to look, and may quote the words.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, takewhile

from msgspec import Struct

from roamtui.outline.labels import format_short_path, strip_heading
from roamtui.plain import sanitise_line
from roamtui.retrieval.choose import ModelView
from roamtui.search.passages import RANKED_LENGTH_MAX
from roamtui.search.terms import TermMatcher
from roamtui.text import Bounds, Span, estimate_tokens, subtract_delivered

LEAD = "Also found, with the words around the match:"
_WINDOW = 80
"""Maximum number of characters from the first term of a match to its last."""
_REACH = 30
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
        path = format_short_path(library, section_id)
        span = _find_match(view, section_id, matcher)
        if span is None and not matcher.locate(path):
            continue
        words = "" if span is None else f": … {sanitise_line(library.text_at(span))} …"
        line = f"- [{section_id}] {path}{words}"
        left -= estimate_tokens(line) + 1
        if left < 0:
            break
        lines.append(line)
        listed.append(section_id)
        if span is not None:
            excerpts.append(span)
    return AlsoFound(lines=tuple(lines), excerpts=tuple(excerpts), section_ids=tuple(listed))


def _find_match(view: ModelView, section_id: str, matcher: TermMatcher) -> Span | None:
    """Return the words around the most terms of a section that the model does not have, or None."""
    own = view.library.node(section_id).own_content_span
    text = view.library.clean_text(own)[:RANKED_LENGTH_MAX]
    best: Span | None = None
    most = 0
    for start, end, count in _list_windows(text, matcher):
        if count > most:
            match = own.get_part(*_widen(text, (start, end)))
            if subtract_delivered(match, view.delivered) == [(match.start, match.end)]:
                best = match
                most = count
    return best


def _list_windows(text: str, matcher: TermMatcher) -> Iterator[tuple[int, int, int]]:
    """Yield the bounds of the windows that begin with a term, each with its number of different terms.

    A window is within a line, and not in the heading.
    """
    heading_end = len(text) - len(strip_heading(text))
    places = [place for place in matcher.locate(text) if place[0] >= heading_end]
    for first, (start, end, _) in enumerate(places):
        line_end = text.find("\n", end)
        limit = min(start + _WINDOW, len(text) if line_end < 0 else line_end)
        window = [*takewhile(partial(_ends_before, limit), islice(places, first, None))]
        yield start, max((place[1] for place in window), default=end), len({term for *_, term in window})


def _ends_before(limit: int, place: tuple[int, int, str]) -> bool:
    return place[1] <= limit


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
