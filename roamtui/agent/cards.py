"""The passages of an answer without a model, a card for each section."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import PurePath

from msgspec import Struct

from roamtui.conversation.citations import Citation
from roamtui.document.library import Library
from roamtui.plain import shorten
from roamtui.quotes.verdicts import resolve_citation
from roamtui.retrieval.answers import list_missing_words
from roamtui.search.sentences import Statement

_WORDS_LENGTH_MAX = 100
"""Maximum length of the words that a section lacks. A question may be a pasted page."""


class PassageCard(Struct, frozen=True):
    """Passages of one section, and what a person reads about them."""

    passages: Sequence[Citation]
    lacked: str
    """Names the words of the question that the first passage, its title and its file's name lack."""

    @property
    def statement(self) -> Statement:
        """What of the first one is likeliest to answer; empty if it has nothing else."""
        return self.passages[0].statement


def list_cards(
    question: str, passages: Iterable[Citation], library: Library, *, is_split: bool = False
) -> list[PassageCard]:
    """List a card for the passages of each section or, with `is_split`, for each passage."""
    cards: list[PassageCard] = []
    for _, group in groupby(passages, key=attrgetter("section_id")):
        section = [*group]
        for part in [[passage] for passage in section] if is_split else [section]:
            first = part[0]
            span = resolve_citation(first, library)
            heads = library.list_heads([span])[0] if span is not None else ""
            name = PurePath(first.doc or library.source).stem  # a filing seldom repeats whose it is
            words = list_missing_words(question, [name, *first.path[-1:], f"{heads}{first.quote}"])
            lacked = f"missing: {shorten(', '.join(words), _WORDS_LENGTH_MAX)}" if words else ""
            cards.append(PassageCard(part, lacked))
    return cards
