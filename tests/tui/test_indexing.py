"""The search index of a large source is made before a question needs it, and the status line says how far that is."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from typing_extensions import override

from roamtui.search.index import SectionIndex
from roamtui.search.keyword import KeywordSearcher
from tests.tui.driving import make_app, screen_text, wait_until

_TEXT = "# Mill\n\n## Stones\n\nTwo stones.\n\n## Store\n\nWheat.\n"


class _SlowSearcher(KeywordSearcher):
    """A searcher whose index takes until it is let go."""

    may_end = threading.Event()

    @override
    def prepare(self, tell: Callable[[int, int], None] | None = None) -> SectionIndex:
        """Tell of half of it, and wait."""
        assert tell is not None
        tell(2, 4)
        self.may_end.wait(20)
        return super().prepare(tell)


async def test_a_large_source_is_indexed_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.tui.dispatch._INDEXED_AHEAD_MIN", 3)
    app = make_app(text=_TEXT)
    searcher = _SlowSearcher(app.app_context.agent.session.state.library)
    app.app_context.agent.searcher = searcher
    async with app.run_test(size=(120, 30)) as pilot:
        await wait_until(pilot, lambda: "indexing 2 of 4 sections" in screen_text(app))
        searcher.may_end.set()
        await wait_until(pilot, lambda: "indexing" not in screen_text(app))
    assert searcher._state is not None
