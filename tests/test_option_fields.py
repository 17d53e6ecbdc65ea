"""A value from a file or the command line is what its field says, or is refused in words."""

from __future__ import annotations

import pytest

from roamtui.argument_parser import parse_arguments
from roamtui.cli import parse_command_line
from roamtui.conversation.state import KeepOpenMode
from roamtui.errors import UsageError
from roamtui.option_fields import AppArguments, OptionError, WebArguments, list_options
from roamtui.search.options import RetrievalOptions
from roamtui.settings import load_settings

OPTIONS = list_options(RetrievalOptions)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("mode", "psychic", "must be one of off, keyword, vector, hybrid"),
        ("mode", 3, "must be one of off, keyword, vector, hybrid"),
        ("rerank", True, "must be one of off, scores, choose"),
        ("embedder", 7, "must be a quoted string"),
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
        OPTIONS[name].from_toml(value)


def test_numbers_are_what_they_should_be() -> None:
    assert isinstance(OPTIONS["vector_weight"].from_toml(1), float)
    assert OPTIONS["vector_weight"].from_argument("0.5") == 0.5
    assert OPTIONS["chunk_size"].from_argument("500") == 500
    for text in ("many", "1.5", ""):
        with pytest.raises(OptionError):
            OPTIONS["chunk_size"].from_argument(text)


@pytest.mark.parametrize("path", ["handbook.md", "./ask", "../notes", "docs/", "~/no suffix", "."])
def test_a_path_alone_is_read_as_argparse_reads_it(path: str) -> None:
    assert parse_command_line([path]) == parse_arguments(AppArguments, "roamtui", [path])


def test_settings_that_are_given_are_told_from_those_that_are_not() -> None:
    words = ["ask", "a.md", "q", "--model", "", "--limit=3", "--keep-open", "all"]
    given = getattr(parse_command_line(words), "overrides")  # noqa: B009 - not every command has settings
    assert given == {"keep_open": "all", "retrieval": {"limit": 3}}
    settings = load_settings(given)
    assert (settings.model, settings.keep_open, settings.retrieval.limit) == ("offline", KeepOpenMode.ALL, 3)


def test_what_may_be_given_again_is_a_list_and_what_may_not_is_refused() -> None:
    arguments = parse_command_line(["a.md", "--allow-origin", "https://x", "--allow-origin", "https://y"])
    assert arguments == AppArguments(sources=("a.md",), web=WebArguments(allowed_origins=("https://x", "https://y")))
    with pytest.raises(UsageError, match="not allowed with argument"):
        parse_command_line(["ask", "a.md", "q", "--json", "--events"])
