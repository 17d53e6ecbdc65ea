"""Ids in the outline lead to every text in few calls, and each text has one id."""

from functools import partial
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.outline.delivered import SpanSet
from roamtui.outline.labels import has_own_text
from roamtui.outline.render import render_outline
from roamtui.text import Span
from tests.outline.documents import NONCE, REFERENCE, documents, make_shape, open_section, read_book, shapes
from tests.real_documents import list_documents
from tests.search.libraries import make_library

_SAMPLED_FROM = 4_000


def _find_ids(text: str) -> set[str]:
    """Return the ids outside the fences, where all text is ours."""
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


def _is_sampled(library: Library, reference: str) -> bool:
    """Take one of sixteen sections without children in large documents, because they are alike."""
    if len(library) <= _SAMPLED_FROM or reference not in library or library.children(reference):
        return True
    return crc32(reference.encode()) % 16 == 0


def _reach(library: Library, budget: int | None, calls_max: int = 99) -> SpanSet:
    """Return the text that a model gets by opening every id that it reads."""
    pending = _find_ids(render_outline(library, budget_tokens=budget))
    seen: set[str] = set()
    given: list[Span] = []
    for _ in range(calls_max):
        named: set[str] = set()
        for reference in filter(partial(_is_sampled, library), pending - seen):
            block = open_section(library, reference)
            given += block.spans
            named |= _find_ids(block.text)
        seen |= pending
        pending = named
        if pending <= seen:
            break
    return SpanSet.from_spans(given)


def _find_unreached(library: Library, budget: int | None, calls_max: int = 99) -> list[str]:
    given = _reach(library, budget, calls_max)
    spans = ((section_id, library.node(section_id).own_content_span) for section_id in library.walk())
    return [
        section_id
        for section_id, span in spans
        if _is_sampled(library, section_id) and has_own_text(library, section_id) and given.subtract_from(span)
    ]


@pytest.mark.parametrize("shape", shapes())
def test_every_section_of_a_generated_document_is_reached(shape: str) -> None:
    assert _find_unreached(make_shape(shape), 300) == []


@settings(max_examples=settings().max_examples // 2)
@given(documents(), st.integers(300, 2_000))
def test_every_section_of_any_document_is_reached(text: str, budget: int) -> None:
    assert _find_unreached(make_library(text), budget) == []


def _write_tree(depth: int, width: int, body: str, level: int = 1) -> str:
    if level > depth:
        return ""
    below = _write_tree(depth, width, body, level + 1)
    return "".join(f"{'#' * level} Part {level}.{number}\n\n{body}\n\n{below}" for number in range(width))


_BODY = "Some words of a section that is long enough to be worth opening by itself. " * 3


@pytest.mark.parametrize(
    ("text", "calls_max"),
    [
        (_write_tree(1, 10_000, _BODY), 2),
        (_write_tree(2, 98, _BODY), 2),
        (_write_tree(4, 9, _BODY), 2),
        (_write_tree(6, 4, _BODY), 2),
        (_write_tree(1, 16_000, "Few words."), 3),
    ],
    ids=["flat", "two levels", "four levels", "six levels", "16,000 flat"],
)
def test_two_calls_lead_to_any_of_ten_thousand_sections(text: str, calls_max: int) -> None:
    assert _find_unreached(make_library(text), None, calls_max) == []


@pytest.mark.parametrize("name", list_documents("books/*.md")[2::3])
def test_two_calls_lead_to_any_section_of_a_book(name: str) -> None:
    library = read_book(name)
    calls_max = 3 if "bgb" in name else 2  # most of it stands four to seven levels down
    unreached = [one for one in _find_unreached(library, None, calls_max) if library.count_tokens(one)[0] <= 4_000]
    assert unreached == []
