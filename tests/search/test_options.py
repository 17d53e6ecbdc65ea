"""Options of search: what may be set, and what is said of the rest."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from roamtui.errors import UsageError
from roamtui.search.options import SPECS, OptionError, RetrievalOptions, parse_option, read_option


def test_the_defaults_may_be_set_and_go_together() -> None:
    RetrievalOptions().check()
    for name, value in asdict(RetrievalOptions()).items():
        if value is not None:
            assert read_option(name, value) == value
    assert all(spec.help for spec in SPECS.values())


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("mode", "psychic", "must be one of off, keyword, vector, hybrid"),
        ("mode", 3, "must be one of off, keyword, vector, hybrid"),
        ("rerank", True, "must be one of off, scores, choose"),
        ("embedder", "", "must be text in quotation marks"),
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
        read_option(name, value)


def test_numbers_are_what_they_should_be() -> None:
    assert isinstance(read_option("vector_weight", 1), float)
    assert parse_option("vector_weight", "0.5") == 0.5
    assert parse_option("chunk_size", "500") == 500
    for text in ("many", "1.5", ""):
        with pytest.raises(OptionError):
            parse_option("chunk_size", text)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"chunk_size": 100, "chunk_overlap": 51}, "chunk_overlap 51"),
        ({"keyword_weight": 0.0, "vector_weight": 0.0}, "both 0"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        RetrievalOptions(**options).check()


def test_six_options_are_flags() -> None:
    assert [name for name, spec in SPECS.items() if spec.has_flag] == [
        "mode",
        "embedder",
        "index",
        "limit",
        "rerank",
        "rewrite",
    ]


def test_every_key_is_documented_with_its_default() -> None:
    documented = (Path(__file__).parents[2] / "docs" / "search.md").read_text("utf-8")
    for name, spec in SPECS.items():
        default = getattr(RetrievalOptions(), name)
        flag = f", `--{name}`" if spec.has_flag else ""
        shown = "" if default is None else f"`{json.dumps(default)}`".replace(".0`", "`")
        assert f"| `{name}`{flag} | {shown} | {spec.help} |".replace("|  |", "| |") in documented
