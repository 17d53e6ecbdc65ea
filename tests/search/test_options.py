"""The search settings, and the errors for contradictory ones."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from roamtui.errors import UsageError
from roamtui.option_fields import list_options
from roamtui.search.options import RetrievalOptions

OPTIONS = list_options(RetrievalOptions)


def test_the_defaults_are_valid() -> None:
    RetrievalOptions().check()
    for name, value in asdict(RetrievalOptions()).items():
        if value is not None:
            assert OPTIONS[name].from_toml(value) == value


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"chunk_size": 100, "chunk_overlap": 51}, "chunk_overlap 51"),
        ({"keyword_weight": 0.0, "vector_weight": 0.0}, "both 0"),
    ],
)
def test_contradictory_options_are_rejected(options: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        RetrievalOptions(**options).check()
