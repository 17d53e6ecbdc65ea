"""Tables as JSON, CSV or Markdown. `roamtui.quotes.recheck` reads the quotes and links of the Markdown."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from roamtui.conversation.transcript import Citation
from roamtui.document.counts import format_count
from roamtui.document.plain import escape_json, sanitise_line, shorten
from roamtui.export.json import to_json_citation
from roamtui.quotes.recheck import format_quote
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column, to_json_column
from roamtui.table.runner import TableRun
from roamtui.table.store import Row, TableContent

_GRID_LENGTH = 80
"""Maximum characters of a value in the grid of a Markdown file. The whole value follows below the grid."""
_PASSAGE_NOTE = "The values are the best passages that the offline model found. No model has read them."
_FORMULA = re.compile(r"[=@＝＠＋－]|[-+](?![\d.,]+\s?[%€$£°]?[^\W\d_]*(?:\s[^\W\d_]+){0,4}$)")
"""The start of a text that a spreadsheet may run as a formula, unlike a number with a sign and a unit in words."""


def to_json_table(content: TableContent, model: str = "") -> dict[str, Any]:
    """Convert a table to the JSON of the command line. Cells without an answer are left out."""
    rows = []
    for row in content.rows:
        cells = zip(content.columns, content.list_cells(row, model), strict=True)
        rows.append(
            {
                "source": row.source,
                "title": row.title,
                "cells": [_to_json_cell(column, cell) for column, cell in cells if cell is not None],
            }
        )
    return {"table": str(content.folder), "columns": list(map(to_json_column, content.columns)), "rows": rows}


def render_json_table(content: TableContent, model: str = "") -> str:
    """Render a table as JSON and a line end. Control characters and lone surrogates are escaped."""
    return escape_json(json.dumps(to_json_table(content, model), ensure_ascii=False, indent=2)) + "\n"


def _to_json_cell(column: Column, cell: Cell) -> dict[str, Any]:
    return {
        "question": column.question,
        "value": cell.value,
        "state": cell.state.value,
        "note": cell.note,
        "passage": cell.is_passage,
        "citations": [to_json_citation(citation) for citation in cell.citations],
        "conversation": cell.conversation,
        "model": cell.model,
        "usage": asdict(cell.usage),
    }


def render_csv(content: TableContent, model: str = "") -> str:
    """Render a table with four columns for each question: the value, its state, its quote and its place.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    output = io.StringIO()
    writer = csv.writer(output)
    parts = ("", ": state", ": quote", ": place")
    writer.writerow(["source", *(_disarm(f"{column.title}{part}") for column in content.columns for part in parts)])
    for row in content.rows:
        fields = [row.title]
        for cell in content.list_cells(row, model):
            proof = cell.proof if cell is not None else None
            place = f"{' > '.join(proof.path)}, {proof.place}" if proof is not None else ""
            quote = proof.quote or "" if proof is not None else ""
            fields += ["", "", "", ""] if cell is None else [cell.value, cell.state.value, quote, place]
        writer.writerow(map(_disarm, map(sanitise_line, fields)))
    return output.getvalue()


