"""`Citation`: the proof of a claim of an answer, and the results of looking up its quote."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from roamtui.markdown.quoted_sentence import KeySentence, QuotedSentence
from roamtui.text import Span, format_page


class QuoteState(StrEnum):
    """Result of looking up a quote, from best to worst. Of several quotes, a mark has the worst colour."""

    NO_QUOTE = "no_quote"
    PASSAGE = "supported"
    """Not a quote of the model, but a passage that roamtui found for the question."""
    EXACT = "exact"
    """The text has these words, whole and in this order."""
    RESPELLED = "same"
    """The text has the same letters and numbers, written otherwise."""
    ELSEWHERE = "elsewhere"
    """Exact or respelled, but in another section that the model got."""
    NOT_FOUND = "not_found"

    @property
    def label(self) -> str:
        """A few words that tell a person the result, the same in all front ends."""
        return _RESULTS[self][0]

    @property
    def sign(self) -> str:
        """One character that shows the result without colour; empty if there is no quote."""
        return _RESULTS[self][1]

    @property
    def rating(self) -> str:
        """The colour of the result by its meaning: success, warning, error; empty if there is no quote."""
        return _RESULTS[self][2]


_RESULTS = {
    QuoteState.EXACT: ("quote found in the text", "✓", "success"),
    QuoteState.RESPELLED: ("quote found in the text, written otherwise", "✓", "success"),
    QuoteState.ELSEWHERE: ("quote found in another section", "!", "warning"),
    QuoteState.NOT_FOUND: ("quote not in the text that the model read", "✗", "error"),
    QuoteState.NO_QUOTE: ("no quote", "", ""),
    QuoteState.PASSAGE: ("found by roamtui", "", ""),
}
APART_LABEL = "not within one sentence"
"""Says that the parts of a quote are in the text that was read, but its ellipsis leaves out too much."""
CHANGED_LABEL = "changed since the answer"
"""The label of a quote that was found, but that the document no longer has."""


class Nearest(Struct, frozen=True, kw_only=True):
    """The words of a document that are most similar to a quote that was not found."""

    text: str
    """In Markdown."""
    span: Span
    is_read: bool
    """Whether the model had read them."""
    is_same: bool = False
    """Whether they are exactly the words of the quote, in text that the model had not read."""
    is_apart: bool = False
    """Whether they have all parts of the quote between ellipses, one after the other."""
    place: str = ""
    """Where they are: the section, unless it is the cited one, and the page and the lines."""


class Citation(Struct, frozen=True, kw_only=True):
    """The proof of a claim: a section and, if the answer has one, a quote from it."""

    section_id: str
    quote: str | None
    state: QuoteState
    doc: str = ""
    path: tuple[str, ...] = ()
    """Titles down to the section. For an empty title, the words that the outline shows."""
    start_line: int = 0
    end_line: int = 0
    """Lines of the quote, or of the section if it was not found, from 1; 0 if the id is unknown."""
    page: int | None = None
    """First page of these lines, or None if the document has no pages."""
    page_label: str = ""
    """The printed number of this page; empty if it equals `page`."""
    span: Span | None = None
    """The quote in the document, or None if it was not found."""
    key_sentence: KeySentence = field(default=KeySentence(), name="statement")
    """The sentence or row of a passage that most likely answers; empty if it is the whole passage."""
    surroundings: QuotedSentence | None = None
    """The text around the quote, or None if it adds nothing."""
    replaced_sentence: str | None = field(default=None, name="sentence_then")
    """The text around the quote when the model answered, or None if the document still says the same."""
    start: int = 0
    end: int = 0
    """Offsets in the answer of the quote and its quotation marks or, without a quote, of the id."""
    marks: tuple[int, ...] = ()
    """Offsets in the answer of all ids that show this citation. The id of its quote comes first."""
    nearest: Nearest | None = None
    """What the documents say instead of a quote that was not found, or None if nothing is similar."""
    is_changed: bool = False
    """Whether the quote was in the document when the model answered, but no longer is, or no longer in its
    section."""

    @property
    def sentence(self) -> str:
        """What the document says around the quote; empty if that adds nothing."""
        return "" if self.surroundings is None else self.surroundings.text

    @property
    def original_sentence(self) -> str:
        """What the document said around the quote when the model answered; empty if that added nothing."""
        return self.sentence if self.replaced_sentence is None else self.replaced_sentence

    @property
    def is_lost(self) -> bool:
        """Whether the quote was in the document when the model answered, but no longer is."""
        return self.is_changed and self.state is QuoteState.NOT_FOUND

    @property
    def is_apart(self) -> bool:
        """Whether the text that was read has all parts of the quote, but not within one sentence."""
        nearest = self.nearest
        return nearest is not None and nearest.is_apart and nearest.is_read and not self.is_changed

    @property
    def label(self) -> str:
        """A few words that tell a person the result of looking up the quote."""
        if self.is_lost:
            return CHANGED_LABEL
        return APART_LABEL if self.is_apart else self.state.label

    @property
    def short_label(self) -> str:
        """The label without the word quote, for a place that is about a quote anyway."""
        return self.label.removeprefix("quote ")

    @property
    def place(self) -> str:
        """The page and the lines as text, such as ``p. 12, lines 3-5``. Empty if the id is unknown."""
        if not self.start_line:
            return ""
        is_one = self.start_line == self.end_line
        lines = f"line {self.start_line}" if is_one else f"lines {self.start_line}-{self.end_line}"
        return ", ".join(filter(None, [format_page(self.page, self.page_label), lines]))

    @property
    def position(self) -> str:
        """The page if the document has pages, or else the lines."""
        return format_page(self.page, self.page_label) or self.place

    @property
    def is_verified(self) -> bool:
        """Whether the quote was found in the section that the answer names."""
        return self.state in (QuoteState.EXACT, QuoteState.RESPELLED)
