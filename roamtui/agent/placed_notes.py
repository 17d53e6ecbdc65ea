"""`PlacedNote`: a note over the document of today, where its section or words may stand elsewhere, changed or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial

from roamtui.agent.citations import cite
from roamtui.agent.recheck import Claim, Standing, recheck
from roamtui.conversation.loading import hash_sections
from roamtui.conversation.notes import Note, hash_place
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.document.plain import plain_line
from roamtui.document.text import normalise_line_ends

_STEP = " › "


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedNote:
    """A note, and what became of its place."""

    note: Note
    standing: Standing
    now: Citation | None = None
    """The place as it is today, None where there is none."""
    message: str = ""
    """Why it cannot be reached."""

    @property
    def citation(self) -> Citation:
        """The place of today, else the one that was kept."""
        return self.now or self.note.citation

    @property
    def news(self) -> str:
        """What a person should know of the place, a few words; empty where all is as it was."""
        what = "these words" if self.note.citation.quote is not None else "this section"
        match self.standing:
            case Standing.SAME:
                return ""
            case Standing.MOVED:
                before = name_path(self.note.citation, self.citation.path[0] if self.citation.path else "")
                return f"moved or renamed; it was {_STEP.join(before) or 'untitled'}"
            case Standing.CHANGED:
                is_quote = self.note.citation.quote is not None
                return (
                    f"now reads “{plain_line(self.citation.quote or '')}”" if is_quote else "its text has changed since"
                )
            case Standing.GONE:
                return f"{what} can no longer be found in the document"
            case Standing.UNREACHABLE:
                return self.message or "its file or page is not read yet"


def place_notes(notes: Iterable[Note], library: Library | None) -> tuple[PlacedNote, ...]:
    """Return notes in the order of the document of today, those without a place last; without a document as kept.

    Args:
        notes: Of one document.
        library: Its files should all be loaded.
    """
    if library is None:
        return tuple(PlacedNote(note=note, standing=Standing.SAME) for note in notes)
    find_by_hash = cache(partial(hash_sections, library))
    placed = [_place(note, library, find_by_hash) for note in notes]
    return tuple(sorted(placed, key=lambda one: _rank(one, library)))


def _place(note: Note, library: Library, find_by_hash: Callable[[], dict[str, str]]) -> PlacedNote:
    section_id, quote = note.citation.section_id, note.citation.quote
    is_here = section_id in library
    is_unread = any(link in library and not library.is_loaded(link) for link in note.links)
    if not is_here and (is_unread or library.list_unloaded()):
        return PlacedNote(note=note, standing=Standing.UNREACHABLE)
    if quote is not None:
        found = recheck(Claim(quote=quote, place="", section_id=section_id), library)
        now = None
        if found.span is not None:
            words = library.text_at(found.span) if found.standing is Standing.CHANGED else quote
            now = cite(found.section_id, words, QuoteState.EXACT, found.span, library)
        return PlacedNote(note=note, standing=found.standing, now=now, message=found.message)
    if is_here:
        today = hash_place(library, section_id)
        standing = Standing.CHANGED if today and note.content_hash not in ("", today) else Standing.SAME
    else:
        section_id = find_by_hash().get(note.content_hash, "")
        if not section_id and note.opening:
            section_id = recheck(Claim(quote=note.opening, place=""), library).section_id
        standing = Standing.MOVED if section_id else Standing.GONE
    return PlacedNote(note=note, standing=standing, now=cite_place(section_id, None, library) if section_id else None)


def cite_place(section_id: str, span: Span | None, library: Library) -> Citation:
    """Return the citation of a section, or of the very words of a span of it."""
    if span is None:
        return cite(section_id, None, QuoteState.NO_QUOTE, None, library)
    section_id = library.section_at(span.doc, span.start) or section_id
    return cite(section_id, library.text_at(span), QuoteState.EXACT, span, library)


def _rank(placed: PlacedNote, library: Library) -> tuple[bool, tuple[int, ...], int]:
    """Return what sorts notes by their places."""
    named = [*([placed.now.section_id] if placed.now else []), *reversed(placed.note.links)]
    section_id = next((one for one in named if one in library), None)
    if section_id is None:
        return True, (), 0
    rows = tuple(library.locate(one)[1] for one in (*library.ancestors(section_id), section_id))
    span = placed.now.span if placed.now else None
    return False, rows, span.start if span else 0


def render_notes(placed: Sequence[PlacedNote], source: str, title: str) -> str:
    """Return notes as Markdown: titles as headings, kept words as quotes with their place, then the person's own.

    Args:
        placed: In the order in which they are written.
        source: The path or the address of the document.
        title: Its title, which goes without saying above each section.
    """
    parts = [f"# Notes: {plain_line(title)}", f"Source: {source}"]
    before = None
    for one in placed:
        heading = _STEP.join(name_path(one.citation, title)) or "(untitled)"
        if heading != before:
            parts.append(f"## {heading}")
            before = heading
        place = f"— {describe_place(one.citation, source)}"
        if one.note.citation.quote is not None:
            lines = normalise_line_ends(one.note.citation.quote.strip("\r\n")).split("\n")
            place = "\n".join(f"> {line}".rstrip() for line in [*lines, "", place])
        parts.append(place)
        if one.news:
            parts.append(f"*({one.news})*")
        if one.note.words:
            parts.append(one.note.words)
    return "\n\n".join(parts) + "\n"


def name_path(citation: Citation, title: str) -> list[str]:
    """Return the titles down to a section, below its file where there are several, else without the document's own."""
    names = [plain_line(name) for name in citation.path]
    if len(names) > 1 and citation.path[0] == title:
        del names[0]
    is_of_file = citation.doc and "://" not in citation.doc and names != [plain_line(citation.doc)]
    return [plain_line(citation.doc), *names] if is_of_file else names


def describe_place(citation: Citation, source: str) -> str:
    """Return the file, section and page or line of a citation: ``handbook.md › Late fees · line 12``."""
    file = citation.doc or source
    file = plain_line(file if "://" in file else file.rpartition("/")[2])
    section = plain_line(citation.path[-1]) if citation.path else ""
    place = f"p. {citation.page}" if citation.page is not None else citation.place
    return f"{_STEP.join(dict.fromkeys(filter(None, [file, section])))} · {place}"
