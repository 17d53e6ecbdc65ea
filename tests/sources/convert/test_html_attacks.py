"""Pages made to be deep, wide or endless: they are converted with work that grows with their length alone."""

from __future__ import annotations

import sys

import pytest

from roamtui.sources.convert.html import convert_html

_COUNT = 3_000
_PAGES = {
    "nested blocks": "<div>" * _COUNT + "x" + "</div>" * _COUNT,
    "nested lists": "<ul><li>" * _COUNT + "x",
    "nested quotes": "<blockquote>" * _COUNT + "x",
    "nested tables": "<table><tr><td>" * _COUNT + "x",
    "nested bold": "<b>" * _COUNT + "x",
    "nested links": "<a href=y>" * _COUNT + "x",
    "nested headings": "<h1><p>" * _COUNT + "x",
    "unended paragraphs": "<font><p>x" * _COUNT,
    "strange ends": "<div><i>" * _COUNT + "</b></div>" * _COUNT + "x",
    "ends of nothing": "<div>" * 300 + "</p></div><div>" * _COUNT + "x",
    "comments": "x" + "<!--" * _COUNT,
    "declarations": "x" + "<![x>" * _COUNT,
    "open tags": "x" + "<a " * _COUNT,
    "open quotes": "x" + "<a b='" * _COUNT + '<a b="' * _COUNT,
    "attributes": "<p " + "a=b " * _COUNT + ">x",
    "references": "x&#" + "9" * 20_000 + ";" + "&#x" + "f" * 20_000,
    "unended raw text": "<title>" * _COUNT + "<svg>" * _COUNT + "<textarea>" * _COUNT + "</textarea>x",
    "spanned cells": "<table><tr>" + "<td colspan=1000000000>x" * 300,
    "blanks": "<p>x" + " \n" * 100_000,
    "marks": "<p>x" + "`*_[<&" * 10_000,
}


@pytest.mark.parametrize("page", _PAGES.values(), ids=_PAGES)
def test_a_hostile_page_is_converted(page: str) -> None:
    text = convert_html(page).text
    assert len(text) < 3 * len(page) + 100


@pytest.mark.parametrize(
    "name", ["nested blocks", "nested lists", "nested quotes", "strange ends", "attributes", "marks"]
)
def test_the_work_grows_with_the_length_alone(name: str) -> None:
    page = _PAGES[name]
    once, twice = _count_calls(page), _count_calls(page + page)
    assert twice < 2.6 * once


def _count_calls(page: str) -> int:
    """Return how many functions are called to convert a page, those written in C among them."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    convert_html("<p>x")
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        convert_html(page)
    finally:
        sys.setprofile(before)
    return calls


def test_all_of_a_page_that_nests_deep_is_read() -> None:
    page = "".join(f"<div><font>w{number} " for number in range(9_000))
    assert convert_html(page).text.split() == [f"w{number}" for number in range(9_000)]
