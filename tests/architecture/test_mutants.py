"""The tool that changes the program at random finds logic, and the tests that should notice."""

from __future__ import annotations

import ast

import pytest

from tests.mutants import draw_changes, find_flips, find_tests, read_changes
from tests.real_documents import PROJECT_DIR


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x = a < b", ["x = a >= b"]),
        ("x = a and b and c", ["x = a or b and c", "x = a and b or c"]),
        ("x = a not in (b or c)", ["x = a in (b or c)", "x = a not in (b and c)"]),
        ("x = a is not None", ["x = a is None"]),
        ("x = 'ä' == y", ["x = 'ä' != y"]),
        (
            "x = 0, 1, 2.5, True",
            ["x = 1, 1, 2.5, True", "x = 0, 2, 2.5, True", "x = 0, 1, 5.0, True", "x = 0, 1, 2.5, False"],
        ),
        ("x = a[-1], -b", ["x = a[0], -b"]),
        ("x: Literal[1] = y", []),
        ("_WAIT_SECONDS = 1", []),
        ('"""a < b and 1"""', []),
        ("@cache(1)\ndef f(x: int = 1) -> A[1]: ...", ["@cache(1)\ndef f(x: int = 2) -> A[1]: ..."]),
        ("zip(a, b, strict=True)", []),
    ],
)
def test_flips_of_a_source(source: str, changed: list[str]) -> None:
    flips = list(find_flips(source))
    assert sorted(source[:at] + after + source[at + len(before) :] for at, before, after in flips) == sorted(changed)


def test_constants_of_the_screen_are_taste() -> None:
    source = "_WIDTH = 40\n\ndef f(x):\n    return x > 40\n"
    assert {before for _, before, _ in find_flips(source, is_screen=True)} == {">", "40"}
    assert [at for at, before, _ in find_flips(source, is_screen=True) if before == "40"] == [source.rindex("40")]


def test_random_changes_repeat_and_parse() -> None:
    changes = draw_changes(PROJECT_DIR, 40, 7)
    assert changes == draw_changes(PROJECT_DIR, 40, 7)
    assert len(changes) == 40
    for change in changes:
        source = (PROJECT_DIR / change.file).read_text("utf-8")
        assert source.startswith(change.before, change.start)
        ast.parse(source[: change.start] + change.after + source[change.start + len(change.before) :])


def test_a_change_is_tried_on_the_tests_beside_it_first() -> None:
    beside, *_ = find_tests(PROJECT_DIR, "roamtui/sources/decode.py")
    assert beside[0] == "tests/sources/test_decode.py"
    assert "tests/sources/test_read.py" in beside
    assert find_tests(PROJECT_DIR, "roamtui/launch.py")[0][0] == "tests/test_launch.py"


def test_tests_of_a_model_that_may_not_be_installed_are_never_tried() -> None:
    tried = find_tests(PROJECT_DIR, "roamtui/models/search_models.py")
    assert "tests/models/test_search_models.py" in tried[0]
    assert not any("real_embedder" in path for group in tried for path in group)


def test_every_listed_change_still_has_its_place() -> None:
    changes = list(read_changes(PROJECT_DIR / "tests" / "mutants.json", PROJECT_DIR))
    assert len(changes) >= 28
    assert [change for change in changes if isinstance(change, str)] == []
