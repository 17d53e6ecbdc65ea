"""Kills the program hundreds of times, in every write and at random moments: `python -m tests.soak.kills`."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import kill_at_random, kill_at_writes


def main() -> int:
    """Kill, check after each time that nothing is lost, and print how often and when it was killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as folder, closing(MortalPrograms(_make(folder, "runs"))) as programs:
        for is_first in (True, False):
            killed = kill_at_writes(programs, _make(folder, f"writes-{is_first}"), is_first=is_first)
            sys.stdout.write(f"{'new' if is_first else 'going on'}: killed in each of {killed} writes\n")
        ends = kill_at_random(programs, _make(folder, "random"), runs=given.runs, seed=given.seed)
    for end, times in ends.most_common():
        sys.stdout.write(f"{times:5}  {end}\n")
    sys.stdout.write("nothing is lost\n")
    return 0


def _make(folder: str, name: str) -> Path:
    path = Path(folder) / name
    path.mkdir()
    return path


if __name__ == "__main__":
    sys.exit(main())
