"""Reciprocal rank fusion, for any lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.search.fusion import RankedList, describe_ranks, fuse_lists

_IDS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8).map(tuple)
_LISTS = st.lists(
    st.builds(RankedList, name=st.just("x"), weight=st.sampled_from([0.0, 0.5, 1.0, 2.0]), section_ids=_IDS),
    max_size=4,
)


@given(_LISTS)
def test_exactly_what_stands_in_a_list_that_counts_is_found_the_best_first(lists: list[RankedList]) -> None:
    scores = fuse_lists(lists, 60)
    assert set(scores) == {section_id for ranked in lists if ranked.weight for section_id in ranked.section_ids}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert all(score > 0 for score in scores.values())


@given(_LISTS, st.randoms(use_true_random=False))
def test_the_order_of_lists_changes_no_score(lists: list[RankedList], random: object) -> None:
    mixed = list(lists)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert fuse_lists(mixed, 60) == pytest.approx(fuse_lists(lists, 60))


@given(_IDS, st.integers(1, 100))
def test_one_list_alone_keeps_its_order(ids: tuple[str, ...], k: int) -> None:
    assert tuple(fuse_lists([RankedList(name="x", weight=0.3, section_ids=ids)], k)) == ids


@given(_IDS.filter(lambda ids: len(ids) > 1), _LISTS, st.data())
def test_what_rises_in_a_list_never_falls(ids: tuple[str, ...], others: list[RankedList], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(ids) - 1))
    raised = (*ids[: place - 1], ids[place], ids[place - 1], *ids[place + 1 :])
    before = fuse_lists([RankedList(name="x", weight=1.0, section_ids=ids), *others], 60)
    after = fuse_lists([RankedList(name="x", weight=1.0, section_ids=raised), *others], 60)
    assert after[ids[place]] > before[ids[place]]


def test_two_middling_places_beat_one_good_one() -> None:
    lists = [
        RankedList(name="text", weight=1.0, section_ids=("a", "b", "c")),
        RankedList(name="vector", weight=1.0, section_ids=("d", "c", "e")),
    ]
    assert next(iter(fuse_lists(lists, 60))) == "c"
    assert fuse_lists(lists, 60)["c"] == pytest.approx(1 / 63 + 1 / 62)


def test_places_are_told_by_list() -> None:
    lists = [
        RankedList(name="text", weight=1.0, section_ids=("a", "b")),
        RankedList(name="vector", weight=1.0, section_ids=("b",)),
        RankedList(name="title", weight=0.0, section_ids=("b",)),
    ]
    assert describe_ranks(lists, "b") == "text rank 2 · vector rank 1"
    assert describe_ranks(lists, "c") == ""
