"""`kill -9` at any moment: what was shown is on disk, and the conversation goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import kill_at_writes

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("is_first", [True, False])
def test_killed_in_any_write(programs: MortalPrograms, tmp_path: Path, *, is_first: bool) -> None:
    assert kill_at_writes(programs, tmp_path, is_first=is_first) > 12
