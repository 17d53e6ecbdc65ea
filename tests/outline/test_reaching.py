"""Everything is reachable by the ids in the outline."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.outline.render import render_outline
from roamtui.outline.tops import is_hidden
from tests.outline.documents import (
    NONCE,
    REFERENCE,
    documents,
    make_library,
    make_shape,
    open_section,
    read_book,
    shapes,
)
from tests.real_documents import list_documents


def _find_ids(text: str) -> set[str]:
    """Return the ids in a text of ours; what stands between fences is the document's."""
    outside = []
    is_inside = False
    for line in text.split("\n"):
        if line == f"<<<{NONCE}":
            is_inside = True
        elif line == f"{NONCE}>>>":
            is_inside = False
        elif not is_inside:
            outside.append(line)
    return set(REFERENCE.findall("\n".join(outside)))


def _reach(library: Library, budget: int, *, remembers: bool = True) -> set[str]:
    """Return the sections that are named when one opens all that is named, again and again.

    Args:
        library: What is explored.
        budget: Of the outline.
        remembers: Whether text is given once, as in a conversation; else each section is opened as if alone.
    """
    pending = _find_ids(render_outline(library, budget_tokens=budget))
    seen: set[str] = set()
    delivered: dict[str, list[tuple[int, int]]] = {}
    while pending:
        reference = pending.pop()
        if reference in seen:
            continue
        seen.add(reference)
        block = open_section(library, reference, delivered)
        for span in block.spans if remembers else ():
            delivered.setdefault(span.doc, []).append((span.start, span.end))
        pending |= _find_ids(block.text) - seen
    return {reference.partition(":")[0] for reference in seen}


def _list_all(library: Library) -> set[str]:
    return {section_id for section_id in library.walk() if not is_hidden(library, section_id)}


@pytest.mark.parametrize("shape", shapes())
@pytest.mark.parametrize("budget", [300, 12_000])
def test_every_section_of_a_generated_document_is_reached(shape: str, budget: int) -> None:
    library = make_shape(shape)
    assert _list_all(library) - _reach(library, budget, remembers=len(library) < 1_000) == set()


@pytest.mark.parametrize("name", list_documents("books/de-gg.md", "books/graphql-spec.md", "books/comprehensive*.md"))
@pytest.mark.parametrize("budget", [300, 3_000])
def test_every_section_of_a_book_is_reached(name: str, budget: int) -> None:
    library = read_book(name)
    assert _list_all(library) - _reach(library, budget) == set()


@settings(max_examples=settings().max_examples // 2)
@given(documents(), st.integers(300, 2_000))
def test_every_section_of_any_document_is_reached(text: str, budget: int) -> None:
    library = make_library(text)
    assert _list_all(library) - _reach(library, budget) == set()


def test_a_small_budget_of_a_large_document_names_ranges_and_each_is_followed() -> None:
    library = make_shape("10,000 flat headings")
    outline = render_outline(library, budget_tokens=2_500)
    assert f"[{library.root_id}:c1] Heading number 0 … Heading number 249 (250 sections" in outline
    block = open_section(library, f"{library.root_id}:c40")
    assert f"[{library.root_id}:c40.5] Heading number 9950 … Heading number 9999 (50 sections" in block.text
    leaves = open_section(library, f"{library.root_id}:c40.5")
    assert leaves.text.count("\n- [") == 50
    assert "Heading number 9999" in leaves.text
