"""Decides what a command opens, closes, pins or unfolds, without side effects."""

from collections.abc import Iterable, Mapping
from typing import assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.conversation.events import (
    AnswerChosen,
    CloseReason,
    NodesFolded,
    OpenedSection,
    OpenResult,
    OpenStatus,
    Origin,
    RecordedEvent,
    SectionsClosed,
    SectionsOpened,
)
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.document.document import NodeKind, hash_text
from roamtui.document.library import Library
from roamtui.outline.expansion import estimate_delivery_tokens, format_no_room, render_section
from roamtui.outline.ids import parse_reference
from roamtui.outline.labels import format_node_title
from roamtui.outline.missing_text import count_span_tokens
from roamtui.text import estimate_tokens

Events = tuple[RecordedEvent, ...]


class OpenSections(Struct, frozen=True, kw_only=True):
    """Open sections for the conversation, and unfold them in the tree."""

    section_ids: tuple[str, ...]
    """Ids as requested. The agent may also ask for parts (``id:2``) and ranges of children (``id:c2``)."""
    origin: Origin
    room_tokens: int | None = None
    """Maximum number of estimated tokens of section text to deliver, or None for no limit."""
    nearest: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Ids to suggest for each requested id or name that no section has."""


class CloseSections(Struct, frozen=True, kw_only=True):
    """Close sections now; while a question is running, mark them to be closed when it ends."""

    section_ids: tuple[str, ...]
    origin: Origin


class PinSections(Struct, frozen=True, kw_only=True):
    """Pin or unpin sections. Pinning a closed section opens it."""

    section_ids: tuple[str, ...]
    is_pinned: bool


class FoldNodes(Struct, frozen=True, kw_only=True):
    """Hide the children of nodes in the tree, or show them. Sections neither open nor close."""

    section_ids: tuple[str, ...]
    is_folded: bool = True


class ChooseAnswer(Struct, frozen=True, kw_only=True):
    """Choose the answer to question `number` that counts, by its index in `Exchange.answers`."""

    number: int
    index: int


Command = OpenSections | CloseSections | PinSections | FoldNodes | ChooseAnswer


class AskOptions(Struct, frozen=True, kw_only=True):
    """How a question is asked."""

    within: str | None = None
    """Id of the section that the question is about, or None for the whole document."""
    replaces: Exchange | None = None
    """The last exchange, which the question replaces and keeps as an earlier answer. If the conversation no
    longer has it, nothing is asked."""
    open_first: tuple[str, ...] = ()
    is_one_shot: bool = False
    """Whether `roamtui ask` or a table asks. Lists leave out conversations with only such questions."""


def list_nodes_to_load(library: Library, command: Command) -> tuple[str, ...]:
    """List the nodes that must be loaded before `update` can carry out a command.

    If several are unfolded at once, only files among them are loaded: there may be thousands of links.
    """
    named: Iterable[str] = ()
    match command:
        case OpenSections(section_ids=requested):
            references = map(parse_reference, requested)
            named = (reference.section_id for reference in references if reference is not None)
        case PinSections(section_ids=ids, is_pinned=True):
            named = ids
        case FoldNodes(section_ids=ids, is_folded=False) if len(ids) == 1:
            named = ids
        case FoldNodes(section_ids=ids, is_folded=False) if library.root.columns.is_listing:
            named = (node_id for node_id in ids if node_id in library and not library.node(node_id).link_url)
        case _:
            pass
    known = (node_id for node_id in dict.fromkeys(named) if node_id in library)
    return tuple(node_id for node_id in known if not library.node(node_id).is_loaded)


def update(state: ConversationState, command: Command) -> Events:  # noqa: PLR0911 - one case a command
    """Decide what a command of the agent or a person changes. The sections that it opens must be loaded."""
    match command:
        case OpenSections(origin=Origin.AGENT):
            return (open_for_agent(state, command),)
        case OpenSections(section_ids=requested):
            return (open_without_text(state, requested),)
        case CloseSections():
            return _close_requested(state, command)
        case PinSections():
            return _pin(state, command)
        case FoldNodes(section_ids=requested, is_folded=False):
            unfolding = _list_unfolding(state, (node_id for node_id in requested if node_id in state.library))
            return (NodesFolded(section_ids=unfolding, is_folded=False),) if unfolding else ()
        case FoldNodes(section_ids=requested):
            folding = tuple(node_id for node_id in requested if node_id in state.unfolded)
            return (NodesFolded(section_ids=folding, is_folded=True),) if folding else ()
        case ChooseAnswer(number=number, index=index):
            answers = state.exchanges[number - 1].answers if number <= len(state.exchanges) else ()
            is_possible = not state.is_asking and 0 <= index < len(answers)
            return (AnswerChosen(number=number, index=index),) if is_possible else ()
        case _:
            assert_never(command)


def open_for_agent(state: ConversationState, command: OpenSections) -> SectionsOpened:
    """Open sections for the agent: deliver their texts, and unfold them and their ancestors."""
    library = state.library
    number = len(state.exchanges)
    room = command.room_tokens
    delivered = state.collect_delivered()
    excerpts = state.collect_excerpts()
    results: list[OpenResult] = []
    sections: dict[str, OpenedSection] = {}
    shown: list[str] = []
    for requested in command.section_ids:
        block = render_section(
            library,
            requested,
            delivered=delivered,
            excerpts=excerpts,
            nonce=state.nonce,
            nearest=command.nearest.get(requested, ()),
            part_tokens=state.options.part_tokens,
        )
        section_id = block.section_id
        text = block.text
        cost = estimate_tokens(text) if block.spans or block.is_listing else 0  # hints cost nothing
        if block.is_failed:
            status = OpenStatus.FAILED
        elif section_id is None and not block.is_listing:
            status = OpenStatus.UNKNOWN
        elif room is not None and cost > room:
            status = OpenStatus.NO_ROOM
            text = format_no_room(library, section_id, requested, cost)
        else:
            status = OpenStatus.OPENED if cost else OpenStatus.ALREADY_OPEN
        new = block.tokens if status is OpenStatus.OPENED else 0
        result = OpenResult(id=requested, section_id=section_id, status=status, text=text, tokens=new)
        results.append(result)
        if status is OpenStatus.NO_ROOM:
            continue
        if section_id is not None and status.is_open:
            shown += (*library.node(section_id).ancestors, section_id)
        room = None if room is None else room - cost
        delivered |= block.spans
        if section_id is None or block.is_listing:
            continue
        section = sections.get(section_id) or state.open_sections.get(section_id)
        if section is not None or block.spans:
            section = section or OpenedSection(
                section_id=section_id,
                opened_by=Origin.AGENT,
                last_used=number,
                content_hash=hash_own_text(library, section_id),
            )
            tokens = section.tokens if section.deliveries else 0
            sections[section_id] = replace(
                section,
                deliveries=(*section.deliveries, *block.spans),
                tokens=tokens + count_span_tokens(library, block.spans),
                last_used=number,
                is_closing=False,
            )
    return SectionsOpened(
        results=tuple(results),
        origin=Origin.AGENT,
        sections=tuple(sections.values()),
        unfolded_ids=_list_unfolding(state, shown),
    )


def _list_unfolding(state: ConversationState, node_ids: Iterable[str]) -> tuple[str, ...]:
    """List the nodes, and title sections of files among them, that are folded and have children."""
    shown = add_file_titles(state.library, node_ids)
    folded = (node_id for node_id in shown if node_id not in state.unfolded)
    return tuple(node_id for node_id in folded if state.library.children(node_id))


def add_file_titles(library: Library, node_ids: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes, with the title section of each file after it.

    If only the file were unfolded, the tree would show only the title below it.
    """
    shown_ids: dict[str, None] = {}
    for node_id in node_ids:
        file = library.node(node_id).file if library.grafts else None
        title = () if file is None or file.title_row is None else (file.ids[file.title_row],)
        shown_ids |= dict.fromkeys((node_id, *title))
    return tuple(shown_ids)


