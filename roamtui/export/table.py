"""Tables as JSON, CSV or Markdown. `roamtui.quotes.claims` reads the quotes and links of the Markdown."""

import csv
import io
import os
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from roamtui.answer_report import format_cell_facts, list_facts
from roamtui.export.json import to_json, to_json_citations
from roamtui.markdown.escaping import escape_signs
from roamtui.markdown.units import read_visible_line
from roamtui.outline.labels import PLAIN_PATH_STEP
from roamtui.plain import format_count, format_json, sanitise_line, sanitise_text, shorten
from roamtui.quotes.wording import PASSAGE_LABEL, format_quote, format_sentence, join_quote_lines
from roamtui.sources.read import is_path
from roamtui.table.cells import Cell
from roamtui.table.store import ResultRow, ResultTable

_JSON_FIELDS = ("value", "state", "note")
_COLUMNS = ("", ": state", ": quote", ": quote state", ": sentence", ": place", ": note", ": answered by")
"""Ends of the titles of the columns of a question in CSV."""
_GRID_LENGTH = 80
"""Maximum characters of a value in the grid of a Markdown file. The whole value follows below the grid."""
_FORMULA = re.compile(r"[=@＝＠＋－]|[-+](?![\d.,]+\s?[%€$£°]?[^\W\d_]*(?:\s[^\W\d_]+){0,4}$)")
"""The start of a text that a spreadsheet may run as a formula, unlike a number with sign and unit."""


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
    """Render a table, eight columns a question. An apostrophe keeps a spreadsheet from running a text.

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
            quote = ""
            quote_state = ""
            sentence = ""
            place = ""
            if cell.proof is not None:
                quote = join_quote_lines(cell.proof.quote or "")
                quote_state = PASSAGE_LABEL if cell.has_passages else cell.proof.label
                sentence = cell.proof.sentence
                place = ", ".join(filter(None, [PLAIN_PATH_STEP.join(cell.proof.path), cell.proof.place]))
            fields += map(sanitise_line, (cell.value, cell.state.value))
            fields.append(sanitise_text(quote))
            fields += map(sanitise_line, (quote_state, sentence, place, cell.note, format_cell_facts(cell)))
        lines.append(fields)
    output = io.StringIO()
    for fields in lines:
        csv.writer(output).writerow(f"'{text}" if _FORMULA.match(text) else text for text in fields)
    return output.getvalue()


def render_markdown_table(table: ResultTable, path: Path) -> str:
    """Render a table as Markdown: several documents as a grid, and the proofs of each document.

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
            values.append(f"{cell.state.sign} {_escape_markdown(shorten(cell.text, _GRID_LENGTH))}")
            proofs.append(f"- {cell.state.sign} **{title}**: {_render_proof(cell, source)}")
            if cell.proof is not None and cell.proof.surroundings is not None:
                proofs.append(f"  {format_sentence(_escape_markdown(cell.proof.surroundings.text))}")
            if summary := format_cell_facts(cell):
                proofs.append(f"  *{_escape_markdown(summary)}*")
        grid.append(values)
        details += f"## {values[0]}", "\n".join(proofs)
    rows = [f"| {' | '.join(fields)} |" for fields in grid] if len(table.rows) > 1 else []
    return "\n\n".join(filter(None, [f"# {documents}, {questions}", "\n".join(rows), *details])) + "\n"


def _locate(row: ResultRow, path: Path) -> str:
    """Return the URL of a document, or its path from the folder of an exported file."""
    with suppress(ValueError):  # it is on another drive
        if "://" not in row.source:
            return Path(os.path.relpath(row.source, path.absolute().parent)).as_posix()
    return row.source


def _render_proof(cell: Cell, source: str) -> str:
    """Render a cell's value, and its quote with a link to its document, in the form that `recheck` reads."""
    note = f" *{_escape_markdown(cell.note)}*" if cell.note else ""
    proof = cell.proof
    if proof is None:
        return f"{_escape_markdown(cell.value)}{note}".strip()
    is_quote = read_visible_line(proof.quote or "") == cell.value
    value = "" if is_quote else f"{_escape_markdown(cell.value)} — "
    place = _escape_markdown(PLAIN_PATH_STEP.join(filter(None, [*proof.path[-1:], proof.place])) or source)
    target = quote(source, errors="surrogateescape") if is_path(source) else f"<{source}>"
    label = PASSAGE_LABEL if cell.has_passages else proof.label
    sign = "" if proof.is_verified and label != PASSAGE_LABEL else f" ({label})"
    return f"{value}{format_quote(proof.quote or '')}{sign} ([{place}]({target})){note}"


def _escape_markdown(text: str) -> str:
    """Escape the text of a document or a model, so that no part of it is read as Markdown."""
    return escape_signs(sanitise_line(text))


RENDERERS = {".csv": render_csv, ".md": render_markdown_table, ".json": render_json_table}
"""Renderers by the suffix of the file. The arguments are the table and the path of the file."""
