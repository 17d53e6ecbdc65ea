"""Links whose page is not there: where they lead, and what says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.document.columns import build_columns
from roamtui.document.document import Document
from roamtui.document.node import NodeKind

if TYPE_CHECKING:
    from roamtui.document.library import Library


def find_address(library: Library, node_id: str) -> str:
    """Return the address of a link, empty for any other node."""
    document, row = library.locate(node_id)
    return document.columns.urls[row] if document.columns.kinds[row] is NodeKind.LINK else ""


def make_failure(key: str, problem: str) -> Document:
    """Return what stands below a link whose page is not there.

    Args:
        key: Address of the page.
        problem: Why, one sentence.
    """
    return Document(key=key, title="", text="", columns=build_columns((), 0), url=key, problem=problem)


def explain_refusal(url: str, origin: str) -> str:
    """Return why a page is not fetched whose origin nobody approved, and how that is done."""
    return f"{url} is on {origin}, which nobody approved: nothing was fetched. Allow it with --allow-origin {origin}."
