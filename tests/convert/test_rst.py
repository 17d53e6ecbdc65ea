"""reStructuredText as Markdown: headings by their adornments, and nothing is a heading by accident."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.convert.rst import convert_rst
from tests.case_files import read_rows
from tests.convert.samples import read_outline


def convert(*lines: str) -> str:
    return convert_rst("\n".join(lines).encode(), "a.rst").text.rstrip("\n")


def test_levels_are_in_the_order_in_which_adornments_appear() -> None:
    lines = [
        "=====", "Title", "=====", "", "One", "===", "a", "", "Two", "---", "", "Three", "=====", "", "日本", "----",
    ]  # fmt: skip
    assert convert(*lines[4:7]) == "# One\n\na"
    assert read_outline(convert(*lines)) == [(1, "Title"), (2, "One"), (3, "Two"), (2, "Three"), (3, "日本")]


@pytest.mark.parametrize(("lines", "expected"), read_rows("convert/rst", "blocks"))
def test_blocks_become_markdown(lines: tuple[str, ...], expected: str) -> None:
    assert convert(*lines) == expected


def test_admonitions_nested_without_end_are_converted() -> None:
    lines = [f"{' ' * depth}.. note:: w{depth}" for depth in range(400)]
    assert convert(*lines).count("[!note]") == 10
    assert convert(*lines).endswith("w399")


@given(
    st.lists(st.sampled_from(["", "a", "  b", "- c", "::", ".. d::", "   :e: f", "====", "----", "# g", "`h", "  * i"]))
)
def test_every_heading_has_an_adornment(lines: list[str]) -> None:
    titles = [title for _, title in read_outline(convert(*lines))]
    adorned = [line.strip() for line, below in pairwise(lines) if below in ("====", "----")]
    assert all(title.strip("\\") in adorned for title in titles)
