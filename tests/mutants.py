"""Which random changes of the program its tests notice: `python -m tests.mutants --random 60 --seed 1`.

A change flips one comparison, `and` or `or`, or alters one number or truth value, in a random line. Each is made in a
copy of this project, and the tests run against it: first those beside the changed file, then those that import it, then
all others. The result is `killed` if a test fails, else `SURVIVED`.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.real_documents import PROJECT_DIR, find_data_dir

NEVER_COPIED = (".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__")
_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly")
_SECONDS_MAX = 1_200
_TEST_SECONDS_MAX = 100
"""For one test: a change can make a loop endless, and the slowest of these tests takes a few seconds."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
_NEVER_RUN = ("tests/models/test_real_embedder.py",)
"""Its model may not be installed. pytest collects a file that is named, even one that a `conftest.py` leaves out."""

_OPPOSITES = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
"""How an operator is written, then its opposite. At a boundary often nothing depends on the equal case."""
_INDIFFERENT_KEYWORDS = {"strict"}
"""Arguments that only guard against mistakes in the code itself, as `zip(strict=True)` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one file."""

    file: str
    """Path below the project."""
    start: int
    """Place of the first changed character."""
    before: str
    after: str
    label: str
    """For the person who reads the list."""


def draw_changes(project: Path, count: int, seed: int) -> list[Change]:
    """Return one random change of logic in each of `count` random lines of the program.

    Each line has its own random number, so that what is drawn stays the same while other lines change.
    """
    drawn: list[tuple[float, Change]] = []
    for path in sorted((project / "roamtui").rglob("*.py")):
        file = str(path.relative_to(project))
        source = path.read_text("utf-8")
        source_lines = source.splitlines()
        by_line: dict[int, list[Change]] = {}
        for start, before, after in find_flips(source, is_screen=file.startswith("roamtui/tui/")):
            number = source.count("\n", 0, start) + 1
            label = f"{file}:{number}  {source_lines[number - 1].strip()[:70]}  {before} -> {after}"
            change = Change(file=file, start=start, before=before, after=after, label=label)
            by_line.setdefault(number, []).append(change)
        for number, changes in by_line.items():
            chance = random.Random(f"{seed} {file} {source_lines[number - 1]}")  # noqa: S311 - for a repeatable choice
            drawn.append((chance.random(), chance.choice(changes)))
    return [change for _, change in sorted(drawn, key=itemgetter(0))[:count]]


def find_flips(source: str, *, is_screen: bool = False) -> Iterator[tuple[int, str, str]]:
    """Yield the changes of logic that a source allows, as place, text before and text after.

    Args:
        source: A module of the program.
        is_screen: Whether it draws the screen. Its constants in capitals are widths and lengths, a matter of taste.
    """
    place = _make_place(source)
    for node in _list_logic(ast.parse(source), is_screen=is_screen):
        match node:
            case ast.Compare():
                operands = [node.left, *node.comparators]
                words = [_OPPOSITES[type(operator)] for operator in node.ops]
            case ast.BoolOp():
                operands = node.values
                word = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                words = [word] * (len(operands) - 1)
            case ast.Constant(value=bool() | int() | float() as value):
                start, end = place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)
                yield start, source[start:end], _alter(value)
                continue
            case ast.UnaryOp():
                start = place(node.lineno, node.col_offset)
                yield start, source[start : place(node.end_lineno, node.end_col_offset)], "0"
                continue
            case _:
                continue
        for (left, right), (before, after) in zip(pairwise(operands), words, strict=True):
            start, end = place(left.end_lineno, left.end_col_offset), place(right.lineno, right.col_offset)
            if found := re.search(rf"(?<!\w){re.escape(before)}(?!\w)", source[start:end]):
                yield start + found.start(), before, after


def _make_place(source: str) -> Callable[[int | None, int | None], int]:
    """Return what finds a character by its line and column, which Python's parser counts in bytes."""
    lines = source.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def place(line: int | None, column: int | None) -> int:
        assert line is not None
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    return place


def _alter(value: float) -> str:
    """Return another value than a constant: a small number's neighbour, twice a large one."""
    if isinstance(value, bool):
        return str(not value)
    return repr(value + 1 if value in (0, 1) else value * 2)


