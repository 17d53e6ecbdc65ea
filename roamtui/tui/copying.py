"""Text on its way to the clipboard."""

from __future__ import annotations

from textual.message import Message

from roamtui.conversation.transcript import Citation


class CopyWanted(Message):
    """A person wants text in the clipboard."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text = text
        self.what = what
        """In our own words, such as `the answer`."""


def write_answer(answer: str, citations: tuple[Citation, ...]) -> str:
    """Return an answer with its sources as Markdown, for use elsewhere."""
    if not citations:
        return answer.strip() + "\n"
    lines = [answer.strip(), "", "Sources:", ""]
    for citation in citations:
        place = " > ".join(citation.path) or "unknown section"
        lines_told = f", {citation.place}" if citation.start_line else ""
        quote = f': "{citation.quote}" ({citation.state})' if citation.quote else ""
        lines.append(f"- [{citation.section_id}] {place}{lines_told}{quote}")
    return "\n".join(lines) + "\n"
