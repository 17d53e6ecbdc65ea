"""Loads the files and pages that a conversation needs, from origins that a person allows."""

from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct

from roamtui.conversation.events import NodesLoaded
from roamtui.conversation.state import ConversationState
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.opening.loader import Loader
from roamtui.parallel import call_in_thread
from roamtui.text import shorten

_URL_LENGTH_MAX = 70


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """Asks a person to allow a request that costs much, or pages from an origin that they did not type."""

    question: str
    detail: str
    """Neither `question` nor `detail` is sanitised."""
    yes: str
    """The label of the answer that allows it."""


Approver = Callable[[ApprovalRequest], Awaitable[bool]]
"""A function that asks a person, if there is one, and returns whether the request is approved."""


async def deny(_approval: ApprovalRequest) -> bool:
    """Return False for every request; for front ends that cannot ask a person."""
    return False


def make_fetch_request(web_origin: str, urls: tuple[str, ...]) -> ApprovalRequest:
    """Ask to allow pages from a web origin."""
    question = f"Allow this conversation to fetch pages from {web_origin.partition('://')[2]}?"
    detail = shorten(urls[0], _URL_LENGTH_MAX)
    if len(urls) > 1:
        detail = f"{detail} and {len(urls) - 1} more"
    return ApprovalRequest(question=question, detail=detail, yes="Fetch")


async def load_nodes(
    loader: Loader,
    state: ConversationState,
    node_ids: tuple[str, ...],
    approve: Callable[[str, tuple[str, ...]], Awaitable[bool]],
) -> tuple[dict[str, Document], frozenset[str]]:
    """Load files and links in a thread. Ask `approve` about each new origin, and load what it allows.

    `approve` gets a web origin and its URLs. Return the documents by node id, and all approved origins. If
    a document could not be loaded, its `problem` says why.
    """
    library = state.library
    approved = state.approved_origins
    documents = await call_in_thread(loader.load_batch, library, node_ids, approved)
    refused: dict[str, tuple[str, ...]] = {}
    for node_id, document in documents.items():
        if web_origin := document.refused_origin:
            refused[web_origin] = (*refused.get(web_origin, ()), node_id)
    pending: tuple[str, ...] = ()
    for web_origin, ids in refused.items():
        if await approve(web_origin, tuple(library.node(node_id).link_url for node_id in ids)):
            approved |= {web_origin}
            pending += ids
    if pending:
        documents |= await call_in_thread(loader.load_batch, library, pending, approved)
    return documents, approved


def graft_documents(
    library: Library, documents: Mapping[str, Document], new_origins: frozenset[str]
) -> tuple[Library, NodesLoaded]:
    """Add each document below the node whose id is its key, unless that node was loaded meanwhile."""
    unloaded = (key for key in documents if key in library and not library.node(key).is_loaded)
    added = {node_id: documents[node_id] for node_id in unloaded}
    pages = {node_id: document for node_id, document in added.items() if library.node(node_id).link_url}
    problems = {node_id: document.problem for node_id, document in added.items() if document.problem}
    event = NodesLoaded(
        section_ids=tuple(added),
        pages=tuple(node_id for node_id in pages if node_id not in problems),
        problems=tuple(problems.items()),
        notes=tuple(dict.fromkeys(note for page in pages.values() for note in page.notes)),
        approved_origins=tuple(sorted(new_origins)),
    )
    return library.graft_all(added), event
