"""Conversations and notes as Markdown."""

from __future__ import annotations

from roamtui.agent.recheck import ClaimStatus, LocatedNote
from roamtui.conversation.notes import Note
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.export.markdown import render_notes


def _make_citation(*titles: str, line: int, quote: str | None = None) -> Citation:
    state = QuoteState.EXACT if quote else QuoteState.NO_QUOTE
    path = ("Garden manual", *titles)
    return Citation(section_id="a8a96034", quote=quote, state=state, path=path, start_line=line, end_line=line)


def test_notes_have_their_places_quotes_and_comments() -> None:
    quoted = _make_citation("Tools", line=5, quote="A late spade costs 50 cents a day.")
    now = _make_citation("Tools", line=6, quote="A late spade costs 2 euros a day.")
    note = Note(id="1", at="", source="/docs/garden.md", citation=quoted, words="Dear!")
    shed = Note(id="2", at="", source="", citation=_make_citation("Tools", "Sheds", line=8), words="Ask *Anna*.")
    located = [
        LocatedNote(note=note, standing=ClaimStatus.CHANGED, now=now),
        LocatedNote(note=shed, standing=ClaimStatus.SAME),
    ]
    assert render_notes(located, "/docs/garden.md", "Garden manual") == (
        "# Notes: Garden manual\n\nSource: /docs/garden.md\n\n"
        "## Tools\n\n"
        "> A late spade costs 50 cents a day.\n>\n> — garden.md › Tools · line 6\n\n"
        "*(now reads “A late spade costs 2 euros a day.”)*\n\nDear!\n\n"
        "## Tools › Sheds\n\n— garden.md › Sheds · line 8\n\nAsk *Anna*.\n"
    )
