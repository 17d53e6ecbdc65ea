"""Search modes and limits."""

from __future__ import annotations

from typing import Any

import pytest

from roamtui.search.factory import ModelAssistedSearcher, make_searcher
from roamtui.search.hybrid import HybridSearcher
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.options import RetrievalOptions, SearchMode
from tests.search.libraries import make_library

HANDBOOK = make_library(
    "# Fees\n\nFees fees.\n\n## Late fees\n\nLate fees of two.\n\n## Paint\n\nNo fees here at all.\n"
)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"mode": SearchMode.OFF}, type(None)),
        ({}, KeywordSearcher),
        ({"neighbour_count": 1}, HybridSearcher),
        ({"mode": SearchMode.HYBRID, "rerank": "on"}, ModelAssistedSearcher),
        ({"mode": SearchMode.VECTOR}, HybridSearcher),
        ({"mode": SearchMode.HYBRID}, HybridSearcher),
        ({"limit": 3}, ModelAssistedSearcher),
    ],
)
def test_each_mode_has_its_searcher(options: dict[str, Any], kind: type) -> None:
    assert type(make_searcher(HANDBOOK, RetrievalOptions(**options))) is kind


def _find(query: str, limit: int = 10, **options: Any) -> list[str]:  # noqa: ANN401
    searcher = make_searcher(HANDBOOK, RetrievalOptions(**options))
    assert searcher is not None
    searcher.refresh(HANDBOOK)
    return [HANDBOOK.title_of(hit.section_id) for hit in searcher.search(query, limit=limit)]


def test_limits_hold_in_every_mode() -> None:
    every = _find("late fees")
    assert len(every) == 3
    assert _find("late fees", limit=2) == every[:2]
