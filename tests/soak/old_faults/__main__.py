"""Puts old faults back, one at a time, and prints which test notices each: `python -m tests.soak.old_faults [WORD...]`.

`faults.toml` has what the changelog told; words pick the faults whose names have them. Each is made in a copy of this
project. The result is `killed` if one of its tests fails, `SURVIVED` if none does, and `GONE` if its place has changed:
then look for the place where the same would happen now, or for another fault.
"""

import shutil
import sys
import tomllib
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants import NEVER_COPIED, run_tests
from tests.real_documents import PROJECT_DIR


def try_fault(project: Path, fault: dict[str, str]) -> str:
    """Put a fault into a copy of the project, run its tests, take it out again, and return the result."""
    place = project / fault["file"]
    sound = place.read_text("utf-8") if place.exists() else ""
    if sound.count(fault["now"]) != 1:
        return "GONE"
    place.write_text(sound.replace(fault["now"], fault["then"]), "utf-8")
    try:
        return run_tests(project, "-x", *fault["tests"].split())
    finally:
        place.write_text(sound, "utf-8")


def main() -> None:
    """Try the faults, and print the result of each."""
    faults: list[dict[str, str]] = tomllib.loads(Path(__file__).with_name("faults.toml").read_text("utf-8"))["fault"]
    ends: Counter[str] = Counter()
    with TemporaryDirectory() as name:
        project = Path(name) / "project"
        shutil.copytree(PROJECT_DIR, project, ignore=shutil.ignore_patterns(*NEVER_COPIED))
        for fault in faults:
            if all(word in fault["name"] for word in sys.argv[1:]):
                end = try_fault(project, fault)
                ends[end.split()[0]] += 1
                sys.stdout.write(f"{fault['name']}: {end}\n")
                sys.stdout.flush()
    sys.stdout.write(", ".join(f"{count} {end}" for end, count in sorted(ends.items())) + "\n")


if __name__ == "__main__":
    main()
