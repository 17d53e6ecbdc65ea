"""The cells of a table: each has a value, the citations that prove it, and a state."""

import re
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.conversation.budget import OpenSectionOptions
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import AnswerBasis, StopReason
from roamtui.conversation.messages import OFFLINE, Usage
from roamtui.conversation.state import Exchange, start_conversation
from roamtui.document.library import Library
from roamtui.markdown.units import UnitKind, read_units, read_visible_line
from roamtui.outline.coverage import Coverage
from roamtui.quotes.current_text import recheck_citations
from roamtui.quotes.quotation_marks import list_quoted
from roamtui.quotes.verdicts import list_answer_marks
from roamtui.sanitiser import sanitise_line
from roamtui.sentences import strip_full_stop
from roamtui.table.columns import Column

CELL_INSTRUCTIONS = """\
Each answer fills one cell of a table. \
Its first line is the value alone, in as few words as the text allows (60 days; Yes, with \
consent), without quotation marks, ids or a full stop. Below it stands the proof: for each clause that gives \
the value, in whatever words, one sentence with its quote and the id of its section. Add conditions that \
change the value, with their quotes, and no more. The value is No only where the text says so, if only by \
None or Not applicable. If nothing in the text settles the question, begin with "Not found:" and say in one \
line what you looked for; suggest no other ways to ask."""
"""Instructions for the answers. They come before the outline, so that all prompts of a row begin alike."""
_PLAIN_SIGN = re.compile(r"^>(?=\S)|^[>+-](?=\s*\d)|(?<=\d)\.$")
"""Signs of a value that Markdown would read as a quote (> 50), a list item (- 5) or its number (1990.)."""


class CellState(StrEnum):
    """The result of a question about a row."""

    FOUND = "found"
    PASSAGE = "passage"
    """The value is the key sentence of the best passage. No model has read it, so it may be no answer."""
    NONE_CLOSE = "none_close"
    """The same, but no passage matches the question closely."""
    NOT_PROVEN = "partly"
    """The value does not have its column's type, or a quote is missing or not verified."""
    NOT_FOUND = "not_found"
    FAILED = "failed"

    @property
    def sign(self) -> str:
        """One character that shows the state without colour."""
        return _SIGNS[self]

    @property
    def label(self) -> str:
        """The state in words."""
        return self.name.lower().replace("_", " ")


_SIGNS = {
    CellState.FOUND: "✓",
    CellState.PASSAGE: "·",
    CellState.NONE_CLOSE: "–",
    CellState.NOT_PROVEN: "!",
    CellState.NOT_FOUND: "–",
    CellState.FAILED: "✗",
}


class Cell(Struct, frozen=True, kw_only=True):
    """The answer to one question about one row."""

    row: str
    """Source of the row."""
    column: str
    """Key of the column."""
    text_hash: str = field(name="content")
    """Digest of the text that the question was about. If the text changes, the question is asked again."""
    model: str
    # The next four are those of the `Exchange`, once the question is answered.
    server: str | None = None
    asked_at: str = ""
    content_hash: str = field(default="", name="digest")
    basis: AnswerBasis | None = field(default=None, name="reading")
    state: CellState
    value: str = ""
    note: str = ""
    """What is wrong with the value, in a few words."""
    citations: tuple[Citation, ...] = ()
    usage: Usage = Usage()

    @property
    def sign(self) -> str:
        """The sign of its state, or of a false quote if it has one."""
        is_false = any(
            citation.quote and citation.state is QuoteState.NOT_FOUND for citation in self.citations
        )
        return QuoteState.NOT_FOUND.sign if is_false else self.state.sign

    @property
    def has_passages(self) -> bool:
        """Whether its value is from a passage, because no model was asked. An `Exchange` has this too."""
        return self.model == OFFLINE

    @property
    def is_changed(self) -> bool:
        """Whether its document has lost one of its quotes."""
        return any(citation.is_lost for citation in self.citations)

    @property
    def text(self) -> str:
        """The value, or the state in words if there is none. The state also comes before a passage."""
        if self.has_passages and self.value:
            return f"{self.state.label}: {self.value}"
        return self.value or self.state.label

    @property
    def best_citation(self) -> Citation | None:
        """The first citation with a verified quote, else the first with a quote or a sentence, or None."""
        quotes = [
            each for each in self.citations if each.quote is not None or each.state is QuoteState.PASSAGE
        ]
        return next((citation for citation in quotes if citation.is_verified), quotes[0] if quotes else None)


