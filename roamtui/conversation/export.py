"""A saved conversation as Markdown or JSON, to be read elsewhere."""

from __future__ import annotations

from typing import Any

from roamtui.conversation.codec import SavedConversation, encode_exchange
from roamtui.conversation.narration import narrate_ending
from roamtui.conversation.transcript import Citation
from roamtui.document.plain import plain_line


def render_markdown(saved: SavedConversation, source: str) -> str:
    """Return a conversation as Markdown: questions as headings, answers, sources."""
    parts = [f"# {plain_line(saved.title) or 'Conversation'}", f"Source: {source}"]
    for exchange in saved.transcript.exchanges:
        parts.append(f"## {plain_line(exchange.question)}")
        if exchange.answer:
            parts.append(exchange.answer)
        parts += [f"*{piece.words}*" for piece in narrate_ending(exchange.ending)]
        sources = [
            f"- [{citation.section_id}] {' > '.join(map(plain_line, citation.path))}, "
            f"{citation.place} ({citation.state.value.replace('_', ' ')})"
            for citation in exchange.citations
        ]
        if sources:
            parts.append("\n".join(sources))
    return "\n\n".join(parts) + "\n"


def describe_conversation(saved: SavedConversation, source: str) -> dict[str, Any]:
    """Return a conversation as JSON values."""
    return {
        "id": saved.id,
        "source": source,
        "title": saved.title,
        "model": saved.model,
        "open": [section.section_id for section in saved.open],
        "exchanges": [
            {
                **encode_exchange(exchange),
                "citations": [describe_citation(citation) for citation in exchange.citations],
            }
            for exchange in saved.transcript.exchanges
        ],
    }


def describe_citation(citation: Citation) -> dict[str, Any]:
    """Return a citation as the command line's JSON has it."""
    return {
        "section_id": citation.section_id,
        "doc": citation.doc,
        "path": list(citation.path),
        "quote": citation.quote,
        "state": citation.state.value,
        "verified": citation.is_verified,
        "start_line": citation.start_line,
        "end_line": citation.end_line,
        **({"page": citation.page} if citation.page is not None else {}),
    }
