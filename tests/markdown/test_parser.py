"""The blocks of a slice of Markdown, with their offsets in the source."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamtui.commonmark import make_markdown_parser, parse_blocks
from roamtui.document.parse import parse_document
from roamtui.markdown.blocks import (
    Block,
    BlockQuote,
    Code,
    Emphasis,
    Heading,
    Link,
    List,
    Paragraph,
    Table,
    ThematicBreak,
    Words,
)
from roamtui.markdown.parser import parse_answer, parse_markdown
from roamtui.text import compute_line_starts
from tests.document.block_texts import markdown_texts


def _list_spans(blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    for block in blocks:
        match block:
            case Paragraph() | Heading() | ThematicBreak():
                yield block.start, block.end
            case BlockQuote():
                yield block.start, block.end
                yield from _list_spans(block.blocks)
            case Code():
                yield block.offsets[0], block.offsets[-1]
            case Table():
                yield from ((row.start, row.end) for row in block.rows)
            case List():
                for item in block.items:
                    yield item.start, item.end
                    yield from _list_spans([item.term] if item.term is not None else [])
                    yield from _list_spans(item.blocks)


def test_offsets_of_a_slice_count_from_the_start_of_the_text() -> None:
    markdown = parse_markdown("# a\n\nb **c**[^1]\r\nd\n", start=100)
    bold = Words("c", Emphasis.STRONG, start=109, end=110)
    words = (Words("b ", start=105, end=107), bold, Words("[1]", link_number=0, start=112, end=116), Words(" "))
    assert markdown.links == [Link("[^1]", is_reference_mark=True)]
    assert markdown.blocks == (
        Heading(level=1, words=(Words("a", start=102, end=103),), inner=(102, 103), start=100, end=104),
        Paragraph(words=(*words, Words("d", start=118, end=119)), inner=(105, 119), start=105, end=120),
    )
    (admonition,) = parse_markdown('!!! note "e"\n    f\n', start=100).blocks
    assert [*_list_spans([admonition])] == [(100, 119), (100, 119)]
    (definitions,) = parse_markdown("a\n: b\n", start=100).blocks
    assert [*_list_spans([definitions])] == [(100, 106), (100, 102), (102, 106)]


@example("[^a\0b]\n\n[^a\0b]: note\n")
@given(markdown_texts())
def test_any_text_has_blocks_within_it(text: str) -> None:
    for start, end in _list_spans(parse_markdown(text, start=5).blocks):
        assert 5 <= start <= end <= 5 + len(text)


_CONTAINER_LINES = (
    *(":::", "::: tip", "::::", ":::: warning x", ":::{note}", "::: a.b", "- ::: tip", "    text"),
    *("<Note>", "</Note>", "<Tab title='x'>", "</Tab>", "  <Card title={'a'}>", "<Card/>", "<Other>", "</Other>"),
    *("<Note x={", "<Note>a</Note>", "text</Note>", "<details>", "</details>", "<div>", "</div>", "x", "", "", "", ""),
    *("!!! tip", '=== "x"'),
    *("# h", "## h", "x\n---", "- a", "  b", "> q", "> ::: tip", "|a|b|\n|-|-|", "|1|", "```", "~~~", "    # no"),
)


def _list_headings(text: str) -> list[int]:
    """Return the offsets of the headings that CommonMark finds outside containers."""
    starts = compute_line_starts(text)
    tokens = make_markdown_parser("table", "strikethrough").parse(text)
    opened = [token for token in tokens if token.type == "heading_open" and token.level == 0 and token.map]
    return [starts[token.map[0]] for token in opened if token.map]


@given(st.lists(st.sampled_from(_CONTAINER_LINES), max_size=25).map("\n".join))
def test_containers_hide_no_heading_and_stay_within_their_text(text: str) -> None:
    blocks = parse_markdown(text).blocks
    assert set(_list_headings(text)) <= {block.start for block in blocks if isinstance(block, Heading)}
    for start, end in _list_spans(blocks):
        assert 0 <= start <= end <= len(text)


def test_link_definitions_are_those_of_commonmark() -> None:
    text = (
        "```\n[a]: /shown\n```\n\n    [a]: /indented\n[a]: /there\r\n\n<!--\n[b]: /hidden\n-->\n\n> [c]: /quoted\n\n"
        "[^d]: /note\n\n# A\n\n[a]: /later\n[e]: /below\n\n~~~\n[f]: /open\n"
    )
    definitions = parse_document(text).link_definitions
    assert {label: each["href"] for label, each in definitions.items()} == {
        "A": "/there",
        "C": "/quoted",
        "E": "/below",
    }


_DEFINITION_LINES = (
    *("[a]: /x", "[b]: /y", "[c]:", "/z 'title", "title'", "- [d]: /x", "  [e]: /y", "> [f]: /z", "1. [g]: /x", "x"),
    *(
        "- x",
        "2. x",
        "   x",
        "    x",
        "- ```",
        "  ```",
        "```",
        "~~~",
        "<!--",
        "-->",
        "<div>",
        "<br>",
        "- <!--",
        "> ```",
    ),
    *("# h", "---", "|[a]: x|b|", "|-|-|", "\tx", "\f", " ", "", "", "", "", ""),
)


@example("```\n\n[a]: /x\n```")
@example("  <!--\n\n[a]: /x\n-->")
@given(st.lists(st.sampled_from(_DEFINITION_LINES), max_size=25).map("\n".join))
def test_link_definitions_are_those_of_the_whole_text_parsed_at_once(text: str) -> None:
    env: dict[str, Any] = {}
    front_matter_end = parse_document(text).columns.starts[0]
    parse_blocks(text[front_matter_end:], env)
    definitions = parse_document(text).link_definitions
    assert {label: each["href"] for label, each in definitions.items()} == {
        label: each["href"] for label, each in env.get("references", {}).items()
    }


def test_wikilinks_are_links_to_a_name() -> None:
    (block,) = parse_markdown("See [[Name]], [[A b#Part|words]], ![[x.png]], [[#Here]].\n").blocks
    assert isinstance(block, Paragraph)
    assert "".join(words.text for words in block.words) == "See Name, words, x.png, Here."
    links = parse_markdown("50[[3]] 2[[a]] [[4|b]] ![[5]] [[Name]] [[A b#Part|words]] [[#Here]]").links
    assert links == [Link("[[Name]]"), Link("[[A b#Part]]"), Link("[[#Here]]")]


def test_underscores_in_the_words_of_an_image_are_read() -> None:
    (block,) = parse_markdown("See ![The HTTP_HOST header](x.png).\n").blocks
    assert isinstance(block, Paragraph)
    assert "".join(run.text for run in block.words) == "See The HTTP_HOST header."


@pytest.mark.parametrize("groups", [(), ((3, 9),), ((12, 18),), ((3, 9), (12, 18))])
def test_the_anchor_of_a_heading_is_not_shown_even_if_its_words_are_kept_apart(
    groups: tuple[tuple[int, int], ...],
) -> None:
    (heading,) = parse_markdown("## Origin { #origin }\n", groups=groups).blocks
    assert isinstance(heading, Heading)
    assert "".join(words.text for words in heading.words) == "Origin"


def test_tags_in_an_answer_are_words_but_for_those_of_styles() -> None:
    answer = "Use `x` or <div> tags, <b>bold</b>, H<sub>2</sub>O.\n\n<script>alert(1)</script>\n\n<p>One<br>two</p>\n"
    shown = [
        "".join(words.text for words in block.words)
        for block in parse_answer(answer).blocks
        if isinstance(block, Paragraph)
    ]
    assert shown == ["Use x or <div> tags, bold, H₂O.", "<script>alert(1)</script>", "<p>One\ntwo</p>"]
