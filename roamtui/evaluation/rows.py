"""Per-question results as lines of a file, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from roamtui.errors import SourceError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKey:
    """What makes two results comparable."""

    set: str
    """Name of the question set."""
    scope: str
    mode: str
    model: str
    """Empty where search alone is measured."""
    with_history: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentScore:
    """What the agent did with a question."""

    gold_opened: bool
    """Whether a gold section was opened, or given whole with one above it."""
    gold_cited: bool
    relaxed_opened: bool
    relaxed_cited: bool
    quotes: int
    verified: int
    opened: int
    """Sections opened."""
    tokens: int
    """Estimated tokens of section text delivered."""
    steps: int
    seconds: float
    stopped: str
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """The result of one question."""

    id: str
    question: str
    rank: int | None
    """Place of the first hit, None where there is none among the first ten."""
    relaxed_rank: int | None
    hits: tuple[str, ...]
    """Ids found, the best first."""
    ms: float
    """How long the search took."""
    agent: AgentScore | None = None


def describe_row(row: QuestionRow, key: RunKey) -> dict[str, Any]:
    """Return a result with what it belongs to, as the file has it."""
    value = {**asdict(key), **asdict(row)}
    agent = value.pop("agent")
    return {**value, **(agent or {})}


def read_rows(path: Path) -> tuple[dict[RunKey, dict[str, QuestionRow]], tuple[str, ...]]:
    """Return the results of a file by run and question, and a sentence for each line that is none.

    Raises:
        SourceError: It cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}. Name a file that --questions-out wrote.") from None
    runs: dict[RunKey, dict[str, QuestionRow]] = {}
    problems = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            key, row = _parse_row(json.loads(line.decode("utf-8")))
        except (ValueError, RecursionError, msgspec.ValidationError):
            problems.append(f"{path.name} line {number} is no result of a question; it is left out.")
        else:
            runs.setdefault(key, {})[row.id] = row
    return runs, tuple(problems)


class RowFile:
    """The file of one run: results that are there already, and new ones added line by line."""

    def __init__(self, path: Path, key: RunKey) -> None:
        """Read what is there.

        Raises:
            SourceError: It cannot be read or written.
            UsageError: It holds results of another run.
        """
        self._path = path
        self._key = key
        self.done: dict[str, QuestionRow] = {}
        """Results by question."""
        self.problems: tuple[str, ...] = ()
        if path.exists():
            runs, self.problems = read_rows(path)
            if runs.keys() - {key} or (self.problems and not runs):
                raise UsageError(f"{path} holds something else than results of this run. Name another file.")
            self.done = runs.get(key, {})
            self._end_last_line()

    def add(self, row: QuestionRow) -> None:
        """Write one more result."""
        line = json.dumps(describe_row(row, self._key), ensure_ascii=False)
        self._append(line.encode("utf-8", "surrogatepass") + b"\n")

    def _end_last_line(self) -> None:
        """End a line that was cut when a run was stopped."""
        data = self._path.read_bytes()
        if data and not data.endswith(b"\n"):
            self._append(b"\n")

    def _append(self, data: bytes) -> None:
        try:
            with self._path.open("ab") as file:
                file.write(data)
        except OSError as error:
            raise SourceError(f"{self._path} cannot be written: {error.strerror}. Name another file.") from None


def _parse_row(value: object) -> tuple[RunKey, QuestionRow]:
    key = msgspec.convert(value, RunKey)
    agent = msgspec.convert(value, AgentScore) if key.model else None
    return key, replace(msgspec.convert(value, QuestionRow), agent=agent)
