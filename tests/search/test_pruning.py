"""In a large library only sections that may be the best ones are weighed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roamtui.search.index import SectionIndex
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.pruning import Search, plan_search
from roamtui.search.query import parse_query
from tests.search.libraries import make_library

_COUNT = 60
_TEXT = "".join(
    f"# Title{number}\n\nA common word, {'often said, ' if number % 2 else ''}{'twice ' if number % 5 == 0 else ''}"
    f"{'rare ' if number in (7, 31) else ''}end.\n\n"
    for number in range(_COUNT)
)
_INDEX = SectionIndex(make_library(_TEXT))
_PIECES = ("common", "rare", "tw*", '"common word"', "twice_said", "C++", "end.common", "zebra", "数据", "often")
_WEIGHTS = (3.0, 1.0, 1.0, 2.0, 0.3)


def _plan(query: str, weighed_max: int) -> Search:
    return plan_search(_INDEX, parse_query(query), range(_COUNT), weighed_max=weighed_max)


def _find(query: str, weighed_max: int) -> list[int]:
    search = _plan(query, weighed_max)
    return [n for n, _ in _INDEX.rank(search.expression, _WEIGHTS, range(_COUNT), _COUNT, rows=search.rows)]


def test_a_small_library_is_weighed_whole() -> None:
    assert _plan("common rare", _COUNT) == Search(parse_query("common rare").expression)
    assert _plan("", 5) == Search("")


def test_words_that_stand_nowhere_cost_nothing() -> None:
    assert _plan("rare zebra", 10).expression == '"rare"'
    assert _find("zebra", 10) == []


def test_sections_with_a_rare_word_are_weighed_by_all_words() -> None:
    found = _find("rare often common", 10)
    assert sorted(found) == [7, 31]
    assert found == [n for n in _find("rare often common", _COUNT) if n in (7, 31)]


def test_several_common_words_at_once_are_as_good_as_a_rare_one() -> None:
    assert sorted(_find("often twice", 10)) == [5, 15, 25, 35, 45, 55]
    assert sorted(_find("often twice rare", 10)) == [5, 7, 15, 25, 31, 35, 45, 55]


def test_one_common_word_is_looked_for_in_titles() -> None:
    text = "".join(f"# {'Word' if number == 50 else 'Title'}\n\nA word.\n\n" for number in range(_COUNT))
    index = SectionIndex(make_library(text))
    search = plan_search(index, parse_query("word"), range(_COUNT), weighed_max=10)
    assert [n for n, _ in index.rank(search.expression, _WEIGHTS, range(_COUNT), 5, rows=search.rows)] == [50]


def test_where_all_hold_all_words_the_first_are_weighed() -> None:
    assert sorted(_find("common end", 10)) == list(range(10))


def test_a_pruned_search_still_gives_hits() -> None:
    text = "".join(f"# Section {number}\n\nLine of section.\n\n" for number in range(9_000))
    searcher = KeywordSearcher(make_library(text))
    library = searcher.prepare().library
    assert library.title_of(searcher.search("Which line has section 7777?")[0].section_id) == "Section 7777"
    assert len(searcher.search("section line")) == 10


@given(st.text(max_size=60) | st.lists(st.sampled_from(_PIECES), max_size=6).map(" ".join), st.integers(1, 12))
def test_any_query_can_be_pruned(query: str, weighed_max: int) -> None:
    found = _find(query, weighed_max)
    assert set(found) <= set(_find(query, _COUNT))
