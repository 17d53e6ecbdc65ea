"""Parsing a text: sections, preambles, front matter and notes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamtui.document.document import NodeKind
from roamtui.document.parse import group_paragraphs, parse_document, parse_source_text
from roamtui.markdown.blocks import Code, Paragraph
from roamtui.markdown.parser import parse_markdown
from roamtui.sources.read import SourceText
from tests.case_files import read_rows
from tests.document.block_texts import markdown_texts
from tests.document.invariants import (
    assert_ids_follow_the_contract,
    assert_is_lossless,
    assert_is_nested,
    assert_tokens_add_up,
    list_nodes,
)


@given(markdown_texts())
@example("")
@example("\r")
@example("\n# A")
@example("---\n---")
@example("---\na: 1\n...")
@example("text\r\n===\r# x\n")
@example("> - <?php\n>")
@example("# \x00\n# \x00")
def test_any_text_is_kept_nested_and_named(text: str) -> None:
    document = parse_document(text, key="guide.md")
    assert document.text == text
    assert_is_lossless(document)
    assert_is_nested(document)
    assert_ids_follow_the_contract(document)
    assert_tokens_add_up(document)


@pytest.mark.parametrize(("text", "title"), read_rows("document/parse", "titles"))
def test_title_is_the_only_h1_else_front_matter_else_the_name(text: str, title: str) -> None:
    assert parse_document(text, name="named").title == title


def test_plain_text_has_no_headings_and_no_front_matter() -> None:
    document = parse_document("---\ntitle: x\n---\n# a,b\n1,2\n", name="table.csv", is_markdown=False)
    assert {node.kind for node in list_nodes(document)} == {NodeKind.TEXT}
    assert document.title == "table.csv"
    assert_is_lossless(document)


@pytest.mark.parametrize("marker", ["> ", "- ", "1. ", "> - "])
def test_very_deep_nesting_is_read_with_a_note(marker: str) -> None:
    document = parse_document(f"{marker * 10_000}text\n===\n\nAfter\n---\n")
    assert document.columns.titles == ("", "After")
    assert [note.split(".")[0] for note in document.notes] == ["Some lists or quotes are nested very deeply"]
    assert parse_document("> - 1. x\n===\n").notes == ()


_LINES = st.lists(
    st.tuples(st.text(alphabet="ab ,;\t\u2028", max_size=300), st.sampled_from(["\n", "\r\n", "\r", "\n\n"])),
    max_size=40,
)


@given(_LINES, st.integers(0, 5))
def test_groups_cover_all_text_in_whole_lines(lines: list[tuple[str, str]], start: int) -> None:
    text = "x" * start + "".join(part for line in lines for part in line)
    rows = group_paragraphs(text, start)
    starts = [row.start for row in rows]
    assert starts == sorted(set(starts))
    assert starts[:1] == ([start] if start < len(text) else [])
    for row in rows[1:]:
        assert text[row.start - 1] in "\r\n"
        assert text[row.start - 1 : row.start + 1] != "\r\n"
    assert all(row.kind is NodeKind.TEXT and row.level in (1, 2) for row in rows)
    assert not rows or rows[0].level == 1


def test_each_line_of_a_log_stays_a_line_without_markup() -> None:
    log = SourceText(text="# 1 *a* <b>\r\n\r\n\t> 2\r---\r\n", source="a.log", name="a.log", is_markdown=False)
    document = parse_source_text(log)
    (block,) = parse_markdown(document.text).blocks
    assert isinstance(block, Code)
    assert block.text == "# 1 *a* <b>\n\n\t> 2\n---"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Buy flour\r\nCall Ann\r\n", "Buy flour\nCall Ann"),
        ("A letter whose lines are all wrapped at sixty characters or\nso flows in any width, as in Markdown.\n",
         "A letter whose lines are all wrapped at sixty characters or so flows in any width, as in Markdown."),
        ("The code `5*3*2` is a product", "The code 5*3*2 is a product"),
        ("A box of 5*3*2 *or* 2**3**4 cm", "A box of 5*3*2 or 2**3**4 cm"),
    ],
    ids=["short lines", "prose", "code", "products"],
)  # fmt: skip
def test_short_lines_of_a_plain_text_stay_lines_and_wrapped_prose_flows(text: str, shown: str) -> None:
    document = parse_source_text(SourceText(text=text, source="a.txt", name="a.txt"))
    (block,) = parse_markdown(document.text).blocks
    assert isinstance(block, Paragraph)
    assert "".join(word.text for word in block.words) == shown


@pytest.mark.parametrize(("name", "lines"), [("notes on llms.txt", 2), ("notes.txt", 2), ("llms.txt", 1)])
def test_short_lines_of_a_plain_text_stay_lines_unless_a_site_wrote_it(name: str, lines: int) -> None:
    document = parse_source_text(SourceText(text="Open on Monday\nClosed on Sunday\n", source=name, name=name))
    (paragraph,) = parse_markdown(document.text).blocks
    assert isinstance(paragraph, Paragraph)
    assert len("".join(words.text for words in paragraph.words).splitlines()) == lines
