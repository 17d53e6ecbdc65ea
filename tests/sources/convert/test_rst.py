"""What reStructuredText becomes: headings by their adornments, code, lists, links; nothing is a heading by accident."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.sources.convert.rst import convert_rst
from tests.sources.convert.outlines import read_outline


def convert(*lines: str) -> str:
    return convert_rst("\n".join(lines)).rstrip("\n")


def test_levels_are_in_the_order_in_which_adornments_appear() -> None:
    lines = [
        "=====", "Title", "=====", "", "One", "===", "a", "", "Two", "---", "", "Three", "=====", "", "日本", "----",
    ]  # fmt: skip
    assert read_outline(convert(*lines)) == [(1, "Title"), (2, "One"), (3, "Two"), (2, "Three"), (3, "日本")]


def test_what_only_looks_like_a_title_is_none() -> None:
    lines = [
        "# comment", "", "a", "b", "---", "", "----------", "", "=====  =====", "A      B", "=====  =====", "", "x::",
        "", "   Title", "   =====", "", "* # item", "", "  ## more", "", ".. note::", "", "   Inner", "   -----",
    ]  # fmt: skip
    assert read_outline(convert(*lines)) == []


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("text::", "", "   # a", "", "", "   b", "", "after"), "text:\n\n```\n# a\n\n\nb\n```\n\nafter"),
        ((".. code-block:: python", "   :linenos:", "", "   x"), "```python\nx\n```"),
        ((".. note:: Take care.", "", "   More."), "**note** Take care.\n\nMore."),
        ((".. py:function:: f(x)", "", "   Does."), "**py:function** f(x)\n\nDoes."),
        ((".. image:: a b.png", "   :alt: A picture"), "![A picture](a%20b.png)"),
        ((".. comment", "   more", "", ".. _label:", "", "text"), "text"),
        (("* a", "  b", "", "  c", "* d", "", "#. e", "2) f"), "- a\n  b\n\n  c\n- d\n\n1. e\n2. f"),
        (("term", "   meaning", "", ":field: value"), "**term**\n\nmeaning\n\n:field: value"),
        (("``a`` :func:`~b.c` :ref:`D <e>` `F <https://g.h>`_ `i`_ j_ a_b",), "`a` `b.c` D [F](https://g.h) i j a_b"),
        (("+--+", "|a |", "+--+"), "```\n+--+\n|a |\n+--+\n```"),
    ],
)
def test_blocks_become_those_of_markdown(lines: tuple[str, ...], expected: str) -> None:
    assert convert(*lines) == expected


@given(
    st.lists(st.sampled_from(["", "a", "  b", "- c", "::", ".. d::", "   :e: f", "====", "----", "# g", "`h", "  * i"]))
)
def test_every_heading_has_an_adornment(lines: list[str]) -> None:
    titles = [title for _, title in read_outline(convert(*lines))]
    adorned = [line.strip() for line, below in pairwise(lines) if below in ("====", "----")]
    assert all(title.strip("\\") in adorned for title in titles)


def test_deep_nesting_is_text() -> None:
    text = convert(*(f"{' ' * depth}* x{depth}" for depth in range(400)))
    assert "x0" in text
    assert "x399" in text
