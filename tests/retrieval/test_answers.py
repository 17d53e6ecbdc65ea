"""What is shown of a section without a model: the sentence that is likeliest to answer, and which sections."""

import pytest

from roamtui.document.library import Library
from roamtui.retrieval.answers import choose_passages, find_statement
from roamtui.search.base import Hit
from tests.case_files import read_rows
from tests.search.libraries import id_of, make_library


@pytest.mark.parametrize(("question", "text", "answer"), read_rows("retrieval/answers", "likeliest"))
def test_the_likeliest_answer_has_what_the_question_asks_for_near_its_words(
    question: str, text: str, answer: str
) -> None:
    assert find_statement(question, [text]) == answer


@pytest.mark.parametrize(("text", "answer"), read_rows("retrieval/answers", "whole"))
def test_it_is_whole_and_without_markup(text: str, answer: str) -> None:
    assert find_statement("How much is the fee?", [text]) == answer


def _list_titles(library: Library, question: str, **scores: float) -> list[str]:
    hits = [Hit(section_id=id_of(library, title), score=score, why="") for title, score in scores.items()]
    passages, _ = choose_passages(library, question, hits, needs_certainty=False)
    return list(dict.fromkeys(library.node(passage.section_id).title for passage in passages))


def test_a_chapter_has_at_most_two_sections_but_the_document_itself_is_none() -> None:
    boats = "".join(f"Boat{number}\n\nA berth costs {number} crowns.\n\n{{mark}} " for number in range(4))
    fees = (
        f"# Fees\n\n## North\n\n### {boats.format(mark='###')}Last\n\n## South\n\n### Quay\n\nA berth costs 9 crowns.\n"
    )
    scores = {f"Boat{number}": 1.0 - number / 100 for number in range(4)}
    question = "What does a berth cost?"
    assert _list_titles(make_library(fees), question, **scores, Quay=0.9) == ["Boat0", "Boat1", "Quay"]
    flat = make_library(f"# Fees\n\n## {boats.format(mark='##')}Last\n")
    assert _list_titles(flat, question, **scores) == [*scores]


def test_what_search_finds_first_leads_although_a_long_sentence_holds_more_words() -> None:
    plans = "".join(f"({number}) plan {number} of Acme for shares, " for number in range(30))
    report = "# Report\n\n## Staff\n\nWe have 566 employees.\n\n## Law\n\nAcme is sued.\n\n"
    report += f"## Exhibit\n\nFor employees of Acme: {plans}and no more.\n"
    scores = {"Staff": 1.0, "Exhibit": 0.97, "Law": 0.6}
    question = "How many employees does Acme have?"
    assert _list_titles(make_library(report), question, **scores)[0] == "Staff"
    short = report.replace(plans, "30 employees ").replace("566", "our")
    assert _list_titles(make_library(short), question, **scores)[0] == "Exhibit"


def test_a_long_sentence_that_stands_in_two_sections_is_shown_once() -> None:
    rule = "A berth for a boat with two masts costs nine crowns for each night that the boat lies at the quay"
    text = f"# Law\n\n{rule}, and it is paid at noon.\n\n# Change\n\n**Rule 1.** {rule},\nand it is paid at noon.\n\n"
    text += "# North\n\nA berth costs 9 crowns.\n\n# South\n\nA berth costs 9 crowns.\n"
    scores = {"Law": 1.0, "Change": 0.9, "North": 0.8, "South": 0.7}
    assert _list_titles(make_library(text), "What does a berth cost?", **scores) == ["Law", "North", "South"]


@pytest.mark.parametrize(
    ("question", "similarity", "is_answer"),
    [
        ("What does a berth cost?", None, True),
        ("What does a berth cost?", 0.1, True),
        ("What must somebody pay for mooring?", None, False),
        ("What must somebody pay for mooring?", 0.8, True),
        ("What must somebody pay for mooring?", 0.2, False),
    ],
)
def test_similarity_adds_to_what_the_words_of_a_passage_prove(
    question: str, similarity: float | None, *, is_answer: bool
) -> None:
    library = make_library("# Fees\n\n## Harbour\n\nA berth costs 9 crowns.\n")
    hits = [Hit(section_id=id_of(library, "Harbour"), score=1.0, why="", similarity=similarity)]
    assert choose_passages(library, question, hits, needs_certainty=False).is_answer is is_answer
