"""List further places that mention a question's words: one line each, with the words around the best match.

The lines are like those of grep, and cost few tokens. They show a model where else to look, and it may quote
their words.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from roamtui.markdown.units import UnitKind, read_units
from roamtui.outline.delivered import subtract_delivered
from roamtui.outline.labels import format_short_path
from roamtui.retrieval.question_search import ModelView
from roamtui.sanitiser import sanitise_line
from roamtui.search.sentences import RANKED_LENGTH_MAX
from roamtui.search.terms import TermMatcher
from roamtui.text import Bounds, Span, estimate_tokens

ALSO_FOUND_LEAD = "Also found, with the words around the match:"
_WINDOW = 80
"""Maximum number of characters from the first term of a match to its last."""
_REACH = 30
"""Number of characters on each side of a match: about 15 tokens for both sides."""
_WORDS_LENGTH_MAX = 200
"""Maximum number of characters of the document's words in a line."""


class AlsoFoundLine(NamedTuple):
    """A section with a line under "also found"."""

    section_id: str
    line: str
    span: Span
    """The document's words in the line."""


def list_also_found(
    view: ModelView, section_ids: Iterable[str], matcher: TermMatcher, tokens_max: int
) -> list[AlsoFoundLine]:
    """List sections, best first, in at most `tokens_max` tokens. Text that the model has is not repeated."""
    library = view.library
    places: list[AlsoFoundLine] = []
    left = tokens_max - estimate_tokens(ALSO_FOUND_LEAD)
    for section_id in section_ids:
        span = _choose_words(view, section_id, matcher)
        if span is None:
            continue
        words = sanitise_line(library.text_at(span))
        line = f"- [{section_id}] {format_short_path(library, section_id)}: … {words} …"
        left -= estimate_tokens(line) + 1
        if left < 0:
            break
        places.append(AlsoFoundLine(section_id, line, span))
    return places


def _choose_words(view: ModelView, section_id: str, matcher: TermMatcher) -> Span | None:
    """Return the words of a section with most terms, or its first words. Leave out words the model has."""
    own = view.library.node(section_id).own_content_span
    text = view.library.clean_text(own)[:RANKED_LENGTH_MAX]
    best: Span | None = None
    most = -1
    for start, end, count in _list_windows(text, matcher):
        if count > most:
            words = own.get_part(start, min(end, start + _WORDS_LENGTH_MAX))
            known = (view.delivered, view.named_words)
            if all(subtract_delivered(words, each) == [words] for each in known):
                best = words
                most = count
    return best


def _list_windows(text: str, matcher: TermMatcher) -> Iterator[tuple[int, int, int]]:
    """Yield the bounds of the first words, then of those around each term, with the number of their terms.

    The words are in one paragraph, list item, row or line of code, and not in a heading.
    """
    units = [unit for unit in read_units(text).units if unit.kind is not UnitKind.HEADING]
    for unit in units[:1]:
        yield *_widen(text, (unit.start, unit.start), (unit.start, unit.end)), 0
    places = matcher.list_occurrences(text)
    for unit in units if places else ():
        inside = places[bisect_left(places, (unit.start,)) : bisect_left(places, (unit.end,))]
        for first, (start, end, _) in enumerate(inside):
            limit = bisect_left(inside, (start + _WINDOW,), lo=first + 1)
            window = inside[first:limit]
            last = max(end, *(place[1] for place in window))
            yield *_widen(text, (start, last), (unit.start, unit.end)), len({term for *_, term in window})


def _widen(text: str, match: Bounds, within: Bounds) -> Bounds:
    """Return the bounds of a match with the whole words in up to `_REACH` characters on each side."""
    start = max(within[0], match[0] - _REACH)
    end = min(within[1], match[1] + _REACH)
    if start > within[0]:
        start = text.find(" ", start, match[0]) + 1 or match[0]
    if end < within[1] and not text[end].isspace():
        end = max(match[1], text.rfind(" ", match[1], end))
    return start, end
