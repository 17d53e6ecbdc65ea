"""Keyword search finds the section that a person means, and each rule of ranking moves what it should."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.errors import UnknownSectionError
from roamtui.search import keyword
from roamtui.search.index import SectionIndex
from roamtui.search.keyword import KeywordSearcher, SearchPlan, is_glossary_entry, plan_search, rank_by_text
from roamtui.search.options import RetrievalOptions
from roamtui.search.sentences import SNIPPET_LENGTH
from roamtui.search.terms import parse_query
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
        ("user by id", "Remote work"),
        ("max_tokens", "Remote work"),
        ("tokens", "Remote work"),
        ("--dry-run", "Remote work"),
        ("C++", "Remote work"),
        ("client.messages.create", "Naïve café"),
        ("messages create", "Naïve café"),
        ("§ 4.2", "Naïve café"),
        ("http server", "Naïve café"),
        ("naive cafe", "Naïve café"),
        ("CAFÉ", "Naïve café"),
        ("manag*", "Sick leave"),
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


def test_a_hit_says_what_it_is() -> None:
    hits = KeywordSearcher(HANDBOOK).search("What is a late fee?")
    assert hits[0].section_id == id_of(HANDBOOK, "Late fees")
    assert hits[0].snippet == "A late fee is 2 % a month."
    assert hits[0].why == "text rank 1"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.score > 0 for hit in hits)


def test_a_corrected_word_is_found_in_texts_too() -> None:
    library = make_library("# Installation\n\nRun it.\n\n# Notes\n\nDo the installation first.\n")
    assert find_titles(library, "instalattion") == ["Installation", "Notes"]


def test_known_words_are_not_corrected() -> None:
    library = make_library("# Cart\n\nIt holds goods.\n\n# Card\n\nIt pays.\n\n# Other\n\nA carp swims.\n")
    assert find_titles(library, "carp") == ["Other"]


def test_one_word_like_a_title_does_not_take_over_a_long_question() -> None:
    library = make_library(
        "# Counterparts\n\nThis is signed in two copies.\n\n# Assignment\n\nNo party may assign its rights or duties.\n"
    )
    assert find_titles(library, "may a counterparty assign its rights and duties")[0] == "Assignment"


def test_exact_identifiers_go_before_their_parts() -> None:
    library = make_library(
        "# Prose\n\nThe max of all tokens. Max tokens, tokens to the max.\n\n# Name\n\nIt sets `max_tokens` once.\n"
    )
    assert find_titles(library, "max_tokens") == ["Name", "Prose"]


def test_stop_words_alone_are_looked_for() -> None:
    library = make_library("# One\n\nTo be or not to be.\n\n# Two\n\nNothing else.\n")
    assert find_titles(library, "to be or not to be") == ["One"]
    assert find_titles(library, "the else") == ["Two"]


def test_a_phrase_must_occur_where_it_occurs_at_all() -> None:
    library = make_library("# One\n\nBalancing a load. Load, load.\n\n# Two\n\nWords on load balancing.\n")
    assert find_titles(library, '"load balancing" load') == ["Two"]
    assert find_titles(library, '"balancing load" load')[0] == "One"


@pytest.mark.parametrize(
    ("query", "title"),
    [("数据库", "Chinese"), ("数据", "Chinese"), ("データ", "Kana"), ("데이터", "Hangul"), ("ไทย", "Thai")],
)
def test_writing_without_spaces_is_found(query: str, title: str) -> None:
    library = make_library(
        "# Chinese\n\n这是一个数据库的例子。\n\n# Kana\n\nこのデータは古い。\n\n# Hangul\n\n데이터베이스를 쓴다.\n\n"
        "# Thai\n\nภาษาไทยง่าย\n\n# Chars\n\n据说库存很多，数不清。\n"
    )
    assert find_titles(library, query)[0] == title


def test_within_searches_a_subtree_and_its_root() -> None:
    paying = id_of(HANDBOOK, "Paying")
    assert set(find_titles(HANDBOOK, "leave days fee paying", within=paying)) == {"Late fees", "Paying", "Invoices"}
    assert set(find_titles(HANDBOOK, "work leave", within=HANDBOOK.root_id)) >= {"Remote work", "Sick leave"}


def test_within_an_unknown_section_is_refused() -> None:
    with pytest.raises(UnknownSectionError, match="nowhere"):
        KeywordSearcher(HANDBOOK).search("fees", within="nowhere")


def test_limit_is_kept() -> None:
    assert len(find_titles(HANDBOOK, "leave work late days", limit=2)) == 2
    assert find_titles(HANDBOOK, "leave", limit=0) == []


def test_ties_keep_the_order_of_the_document() -> None:
    library = make_library("".join(f"# Title\n\nThe same word {'x' * 3}.\n\n" for _ in range(5)))
    hits = KeywordSearcher(library).search("word")
    assert [hit.section_id for hit in hits] == list(library.walk())


def test_a_child_that_only_its_parents_title_brings_is_no_hit_of_its_own() -> None:
    library = make_library(
        "# Refunds\n\nRefunds take ten days.\n\n## By post\n\nSend it back.\n\n## Online\n\nRefunds too.\n"
    )
    assert find_titles(library, "refunds") == ["Refunds", "Online"]


def test_a_bare_heading_is_no_hit_beside_its_child() -> None:
    library = make_library("# Start\n\nHi.\n\n# Refunds\n\n## How long refunds take\n\nRefunds take ten days.\n")
    assert find_titles(library, "how long do refunds take") == ["How long refunds take"]


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


def test_a_page_that_is_not_loaded_is_found_by_its_title() -> None:
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


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("把书弄丢了要赔多少？", "遗失图书"),
        ("Wie hoch ist die Liegeplatzgebühr?", "Liegeplatz"),
        ("犬を連れて行けますか", "ペット"),
    ],
)
def test_what_stands_nowhere_is_found_by_its_parts(query: str, title: str) -> None:
    library = make_library(
        "# 遗失图书\n\n按原价的两倍赔偿。\n\n# Liegeplatz\n\nDie Gebühr beträgt 5 Euro.\n\n"
        "# ペット\n\n盲導犬は例外です。\n\n# Other\n\nNothing.\n"
    )
    assert find_titles(library, query)[:1] == [title]


_PLAIN = RetrievalOptions()
_RULES: dict[str, float] = {
    name: getattr(keyword, name)
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
            monkeypatch.setattr(keyword, name, weight if name in names else 0.0)

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


def _plan(query: str, weighed_max: int) -> SearchPlan:
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
