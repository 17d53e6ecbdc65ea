"""Keyword search finds the section that a person means, and each ranking rule has its effect."""

from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamtui.search.keyword import CANDIDATES
from roamtui.search.searcher import Searcher
from roamtui.search.sentences import SNIPPET_WIDTH_MAX
from tests.case_files import read_case, read_rows
from tests.search.libraries import find_titles, make_library

HANDBOOK = make_library(read_case("handbook_to_search.md"))


@pytest.mark.parametrize(("query", "title"), read_rows("search/keyword", "best"))
def test_the_best_section_comes_first(query: str, title: str) -> None:
    assert find_titles(HANDBOOK, query)[0] == title


@pytest.mark.parametrize("query", ["Łódź", "Lodz", "Straße", "STRASSE", "Ørsted", "orsted", "Æsir", "aesir", "ΛΟΓΟΣ"])
def test_a_letter_is_found_however_it_is_written(query: str) -> None:
    library = make_library("# Other\n\nA street of 1851.\n\n# Town\n\nDie Straße von Łódź: Ørsted, Æsir, λόγος.\n")
    assert find_titles(library, query) == ["Town"]


def test_words_in_one_sentence_count_more_than_words_of_several() -> None:
    library = make_library(
        "# Apart\n\nThe ferry is white. Our harbour is small. That night was cold.\n\n"
        "# Together\n\nThe white ferry is in our small harbour on that very cold winter night.\n"
    )
    assert find_titles(library, "ferry in the harbour at night") == ["Together", "Apart"]


@pytest.mark.parametrize(
    "word",
    [
        *("**un**important", "un**important**", "[un](http://a.b)important", "<b>un</b>important"),
        *("un\u00adimportant", "un\u2066important"),
    ],
)
def test_a_word_with_something_unseen_inside_is_one_word(word: str) -> None:
    library = make_library(f"# Other\n\nWords that are important.\n\n# Boat\n\nThis is an {word} note. More.\n")
    hits = Searcher(library).search(library, "unimportant", with_snippets=True)
    assert library.node(hits[0].section_id).title == "Boat"
    assert hits[0].snippet.startswith("This is an ")


@pytest.mark.parametrize(("query", "title"), read_rows("search/keyword", "scripts"))
def test_scripts_without_spaces_are_found(query: str, title: str) -> None:
    library = make_library(
        "# Chinese\n\n这是一个数据库的例子。\n\n# Kana\n\nこのデータは古い。\n\n# Hangul\n\n데이터베이스를 쓴다.\n\n"
        "# Thai\n\nภาษาไทยง่าย\n\n# Chars\n\n据说库存很多，数不清。\n"
    )
    assert find_titles(library, query)[0] == title


def test_a_snippet_has_no_markup_and_a_row_has_its_column_heads() -> None:
    text = "# Fees\n\nA **zebra** of [ours](x.md) eats `hay`.\n\n| Animal | Hay |\n|---|---|\n| *Okapi* | 5 kg |\n"
    library = make_library(text)
    search = partial(Searcher(library).search, library, with_snippets=True)
    assert search("zebra")[0].snippet == "A zebra of ours eats hay."
    assert search("okapi hay")[0].snippet == "Animal Okapi | Hay: 5 kg"


def test_snippets_are_safe_short_and_on_one_line_around_the_words_of_the_query() -> None:
    library = make_library(f"# One\n\nThe zebra\n\x1b[31m\u202e is {'very ' * 100} striped.\n")
    search = partial(Searcher(library).search, library, with_snippets=True)
    snippets = [search(query)[0].snippet for query in ("zebra", "striped")]
    assert max(map(len, snippets)) <= SNIPPET_WIDTH_MAX
    assert snippets[0].startswith("The zebra ␛[31m\N{REPLACEMENT CHARACTER} is very")
    assert snippets[1].endswith(" striped.")


@given(st.text())
@example('"')
@example('a" OR title : "b')
@example("late AND NEAR(fees, 3) NOT (x")
@example("fees*^ + - : { } [")
@example("\0late\0fees\ud800")
@example(".".join(f"late{number}" for number in range(5_000)))
@example('"' + "late fees " * 5_000 + '"')
@example(" ".join(f'"a b{number}"' for number in range(500)))
def test_any_text_is_a_query(query: str) -> None:
    hits = _SEARCHER.search(HANDBOOK, query, limit=3)
    assert len(hits) <= 3


_SEARCHER = Searcher(HANDBOOK)


@given(st.text(max_size=200), st.text(max_size=30))
def test_any_text_is_a_document(text: str, query: str) -> None:
    library = make_library(text)
    hits = Searcher(library).search(library, query)
    assert {hit.section_id for hit in hits} <= set(library.walk())


_PHRASES = make_library(read_case("contract_phrases.md"))


@pytest.mark.parametrize(("query", "titles"), read_rows("search/keyword", "phrases"))
def test_words_in_quotation_marks_are_found_as_a_phrase(query: str, titles: list[str]) -> None:
    assert find_titles(_PHRASES, query) == titles


def test_a_phrase_is_found_where_more_sections_than_are_scored_have_its_words() -> None:
    sections = "# Fee\n\nThe fee is late.\n\n" * (CANDIDATES + 20) + "# Other\n\nWords.\n\n" * 300
    library = make_library(f"{sections}# Appendix\n\nA late fee is due. {'Other words. ' * 150}\n")
    assert find_titles(library, '"late fee"') == ["Appendix"]
