"""What moves a section beyond its words: whole titles, names in titles, and the company of other hits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.search import ranking
from roamtui.search.index import SectionIndex
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.options import RetrievalOptions
from roamtui.search.query import parse_query
from roamtui.search.ranking import Search, is_glossary_entry, plan_search, rank_by_text
from tests.search.libraries import make_folder, make_library

_PLAIN = RetrievalOptions()
_RULES: dict[str, float] = {
    name: getattr(ranking, name)
    for name in (
        "_TITLE_SHARE",
        "_PATH_SHARE",
        "_PARENT_SHARE",
        "_PAGE_SHARE",
        "_SENTENCE_SHARE",
        "_SYNONYM_WEIGHT",
        "_NEIGHBOUR_WEIGHT",
        "_FORM_WEIGHT",
        "_GLOSSARY_LOSS",
    )
}
_FILLER = "".join(f"# Filler {number}\n\nNothing of note.\n\n" for number in range(8))
_COUNT = 60
_TEXT = "".join(
    f"# Title{number}\n\nA common word, {'often said, ' if number % 2 else ''}{'twice ' if number % 5 == 0 else ''}"
    f"{'rare ' if number in (7, 31) else ''}end.\n\n"
    for number in range(_COUNT)
)
_INDEX = SectionIndex(make_library(_TEXT))
_PIECES = ("common", "rare", "tw*", '"common word"', "twice_said", "C++", "end.common", "zebra", "数据", "often")
_WEIGHTS = (3.0, 1.0, 1.0, 2.0, 0.3)


@pytest.fixture
def weigh_alone(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let only the rules that a test names move a section beyond its words, with the weights that they have."""

    def weigh(*names: str) -> None:
        for name, weight in _RULES.items():
            monkeypatch.setattr(ranking, name, weight if name in names else 0.0)

    weigh()
    return weigh


def _rank(index: SectionIndex, query: str, options: RetrievalOptions = _PLAIN) -> list[str]:
    numbers = rank_by_text(index, parse_query(query), options, range(len(index)))
    return [index.title(number) for number in numbers]


def _make_index(*sections: str) -> SectionIndex:
    return SectionIndex(make_library("\n\n".join([*sections, _FILLER])))


_MOVED = {
    "_TITLE_SHARE": (
        "paint",
        "# Drying paint on walls\n\nA paint.",
        "# Paint\n\nThe paint that you can see there today.",
    ),
    "_PATH_SHARE": ("care of a blade", "# Tools\n\n## Care of tools\n\nOil.", "# Blade\n\n## Care of it\n\nOil."),
    "_PARENT_SHARE": (
        "hums",
        "# Tank\n\nIt is tall.\n\n## Other\n\nIt hums on.",
        "# Pump\n\nIt hums, and that is all there is to say.\n\n## Noise\n\nIt hums on.",
    ),
    "_SENTENCE_SHARE": (
        "change engine oil",
        "# Apart\n\nEngines are loud. A change is nice. Oil is dear.",
        "# Together\n\nIt was late. Change the oil of engines. It is so.",
    ),
    "_NEIGHBOUR_WEIGHT": (
        "declare war",
        "# Apart\n\nWar or not, they declare it.",
        "# Beside\n\nThey declare war, or not it.",
    ),
    "_FORM_WEIGHT": (
        "Wer wählt den Rat?",
        "# Rat\n\nDer Rat der Stadt tagt.",
        "# Wahl\n\nGewählt wird der Rat der ganzen Stadt hier.",
    ),
    "_GLOSSARY_LOSS": (
        "fuel and crew",
        "# A\n\n## Definitions\n\n### Ship\n\nShip fuel, ship crew.",
        "# B\n\n## Trips\n\nFuel and crew of a ship.",
    ),
    "_SYNONYM_WEIGHT": (
        "How old is a senator?",
        "# Votes\n\nA senator has one vote here.",
        "# Thirty\n\nA senator has the age of thirty.",
    ),
}
"""By rule, a query and two sections, of which the second one's last title goes first by that rule alone."""


@pytest.mark.parametrize("rule", _MOVED)
def test_each_rule_moves_a_section_by_the_weight_that_it_has(weigh_alone: Callable[..., None], rule: str) -> None:
    query, *sections = _MOVED[rule]
    index = _make_index(*sections)
    titles = [section.rpartition("# ")[2].partition("\n")[0] for section in sections]
    options = RetrievalOptions(heading_boost=0.0, path_boost=0.0)
    plain = [title for title in _rank(index, query, options) if title in titles]
    weigh_alone(rule)
    moved = [title for title in _rank(index, query, options) if title in titles]
    assert [plain[0], moved[0]] == titles


def test_a_section_gains_by_others_of_its_document(weigh_alone: Callable[..., None]) -> None:
    first, others = "# First\n\nThe valve leaks.\n", "# Third\n\nA valve.\n\n# Fourth\n\nValve again.\n"
    index = SectionIndex(
        make_folder({"a.md": f"{first}\n{_FILLER}", "b.md": f"# Second\n\nThe valve leaks.\n\n{others}"})
    )
    assert _rank(index, "valve leaks")[0] == "First"
    weigh_alone("_PAGE_SHARE")
    assert _rank(index, "valve leaks")[0] == "Second"


def test_a_title_that_is_the_name_asked_for_is_a_whole_one(weigh_alone: Callable[..., None]) -> None:
    index = _make_index("# Guide", "Call set_mode here.", "# app.core.set_mode and more", "Call set_mode here.")
    options = replace(_PLAIN, heading_boost=0.0)
    weigh_alone("_TITLE_SHARE")
    assert _rank(index, "calling it", options)[0] == "Guide"
    assert _rank(index, "set_mode", options)[0] == "app.core.set_mode and more"


def test_an_entry_of_a_glossary_answers_what_it_defines(weigh_alone: Callable[..., None]) -> None:
    entry = "# A\n\n## Definitions\n\n### Ship\n\nShip fuel, ship crew."
    index = _make_index(entry, "# B\n\n## Trips\n\nFuel and crew of a ship.")
    weigh_alone("_GLOSSARY_LOSS")
    assert _rank(index, "what is a ship with fuel")[0] == "Ship"


def test_a_quoted_title_is_an_entry_and_a_part_that_only_says_so_is_none() -> None:
    text = '# A\n\n## 1.2 "Ship"\n\nIt floats.\n\n## Type definitions in code\n\n### Loops\n\nWhile.\n'
    index = SectionIndex(make_library(text))
    titles = {index.title(number): is_glossary_entry(index, number) for number in range(len(index))}
    assert titles == {"A": False, '1.2 "Ship"': True, "Type definitions in code": False, "Loops": False}


def test_a_title_that_only_counts_is_taken_with_the_one_above() -> None:
    index = SectionIndex(
        make_library("# A\n\n## 5 Late fees\n\n### 5.1\n\nTwo.\n\n### (iv)\n\nTen.\n\n### Go\n\nNow.\n")
    )
    assert [index.title(number) for number in range(2, 5)] == ["5.1 5 Late fees", "(iv) 5 Late fees", "Go"]


def _plan(query: str, weighed_max: int) -> Search:
    return plan_search(_INDEX, parse_query(query), range(_COUNT), weighed_max=weighed_max)


def _find(query: str, weighed_max: int) -> list[int]:
    search = _plan(query, weighed_max)
    return [n for n, _ in _INDEX.rank(search.expression, _WEIGHTS, range(_COUNT), _COUNT, rows=search.rows)]


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
