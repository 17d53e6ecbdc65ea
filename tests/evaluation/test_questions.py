from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.errors import SourceError
from roamtui.evaluation.questions import Gold, Turn, read_questions, sample_questions
from tests.evaluation.folders import CANOE, TYRE, write_questions


def test_a_question_has_its_golds_and_what_was_said_before(tmp_path: Path) -> None:
    alternative = {"doc": "bikes.md", "gold_section_titles_path": ["Prices"], "gold_line": 5}
    history = [{"role": "user", "content": "Have you boats?"}, {"role": "assistant", "content": "Yes."}]
    path = write_questions(tmp_path / "q.jsonl", {**CANOE, "gold_alt": [alternative], "history": history})

    (question,) = read_questions(path).questions

    assert question.golds == (
        Gold(doc="hire/boats.md", titles=("Boats", "Prices", "Canoe"), line=13),
        Gold(doc="bikes.md", titles=("Prices",), line=5),
    )
    assert question.history == (Turn(is_user=True, text="Have you boats?"), Turn(is_user=False, text="Yes."))


@pytest.mark.parametrize("place", [{"line": 3}, {"path": ["A", "B"]}, {"heading": "B"}, {"gold_line": 1}])
def test_a_persons_own_file_needs_only_question_document_and_place(tmp_path: Path, place: dict[str, object]) -> None:
    path = write_questions(tmp_path / "q.jsonl", "", {"doc": "a.md", "question": "Why?", **place})

    read = read_questions(path)

    assert [question.id for question in read.questions] == ["line 2"]
    assert read.problems == ()


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("{", "is no JSON"),
        ("[]", "is no JSON object"),
        ('{"doc": "a.md", "line": 1}', 'needs "question"'),
        ('{"doc": "a.md", "question": " ", "line": 1}', 'needs "question"'),
        ('{"question": "Why?", "line": 1}', 'needs "doc"'),
        ('{"doc": "a.md", "question": "Why?"}', "needs"),
        ('{"doc": "a.md", "question": "Why?", "line": 0}', "line number"),
        ('{"doc": "a.md", "question": "Why?", "line": true}', "line number"),
        ('{"doc": "a.md", "question": "Why?", "path": [1]}', "needs"),
        ('{"doc": "a.md", "question": "Why?", "line": 1, "gold_alt": [1]}', "gold_alt"),
        ('{"doc": "a.md", "question": "Why?", "line": 1, "history": [1]}', "history"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_the_rest_is_used(tmp_path: Path, line: str, word: str) -> None:
    read = read_questions(write_questions(tmp_path / "q.jsonl", CANOE, line, TYRE))

    assert [question.id for question in read.questions] == ["canoe", "tyre"]
    (problem,) = read.problems
    assert problem.startswith("q.jsonl line 2 ")
    assert word in problem


def test_bytes_that_are_no_utf_8_are_told(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'{"question": "\xff"}\n')

    assert read_questions(path).problems == ("q.jsonl line 1 is no UTF-8; it is left out.",)


def test_a_sample_is_the_same_for_the_same_seed_and_in_order(tmp_path: Path) -> None:
    lines = [{**TYRE, "id": f"q{number:02}"} for number in range(30)]
    questions = read_questions(write_questions(tmp_path / "q.jsonl", *lines)).questions

    first = [question.id for question in sample_questions(questions, 8, 1)]

    assert first == [question.id for question in sample_questions(questions, 8, 1)]
    assert first == sorted(first)
    assert len(set(first)) == 8
    assert first != [question.id for question in sample_questions(questions, 8, 2)]
    assert sample_questions(questions, 100, 1) == questions


def test_an_id_is_used_once(tmp_path: Path) -> None:
    read = read_questions(write_questions(tmp_path / "q.jsonl", CANOE, CANOE))

    assert len(read.questions) == 1
    assert read.problems == ("q.jsonl line 2 has the id of line 1; it is left out.",)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read_questions(tmp_path / "none.jsonl")
