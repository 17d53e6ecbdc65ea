"""Tables as JSON, CSV or Markdown. `roamtui.quotes.recheck` reads the quotes and links of the Markdown."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict

from roamtui.conversation.transcript import Citation
from roamtui.document.counts import format_count
from roamtui.document.plain import escape_json, sanitise_line, shorten
from roamtui.export.json import to_json_citation
from roamtui.quotes.recheck import format_quote
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column
from roamtui.table.runner import TableRun
from roamtui.table.store import Row, Table

_GRID_LENGTH = 80
"""Maximum characters of a value in the grid of a Markdown file. The whole value follows below the grid."""
_PASSAGE_NOTE = "The values are the best passages that the offline model found. No model has read them."
_FORMULA = re.compile(r"[=@＝＠＋－]|[-+](?![\d.,]+\s?[%€$£°]?[^\W\d_]*(?:\s[^\W\d_]+){0,4}$)")
"""The start of a text that a spreadsheet may run as a formula, unlike a number with a sign and a unit in words."""


def render_json_table(table: Table, _path: Path | None = None) -> str:
    """Render a table as JSON and a line end. Control characters and lone surrogates are escaped."""
    rows = []
    for row in table.rows:
        cells = zip(table.columns, table.list_cells(row), strict=True)
        described = [_to_json_cell(column, cell) for column, cell in cells if cell is not None]
        rows.append({"source": row.source, "title": row.title, "cells": described})
    data = {"table": str(table.folder), "columns": msgspec.to_builtins(table.columns), "rows": rows}
    return escape_json(json.dumps(data, ensure_ascii=False, indent=2)) + "\n"


def _to_json_cell(column: Column, cell: Cell) -> dict[str, Any]:
    return {
        "question": column.question,
        "value": cell.value,
        "state": cell.state.value,
        "note": cell.note,
        "citations": [to_json_citation(citation) for citation in cell.citations],
        "conversation": cell.conversation,
        "model": cell.model,
        "usage": asdict(cell.usage),
    }


def render_csv(table: Table, _path: Path | None = None) -> str:
    """Render a table with four columns for each question: the value, its state, its quote and its place.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    output = io.StringIO()
    writer = csv.writer(output)
    parts = ("", ": state", ": quote", ": place")
    writer.writerow(["source", *(_disarm(f"{column.title}{part}") for column in table.columns for part in parts)])
    for row in table.rows:
        fields = [row.title]
        for cell in table.list_cells(row):
            proof = cell.proof if cell is not None else None
            place = f"{' > '.join(proof.path)}, {proof.place}" if proof is not None else ""
            quote = proof.quote or "" if proof is not None else ""
            fields += ["", "", "", ""] if cell is None else [cell.value, cell.state.value, quote, place]
        writer.writerow(map(_disarm, map(sanitise_line, fields)))
    return output.getvalue()


def _disarm(text: str) -> str:
    """Return text that no spreadsheet runs as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def render_markdown_table(table: Table, path: Path) -> str:
    """Render a table as Markdown: several documents as a grid, and the proofs of each document.

    Links to the documents are relative to `path`, where the file will be.
    """
    documents, questions = format_count(len(table.rows), "document"), format_count(len(table.columns), "question")
    parts = [f"# {documents}, {questions}"]
    if any(cell.state is CellState.PASSAGE for cell in table.cells.values()):
        parts.append(f"*{_PASSAGE_NOTE}*")
    head = ["", *(_escape_markdown(column.title) for column in table.columns)]
    grid = [head, ["---"] * len(head)]
    details = []
    for row in table.rows:
        cells = table.list_cells(row)
        values = (cell and f"{cell.state.sign} {shorten(_escape_markdown(cell.text), _GRID_LENGTH)}" for cell in cells)
        grid.append([_escape_markdown(row.title), *(value or "" for value in values)])
        details.append(f"## {_escape_markdown(row.title)}")
        target = _format_source_path(row, path.absolute().parent)
        answered = ((column, cell) for column, cell in zip(table.columns, cells, strict=True) if cell is not None)
        if proofs := [_render_proof(column, cell, target) for column, cell in answered]:
            details.append("\n".join(proofs))
    if len(table.rows) > 1:
        parts.append("\n".join(f"| {' | '.join(fields)} |" for fields in grid))
    return "\n\n".join([*parts, *details]) + "\n"


def _render_proof(column: Column, cell: Cell, path: str) -> str:
    is_quote = cell.proof is not None and sanitise_line(cell.proof.quote or "") == cell.value
    value = "" if is_quote else _escape_markdown(cell.value)
    quote = _render_quote_link(cell.proof, path) if cell.proof is not None else ""
    note = f"*{_escape_markdown(cell.note)}*" if cell.note else ""
    parts = (
        f"- {cell.state.sign} **{_escape_markdown(column.title)}**:",
        " — ".join(filter(None, (value, quote))),
        note,
    )
    return " ".join(filter(None, parts))


def _render_quote_link(citation: Citation, path: str) -> str:
    """Render a quote with a link to its document, in the form that `recheck` reads."""
    place = _escape_markdown(" > ".join([*citation.path[-1:], citation.place]))
    target = f"<{path}>" if re.search(r"[\s()]", path) else path
    sign = "" if citation.is_verified else f" ({citation.state.label})"
    return f"{format_quote(citation.quote or '')}{sign} ([{place}]({target}))"


def _escape_markdown(text: str) -> str:
    """Escape the text of a document or a model, so that no part of it is read as Markdown."""
    return re.sub(r"([\\`*_\[\]|<>~])", r"\\\1", sanitise_line(text))


def _format_source_path(row: Row, folder: Path) -> str:
    if "://" in row.source:
        return row.source
    try:
        return Path(os.path.relpath(row.source, folder)).as_posix()
    except ValueError:  # on another drive
        return row.source


def format_progress(run: TableRun) -> str:
    """Format what a run has done, used and found."""
    states = ", ".join(f"{state.label} {run.states[state]:,}" for state in CellState if run.states[state])
    parts = [f"{run.done:,} of {run.total:,} cells{': ' if states else ''}{states}"]
    if run.kept:
        parts.append(f"{run.kept:,} from before")
    if tokens := run.usage.input_tokens + run.usage.output_tokens:
        parts.append(f"{tokens:,} tokens")
    if run.usage.cost_usd:
        parts.append(f"${run.usage.cost_usd:.2f}")
    return " · ".join(parts)


RENDERERS: Mapping[str, Callable[[Table, Path], str]] = {
    ".csv": render_csv,
    ".md": render_markdown_table,
    ".json": render_json_table,
}
"""Renderers by the suffix of the file. The arguments are the table and the path of the file."""
