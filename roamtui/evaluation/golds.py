"""Gold sections of a question into ids, by the rules that say what is a hit."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from roamtui.document.document import Document
from roamtui.document.text import line_number_at
from roamtui.errors import RoamtuiError
from roamtui.evaluation.questions import EvalQuestion, Gold


class GoldError(RoamtuiError):
    """A gold section is not in the documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldIds:
    """What counts as found."""

    strict: frozenset[str]
    """A gold section, or one inside it."""
    relaxed: frozenset[str]
    """Likewise, and the sections right above gold ones."""


def find_gold_ids(question: EvalQuestion, documents: Mapping[str, Document]) -> GoldIds:
    """Return the ids that are a hit for a question.

    Args:
        question: Names gold sections by headings or lines.
        documents: Those that are searched, by their path below the folder; golds in others cannot be hit.

    Raises:
        GoldError: A gold section is not where the question says.
    """
    strict: set[str] = set()
    parents: set[str] = set()
    for gold in question.golds:
        document = documents.get(gold.doc)
        if document is None:
            continue
        if question.is_page and gold is question.golds[0]:
            strict.update(document.ids)
            continue
        row = find_row(document, gold)
        if row is None:
            raise GoldError(f"{_describe(gold)} is not in {gold.doc}")
        end = row + 1 if question.is_own_only else document.columns.ends[row]
        strict.update(document.ids[row:end])
        parent = document.columns.parents[row]
        if parent >= 0:
            parents.add(document.ids[parent])
    if not strict:
        raise GoldError(f"none of its documents, such as {question.doc}, is there")
    return GoldIds(strict=frozenset(strict), relaxed=frozenset(strict | parents))


def find_row(document: Document, gold: Gold) -> int | None:
    """Return the row of a gold section, None where the document has none such.

    The line decides among equal headings; where a heading has moved, its path finds it.
    """
    row = _find_line(document, gold.line) if gold.line is not None else None
    if not gold.titles:
        return row
    columns = document.columns
    wanted = [_fold(title) for title in gold.titles]
    if row is not None and _fold(columns.titles[row]) == wanted[-1]:
        return row
    rows = [index for index, title in enumerate(columns.titles) if _fold(title) == wanted[-1]]
    rows = [index for index in rows if [_fold(title) for title in columns.path(index)][-len(wanted) :] == wanted]
    if gold.line is None:
        return rows[0] if rows else None
    line, starts = gold.line, document.line_starts
    return min(rows, key=lambda index: abs(line_number_at(starts, columns.starts[index]) - line), default=None)


def find_rank(found: Sequence[str], golds: frozenset[str]) -> int | None:
    """Return the place of the first hit, from 1; None where there is none."""
    return next((rank for rank, section_id in enumerate(found, start=1) if section_id in golds), None)


def _find_line(document: Document, line: int) -> int | None:
    """Return the last row that begins at or before a line."""
    if line > len(document.line_starts):
        return None
    offset = document.line_starts[line - 1]
    row = bisect_right(document.columns.starts, offset, hi=len(document.columns)) - 1
    return row if row >= 0 else None


def _fold(title: str) -> str:
    return " ".join(title.split()).casefold()


def _describe(gold: Gold) -> str:
    return f'"{" > ".join(gold.titles)}"' if gold.titles else f"line {gold.line}"
