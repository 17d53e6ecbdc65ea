"""What counts as a hit: a rule, a test."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roamtui.document.document import Document
from roamtui.document.parse import parse_document
from roamtui.evaluation.golds import GoldError, find_gold_ids
from roamtui.evaluation.questions import EvalQuestion, Gold
from tests.evaluation.folders import BIKES, BOATS

_BOATS = parse_document(BOATS, key="boats.md")
_BIKES = parse_document(BIKES, key="bikes.md")
_DOCUMENTS = {"boats.md": _BOATS, "bikes.md": _BIKES}


def _gold(*titles: str, doc: str = "boats.md", line: int | None = None) -> Gold:
    return Gold(doc=doc, titles=titles, line=line)


def _question(*golds: Gold, is_page: bool = False, is_own_only: bool = False) -> EvalQuestion:
    return EvalQuestion(
        id="q", line_number=1, doc=golds[0].doc, question="?", golds=golds, is_page=is_page, is_own_only=is_own_only
    )


def _name(ids: frozenset[str], document: Document = _BOATS) -> set[str]:
    return {document.columns.titles[row] for section_id, row in document.rows_by_id.items() if section_id in ids}


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        (_question(_gold("Boats", "Prices")), {"Prices", "Rowing boat", "Canoe"}),
        (_question(_gold("Boats", "Prices"), is_own_only=True), {"Prices"}),
        (_question(_gold("Boats", "Safety"), is_page=True), {"Boats", "Prices", "Rowing boat", "Canoe", "Safety"}),
        (_question(_gold("Boats", "Safety", line=2)), {"Safety"}),  # the heading has moved
    ],
)
def test_what_lies_inside_a_gold_section_is_a_hit_unless_it_is_said_otherwise(
    question: EvalQuestion, titles: set[str]
) -> None:
    assert _name(find_gold_ids(question, _DOCUMENTS).strict) == titles


def test_an_alternative_in_another_document_is_a_hit() -> None:
    golds = find_gold_ids(_question(_gold("Safety"), _gold("Bicycles", "Prices", doc="bikes.md")), _DOCUMENTS)
    assert _name(golds.strict) == {"Safety"}
    assert _name(golds.strict, _BIKES) == {"Prices"}


def test_an_alternative_in_a_document_that_is_not_searched_is_left_out() -> None:
    question = _question(_gold("Safety"), _gold("Bicycles", "Prices", doc="bikes.md"))
    assert _name(find_gold_ids(question, {"boats.md": _BOATS}).strict) == {"Safety"}


def test_the_line_decides_among_equal_headings() -> None:
    document = parse_document("# A\n\n## X\n\none\n\n# B\n\n## X\n\ntwo\n", key="x.md")
    gold = replace(_gold("X", doc="x.md"), line=9)
    golds = find_gold_ids(_question(gold), {"x.md": document})
    assert golds.strict == {document.ids[3]}


@pytest.mark.parametrize("gold", [_gold("Boats", "Sails"), _gold(line=99), _gold("Safety", doc="none.md")])
def test_a_gold_section_that_is_not_there_is_told(gold: Gold) -> None:
    with pytest.raises(GoldError):
        find_gold_ids(_question(gold), _DOCUMENTS)
