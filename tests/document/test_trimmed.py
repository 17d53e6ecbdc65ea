"""What is stripped from titles is what markdown-it-py strips."""

from __future__ import annotations

from markdown_it.common.utils import MD_TRIM_CHARS

from roamtui.document.scanning.lines import TRIMMED


def test_the_ends_of_titles_are_trimmed_as_by_the_parser() -> None:
    assert sorted(TRIMMED) == sorted(MD_TRIM_CHARS)
