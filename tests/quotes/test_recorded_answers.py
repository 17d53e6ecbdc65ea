"""Recorded answers keep their verdicts: `tests/cases/answers.json` has what was delivered, and each quote."""

from __future__ import annotations

import json
from typing import Any

import pytest

from roamtui.conversation.events import ExpandStatus
from roamtui.quotes.verdicts import verify_citations
from tests.conversation.conversations import begin, expand_by_agent, make_state
from tests.real_documents import PROJECT_DIR

CASES: dict[str, Any] = json.loads((PROJECT_DIR / "tests" / "cases" / "answers.json").read_text("utf-8"))


def make_document(sections: list[dict[str, Any]]) -> str:
    """Return Markdown with these sections, below the headings of their paths."""
    lines: list[str] = []
    above: list[str] = []
    for section in sections:
        path = section["path"]
        shared = next((depth for depth, title in enumerate(path) if above[depth : depth + 1] != [title]), len(path) - 1)
        lines += [f"{'#' * (depth + 1)} {path[depth]}\n" for depth in range(shared, len(path))]
        lines.append(f"{section['text']}\n")
        above = path
    return "\n".join(lines)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_recorded_answer_keeps_its_verdicts(case: dict[str, Any]) -> None:
    section_ids = [section["id"] for section in case["sections"]]
    state, results = expand_by_agent(begin(make_state(make_document(case["sections"]))), *section_ids)
    assert {result.status for result in results} <= {ExpandStatus.OPENED, ExpandStatus.ALREADY_OPEN}, "other ids"
    found = [
        {"quote": citation.quote, "id": citation.section_id, "verdict": citation.state.value}
        for citation in verify_citations(case["answer"], state)
    ]
    assert found == case["quotes"]
