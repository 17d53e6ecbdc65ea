"""The outline that a model reads: one line for each section, the most useful sections first."""

import re

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from roamtui.outline.render import compute_outline_budget, render_outline
from roamtui.text import estimate_tokens
from tests.outline.documents import MANUAL, documents, make_shape, write_words
from tests.search.libraries import make_library

_LINE = re.compile(
    r"^ *- \[([0-9a-f]{8})(?::c[\d.]+)?\] .*\((?:\d+ sections?, )?(?:(?:[\d.]+[kM]?|list) of )?[\d.]+[kM]?\)"
)


def _find_line(outline: str, title: str) -> str:
    return next(line.strip() for line in outline.splitlines() if f"] {title}" in line)


def test_a_heading_with_no_text_and_nothing_below_has_no_line() -> None:
    assert "Lost books" not in render_outline(make_library(MANUAL))


def test_the_largest_are_listed_deeper_and_the_others_say_what_is_below() -> None:
    small = "".join(f"## Small {n}\n\n### Part of {n}\n\n{write_words(90, seed=n)}\n" for n in range(40))
    large = "## Large\n\n" + "".join(f"### Chapter {n}\n\n{write_words(900, seed=n)}\n" for n in range(9))
    outline = render_outline(make_library(f"# All\n\n{small}{large}"), budget_tokens=1_400)
    assert outline.count("] Small") == 40
    assert outline.count("] Chapter") == 9
    assert "] Part of" not in outline


def test_vague_titles_are_followed_by_first_words() -> None:
    library = make_library(
        "# A\n\nText.\n\n## 2.1\n\nRenewals are free of charge.\n\n## FAQ\n\nA loan is a promise.\n\n"
        "## XIV.\n\nKeys.\n\n## CLI\n\nRun it.\n"
    )
    outline = render_outline(library)
    assert _find_line(outline, "2.1").endswith("): Renewals are free of charge.")
    assert _find_line(outline, "FAQ").endswith("): A loan is a promise.")
    assert _find_line(outline, "XIV.").endswith("): Keys.")
    assert "Run it." not in outline, "its title is a word, not a numeral"


def test_titles_that_differ_only_by_their_number_are_followed_by_first_words() -> None:
    library = make_library(
        "# A\n\nText.\n\n## Section 1\n\nRenewals are free.\n\n## Section IV.\n\nA loan is a promise.\n\n"
        "## Keys\n\nTwo of them.\n"
    )
    outline = render_outline(library)
    assert _find_line(outline, "Section 1").endswith("): Renewals are free.")
    assert _find_line(outline, "Section IV.").endswith("): A loan is a promise.")
    assert "Two of them." not in outline


@example("# Fees\n\n", 200)
@example("Before all.\n\n# Fees\n\n" + "## Fee\n\nIt is due.\n\n" * 300, 200)
@given(documents(), st.integers(200, 3_000))
def test_any_outline_keeps_its_budget_and_consists_of_lines(text: str, budget: int) -> None:
    outline = render_outline(make_library(text), budget_tokens=budget)
    assert estimate_tokens(outline) <= budget + 60
    for line in outline.splitlines()[2:]:
        is_told = line.endswith(("listed when it is opened", "(Nothing in it has text.)"))
        assert _LINE.match(line) or is_told


def test_a_small_document_and_a_small_window_have_small_outlines() -> None:
    large = make_shape("10,000 flat headings")
    assert compute_outline_budget(large, None) == compute_outline_budget(large, 128_000)
    assert compute_outline_budget(large, 800) <= 800
    report = make_library(f"# Report\n\n{write_words(20_000, seed=1)}\n")
    paged = replace(report, root=replace(report.root, page_starts=(0,)))
    budgets = [compute_outline_budget(library, None) for library in (report, paged)]
    assert budgets == [700, 1_000], "Items and statements are asked for by name"
    book = make_library("".join(f"# Part {n}\n\n{write_words(40, seed=n)}\n" for n in range(40)))
    assert compute_outline_budget(book, None) <= sum(book.root.own_tokens) // 4


def test_an_empty_document_says_so() -> None:
    assert render_outline(make_library("")) == "(The document is empty.)\n"