def _disarm(text: str) -> str:
    """Return text that no spreadsheet runs as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def render_markdown_table(content: TableContent, model: str = "", folder: Path | None = None) -> str:
    """Render a table as Markdown: several documents as a grid, and the proofs of each document.

    Args:
        content: The table.
        model: The model whose cells are shown, or empty for the newest cells.
        folder: Where the file will be. Paths of documents are relative to it; None for absolute paths.
    """
    notes = [f"*{_PASSAGE_NOTE}*"] if _has_passages(content, model) else []
    head = ["", *(_escape_markdown(column.title) for column in content.columns)]
    grid = [_render_line(head), _render_line(["---"] * len(head))]
    details = []
    for row in content.rows:
        cells = content.list_cells(row, model)
        grid.append(_render_line([_escape_markdown(row.title), *map(_format_grid_value, cells)]))
        details.append(f"## {_escape_markdown(row.title)}")
        proofs = [
            _render_proof(column, cell, _format_source_path(row, folder))
            for column, cell in zip(content.columns, cells, strict=True)
            if cell is not None
        ]
        details += ["\n".join(proofs)] if proofs else []
    if len(content.rows) > 1:
        notes.append("\n".join(grid))
    documents, questions = format_count(len(content.rows), "document"), format_count(len(content.columns), "question")
    return "\n\n".join([f"# {documents}, {questions}", *notes, *details]) + "\n"


def _has_passages(content: TableContent, model: str) -> bool:
    cells = chain.from_iterable(content.list_cells(row, model) for row in content.rows)
    return any(cell is not None and cell.is_passage for cell in cells)


def _render_line(fields: list[str]) -> str:
    return f"| {' | '.join(fields)} |"


def _format_grid_value(cell: Cell | None) -> str:
    if cell is None:
        return ""
    words = cell.value or cell.state.label
    return f"{cell.state.sign} {shorten(_escape_markdown(words), _GRID_LENGTH)}"


def _render_proof(column: Column, cell: Cell, path: str) -> str:
    proof, note = cell.proof, f" *{_escape_markdown(cell.note)}*" if cell.note else ""
    if not cell.value and cell.note:
        return f"- {cell.state.sign} **{_escape_markdown(column.title)}**:{note}"
    lead = f"- {cell.state.sign} **{_escape_markdown(column.title)}**: "
    if cell.is_passage and proof is not None and sanitise_line(proof.quote or "") == cell.value:
        return f"{lead}{_render_quote_link(proof, path)}{note}"  # the value is the quote itself
    link = f" — {_render_quote_link(proof, path)}" if proof is not None else ""
    return f"{lead}{_escape_markdown(cell.value) or cell.state.label}{link}{note}"


def _render_quote_link(citation: Citation, path: str) -> str:
    """Render a quote with a link to its document, in the form that `recheck` reads."""
    place = _escape_markdown(" > ".join([*citation.path[-1:], citation.place]))
    target = f"<{path}>" if re.search(r"[\s()]", path) else path
    sign = "" if citation.is_verified else f" ({citation.state.label})"
    return f"{format_quote(citation.quote or '')}{sign} ([{place}]({target}))"


def _escape_markdown(text: str) -> str:
    """Escape the text of a document or a model, so that no part of it is read as Markdown."""
    return re.sub(r"([\\`*_\[\]|<>~])", r"\\\1", sanitise_line(text))


def _format_source_path(row: Row, folder: Path | None) -> str:
    if folder is None or "://" in row.source:
        return row.source
    try:
        return Path(os.path.relpath(row.source, folder)).as_posix()
    except ValueError:  # on another drive
        return row.source


def format_progress(run: TableRun) -> str:
    """Format what a run has done, used and found, and what it may cost."""
    parts = [f"{run.done:,} of {run.total:,} cells"]
    if states := ", ".join(_count_state(state, number) for state, number in run.counts.items() if number):
        parts[0] += f": {states}"
    if run.kept:
        parts.append(f"{run.kept:,} from before")
    if tokens := run.usage.input_tokens + run.usage.output_tokens:
        parts.append(f"{tokens:,} tokens")
    if run.usage.cost_usd:
        expected = run.expected_usd
        rest = f" of about ${expected:.2f}" if expected is not None and run.done < run.total else ""
        parts.append(f"${run.usage.cost_usd:.2f}{rest}")
    return " · ".join(parts)


def _count_state(state: CellState, number: int) -> str:
    return format_count(number, state.label) if state is CellState.PASSAGE else f"{number:,} {state.label}"


RENDERERS: Mapping[str, Callable[[TableContent, str, Path], str]] = {
    ".csv": lambda content, model, _: render_csv(content, model),
    ".md": render_markdown_table,
    ".json": lambda content, model, _: render_json_table(content, model),
}
"""Renderers by the suffix of the file. The arguments are the table, the model and the folder of the file."""
