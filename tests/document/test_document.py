"""Ids that never change, rows that nest, and page footers that are no text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document import document as module
from roamtui.document.document import make_ids
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.text import Span

_PATHS = st.lists(st.lists(st.sampled_from(["a", "b", "", "\x1f", "ä"]), min_size=1, max_size=3), max_size=30)


def test_known_ids_never_change() -> None:
    assert make_ids("", [("Guide",), ("Guide", "Set up"), ("Guide", "Set up")]) == ["4d91191f", "f4cfb86e", "8c446fcb"]


@given(_PATHS)
def test_ids_are_unique_and_fit_the_paths(paths: list[list[str]]) -> None:
    made = make_ids("doc", paths)
    assert len(made) == len(paths) == len(set(made))


def test_the_later_of_two_colliding_paths_is_hashed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def collide(_doc: str, _path: tuple[str, ...], _ordinal: int, *salt: str) -> str:
        return "0000000" + ("0" if not salt else salt[-1])

    monkeypatch.setattr(module, "make_node_id", collide)
    assert make_ids("doc", [("a",), ("b",), ("c",)]) == ["00000000", "00000001", "00000002"]


_PAGE = "Some words of a page that say nothing of note at all. " * 40


def _blank(text: str) -> str:
    read = Library(source="", root=parse_document(text)).clean_text(Span(doc="", start=0, end=len(text)))
    assert len(read) == len(text)
    return " ".join(read.split())


@pytest.mark.parametrize("footer", ["Page 3 of 20", "- 17 -", "-ii-"])
def test_a_footer_in_a_paragraph_of_its_own_is_blank(footer: str) -> None:
    assert _blank(f"It costs\n\n{footer}\n\n2 euros.\n") == "It costs 2 euros."
    assert _blank(f"It costs\r\n\r\n{footer}\r\n\r\n2 euros.\r\n") == "It costs 2 euros."
    assert footer in _blank(f"It costs\n{footer}\n2 euros.\n")


def test_a_bare_number_is_a_footer_if_the_next_one_is_a_page_away() -> None:
    assert _blank(f"A\n\n6\n\n{_PAGE}\n\n7\n\nB") == f"A {_PAGE}B"
    assert _blank(f"A\n\n6\n\n{_PAGE}\n\n9\n\nB") == f"A 6 {_PAGE}9 B"
    assert _blank("A\n\n6\n\nB\n\n7\n\nC") == "A 6 B 7 C"
