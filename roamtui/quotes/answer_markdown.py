"""Parse an answer into Markdown blocks, in which its quotes are groups of words and its marks are links."""

from __future__ import annotations

from roamtui.document.plain import sanitise_text
from roamtui.markdown.blocks import Markdown
from roamtui.markdown.parser import read_markdown
from roamtui.markdown.rules import InlineSpans
from roamtui.quotes.verdicts import AnswerProof


def read_answer_markdown(answer: str, proof: AnswerProof) -> Markdown:
    """Parse an answer with its quotes and marks.

    Returns:
        The blocks and links of the answer. `Words.group` is the index of a quote. The labels of marks are links with
        `is_reference_mark`. Their URL is the index of the mark.
    """
    text = sanitise_text(answer)

    def convert(offset: int) -> int:
        """Return an offset in the text that is parsed."""
        return offset if text is answer else len(sanitise_text(answer[:offset]))

    quotes = [(convert(quote.start), convert(quote.end)) for quote in proof.quotes]
    marks = [(convert(mark.start), convert(mark.end), mark.label) for mark in proof.marks]
    return read_markdown(text, spans=InlineSpans(text, quotes, marks), has_footnotes=False)
