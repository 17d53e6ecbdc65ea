"""Quotes from real documents and those that people judged: true ones are found, and false ones are not."""

import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from roamtui.markdown.units import Sentence, split_sentences
from roamtui.quotes.find import find_quote
from tests.benchmarks.quotes import IS_THERE, Source, judge_false, judge_true, read_source
from tests.quotes.judged_pairs import find_wrong_pairs, read_pairs
from tests.real_documents import find_data_dir, list_documents, read_document

_FILES = list_documents("books/us-constitution.md", "financebench/pdfs/AMCOR_2023Q4_EARNINGS.pdf")
_CONTRACTS = tuple(list_documents("sets/cuad-contracts/docs/*.md")[:5])
_SOURCES: list[Source] = [*((name,) for name in _FILES), *([_CONTRACTS] if _CONTRACTS else [])]
_SETS = ("cuad-contracts", "dstc10-followups", "dstc11-followups", "vespa-docs")
_QUOTES = 50
_LENGTH = 30_000
"""Characters of a text, about as many as one delivery has."""


@pytest.mark.slow
@pytest.mark.parametrize("source", _SOURCES, ids=lambda source: source[0].rpartition("/")[2])
def test_true_quotes_are_found_and_false_ones_are_not(source: Source) -> None:
    judged = judge_true(source, _QUOTES)
    assert len(judged) == _QUOTES
    assert [one for one in judged if not one.is_found] == []
    assert [one for one in judge_false(source, _QUOTES) if one.is_found and one.way != IS_THERE] == []


@pytest.mark.parametrize("name", list_documents(*(f"sets/{name}/questions.jsonl" for name in _SETS)))
def test_answers_that_people_marked_are_found(name: str) -> None:
    lines = (find_data_dir() / name).read_text("utf-8").splitlines()
    for line in lines[:: len(lines) // 40 + 1]:
        row = json.loads(line)
        text = read_document(f"{name.rpartition('/')[0]}/docs/{row['doc']}")
        section = text.split("\n", row["gold_line"] - 1)[-1]
        assert find_quote(row["gold_text"], section[:_LENGTH]), row["question"]


@pytest.mark.skipif(not read_pairs(), reason="no judged pairs")
def test_quotes_are_judged_as_people_judge_them() -> None:
    wrong = find_wrong_pairs(read_pairs())
    assert not wrong, "\n".join(wrong)


def _fold(text: str) -> str:
    """Return the words of a text, without what is no difference between two quotes."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(words)} "


@pytest.mark.skipif(not _SOURCES, reason="no real documents")
@given(st.data())
def test_pieces_of_two_sentences_are_not_found(data: st.DataObject) -> None:
    _, part = read_source(data.draw(st.sampled_from(_SOURCES)))[0]
    text = part.source[:_LENGTH]
    sentences = split_sentences(text)
    index = data.draw(st.integers(0, len(sentences) - 2))
    pair = sentences[index : index + 2]
    assume(text[: pair[0].end].rstrip('"”’)*_').endswith((".", "!", "?")))  # parts of a long one are no pair
    pieces = [_draw_words(data, text, one) for one in pair]
    words = _fold(text)
    assume(all(words.count(_fold(piece)) == 1 and "…" not in piece and "..." not in piece for piece in pieces))
    assume(re.search(r"\w", text[text.index(pieces[0]) + len(pieces[0]) : text.index(pieces[1])]))  # words left out
    quote = data.draw(st.sampled_from([" … ", " […] ", " ... ", "… "])).join(pieces)
    assert find_quote(quote, text) is None


def _draw_words(data: st.DataObject, text: str, sentence: Sentence) -> str:
    words = [*re.compile(r"\S+").finditer(text, sentence.start, sentence.end)]
    start = data.draw(st.integers(0, max(0, len(words) - 3)))
    end = data.draw(st.integers(min(start + 2, len(words) - 1), len(words) - 1))
    return text[words[start].start() : words[end].end()]
