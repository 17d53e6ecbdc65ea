"""The columns of a table: each has a question, and a type for its values."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Struct

from roamtui.errors import UsageError, format_reason
from roamtui.sanitiser import sanitise_line
from roamtui.text import shorten

_NAME_LENGTH = 40
_TYPE_IN_QUESTION = re.compile(r"\s*\[(?P<type>[^\[\]]+)\]\s*$")
_NUMBER = re.compile(r"\d+(?:[.,'’]\d+|(?<!\d{4})\s\d{3}(?!\d))*")
"""Digits in any groups. A space divides only groups of three, so that ``30 2024`` is two numbers."""
_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}", re.ASCII)
"""YYYY-MM-DD, in which the day and the month may be missing."""
_FORM_HINT = (
    "Write a block [[questions]] for each question, "
    'for example with question = "When does it end?" and type = "date".'
)


class ColumnType(StrEnum):
    """The type of the values of a column."""

    TEXT = "text"
    YES_NO = "yes_no"
    NUMBER = "number"
    """One number, and any words."""
    DATE = "date"


_DESCRIPTIONS = {
    ColumnType.TEXT: "",
    ColumnType.YES_NO: "yes or no",
    ColumnType.NUMBER: "one number with its unit",
    ColumnType.DATE: "one date, as YYYY-MM-DD or as much of it as the text has",
}


class Column(Struct, frozen=True, kw_only=True):
    """A question that is asked about each row."""

    question: Annotated[str, msgspec.Meta(pattern=r"\S")]
    name: str = ""
    """Heading of the column. If it is empty, the question is the heading."""
    type: ColumnType = ColumnType.TEXT
    choices: tuple[str, ...] = ()
    """The allowed values. If there are any, `type` has no effect."""

    @property
    def heading(self) -> str:
        """Heading of the column, on one line."""
        return sanitise_line(self.name or self.question)

    @property
    def title(self) -> str:
        """Heading of the column, cut to a short line."""
        return shorten(self.heading, _NAME_LENGTH)

    @property
    def key(self) -> str:
        """Everything that changes the answers: the question, type and choices, but not the name."""
        return " | ".join((self.question, self.type.value, *self.choices))

    @property
    def type_description(self) -> str:
        """The type in a few words, such as `yes or no`. Empty if a value can be any text."""
        return f"one of: {'; '.join(self.choices)}" if self.choices else _DESCRIPTIONS[self.type]

    def fits(self, value: str) -> bool:
        """Return whether a value has the type of the column. A value is never changed to fit."""
        if self.choices:
            return value.casefold() in map(str.casefold, self.choices)
        match self.type:
            case ColumnType.YES_NO:
                return value.casefold() in ("yes", "no")
            case ColumnType.NUMBER:
                return len(_NUMBER.findall(value)) == 1
            case ColumnType.DATE:
                return _DATE.fullmatch(value) is not None and _is_date(f"{value}-01-01"[:10])
            case ColumnType.TEXT:
                return bool(value)


def _is_date(value: str) -> bool:
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


class _QuestionsFile(msgspec.Struct):
    questions: Annotated[tuple[Column, ...], msgspec.Meta(min_length=1)]


def parse_column(text: str) -> Column:
    """Make a column from a typed question. A type may follow: ``[yes/no]``, ``[date]``, ``[a | b]``.

    Raises:
        UsageError: The question is empty, or there is no such type.
    """
    question = text
    kind = ColumnType.TEXT
    choices = tuple[str, ...]()
    if match := _TYPE_IN_QUESTION.search(text):
        question = text[: match.start()]
        choices = tuple(filter(None, map(str.strip, match["type"].split("|"))))
        choices = choices if len(choices) > 1 else ()
        name = "_".join(map(str.strip, match["type"].lower().split("/")))
        if name in [*ColumnType]:
            kind = ColumnType(name)
        elif not choices:
            raise UsageError(
                f"[{match['type']}] is not a type. The types are text, yes/no, number, date, "
                "and choices such as [red | blue]."
            )
    if not question.strip():
        raise UsageError("The question is empty. Write what the table should ask.")
    return Column(question=question.strip(), type=kind, choices=choices)


def read_columns(path: Path) -> tuple[Column, ...]:
    """Read questions from a TOML file with ``[[questions]]``. Raise `UsageError` if it is not valid."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8-sig")), _QuestionsFile).questions
    except OSError as error:
        problem = f"could not read the questions in {path}: {format_reason(error)}. Check the path."
    except (ValueError, RecursionError) as error:
        problem = f"{path} is not a file of questions: {sanitise_line(str(error))}. {_FORM_HINT}"
    raise UsageError(problem)


def drop_repeated_columns(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Drop repetitions of the same question, type and choices. The last name that one of them has stays."""
    kept: dict[str, Column] = {}
    for column in columns:
        if column.name or column.key not in kept:
            kept[column.key] = column
    return tuple(kept.values())


def keep_names(columns: Sequence[Column], known: Sequence[Column]) -> tuple[Column, ...]:
    """Return `columns`, each once. Without a name, a column gets that of the `known` one."""
    named = {column.key: column for column in drop_repeated_columns((*known, *columns))}
    return tuple(named[key] for key in dict.fromkeys(column.key for column in columns))
