"""The keep-open modes side by side over conversations about real documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.conversation.state import KeepOpen
from tests.benchmarks.keep_open import BUDGET_TOKENS, simulate


@pytest.mark.slow
async def test_keeping_open_saves_what_it_promises(data_dir: Path) -> None:
    assert (data_dir / "sets").is_dir()
    tallies = await simulate(8, seed=1)
    keep, fresh, everything = (tallies[mode] for mode in (KeepOpen.KEEP, KeepOpen.FRESH, KeepOpen.ALL))
    assert keep.reopened <= fresh.reopened / 2
    assert keep.uncached <= fresh.uncached
    assert keep.highest_open <= BUDGET_TOKENS
    assert everything.highest_open > keep.highest_open
    assert fresh.already_open == 0 < keep.already_open
