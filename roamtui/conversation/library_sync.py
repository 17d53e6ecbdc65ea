"""Finds open sections again in a changed document, and continues saved conversations."""

import os

from msgspec.structs import replace

from roamtui.conversation.events import (
    CloseReason,
    DocumentIdentified,
    DocumentReloaded,
    OpenedSection,
    Origin,
)
from roamtui.conversation.question_flow import finish_question
from roamtui.conversation.state import ConversationState, fold_events
from roamtui.conversation.update import Events, FoldNodes, hash_own_text, make_close_events, update
from roamtui.document.document import hash_text
from roamtui.document.library import LISTING_KEY, Library
from roamtui.outline.expansion import estimate_delivery_tokens
from roamtui.paths import format_file_path, is_standard_input
from roamtui.sanitiser import sanitise_line
from roamtui.sources.source_names import expand_sources, join_sources, split_sources

NOT_KEPT = "The document came from standard input, and was not kept."


def resume_state(saved: ConversationState, library: Library) -> tuple[ConversationState, Events]:
    """Continue a saved conversation with the current library. Return its state and the events that led there.

    A question that had not ended counts as cancelled.
    """
    state = replace(saved, library=library)
    ended = finish_question(state, state.exchanges[-1].cancellation) if state.is_asking else ()
    state = fold_events(state, *ended)
    matched = reload_state(state, library) if state.content_hash != hash_loaded(library) else ()
    state = fold_events(state, *matched)
    identified = identify_document(state)  # else a change back to the saved text would not be noticed
    return fold_events(state, *identified), (*ended, *matched, *identified)


def reload_state(state: ConversationState, library: Library) -> Events:
    """Find the open sections in a new version of the document. No question may be running.

    A section is looked up by its id, then by its own text. If neither finds it, it closes. The model
    gets the text of open sections again with the next question.
    """
    is_lost = any(open_id not in library for open_id in state.open_sections)
    walked = reversed([*library.walk()]) if is_lost else ()  # of equal sections, the first one counts
    ids_by_hash = {hash_own_text(library, section_id): section_id for section_id in walked}
    relocated: dict[str, OpenedSection] = {}
    lost: list[str] = []
    for open_id, section in state.open_sections.items():
        section_id = open_id if open_id in library else ids_by_hash.get(section.content_hash)
        if section_id is None:
            lost.append(open_id)
        else:
            relocated[section_id] = replace(
                section,
                section_id=section_id,
                deliveries=(),
                tokens=estimate_delivery_tokens(library, section_id, state.options.part_tokens),
                content_hash=hash_own_text(library, section_id),
            )
    nodes = filter(None, {*state.unfolded, state.reading_id})
    gone = sorted(node_id for node_id in nodes if node_id not in library)
    events: Events = (DocumentReloaded(sections=tuple(relocated.values()), gone_ids=tuple(gone)),)
    # the document, which was the only one, is now below a row of its own
    if library.root.key == LISTING_KEY != state.library.root.key:
        unfold = FoldNodes(section_ids=library.root.ids[:1], is_folded=False)
        events = (*events, *update(replace(state, library=library), unfold))
    return (*events, *make_close_events(lost, CloseReason.GONE, Origin.PERSON))


def identify_document(state: ConversationState) -> Events:
    """Record the document and all that is loaded of it, unless the state says the same already."""
    library = state.library
    source = get_source_key(library)
    content_hash = hash_loaded(library)
    if (state.source, state.content_hash, state.sources) == (source, content_hash, library.sources):
        return ()
    return (DocumentIdentified(source=source, content_hash=content_hash, sources=library.sources),)


def hash_loaded(library: Library) -> str:
    """Return the digest of all loaded documents, linked pages too."""
    loaded = (document for document in library.documents if not document.problem)
    return hash_text("\n".join(sorted(f"{document.key}\x1f{document.content_hash}" for document in loaded)))


def get_source_key(library: Library) -> str:
    """Return the key that conversations about a source share: its name, or a digest if it was piped in."""
    return f"-{library.root.content_hash}" if is_standard_input(library.source) else library.source


def explain_missing(source: str, advice: str = "add --in SOURCE") -> str:
    """Say that the document of a conversation is gone, and what to do if it is in another place."""
    problem = NOT_KEPT if is_standard_input(source) else format_missing(source)
    pronoun = "them" if len(list_missing(source)) > 1 else "it"
    return f"{problem} If you have {pronoun} in another place, {advice}."


def format_missing(source: str) -> str:
    """Say which documents of a conversation are gone."""
    missing = list_missing(source)
    names = sanitise_line(", ".join(map(format_file_path, missing))) or "of this conversation"
    subject, verb = ("documents", "are") if len(missing) > 1 else ("document", "is")
    return f"The {subject} {names} {verb} no longer there."


def list_missing(source: str) -> list[str]:
    """List the files and folders of a source that are gone."""
    return [path for path in split_sources(source) if not os.path.lexists(path)]


def replace_missing(source: str, places: str) -> str:
    """Return a source with the places that a person typed in place of what is gone."""
    new = expand_sources(places)
    kept = [path for path in split_sources(source) if os.path.lexists(path)]
    return join_sources([*kept, *map(os.path.abspath, split_sources(new))]) if kept else new


def is_source_missing(source: str) -> bool:
    """Return whether a file or folder of a source is gone. Standard input always is, a URL never."""
    return "://" not in source and bool(list_missing(source))
