"""Which changes of the program its tests notice: `python -m tests.mutants [FILE.json] [--only N ...]`.

The file lists changes as `file`, `from`, `to` and the folders of `tests` that should notice. Each is made in a copy of
this project, and the tests there that are not slow are run: `killed` where one fails, `SURVIVED` where none does,
`gone` where the text that it would change is no more, or was moved to where it stands at several places.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.real_documents import PROJECT_DIR, find_data_dir

_CHANGES_PATH = PROJECT_DIR / "tests" / "mutants.json"
_COPIED = ("roamtui", "tests", "docs", "examples", "themes", "pyproject.toml", "README.md")
_PYTEST = ("-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:randomly")
_SECONDS_MAX = 1_200
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def find_place(project: Path, change: dict[str, str]) -> Path | None:
    """Return the file in which a change is made: the one that it names, else the only one that has its text."""
    named = project / change["file"]
    if named.is_file() and change["from"] in named.read_text("utf-8"):
        return named
    found = [path for path in (project / "roamtui").rglob("*.py") if change["from"] in path.read_text("utf-8")]
    return found[0] if len(found) == 1 else None


def try_change(project: Path, change: dict[str, str]) -> str:
    """Make a change in a copy of the project, run its tests, take it back, and return what came of it."""
    place = find_place(project, change)
    folders = [folder for folder in change["tests"].split() if (project / folder).exists()]
    if place is None or not folders:
        return "gone"
    before = place.read_text("utf-8")
    place.write_text(before.replace(change["from"], change["to"], 1), "utf-8")
    environ = os.environ | {"PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
    environ["ROAMTUI_DATA"] = str(find_data_dir())
    command = [sys.executable, *_PYTEST, *folders]
    try:
        result = subprocess.run(
            command, cwd=project, env=environ, capture_output=True, text=True, timeout=_SECONDS_MAX, check=False
        )
    except subprocess.TimeoutExpired:
        return "killed: the tests do not end"
    finally:
        place.write_text(before, "utf-8")
    failed = _FAILED.search(result.stdout)
    match result.returncode:
        case 0:
            return "SURVIVED"
        case 1 if failed:
            return f"killed by {failed[1]}"
        case code:
            return f"BROKEN: pytest ended with {code}: {result.stdout.strip().splitlines()[-1:]}"


def main() -> None:
    """Try the changes one after the other, and print what came of each."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Which changes tests notice.")
    parser.add_argument("changes", nargs="?", type=Path, default=_CHANGES_PATH, help="JSON file (%(default)s)")
    parser.add_argument("--only", nargs="+", type=int, metavar="N", help="numbers of changes, from 1")
    arguments = parser.parse_args()
    changes = json.loads(arguments.changes.read_text("utf-8"))["changes"]
    ends: list[str] = []
    with TemporaryDirectory() as folder:
        for name in _COPIED:
            source = PROJECT_DIR / name
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, Path(folder) / name)
        for number, change in enumerate(changes, start=1):
            if arguments.only is None or number in arguments.only:
                end = try_change(Path(folder), change)
                ends.append(end.partition(" ")[0].rstrip(":"))
                text = " ".join(change["from"].split())
                sys.stdout.write(f"{number:>3}  {change['file']:<42} {text[:48]:<48}  {end}\n")
                sys.stdout.flush()
    counts = {end: ends.count(end) for end in sorted(set(ends))}
    sys.stdout.write(f"{len(ends)} changes: " + ", ".join(f"{count} {end}" for end, count in counts.items()) + "\n")


if __name__ == "__main__":
    main()
