"""The sources under an answer: each citation with its section, its quote, and whether the quote stands there."""

from __future__ import annotations

import re
from collections.abc import Callable

from textual.content import Content
from typing_extensions import override

from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.plain import plain_line, shorten
from roamtui.tui.chat.content_view import ContentView
from roamtui.tui.chat.marks import Numbering
from roamtui.tui.chat.targets import SectionTarget, Target, link_target
from roamtui.tui.chat.wrapping import wrap

_QUOTE_LENGTH = 140
_LINK = re.compile(r"!?\[([^\[\]\n]+)\]\([^()\s]*\)")
"""A link of Markdown; in a quote its words are enough, as in the answer."""
_INDENT = 3
_VERDICT_GAP = "  "
_VERDICTS = {
    QuoteState.EXACT: ("✓ exact", "$success"),
    QuoteState.NORMALISED: ("✓ normalised", "$success"),
    QuoteState.MISATTRIBUTED: ("! misattributed", "$warning"),
    QuoteState.UNVERIFIED: ("✗ unverified", "$error"),
    QuoteState.NO_QUOTE: ("· no quote", "$muted"),
}
"""Sign, name and colour of each state: the sign says it without colour."""

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

    def show_citations(self, citations: tuple[Citation, ...], numbering: Numbering) -> None:
        """Show citations under the numbers that they have in the answer."""
        self._numbering = numbering
        self._citations = sorted(citations, key=lambda citation: numbering.number_of(citation.section_id))
        self.change()

    @property
    @override
    def targets(self) -> tuple[Target, ...]:
        return tuple(SectionTarget(citation.section_id, citation) for citation in self._citations)

    @override
    def lay_out(self, width: int) -> Content:
        lines = [Content.styled("Sources", "bold $muted") + describe_proof(self._citations)]
        for index, citation in enumerate(self._citations):
            number = self._numbering.number_of(citation.section_id)
            lead = Content.styled(f"{number:>2} ", "bold $accent")
            rows = _lay_out_citation(citation, self._name_section(citation.section_id), width - _INDENT)
            for row in rows:
                lines.append(lead + link_target(row, index, is_selected=index == self.selected))
                lead = Content(" " * _INDENT)
        return Content("\n").join(lines)


def _lay_out_citation(citation: Citation, title: str, width: int) -> list[Content]:
    """Return title, quote and verdict in lines; the verdict is never broken."""
    parts = [Content.styled(title, "bold")]
    if citation.page is not None:
        parts.append(Content.styled(f"p. {citation.page}", "$muted"))
    if citation.quote:
        quote = shorten(_LINK.sub(r"\1", plain_line(citation.quote)), _QUOTE_LENGTH)
        parts.append(Content.styled(f"“{quote}”", "italic"))
    lines = wrap(Content.styled(" · ", "$muted").join(parts), width)
    verdict = Content.styled(*_VERDICTS[citation.state])
    if lines[-1].cell_length + len(_VERDICT_GAP) + verdict.cell_length <= width:
        lines[-1] = lines[-1] + _VERDICT_GAP + verdict
    else:
        lines.append(verdict)
    return lines


def describe_proof(citations: list[Citation]) -> Content:
    """Return how many quotes were verified, empty where there are none."""
    quotes = [citation for citation in citations if citation.quote]
    if not quotes:
        return Content()
    verified = sum(citation.is_verified for citation in quotes)
    style = "$success" if verified == len(quotes) else "$warning"
    word = "quote" if len(quotes) == 1 else "quotes"
    return Content.styled(f"  {verified}/{len(quotes)} {word} verified", style)