def _list_logic(node: ast.AST, *, is_screen: bool) -> Iterator[ast.AST]:
    """Yield the nodes of a module without annotations, decorators, pauses (no test may measure one) and layout."""
    for name, field in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.keyword) and child.arg in _INDIFFERENT_KEYWORDS:
                continue
            if isinstance(node, ast.Module) and isinstance(child, ast.Assign | ast.AnnAssign):
                names = ast.unparse(child.targets[0] if isinstance(child, ast.Assign) else child.target)
                if is_screen or "_SECONDS" in names:
                    continue
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                is_negative = isinstance(child, ast.UnaryOp) and isinstance(child.operand, ast.Constant)
                if is_negative or not isinstance(child, ast.UnaryOp):
                    yield child
                if not is_negative:
                    yield from _list_logic(child, is_screen=is_screen)


def find_tests(project: Path, file: str) -> tuple[tuple[str, ...], ...]:
    """Return the tests for a changed file in groups: beside it, importing it, and all others."""
    module = Path(file).with_suffix("")
    beside = project / "tests" / Path(*module.parts[1:-1])
    while not beside.is_dir():
        beside = beside.parent
    near = [*sorted(beside.glob(f"test_{module.name}*.py")), *sorted(beside.glob("test_*.py"))]
    package, name = ".".join(module.parts[:-1]), module.name
    imported = re.compile(rf"{re.escape(package)}(?:\.| import .*\b){name}\b")
    every = sorted((project / "tests").rglob("test_*.py"))
    far = [path for path in every if path not in near and imported.search(path.read_text("utf-8"))]
    others = [path for path in every if path not in near and path not in far]
    named = [[str(path.relative_to(project)) for path in dict.fromkeys(paths)] for paths in (near, far, others)]
    groups = [tuple(path for path in paths if path not in _NEVER_RUN) for paths in named]
    return tuple(group for group in groups if group)


def try_change(project: Path, change: Change) -> str:
    """Make a change in a copy of the project, run its tests, take it back, and return the result."""
    place = project / change.file
    before = place.read_text("utf-8")
    assert before.startswith(change.before, change.start)
    place.write_text(before[: change.start] + change.after + before[change.start + len(change.before) :], "utf-8")
    try:
        for group in find_tests(project, change.file):
            unsteady: list[str] = []
            while (result := run_tests(project, "-x", *unsteady, *group)).startswith("killed by "):
                killer = result.removeprefix("killed by ")
                if run_tests(project, killer) != "SURVIVED":
                    return result
                unsteady += ["--deselect", killer]  # fails at times, as beside other work: it shows nothing
            if result != "SURVIVED":
                return result
    finally:
        place.write_text(before, "utf-8")
    return "SURVIVED"


def run_tests(project: Path, *arguments: str) -> str:
    """Run tests in a copy of the project and return which one fails first, if any does."""
    environ = os.environ | {"PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
    environ["ROAMTUI_DATA"] = str(find_data_dir())
    command = [sys.executable, *_PYTEST, "--timeout", str(_TEST_SECONDS_MAX), *arguments]
    try:
        result = subprocess.run(
            command, cwd=project, env=environ, capture_output=True, text=True, timeout=_SECONDS_MAX, check=False
        )
    except subprocess.TimeoutExpired:
        return "killed: the tests do not end"
    failed = _FAILED.search(result.stdout)
    match result.returncode:
        case 0 | 5:  # 5: no test was collected
            return "SURVIVED"
        case 1 | 2 if failed:  # 2: a module cannot be imported
            return f"killed by {failed[1]}"
        case code:
            return f"BROKEN: pytest ended with {code}: {result.stdout.strip().splitlines()[-1:]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Try the changes one after the other, and print the result of each."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Which changes tests notice.")
    parser.add_argument("--random", type=int, default=60, metavar="N", help="number of changes (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which random changes (%(default)s)")
    given = parser.parse_args(arguments)
    ends: list[str] = []
    killers: list[str] = []
    with TemporaryDirectory() as name:
        project = Path(name) / "project"
        shutil.copytree(PROJECT_DIR, project, ignore=shutil.ignore_patterns(*NEVER_COPIED))
        for number, change in enumerate(draw_changes(project, given.random, given.seed), start=1):
            end = try_change(project, change)
            ends.append(end.partition(" ")[0].rstrip(":"))
            if end.startswith("killed by "):
                killers.append(end.removeprefix("killed by "))
            sys.stdout.write(f"{number:>3}  {change.label}  {end}\n")
            sys.stdout.flush()
        if killers and run_tests(project, *dict.fromkeys(killers)) != "SURVIVED":
            sys.stdout.write("Some of these tests fail without any change too.\n")
    counts = {end: ends.count(end) for end in sorted(set(ends))}
    sys.stdout.write(f"{len(ends)} changes: " + ", ".join(f"{count} {end}" for end, count in counts.items()) + "\n")


if __name__ == "__main__":
    main()
