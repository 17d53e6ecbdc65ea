"""Markdown as lines: blocks, tables, code and wide characters, each line within its width."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from roamtui.markdown.code import get_language
from roamtui.markdown.layout import MarkdownLayout, View
from roamtui.markdown.lines import Run, cut_runs, wrap_runs
from roamtui.markdown.parser import parse_markdown
from tests.case_files import read_rows
from tests.document.block_texts import markdown_texts
from tests.real_documents import PROJECT_DIR
from tests.tui.reader.sections import UNSAFE, make_view, read_chunks, read_lines, show

_CASE = re.compile(r"^(.+)\n\.\n((?:.*\n)*?)\.\n((?:.*\n)*?)\.$", re.MULTILINE)
_CASES = {
    name: (source, shown.splitlines())
    for name, source, shown in _CASE.findall((PROJECT_DIR / "tests" / "cases" / "markdown.txt").read_text("utf-8"))
}


@pytest.mark.parametrize("name", _CASES)
def test_markdown_is_laid_out(name: str) -> None:
    text, expected = _CASES[name]
    assert show(text) == expected


@pytest.mark.parametrize(("text", "links"), read_rows("markdown/layout", "addresses"))
def test_links_images_and_footnotes_have_their_addresses(text: str, links: list[str]) -> None:
    (chunk,) = read_chunks(text)
    assert [link.href for link in chunk.links] == links


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_lines_know_their_source_whatever_ends_them(line_end: str) -> None:
    text = "# Title\n\nA paragraph of words\nover two lines.\n\n```\none\ntwo\n```\n\n| a |\n|---|\n| b |\n"
    text = text.replace("\n", line_end)
    found = {line.text.strip(): text[line.block_start : line.block_end] for line in read_lines(text, width=60)}
    assert found["Title"] == f"# Title{line_end}"
    prose = f"A paragraph of words{line_end}over two lines.{line_end}"
    assert found["A paragraph of words over two lines."] == prose
    assert found["two"] == f"two{line_end}"
    assert found["b"] == f"| b |{line_end}"


@pytest.mark.parametrize("mark", [">", "- ", "1. ", "<blockquote>", "<ul><li>", "[", "![", "**a "])
@pytest.mark.parametrize("depth", [12, 3_000])
def test_what_nests_deep_is_shown_and_what_follows_too(mark: str, depth: int) -> None:
    lines = read_lines(mark * depth + "word\n\nEnd\n")
    assert "word" in "".join(line.text[line.prefix_length :] for line in lines)
    assert "End" in [line.text[line.prefix_length :] for line in lines]


@given(markdown_texts(), st.integers(1, 60))
def test_any_text_is_laid_out_safely_and_in_order(text: str, width: int) -> None:
    section = make_view(text)
    for chunk in read_chunks(text, width=width):
        for line in chunk.lines:
            assert not UNSAFE.search(line.text)
            assert 0 <= line.block_start <= line.block_end <= len(section.document.text)
            assert all(run.style.link_number is None or run.style.link_number < len(chunk.links) for run in line.runs)


_TEXTS = st.lists(st.text(alphabet="ab ,日本語。é", max_size=25), min_size=1, max_size=4)


def _texts(lines: list[list[Run]]) -> list[str]:
    return ["".join(run.text for run in line) for line in lines]


@pytest.mark.parametrize(("text", "width", "lines"), read_rows("markdown/layout", "broken_lines"))
def test_text_is_broken_between_words_and_by_cells(text: str, width: int, lines: list[str]) -> None:
    assert _texts(wrap_runs([Run(text)], width)) == lines


@given(_TEXTS, st.integers(2, 12))
def test_lines_fit_and_lose_nothing_and_wrapped_ones_spaces_alone(texts: list[str], width: int) -> None:
    runs = [Run(text) for text in texts]
    wrapped, folded = _texts(wrap_runs(runs, width)), _texts(cut_runs(runs, width))
    assert all(cell_len(line) <= width for line in (*wrapped, *folded))
    assert "".join(wrapped).replace(" ", "") == "".join(texts).replace(" ", "")
    assert "".join(folded) == "".join(texts)


@pytest.mark.parametrize(("info", "language"), read_rows("markdown/layout", "options"))
def test_options_of_site_generators_are_left_out(info: str, language: str) -> None:
    assert get_language(info) == language


TABLE = "| Region | Remarks |\n|---|---|\n| Niedersachsen | Notwithstanding termination |\n| b | c |\n"


def test_a_wide_table_has_one_rule_and_breaks_no_word() -> None:
    for width in (30, 10):
        lines = show(TABLE, width=width)
        assert sum("─" in line for line in lines) == 1
        assert {"Niedersachsen", "Notwithstanding", "termination"} <= {*" ".join(lines).replace("│", " ").split()}
    laid_out = MarkdownLayout(width=34, view=View.CARD).lay_out(
        parse_markdown("| Law | Words |\n|---|---|\n| Rindfleischetikettierung | a b c d e f g |\n").blocks
    )
    assert "Rindfleischetikettierung │ a b c d" in [line.text.rstrip() for line in laid_out]


@pytest.mark.parametrize(("view", "label"), [(View.READER, ["python"]), (View.CARD, [])])
def test_the_language_of_code_is_named_only_where_it_cannot_pass_for_a_word_of_a_quote(
    view: View, label: list[str]
) -> None:
    lines = MarkdownLayout(width=34, view=view).lay_out(parse_markdown("```python\nzebra = True\n```\n").blocks)
    assert [line.text.strip() for line in lines] == [*label, "zebra = True"]
