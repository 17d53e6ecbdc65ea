"""Markdown of an answer in lines."""

from __future__ import annotations

import pytest
from textual.content import Content

from roamtui.tui.chat.blocks import BlockKind, lay_out_blocks, parse_blocks
from roamtui.tui.chat.content_view import wrap


def draw(text: str, width: int = 30) -> list[str]:
    return [line.rstrip() for line in lay_out_blocks(parse_blocks(text), width).plain.split("\n")]


def styles_at(text: str, words: str) -> set[str]:
    content = lay_out_blocks(parse_blocks(text), 60)
    start = content.plain.index(words)
    return {str(span.style) for span in content.spans if span.start <= start < span.end}


def test_paragraphs_are_wrapped_and_parted() -> None:
    assert draw("one two three\nfour\n\nfive", 10) == ["one two", "three four", "", "five"]


def test_lists_hang_and_nest_and_are_numbered() -> None:
    text = "Intro\n\n3. a long item that wraps\n4. b\n   - c\n     - d\n   - e\n\nEnd"
    assert draw(text, 20) == [
        "Intro",
        "",
        "3. a long item that",
        "   wraps",
        "4. b",
        "   ◦ c",
        "     ▪ d",
        "   ◦ e",
        "",
        "End",
    ]


def test_a_loose_list_keeps_its_gaps() -> None:
    assert draw("- a\n\n- b") == ["• a", "", "• b"]


def test_two_paragraphs_of_one_item_have_one_bullet() -> None:
    assert draw("- a\n\n  b") == ["• a", "", "  b"]


def test_a_quotation_has_a_bar_on_each_line() -> None:
    assert draw("> one two three four", 12) == ["▎ one two", "▎ three four"]


def test_code_is_kept_to_the_letter_and_folded_where_too_long() -> None:
    assert draw("```py\nif  x:\n\treturn [/red]\n\n12345678901234567890\n```", 16) == [
        " if  x:",
        "     return [/r",
        " ed]",
        "",
        " 12345678901234",
        " 567890",
    ]


def test_a_table_is_aligned_and_wraps_its_widest_column() -> None:
    assert draw("| Day | Opens |\n|---|---|\n| Monday | at ten in the morning |\n| Tue |\n", 20) == [
        "Day     Opens",
        "──────  ────────────",
        "Monday  at ten in",
        "        the morning",
        "Tue",
    ]


def test_html_and_markup_are_text() -> None:
    text = "<b>x</b> [/red] [@click=app.quit]y[/]"
    assert draw(text, 60) == [text]
    assert styles_at(text, "y[/]") == set()


@pytest.mark.parametrize(
    ("text", "words", "style"),
    [
        ("**bold** x", "bold", "bold"),
        ("*it* x", "it", "italic"),
        ("~~no~~ x", "no", "strike"),
        ("`code` x", "code", "$accent"),
        ("[link](http://e.org) x", "link", "$secondary underline"),
        ("# Head\n\nx", "Head", "bold $primary"),
        ("![a picture](http://e.org/p.png)", "[image: a picture]", "italic $muted"),
    ],
)
def test_marks_become_styles(text: str, words: str, style: str) -> None:
    assert style in styles_at(text, words)
    assert "x" not in text or styles_at(text, "x") == set() or words == "[image: a picture]"


@pytest.mark.parametrize("width", [1, 8, 20, 200])
def test_no_line_is_wider_than_asked_from_a_readable_width_on(width: int) -> None:
    text = (
        "# 日本語の見出し\n\n- 日本語 "
        + "x" * 50
        + "\n\n> - `code code code code`\n\n| a | b |\n|-|-|\n| 日本 | c |\n\n---\n"
    )
    content = lay_out_blocks(parse_blocks(text), width)
    for line in content.plain.split("\n"):
        assert Content(line).cell_length <= max(width, 14), line


@pytest.mark.parametrize("text", ["", "```", "```\n", "- ", "|a|\n|-|", "> ", "1. ", "**", "[", "![](x)", "# "])
def test_what_a_stream_may_end_in_is_drawn(text: str) -> None:
    lay_out_blocks(parse_blocks(text), 20)
    lay_out_blocks(parse_blocks("Before.\n\n" + text), 20)


def test_decoration_reaches_text_but_not_code() -> None:
    blocks = parse_blocks("see x `x` **x**\n\n```\nx\n```", lambda text: Content(text.replace("x", "!")))
    assert [block.content.plain for block in blocks] == ["see ! x !", "x"]
    assert [block.kind for block in blocks] == [BlockKind.TEXT, BlockKind.CODE]


def test_wrap_puts_leads_before_lines() -> None:
    lines = wrap(Content("one two three"), 10, lead="> ", follow="  ")
    assert [line.plain for line in lines] == ["> one two", "  three"]


@pytest.mark.parametrize("marker", ["- ", "> ", "1. "])
@pytest.mark.parametrize("depth", [12, 10_000])
def test_what_nests_deep_is_shown_and_what_follows_too(marker: str, depth: int) -> None:
    shown = " ".join(draw(f"{marker * depth}word\n\nEnd", 40))
    assert "word" in shown
    assert shown.endswith("End")
