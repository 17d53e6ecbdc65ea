"""How large the project is, by folder: `python -m tests.benchmarks.size [PROJECT FOLDER]`, or `make size`."""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from pathlib import Path

from tests.real_documents import PROJECT_DIR

_COLUMNS = ("files", "lines", "docstrings", "statements", "functions", "used once")
_PARTS = ("roamtui", "tests")


_CALLED_BY_NAME = ("__", "_on_", "_watch_", "action_", "compute_", "key_", "on_", "render", "watch_")
"""Beginnings of names that Python or Textual may look up by themselves."""


def count_uses(project: Path) -> Counter[str]:
    """Return how often the package uses each name, as a variable or an attribute."""
    uses: Counter[str] = Counter()
    for path in (project / "roamtui").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Name | ast.Attribute):
                uses[node.id if isinstance(node, ast.Name) else node.attr] += 1
    return uses


def measure_file(path: Path, uses: Counter[str]) -> Counter[str]:
    """Return how much one file holds.

    Docstrings count as lines, not as statements. A function counts as used once if its name stands in one place of the
    package, and neither a decorator nor a framework calls it.
    """
    text = path.read_text("utf-8")
    size = Counter(files=1, lines=text.count("\n"))
    for node in ast.walk(ast.parse(text)):
        size["statements"] += isinstance(node, ast.stmt)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size["functions"] += 1
            is_called_by_others = bool(node.decorator_list) or node.name.startswith(_CALLED_BY_NAME)
            size["used once"] += uses[node.name] == 1 and not is_called_by_others
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                size["statements"] -= 1
                size["docstrings"] += (statement.end_lineno or statement.lineno) - statement.lineno + 1
    return size


def measure_folders(project: Path) -> dict[str, Counter[str]]:
    """Return the sizes of the folders right below package and tests, and of both as a whole."""
    sizes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    uses = count_uses(project)
    for part in _PARTS:
        for path in sorted((project / part).rglob("*.py")):
            below = path.relative_to(project).parts[1:-1]
            size = measure_file(path, uses)
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
