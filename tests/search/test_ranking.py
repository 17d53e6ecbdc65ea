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
from roamtui.search.ranking import Search, is_glossary_entry, measure_share, plan_search, rank_by_text
from tests.search.libraries import make_folder, make_library

_PLAIN = RetrievalOptions()
Weigh = Callable[..., None]
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


@pytest.fixture(autouse=True)
def weigh(monkeypatch: pytest.MonkeyPatch) -> Weigh:
    """Let a test weigh one rule alone: what moves a section beyond its words counts nothing, but what is given."""

    def set_weights(**values: float) -> None:
        for name, value in values.items():
            monkeypatch.setattr(ranking, f"_{name.upper()}", value)

    set_weights(title_share=0.0, path_share=0.0, parent_share=0.0, page_share=0.0, synonym_weight=0.0)
    return set_weights


def _rank(index: SectionIndex, query: str, options: RetrievalOptions = _PLAIN) -> list[str]:
    numbers = rank_by_text(index, parse_query(query), options, range(len(index)))
    return [index.title(number) for number in numbers]


def _make_index(*sections: str) -> SectionIndex:
    return SectionIndex(make_library("\n\n".join([*sections, _FILLER])))


def test_a_title_that_is_all_asked_for_gains(weigh: Weigh) -> None:
    index = _make_index("# Paint drying on walls", "Paint, paint and paint.", "# Paint", "Colour comes in tins.")
    options = replace(_PLAIN, heading_boost=0.0)

    assert _rank(index, "paint", options)[0] == "Paint drying on walls"
    weigh(title_share=0.9)
    assert _rank(index, "paint", options)[0] == "Paint"


def test_titles_above_that_are_all_asked_for_gain(weigh: Weigh) -> None:
    index = _make_index("# Tools", "## Care", "Oil it.", "# Blade", "## Care", "Oil it.")
    query = parse_query("care of a blade")
    options = replace(_PLAIN, path_boost=0.0, heading_boost=0.0)

    plain = list(rank_by_text(index, query, options, range(len(index))))
    weigh(path_share=0.9)
    gained = list(rank_by_text(index, query, options, range(len(index))))

    assert plain.index(1) < plain.index(3)
    assert gained.index(3) < gained.index(1)


def test_a_title_that_is_the_name_asked_for_gains(weigh: Weigh) -> None:
    index = _make_index("# Guide", "set_mode, " * 9, "# app.core.set_mode and more", "Switches it.")
    options = replace(_PLAIN, heading_boost=0.0)
    weigh(title_share=0.9)

    assert _rank(index, "mode setting", options)[0] == "Guide"
    assert _rank(index, "set_mode", options)[0] == "app.core.set_mode and more"


def test_a_section_gains_by_the_one_above_it(weigh: Weigh) -> None:
    index = _make_index(
        "# Other", "The pump hums.", "# Pump", "A pump, the pump.", "## Noise", "It hums and hums on and on."
    )
    options = replace(_PLAIN, path_boost=0.0)

    plain = _rank(index, "hums pump", options)
    weigh(parent_share=1.0)
    together = _rank(index, "hums pump", options)

    assert plain.index("Noise") > plain.index("Other")
    assert together.index("Noise") < together.index("Other")


def test_a_section_gains_by_others_of_its_document(weigh: Weigh) -> None:
    index = SectionIndex(
        make_folder(
            {
                "a.md": f"# First\n\nThe valve leaks.\n\n{_FILLER}",
                "b.md": "# Second\n\nThe valve leaks here.\n\n# Third\n\nA valve.\n\n# Fourth\n\nValve again.\n",
            }
        )
    )

    assert _rank(index, "leaks")[0] == "First"
    assert _rank(index, "valve leaks")[0] == "First"
    weigh(page_share=1.0)
    assert _rank(index, "valve leaks")[0] == "Second"


def test_share() -> None:
    assert measure_share(frozenset("ab"), frozenset("bc")) == 0.5
    assert measure_share(frozenset(), frozenset("a")) == 0.0


def test_words_in_one_sentence_go_before_words_apart(weigh: Weigh) -> None:
    together = "Nobody knows. Change the oil of engines each year. It helps a lot in the long run of all things here."
    index = _make_index("# Apart", "Engines are loud. Oil is dear. Oil again.", "# Together", together)
    query = "change engine oil yearly"

    weigh(sentence_share=0.0)
    assert _rank(index, query)[0] == "Apart"
    weigh(sentence_share=2.0)
    assert _rank(index, query)[0] == "Together"


def test_an_entry_of_a_glossary_goes_after_what_it_is_used_in(weigh: Weigh) -> None:
    entry = "## Definitions\n\n### Ship\n\nShip fuel, ship engine, ship crew."
    text = f"# A\n\n{entry}\n\n## Trips\n\nFuel and crew of a ship.\n"
    index = SectionIndex(make_library(f"{text}\n{_FILLER.replace('# ', '## ')}"))

    weigh(glossary_loss=0.0)
    assert _rank(index, "fuel and crew of engine")[0] == "Ship"
    weigh(glossary_loss=0.9)
    assert _rank(index, "fuel and crew of engine")[0] == "Trips"
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


def test_words_that_stand_side_by_side_go_before_words_apart(weigh: Weigh) -> None:
    index = _make_index("# A", "War pay: they declare it war upon pay.", "# B", "They declare war upon pay. It is so.")

    weigh(sentence_share=0.0, neighbour_weight=0.9)
    assert _rank(index, "declare war")[0] == "B"
    weigh(neighbour_weight=0.0)
    assert _rank(index, "declare war")[0] == "A"


def test_other_forms_of_words_are_found() -> None:
    index = _make_index("# § 2", "Der Rat tagt.", "# § 3", "Der Meister wird gewählt.")

    assert _rank(index, "Wer wählt?") == ["§ 3"]


def test_how_old_is_answered_where_an_age_is(weigh: Weigh) -> None:
    index = _make_index("# 1", "A senator has one vote, a senator.", "# 2", "A senator has the age of thirty.")

    assert _rank(index, "How old is a senator?")[0] == "1"
    weigh(synonym_weight=0.9)
    assert _rank(index, "How old is a senator?")[0] == "2"


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
