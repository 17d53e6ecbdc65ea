"""Keyword search finds the section that a person means, and each ranking rule has its effect."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.search import keyword
from roamtui.search.excerpts import SNIPPET_LENGTH
from roamtui.search.index import SectionIndex
from roamtui.search.keyword import CANDIDATES, KeywordSearcher, rank_by_text
from roamtui.search.query import parse_query
from tests.search.libraries import find_titles, id_of, make_folder, make_library

HANDBOOK = make_library("""# Handbook

How this house works.

## Paying

Pay what you owe in time.

### Late fees

A late fee is 2 % a month. Late fees start after ten days.

### Invoices

Invoices go out monthly. Whoever pays late is reminded first.

## Working

### Remote work

Work from home on two days. Ask `getUserById` or set `max_tokens` and `--dry-run`; written in C++.

### Naïve café

Coffee is free. The API is `client.messages.create`, see § 4.2 and HTTPServer.

## Holidays

### Sick leave

Tell your manager on the first day.

### Parental leave

Leave for parents lasts a year.
""")


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("late fees", "Late fees"),
        ("What is a late fee?", "Late fees"),
        ("paid invoice", "Invoices"),
        ("working remotely", "Remote work"),
        ("getUserById", "Remote work"),
        ("max_tokens", "Remote work"),
        ("tokens", "Remote work"),
        ("--dry-run", "Remote work"),
        ("C++", "Remote work"),
        ("client.messages.create", "Naïve café"),
        ("messages create", "Naïve café"),
        ("§ 4.2", "Naïve café"),
        ("naive cafe", "Naïve café"),
        ("CAFÉ", "Naïve café"),
        ('"first day"', "Sick leave"),
        ("sick leaves", "Sick leave"),
        ("the parent", "Parental leave"),
        ("late fe", "Late fees"),
        ("who is a mana", "Sick leave"),
        ("parentel leave", "Parental leave"),
        ("parentel lea", "Parental leave"),
        ("hollidays", "Holidays"),
    ],
)
def test_the_best_section_comes_first(query: str, title: str) -> None:
    assert find_titles(HANDBOOK, query)[0] == title


def test_a_hit_describes_itself() -> None:
    hits = KeywordSearcher(HANDBOOK).search("What is a late fee?")
    assert hits[0].section_id == id_of(HANDBOOK, "Late fees")
    assert hits[0].snippet == "A late fee is 2 % a month."
    assert hits[0].why == "text rank 1"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.score > 0 for hit in hits)


_CARDS = "# Cart\n\nIt holds goods.\n\n# Card\n\nIt pays.\n\n# Other\n\nA carp swims.\n"
_CONTRACT = (
    "# Counterparts\n\nThis is signed in two copies.\n\n# Assignment\n\nNo party may assign its rights or duties.\n"
)
_STOPS = "# One\n\nTo be or not to be.\n\n# Two\n\nNothing else.\n"


@pytest.mark.parametrize(
    ("text", "query", "titles"),
    [
        pytest.param(
            "# Installation\n\nRun it.\n\n# Notes\n\nDo the installation first.\n",
            "instalattion",
            ["Installation", "Notes"],
            id="a corrected word is found in texts too",
        ),
        pytest.param(_CARDS, "carp", ["Other"], id="known words are not corrected"),
        pytest.param(
            _CONTRACT,
            "may a counterparty assign its rights and duties",
            ["Assignment"],
            id="one word similar to a title does not outweigh a long question",
        ),
        pytest.param(_STOPS, "to be or not to be", ["One"], id="a query of stop words only"),
        pytest.param(_STOPS, "the else", ["Two"], id="a query of stop words only, elsewhere"),
    ],
)
def test_ranking(text: str, query: str, titles: list[str]) -> None:
    assert find_titles(make_library(text), query)[: len(titles)] == titles


@pytest.mark.parametrize(
    ("query", "title"),
    [("数据库", "Chinese"), ("数据", "Chinese"), ("データ", "Kana"), ("데이터", "Hangul"), ("ไทย", "Thai")],
)
def test_scripts_without_spaces_are_found(query: str, title: str) -> None:
    library = make_library(
        "# Chinese\n\n这是一个数据库的例子。\n\n# Kana\n\nこのデータは古い。\n\n# Hangul\n\n데이터베이스를 쓴다.\n\n"
        "# Thai\n\nภาษาไทยง่าย\n\n# Chars\n\n据说库存很多，数不清。\n"
    )
    assert find_titles(library, query)[0] == title


def test_within_searches_a_subtree_and_its_root() -> None:
    paying = id_of(HANDBOOK, "Paying")
    assert set(find_titles(HANDBOOK, "leave days fee paying", within=paying)) == {"Late fees", "Paying", "Invoices"}
    assert set(find_titles(HANDBOOK, "work leave", within=HANDBOOK.root_id)) >= {"Remote work", "Sick leave"}


def test_the_limit_holds() -> None:
    assert len(find_titles(HANDBOOK, "leave work late days", limit=2)) == 2
    assert find_titles(HANDBOOK, "leave", limit=0) == []


def test_ties_keep_the_order_of_the_document() -> None:
    library = make_library("".join(f"# Title\n\nThe same word {'x' * 3}.\n\n" for _ in range(5)))
    hits = KeywordSearcher(library).search("word")
    assert [hit.section_id for hit in hits] == list(library.walk())


def test_documents_of_a_folder_are_searched_together() -> None:
    library = make_folder(
        {
            "guide/billing.md": "# Money\n\nFees are due monthly.\n",
            "guide/travel.md": "# Trips\n\nFees for trips are paid back.\n",
        }
    )
    travel = id_of(library, "travel.md")
    assert find_titles(library, "fees") == ["Money", "Trips"]
    assert find_titles(library, "billing fees")[0] == "Money"
    assert find_titles(library, "fees", within=travel) == ["Trips"]
    assert find_titles(library, "travel") == ["Trips"]


def test_an_unloaded_page_is_found_by_its_title() -> None:
    library = make_folder({"a.md": "# One\n\nText.\n"})
    library = replace(library, grafts={})
    assert find_titles(library, "a.md") == ["a.md"]


def test_a_page_grafted_later_is_found_after_refresh() -> None:
    whole = make_folder({"a.md": "# One\n\nApples.\n", "b.md": "# Two\n\nPears.\n"})
    first, second = whole.grafts
    part = Library(source="x", root=whole.root, grafts=MappingProxyType({first: whole.grafts[first]}))
    searcher = KeywordSearcher(part)
    assert searcher.search("pears") == ()
    searcher.refresh(part.graft_all({second: whole.grafts[second]}))
    assert [hit.snippet for hit in searcher.search("pears")] == ["Pears."]


def test_many_threads_find_the_same() -> None:
    searcher = KeywordSearcher(HANDBOOK)
    queries = ["late fees", "parentel leave", "C++", "work"] * 8
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(searcher.search, queries))
    assert found == [KeywordSearcher(HANDBOOK).search(query) for query in queries]


def test_snippets_are_safe_short_and_on_one_line() -> None:
    library = make_library(f"# One\n\nThe zebra\n\x1b[31m\u202e is {'very ' * 100} striped.\n")
    snippet = KeywordSearcher(library).search("zebra")[0].snippet
    assert len(snippet) <= SNIPPET_LENGTH
    assert snippet.startswith("The zebra ␛[31m\N{REPLACEMENT CHARACTER} is very")


def test_a_snippet_is_found_deep_in_a_long_section() -> None:
    filler = "Nothing of note stands in this line.\n\n" * 2_000
    library = make_library(f"# One\n\n{filler}The zebra is striped.\n\n{filler}")
    assert KeywordSearcher(library).search("zebra striped")[0].snippet == "The zebra is striped."


@given(st.text())
@example('"')
@example('a" OR title : "b')
@example("late AND NEAR(fees, 3) NOT (x")
@example("fees*^ + - : { } [")
@example("\0late\0fees\ud800")
@example("a." * 5_000)
@example('"' + "late fees " * 5_000 + '"')
@example(" ".join(f'"a b{number}"' for number in range(500)))
def test_any_text_is_a_query(query: str) -> None:
    hits = _SEARCHER.search(query, limit=3)
    assert len(hits) <= 3


_SEARCHER = KeywordSearcher(HANDBOOK)


@given(st.text(max_size=200), st.text(max_size=30))
def test_any_text_is_a_document(text: str, query: str) -> None:
    library = make_library(text)
    hits = KeywordSearcher(library).search(query)
    assert {hit.section_id for hit in hits} <= set(library.walk())


_FILLER = "".join(f"# Filler {number}\n\nNothing of note.\n\n" for number in range(8))


def _rank(index: SectionIndex, query: str) -> list[str]:
    numbers = rank_by_text(index, parse_query(query), CANDIDATES, range(len(index)))
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
    "_SENTENCE_SHARE": (
        "change engine oil",
        "# Apart\n\nEngines are loud. A change is nice. Oil is dear.",
        "# Together\n\nIt was late. Change the oil of engines. It is so.",
    ),
    "_FORM_WEIGHT": (
        "Wer wählt den Rat?",
        "# Rat\n\nDer Rat der Stadt tagt.",
        "# Wahl\n\nGewählt wird der Rat der ganzen Stadt hier.",
    ),
    "_SYNONYM_WEIGHT": (
        "buyer",
        "# One\n\nThe buyer of it.",
        "# Two\n\nThe buyer is the purchaser of it.",
    ),
    "_IMPLIED_WEIGHT": (
        "How old is a senator?",
        "# Votes\n\nA senator has one vote here.",
        "# Thirty\n\nA senator has the age of thirty.",
    ),
}
"""By rule: a query and two sections; only that rule ranks the second section's last title first."""


