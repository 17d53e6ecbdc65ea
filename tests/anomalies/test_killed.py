"""kill -9 at any moment: what was shown is on disk, no finished cell is lost or asked again, and all goes on."""

from pathlib import Path

import pytest

from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import kill_at_writes
from tests.anomalies.table_kills import kill_tables

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("is_first", [True, False])
def test_killed_in_any_write(programs: MortalPrograms, tmp_path: Path, *, is_first: bool) -> None:
    assert kill_at_writes(programs, tmp_path, is_first=is_first) > 5


def test_a_killed_run_loses_only_the_cells_in_flight(tmp_path: Path, forking_program: tuple[str, ...]) -> None:
    report = kill_tables(tmp_path, 3, program=forking_program)
    assert (report.lost, report.asked_again, report.cells) == (0, [], 24)
    assert report.cut_off_max <= 4
    assert report.kills >= 2
