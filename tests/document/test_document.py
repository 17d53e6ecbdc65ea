"""Ids that never change, rows that nest, and page footers that are no text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document import document as module
from roamtui.document.document import make_ids
from roamtui.document.footers import blank_footers

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


@pytest.mark.parametrize(("opening", "kept"), [("and goes on", []), ("The next chapter", ["1", "2", "3"])])
def test_numbers_between_pages_are_footers_if_a_sentence_continues_after_one(opening: str, kept: list[str]) -> None:
    text = "".join(f"{_PAGE}\n\n{number}\n\n{opening}. " for number in (1, 2, 3)) + _PAGE
    clean = blank_footers(text, 0, len(text))
    assert [line.strip() for line in clean.split("\n") if line.strip().isdigit()] == kept
    assert len(clean) == len(text)
