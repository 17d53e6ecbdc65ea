"""List further places that mention a question's words: one line each, with words of the best sentence.

The lines are like those of grep, and cost few tokens. They show a model where else to look, and it may quote
their words.
"""

from collections.abc import Iterable
from typing import NamedTuple

from roamtui.outline.labels import format_short_path
from roamtui.retrieval.question_search import ModelView
from roamtui.sanitiser import sanitise_line
from roamtui.search.sentences import RANKED_LENGTH_MAX, rank_sentences
from roamtui.search.terms import TermMatcher
from roamtui.text import Bounds, Span, estimate_tokens

ALSO_FOUND_LEAD = "Also found, with the words around the match:"
_REACH = 30
"""Number of characters on each side of the terms: about 15 tokens for both sides."""
_WORDS_LENGTH_MAX = 170
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
    """List sections, best first, in at most `tokens_max` tokens. Text that the model has is not repeated.

    Nor are words that an earlier line has.
    """
    library = view.library
    places: list[AlsoFoundLine] = []
    listed_words: set[str] = set()
    left = tokens_max - estimate_tokens(ALSO_FOUND_LEAD)
    for section_id in section_ids:
        span = _choose_words(view, section_id, matcher)
        words = "" if span is None else sanitise_line(library.text_at(span))
        if span is None or words in listed_words:
            continue
        listed_words.add(words)
        line = f"- [{section_id}] {format_short_path(library, section_id)}: … {words} …"
        left -= estimate_tokens(line) + 1
        if left < 0:
            break
        places.append(AlsoFoundLine(section_id, line, span))
    return places


def _choose_words(view: ModelView, section_id: str, matcher: TermMatcher) -> Span | None:
    """Return the words around the terms of the best sentence of a section that the model does not have."""
    own = view.library.node(section_id).own_content_span
    text = view.library.clean_text(own)[:RANKED_LENGTH_MAX]
    for sentence in rank_sentences(text, matcher):
        start, end = _find_words(text[sentence.start : sentence.end], matcher)
        words = own.get_part(sentence.start + start, sentence.start + end)
        if all(known.subtract_from(words) == [words] for known in (view.delivered, view.named_words)):
            return words
    return None


def _find_words(sentence: str, matcher: TermMatcher) -> Bounds:
    """Return the bounds of the whole words of a sentence around its terms, or of its first words."""
    places = matcher.list_occurrences(sentence) or [(0, 0, "")]
    first = places[0][0]
    start = max(0, first - _REACH)
    if start:
        start = sentence.find(" ", start, first) + 1 or first
    end = min(len(sentence), places[-1][1] + _REACH, start + _WORDS_LENGTH_MAX)
    if not sentence[end : end + 1].isspace() and end < len(sentence):
        word_start = sentence.rfind(" ", start, end)
        end = word_start if word_start > start else end
    return start, end
