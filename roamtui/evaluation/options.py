"""What a person wants measured, and what becomes of the results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from roamtui.option_fields import option


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """One call of `roamtui eval`."""

    questions: Path = option(..., "a JSON object a line", kind=Path, name="QUESTIONS")
    docs: Path | None = option(None, "folder of the documents", kind=Path, name="--docs", metavar="DIR")
    scope: str = option("doc", "the question's document, or the folder", name="--scope", choices=("doc", "all"))
    name: str | None = option(None, "of the question set, in results", name="--name", metavar="NAME")
    """None for the name of its file or folder."""
    sample: int | None = option(None, "so many questions, chosen by chance", kind=int, name="--sample", low=1)
    seed: int = option(0, "of the sample and of the intervals", name="--seed", metavar="S", low=-math.inf)
    with_history: bool = option(True, "ask without earlier turns", name="--no-history")
    jobs: int = option(1, "questions asked side by side", name="--jobs", low=1)
    questions_out: Path | None = option(
        None,
        "per-question results; a run that was stopped goes on from it",
        kind=Path,
        name="--questions-out",
        metavar="FILE",
    )
    as_json: bool = option(False, "as JSON, for other programs", name="--json")
