"""Cards for the passages of an answer without a model."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from roamtui.conversation.citations import Citation
from roamtui.document.library import Library
from roamtui.markdown.units import read_visible_line
from roamtui.quotes.verdicts import resolve_citation
from roamtui.retrieval.best_passages import list_found_words
from roamtui.text import shorten

_WORDS_LENGTH_MAX = 100
"""Maximum number of characters of the words on a card. A question may be a pasted page."""


class PassageCard(Struct, frozen=True):
    """A passage, and what a person reads about it."""

    passage: Citation
    found: tuple[str, ...]
    """The words of the question that the card shows: in the title of the section and the key sentence or, if
    there is none, in the passage and its heads."""
    has_all: bool
    """Whether the whole passage, its heads and the title of its section have all words of the question."""

    @property
    def found_label(self) -> str:
        """The words that were found, after "has:"; empty if there are none."""
        return f"has: {shorten(', '.join(self.found), _WORDS_LENGTH_MAX)}" if self.found else ""

    @property
    def beside(self) -> str:
        """A row of another table that explains the row of the passage. Empty if there is none."""
        return shorten(self.passage.key_sentence.beside, _WORDS_LENGTH_MAX)

    @property
    def label(self) -> str:
        """`found_label` and `beside` in one line."""
        return " · ".join(filter(None, (self.found_label, self.beside)))


def list_cards(question: str, passages: Iterable[Citation], library: Library) -> list[PassageCard]:
    """List a card for each passage, in the same order."""
    cards: list[PassageCard] = []
    asked = _find_single_words(question, [question])
    for passage in passages:
        span = resolve_citation(passage, library)
        header = library.list_headers([span])[0] if span is not None else ""
        whole = [*passage.path[-1:], *map(read_visible_line, (header, passage.quote or ""))]
        key_sentence = passage.key_sentence.shown
        shown = [*passage.path[-1:], key_sentence] if key_sentence else whole
        has_all = bool(asked) and _find_single_words(question, whole) == asked
        cards.append(PassageCard(passage, list_found_words(question, shown), has_all))
    return cards


def _find_single_words(question: str, texts: Sequence[str]) -> set[str]:
    """Return the words of a question that the texts have, wherever they stand."""
    return {*" ".join(list_found_words(question, texts)).split()}
