"""Find a person's notes in the current version of their document."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.notes import Note
from roamtui.document.library import Library, normalise_name
from roamtui.markdown.units import read_visible_line
from roamtui.outline.labels import PATH_STEP, make_path
from roamtui.quotes.claims import Claim
from roamtui.quotes.current_text import ClaimStatus, recheck
from roamtui.quotes.verdicts import make_citation
from roamtui.quotes.wording import list_path_titles
from roamtui.text import Span


class LocatedNote(Struct, frozen=True, kw_only=True):
    """A note with its place in the current document: the section, and the words of a quote."""

    note: Note
    status: ClaimStatus
    new_citation: Citation | None = None
    """A citation of the place in the current document, or None if the place is gone or cannot be reached."""
    message: str = ""
    """Why the place cannot be reached."""

    @property
    def current_citation(self) -> Citation:
        """The citation of the current place, or else the original one."""
        return self.new_citation or self.note.citation

    @property
    def change_label(self) -> str:
        """What has changed at the place, in a few words for a person; empty if nothing has."""
        is_quote = self.note.citation.quote is not None
        match self.status:
            case ClaimStatus.UNCHANGED | ClaimStatus.SENTENCE_CHANGED:  # notes keep no sentence
                return ""
            case ClaimStatus.MOVED | ClaimStatus.ELSEWHERE:
                path = self.current_citation.path
                before = list_path_titles(self.note.citation, path[0] if path else "")
                return f"moved or renamed: it was {PATH_STEP.join(before) or 'untitled'}"
            case ClaimStatus.CHANGED:
                words = read_visible_line(self.current_citation.quote or "")
                return f"now reads “{words}”" if is_quote else "its text has changed since"
            case ClaimStatus.GONE | ClaimStatus.NOT_FOUND:
                if is_quote:
                    return "these words are no longer in the document"
                return "this section is no longer in the document"
            case ClaimStatus.UNREACHABLE:
                return self.message or "its file or page is not loaded yet"


def locate_notes(notes: Iterable[Note], library: Library | None) -> tuple[LocatedNote, ...]:
    """Locate the notes of one document in its current version.

    Returns:
        The notes in the order of the document, those without a place last. Without a library, the original
        order.
    """
    if library is None:
        return tuple(LocatedNote(note=note, status=ClaimStatus.UNCHANGED) for note in notes)
    order = {section_id: number for number, section_id in enumerate(library.walk())}

    def get_position(located: LocatedNote) -> tuple[int, int]:
        citation = located.new_citation
        if citation is None:
            return len(order), 0
        offset = 0 if citation.span is None else citation.span.start
        return order.get(citation.section_id, len(order)), offset

    return tuple(sorted((_locate_note(note, library) for note in notes), key=get_position))


def _locate_note(note: Note, library: Library) -> LocatedNote:
    """Locate the quote of a note, or the opening words of its section."""
    section_id = _find_section_id(note, library)
    quote = note.citation.quote
    is_unread = any(link in library and not library.node(link).is_loaded for link in note.links)
    # the section may be in a file or page that is not loaded
    if section_id not in library and (is_unread or library.pending_ids):
        return LocatedNote(note=note, status=ClaimStatus.UNREACHABLE)
    words = quote or note.opening
    if not words:
        status = ClaimStatus.UNCHANGED if section_id in library else ClaimStatus.GONE
        citation = make_citation(section_id, library) if section_id in library else None
        return LocatedNote(note=note, status=status, new_citation=citation)
    finding = recheck(Claim(quote=words, place="", section_id=section_id), library)
    new_citation = None
    if finding.span is not None and quote is None:
        new_citation = make_citation(finding.section_id, library)
    elif finding.span is not None:
        is_changed = finding.status is ClaimStatus.CHANGED
        new_words = library.text_at(finding.span) if is_changed else quote
        new_citation = make_citation(
            finding.section_id, library, quote=new_words, state=QuoteState.EXACT, span=finding.span
        )
        new_citation = replace(new_citation, surroundings=finding.surroundings)
    return LocatedNote(note=note, status=finding.status, new_citation=new_citation, message=finding.message)


def _find_section_id(note: Note, library: Library) -> str:
    """Return the id of a noted section. It differs if the file was opened alone before, or with others."""
    section_id = note.citation.section_id
    path = note.citation.path
    if section_id in library or note.source_key == get_source_key(library) or not path:
        return section_id
    named = library.ids_by_name.get(normalise_name(path[-1]), ())
    return next((named_id for named_id in named if make_path(library.node(named_id)) == path), section_id)


def make_span_citation(section_id: str, span: Span | None, library: Library) -> Citation:
    """Make a citation of a section, or of the text of a span in it."""
    if span is None:
        return make_citation(section_id, library)
    section_id = library.find_node_at(span.doc, span.start) or section_id
    return make_citation(section_id, library, quote=library.text_at(span), state=QuoteState.EXACT, span=span)
