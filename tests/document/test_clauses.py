"""Clauses of contracts as an outline, and numbers that are none."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.parse import scan_clauses
from tests.real_documents import find_data_dir
from tests.sources.convert.samples import read_outline

_BODY = "The parties agree on all of this, and on whatever follows from it under the law that governs it. " * 3
_CONTRACTS = find_data_dir() / "sets" / "cuad-contracts"


def test_numbered_clauses_are_the_outline_of_a_text_without_headings() -> None:
    titles = ("ARTICLE I TERM", "1.1 Start", "1.2 End", "Article II Price", "Section 2.1 Fees", "3. LAW", "3.1")
    text = "AGREEMENT\n\n" + "".join(f"{title}\n\n{_BODY}\n\n" for title in titles)
    levels = (1, 2, 2, 1, 2, 1, 2)
    assert [entry for entry in read_outline(text) if entry[0]] == list(zip(levels, titles, strict=True))
    assert read_outline(f"# A contract\n\n{text}") == [(1, "A contract")]
    run_on = "".join(f"{n}.{m} Title. {_BODY}\n\n" for n in (1, 2, 3) for m in (1, 2))
    assert read_outline(run_on)[:2] == [(2, "1.1 Title"), (2, "1.2 Title")]


@given(
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(("{}. Take a boat.", "{} boats", "Section {}", "IX {}"))))
)
def test_steps_and_numbers_in_prose_are_no_outline(lines: list[tuple[int, str]]) -> None:
    steps = [f"{number}. Step {number}" for number in range(1, 9)]
    backwards = [f"{number}.1 Title" for number in range(9, 0, -1)]
    for paragraphs in (steps, backwards, [form.format(number) for number, form in lines]):
        assert not scan_clauses("".join(f"{paragraph} {_BODY}\n\n" for paragraph in paragraphs)).levels


@pytest.mark.skipif(not _CONTRACTS.is_dir(), reason="No real documents here: set ROAMTUI_DATA.")
def test_most_gold_titles_of_real_contracts_are_found_without_their_marks() -> None:
    questions = [json.loads(line) for line in (_CONTRACTS / "questions.jsonl").read_text("utf-8").splitlines()]
    titles = {
        name: scan_clauses(re.sub(r"^#+ ", "", (_CONTRACTS / "docs" / name).read_text("utf-8"), flags=re.M)).titles
        for name in {question["doc"] for question in questions}
    }
    found = sum(question["gold_section_titles_path"][-1] in titles[question["doc"]] for question in questions)
    assert found >= 0.6 * len(questions)
