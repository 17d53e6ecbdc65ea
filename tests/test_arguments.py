"""The command line as values: one path without argparse, and what flags say of settings."""

from __future__ import annotations

import pytest

from roamtui.arguments import AppArguments, WebArguments, read_path
from roamtui.cli import read_arguments
from roamtui.conversation.state import KeepOpen
from roamtui.errors import UsageError
from roamtui.parser import parse_arguments
from roamtui.settings import load_settings


@pytest.mark.parametrize("path", ["handbook.md", "./ask", "../notes", "docs/", "~/no suffix", "."])
def test_a_path_alone_is_read_as_argparse_reads_it(path: str) -> None:
    assert read_path([path]) == parse_arguments(AppArguments, "roamtui", [path])


@pytest.mark.parametrize("words", [[], ["ask"], ["handbook"], ["-"], ["--plain"], ["--model=./x"], ["a.md", "b.md"]])
def test_all_else_is_left_to_argparse(words: list[str]) -> None:
    assert read_path(words) is None


def test_settings_that_are_given_are_told_from_those_that_are_not() -> None:
    words = ["ask", "a.md", "q", "--model", "", "--no-rewrite", "--limit=3", "--keep-open", "all"]
    given = getattr(read_arguments(words), "given")  # noqa: B009 - not every command has settings
    assert given == {"keep_open": "all", "retrieval": {"limit": 3, "rewrite": False}}
    settings = load_settings(given)
    assert (settings.model, settings.keep_open, settings.retrieval.limit) == ("offline", KeepOpen.ALL, 3)


def test_what_may_be_given_again_is_a_list_and_what_may_not_is_refused() -> None:
    arguments = read_arguments(["a.md", "--allow-origin", "https://x", "--allow-origin", "https://y"])
    assert arguments == AppArguments(sources=("a.md",), web=WebArguments(allowed=("https://x", "https://y")))
    with pytest.raises(UsageError, match="not allowed with argument"):
        read_arguments(["ask", "a.md", "q", "--json", "--events"])
