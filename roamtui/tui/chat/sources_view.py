"""The sources under an answer: each citation with its section, its quote, and whether the quote stands there."""

from __future__ import annotations

import re
from collections.abc import Callable

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
_VERDICT_GAP = "  "
_VERDICTS = {
    QuoteState.EXACT: ("✓ in the text", "$success"),
    QuoteState.NORMALISED: ("✓ in the text", "$success"),
    QuoteState.MISATTRIBUTED: ("! in another section", "$warning"),
    QuoteState.UNVERIFIED: ("✗ not in the text", "$error"),
    QuoteState.NO_QUOTE: ("· no quote", "$muted"),
}
"""Sign, words and colour of each state: the sign says it without colour."""

NameSection = Callable[[str], str]
"""Returns the title of a section, or says that there is none."""


class SourcesView(ContentView):
    """Lists citations, in the order of their numbers in the answer."""

    DEFAULT_CSS = """
    SourcesView { padding: 0 1; margin-top: 1; }
    """

    def __init__(self, name: NameSection) -> None:
        super().__init__()
        self._name_section = name
        self._citations: list[Citation] = []
        self._numbering = Numbering()
        self._are_passages = False

    def show_citations(
        self, citations: tuple[Citation, ...], numbering: Numbering, *, are_passages: bool = False
    ) -> None:
        """Show citations under the numbers that they have in the answer.

        Args:
            citations: Of the answer.
            numbering: Of the answer's marks.
            are_passages: Whether rules picked them, which know no answer: none of them is shown as a good one.
        """
        self._numbering = numbering
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
        for index, citation in enumerate(self._citations):
            number = self._numbering.number_of(citation.section_id)
            lead = Content.styled(f"{number:>2} ", "bold $accent")
            rows = self._lay_out_citation(citation, width - _INDENT)
            for row in rows:
                lines.append(lead + link_target(row, index, is_selected=index == self.selected))
                lead = Content(" " * _INDENT)
        return Content("\n").join(lines)

    def _lay_out_citation(self, citation: Citation, width: int) -> list[Content]:
        """Return title, quote and verdict in lines; the verdict is never broken."""
        parts = [Content.styled(self._name_section(citation.section_id), "bold")]
        if citation.page is not None:
            parts.append(Content.styled(f"p. {citation.page}", "$muted"))
        if citation.quote:
            quote = shorten(_LINK.sub(r"\1", plain_line(citation.quote)), _QUOTE_LENGTH)
            parts.append(Content.styled(f"“{quote}”", "italic"))
        lines = wrap(Content.styled(" · ", "$muted").join(parts), width)
        words, style = _VERDICTS[citation.state]
        verdict = Content.styled(words, self._temper(style))
        if lines[-1].cell_length + len(_VERDICT_GAP) + verdict.cell_length <= width:
            lines[-1] = lines[-1] + _VERDICT_GAP + verdict
        else:
            lines.append(verdict)
        return lines

    def _lay_out_proof(self) -> Content:
        is_all = all(citation.is_verified for citation in self._citations if citation.quote is not None)
        proof = describe_proof(tuple(self._citations))
        return Content.styled(f"  {proof}" if proof else "", self._temper("$success" if is_all else "$warning"))

    def _temper(self, style: str) -> str:
        """Return a style without the praise that a passage does not earn by standing in the text."""
        return "$muted" if self._are_passages and style == "$success" else style
