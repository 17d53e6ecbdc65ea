"""Conversations and notes as Markdown.

`roamtui.agent.recheck` reads the lines with sources again, so their form is fixed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from roamtui.agent.recheck import LocatedNote, list_path_titles
from roamtui.conversation.notices import make_outcome_notices
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation
from roamtui.document.plain import sanitise_line
from roamtui.document.text import normalise_line_ends

_NEXT_ITEM = re.compile(r"(?<!\s)\s*\n[ \t]*(?=[-*+>#]|\d+[.)])")
_PATH_STEP = " › "


def render_markdown(saved: ConversationState, source: str) -> str:
    """Render a conversation with its questions as headings, each with its answer and the sources of its quotes."""
    parts = [f"# {sanitise_line(saved.title) or 'Conversation'}", f"Source: {source}"]
    for exchange in saved.transcript.exchanges:
        parts.append(f"## {sanitise_line(exchange.question)}")
        if exchange.answer:
            parts.append(exchange.answer)
        parts += [f"*{notice.text}*" for notice in make_outcome_notices(exchange.outcome)]
        if exchange.citations:
            parts.append("\n".join(map(_format_source_line, exchange.citations)))
    return "\n\n".join(parts) + "\n"


def _format_source_line(citation: Citation) -> str:
    # A quote that spans several list items or table rows becomes one line with an ellipsis between them.
    titles = () if citation.doc == "/".join(citation.path) else citation.path  # a file's path is its key
    path = " > ".join(map(sanitise_line, (*filter(None, [citation.doc]), *titles)))
    quote = f': "{sanitise_line(_NEXT_ITEM.sub(" … ", citation.quote))}"' if citation.quote else ""
    return f"- [{citation.section_id}] {path}, {citation.place} ({citation.state.label}){quote}"


def render_notes(notes: Sequence[LocatedNote], source: str, title: str) -> str:
    """Render notes in the given order: titles as headings, quotes with their places, then the person's comments.

    Args:
        notes: The notes on one document.
        source: Path or URL of the document.
        title: Title of the document, which headings leave out.
    """
    parts = [f"# Notes: {sanitise_line(title)}", f"Source: {source}"]
    last_heading = None
    for located in notes:
        citation = located.current_citation
        heading = _PATH_STEP.join(list_path_titles(citation, title)) or "(untitled)"
        if heading != last_heading:
            parts.append(f"## {heading}")
            last_heading = heading
        location = f"— {format_location(citation, source)}"
        if located.note.citation.quote is not None:
            lines = normalise_line_ends(located.note.citation.quote.strip("\r\n")).split("\n")
            location = "\n".join(f"> {line}".rstrip() for line in [*lines, "", location])
        parts.append(location)
        if located.change_note:
            parts.append(f"*({located.change_note})*")
        if located.note.words:
            parts.append(located.note.words)
    return "\n\n".join(parts) + "\n"


def format_location(citation: Citation, source: str) -> str:
    """Format the file, section and page or line of a citation: ``handbook.md › Late fees · line 12``."""
    file = citation.doc or source
    file = sanitise_line(file if "://" in file else PurePath(file).name)
    section = sanitise_line(citation.path[-1]) if citation.path else ""
    position = f"p. {citation.page}" if citation.page is not None else citation.place
    return f"{_PATH_STEP.join(dict.fromkeys(filter(None, [file, section])))} · {position}"
