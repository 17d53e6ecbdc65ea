from __future__ import annotations

import pytest
from hypothesis import given

from roamtui.document.headings import Heading, find_headings
from tests.document.markdown_texts import markdown_texts


def _list(text: str) -> list[tuple[int, str, int]]:
    return [(heading.level, heading.title, heading.line) for heading in find_headings(text)]


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("# A", [(1, "A", 0)]),
        ("## A ##\n", [(2, "A", 0)]),
        ("A\n=\nB\n-", [(1, "A", 0), (2, "B", 2)]),
        ("one\ntwo\n---", [(2, "one two", 0)]),
        ("# a `b` *c* [d](e) ![f](g) <i>h</i>", [(1, "a b c d  h", 0)]),
        (r"# \*a\* &amp; b", [(1, "*a* & b", 0)]),
        ("```\n# no\n```\n# yes", [(1, "yes", 3)]),
        ("<!--\n# no\n-->\n# yes", [(1, "yes", 3)]),
        ("| a |\n|---|\nb\n---\n", []),
        ("    # no", []),
        ("#no\n#hashtag", []),
        ("> # no\n\n- # no\n", []),
        ("", []),
    ],
)
def test_headings_of(text: str, headings: list[tuple[int, str, int]]) -> None:
    assert _list(text) == headings


def test_a_reference_link_in_a_title_shows_its_text() -> None:
    assert _list("# [a] b\n\n[a]: https://example.invalid") == [(1, "a b", 0)]


def test_a_title_of_a_no_break_space_keeps_it() -> None:
    assert _list("# \u00a0\n## \u00a0 ##\n") == [(1, "\u00a0", 0), (2, "\u00a0", 1)]


def test_nul_is_read_as_the_replacement_character() -> None:
    assert _list("# A\0B") == [(1, "A\ufffdB", 0)]


@pytest.mark.parametrize("marker", ["> ", "- ", "1. ", "> - "])
@pytest.mark.parametrize("depth", [10, 21, 99, 101, 10_000])
def test_deep_nesting_loses_nothing_after_it(marker: str, depth: int) -> None:
    text = f"# Before\n\n{marker * depth}text\n===\n\nAfter\n---\n"
    assert _list(text) == [(1, "Before", 0), (2, "After", 5)]


@pytest.mark.parametrize(
    "lines",
    [
        ["  " * depth + "- item" for depth in range(600)],
        ["   " * depth + "1. item" for depth in range(600)],
        ["> " * depth + "text" for depth in range(1, 600)],
        ["> " * depth + "- # no" for depth in range(600)],
        ["- " * 600 + "```", "# yes", "> " * 600 + "<div>", "# yes"],
        ["<div>"] * 10_000 + ["</div>"] * 10_000,
    ],
    ids=["bullets", "numbers", "quotes", "lists in quotes", "fences", "html"],
)
def test_deep_nesting_over_many_lines_loses_nothing_after_it(lines: list[str]) -> None:
    lines = ["# Before", "", *lines, "", "Aft*er", "===", ""]
    wanted = [number for number, line in enumerate(lines) if line.startswith("# ")]
    assert [line for _, _, line in _list("\n".join(lines))] == [*wanted, len(lines) - 3]


def test_an_unfinished_html_block_in_a_quoted_list_is_read() -> None:
    assert _list("> - <?php\n>") == []


def test_a_giant_heading_is_its_own_title() -> None:
    title = "*a_ " * 100_000
    assert find_headings(f"# {title}\n# After") == [
        Heading(1, title.strip(), 0),
        Heading(1, "After", 1),
    ]


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# " + "[" * 20_000, "[" * 20_000),
        ("# \u00a0" + " " * 20_000 + "\u00a0", "\u00a0" + " " * 20_000 + "\u00a0"),
        ("# " + "![a](" * 5_000, "![a](" * 5_000),
    ],
    ids=["brackets", "blank", "images"],
)
def test_a_hostile_title_is_read_as_text(heading: str, title: str) -> None:
    assert _list(heading + "\n\n# After") == [(1, title, 0), (1, "After", 2)]


@given(markdown_texts())
def test_lines_rise_and_levels_are_levels(text: str) -> None:
    source = text.replace("\r\n", "\n").replace("\r", "\n")
    headings = find_headings(source)
    lines = [heading.line for heading in headings]
    assert lines == sorted(set(lines))
    assert all(1 <= heading.level <= 6 for heading in headings)
    assert all("\n" not in heading.title for heading in headings)
    assert all(0 <= line <= source.count("\n") for line in lines)
