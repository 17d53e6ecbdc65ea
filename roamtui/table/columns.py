"""The columns of a table: each is a question, and the type of its values."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import UsageError, format_reason

_NAME_LENGTH = 40
_TYPE_IN_QUESTION = re.compile(r"\s*\[(?P<type>[^\[\]]+)\]\s*$")
_NUMBER = re.compile(
    r"(?:[^\W\d]{1,4}[\s.]?|[$€£¥₹]\s?)?(?:[-+\N{MINUS SIGN}]?\d[\d.,'\N{NO-BREAK SPACE} ]*)"
    r"(?:\s*[^\s\d]+(?:\s+[^\s\d]+){0,4})?"
)
"""A currency, a number, and a unit of up to five words."""
_ABOUT_EACH = re.compile(
    r"\W*(?:which of|compare|for each|each|in each)\b"
    r"|.*\b(?:(?:each|every|across|between|all)(?: of)?(?: the| these| those| two| my| our)* )"
    r"(?:documents?|files?|sources?|contracts?|reports?|filings?|books?|papers?|policies)\b",
    re.IGNORECASE | re.DOTALL,
)
"""A question that compares documents."""
_DATE = re.compile(r"\d{4}(?:-\d{2}){0,2}")


class ColumnType(StrEnum):
    """The type of the values of a column."""

    TEXT = "text"
    YES_NO = "yes_no"
    NUMBER = "number"
    """A number with its unit."""
    DATE = "date"
    CHOICE = "choice"
    """One of the choices of the column."""


_DESCRIPTIONS = {
    ColumnType.TEXT: "",
    ColumnType.YES_NO: "yes or no",
    ColumnType.NUMBER: "one number with its unit",
    ColumnType.DATE: "one date, as YYYY-MM-DD or as much of it as the text has",
}


def suits_table(question: str, library: Library) -> bool:
    """Check whether a question asks the same of several documents, and the library has several."""
    return _ABOUT_EACH.match(question) is not None and library.root.columns.kinds.count(NodeKind.FILE) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A question that is asked about each row."""

    question: str
    name: str = ""
    """Heading of the column. If it is empty, the question is the heading."""
    type: ColumnType = ColumnType.TEXT
    choices: tuple[str, ...] = ()
    """The allowed values if the type is `CHOICE`."""

    @property
    def title(self) -> str:
        """Heading of the column, on one short line."""
        return shorten(sanitise_line(self.name or self.question), _NAME_LENGTH)

    @property
    def key(self) -> str:
        """Digest of everything that changes the answers: the question, type and choices, but not the name."""
        parts = (self.question, self.type.value, *self.choices)
        return blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()

    @property
    def type_description(self) -> str:
        """The type in a few words, such as `yes or no`. Empty if a value can be any text."""
        if self.type is ColumnType.CHOICE:
            return f"one of: {'; '.join(self.choices)}"
        return _DESCRIPTIONS[self.type]

    def fits(self, value: str) -> bool:
        """Check whether a value has the type of the column. A value is never changed to fit."""
        match self.type:
            case ColumnType.YES_NO:
                return value.casefold() in ("yes", "no")
            case ColumnType.NUMBER:
                return _NUMBER.fullmatch(value) is not None
            case ColumnType.DATE:
                return _is_date(value)
            case ColumnType.CHOICE:
                return value.casefold() in map(str.casefold, self.choices)
            case ColumnType.TEXT:
                return bool(value)


_FORM_HINT = 'Write for each question a TOML table [[questions]] with question = "When does it end?" and type = "date".'


class _QuestionsFile(msgspec.Struct):
    questions: tuple[Column, ...] = ()


def parse_question(text: str) -> Column:
    """Make a column from a question that a person typed. A type may follow it: ``[yes/no]``, ``[date]``, ``[a | b]``.

    Raises:
        UsageError: The question is empty.
    """
    match = _TYPE_IN_QUESTION.search(text)
    if match is not None:
        question, kind = text[: match.start()], match["type"].strip().lower().replace("/", "_")
        choices = tuple(choice.strip() for choice in match["type"].split("|") if choice.strip())
        if len(choices) > 1:
            return _check_column(Column(question=question, choices=choices))
        if kind in tuple(ColumnType) and kind != ColumnType.CHOICE:
            return _check_column(Column(question=question, type=ColumnType(kind)))
    return _check_column(Column(question=text))


def _check_column(column: Column) -> Column:
    """Return a column without space around its texts, and with the type choice if it has choices.

    Raises:
        UsageError: The question is empty, or its type and choices contradict each other.
    """
    if not column.question.strip():
        raise UsageError("a question of a table is empty.")
    kind = ColumnType.CHOICE if column.choices and column.type is ColumnType.TEXT else column.type
    if (kind is ColumnType.CHOICE) != bool(column.choices):
        raise UsageError(f'"{sanitise_line(column.question)}" needs the type choice and a list of choices, or neither.')
    return replace(column, question=column.question.strip(), name=column.name.strip(), type=kind)


def read_columns(path: Path) -> tuple[Column, ...]:
    """Read questions from a TOML file with ``[[questions]]``.

    Raises:
        UsageError: The file cannot be read, is not valid, or contains no question.
    """
    try:
        columns = msgspec.convert(tomllib.loads(path.read_text("utf-8-sig")), _QuestionsFile).questions
        columns = tuple(map(_check_column, columns))
    except OSError as error:
        raise UsageError(f"could not read {path}: {format_reason(error)}. Name a file of questions.") from None
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a file of questions: {sanitise_line(str(error))}. {_FORM_HINT}") from None
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    if not columns:
        raise UsageError(f"{path} contains no question. {_FORM_HINT}")
    return columns


def drop_repeated_columns(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Drop repetitions of the same question, type and choices. A column keeps its first name, but its last place."""
    return tuple({column.key: column for column in reversed([*columns])}.values())[::-1]


def to_json_column(column: Column) -> dict[str, Any]:
    """Convert a column to JSON values."""
    choices = {"choices": list(column.choices)} if column.choices else {}
    return {"question": column.question, "name": column.name, "type": column.type.value, **choices}


def _is_date(value: str) -> bool:
    """Check a date of the form YYYY-MM-DD, in which the day and the month may be missing."""
    if _DATE.fullmatch(value):
        with suppress(ValueError):
            return bool(date.fromisoformat(f"{value}-01-01"[:10]))
    return False
