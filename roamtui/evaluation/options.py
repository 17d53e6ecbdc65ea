"""Options of `roamtui eval`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from roamtui.option_fields import JSON_HELP, option


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """Arguments of one evaluation."""

    questions: Path = option(..., "file with one JSON object per line", kind=Path, name="QUESTIONS")
    docs: Path | None = option(None, "folder of the documents", kind=Path, name="--docs", metavar="DIR")
    scope: str = option("doc", "the question's document, or the folder", name="--scope", choices=("doc", "all"))
    name: str | None = option(None, "name of the question set in results", name="--name", metavar="NAME")
    """If None, the name of its file or folder."""
    sample: int | None = option(None, "random sample of this many questions", kind=int, name="--sample", low=1)
    seed: int = option(0, "random seed", name="--seed", metavar="S", low=-math.inf)
    with_history: bool = option(True, "ask without earlier turns", name="--no-history")
    jobs: int = option(1, "questions in parallel", name="--jobs", low=1)
    questions_out: Path | None = option(
        None,
        "file for per-question results; resumes an interrupted run",
        kind=Path,
        name="--questions-out",
        metavar="FILE",
    )
    as_json: bool = option(False, JSON_HELP, name="--json")
