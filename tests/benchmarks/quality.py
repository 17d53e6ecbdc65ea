"""Whether search and offline answers find the gold sections: `python -m tests.benchmarks.quality`.

Runs `roamtui eval` on the question sets of the data folder: over the whole folder for Hit@k, over the document of each
question for what was opened and cited. Figures are in %, with 95 % bootstrap intervals.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Any

from tests.real_documents import PROJECT_DIR, find_data_dir

_SETS = ("anthropic-docs", "ray-docs", "vespa-docs", "cuad-contracts", "dstc10-followups", "dstc11-followups")
_MEASURES = {"all": ("hit_at_1", "hit_at_5", "hit_at_10"), "doc": ("gold_opened", "gold_cited")}


def run_set(name: str, scope: str) -> dict[str, Any]:
    """Ask the questions of a set, in a home of its own, and return what `eval` reports."""
    folder = find_data_dir() / "sets" / name
    with TemporaryDirectory() as home:
        environ = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")} | {"HOME": home}
        given = ("--docs", str(folder / "docs"), "--scope", scope, "--model", "offline", "--json")
        command = [sys.executable, "-m", "roamtui", "eval", str(folder / "questions.jsonl"), *given]
        done = subprocess.run(command, env=environ, cwd=PROJECT_DIR, stdout=subprocess.PIPE, check=True)
        report: dict[str, Any] = json.loads(done.stdout)
        return report


def main() -> None:
    """Print a table with a row for each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=_SETS, default=_SETS)
    arguments = parser.parse_args()
    sys.stdout.write("| set | Hit@1 | Hit@5 | Hit@10 | gold opened | gold cited |\n|---|" + "---:|" * 5 + "\n")
    for name in arguments.sets:
        cells = [name]
        for scope, measures in _MEASURES.items():
            report = run_set(name, scope)
            for measure in measures:
                low, high = report["intervals"][measure]
                cells.append(f"{100 * report[measure]:.1f} [{100 * low:.0f}, {100 * high:.0f}]")
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
