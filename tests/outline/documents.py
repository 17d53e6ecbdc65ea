"""Documents for tests of the outline: small readable ones, and shapes that no real document has."""

import re
from functools import lru_cache

from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.outline.delivered import SpanSet
from roamtui.outline.expansion import ExpandedBlock, render_section
from tests.case_files import read_case
from tests.real_documents import read_document
from tests.search.libraries import make_library

NONCE = "gghhjjkk"
REFERENCE = re.compile(r"\b[0-9a-f]{8}(?::(?:c\d+(?:\.\d+)*|\d+))?(?![\w:])")
"""Anything in a text that a model could mistake for an id."""


def open_section(library: Library, requested: str, delivered: SpanSet = SpanSet()) -> ExpandedBlock:
    return render_section(library, requested, delivered=delivered, nonce=NONCE)


def write_words(count: int, *, seed: int = 0) -> str:
    """Return `count` words, a different text for each seed, in paragraphs of thirty."""
    words = [f"word{(seed * 7919 + index * 31) % 9973}" for index in range(count)]
    return "\n\n".join(" ".join(words[start : start + 30]) for start in range(0, count, 30)) + "\n"


MANUAL = read_case("manual.md")


@lru_cache(maxsize=1)
def shapes() -> dict[str, str]:
    """Return documents by the name of their shape."""
    deep = [f"{'#' * (i % 5 + 1)} Level {i % 5 + 1} number {i}\n\nText {i}.\n" for i in range(1_500)]
    return {
        "10,000 flat headings": "".join(f"# Heading number {i}\n\nText {i}.\n\n" for i in range(10_000)),
        "a title above 2,500 headings, front matter": "---\ntitle: x\n---\n\n# All\n\nIntro.\n\n"
        + "".join(f"## Heading number {i}\n\nText {i}.\n\n" for i in range(2_500)),
        "five levels deep": "\n".join(deep),
        "one giant section": "# Giant\n\n" + write_words(30_000),
        "a giant line": "# Giant\n\n" + "wort " * 60_000,
        "no headings": write_words(8_000),
        "no headings, one line": "wort " * 5_000,
        "long titles": "".join(f"# 標題第{i}號{'漢' * 120}\n\n內容\n\n" for i in range(900)),
        "tiny headings in one small parent": "# Top\n\n## Parent\n\n" + "".join(f"### {i}\n" for i in range(150)),
        "empty headings": "#\n" * 300,
        "text before the first heading": "Preamble.\n\n# One\n\n# Two\n\nText.\n",
        "one empty heading": "# Alone\n",
        "nothing but white space": "\n\n  \n",
    }


@lru_cache(maxsize=16)
def make_shape(name: str) -> Library:
    """Make the library of one of the `shapes`."""
    return make_library(shapes()[name])


@lru_cache(maxsize=6)
def read_book(name: str) -> Library:
    """Return the library of a document of the data folder."""
    return make_library(read_document(name))


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Draw a document of up to 40 sections, some of them long, in any nesting."""
    parts = [draw(st.sampled_from(["", "", "Before all.\n\n", "---\ntitle: T\n---\n"]))]
    newline = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    for index in range(draw(st.integers(0, 40))):
        level = draw(st.integers(1, 5))
        title = draw(st.sampled_from(["Fees", "FAQ", "Über uns", "標題", "", "Part"]))
        words = draw(st.sampled_from([0, 0, 5, 40, 300, 2_000, 6_000]))
        body = write_words(words, seed=index) if words else ""
        parts.append(f"{'#' * level} {title} {index if draw(st.booleans()) else ''}\n\n{body}\n")
    return "".join(parts).replace("\n", newline)
