"""Answers in a terminal: verdicts, widths, and no sequence that is not ours."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.agent.loop import Agent
from roamtui.agent.passages import list_passages
from roamtui.conversation.conversation import Conversation
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.headless.answer_lines import render_answer, render_passages, render_source_list
from roamtui.models.registry import NoModel
from roamtui.quotes.verdicts import make_proof
from roamtui.search.keyword import KeywordSearcher
from tests.export.answering import LABELS, answer_question

_SEQUENCE = re.compile(r"\x1b\[([\d;]+)m")
_STRUCK_RED, _GREEN, _YELLOW = "9;31", "4;32", "4;33"


def write(answer: str, *, width: int = 80, is_styled: bool = False) -> str:
    return render_answer(answer, make_proof(answer, ()), width=width, is_styled=is_styled)


def test_quotes_and_marks_have_the_verdicts_of_the_screen() -> None:
    exchange = answer_question().transcript.exchanges[-1]
    proof = make_proof(exchange.answer, exchange.citations)
    text = render_answer(exchange.answer, proof, width=80, is_styled=True)
    styled = re.findall(r"\x1b\[([\d;]+)m([^\x1b]*)\x1b\[0m", text)
    assert [(codes, words) for codes, words in styled if words.startswith('"')] == [
        (_GREEN, '"2 euros a day"'),
        (_STRUCK_RED, '"9 dollars"'),
        (_YELLOW, '"Open daily"'),
        (_STRUCK_RED, '"Books can … for more"'),
    ]
    assert [words for codes, words in styled if codes.startswith("1;")] == LABELS
    plain = render_answer(exchange.answer, proof, width=80, is_styled=False)
    assert plain == _SEQUENCE.sub("", text.replace("\x1b[0m", ""))


def test_each_source_is_one_line_with_its_number_sign_and_place() -> None:
    state = answer_question()
    exchange = state.transcript.exchanges[-1]
    text = render_source_list(exchange.citations, "", state.library, width=100, is_styled=False)
    assert text.splitlines() == [
        "Sources  4 quotes: 1 where cited, 1 elsewhere, 2 nowhere",
        " 1 ✓ Fees · line 11 “2 euros a day”",
        " 2 ✗ Fees · these words are not in the text “9 dollars”",
        " 3 ! Lost books · these words stand in Hours, line 20 “Open daily”",
        " 4 ✗ Lending · these words are not in the text “Books can … for more”",
        " 5 Hours · lines 18-20",
    ]


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        ("> one two three four five", ["▌ one two three four", "▌ five"]),
        ("```py\nx = 1\n\n  y = 'a long line of code'\n```", [" py", " x = 1", "", "   y = 'a long line of code'"]),
        (
            "| a | b |\n|---|---|\n| 1 | c d e f g h i j k l m |",
            ["a │ b", "──┼─────────────────", "1 │ c d e f g h i j", "  │ k l m"],
        ),
        ("a [link](https://e.org) b", ["a link", "(https://e.org) b"]),
        ("a [link](rules.md)\\\nb ![pic](x.png)", ["a link", "b [image: pic]"]),
        ("a <https://e.org> b", ["a https://e.org b"]),
    ],
)
def test_markdown_is_laid_out_in_lines(answer: str, lines: list[str]) -> None:
    assert write(answer, width=20).splitlines() == lines


def test_links_in_quotes_are_their_words() -> None:
    state = answer_question('It says "See the [rules](https://e.org/rules)" [{Lending}].')
    exchange = state.transcript.exchanges[-1]
    text = render_answer(exchange.answer, make_proof(exchange.answer, exchange.citations), width=80, is_styled=False)
    assert text.startswith('It says "See the rules" [1')


@given(st.text(alphabet=st.sampled_from('\x1b\x9b\x07\r\n []();`*_#|-"abc0123m&#;x\u202e'), max_size=80))
def test_no_sequence_of_an_answer_reaches_the_terminal(answer: str) -> None:
    text = _SEQUENCE.sub("", write(answer + "&#27;[31m &#x9b;1m", is_styled=True))
    assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text) is None


@given(st.text(alphabet='ab 每\n*"', max_size=120), st.integers(20, 40))
def test_prose_fits_the_width(answer: str, width: int) -> None:
    for line in write(answer, width=width).splitlines():
        is_code = line.startswith("    ")
        assert is_code or sum(2 if letter == "每" else 1 for letter in line) <= width


async def test_passages_are_laid_out_with_path_place_and_words_of_the_question() -> None:
    table = "| Season | Price |\n|---|---|\n| Summer | 30 crowns |\n"
    text = f"# Ferry\n\n## Tickets\n\n### Cars\n\nA car costs this much:\n\n{table}"
    library = Library(source="ferry.md", root=parse_document(text))
    session = Conversation(library)
    question = "What is the price of a car?"
    await Agent(session, NoModel(), KeywordSearcher(library)).ask(question)
    passages = list_passages(session.state.transcript.exchanges[-1], library)
    assert render_passages(passages, question, library, width=40, is_styled=False).splitlines() == [
        "1 Tickets › Cars · lines 7-11",
        "  A car costs this much:",
        "",
        "  Season │ Price",
        "  ───────┼──────────",
        "  Summer │ 30 crowns",
    ]
    styled = render_passages(passages, question, library, width=40, is_styled=True)
    assert "A \x1b[1mcar\x1b[0m \x1b[1mcosts\x1b[0m this much" in styled


async def test_a_passage_shows_its_footnotes() -> None:
    text = "# Pump\n\nPour water.[^1] Then start.\n\n[^1]: Distilled.\n"
    library = Library(source="pump.md", root=parse_document(text))
    session = Conversation(library)
    await Agent(session, NoModel(), KeywordSearcher(library)).ask("What do I pour into the pump?")
    passages = list_passages(session.state.transcript.exchanges[-1], library)
    shown = render_passages(passages, "water", library, width=40, is_styled=False)
    assert "  Pour water.[^1] Then start." in shown.splitlines()
