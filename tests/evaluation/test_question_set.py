"""Question files, and the sections that count as hits for a question."""

from pathlib import Path

import pytest

from roamtui.document.document import Document
from roamtui.document.parse import parse_document
from roamtui.evaluation.question_set import EvalQuestion, Gold, Turn, read_questions, resolve_golds
from tests.evaluation.folders import BIKES, BOATS, CANOE, write_questions


def test_a_question_has_golds_and_history(tmp_path: Path) -> None:
    alternative = {"doc": "bikes.md", "gold_section_titles_path": ["Prices"], "gold_line": 5}
    history = [{"role": "user", "content": "Have you boats?"}, {"role": "assistant", "content": "Yes."}]
    path = write_questions(tmp_path / "q.jsonl", {**CANOE, "gold_alt": [alternative], "history": history})

    (question,), _ = read_questions(path)

    places = [(gold.doc, gold.titles, gold.gold_line) for gold in question.golds]
    assert places == [("hire/boats.md", ("Boats", "Prices", "Canoe"), 13), ("bikes.md", ("Prices",), 5)]
    assert question.history == (Turn("Have you boats?", "user"), Turn("Yes.", "assistant"))


_BOATS = parse_document(BOATS, key="boats.md")
_BIKES = parse_document(BIKES, key="bikes.md")
_DOCUMENTS = {"boats.md": _BOATS, "bikes.md": _BIKES}


def _gold(*titles: str, doc: str = "boats.md", line: int | None = None) -> Gold:
    return Gold(doc=doc, path=titles, gold_line=line)


def _question(gold: Gold, *alternatives: Gold, is_page: bool = False, own_only: bool = False) -> EvalQuestion:
    return EvalQuestion(
        doc=gold.doc,
        question="?",
        path=gold.path,
        gold_line=gold.gold_line,
        gold_alt=alternatives,
        gold_is_page=is_page,
        gold_own_only=own_only,
    )


def _name(ids: frozenset[str], document: Document = _BOATS) -> set[str]:
    return {document.columns.titles[row] for section_id, row in document.rows_by_id.items() if section_id in ids}


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        (_question(_gold("Boats", "Prices")), {"Prices", "Rowing boat", "Canoe"}),
        (_question(_gold("Boats", "Prices"), own_only=True), {"Prices"}),
        (
            _question(_gold("Boats", "Safety"), is_page=True),
            {"Boats", "Prices", "Rowing boat", "Canoe", "Safety"},
        ),
        (_question(_gold("Boats", "Safety", line=2)), {"Safety"}),  # the heading has moved
    ],
)
def test_subsections_of_a_gold_section_are_hits_by_default(question: EvalQuestion, titles: set[str]) -> None:
    assert _name(resolve_golds(question, _DOCUMENTS).strict) == titles
