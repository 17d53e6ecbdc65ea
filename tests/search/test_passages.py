"""Passages are whole blocks of a text, and a long one is cut between sentences, rows and lines of code."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from roamtui.document.text import compute_line_starts
from roamtui.document.tokens import estimate_tokens
from roamtui.search.passages import find_passage, find_question_words, split_passages
from roamtui.search.sentences import split_sentences

_LINES = "text|Words: and more:|**Label**|# Head|===|---|- item|1. one|  more|    deep|> quote|```|<!-- c -->||"
_PIECES = st.lists(
    st.sampled_from([*_LINES.split("|"), "| a | b |", "|---|---|", "A sentence. Another one."]), max_size=30
)
_TOKENS_MAX = 600
_ROWS = "| Name | Use |\n|---|---|\n" + "".join(
    f"| tool {number} | for work of kind {number} |\n" for number in range(200)
)
_ITEMS = "".join(f"- Item {number} of a list is this long sentence.\n" for number in range(200))
_CODE = "```sh\n" + "".join(f"run --number {number} --again\n" for number in range(200)) + "```\n"
_PROSE = " ".join(f"Sentence {number} says nothing at all." for number in range(300))


def _list_blocks(text: str) -> list[tuple[int, int]]:
    """Return the span of each outermost block that is a passage or part of one, without the blanks around it."""
    starts = [*compute_line_starts(text), len(text)]
    spans = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.level == 0 and token.nesting >= 0 and token.map and token.type not in ("heading_open", "hr"):
            start, end = starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)]
            body = text[start:end]
            if body.strip() and not body.lstrip().startswith("<!--"):
                spans.append((start + len(body) - len(body.lstrip()), start + len(body.rstrip())))
    return spans


@given(_PIECES)
def test_every_block_is_whole_within_one_passage(pieces: list[str]) -> None:
    text = "\n".join(("", *pieces))  # at the start of a text, two rules are the marks of its front matter
    passages = split_passages(text)
    for start, end in _list_blocks(text):
        assert sum(passage.start <= start and end <= passage.end for passage in passages) == 1
    for passage in passages:
        assert any(passage.start <= start < passage.end for start, _ in _list_blocks(text))
        assert text[passage.start : passage.end].strip()
    assert all(first.end <= second.start for first, second in pairwise(passages))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fees:\n\n| a |\n|---|\n| 1 |\n\nEnd.\n", ["Fees:\n\n| a |\n|---|\n| 1 |", "End."]),
        ("Do this.\n\n- one\n- two\n", ["Do this.\n\n- one\n- two"]),
        ("Run:\n\n```sh\nls\n```\n", ["Run:\n\n```sh\nls\n```"]),
        (
            "Note:\n\nNo boat leaves on the first of May.\n\nNo car.\n",
            ["Note:\n\nNo boat leaves on the first of May.", "No car."],
        ),
        (
            "# Head\n\nOne is long enough to stand alone.\n\n---\n\nTwo.\n",
            ["One is long enough to stand alone.", "Two."],
        ),
    ],
)
def test_a_table_a_list_and_code_belong_to_the_paragraph_above(text: str, expected: list[str]) -> None:
    assert [text[passage.start : passage.end] for passage in split_passages(text)] == expected


@pytest.mark.parametrize("body", [_ROWS, _ITEMS, _CODE, _PROSE], ids=["rows", "items", "code", "prose"])
@example(share=0.61328125)
@given(share=st.floats(0, 1))
def test_a_long_passage_is_cut_between_units_at_the_bound_of_tokens(body: str, share: float) -> None:
    text = f"What follows is long.\n\n{body}"
    offset = min(len(text.rstrip()) - 1, int(share * len(text)))
    passage = find_passage(text, offset)
    if passage is None:  # a blank line between two passages
        assert not text[offset].strip()
        return
    units = split_sentences(text)
    inside = [unit for unit in units if passage.start <= unit.start < passage.end]
    assert all(unit.end <= passage.end for unit in inside)
    assert not any(unit.start < passage.start < unit.end for unit in units)
    tokens = estimate_tokens(text[passage.start : passage.end])
    assert tokens <= _TOKENS_MAX
    if len(inside) > 1:
        assert tokens > _TOKENS_MAX - 40
    assert passage.start == 0 or text[passage.start - 1] == "\n" or passage.start in {unit.start for unit in units}


@pytest.mark.parametrize(
    ("question", "text", "words"),
    [
        ("How are loans renewed?", "Renew a loan; renewing loans is free.", ["Renew", "loan", "renewing", "loans"]),
        ("What is the fee for a vehicle?", "The price of a car is 3.", ["price", "car"]),
        ("Where is the hanress?", "The harness hangs there.", ["harness"]),
        ("What does max_tokens do?", "Set `max_tokens` to 5, not max.", ["max_tokens"]),
        ("Wann wird gewählt?", "Die Wahl wird am Sonntag gehalten.", ["Wahl"]),
        ("密码是什么?", "请输入密码。", ["密码"]),
        ("What of class B?", "A class is not B.", ["class"]),
    ],
    ids=["forms", "synonyms", "mistyped", "identifier", "german", "chinese", "letter"],
)
def test_words_of_a_question_are_found_as_search_knows_them(question: str, text: str, words: list[str]) -> None:
    found = find_question_words(question, [text]).locate(text)
    assert [text[start:end] for start, end in found] == words
