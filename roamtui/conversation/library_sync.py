"""The document of a conversation: loads what of it is needed, and finds again in it what was open."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from roamtui.conversation.commands import (
    Approver,
    CloseAgentOpened,
    CloseSections,
    Command,
    ExpandSections,
    FoldNodes,
    Origin,
    OriginApprovalRequest,
    PinSections,
    ReadSection,
    Undo,
    UnfoldNodes,
)
from roamtui.conversation.events import (
    CloseReason,
    ConversationEvent,
    Delivery,
    DocumentIdentified,
    LoadingProgressed,
    NodesFolded,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    ReadingSectionChanged,
    SectionsClosed,
    SectionsDelivered,
    SectionsExpanded,
    SectionsRelocated,
    StepRecorded,
)
from roamtui.conversation.question_flow import finish_question
from roamtui.conversation.state import ConversationState, OpenSectionOptions, apply, apply_all, fold
from roamtui.conversation.transcript import OpenSection, StopReason
from roamtui.conversation.update import Update, estimate_delivery_tokens, hash_own_text
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.loader import LoadedBatch, Loader, format_refusal, get_link_url, is_loadable, make_error_document
from roamtui.document.node import Span
from roamtui.document.parallel import run_in_thread
from roamtui.errors import SourceError
from roamtui.outline.structure import resolve_reference
from roamtui.sources.file_sources import split_sources

_PROGRESS_SECONDS = 0.1
"""Between two looks at how far loading is."""
_ATTEMPTS = 3
"""A page may lead on to further origins, each asked about."""


def list_nodes_to_load(library: Library, command: Command) -> tuple[str, ...]:
    """Return the nodes that must be loaded before `update` can carry out a command.

    Of several nodes that are unfolded at once these are not the links: those may be thousands.
    """
    named: Iterable[str] = ()
    match command:
        case ExpandSections(section_ids=requested):
            references = (resolve_reference(library, text) for text in requested)
            named = (reference.section_id for reference in references if reference is not None)
        case PinSections(section_ids=ids, is_pinned=True):
            named = ids
        case UnfoldNodes(section_ids=ids):
            named = (i for i in ids if len(ids) == 1 or not (i in library and get_link_url(library, i)))
        case ReadSection(section_id=str(section_id)):
            named = (section_id,)
        case CloseSections() | PinSections() | FoldNodes() | ReadSection() | Undo() | CloseAgentOpened():
            pass
        case _:
            assert_never(command)
    return tuple(node_id for node_id in dict.fromkeys(named) if is_loadable(library, node_id))


def graft_documents(
    state: ConversationState, documents: Mapping[str, Document]
) -> tuple[ConversationState, NodesLoaded]:
    """Return the state with documents below its nodes, and the event that tells of them.

    What was loaded meanwhile stays. Where a document had to take other ids, because a new one has the older right to
    them, the state follows.
    """
    before = state.library
    new = {node_id: document for node_id, document in documents.items() if is_loadable(before, node_id)}
    library = before.graft_all(new)
    problems = tuple((node_id, document.problem) for node_id, document in new.items() if document.problem)
    pages = [document for node_id, document in new.items() if get_link_url(before, node_id)]
    notes = tuple(dict.fromkeys(note for page in pages for note in page.notes))
    moved: list[tuple[str, str]] = []
    for node_id, document in before.grafts.items():
        if library.grafts[node_id] is not document and library.grafts[node_id].columns is document.columns:
            moved += zip(document.ids, library.grafts[node_id].ids, strict=True)
    event = NodesLoaded(section_ids=tuple(new), problems=problems, notes=notes, moved=tuple(moved))
    return replace(apply(state, event), library=library), event


def load_linked_pages(library: Library, links: tuple[str, ...], loader: Loader, approved: frozenset[str]) -> Library:
    """Return a library in which links are opened, as far as they can be; nobody is asked.

    Args:
        library: What the source has.
        links: Each after those that lead to it. Those that the library does not have, as in a changed document, and
            those on origins that nobody approved are left.
        loader: Fetches their pages.
        approved: Origins that the person approved.
    """
    pending = links
    while pending:
        ready = tuple(link for link in pending if is_loadable(library, link))
        refused = {link for ids in loader.list_unapproved_origins(library, ready, approved).values() for link in ids}
        ready = tuple(link for link in ready if link not in refused)
        if not ready:
            break
        library = library.graft_all(loader.load_batch(library, ready, approved).documents)
        pending = tuple(link for link in pending if link not in ready)
    return library


def reuse_loaded_pages(before: Library, library: Library) -> Library:
    """Return the library of a document that was read again, with the pages that hung below its links before."""
    carried: dict[str, Document] = {}
    others = {link: before.grafts[host] for link, host in before.aliases.items()}
    for node_id, page in {**before.grafts, **others}.items():
        if get_link_url(before, node_id) and not page.problem:
            if node_id not in library:
                library = library.graft_all(carried) if carried else library
                carried = {}
            if is_loadable(library, node_id) and get_link_url(library, node_id) == get_link_url(before, node_id):
                carried[node_id] = page
    return library.graft_all(carried) if carried else library


async def load_nodes(
    loader: Loader,
    state: ConversationState,
    node_ids: tuple[str, ...],
    origin: Origin,
    approver: Approver,
    refused: dict[str, int],
) -> AsyncIterator[LoadingProgressed | tuple[dict[str, Document], frozenset[str]]]:
    """Load nodes, side by side where they are pages, and yield how far that is.

    Last come the document of each, which says why where it could not be had, and all origins that are approved now.

    Args:
        loader: Reads them.
        state: Before the command.
        node_ids: Files and links of its library.
        origin: Who wants them.
        approver: Asked for each origin that the person neither typed nor approved.
        refused: Number of the question at which each was refused last; the agent does not ask again during it.
    """
    library, number, approved = state.library, state.question_number, state.approved_origins
    documents: dict[str, Document] = {}
    pending = node_ids
    wanted = {**loader.list_unapproved_origins(library, node_ids, approved)}
    for _ in range(_ATTEMPTS):
        for one, ids in wanted.items():
            urls = tuple(get_link_url(library, node_id) for node_id in ids)
            may_ask = origin is Origin.PERSON or refused.get(one) != number
            approval = OriginApprovalRequest(host=one.partition("://")[2], origin=one, urls=urls)
            if may_ask and await approver(approval):
                approved |= {one}
                continue
            refused[one] = number
            refusals = (make_error_document(url, format_refusal(url, one)) for url in urls)
            documents |= zip(ids, refusals, strict=True)
            pending = tuple(node_id for node_id in pending if node_id not in ids)
        if not pending:
            break
        wanted = {}
        async for item in _load(loader, library, pending, approved):
            if isinstance(item, LoadingProgressed):
                yield item
                continue
            documents |= item.documents
            for node_id, one in item.refused_origins.items():
                wanted[one] = (*wanted.get(one, ()), node_id)
        pending = tuple(node_id for ids in wanted.values() for node_id in ids)
    yield {node_id: documents[node_id] for node_id in node_ids}, approved


async def _load(
    loader: Loader, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
) -> AsyncIterator[LoadingProgressed | LoadedBatch]:
    """Load nodes in a thread, and yield how far that is; the batch comes last."""
    are_pages = any(get_link_url(library, node_id) for node_id in node_ids)
    is_left = threading.Event()
    newest = 0, 0

    def report(done: int, bytes_received: int) -> None:
        nonlocal newest
        if is_left.is_set():
            raise SourceError("It was not waited for. Open it again.")
        newest = done, bytes_received

    loading = asyncio.wrap_future(run_in_thread(lambda: loader.load_batch(library, node_ids, approved, report)))
    total, told = len(node_ids), (-1, 0)
    try:
        while True:
            is_done = loading.done()
            if are_pages and newest != told:
                told = newest
                done = min(told[0], total)
                yield LoadingProgressed(done=done, total=total, bytes_received=told[1], are_pages=True)
            if is_done:
                break
            await asyncio.wait({loading}, timeout=_PROGRESS_SECONDS)
        batch = await loading
    finally:
        is_left.set()
        loading.cancel()
    yield batch


def resume_state(events: Iterable[ConversationEvent], library: Library, options: OpenSectionOptions) -> Update:
    """Return the state of a conversation over `library`, and what happens while it is taken up.

    A question in the middle of which the program ended is cancelled. In a changed document what was open is found by
    id, then by its own text; what is found nowhere is closed, and an event says so.
    """
    state = fold(library, events, options)
    ended: tuple[ConversationEvent, ...] = ()
    if state.is_asking:
        exchange = state.transcript.exchanges[-1]
        steps = exchange.outcome.steps
        outcome = QuestionAnswered(answer=exchange.answer, stopped=StopReason.CANCELLED, steps=steps, is_cut=True)
        state, ended = finish_question(state, outcome)
    state, matched = reload_state(state, library)
    return state, (*ended, *matched)


def reload_state(state: ConversationState, library: Library) -> Update:
    """Return the state over the document as it is now, between questions.

    Each open section is found again; its text is delivered anew before the next question where its file has changed.
    Excerpts from a file that has changed or is gone can no longer be quoted.
    """
    state = replace(state, library=library)
    is_as_it_was = state.content_hash == library.content_hash
    unchanged = _list_unchanged(state, is_as_it_was=is_as_it_was)
    delivered = {span.doc for section in state.open_sections for span in section.deliveries}
    shown = {span.doc for exchange in state.transcript.exchanges for span in exchange.list_excerpts()}
    named = (*state.open_ids, *(() if state.reading_id is None else (state.reading_id,)))
    is_same = is_as_it_was and delivered | shown <= unchanged
    if is_same and all(node_id in library for node_id in named):
        return state, ()
    ids_by_hash = hash_sections(library) if any(open_id not in library for open_id in state.open_ids) else {}
    found: dict[str, OpenSection] = {}
    lost: list[str] = []
    for section in state.open_sections:
        is_known = section.section_id in library
        if is_known and section.deliveries and all(span.doc in unchanged for span in section.deliveries):
            found[section.section_id] = section
            continue
        section_id = section.section_id if is_known else ids_by_hash.get(section.content_hash)
        if section_id is None:
            lost.append(section.section_id)
        else:
            found[section_id] = replace(
                section,
                section_id=section_id,
                deliveries=(),
                tokens=estimate_delivery_tokens(library, section_id),
                content_hash=hash_own_text(library, section_id),
            )
    events: list[ConversationEvent] = []
    if state.reading_id is not None and state.reading_id not in library:
        events.append(ReadingSectionChanged(section_id=None))
    if gone := tuple(sorted(node_id for node_id in state.unfolded if node_id not in library)):
        events.append(NodesFolded(section_ids=gone, origin=Origin.PERSON))
    events.append(SectionsRelocated(sections=tuple(found.values()), unchanged=tuple(sorted(shown & unchanged))))
    if lost:
        events.append(SectionsClosed(section_ids=tuple(lost), origin=Origin.PERSON, reason=CloseReason.GONE))
    return apply_all(state, events), tuple(events)


def _list_unchanged(state: ConversationState, *, is_as_it_was: bool) -> frozenset[str]:
    """Return the keys of the documents whose text is the one that the conversation knows.

    0.2 logged no digest of a file that only search showed. The digest of all files says as much, except about pages.
    """
    library = state.library
    known = {one.key for one in library.documents if state.documents.get(one.key) == one.content_hash}
    files = (page for node_id, page in library.grafts.items() if not get_link_url(library, node_id))
    return frozenset({*known, *(file.key for file in (library.root, *files) if is_as_it_was)})


def hash_sections(library: Library) -> dict[str, str]:
    """Return the first section with each text; takes a while in a large library."""
    return {hash_own_text(library, section_id): section_id for section_id in reversed([*library.walk()])}


def make_document_events(
    state: ConversationState, events: Iterable[ConversationEvent]
) -> tuple[DocumentIdentified, ...]:
    """Return what must be known to go on with a conversation later, where the state does not know it yet.

    Args:
        state: After the events.
        events: What happened: text that they deliver or show, and sections that they name, are to be found again.
    """
    library = state.library
    deliveries: list[Delivery] = []
    spans: list[Span] = []
    named: list[str] = []
    for event in events:
        match event:
            case SectionsExpanded(deliveries=new) | SectionsDelivered(deliveries=new):
                deliveries += new
                spans += (span for delivery in new for span in delivery.spans)
            case QuestionAsked(excerpts=excerpts):
                spans += excerpts
            case StepRecorded(step=step):
                spans += (span for use in step.uses for span in use.excerpts)
            case ReadingSectionChanged(section_id=str(section_id)):
                named.append(section_id)
            case QuestionAnswered(citations=citations):
                named += [citation.section_id for citation in citations]
            case SectionsRelocated(sections=sections):
                named += [section.section_id for section in sections]
            case _:
                pass
    keys = dict.fromkeys(span.doc for span in spans)
    hashes = {key: library.document(key).content_hash for key in keys}
    new_ids = [i for i in (*(one.section_id for one in deliveries), *named) if i in library and i not in state.links]
    links = {section_id: tuple(list_links_to(library, section_id)) for section_id in new_ids}
    read = DocumentIdentified(
        source=get_source_key(library),
        content_hash=library.content_hash,
        documents=tuple((key, digest) for key, digest in hashes.items() if state.documents.get(key) != digest),
        links=tuple((section_id, above) for section_id, above in links.items() if above),
    )
    is_known = read.source == state.source and read.content_hash == state.content_hash
    return () if is_known and not read.documents and not read.links else (read,)


def list_links_to(library: Library, node_id: str) -> Iterator[str]:
    """Yield the links that lead to a node, those above it and itself, whose pages are there."""
    for one in (*library.ancestors(node_id), node_id):
        if get_link_url(library, one) and library.is_loaded(one):
            yield one


def list_links_to_reload(state: ConversationState) -> tuple[str, ...]:
    """Return the links whose pages hold what is open, read or cited, each after those that lead to it."""
    cited = (one.section_id for exchange in state.transcript.exchanges for one in exchange.citations)
    named = ("", *state.open_ids, *(() if state.reading_id is None else (state.reading_id,)), *cited)
    return tuple(dict.fromkeys(link for node_id in named for link in state.links.get(node_id, ())))


def get_source_key(library: Library) -> str:
    """Return what conversations of one source have in common: its name, or its content where it came by a pipe."""
    name = f"-{library.root.content_hash}" if library.source == "-" else library.source
    return name.encode("utf-8", "backslashreplace").decode("utf-8")  # a file's name may hold bytes that are no UTF-8


def is_source_missing(source: str) -> bool:
    """Return whether none of the files and folders that a source names is there any more."""
    is_file = "://" not in source and not source.startswith("-")
    return is_file and not any(map(os.path.lexists, split_sources(source)))
