"""Kills the program in every write and at 500 random moments: `python -m tests.soak.kills [RUNS]`."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import kill_at_random, kill_at_writes


def kill(runs: int) -> None:
    """Kill, check after each time that nothing is lost, and print when it was killed."""
    with TemporaryDirectory() as folder:
        programs_dir, *homes = (Path(folder, name) for name in ("programs", "new", "continued", "random"))
        for path in (programs_dir, *homes):
            path.mkdir()
        with closing(MortalPrograms(programs_dir)) as programs:
            for home in homes[:2]:
                killed = kill_at_writes(programs, home, is_first=home is homes[0])
                sys.stdout.write(f"{home.name}: killed in each of {killed} writes\n")
            ends = kill_at_random(programs, homes[2], runs=runs, seed=1)
    sys.stdout.writelines(f"{times:5}  {end}\n" for end, times in ends.most_common())
    sys.stdout.write("nothing is lost\n")


if __name__ == "__main__":
    kill(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
