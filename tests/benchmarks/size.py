"""How large the project is, beside its limits: `python -m tests.benchmarks.size [PROJECT FOLDER]`, or `make size`."""

import ast
import sys
from collections import Counter, defaultdict
from pathlib import Path

from tests.real_documents import PROJECT_DIR

_COLUMNS = ("files", "lines", "statements", "functions")
_LIMITS = {"roamtui": 43_500, "tests": 32_000}
"""Largest number of lines, also of data files below `roamtui/`, such as lists of words. Folders have no limit of their
own: it was met by golf."""


def measure_file(path: Path) -> Counter[str]:
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        return Counter(lines=text.count("\n"))
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
    for part, pattern in (("roamtui", "*.*"), ("tests", "*.py")):
        for path in (project / part).rglob(pattern):
            if path.suffix in (".py", ".txt", ".toml", ".css", ".js", ".tcss"):
                below = path.relative_to(project).parts[1:-1]
                size = measure_file(path)
                sizes[f"{part}/{below[0]}" if below else f"{part}/*.py"] += size
                sizes[part] += size
    return dict(sorted(sizes.items()))


def main() -> None:
    sizes = measure_folders(Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT_DIR)
    sys.stdout.write(f"{'':<24}{''.join(f'{name:>12}' for name in (*_COLUMNS, 'limit'))}\n")
    for name, size in sizes.items():
        shown = f"  {name}" if "/" in name else name
        limit = f"{_LIMITS[name]:,}" if name in _LIMITS else ""
        sys.stdout.write(f"{shown:<24}{''.join(f'{size[column]:>12,}' for column in _COLUMNS)}{limit:>12}\n")


if __name__ == "__main__":
    main()