def open_without_text(
    state: ConversationState, section_ids: Iterable[str], origin: Origin = Origin.PERSON
) -> SectionsOpened:
    """Open sections. The model gets their text with the next question."""
    library = state.library
    number = len(state.exchanges)
    results: list[OpenResult] = []
    sections: dict[str, OpenedSection] = {}
    for section_id in map(library.resolve_alias, section_ids):
        if section_id not in library:
            results.append(OpenResult(id=section_id, section_id=None, status=OpenStatus.UNKNOWN))
            continue
        node = library.node(section_id)
        already_open = state.open_sections.get(section_id)
        status = OpenStatus.FAILED
        text = ""
        if node.kind is NodeKind.FOLDER:
            text = f"{format_node_title(node)} is a folder: open the files in it."
        elif not node.is_loaded:
            text = node.problem or "It is not loaded."
        elif section_id in sections or (already_open is not None and not already_open.is_closing):
            status = OpenStatus.ALREADY_OPEN
        else:
            status = OpenStatus.OPENED
            section = already_open or OpenedSection(
                section_id=section_id,
                opened_by=origin,
                last_used=number,
                tokens=estimate_delivery_tokens(library, section_id, state.options.part_tokens),
                content_hash=hash_own_text(library, section_id),
            )
            sections[section_id] = replace(section, last_used=number, is_closing=False)
        results.append(OpenResult(id=section_id, section_id=section_id, status=status, text=text))
    shown: list[str] = []
    if origin is Origin.AGENT:
        for opened_id in sections:
            shown += (*library.node(opened_id).ancestors, opened_id)
    return SectionsOpened(
        results=tuple(results),
        origin=origin,
        sections=tuple(sections.values()),
        unfolded_ids=_list_unfolding(state, shown),
    )