def complete_cell(cell: Cell, exchange: Exchange, column: Column, coverage: Coverage) -> Cell:
    """Return `cell` with the value and the citations of an answer, and the state that follows from them.

    If there is no answer, the note says why, and names from `coverage` what was not read.
    """
    cell = replace(
        cell,
        server=exchange.server,
        asked_at=exchange.asked_at,
        content_hash=exchange.content_hash,
        basis=exchange.basis,
    )
    passages = exchange.passages
    if exchange.stopped in (StopReason.NEAREST, StopReason.NOT_FOUND) and not passages:
        reason, _, _ = exchange.answer.partition("\n\n")
        gaps = coverage.gaps if coverage.gaps not in reason else ""
        return replace(cell, state=CellState.NOT_FOUND, note=sanitise_line(f"{reason} {gaps}"))
    if exchange.error or not (passages or exchange.is_answered):
        return replace(cell, state=CellState.FAILED, note=exchange.error or "The question was stopped.")
    citations = passages[:1] or exchange.citations
    if passages:
        value = passages[0].key_sentence.shown or _read_on_one_line(passages[0].quote or "")
    else:
        value = _parse_value(exchange)
    if not value:
        return replace(cell, state=CellState.FAILED, note="The answer contains no value for this cell.")
    is_close = exchange.stopped is not StopReason.NONE_CLOSE
    state = CellState.PASSAGE if is_close else CellState.NONE_CLOSE
    return _judge(replace(cell, state=state, value=value, citations=citations), column)


def _judge(cell: Cell, column: Column) -> Cell:
    """Return a cell with the state and the note that follow from its value and its citations."""
    faults = [] if column.fits(cell.value) else [f"expected {column.type_description}"]
    quotes = [citation for citation in cell.citations if citation.quote is not None]
    if quotes:
        faults += [citation.label for citation in quotes if not citation.is_verified][:1]
    else:
        has_passage = any(citation.state is QuoteState.PASSAGE for citation in cell.citations)
        faults.append((QuoteState.PASSAGE if has_passage else QuoteState.NO_QUOTE).label)
    if cell.has_passages:
        return replace(cell, note=", ".join(["no model has read it", *faults]))
    state = CellState.NOT_PROVEN if faults else CellState.FOUND
    return replace(cell, state=state, note=", ".join(faults))


def recheck_cell(cell: Cell, column: Column, library: Library) -> Cell:
    """Look up the quotes of a cell again in the current text of its document, unless that is the same."""
    if cell.text_hash == library.files_hash:
        return cell
    citations = recheck_citations(cell.citations, start_conversation(library, OpenSectionOptions()))
    return cell if citations == cell.citations else _judge(replace(cell, citations=citations), column)


def _read_on_one_line(passage: str) -> str:
    """Return the sentences, items and rows of a passage on one line. A row has the heads of its columns."""
    units = [unit for unit in read_units(passage).units if unit.kind is not UnitKind.TABLE_HEADER]
    return sanitise_line(" · ".join(unit.as_row.text if unit.header_words else unit.words for unit in units))


def _parse_value(exchange: Exchange) -> str:
    """Return the first line of an answer that has words, as plain text without citation marks."""
    answer = exchange.answer
    cited = {citation.section_id for citation in exchange.citations}
    for mark in reversed(list_answer_marks(answer, exchange.citations, cited)):
        answer = answer[: mark.start].rstrip(" ") + answer[mark.end :]
    lines = (_PLAIN_SIGN.sub(r"\\\g<0>", line.strip()) for line in answer.splitlines())
    value = next(filter(None, map(read_visible_line, lines)), "")
    bare = value.removesuffix(".")
    if any(quoted.end - quoted.start == len(bare) for quoted in list_quoted(bare)):
        value = bare[1:-1]
    return strip_full_stop(value)
