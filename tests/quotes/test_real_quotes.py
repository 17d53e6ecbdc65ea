"""Quotes from real documents and those that people judged: true ones are found, and false ones are not.

The handbook is here everywhere, the other documents only with the folder of real ones.
"""

import json
from typing import Any

import pytest

from roamtui.quotes.find import find_quote
from tests.benchmarks.quotes import IS_THERE, Source, judge_false, judge_true
from tests.real_documents import PROJECT_DIR, find_data_dir, list_documents, read_document

_HANDBOOK = str(PROJECT_DIR / "examples" / "handbook.md")
_FILES = list_documents("financebench/pdfs/AMCOR_2023Q4_EARNINGS.pdf")
_CONTRACTS = tuple(list_documents("sets/cuad-contracts/docs/*.md")[:5])
_SOURCES: list[Source] = [*((name,) for name in (_HANDBOOK, *_FILES)), *([_CONTRACTS] if _CONTRACTS else [])]
_SETS = ("cuad-contracts", "dstc10-followups", "dstc11-followups", "vespa-docs")
_QUOTES = 20
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


def _read_pairs() -> list[dict[str, Any]]:
    """Read pairs of a quote and a text, with the states that people accept; none without the file."""
    path = find_data_dir().parent / "cases" / "proof.jsonl"
    lines = path.read_text("utf-8").split("\n") if path.is_file() else []
    pairs = [json.loads(line) for line in lines if line]
    # here, nothing tells the readings of letters from the words
    return [pair for pair in pairs if pair["name"] != "spelling ruby"]


@pytest.mark.parametrize("pair", _read_pairs(), ids=lambda pair: pair["name"])
def test_quotes_are_judged_as_people_judge_them(pair: dict[str, Any]) -> None:
    match = find_quote(pair["quote"], pair["text"])
    state = "no" if match is None else "exact" if match.is_exact else "same"
    assert state in pair["may"]
