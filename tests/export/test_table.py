"""Tables as files: what stands in them, and that nothing in them is run or lost."""

import csv
import io
from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.export.table import render_csv, render_markdown_table
from roamtui.markdown.quoted_sentence import QuotedSentence
from roamtui.quotes.claims import read_claims
from roamtui.quotes.find import find_quote
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column
from roamtui.table.store import ResultRow, ResultTable

COLUMNS = (Column(question="How long is the notice period?", name="Notice"), Column(question="Why?"))


def make_table(folder: Path, *values: str, quote: str = "", has_place: bool = True) -> ResultTable:
    rows = tuple(ResultRow(title=f"{n}.md", source=str(folder / f"{n}.md")) for n in range(len(values)))
    cells = {}
    for row, value in zip(rows, values, strict=True):
        citation = Citation(
            section_id="a8a96034",
            quote=quote or value,
            state=QuoteState.EXACT,
            path=("Lease", "Notice") if has_place else (),
            start_line=3 if has_place else 0,
            end_line=3 if has_place else 0,
        )
        cell = Cell(
            row=row.source,
            column=COLUMNS[0].key,
            text_hash="c",
            model="m",
            state=CellState.FOUND,
            value=value,
            citations=(citation,),
        )
        cells[row.source, COLUMNS[0].key] = cell
    return ResultTable(folder=folder, rows=rows, columns=COLUMNS, cells=cells)


@pytest.mark.parametrize(
    "value",
    ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "\t=1", "-1 +cmd|' /C calc'!A0", "-5%+A1", "-2 USD*A1", "＝1+1"],
)
def test_no_spreadsheet_runs_a_value(value: str, tmp_path: Path) -> None:
    rows = [*csv.reader(io.StringIO(render_csv(make_table(tmp_path, value), tmp_path)))]
    assert rows[0][:4] == ["source", "Notice", "Notice: state", "Notice: quote"]
    assert not rows[1][1].strip().startswith(("=", "@", "+", "-", "＝"))


def test_numbers_in_a_csv_file_stay_numbers(tmp_path: Path) -> None:
    for value in ("-3", "-2.5 %", "+4 days", "-5 °C", "-1,000 euros per year", "60"):
        assert [*csv.reader(io.StringIO(render_csv(make_table(tmp_path, value), tmp_path)))][1][1] == value


def test_one_document_is_written_as_answers_that_can_be_rechecked(tmp_path: Path) -> None:
    quote = "|The period|\n|---|\n|is 60 days.|\n\n- It begins on the first."
    text = render_markdown_table(make_table(tmp_path, "60 days", quote=quote), tmp_path / "t.md")
    assert text == (
        "# 1 document, 2 questions\n\n## 0.md\n\n"
        '- ✓ **Notice**: 60 days — "The period is 60 days. It begins on the first." '
        "([Notice \\> line 3](0.md))\n"
    )
    (claim,) = read_claims(text, "faq.md")
    assert claim.quote == "The period is 60 days. It begins on the first."


def test_each_quote_of_an_answer_is_written_and_can_be_rechecked(tmp_path: Path) -> None:
    table = make_table(tmp_path, "60 days")
    ((key, cell),) = table.cells.items()
    (first,) = cell.citations
    sentence = QuotedSentence(sentence="From Monday on.", quoted=((5, 11),))
    other = replace(first, quote="Monday", surroundings=sentence)
    false = replace(first, quote="90 days", state=QuoteState.NOT_FOUND)
    table.cells[key] = replace(cell, citations=(first, other, false))
    text = render_markdown_table(table, tmp_path / "t.md")
    place = "([Notice \\> line 3](0.md))"
    assert f'- ✗ **Notice**: "60 days" {place}\n  "Monday" {place}\n  In full: From Monday on.\n' in text
    assert [claim.quote for claim in read_claims(text, "t.md")] == ["60 days", "Monday", "90 days"]


def test_a_quote_without_a_place_links_to_its_document(tmp_path: Path) -> None:
    table = make_table(tmp_path, "60 days", has_place=False)
    assert "([0.md](0.md))" in render_markdown_table(table, tmp_path / "t.md")


def test_a_quote_of_code_in_a_csv_file_is_found_again(tmp_path: Path) -> None:
    document = "The rate:\n\n```python\n# per day\nrate = 5\n```\n\nIt is due.\n"
    rows = [*csv.reader(io.StringIO(render_csv(make_table(tmp_path, "5", quote=document), tmp_path / "t.csv")))]
    assert find_quote(rows[1][rows[0].index("Notice: quote")], document) is not None


def test_a_csv_file_names_each_document_by_its_way_from_the_file(tmp_path: Path) -> None:
    table = make_table(tmp_path / "a b", "60 days")
    table.rows += (ResultRow(title="b.md", source="https://example.org/b.md"),)
    names = [row[0] for row in csv.reader(io.StringIO(render_csv(table, tmp_path / "out" / "t.csv")))]
    assert names == ["source", "../a b/0.md", "https://example.org/b.md"]


def test_several_documents_are_a_grid_with_proofs_that_can_be_rechecked(tmp_path: Path) -> None:
    folder = "a>b (c)%20#d"
    content = make_table(tmp_path / folder, "60 days", "30 | days &lt; R&D", quote="Notice takes some days.")
    content.rows += (ResultRow(title="Web", source="https://example.org/a%20(b).md"),)
    cell = content.cells[content.rows[0].source, content.columns[0].key]
    content.cells[content.rows[2].source, cell.column] = replace(cell, row=content.rows[2].source)
    text = render_markdown_table(content, tmp_path / "t.md")
    assert "| 0.md | ✓ 60 days |  |\n| 1.md | ✓ 30 \\| days \\&lt; R&D |  |" in text
    claims = read_claims(text, "table.md")
    assert [(claim.quote, claim.source) for claim in claims] == [
        ("Notice takes some days.", f"{folder}/0.md"),
        ("Notice takes some days.", f"{folder}/1.md"),
        ("Notice takes some days.", "https://example.org/a%20(b).md"),
    ]