_RULES: dict[str, float] = {name: getattr(keyword, name) for name in _MOVED}


@pytest.fixture
def enable_only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set the weights of all ranking rules to 0, except for the rules that a test names."""

    def enable(*names: str) -> None:
        for name, weight in _RULES.items():
            monkeypatch.setattr(keyword, name, weight if name in names else 0.0)

    enable()
    return enable


@pytest.mark.parametrize("rule", _MOVED)
def test_each_rule_alone_changes_the_first_section(
    enable_only: Callable[..., None], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query, *sections = _MOVED[rule]
    index = _make_index(*sections)
    titles = [section.rpartition("# ")[2].partition("\n")[0] for section in sections]
    monkeypatch.setattr("roamtui.search.index._WEIGHTS", (0.0, 0.0, 1.0))
    plain = [title for title in _rank(index, query) if title in titles]
    enable_only(rule)
    moved = [title for title in _rank(index, query) if title in titles]
    assert [plain[0], moved[0]] == titles


@pytest.mark.parametrize(
    ("query", "first", "second"),
    [
        ("late fee", "# Late fee table\n\nA late fee.", "# 12 Late fee\n\nA late fee."),
        ("Wie hoch sind die Mieten?", "# Miete Liste\n\nDie Mieten.", "# § 9 Miete\n\nDie Mieten."),
    ],
)
def test_a_number_in_a_title_is_no_word_of_it(
    enable_only: Callable[..., None], query: str, first: str, second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = _make_index(first, second)
    monkeypatch.setattr("roamtui.search.index._WEIGHTS", (0.0, 0.0, 1.0))
    assert _rank(index, query)[0] == index.title(0)
    enable_only("_TITLE_SHARE")
    assert _rank(index, query)[0] == index.title(1)


def test_a_title_that_is_only_a_number_includes_its_parents() -> None:
    index = SectionIndex(
        make_library("# A\n\n## 5 Late fees\n\n### 5.1\n\nTwo.\n\n### (iv)\n\nTen.\n\n### Go\n\nNow.\n")
    )
    assert [index.title(number) for number in range(2, 5)] == ["5.1 5 Late fees", "(iv) 5 Late fees", "Go"]


def test_a_search_of_a_large_library_without_its_common_words_still_finds_sections() -> None:
    text = "".join(f"# Section {number}\n\nLine of section.\n\n" for number in range(9_000))
    searcher = KeywordSearcher(make_library(text))
    library = searcher.prepare().library
    assert library.title_of(searcher.search("Which line has section 7777?")[0].section_id) == "Section 7777"
    assert len(searcher.search("section line")) == 10
