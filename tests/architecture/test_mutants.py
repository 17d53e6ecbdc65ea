"""The tool that changes the program at random repeats its changes."""

from __future__ import annotations

import ast

from tests.mutants import draw_changes
from tests.real_documents import PROJECT_DIR


def test_random_changes_repeat_and_parse() -> None:
    changes = draw_changes(PROJECT_DIR, 40, 7)
    assert changes == draw_changes(PROJECT_DIR, 40, 7)
    assert len(changes) == 40
    for change in changes:
        source = (PROJECT_DIR / change.file).read_text("utf-8")
        assert source.startswith(change.before, change.start)
        ast.parse(source[: change.start] + change.after + source[change.start + len(change.before) :])
