"""Reads questions from a JSON Lines file, and resolves their gold sections."""

import json
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from roamtui.document.document import Document
from roamtui.errors import SourceError, format_reason

_FORM = '{"doc": "guide.md", "question": "When is it due?", "path": ["Deadlines"]}'
_Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
_Line = Annotated[int, msgspec.Meta(ge=1)]


class Gold(msgspec.Struct, frozen=True, kw_only=True):
    """A section that contains the answer. `path` is a short name for `gold_section_titles_path`."""

    doc: str = ""
    """Path of the document. If an alternative has none, it is in the document of the question."""
    gold_section_titles_path: str | tuple[str, ...] = ()
    path: str | tuple[str, ...] = ()
    gold_line: _Line | None = None
    """Line number, from 1, of the heading or inside the section."""

    @property
    def titles(self) -> tuple[str, ...]:
        """Headings from the top, or only the section's own. Empty if only a line is given."""
        titles = self.gold_section_titles_path or self.path
        return (titles,) if isinstance(titles, str) else titles


class Turn(msgspec.Struct, frozen=True):
    """An earlier turn of the conversation."""

    content: str
    role: str = ""


class EvalQuestion(Gold, frozen=True, kw_only=True):
    """A question with its gold section and alternatives to it."""

    doc: _Text
    question: _Text
    id: str | int = ""
    gold_is_page: bool | None = None
    """Whether every section of the document counts as a hit."""
    gold_own_only: bool | None = None
    """Whether subsections of gold sections do not count as hits."""
    gold_alt: tuple[Gold, ...] | None = None
    history: tuple[Turn, ...] | None = None

    def __post_init__(self) -> None:
        located = self.golds[1:] if self.gold_is_page else self.golds
        if not all(gold.titles or gold.gold_line for gold in located):
            raise ValueError  # `read_questions` says how a question is written

    @property
    def golds(self) -> tuple[Gold, ...]:
        """The gold section and its alternatives."""
        return (self, *(self.gold_alt or ()))


class GoldIds(NamedTuple):
    """The ids that count as hits."""

    strict: frozenset[str]
    """Gold sections and their subsections."""
    relaxed: frozenset[str]
    """`strict` and the parents of gold sections."""


def read_questions(path: Path) -> tuple[tuple[EvalQuestion, ...], tuple[str, ...]]:
    """Read the questions of a JSON Lines file. Return them, and a sentence for each unusable line.

    Raises:
        SourceError: The file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = format_reason(error)
        raise SourceError(f"could not read the questions in {path}: {reason}. Check the path.") from None
    questions: list[EvalQuestion] = []
    problems: list[str] = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            question = msgspec.convert(json.loads(line.decode("utf-8")), EvalQuestion)
            questions.append(msgspec.structs.replace(question, id=str(question.id) or f"line {number}"))
        except (ValueError, RecursionError):
            place = f"{path.name}, line {number}"
            problems.append(f"{place} was skipped. A question is written like this: {_FORM}")
    return tuple(questions), tuple(problems)


def resolve_golds(question: EvalQuestion, documents: Mapping[str, Document]) -> GoldIds:
    """Resolve the gold sections of a question to ids. Ignore those that are not in `documents`, by path.

    Raises:
        SourceError: A gold section is not where the question says.
    """
    strict: set[str] = set()
    parents: set[str] = set()
    for gold in question.golds:
        doc = gold.doc or question.doc
        if (document := documents.get(doc)) is None:
            continue
        if question.gold_is_page and gold is question:
            strict.update(document.ids)
            continue
        if (row := _find_gold_row(document, gold)) is None:
            description = f'"{" > ".join(gold.titles)}"' if gold.titles else f"line {gold.gold_line}"
            raise SourceError(f"the expected section {description} is not in {doc}.")
        strict.update(document.ids[row : row + 1 if question.gold_own_only else document.columns.ends[row]])
        if (parent := document.columns.parents[row]) >= 0:
            parents.add(document.ids[parent])
    if not strict:
        raise SourceError(f"there is no document {question.doc}.")
    return GoldIds(frozenset(strict), frozenset(strict | parents))


def _find_gold_row(document: Document, gold: Gold) -> int | None:
    """Find a section by its headings, or by the line if no headings are given.

    Of several such sections, take the nearest to the line. If the headings above differ, because other rules
    chose the levels, the line must be that of the heading.
    """
    columns = document.columns
    line_starts = document.line_starts
    line = gold.gold_line or 1
    if not gold.titles:
        if line > len(line_starts):
            return None
        row = bisect_right(columns.starts, line_starts[line - 1], hi=len(columns)) - 1
        return row if row >= 0 else None
    titles = [*map(_normalise, gold.titles)]
    rows = [row for row, title in enumerate(columns.titles) if _normalise(title) == titles[-1]]
    nested = [row for row in rows if [*map(_normalise, columns.path(row))][-len(titles) :] == titles]
    at_line = [row for row in rows if bisect_right(line_starts, columns.starts[row]) == gold.gold_line]
    rows = nested or at_line
    return min(rows, key=lambda row: abs(bisect_right(line_starts, columns.starts[row]) - line), default=None)


def _normalise(title: str) -> str:
    return " ".join(title.split()).casefold()
