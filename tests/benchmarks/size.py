"""How large the project is, by folder: `python -m tests.benchmarks.size [PROJECT FOLDER]`, or `make size`."""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from pathlib import Path

from tests.real_documents import PROJECT_DIR

_COLUMNS = ("files", "lines", "statements", "functions")
_PARTS = ("roamtui", "tests")


def measure_file(path: Path) -> Counter[str]:
    """Return how much one file holds."""
    text = path.read_text("utf-8")
    nodes = [*ast.walk(ast.parse(text))]
    return Counter(
        files=1,
        lines=text.count("\n"),
        statements=sum(isinstance(node, ast.stmt) for node in nodes),
        functions=sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes),
    )


def measure_folders(project: Path) -> dict[str, Counter[str]]:
    """Return the sizes of the folders right below package and tests, and of both as a whole."""
    sizes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for part in _PARTS:
        for path in (project / part).rglob("*.py"):
            below = path.relative_to(project).parts[1:-1]
            size = measure_file(path)
            sizes[f"{part}/{below[0]}" if below else f"{part}/*.py"] += size
            sizes[part] += size
    return dict(sorted(sizes.items()))


def main() -> None:
    """Print the table."""
    sizes = measure_folders(Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT_DIR)
    rows = [("", _COLUMNS), *((name, [f"{size[column]:,}" for column in _COLUMNS]) for name, size in sizes.items())]
    for name, cells in rows:
        shown = f"  {name}" if "/" in name else name
        sys.stdout.write(f"{shown:<24}" + "".join(f"{cell:>12}" for cell in cells) + "\n")


if __name__ == "__main__":
    main()
