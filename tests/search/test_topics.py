"""Follow-ups are searched in earlier topics."""

from collections.abc import Mapping

import pytest

from roamtui.search.index import SectionIndex
from roamtui.search.searcher import Searcher
from roamtui.search.topics import recall_topics
from tests.case_files import read_case
from tests.search.libraries import make_library

TOWN = read_case("town_guide.md")
_TOWN_LIBRARY = make_library(TOWN)


def _find_paths(query: str, *earlier: str) -> list[tuple[str, ...]]:
    hits = Searcher(_TOWN_LIBRARY).search(_TOWN_LIBRARY, query, earlier=earlier)
    return [_TOWN_LIBRARY.node(hit.section_id).path[1:] for hit in hits]


def _find_topics(query: str, *earlier: str) -> Mapping[str, float]:
    index = SectionIndex(_TOWN_LIBRARY)
    return {index.title(number): strength for number, strength in recall_topics(index, query, earlier).items()}


@pytest.mark.parametrize("hotel", ["Hotel Anchor", "Golden Lion"])
def test_a_follow_up_is_about_an_earlier_topic(hotel: str) -> None:
    assert _find_paths("Are dogs allowed?", f"Is there a room at the {hotel}?", "Yes.")[0] == (hotel, "Dogs")


@pytest.mark.parametrize(("first", "last"), [("Golden Lion", "Hotel Anchor"), ("Hotel Anchor", "Golden Lion")])
def test_the_latest_topic_counts_most(first: str, last: str) -> None:
    turns = (f"Tell me of the {first}.", "It is full.", f"And the {last}?", "It has rooms.")
    assert _find_paths("When is breakfast?", *turns)[0] == (last, "Breakfast")
    assert list(_find_topics("When is breakfast?", *turns)) == [last, first]


def test_a_question_about_something_new_ignores_earlier_topics() -> None:
    assert _find_topics("What is a ticket to the Harbour Museum?", "Has the Golden Lion rooms?") == {}
    assert (
        _find_paths("What is a ticket to the Harbour Museum?", "Has the Golden Lion rooms?")[0][0] == "Harbour Museum"
    )
