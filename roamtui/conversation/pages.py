"""Pages of links over the life of a conversation: which of them it needs again, and how they come back."""

from __future__ import annotations

from collections.abc import Iterator

from roamtui.conversation.state import ConversationState
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.loader import Loader, can_load, find_address


def list_needed_links(state: ConversationState) -> tuple[str, ...]:
    """Return the links whose pages hold what is open, read or cited, each after those that lead to it."""
    library = state.library
    cited = (one.section_id for exchange in state.transcript.exchanges for one in exchange.citations)
    reading = (state.reading,) if state.reading is not None else ()
    named = dict.fromkeys((*state.open_ids, *reading, *cited))
    known = (node_id for node_id in named if node_id in library)
    return tuple(dict.fromkeys(link for node_id in known for link in _list_links_to(library, node_id)))


def _list_links_to(library: Library, node_id: str) -> Iterator[str]:
    for one in (*library.ancestors(node_id), node_id):
        if find_address(library, one) and library.is_loaded(one):
            yield one


def open_links(library: Library, links: tuple[str, ...], loader: Loader, approved: frozenset[str]) -> Library:
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
        ready = tuple(link for link in pending if can_load(library, link))
        refused = {link for ids in loader.find_unapproved(library, ready, approved).values() for link in ids}
        ready = tuple(link for link in ready if link not in refused)
        if not ready:
            break
        library = library.graft_all(loader.load_batch(library, ready, approved).documents)
        pending = tuple(link for link in pending if link not in ready)
    return library


def carry_pages(before: Library, library: Library) -> Library:
    """Return the library of a document that was read again, with the pages that hung below its links before."""
    carried: dict[str, Document] = {}
    others = {link: before.grafts[host] for link, host in before.aliases.items()}
    for node_id, page in {**before.grafts, **others}.items():
        if find_address(before, node_id) and not page.problem:
            if node_id not in library:
                library = library.graft_all(carried) if carried else library
                carried = {}
            if can_load(library, node_id) and find_address(library, node_id) == find_address(before, node_id):
                carried[node_id] = page
    return library.graft_all(carried) if carried else library
