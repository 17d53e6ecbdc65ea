from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.errors import UsageError
from roamtui.evaluation.rows import QuestionRow, RowFile, RunKey, read_rows

_KEY = RunKey(set="tiny", scope="all", mode="keyword", model="", with_history=True)
_ROW = QuestionRow(id="a", question="Why?", rank=2, relaxed_rank=1, hits=("0000000a",), ms=1.5)


def _write(path: Path, key: RunKey = _KEY) -> Path:
    RowFile(path, key).add(_ROW)
    return path


def test_a_cut_line_is_told_and_the_next_result_stands_on_its_own(tmp_path: Path) -> None:
    path = _write(tmp_path / "rows.jsonl")
    path.write_bytes(path.read_bytes() + b'{"id": "b", "ra')

    file = RowFile(path, _KEY)
    file.add(_ROW)

    assert file.problems == ("rows.jsonl line 2 is no result of a question; it is left out.",)
    assert read_rows(path)[0] == {_KEY: {"a": _ROW}}
    assert path.read_bytes().count(b"\n") == 3


@pytest.mark.parametrize("line", ["[]", "1", "{}", '{"set": []}', "null"])
def test_a_line_that_is_no_result_is_told(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line + "\n", "utf-8")
    assert read_rows(path) == ({}, ("rows.jsonl line 1 is no result of a question; it is left out.",))


def test_results_of_another_run_are_not_mixed(tmp_path: Path) -> None:
    path = _write(tmp_path / "rows.jsonl")
    other = RunKey(set="tiny", scope="doc", mode="keyword", model="", with_history=True)
    with pytest.raises(UsageError, match="another file"):
        RowFile(path, other)


def test_a_file_of_something_else_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("my notes\n", "utf-8")
    with pytest.raises(UsageError, match="another file"):
        RowFile(path, _KEY)
    assert path.read_text("utf-8") == "my notes\n"
