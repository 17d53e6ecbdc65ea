"""Checked quotes: what became of a claim in the current document, with the names of the JSON output."""

from functools import partial

from msgspec import Struct, field

from roamtui.conversation.citations import QuoteState
from roamtui.document.library import Library
from roamtui.quotes.claims import Claim
from roamtui.quotes.current_text import ClaimStatus, recheck
from roamtui.quotes.nearest import compare_sentences, compare_words, format_diff_parts


class CurrentText(Struct, frozen=True, kw_only=True):
    """The text that the document has now: the quote, or the most similar text."""

    section_id: str
    doc: str
    path: tuple[str, ...]
    start_line: int
    text: str
    sentence: str | None
    """The document's sentence around the quote, or None if it adds nothing."""
    changes: str | None
    """How `text` differs from the quote, or `sentence` from the sentence kept with it. None if equal."""


class CheckedQuote(Struct, frozen=True, kw_only=True):
    """A quote and its state now. Its fields have the names and order of the JSON output."""

    place: str
    line: int | None
    quote: str
    source: str
    original_state: QuoteState | None = field(name="then")
    status: ClaimStatus = field(name="state")
    now: CurrentText | None = None
    sentence_compared: bool | None = None
    """Whether the sentence around the quote was compared too. None if there was no sentence to compare."""
    message: str | None = None
    """Why the quote cannot be checked."""

    @property
    def is_found_now(self) -> bool:
        """Whether the document has the quote now, although it was false when the model answered."""
        was_not_found = self.original_state is QuoteState.NOT_FOUND
        if self.status is ClaimStatus.ELSEWHERE:
            return was_not_found
        was_false = was_not_found or self.original_state is QuoteState.ELSEWHERE
        return was_false and self.status in (ClaimStatus.UNCHANGED, ClaimStatus.MOVED)

    @property
    def is_unchanged(self) -> bool:
        """Whether nothing has changed since the model answered."""
        if self.status is ClaimStatus.NOT_FOUND:
            return self.original_state is QuoteState.NOT_FOUND
        return self.status in (ClaimStatus.UNCHANGED, ClaimStatus.ELSEWHERE) and not self.is_found_now

    @property
    def is_fault(self) -> bool:
        """Whether the document lacks the quote, or the sentence that was kept with it."""
        return self.status is ClaimStatus.SENTENCE_CHANGED or not self.status.is_there


def check_claim(claim: Claim, source: str, library: Library | str) -> CheckedQuote:
    """Look up a claim in the library of its `source`, or say why that cannot be opened."""
    line = claim.line or None
    state = claim.original_state
    make_checked = partial(
        CheckedQuote, place=claim.place, line=line, quote=claim.quote, source=source, original_state=state
    )
    if isinstance(library, str):
        return make_checked(status=ClaimStatus.UNREACHABLE, message=library)
    finding = recheck(claim, library)
    now = None
    if finding.span is not None:
        sentence = finding.surroundings.text if finding.surroundings is not None else None
        changes = None
        if finding.status is ClaimStatus.SENTENCE_CHANGED:
            changes = format_diff_parts(compare_sentences(claim.sentence or "", sentence or ""))
        elif not finding.status.is_there:
            # without page footers, which do not count as changes
            changes = format_diff_parts(compare_words(claim.quote, library.clean_text(finding.span)))
        now = CurrentText(
            section_id=finding.section_id,
            doc=finding.span.doc,
            path=library.node(finding.section_id).path,
            start_line=library.get_line_range(finding.span).first_line,
            text=library.text_at(finding.span),
            sentence=sentence,
            changes=changes,
        )
    return make_checked(
        status=finding.status,
        now=now,
        sentence_compared=finding.is_sentence_compared,
        message=finding.message or None,
    )
