"""Limits on size and a few habits, so that no file grows into the one that nobody can read."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.real_documents import PROJECT_DIR

_SOURCE_LINES_MAX = 600
_TEST_LINES_MAX = 800
_FUNCTION_LINES_MAX = 80
_VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}
_TEXT_SUFFIXES = {".py", ".md", ".toml", ".txt", ".yml", ".yaml", ".cfg", ".tcss", ".json", ".jsonl"}
_UNFINISHED = re.compile(rf"\b({'|'.join(('TO' + 'DO', 'FIX' + 'ME', 'X' * 3))})\b")
_OUT_OF_PLACE = re.compile(
    "|".join((r"(with|by) \[?claude" + " code", "co-authored" + "-by", "as an ai" + " (language )?model")), re.I
)

_SOURCES = sorted((PROJECT_DIR / "roamtui").rglob("*.py"))
_TESTS = sorted((PROJECT_DIR / "tests").rglob("*.py"))
_TOOLS = sorted((PROJECT_DIR / "docs").rglob("*.py"))
_EVERY = [*_SOURCES, *_TESTS, *_TOOLS]


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@pytest.fixture(scope="module", autouse=True)
def _forget_trees() -> Iterator[None]:
    """Hold a million nodes no longer than these tests: each later collection of garbage would look through them."""
    yield
    _parse.cache_clear()


def _name(path: Path, node: ast.stmt | ast.expr | None = None) -> str:
    return f"{path.relative_to(PROJECT_DIR)}:{node.lineno if node else 1}"


def _list_texts() -> Iterator[Path]:
    """Yield every text file of the project, without what tools write."""
    for entry in sorted(PROJECT_DIR.iterdir()):
        if entry.is_file():
            found = [entry]
        elif entry.name in (".ci", ".github", "docs", "examples", "roamtui", "tests", "themes"):
            found = sorted(entry.rglob("*"))
        else:
            continue
        yield from (path for path in found if path.is_file() and (path.suffix in _TEXT_SUFFIXES or not path.suffix))


@pytest.mark.parametrize(("paths", "lines_max"), [(_SOURCES, _SOURCE_LINES_MAX), (_TESTS, _TEST_LINES_MAX)])
def test_no_file_is_too_long(paths: list[Path], lines_max: int) -> None:
    assert [_name(path) for path in paths if path.read_text("utf-8").count("\n") > lines_max] == []


def test_no_function_is_too_long() -> None:
    long = []
    for path in _EVERY:
        for node in ast.walk(_parse(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > _FUNCTION_LINES_MAX:
                    long.append(f"{_name(path, node)} {node.name}: {lines}")
    assert long == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [_name(path) for path in _EVERY if _VAGUE_NAMES & {*path.with_suffix("").parts[-2:]}] == []


@pytest.mark.parametrize("pattern", [_UNFINISHED, _OUT_OF_PLACE], ids=["unfinished", "out of place"])
def test_no_text_of_the_project_holds(pattern: re.Pattern[str]) -> None:
    texts = list(_list_texts())
    assert PROJECT_DIR / "README.md" in texts
    found = [
        f"{path.relative_to(PROJECT_DIR)}:{number}"
        for path in texts
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1)
        if pattern.search(line)
    ]
    assert found == []


def test_no_test_measures_by_the_clock_or_waits_for_it() -> None:
    calls = re.compile(r"\b(?:time\.sleep|perf_counter|monotonic)\(|asyncio\.sleep\((?!0\))|\bpause\(0\.\d")
    # A program in a terminal tells nobody when it has drawn: it must be polled; an app has timers.
    allowed = {"benchmarks", "terminal", "driving.py", "test_small_model.py"}
    tests = [path for path in _TESTS if not allowed.intersection(path.parts) and path != Path(__file__)]
    assert [_name(path) for path in tests if calls.search(path.read_text("utf-8"))] == []


def test_no_message_of_the_app_is_read_as_markup() -> None:
    """Most of them quote documents, models or errors."""
    calls = [(path, node) for path in _SOURCES for node in ast.walk(_parse(path)) if isinstance(node, ast.Call)]
    notifying = [(path, call) for path, call in calls if getattr(call.func, "attr", "") == "notify"]
    assert len(notifying) > 1
    for path, call in notifying:
        switches = [keyword.value for keyword in call.keywords if keyword.arg == "markup"]
        assert [getattr(switch, "value", None) for switch in switches] == [False], f"{path}:{call.lineno}"


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python 3.11.2, which Debian 12 has, reads on after a possessive group whose last turn failed."""
    repeated = re.compile(r"(?<![\\(])\)[*+?]\+(?![*+?])")
    assert not [
        _name(path, node)
        for path in _SOURCES
        for node in ast.walk(_parse(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and repeated.search(node.value)
    ]
