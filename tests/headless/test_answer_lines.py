"""Answers in a terminal: verdicts, widths, and no sequence that is not ours."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.headless.answer_lines import render_answer
from roamtui.quotes.verdicts import make_proof
from tests.case_files import read_rows
from tests.export.answering import LABELS, answer_question

_SEQUENCE = re.compile(r"\x1b\[([\d;]+)m")
_STRUCK_RED, _GREEN, _YELLOW = "9;31", "4;32", "4;33"


def write(answer: str, *, width: int = 80, is_styled: bool = False) -> str:
    return render_answer(make_proof(answer, (), ()), width=width, is_styled=is_styled)


def test_quotes_and_marks_have_the_verdicts_of_the_screen() -> None:
    exchange = answer_question().exchanges[-1]
    proof = make_proof(exchange.answer, exchange.citations, ())
    text = render_answer(proof, width=80, is_styled=True)
    styled = re.findall(r"\x1b\[([\d;]+)m([^\x1b]*)\x1b\[0m", text)
    assert [(codes, words) for codes, words in styled if words.startswith('"')] == [
        (_GREEN, '"2 euros a day"'),
        (_STRUCK_RED, '"9 dollars"'),
        (_YELLOW, '"Open daily"'),
        (_STRUCK_RED, '"Books can … for more"'),
    ]
    assert [words for codes, words in styled if codes.startswith("1;")] == LABELS
    plain = render_answer(proof, width=80, is_styled=False)
    assert plain == _SEQUENCE.sub("", text.replace("\x1b[0m", ""))


def test_a_sentence_without_a_source_has_a_style_of_its_own() -> None:
    proof = make_proof("It is two. It is **six** of them.", (), (), [(11, 33)])
    text = render_answer(proof, width=80, is_styled=True)
    assert text == "It is two. \x1b[3;33mIt is six of them.\x1b[0m\n"


@pytest.mark.parametrize(("answer", "lines"), read_rows("headless/answer_lines", "lines"))
def test_markdown_is_laid_out_in_lines(answer: str, lines: list[str]) -> None:
    assert write(answer, width=20).splitlines() == lines


@given(st.text(alphabet=st.sampled_from('\x1b\x9b\x07\r\n []();`*_#|-"abc0123m&#;x\u202e'), max_size=80))
def test_no_sequence_of_an_answer_reaches_the_terminal(answer: str) -> None:
    text = _SEQUENCE.sub("", write(answer + "&#27;[31m &#x9b;1m", is_styled=True))
    assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text) is None


@given(st.text(alphabet='ab 每\n*"', max_size=120), st.integers(20, 40))
def test_prose_fits_the_width(answer: str, width: int) -> None:
    for line in write(answer, width=width).splitlines():
        is_code = line.startswith("    ")
        assert is_code or sum(2 if letter == "每" else 1 for letter in line) <= width
