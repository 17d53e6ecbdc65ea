"""What is shown of a section without a model: the sentence that is likeliest to answer, and which sections."""

import re
from collections.abc import Sequence

import pytest

from roamtui.document.library import Library
from roamtui.markdown.quoted_sentence import KeySentence
from roamtui.retrieval import policy
from roamtui.retrieval.best_passages import choose_passages, list_all_passages, list_found_words
from roamtui.search.base import Comparison, Hit
from roamtui.search.searcher import Searcher
from roamtui.text import Span
from tests.case_files import read_rows
from tests.search.libraries import id_of, make_library


@pytest.fixture
def has_room_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show no sentence beside the likeliest one."""
    monkeypatch.setattr(policy, "SHOWN_TOKENS_MAX", 1)


def _read_likeliest(question: str, text: str, compare: Comparison | None = None) -> KeySentence:
    library = make_library(f"# Section\n\n{text}")
    hits = [Hit(section_id=id_of(library, "Section"), score=1.0, why="")]
    return choose_passages(library, [question], hits, compare=compare)[0].key_sentence


@pytest.mark.usefixtures("has_room_for_one")
@pytest.mark.parametrize(("question", "text", "answer"), read_rows("retrieval/best_passages", "likeliest"))
def test_the_likeliest_sentence_has_most_words_of_the_question(question: str, text: str, answer: str) -> None:
    assert _read_likeliest(question, text).words == answer


@pytest.mark.usefixtures("has_room_for_one")
@pytest.mark.parametrize(("text", "answer"), read_rows("retrieval/best_passages", "whole"))
def test_it_is_whole_and_without_markup(text: str, answer: str) -> None:
    assert _read_likeliest("How much is the fee?", text).words == answer


def test_it_comes_with_the_sentences_of_its_paragraph_that_have_room() -> None:
    around = "The boat is old. A berth costs 9 crowns. It is paid in May."
    text = f"{'Boats lie here in the sun. ' * 20}{around}{' Nobody swims there.' * 20}\n\nMore.\n"
    shown = _read_likeliest("What does a berth cost?", text).words
    assert around in shown
    assert len(shown) < len(text) * 2 / 3
    assert _read_likeliest("What does a berth cost?", f"{around}\n").words == "", "all of it is shown"


def test_a_very_long_sentence_is_cut_around_the_words_of_the_question() -> None:
    words = [f"{kind} {number} and" for number in range(99) for kind in ("ropes", "masts")]
    text = f"We lend {' '.join(words[:99])} a berth that costs 9 crowns, {' '.join(words[99:])} more.\n"
    shown = _read_likeliest("What does a berth cost?", text).words
    assert "a berth that costs 9 crowns," in shown
    assert re.fullmatch(r"\[…\] .* \[…\]", shown), shown
    assert len(shown) < len(text) * 2 / 3


def test_code_is_shown_whole_up_to_the_length_of_a_list() -> None:
    lines = [f"berth --number {number} --from {number} --to {number + 1} --paid" for number in range(40)]
    for count, is_whole in ((policy.SENTENCES_MAX, True), (len(lines), False)):
        text = "\n".join(("Run:", "", "```", *lines[:count], "```", ""))
        assert (_read_likeliest("berth number 0", text).words == "") is is_whole


@pytest.mark.parametrize("margin", ["", "  "])
def test_a_line_of_code_is_shown_with_the_lines_around_it(margin: str) -> None:
    others = [f"option_{number} = {number}" for number in range(40)]
    code = ["```", *others, "[retry]", "# attempts = 1 turns it off", "attempts = 3", *others, "```"]
    item = "- Change the file:\n\n" if margin else ""
    text = item + "".join(f"{margin}{line}\n" for line in code)
    shown = _read_likeliest("How do I stop it from retrying?", text).words
    assert "option_39 = 39 [retry] # attempts = 1 turns it off attempts = 3" in shown
    assert len(shown) < len(text) * 2 / 3


def test_a_table_whose_rows_no_word_tells_apart_is_shown_whole_up_to_eight_lines() -> None:
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Holidays"]
    for count, is_whole in ((7, True), (8, False)):
        rows = "".join(f"| {day} | {hour} | 18 |\n" for hour, day in enumerate(days[:count], 9))
        text = f"The shop is in Dock Street. It sells ropes.\n\n| Day | Opens | Closes |\n|---|---|---|\n{rows}"
        assert (_read_likeliest("When do you open?", text).words == "") is is_whole


def test_a_row_has_the_words_that_another_table_has_for_it() -> None:
    library = make_library(
        "# Classes\n\n| Class | Covers |\n|---|---|\n| B | drills |\n| C | chainsaws |\n\n"
        "# Deposits\n\nA deposit is held.\n\n| Class | Deposit |\n|---|---|\n| B | £25 |\n| C | £100 |\n"
    )
    passages = choose_passages(
        library, ["deposit for a chainsaw"], Searcher(library).search(library, "deposit chainsaw")
    )
    assert passages[0].key_sentence.row == "Class C | Deposit: £100"


def test_a_row_has_the_columns_first_that_the_question_names() -> None:
    table = "| In $ million | 2023 | 2022 | Change |\n|---|---|---|---|\n| Sales | 9 | 8 | 1 |\n| Costs | 7 | 6 | 1 |\n"
    shown = _read_likeliest("What were the sales of 2022?", table).shown
    assert shown == "In $ million Sales | 2022: 8 | 2023: 9 | Change: 1"


def test_a_row_that_answers_only_with_a_row_of_another_table_comes_first_although_no_search_found_it() -> None:
    library = make_library(
        "# Punts\n\nA punt is long. Each punt has a pole.\n\n"
        "# Classes\n\n| Class | Covers |\n|---|---|\n| B | barges |\n| C | punts |\n\n"
        "# Deposits\n\n| Class | Deposit |\n|---|---|\n| B | £25 |\n| C | £100 |\n"
    )
    hits = [Hit(section_id=id_of(library, title), score=1.0, why="") for title in ("Punts", "Deposits")]
    passages = choose_passages(library, ["whats the deposit for a punt"], hits)
    assert passages[0].key_sentence.row == "Class C | Deposit: £100"
    assert passages[0].key_sentence.beside == "Class C | Covers punts"
    passages = choose_passages(library, ["whats the deposit of £100 for a punt"], hits)
    assert passages[0].key_sentence.beside == "Class C | Covers punts", "not the row itself"
    passages = choose_passages(library, ["whats the deposit for a punt"], hits[:1])
    assert library.node(passages[0].section_id).title == "Deposits"


def _list_titles(library: Library, question: str, **scores: float) -> list[str]:
    hits = [Hit(section_id=id_of(library, title), score=score, why="") for title, score in scores.items()]
    passages = choose_passages(library, [question], hits)
    return list(dict.fromkeys(library.node(passage.section_id).title for passage in passages))


def test_the_titles_above_a_passage_say_what_it_is_about() -> None:
    library = make_library(
        "# Hotels\n\n## Crown\n\n### Food at the Crown\n\nBreakfast costs 9 crowns.\n\n"
        "## Swan\n\n### Food\n\nBreakfast costs 6 crowns.\n\n### Bar\n\nThe Swan has a bar.\n"
    )
    scores = {"Food at the Crown": 1.0, "Bar": 1.0, "Food": 1.0}
    assert _list_titles(library, "What does breakfast cost at the Swan?", **scores)[0] == "Food"


_TWO_TABLES = """# Fees

