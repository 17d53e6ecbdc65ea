"""`kill -9` while a table is filled: no finished cell is lost or asked again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.anomalies.table_kills import kill_tables

pytestmark = pytest.mark.slow


def test_a_killed_run_loses_only_the_cells_in_flight(tmp_path: Path, forking_program: tuple[str, ...]) -> None:
    report = kill_tables(tmp_path, 3, program=forking_program)
    assert (report.lost, report.asked_again, report.cells) == (0, [], 24)
    assert report.cut_off_max <= 4
    assert report.kills >= 2
