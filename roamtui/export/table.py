"""Tables as JSON, CSV or Markdown. `roamtui.quotes.claims` reads the quotes and links of the Markdown."""

import csv
import io
import os
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from roamtui.answer_report import format_origin_and_basis, list_facts
from roamtui.conversation.citations import Citation
from roamtui.export.json import to_json, to_json_citations
from roamtui.markdown.escaping import escape_signs
from roamtui.markdown.units import read_visible_line
from roamtui.outline.labels import PLAIN_PATH_STEP
from roamtui.quotes.wording import PASSAGE_LABEL, format_quote, format_sentence, join_quote_lines
from roamtui.sanitiser import format_json, sanitise_line, sanitise_text
from roamtui.sources.read import is_path
from roamtui.table.cells import Cell
from roamtui.table.store import ResultRow, ResultTable
from roamtui.text import format_count, shorten

_JSON_FIELDS = ("value", "state", "note")
_COLUMNS = ("", ": state", ": quote", ": quote state", ": sentence", ": place", ": note", ": answered by")
"""Each question has these columns in CSV. Their titles are the question's heading and one of these."""
_GRID_LENGTH = 80
"""Maximum characters of a value in the grid of a Markdown file. The whole value follows below the grid."""
_FORMULA = re.compile(r"[=@＝＠＋－]|[-+](?![\d.,]+\s?[%€$£°]?[^\W\d_]*(?:\s[^\W\d_]+){0,4}$)")
"""The start of a text that a spreadsheet may run as a formula. A number with sign and unit is excepted."""


def render_json_table(table: ResultTable, _path: Path) -> str:
    """Render a table as JSON and a line end."""
    rows = []
    for row in table.rows:
        cells = []
        for column, cell in zip(table.columns, table.list_cells(row), strict=True):
            if cell is not None:
                fields = {name: getattr(cell, name) for name in _JSON_FIELDS}
                facts = list_facts(cell, row.source)
                cells.append(
                    {"question": column.question, **fields, "citations": to_json_citations(cell), **facts}
                )
        rows.append({"source": row.source, "title": row.title, "cells": cells})
    data = {"table": str(table.folder), "columns": table.columns, "rows": rows}
    return format_json(data, indent=2, to_json=to_json) + "\n"


def render_csv(table: ResultTable, path: Path) -> str:
    """Render a table as CSV. An apostrophe keeps a spreadsheet from running a text as a formula.

    A quote of code keeps its lines, because it would not be found on one line. Documents are named by their
    paths relative to `path`, where the file will be.
    """
    lines = [["source", *(f"{column.heading}{part}" for column in table.columns for part in _COLUMNS)]]
    for row in table.rows:
        fields = [sanitise_text(_locate(row, path))]  # a path keeps all its spaces
        for cell in table.list_cells(row):
            if cell is None:
                fields += [""] * len(_COLUMNS)
                continue
            quote_fields = ["", "", "", ""]
            if (best := cell.best_citation) is not None:
                label = PASSAGE_LABEL if cell.has_passages else best.label
                place = ", ".join(filter(None, [PLAIN_PATH_STEP.join(best.path), best.place]))
                quote_text = sanitise_text(join_quote_lines(best.quote or ""))
                quote_fields = [quote_text, *map(sanitise_line, (label, best.sentence, place))]
            fields += [*map(sanitise_line, (cell.value, cell.state.label)), *quote_fields]
            fields += map(sanitise_line, (cell.note, format_origin_and_basis(cell)))
        lines.append(fields)
    output = io.StringIO()
    csv.writer(output).writerows(
        [f"'{text}" if _FORMULA.match(text) else text for text in fields] for fields in lines
    )
    return output.getvalue()


def render_markdown_table(table: ResultTable, path: Path) -> str:
    """Render a table as Markdown: a grid, if there are several documents, and the proofs of each document.

    Links to the documents are relative to `path`, where the file will be.
    """
    documents = format_count(len(table.rows), "document")
    questions = format_count(len(table.columns), "question")
    titles = [_escape_markdown(column.title) for column in table.columns]
    grid = [["", *titles], ["---"] * (len(titles) + 1)]
    details: list[str] = []
    for row in table.rows:
        source = _locate(row, path)
        values = [_escape_markdown(row.title)]
        proofs: list[str] = []
        for title, cell in zip(titles, table.list_cells(row), strict=True):
            if cell is None:
                values.append("")
                continue
            values.append(f"{cell.sign} {_escape_markdown(shorten(cell.text, _GRID_LENGTH))}")
            proofs += _list_proofs(title, cell, source)
        grid.append(values)
        details += f"## {values[0]}", "\n".join(proofs)
    rows = [f"| {' | '.join(fields)} |" for fields in grid] if len(table.rows) > 1 else []
    return "\n\n".join(filter(None, [f"# {documents}, {questions}", "\n".join(rows), *details])) + "\n"


def _locate(row: ResultRow, path: Path) -> str:
    """Return the URL of a document, or its path relative to the folder of the exported file `path`."""
    with suppress(ValueError):  # it is on another drive
        if "://" not in row.source:
            return Path(os.path.relpath(row.source, path.absolute().parent)).as_posix()
    return row.source


def _list_proofs(title: str, cell: Cell, source: str) -> list[str]:
    """List a cell's value, its quotes with links to the document, and its facts. `recheck` reads them."""
    value = _escape_markdown(cell.value)
    note = f" *{_escape_markdown(cell.note)}*" if cell.note else ""
    lead = f"- {cell.sign} **{title}**: "
    best = cell.best_citation
    if best is None:
        lines = [f"{lead}{f'{value}{note}'.strip()}"]
    else:
        is_quote = read_visible_line(best.quote or "") == cell.value
        lead += "" if is_quote else f"{value} — "
        lines = [f"{lead}{_render_quote(best, cell, source)}{note}", *_list_sentences(best)]
        for citation in cell.citations:
            if citation.quote is not None and citation is not best:
                lines += [f"  {_render_quote(citation, cell, source)}", *_list_sentences(citation)]
    if summary := format_origin_and_basis(cell):
        lines.append(f"  *{_escape_markdown(summary)}*")
    return lines


def _render_quote(citation: Citation, cell: Cell, source: str) -> str:
    titles = filter(None, [*citation.path[-1:], citation.place])
    place = _escape_markdown(PLAIN_PATH_STEP.join(titles) or source)
    target = quote(source, errors="surrogateescape") if is_path(source) else f"<{source}>"
    label = PASSAGE_LABEL if cell.has_passages else citation.label
    sign = "" if citation.is_verified and label != PASSAGE_LABEL else f" ({label})"
    return f"{format_quote(citation.quote or '')}{sign} ([{place}]({target}))"


def _list_sentences(citation: Citation) -> list[str]:
    return [f"  {format_sentence(_escape_markdown(citation.sentence))}"] if citation.sentence else []


def _escape_markdown(text: str) -> str:
    """Escape the text of a document or a model, so that no part of it is read as Markdown."""
    return escape_signs(sanitise_line(text))


TABLE_RENDERERS = {".csv": render_csv, ".md": render_markdown_table, ".json": render_json_table}
"""Renderers by the suffix of the file. The arguments are the table and the path of the file."""
