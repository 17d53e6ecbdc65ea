"""Reads questions from a JSON Lines file, and resolves their gold sections."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from roamtui.document.document import Document
from roamtui.document.text import line_number_at
from roamtui.errors import RoamtuiError, SourceError, format_reason

_FORM = '{"doc": "guide.md", "question": "When is it due?", "path": ["Deadlines"]}'
_GOLD_HINT = 'it needs "gold_section_titles_path" (headings) or "gold_line" (a line number)'
_Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
_Line = Annotated[int, msgspec.Meta(ge=1)]


class Gold(msgspec.Struct, frozen=True, kw_only=True):
    """A section that contains the answer. The shorter field names are for files that people write themselves."""

    doc: str = ""
    """Path of the document. An alternative without one is in the document of the question."""
    gold_section_titles_path: str | tuple[str, ...] = ()
    path: str | tuple[str, ...] = ()
    gold_line: _Line | None = None
    line: _Line | None = None

    @property
    def titles(self) -> tuple[str, ...]:
        """Headings from the top, or only the section's own. Empty if only a line is given."""
        titles = self.gold_section_titles_path or self.path
        return (titles,) if isinstance(titles, str) else titles

    @property
    def number(self) -> int | None:
        """Line number, from 1, of the heading or inside the section."""
        return self.line if self.gold_line is None else self.gold_line


class Turn(msgspec.Struct, frozen=True):
    """An earlier turn of the conversation."""

    content: str
    role: str = ""


class EvalQuestion(Gold, frozen=True, kw_only=True):
    """A question with its gold section and alternatives to it."""

    doc: _Text
    question: _Text
    id: str | int = ""
    line_number: int = 0
    """Line in its file."""
    gold_is_page: bool | None = None
    """Whether every section of the document counts as a hit."""
    gold_own_only: bool | None = None
    """Whether subsections of gold sections do not count as hits."""
    gold_alt: tuple[Gold, ...] | None = None
    history: tuple[Turn, ...] | None = None

    @property
    def golds(self) -> tuple[Gold, ...]:
        """The gold section and its alternatives."""
        return (self, *(self.gold_alt or ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFile:
    """The content of a question file."""

    questions: tuple[EvalQuestion, ...]
    problems: tuple[str, ...]
    """A sentence for each unusable line."""


class GoldError(RoamtuiError):
    """A gold section is not in the documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldIds:
    """The ids that count as hits."""

    strict: frozenset[str]
    """Gold sections and their subsections."""
    relaxed: frozenset[str]
    """`strict` and the parents of gold sections."""


def read_questions(path: Path) -> QuestionFile:
    """Read the questions of a JSON Lines file.

    Raises:
        SourceError: The file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"could not read {path}: {format_reason(error)}. Name a file of questions.") from None
    questions: dict[str, EvalQuestion] = {}
    problems: list[str] = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            question = msgspec.convert(json.loads(line.decode("utf-8")), EvalQuestion)
        except msgspec.ValidationError:
            problems.append(f"{path.name} line {number} is not a question such as {_FORM}; skipped.")
            continue
        except (ValueError, RecursionError):
            problems.append(f"{path.name} line {number} is not JSON; skipped.")
            continue
        question_id = str(question.id) or f"line {number}"
        has_places = all(
            gold.titles or gold.number is not None for gold in question.golds[question.gold_is_page or 0 :]
        )
        if not has_places:
            problems.append(f"{path.name} line {number} is not a question: {_GOLD_HINT}; skipped.")
        elif question_id in questions:
            first = questions[question_id].line_number
            problems.append(f"{path.name} line {number} has the id of line {first}; skipped.")
        else:
            questions[question_id] = msgspec.structs.replace(question, id=question_id, line_number=number)
    return QuestionFile(questions=tuple(questions.values()), problems=tuple(problems))


def resolve_golds(question: EvalQuestion, documents: Mapping[str, Document]) -> GoldIds:
    """Resolve the gold sections of a question to ids.

    Args:
        question: Locates gold sections by headings or lines.
        documents: The searched documents by path. Gold sections in other documents are ignored.

    Raises:
        GoldError: A gold section is not where the question says.
    """
    strict: set[str] = set()
    parents: set[str] = set()
    for gold in question.golds:
        doc = gold.doc or question.doc
        document = documents.get(doc)
        if document is None:
            continue
        if question.gold_is_page and gold is question:
            strict.update(document.ids)
            continue
        row = _find_gold_row(document, gold)
        if row is None:
            description = f'"{" > ".join(gold.titles)}"' if gold.titles else f"line {gold.number}"
            raise GoldError(f"{description} is not in {doc}")
        end = row + 1 if question.gold_own_only else document.columns.ends[row]
        strict.update(document.ids[row:end])
        parent = document.columns.parents[row]
        if parent >= 0:
            parents.add(document.ids[parent])
    if not strict:
        raise GoldError(f"none of its documents, such as {question.doc}, exists")
    return GoldIds(strict=frozenset(strict), relaxed=frozenset(strict | parents))


def _find_gold_row(document: Document, gold: Gold) -> int | None:
    # Among equal headings, the last one at or before the line wins. If the heading has moved, its path finds it.
    columns, line_starts, line = document.columns, document.line_starts, gold.number
    row = None
    if line is not None and line <= len(line_starts):
        count_before = bisect_right(columns.starts, line_starts[line - 1], hi=len(columns))
        row = count_before - 1 if count_before else None
    if not gold.titles:
        return row
    titles = [_normalise(title) for title in gold.titles]
    if row is not None and _normalise(columns.titles[row]) == titles[-1]:
        return row
    rows = [index for index, title in enumerate(columns.titles) if _normalise(title) == titles[-1]]
    rows = [index for index in rows if [_normalise(title) for title in columns.path(index)][-len(titles) :] == titles]
    return min(
        rows, key=lambda index: abs(line_number_at(line_starts, columns.starts[index]) - (line or 0)), default=None
    )


def _normalise(title: str) -> str:
    return " ".join(title.split()).casefold()
