"""The passages of an answer without a model, a card for each section."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec import Struct

from roamtui.conversation.citations import Citation
from roamtui.document.library import Library
from roamtui.plain import shorten
from roamtui.quotes.verdicts import resolve_citation
from roamtui.retrieval.answers import find_statement, list_missing_words
from roamtui.search.sentences import Statement

_WORDS_LENGTH_MAX = 100
"""Maximum length of the words that a section lacks. A question may be a pasted page."""


class PassageCard(Struct, frozen=True):
    """Passages of one section, and what a person reads about them."""

    passages: Sequence[Citation]
    statement: Statement
    """What of them is likeliest to answer."""
    lacked: str
    """Names the words of the question that neither the section's passages nor its titles have, if any."""


def list_cards(
    question: str, passages: Iterable[Citation], library: Library, *, is_split: bool = False
) -> list[PassageCard]:
    """List a card for the passages of each section or, with `is_split`, for each passage."""
    cards: list[PassageCard] = []
    for _, group in groupby(passages, key=attrgetter("section_id")):
        section = [*group]
        words = list_missing_words(question, [*section[0].path, *_list_texts(section, library)])
        lacked = f"missing: {shorten(', '.join(words), _WORDS_LENGTH_MAX)}" if words else ""
        for part in [[passage] for passage in section] if is_split else [section]:
            statement = find_statement(question, _list_texts(part, library))
            cards.append(PassageCard(part, statement, lacked))
    return cards


def _list_texts(passages: Sequence[Citation], library: Library) -> list[str]:
    """List the texts of passages, with the column heads of a cut table."""
    texts: list[str] = []
    for passage in passages:
        span = resolve_citation(passage, library)
        heads = library.list_heads([span])[0] if span is not None else ""
        texts.append(f"{heads}{passage.quote}")
    return texts
