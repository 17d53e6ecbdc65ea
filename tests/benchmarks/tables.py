"""Tables over real contracts: `python -m tests.benchmarks.tables [--model M] [--jobs N] [--kills N]`.

Asks the ten most frequent questions of the cuad set about twenty of its contracts with `roamtui table`. A cell whose
question has an annotated clause in the contract is right if its quote stands in the clause, or the clause in the quote;
one without such a clause is right if it is "not found". `--kills` kills a run at random instead, as often as told.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.anomalies.table_kills import kill_tables
from tests.real_documents import PROJECT_DIR, find_data_dir

_DOCUMENTS = 20
_QUESTIONS = 10


def _read_golds(folder: Path) -> tuple[list[str], list[str], dict[tuple[str, str], list[str]]]:
    """Return the contracts, the questions and the clauses of each pair."""
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    documents = sorted({row["doc"] for row in rows})[:_DOCUMENTS]
    kept = [row for row in rows if row["doc"] in documents]
    questions = [question for question, _ in Counter(row["question"] for row in kept).most_common(_QUESTIONS)]
    golds: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in kept:
        golds[row["doc"], row["question"]].append(_normalise(row["gold_text"]))
    return documents, questions, golds


def _normalise(text: str) -> str:
    return " ".join(text.split())


def run_table(home: Path, documents: list[str], questions: list[str], *options: str) -> dict[str, Any]:
    """Fill a table in a home of its own and return its JSON.

    Raises:
        subprocess.CalledProcessError: A cell failed.
    """
    asked = [word for question in questions for word in ("-q", question)]
    environ = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")} | {"HOME": str(home)}
    command = [sys.executable, "-m", "roamtui", "table", *documents, *asked, *options]
    output = subprocess.run(command, env=environ, cwd=PROJECT_DIR, stdout=subprocess.PIPE, check=True).stdout
    table: dict[str, Any] = json.loads(output)
    return table


def main() -> None:
    """Fill the table and print the shares."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.tables", description="Tables over contracts.")
    parser.add_argument("--model", default="offline")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--wrong", action="store_true", help="print the cells that are wrong")
    parser.add_argument("--kills", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.kills:
        with TemporaryDirectory() as home:
            sys.stdout.write(f"{kill_tables(Path(home), arguments.kills)}\n")
        return
    folder = find_data_dir() / "sets" / "cuad-contracts"
    documents, questions, golds = _read_golds(folder)
    started = time.perf_counter()
    with TemporaryDirectory() as home:
        paths = [str(folder / "docs" / document) for document in documents]
        table = run_table(Path(home), paths, questions, "--model", arguments.model, "--jobs", arguments.jobs)
    seconds = time.perf_counter() - started
    right: list[bool] = []
    found: list[bool] = []
    absent: list[bool] = []
    tokens = []
    for row, document in zip(table["rows"], documents, strict=True):
        for cell in row["cells"]:
            clauses = golds.get((document, cell["question"]), [])
            quotes = [_normalise(one["quote"]) for one in cell["citations"] if one["quote"] and one["verified"]]
            tokens.append(cell["usage"]["input_tokens"] + cell["usage"]["output_tokens"])
            is_found = cell["state"] in ("found", "partly")
            if clauses:
                found.append(is_found)
                right.append(any(quote in clause or clause in quote for quote in quotes for clause in clauses))
            else:
                absent.append(not is_found)
            if arguments.wrong and not (right if clauses else absent)[-1]:
                sys.stdout.write(f"{document[:30]} | {cell['question'][:80]}\n  gold  {clauses}\n  quote {quotes}\n")
    cells = len(right) + len(absent)
    sys.stdout.write(
        f"{len(documents)} contracts x {len(questions)} questions, {arguments.model}: {seconds:.0f} s, "
        f"{sum(tokens) / cells:,.0f} tokens a cell\n"
        f"cells with a clause ({len(right)}): quote in the clause {sum(right) / len(right):.1%}, "
        f"found {sum(found) / len(found):.1%}\n"
        f'cells without one ({len(absent)}): "not found" {sum(absent) / len(absent):.1%}\n'
    )


if __name__ == "__main__":
    main()
