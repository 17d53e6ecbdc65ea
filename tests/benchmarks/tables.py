"""Tables over real contracts: `python -m tests.benchmarks.tables [--model M] [--jobs N] [--kills N] [--prompts]`.

Asks the ten most frequent questions of the cuad set about twenty of its contracts with `roamtui table`. A cell whose
question has an annotated clause in the contract is right if its quote stands in the clause, or the clause in the quote;
one without such a clause is right if it is "not found". `--kills` kills a run at random instead, as often as told.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from roamtui.agent.token_budget import estimate_request_tokens
from roamtui.document.tokens import estimate_tokens
from roamtui.table.columns import Column
from roamtui.table.rows import list_rows
from roamtui.table.runner import fill_table
from roamtui.table.store import TableDefined, TableStore
from tests.anomalies.table_kills import kill_tables
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import PROJECT_DIR, find_data_dir
from tests.table.filling import make_plan, open_one, share_start

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


def measure_prompts(folder: Path, home: Path) -> tuple[float, float, int]:
    """Return the mean tokens of a first request, the share that is as in the first of its row, and the most tokens.

    The share is taken from the second cell of a row on, in tokens of all requests.
    """
    documents, questions, _ = _read_golds(folder)
    rows = list_rows([str(folder / "docs" / document) for document in documents], open_one, by_chapters=False)
    columns = tuple(Column(question=question) for question in questions)
    model = ScriptedModel([ScriptedReply(text="Not found: nothing.")] * (len(rows) * len(columns)))
    defined = TableDefined(sources=(), by_chapters=False, rows=rows, columns=columns)
    asyncio.run(fill_table(TableStore(home / "table"), defined, make_plan(model), lambda _run, _cell: None))
    shared_tokens = all_tokens = 0
    sizes = [estimate_request_tokens(request) for request in model.requests]
    for start in range(0, len(sizes), len(columns)):
        texts = ["\n".join(one.text for one in request.messages) for request in model.requests[start:][: len(columns)]]
        tools = sizes[start] - estimate_tokens(texts[0])
        for number, text in enumerate(texts[1:], start=start + 1):
            shared_tokens += estimate_tokens(share_start(texts[0], text)) + tools
            all_tokens += sizes[number]
    return sum(sizes) / len(sizes), shared_tokens / all_tokens, max(sizes)


def main() -> None:
    """Fill the table and print the shares."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.tables", description="Tables over contracts.")
    parser.add_argument("--model", default="offline")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--wrong", action="store_true", help="print the cells that are wrong")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--prompts", action="store_true", help="measure the first requests to a model instead")
    arguments = parser.parse_args()
    if arguments.prompts:
        with TemporaryDirectory() as home:
            mean, share, most = measure_prompts(find_data_dir() / "sets" / "cuad-contracts", Path(home))
        sys.stdout.write(f"first requests: {mean:,.0f} tokens, at most {most:,}; shared in a row {share:.1%}\n")
        return
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
