"""A value from a file or the command line is what its field says, or is refused in words."""

from __future__ import annotations

import pytest

from roamtui.options import OptionError, list_options
from roamtui.search.options import RetrievalOptions

OPTIONS = list_options(RetrievalOptions)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("mode", "psychic", "must be one of off, keyword, vector, hybrid"),
        ("mode", 3, "must be one of off, keyword, vector, hybrid"),
        ("rerank", True, "must be one of off, scores, choose"),
        ("embedder", 7, "must be text in quotation marks"),
        ("rewrite", "yes", "must be true or false"),
        ("limit", 0, "must be a whole number of 1 or more"),
        ("limit", 2.5, "must be a whole number of 1 or more"),
        ("limit", True, "must be a whole number of 1 or more"),
        ("chunk_size", 49, "must be a whole number from 50 to 8000"),
        ("score_threshold", 1.1, "must be a number from 0 to 1"),
        ("vector_weight", -1, "must be a number of 0 or more"),
        ("vector_weight", float("nan"), "must be a number of 0 or more"),
        ("vector_weight", float("inf"), "must be a number of 0 or more"),
        ("parent_weight", "much", "must be a number from 0 to 1"),
    ],
)
def test_a_value_that_means_nothing_is_told(name: str, value: object, reason: str) -> None:
    with pytest.raises(OptionError, match=f"^{reason}$"):
        OPTIONS[name].read(value)


def test_numbers_are_what_they_should_be() -> None:
    assert isinstance(OPTIONS["vector_weight"].read(1), float)
    assert OPTIONS["vector_weight"].parse("0.5") == 0.5
    assert OPTIONS["chunk_size"].parse("500") == 500
    for text in ("many", "1.5", ""):
        with pytest.raises(OptionError):
            OPTIONS["chunk_size"].parse(text)
