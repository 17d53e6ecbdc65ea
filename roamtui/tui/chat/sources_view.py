"""The sources under an answer: each cited section with where its quotes stand, and whether they do."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby

from textual.content import Content
from typing_extensions import override

from roamtui.agent.answer import describe_proof
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.plain import plain_line, shorten
from roamtui.tui.chat.answer_view import Numbering
from roamtui.tui.chat.content_view import ContentView, SectionTarget, Target, link_target, wrap

_QUOTE_LENGTH = 140
_LINK = re.compile(r"!?\[([^\[\]\n]+)\]\([^()\s]*\)")
"""A link of Markdown; in a quote its words are enough, as in the answer."""
_INDENT = 3
_FOUND = ("✓", "$success")
_VERDICTS = {
    QuoteState.EXACT: _FOUND,
    QuoteState.NORMALISED: _FOUND,
    QuoteState.MISATTRIBUTED: ("!", "$warning"),
    QuoteState.UNVERIFIED: ("✗", "$error"),
    QuoteState.NO_QUOTE: ("·", "$muted"),
}
"""Sign and colour of each state; what was found needs no words."""

NameSource = Callable[[Citation], str]
"""Returns the file of a citation, where there are several, and its section, or says that there is none."""


class SourcesView(ContentView):
    """Lists the cited sections, in the order of their numbers in the answer: a line for each, with all its places."""

    DEFAULT_CSS = """
    SourcesView { padding: 0 1; margin-top: 1; }
    """

    def __init__(self, name: NameSource) -> None:
        super().__init__()
        self._name_source = name
        self._citations: list[Citation] = []
        self._numbering = Numbering()
        self._answer = ""
        self._are_passages = False

    def show_citations(
        self, citations: tuple[Citation, ...], numbering: Numbering, answer: str, *, are_passages: bool = False
    ) -> None:
        """Show citations under the numbers that they have in the answer.

        Args:
            citations: Of the answer.
            numbering: Of the answer's marks.
            answer: What stands there already need not be said again.
            are_passages: Whether rules picked them, which know no answer: none of them is shown as a good one.
        """
        self._numbering = numbering
        self._answer = show_words(answer)
        self._are_passages = are_passages
        self._citations = sorted(citations, key=lambda citation: numbering.number_of(citation.section_id))
        self.change()

    @property
    @override
    def targets(self) -> tuple[Target, ...]:
        return tuple(SectionTarget(citation.section_id, citation) for citation in self._citations)

    @override
    def lay_out(self, width: int) -> Content:
        heading = Content.styled("Passages" if self._are_passages else "Sources", "bold $muted")
        lines = [heading + self._lay_out_proof()]
        for section_id, group in groupby(enumerate(self._citations), key=lambda pair: pair[1].section_id):
            number = Content.styled(f"{self._numbering.number_of(section_id):>2} ", "bold $accent")
            lines += wrap(self._lay_out_source(list(group)), width, lead=number, follow=" " * _INDENT)
        return Content("\n").join(lines)

    def _lay_out_source(self, group: list[tuple[int, Citation]]) -> Content:
        """Return a section and each place in it, with what became of its quote; all of them can be jumped to."""
        source, before = Content(), ""
        for index, citation in group:
            place = _describe_place(citation)
            sign, style = _VERDICTS[citation.state]
            words = sign if citation.is_verified else f"{sign} {citation.state.words.removeprefix('quote ')}"
            parts = [] if source else [Content.styled(self._name_source(citation), "bold")]
            if place and place != before:
                parts.append(Content.styled(place, "$muted"))
            piece = Content.styled(" · ", "$muted").join(parts)
            piece += Content.styled(f" {words}" if parts else words, self._temper(style))
            quote = show_words(citation.quote or "")
            if quote not in self._answer or (len(group) > 1 and quote and not citation.is_verified):
                piece += Content.styled(f" “{shorten(quote, _QUOTE_LENGTH)}”", "italic")
            gap = Content.styled(" · " if parts else " ", "$muted") if source else Content()
            source += gap + link_target(piece, index, is_selected=index == self.selected)
            before = place
        return source

    def _lay_out_proof(self) -> Content:
        is_all = all(citation.is_verified for citation in self._citations if citation.quote is not None)
        proof = describe_proof(tuple(self._citations))
        return Content.styled(f"  {proof}" if proof else "", self._temper("$success" if is_all else "$warning"))

    def _temper(self, style: str) -> str:
        """Return a style without the praise that a passage does not earn by standing in the text."""
        return "$muted" if self._are_passages and style == "$success" else style


def show_words(text: str) -> str:
    """Return text on one line, of its links the words alone."""
    return _LINK.sub(r"\1", plain_line(text))


def _describe_place(citation: Citation) -> str:
    """Return the page or the lines of a citation; nothing where its words do not stand there."""
    if not citation.start_line or citation.state in (QuoteState.MISATTRIBUTED, QuoteState.UNVERIFIED):
        return ""
    return citation.place if citation.page is None else f"p. {citation.page}"
