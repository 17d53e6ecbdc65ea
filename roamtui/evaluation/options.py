"""What a person wants measured, and what becomes of the results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """One call of `roamtui eval`."""

    questions: Path | None
    """None where files of earlier runs are compared or reported alone."""
    docs: Path | None
    scope: str
    name: str | None
    """Of the question set; None for the name of its file or folder."""
    sample: int | None
    seed: int
    with_history: bool
    jobs: int
    questions_out: Path | None
    """File of per-question results."""
    report: Path | None
    rows: tuple[Path, ...]
    """Per-question files of earlier runs that the report shows too."""
    compare: tuple[Path, Path] | None
    as_json: bool
