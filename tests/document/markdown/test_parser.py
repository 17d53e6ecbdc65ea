"""The blocks of a slice of Markdown, with their offsets in the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given

from roamtui.document.markdown.blocks import (
    Block,
    Code,
    Details,
    Emphasis,
    Heading,
    Link,
    List,
    Paragraph,
    Quote,
    Table,
    ThematicBreak,
    Words,
)
from roamtui.document.markdown.parser import parse_link_definitions, read_markdown
from tests.document.block_texts import markdown_texts


def _list_spans(blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    for block in blocks:
        match block:
            case Paragraph() | Heading() | ThematicBreak():
                yield block.start, block.end
            case Quote() | Details():
                yield block.start, block.end
                yield from _list_spans(block.blocks)
            case Code():
                yield block.offsets[0], block.offsets[-1]
            case Table():
                yield from ((row.start, row.end) for row in block.rows)
            case List():
                for item in block.items:
                    yield item.start, item.end
                    yield from _list_spans(item.blocks)


def test_offsets_of_a_slice_count_from_the_start_of_the_text() -> None:
    markdown = read_markdown("# a\n\nb **c**[^1]\r\nd\n", start=100)
    bold = Words("c", Emphasis.STRONG)
    assert markdown.links == (Link("[^1]", is_mark=True),)
    assert markdown.blocks == (
        Heading(level=1, words=(Words("a"),), start=100, end=104),
        Paragraph(words=(Words("b "), bold, Words("[^1]", link=0), Words(" "), Words("d")), start=105, end=120),
    )


def test_a_prefix_opens_containers_but_makes_no_blocks() -> None:
    markdown = read_markdown("| c | d |\n", prefix="| a | b |\n|--:|---|\n", start=7)
    (table,) = markdown.blocks
    assert isinstance(table, Table)
    assert table.alignments == ("right", "")
    assert [(row.cells, row.start) for row in table.rows] == [(((Words("c"),), (Words("d"),)), 7)]
    (code,) = read_markdown("a\nb\n", prefix="```py\n", start=7).blocks
    assert code == Code(text="a\nb", info="", offsets=(7, 9, 11))


def test_links_may_be_defined_elsewhere() -> None:
    definitions = parse_link_definitions("Words [a]: no\n\n[A]: b\n[a]: c\n[^1]: d\n")
    assert read_markdown("[a] [^1]", definitions=definitions).links == (Link("b"), Link("[^1]", is_mark=True))


@given(markdown_texts())
def test_any_text_has_blocks_within_it(text: str) -> None:
    for start, end in _list_spans(read_markdown(text, start=5).blocks):
        assert 5 <= start <= end <= 5 + len(text)
