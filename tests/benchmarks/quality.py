"""Whether search and the offline model find what version 0.1 found: `python -m tests.benchmarks.quality [--sets S]`.

Runs `roamtui eval --model offline` on the question sets of the data folder, over the whole folder (`all`) and over the
document of each question (`doc`), and compares question by question with `tests/cases/quality_0_1.jsonl`. Each line of
that file is one run: for each question the place of the gold section, 0 for none, then `o` where it was opened and `c`
where it was cited. Intervals are paired bootstrap, 95 %; `-` and `+` mark those without 0.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tests.real_documents import PROJECT_DIR, find_data_dir

_BEFORE_PATH = PROJECT_DIR / "tests" / "cases" / "quality_0_1.jsonl"
_SETS = ("anthropic-docs", "ray-docs", "vespa-docs", "cuad-contracts", "dstc10-followups", "dstc11-followups")
_SCOPES = ("all", "doc")
_RESAMPLES = 5_000
_MEASURES = ("Hit@1", "Hit@5", "Hit@10", "MRR", "opened", "cited")
Outcomes = dict[str, str]
"""What came of each question, by its id."""


def run_set(name: str, scope: str) -> Outcomes:
    """Ask all questions of a set, in a home of its own, and return what came of them.

    Raises:
        subprocess.CalledProcessError: The program failed.
    """
    folder = find_data_dir() / "sets" / name
    with TemporaryDirectory() as home:
        rows = Path(home) / "rows.jsonl"
        questions, docs = str(folder / "questions.jsonl"), str(folder / "docs")
        given = ("--docs", docs, "--scope", scope, "--model", "offline", "--questions-out", str(rows), "--json")
        environ = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
        command = [sys.executable, "-m", "roamtui", "eval", questions, *given]
        subprocess.run(command, env=environ | {"HOME": home}, cwd=PROJECT_DIR, stdout=subprocess.PIPE, check=True)
        return dict(map(_read_outcome, map(json.loads, rows.read_text("utf-8").splitlines())))


def _read_outcome(row: dict[str, Any]) -> tuple[str, str]:
    return row["id"], f"{row['rank'] or 0}{'o' * row['gold_opened']}{'c' * row['gold_cited']}"


def measure(outcome: str) -> list[float]:
    """Return the measures of one question."""
    rank = int(outcome.rstrip("oc"))
    hits = [float(0 < rank <= place) for place in (1, 5, 10)]
    return [*hits, 1 / rank if rank else 0.0, float("o" in outcome), float("c" in outcome)]


def compare(before: Outcomes, after: Outcomes) -> list[tuple[float, float, float, float]]:
    """Return each measure before and after, and the interval of its gain, in %, over the questions of both."""
    shared = [question for question in before if question in after]
    old, new = (np.array([measure(run[question]) for question in shared]) * 100 for run in (before, after))
    draws = np.random.default_rng(0).integers(0, len(shared), (_RESAMPLES, len(shared)))
    gains = np.stack([(new - old)[draw].mean(axis=0) for draw in draws])
    low, high = np.quantile(gains, (0.025, 0.975), axis=0)
    return list(zip(old.mean(axis=0), new.mean(axis=0), low, high, strict=True))


def main() -> None:
    """Print a table with a row for each set and scope."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.quality", description="Quality beside 0.1.")
    parser.add_argument("--sets", nargs="+", choices=_SETS, default=_SETS)
    parser.add_argument("--scopes", nargs="+", choices=_SCOPES, default=_SCOPES)
    parser.add_argument("--before", type=Path, default=_BEFORE_PATH, help="results to compare with (%(default)s)")
    parser.add_argument("--write", type=Path, help="write the results to this file")
    arguments = parser.parse_args()
    lines = map(json.loads, arguments.before.read_text("utf-8").splitlines())
    kept = {(line["set"], line["scope"]): line["questions"] for line in lines}
    written = []
    sys.stdout.write(f"{'':<25}{'n':>5}" + "".join(f"{name:>27}" for name in _MEASURES) + "\n")
    for name in arguments.sets:
        for scope in arguments.scopes:
            outcomes = run_set(name, scope)
            written.append(json.dumps({"set": name, "scope": scope, "questions": outcomes}) + "\n")
            cells = ""
            for old, new, low, high in compare(kept[name, scope], outcomes):
                sign = "-" if high < 0 else "+" if low > 0 else " "
                cells += f"{f'{old:.1f} > {new:.1f} [{low:+.1f}, {high:+.1f}]{sign}':>27}"
            sys.stdout.write(f"{name + ' ' + scope:<25}{len(outcomes):>5}{cells}\n")
            sys.stdout.flush()
    if arguments.write is not None:
        arguments.write.write_text("".join(written), "utf-8")


if __name__ == "__main__":
    main()
