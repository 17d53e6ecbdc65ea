"""The command line of one path, read without argparse."""

from __future__ import annotations

import pytest

from roamtui.arguments import AppArguments, read_path
from roamtui.parser import parse_arguments


@pytest.mark.parametrize("path", ["handbook.md", "./ask", "../notes", "docs/", "~/no suffix", "."])
def test_a_path_alone_is_read_as_argparse_reads_it(path: str) -> None:
    assert read_path([path]) == parse_arguments(AppArguments, "roamtui", [path])


@pytest.mark.parametrize("words", [[], ["ask"], ["handbook"], ["-"], ["--plain"], ["--model=./x"], ["a.md", "b.md"]])
def test_all_else_is_left_to_argparse(words: list[str]) -> None:
    assert read_path(words) is None
