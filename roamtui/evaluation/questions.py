"""Question files: one JSON object a line into values. What a line lacks is said with its number."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from roamtui.document.plain import plain_line, shorten
from roamtui.errors import SourceError

_PATH_KEYS = ("gold_section_titles_path", "path", "heading")
_LINE_KEYS = ("gold_line", "line")
_NEEDED = 'needs "gold_section_titles_path" (headings) or "gold_line" (a line number)'


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """Where an answer stands, as the question file names it."""

    doc: str
    titles: tuple[str, ...]
    """Headings from the top, or only the last of them; empty where a line alone is given."""
    line: int | None
    """1-based line of the heading, or one inside the section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Something that was said before the question."""

    is_user: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalQuestion:
    """A question whose sections are known."""

    id: str
    line_number: int
    """Where it stands in its file."""
    doc: str
    question: str
    golds: tuple[Gold, ...]
    is_page: bool = False
    """Whether any section of the page is a hit."""
    is_own_only: bool = False
    """Whether a section inside the gold one is none."""
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFile:
    """What a question file holds."""

    questions: tuple[EvalQuestion, ...]
    problems: tuple[str, ...]
    """A sentence for each line that could not be used."""


class _LineError(ValueError):
    """A line of a question file cannot be used; the message says why."""


def read_questions(path: Path) -> QuestionFile:
    """Return the questions of a JSONL file.

    Raises:
        SourceError: It cannot be read as text.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}. Name a file of questions.") from None
    questions: list[EvalQuestion] = []
    problems: list[str] = []
    lines_by_id: dict[str, int] = {}
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            question = _read_line(line, number)
        except _LineError as error:
            problems.append(f"{path.name} line {number} {plain_line(str(error))}; it is left out.")
            continue
        first = lines_by_id.setdefault(question.id, number)
        if first == number:
            questions.append(question)
        else:
            problems.append(f"{path.name} line {number} has the id of line {first}; it is left out.")
    return QuestionFile(questions=tuple(questions), problems=tuple(problems))


def sample_questions(questions: Sequence[EvalQuestion], count: int, seed: int) -> tuple[EvalQuestion, ...]:
    """Return `count` of the questions by chance, in their order; all where there are not as many."""
    if count >= len(questions):
        return tuple(questions)
    chosen = random.Random(seed).sample(range(len(questions)), count)  # noqa: S311 - no secret
    return tuple(questions[index] for index in sorted(chosen))


def _read_line(line: bytes, number: int) -> EvalQuestion:
    try:
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise _LineError("is no UTF-8") from None
    except (ValueError, RecursionError):
        raise _LineError("is no JSON") from None
    if not isinstance(value, dict):
        raise _LineError("is no JSON object")
    question, doc = _read_text(value, "question"), _read_text(value, "doc")
    is_page = value.get("gold_is_page") is True
    alternatives = value.get("gold_alt") or []
    if not isinstance(alternatives, list) or not all(isinstance(gold, dict) for gold in alternatives):
        raise _LineError('has a "gold_alt" that is no list of objects')
    given_id = value.get("id")
    return EvalQuestion(
        id=str(given_id) if isinstance(given_id, str | int) and str(given_id) else f"line {number}",
        line_number=number,
        doc=doc,
        question=question,
        golds=(_read_gold(value, doc, may_lack_place=is_page), *(_read_gold(gold, doc) for gold in alternatives)),
        is_page=is_page,
        is_own_only=value.get("gold_own_only") is True,
        history=_read_history(value.get("history") or []),
    )


def _read_text(value: Mapping[str, object], key: str) -> str:
    text = value.get(key)
    if not isinstance(text, str) or not text.strip():
        raise _LineError(f'needs "{key}", a text')
    return text


def _read_gold(value: Mapping[str, object], doc: str, *, may_lack_place: bool = False) -> Gold:
    titles = next((value[key] for key in _PATH_KEYS if value.get(key)), [])
    line = next((value[key] for key in _LINE_KEYS if value.get(key) is not None), None)
    if isinstance(titles, str):
        titles = [titles]
    if not isinstance(titles, list) or not all(isinstance(title, str) for title in titles):
        raise _LineError(_NEEDED)
    if line is not None and (isinstance(line, bool) or not isinstance(line, int) or line < 1):
        raise _LineError(f'has a line number that is none: "{shorten(str(line), 40)}"')
    if not titles and line is None and not may_lack_place:
        raise _LineError(_NEEDED)
    other = value.get("doc", doc)
    return Gold(doc=other if isinstance(other, str) else doc, titles=tuple(titles), line=line)


def _read_history(value: object) -> tuple[Turn, ...]:
    if not isinstance(value, list):
        raise _LineError('has a "history" that is no list')
    turns = []
    for turn in value:
        if not isinstance(turn, dict) or not isinstance(turn.get("content"), str):
            raise _LineError('has a "history" whose turns are no objects with "role" and "content"')
        turns.append(Turn(is_user=turn.get("role") == "user", text=turn["content"]))
    return tuple(turns)
