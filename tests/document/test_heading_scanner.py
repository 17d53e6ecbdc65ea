"""The scan for headings finds what markdown-it-py's block rules find, on anything."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it.common.html_blocks import block_names
from markdown_it.common.utils import MD_TRIM_CHARS
from markdown_it.rules_block.html_block import HTML_SEQUENCES

from roamtui.document.headings import find_headings, scan_headings
from roamtui.document.scanning.lines import TRIMMED, match_html
from roamtui.document.scanning.scanner import HeadingScanner
from tests.document.block_texts import list_texts
from tests.document.markdown_texts import markdown_texts
from tests.document.parser_headings import parse_headings
from tests.real_documents import list_documents, read_document

_TEXTS_PER_SEED = 170
"""Makes more than 10,000 texts of the 60 seeds of an ordinary run, and 1.7 million of the 10,000 of a nightly one."""
_NAMES = [*block_names, "script", "pre", "style", "textarea", "span", "a", "x-y", "divx", "h7", "ſcript", "li\u212a"]
_PARTS = [
    *("<", "</", "<!", "<!--", "<?", "<![CDATA[", ">", "/>", "/", "-->", "?>", "]]>", " ", "\t", "\xa0", "\v"),
    *("=", "-", "a", "A1", "a=b", 'a="b"', "a='b c'", 'a="', ":x", "_", "é", "\0"),
]
_ENDINGS = [*_PARTS, "</script>", "</PRE>", "</ſtyle>", "</textarea >"]
_LINES = st.builds(
    lambda opening, name, rest: opening + name + "".join(rest),
    st.sampled_from(["<", "</", "<!", "<?", "< ", "", "<!--", "<![CDATA["]),
    st.sampled_from(_NAMES).flatmap(lambda name: st.sampled_from([name, name.upper(), name.title()])),
    st.lists(st.sampled_from(_PARTS), max_size=6),
)


def _find(text: str) -> list[tuple[int, str, int]]:
    return [(heading.level, heading.title, heading.line) for heading in find_headings(text)]


@given(st.integers(0, 2**64))
def test_every_text_of_a_seed_has_the_parsers_headings(seed: int) -> None:
    for text in list_texts(seed, _TEXTS_PER_SEED):
        assert _find(text) == parse_headings(text), repr(text)


@given(markdown_texts())
def test_every_drawn_text_has_the_parsers_headings(text: str) -> None:
    source = text.replace("\r\n", "\n").replace("\r", "\n")
    assert _find(source) == parse_headings(source)


@given(
    st.integers(0, 2**64), st.sampled_from(["---\na: b\n---\n", "---\n- x\n\n...\n", "# before\n", "> a\n", "- b\n"])
)
def test_what_stands_before_the_start_changes_nothing(seed: int, before: str) -> None:
    for text in list_texts(seed, 5):
        columns = scan_headings(before + text, len(before))
        alone = scan_headings(text)
        assert (columns.levels, columns.titles) == (alone.levels, alone.titles), repr(text)
        assert [offset - len(before) for offset in columns.offsets] == list(alone.offsets)


@pytest.mark.parametrize(
    "text",
    [
        "- a\n  ```\n  # no\n  ```\n# yes",
        "- a\n  ```\n  text\nzzz\n  ```\n# no",
        "- item\n\n ```\n# no\n ```\n",
        "- <!--\n\n  # no\n-->\n# yes",
        "text\n<span>\n# yes",
        "<span>\n# no\n\n# yes",
        "a | b\n--\n\n|a\n---\n",
        "[a]: /u\n'title\n===\nmore'\n# yes",
        "===\nTitle\n===",
        "# a | b |\n| --- | ---|\n",
        "``` a | b\n--|--\n# yes\n",
        "- a\n  ~~~ a | b\n  --|--\n  ~~~\n\n# yes\n",
        "~~~ a | b\n-\n\ny\n",
        "- a\nTitle\n===\n",
        "> a\n===\n\n# yes",
        "# [a]\n\n> [a]:\n> /u\n",
        "# [a b]\n\n> [a\n> b]: /u\n",
        "# ` `` `\n",
        "   # indented\n",
        "1. a\n   # no\n\nb\n   # yes\n",
        "- a\n  ```\n\nplain\n\n  ```\n\n# no\n\nplain\n",
    ],
)
def test_what_is_hard_to_tell_is_told_as_the_parser_tells_it(text: str) -> None:
    assert _find(text) == parse_headings(text)
    assert _find(text + "\n") == parse_headings(text + "\n")


@pytest.mark.parametrize(
    "block",
    [
        "- a\n  <!--\n\nb\n\n",
        "- a\n  ```\n\nb\n\n",
        "- a\n  ```\n  x\n  ```\n",
        "- a\n\n  # b\n\n",
        "<x>\n",
        "a\n<x>\n",
        "a\n---\n",
        "# [a]: b\n",
        "\\]:",
        "- a\n---\n",
        "  # a\n",
        "- a\n  <pre>\n\n",
    ],
)
def test_a_hostile_repetition_is_read_as_the_parser_reads_it(block: str) -> None:
    assert _find(block * 300) == parse_headings(block * 300)


def test_plain_sections_are_found_without_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(scanner: HeadingScanner, start: int) -> None:
        raise AssertionError(f"a span at {start} of {scanner}")

    monkeypatch.setattr(HeadingScanner, "_parse_span", refuse)
    text = "# A\n\n- b\n\n  ```sh\n  # c\n  ```\n\nTitle\n---\n\n```\n# d\n```\n<div>\n\n## E\n"
    assert [title for _, title, _ in _find(text)] == ["A", "Title", "E"]


@pytest.mark.slow
@pytest.mark.parametrize("name", list_documents("sets/*/docs"))
def test_every_page_of_the_question_sets_has_the_parsers_headings(name: str) -> None:
    wrong = []
    for page in list_documents(f"{name}/**/*.md", f"{name}/**/*.mdx", f"{name}/**/*.txt"):
        text = read_document(page).replace("\r\n", "\n").replace("\r", "\n")
        if _find(text) != parse_headings(text):
            wrong.append(page)
    assert wrong == []


@given(_LINES, st.lists(st.sampled_from(_ENDINGS), max_size=4).map("".join))
@example("<script/>", "")
@example("</pre>", "")
@example("<div/ >", "")
def test_it_begins_and_ends_where_the_parser_has_it(line: str, later: str) -> None:
    wanted = next((sequence for sequence in HTML_SEQUENCES if sequence[0].search(line)), None)
    found = match_html(line)
    assert (found is None) == (wanted is None)
    if found is None or wanted is None:
        return
    end, may_interrupt = found
    assert may_interrupt == wanted[2]
    assert (end is None) == bool(wanted[1].search(""))
    assert end is None or bool(end.search(later)) == bool(wanted[1].search(later))


def test_the_ends_of_titles_are_trimmed_as_by_the_parser() -> None:
    assert sorted(TRIMMED) == sorted(MD_TRIM_CHARS)
