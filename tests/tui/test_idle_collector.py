"""Garbage is collected, but not while somebody types."""

from __future__ import annotations

import gc
from itertools import count
from typing import TYPE_CHECKING

from roamtui.tui import idle_collector
from roamtui.tui.idle_collector import IdleCollector
from tests.tui.driving import make_app

if TYPE_CHECKING:
    import pytest


def test_nothing_is_collected_while_somebody_types_nor_soon_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(idle_collector, "monotonic", lambda: now[0])
    collector = IdleCollector()
    collector.note_key()
    assert not collector.look()
    now[0] += 1.5
    assert collector.look()
    now[0] += 1.5
    assert not collector.look()
    now[0] += 10
    assert collector.look()


def test_a_long_collection_is_followed_by_a_long_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count(100, 1)
    monkeypatch.setattr(idle_collector, "monotonic", lambda: float(next(ticks)))
    collector = IdleCollector()
    assert collector.look()
    assert not any(collector.look() for _ in range(190))


async def test_the_app_takes_full_collections_over_and_gives_them_back() -> None:
    before = gc.get_threshold()
    app = make_app()
    async with app.run_test():
        assert gc.get_threshold() == (*before[:2], 1_000_000)
    assert gc.get_threshold() == before
