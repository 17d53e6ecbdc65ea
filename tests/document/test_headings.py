"""The scan finds the same headings as a full parse by markdown-it-py, in any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.headings import HeadingScanner
from roamtui.document.parse import parse_document
from roamtui.markdown.blocks import Heading
from roamtui.markdown.parser import parse_markdown
from tests.case_files import read_rows
from tests.document.block_texts import list_texts
from tests.document.invariants import read_sections
from tests.document.judge import judge_outline

_TEXTS_PER_SEED = 80
"""Makes more than 10,000 texts of the 60 seeds of an ordinary run, and 1.7 million of the 10,000 of a nightly one."""


def find_headings(text: str) -> list[tuple[int, str, int]]:
    """Return level, title and 0-based line of each heading that the scan finds."""
    return [(level, title, line - 1) for level, title, line in read_sections(parse_document(text))]


def strip_titles(headings: list[tuple[int, str, int]]) -> list[tuple[int, str, int]]:
    """Strip titles before a comparison: markdown-it-py strips a title of only white space to nothing."""
    return [(level, title.strip(), line) for level, title, line in headings]


@given(st.integers(0, 2**64))
def test_headings_of_random_texts_match_a_full_parse(seed: int) -> None:
    for text in list_texts(seed, _TEXTS_PER_SEED):
        found = read_sections(parse_document(text))
        assert strip_titles(found) == strip_titles(judge_outline(text)), repr(text)


@pytest.mark.parametrize("text", read_rows("document/headings", "hard_cases"))
def test_headings_of_hard_cases_match_a_full_parse(text: str) -> None:
    for ended in (text, text + "\n"):
        assert read_sections(parse_document(ended)) == judge_outline(ended)


def test_a_title_is_what_the_reader_shows_of_it() -> None:
    titles = (
        "Base 10<sub>2</sub> and 10<sup>3</sup>",
        "$x^2$ and [[Note|w]]",
        r"Use \(x^2\)",
        "Vec<T> &amp; ~~*b*~~",
        "__init__",
    )
    shown = ["Base 10₂ and 10³", "x² and w", "Use x²", "Vec<T> & b", "init"]
    text = "".join(f"# {title}\n\n" for title in titles)
    assert [title for _, title, _ in find_headings(text)] == shown
    headings = [block for block in parse_markdown(text).blocks if isinstance(block, Heading)]
    assert ["".join(words.text for words in block.words) for block in headings] == shown


def test_a_title_that_is_only_pictures_is_what_describes_them() -> None:
    text = "# ![Acme *Inc*](a.png) ![](b.png) ![Oslo](c.png)\n\n## ![build](d.png) Fees\n"
    assert [title for _, title, _ in find_headings(text)] == ["Acme Inc Oslo", "Fees"]


def test_plain_sections_are_found_without_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(scanner: HeadingScanner, start: int) -> None:
        raise AssertionError(f"a span at {start} of {scanner}")

    monkeypatch.setattr(HeadingScanner, "_parse_span", refuse)
    text = "# A\n\n- b\n\n```\n# d\n```\n<div>\n\n## E\n"
    assert [title for _, title, _ in find_headings(text)] == ["A", "E"]


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
    assert [line for _, _, line in find_headings("\n".join(lines))] == [*wanted, len(lines) - 3]


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# " + "*a_ *a* " * 13_000, ("*a_ *a* " * 13_000).strip()),
        ("# " + "[" * 5_000, "[" * 5_000),
        ("# \u00a0" + " " * 20_000 + "\u00a0", "\u00a0" + " " * 20_000 + "\u00a0"),
        ("# " + "![a](" * 5_000, "![a](" * 5_000),
    ],
    ids=["giant", "brackets", "blank", "images"],
)
def test_a_hostile_title_is_read_as_text(heading: str, title: str) -> None:
    assert find_headings(heading + "\n\n# After") == [(1, title, 0), (1, "After", 2)]
