"""Reads questions from a JSON Lines file, resolves their gold sections, and searches for them."""

from __future__ import annotations

import json
import random
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from roamtui.document.document import Document
from roamtui.document.text import line_number_at
from roamtui.errors import RoamtuiError, SourceError, format_reason
from roamtui.search.base import Searcher

HITS_MAX = 10
"""Number of search results in which a gold section counts as found."""
_FORM = '{"doc": "guide.md", "question": "When is it due?", "heading": "Deadlines"}'
_GOLD_HINT = 'it needs "gold_section_titles_path" (headings) or "gold_line" (a line number)'
_Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
_Line = Annotated[int, msgspec.Meta(ge=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """The location of an answer, as the question file gives it."""

    doc: str
    titles: tuple[str, ...]
    """Headings from the top, or only the section's own. Empty if only a line is given."""
    line: int | None
    """Line number, from 1, of the heading or inside the section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An earlier turn of the conversation."""

    is_user: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalQuestion:
    """A question and its gold sections, which contain the answer."""

    id: str
    line_number: int
    """Line in its file."""
    doc: str
    question: str
    golds: tuple[Gold, ...]
    accepts_whole_document: bool = False
    """Whether every section of the document of the first gold section counts as a hit."""
    excludes_subsections: bool = False
    """Whether subsections of gold sections do not count as hits."""
    history: tuple[Turn, ...] = ()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedQuestion:
    """A question with its gold sections and its search results."""

    question: EvalQuestion
    golds: GoldIds
    hit_ids: tuple[str, ...]
    """Ids of the first `HITS_MAX` hits, best first."""
    ms: float
    """Duration of the search."""


class _MissingGoldError(ValueError):
    """A question does not say where its gold section is."""


class _GoldRecord(msgspec.Struct):
    """A gold section in the file. The shorter field names are for files that people write themselves."""

    doc: str | None = None
    gold_section_titles_path: str | list[str] = []
    path: str | list[str] = []
    heading: str | list[str] = []
    gold_line: _Line | None = None
    line: _Line | None = None

    def to_gold(self, doc: str, *, may_be_page: bool = False) -> Gold:
        titles = self.gold_section_titles_path or self.path or self.heading
        line = self.line if self.gold_line is None else self.gold_line
        if not titles and line is None and not may_be_page:
            raise _MissingGoldError(_GOLD_HINT)
        return Gold(doc=self.doc or doc, titles=(titles,) if isinstance(titles, str) else tuple(titles), line=line)


class _TurnRecord(msgspec.Struct):
    content: str
    role: str = ""


class _QuestionRecord(_GoldRecord, kw_only=True):
    doc: _Text
    question: _Text
    id: str | int = ""
    gold_is_page: bool | None = None
    gold_own_only: bool | None = None
    gold_alt: list[_GoldRecord] | None = None
    history: list[_TurnRecord] | None = None


def read_lines(path: Path, advice: str) -> Iterator[tuple[int, bytes]]:
    """Yield the non-blank lines of a file with their numbers.

    Raises:
        SourceError: The file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"could not read {path}: {format_reason(error)}. {advice}") from None
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            yield number, line


def read_questions(path: Path) -> QuestionFile:
    """Read the questions of a JSON Lines file.

    Raises:
        SourceError: The file cannot be read.
    """
    questions: list[EvalQuestion] = []
    problems: list[str] = []
    lines_by_id: dict[str, int] = {}
    for number, line in read_lines(path, "Name a file of questions."):
        try:
            record = msgspec.convert(json.loads(line.decode("utf-8")), _QuestionRecord)
            golds = [record.to_gold(record.doc, may_be_page=bool(record.gold_is_page))]
            golds += (gold.to_gold(record.doc) for gold in record.gold_alt or ())
        except _MissingGoldError as error:
            problems.append(f"{path.name} line {number} is not a question: {error}; skipped.")
            continue
        except msgspec.ValidationError:
            problems.append(f"{path.name} line {number} is not a question such as {_FORM}; skipped.")
            continue
        except (ValueError, RecursionError):
            problems.append(f"{path.name} line {number} is not JSON; skipped.")
            continue
        question_id = str(record.id) or f"line {number}"
        first = lines_by_id.setdefault(question_id, number)
        if first != number:
            problems.append(f"{path.name} line {number} has the id of line {first}; skipped.")
            continue
        questions.append(
            EvalQuestion(
                id=question_id,
                line_number=number,
                doc=record.doc,
                question=record.question,
                golds=tuple(golds),
                accepts_whole_document=bool(record.gold_is_page),
                excludes_subsections=bool(record.gold_own_only),
                history=tuple(Turn(is_user=turn.role == "user", text=turn.content) for turn in record.history or ()),
            )
        )
    return QuestionFile(questions=tuple(questions), problems=tuple(problems))


def sample_questions(questions: Sequence[EvalQuestion], count: int, seed: int) -> tuple[EvalQuestion, ...]:
    """Return `count` random questions in their original order, or all if there are no more."""
    if count >= len(questions):
        return tuple(questions)
    chosen = random.Random(seed).sample(range(len(questions)), count)  # noqa: S311 - not a secret
    return tuple(questions[index] for index in sorted(chosen))


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
        document = documents.get(gold.doc)
        if document is None:
            continue
        if question.accepts_whole_document and gold is question.golds[0]:
            strict.update(document.ids)
            continue
        row = _find_gold_row(document, gold)
        if row is None:
            description = f'"{" > ".join(gold.titles)}"' if gold.titles else f"line {gold.line}"
            raise GoldError(f"{description} is not in {gold.doc}")
        end = row + 1 if question.excludes_subsections else document.columns.ends[row]
        strict.update(document.ids[row:end])
        parent = document.columns.parents[row]
        if parent >= 0:
            parents.add(document.ids[parent])
    if not strict:
        raise GoldError(f"none of its documents, such as {question.doc}, exists")
    return GoldIds(strict=frozenset(strict), relaxed=frozenset(strict | parents))


def search_question(question: EvalQuestion, golds: GoldIds, searcher: Searcher | None) -> SearchedQuestion:
    """Search for a question, with its earlier turns as context. Without a searcher, nothing is found."""
    started = time.perf_counter()
    hit_ids: tuple[str, ...] = ()
    if searcher is not None:
        earlier = tuple(turn.text for turn in question.history)
        hits = searcher.search(question.question, limit=HITS_MAX, earlier=earlier)
        hit_ids = tuple(hit.section_id for hit in hits)
    ms = round((time.perf_counter() - started) * 1_000, 3)
    return SearchedQuestion(question=question, golds=golds, hit_ids=hit_ids, ms=ms)


def _find_gold_row(document: Document, gold: Gold) -> int | None:
    # Among equal headings, the last one at or before the line wins. If the heading has moved, its path finds it.
    columns, line_starts = document.columns, document.line_starts
    row = None
    if gold.line is not None and gold.line <= len(line_starts):
        count_before = bisect_right(columns.starts, line_starts[gold.line - 1], hi=len(columns))
        row = count_before - 1 if count_before else None
    if not gold.titles:
        return row
    titles = [_normalise(title) for title in gold.titles]
    if row is not None and _normalise(columns.titles[row]) == titles[-1]:
        return row
    rows = [index for index, title in enumerate(columns.titles) if _normalise(title) == titles[-1]]
    rows = [index for index in rows if [_normalise(title) for title in columns.path(index)][-len(titles) :] == titles]
    line = gold.line or 0
    return min(rows, key=lambda index: abs(line_number_at(line_starts, columns.starts[index]) - line), default=None)


def _normalise(title: str) -> str:
    return " ".join(title.split()).casefold()