def hash_own_text(library: Library, section_id: str) -> str:
    """Hash a section's own text without trailing blank lines, which depend on the section that follows."""
    return hash_text(library.text_at(library.node(section_id).own_content_span).rstrip())


def _pin(state: ConversationState, command: PinSections) -> Events:
    """Pin or unpin sections. Pinning opens the closed ones, or says why it cannot."""
    sections = {**state.open_sections}
    ids = tuple(map(state.library.resolve_alias, command.section_ids))
    results: list[OpenResult] = []
    if command.is_pinned:
        opened = open_without_text(state, ids)
        sections |= {section.section_id: section for section in opened.sections}
        results += (result for result in opened.results if result.id not in sections)
    pinned_ids = [pinned_id for pinned_id in ids if pinned_id in sections]
    changed = tuple(replace(sections[each], is_pinned=command.is_pinned) for each in pinned_ids)
    status = OpenStatus.PINNED if command.is_pinned else OpenStatus.UNPINNED
    results += (OpenResult(id=each, section_id=each, status=status) for each in pinned_ids)
    event = SectionsOpened(results=tuple(results), origin=Origin.PERSON, sections=changed)
    return (event,) if results else ()


def _close_requested(state: ConversationState, command: CloseSections) -> Events:
    """Close sections. The agent cannot close pinned sections or those cited in the last answer."""
    is_agent = command.origin is Origin.AGENT
    declined: list[tuple[str, str]] = []
    closing: list[str] = []
    for section_id in map(state.library.resolve_alias, command.section_ids):
        section = state.open_sections.get(section_id)
        if section is None:
            declined.append((section_id, "not open"))
        elif is_agent and section.is_pinned:
            declined.append((section_id, "pinned"))
        elif is_agent and section.last_cited and section.last_cited >= len(state.exchanges) - 1:
            declined.append((section_id, "cited in the last answer"))
        else:
            closing.append(section_id)
    closed = SectionsClosed(
        section_ids=tuple(section_id for section_id in state.open_sections if section_id in closing),
        origin=command.origin,
        reason=CloseReason.ASKED,
        is_pending=state.is_asking,
        kept=tuple(declined),
    )
    return (closed,) if closing or declined else ()


def make_close_events(
    section_ids: Iterable[str], reason: CloseReason, origin: Origin = Origin.AGENT
) -> Events:
    """Make the event that closes sections at once, or no event if there are none."""
    ids = tuple(section_ids)
    return (SectionsClosed(section_ids=ids, origin=origin, reason=reason),) if ids else ()
