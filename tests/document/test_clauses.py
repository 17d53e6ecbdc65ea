"""Clauses of contracts as an outline, and numbers that are none."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.clauses import add_clauses
from roamtui.document.parse import parse_document
from tests.convert.samples import read_outline
from tests.document.invariants import assert_is_lossless, assert_is_nested, assert_tokens_add_up
from tests.real_documents import find_data_dir

_BODY = "The parties agree on all of this, and on whatever follows from it under the law that governs it. " * 3
_CONTRACTS = find_data_dir() / "sets" / "cuad-contracts"


def _write(*titles: str, body: str = _BODY) -> str:
    return "".join(f"{title}\n\n{body}\n\n" for title in titles)


def test_numbered_clauses_are_the_outline_of_a_text_without_headings() -> None:
    titles = ("ARTICLE I TERM", "1.1 Start", "1.2 End", "Article II Price", "Section 2.1 Fees", "3. LAW", "3.1")
    text = f"AGREEMENT\n\n{_write(*titles)}"
    levels = (1, 2, 2, 1, 2, 1, 2)
    assert [entry for entry in read_outline(text) if entry[0]] == list(zip(levels, titles, strict=True))
    run_on = "".join(f"{n}.{m} Title. {_BODY}\n\n" for n in (1, 2, 3) for m in (1, 2))
    for front_matter in ("---\na: b\n---\n", "---\na: b\n---\n\n"):
        assert read_outline(front_matter + run_on) == read_outline(run_on)
    assert read_outline(run_on)[:2] == [(1, "1.1 Title"), (1, "1.2 Title")]


@pytest.mark.parametrize(
    ("text", "added"),
    [
        (_write("# Law", "## Section 1.1 A", "Section 1.2 B. It is so.", "## Section 1.3 C", "## Section 1.4 D"),
         [(2, "Section 1.2 B")]),
        (_write("# Law", "1.TERM", "### 1.1 A", "### 1.2 B", "2.PRICE", "### 2.1 C"),
         [(2, "1. TERM"), (2, "2. PRICE")]),
        ("# Law\n" + _write("1. TERM", "## 2. PRICE", "## 3. LAW", "## 4. SIGNS"), [(2, "1. TERM")]),
        (_write("# Law", "1.1 A", "1.2 B", "2.1 C", "2.2 D", "3.1 E", "# Other", body=_BODY * 5),
         [(2, "1.1 A"), (2, "1.2 B"), (2, "2.1 C"), (2, "2.2 D"), (2, "3.1 E")]),
        (_write("# Use", "## 1. A", "## 2. B", "3. Press the key", "## 3. C", "## 4. D"), []),
        (_write("# Use", *(f"{number}. Step" for number in range(1, 9))), []),
    ],
    ids=["a gap", "chapters above", "directly after a heading", "a long section", "a list", "steps"],
)  # fmt: skip
def test_numbered_clauses_divide_long_sections_in_which_their_sequence_holds(
    text: str, added: list[tuple[int, str]]
) -> None:
    text = text.replace("\n", "\r\n") + "Words of the end. " * 400
    document = parse_document(text)
    headings = re.findall(r"(?m)^#+ (.*?)\r?$", text)
    titles = zip(document.columns.levels, document.columns.titles, strict=True)
    assert [entry for entry in titles if entry[1] not in headings] == added
    for check in (assert_is_lossless, assert_is_nested, assert_tokens_add_up):
        check(document)


def test_lines_of_a_contents_page_are_no_sections() -> None:
    names = ("TERM", "PRICE", "LAW", "NOTICES", "PARTIES", "SIGNS")
    numbered = [f"{number}. {name}" for number, name in enumerate(names, start=1)]
    pages = [f"{title}{7 * row}" for row, title in enumerate(numbered, start=1)]
    articles = [f"{title} {'AND ALL OF IT, ' * 20}" for title in numbered]
    clauses = _write(*numbered, body=_BODY * 4)
    for listed in (numbered, pages, articles):
        text = f"# A contract\n\nCONTENTS\n\n{_write(*listed, body='')}{clauses}"
        assert read_outline(text) == [(1, "A contract"), *((2, title) for title in numbered)]


@given(
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(("{}. Take a boat.", "{} boats", "Section {}", "IX {}"))))
)
def test_steps_and_numbers_in_prose_are_no_outline(lines: list[tuple[int, str]]) -> None:
    steps = [f"{number}. Step {number}" for number in range(1, 9)]
    backwards = [f"{number}.1 Title" for number in range(9, 0, -1)]
    for paragraphs in (steps, backwards, [form.format(number) for number, form in lines]):
        text = "".join(f"{paragraph} {_BODY}\n\n" for paragraph in paragraphs)
        assert not add_clauses(text, 0, [])


@pytest.mark.skipif(not _CONTRACTS.is_dir(), reason="No real documents here: set ROAMTUI_DATA.")
@pytest.mark.parametrize("has_marks", [True, False])
def test_gold_clauses_of_real_contracts_are_sections(*, has_marks: bool) -> None:
    questions = [json.loads(line) for line in (_CONTRACTS / "questions.jsonl").read_text("utf-8").splitlines()]
    golds = {(each["doc"], each["gold_line"]) for each in questions}
    found = 0
    for name in {name for name, _ in golds}:
        text = (_CONTRACTS / "docs" / name).read_text("utf-8")
        document = parse_document(text if has_marks else re.sub(r"(?m)^#+ ", "", text))
        starts = set(document.columns.starts)
        found += sum(document.line_starts[line - 1] in starts for gold, line in golds if gold == name)
    assert found >= (len(golds) if has_marks else 0.95 * len(golds))