## Hire

| Item | Hire per day | Deposit |
|---|---|---|
| Ladder | £5 | |
| Cargo bike | £30 | £100 |

## Overdue

| Item | Late per day | Lost |
|---|---|---|
| Ladder | £2 | £60 |
| Cargo bike | £10 | |

## Thursdays

A late bike ride leaves at nine.
"""


def test_the_words_of_column_heads_count_for_each_row_that_they_head() -> None:
    library = make_library(_TWO_TABLES)
    hits = [Hit(section_id=id_of(library, "Fees"), score=1.0, why="")]
    passages = choose_passages(library, ["how much is a late cargo bike per day"], hits)
    best = max(passages, key=lambda passage: passage.score)
    assert library.node(best.section_id).title == "Overdue"


@pytest.mark.parametrize(
    "text",
    ["[Berth fees](#fees)", "- 2.3 Berth fees ...... 17\n- [Cost of a berth](#cost)", "**Berth fees**"],
)
def test_a_title_and_a_line_of_contents_are_no_passage(text: str) -> None:
    library = make_library(f"# Harbour\n\n## Contents\n\n{text}\n\n## Berth fees\n\nA berth costs 9 crowns.\n")
    assert _list_titles(library, "What are the berth fees?", **{"Contents": 1.0, "Berth fees": 0.9}) == ["Berth fees"]


@pytest.mark.parametrize("similarity", [None, 0.0])
@pytest.mark.parametrize("question", ["install", "How do I install?"])
def test_a_section_whose_title_has_all_words_of_the_question_is_near(question: str, similarity: float | None) -> None:
    library = make_library("# Client\n\n## Installing the client\n\nFetch it, and sign in.\n\n# Fees\n\nNone.\n")
    hits = [Hit(section_id=id_of(library, "Installing the client"), score=1.0, why="", similarity=similarity)]
    assert choose_passages(library, [question], hits)


@pytest.mark.parametrize(
    ("question", "similarity", "is_near"),
    [
        ("What does a berth cost?", None, True),
        ("What does a berth cost?", 0.1, True),
        ("Is mooring expensive?", None, False),
        ("Is mooring expensive?", 0.8, True),
        ("Is mooring expensive?", 0.2, False),
        ("What happens to a berth?", -0.1, True),
    ],
)
def test_a_passage_is_near_by_its_words_or_by_the_meaning_of_its_section(
    question: str, similarity: float | None, *, is_near: bool
) -> None:
    library = make_library("# Fees\n\n## Harbour\n\nA berth costs 9 crowns.\n")
    hits = [Hit(section_id=id_of(library, "Harbour"), score=1.0, why="", similarity=similarity)]
    assert bool(choose_passages(library, [question], hits)) is is_near


def test_of_passages_with_the_same_words_the_nearest_in_meaning_comes_first() -> None:
    library = make_library("# Fees\n\nIts price is 9 crowns.\n\nThe price is a secret.\n")
    hits = [Hit(section_id=id_of(library, "Fees"), score=1.0, why="")]

    def compare(_queries: Sequence[str], texts: Sequence[str]) -> list[float]:
        return [0.9 if "secret" in text else 0.1 for text in texts]

    def list_texts(compare: Comparison | None) -> list[str]:
        passages = choose_passages(library, ["What is the price?"], hits, compare=compare)
        return [library.clean_text(passage.span).strip() for passage in passages]

    assert list_texts(None) == ["Its price is 9 crowns.", "The price is a secret."]
    assert list_texts(compare) == ["The price is a secret.", "Its price is 9 crowns."]
    assert list_texts(lambda *_: ()) == list_texts(None)


def test_the_rank_of_a_hit_counts_too_where_meaning_decides() -> None:
    library = make_library(
        "# Hotels\n\n## Crown\n\n### Dogs\n\nDogs may come.\n\n## Swan\n\n### Pets\n\nNo animals may come.\n"
    )
    scores = {"Pets": 1.0, "Dogs": 0.4}  # the conversation is about the Swan
    hits = [
        Hit(section_id=id_of(library, title), score=score, why="", similarity=0.5) for title, score in scores.items()
    ]

    def compare(_queries: Sequence[str], texts: Sequence[str]) -> list[float]:
        return [0.7 if "Dogs" in text else 0.6 for text in texts]

    passages = choose_passages(library, ["Is my hound welcome?"], hits, compare=compare)
    assert [library.node(passage.section_id).title for passage in passages] == ["Pets", "Dogs"]


def _prefer(words: str) -> Comparison:
    return lambda _queries, texts: [0.9 if words in text else 0.1 for text in texts]


def test_of_all_passages_of_a_short_document_the_nearest_in_meaning_comes_first() -> None:
    library = make_library("# Soup\n\nIt serves four.\n\n## Keeping\n\nFreeze it for a month.\n")

    def list_texts(compare: Comparison) -> list[str]:
        passages = list_all_passages(library, "Can I store it?", compare)
        return [library.clean_text(passage.span).strip() for passage in passages]

    assert list_texts(lambda *_: ()) == ["It serves four.", "Freeze it for a month."]
    assert list_texts(_prefer("Freeze")) == ["Freeze it for a month.", "It serves four."]


@pytest.mark.parametrize(("others", "shown"), [(0, ""), (8, "Punt | 3 crowns")])
def test_meaning_chooses_a_row_only_of_a_table_too_long_to_show(others: int, shown: str) -> None:
    rows = "".join(f"| Barge {number} | 5 crowns |\n" for number in range(others))
    table = (
        f"Fees depend on the class.\n\n| Class | Fee |\n|---|---|\n| Barge | 5 crowns |\n| Punt | 3 crowns |\n{rows}"
    )
    compare = _prefer("Class Punt | Fee: 3 crowns")
    assert _read_likeliest("What is the fee for a small boat?", table, compare).words == shown
    assert _read_likeliest("What is the fee for a punt?", table).words == "Punt | 3 crowns", "a word chooses it"


def test_a_short_list_is_shown_with_the_sentence_that_leads_it_in() -> None:
    items = "- Up to £30: the shift lead.\n- Above: the full board.\n"
    text = f"Who may approve a purchase depends on its size.\n\n{items}"
    assert _read_likeliest("Who approves a purchase of £900?", text) == KeySentence()


@pytest.mark.parametrize(
    ("text", "question", "shown"),
    [
        (
            "The pool has hours:\n\n10. Open daily\n    - except Monday\n    - and Christmas\n11. Children swim.\n",
            "When is it open daily?",
            "Open daily except Monday and Christmas",
        ),
        (
            "The pool has hours:\n\n10. Open daily\n    - except Monday\n    - and Christmas\n11. Children swim.\n",
            "What is on Monday?",
            "10. Open daily except Monday",
        ),
        ("You may dive\n\nexcept in the shallow end.\n\nPay.\n", "Can I dive?", ""),
        ("**Rules**\n\nPay. You may dive\n\nexcept there.\n", "Can I dive?", "Pay. You may dive except there."),
        ("**Rules**\n\nYou may dive\n\nexcept at night.\n", "What is at night?", "You may dive except at night."),
    ],
)
def test_a_sentence_is_shown_with_what_continues_it_and_the_items_around_it(
    text: str, question: str, shown: str
) -> None:
    assert _read_likeliest(question, text).words == shown


def test_words_that_the_titles_have_do_not_choose_the_row() -> None:
    rows = "| Net income of Acme | 50 |\n| Net sales | 500 |\n"
    library = make_library(f"# Acme report\n\n## Results\n\n| Item | 2023 |\n|---|---|\n{rows}")
    hits = [Hit(section_id=id_of(library, "Results"), score=1.0, why="")]
    passage = choose_passages(library, ["What were the net sales of Acme?"], hits)[0]
    assert passage.key_sentence.words == "Net sales | 500"


def test_meaning_adds_a_passage_without_a_word_of_the_question() -> None:
    text = "# Harbour\n\nBoats lie here.\n\n" + "The boat is old.\n\n" * 20 + "A berth costs 9 crowns.\n"
    library = make_library(text)
    hits = [Hit(section_id=id_of(library, "Harbour"), score=1.0, why="", similarity=0.5)]
    start = text.index("A berth")
    pieces = [Span(doc=library.root.key, start=start, end=len(text))]
    compare = _prefer("berth")

    def read_first(pieces: Sequence[Span]) -> str:
        passages = choose_passages(library, ["How dear is a boat?"], hits, pieces=pieces, compare=compare)
        return library.clean_text(passages[0].span).strip()

    assert read_first(pieces) == "A berth costs 9 crowns."
    assert read_first(()) != "A berth costs 9 crowns."


@pytest.mark.parametrize(("question", "found"), read_rows("retrieval/best_passages", "found"))
def test_the_words_that_a_text_has_are_named_as_the_question_writes_them(question: str, found: list[str]) -> None:
    texts = ("Sick pay", "Employees get **half** of their wages for up to ten weeks. What more? £11.\n\n| Class | E |")
    assert [*list_found_words(question, texts)] == found


def test_a_synonym_is_not_named_as_a_word_of_the_question_that_a_text_has() -> None:
    assert list_found_words("Darf man ein Haus durchsuchen?", ["Gebäude darf man durchsuchen."]) == ("durchsuchen",)


def test_a_second_passage_with_the_same_words_takes_no_place_unless_its_titles_fit_otherwise() -> None:
    rule = "A berth costs 9 crowns."
    text = f"# Harbour\n\n{rule}\n\n# Rules\n\n*{rule}*\n\n# Berth of a yacht\n\n{rule}\n"
    library = make_library(text)
    question = "What does a berth cost for a yacht?"
    found = choose_passages(library, [question], Searcher(library).search(library, question))
    titles = [library.node(passage.section_id).title for passage in found]
    assert titles[0] == "Berth of a yacht"
    assert len(titles) == 2
