"""The passages of an answer without a model, a card for each."""

from collections.abc import Iterable

from msgspec import Struct

from roamtui.conversation.citations import Citation
from roamtui.document.library import Library
from roamtui.plain import shorten
from roamtui.quotes.verdicts import resolve_citation
from roamtui.retrieval.answers import get_file_name, list_lacking_words
from roamtui.search.sentences import Statement

_WORDS_LENGTH_MAX = 100
"""Maximum length of the words that a section lacks. A question may be a pasted page."""


class PassageCard(Struct, frozen=True):
    """A passage, and what a person reads about it."""

    passage: Citation
    lacked: str
    """Names the words of the question that the passage, its titles and its file's name lack, if any."""

    @property
    def statement(self) -> Statement:
        """What is shown of it: the sentence or row that is likeliest to answer. Empty to show all of it."""
        return self.passage.statement


def list_cards(question: str, passages: Iterable[Citation], library: Library) -> list[PassageCard]:
    """List a card for each passage."""
    cards: list[PassageCard] = []
    for passage in passages:
        span = resolve_citation(passage, library)
        heads = library.list_heads([span])[0] if span is not None else ""
        texts = [get_file_name(library, passage.doc), *passage.path, heads, passage.quote or ""]
        words = list_lacking_words(question, texts)
        lacked = f"missing: {shorten(', '.join(words), _WORDS_LENGTH_MAX)}" if words else ""
        cards.append(PassageCard(passage, lacked))
    return cards
