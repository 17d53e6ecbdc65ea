"""A long text in chunks, laid out as they are looked at, and the links in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.parse import parse_document
from roamtui.markdown.lines import Line
from roamtui.text import Span
from roamtui.tui.reader.document_view import CHUNK_LENGTH_MAX, TextChunk, split_chunks
from roamtui.tui.reader.lazy_lines import Highlights, LazyLines, LocatedLine
from tests.document.block_texts import markdown_texts
from tests.real_documents import list_documents, read_document
from tests.tui.reader.sections import make_lines, read_chunks

_PROSE = "Boats are on the lake.\n\n"


@given(markdown_texts(), st.integers(1, 400))
def test_chunks_of_any_text_cover_it_without_a_gap(text: str, repeats: int) -> None:
    long_text = text * repeats
    headings = parse_document(text).columns.starts[:-1] if repeats == 1 else []
    chunks = split_chunks(long_text, 0, len(long_text), list(headings))
    assert [0, *(chunk.end for chunk in chunks)] == [*(chunk.start for chunk in chunks), len(long_text)]
    assert all(0 < chunk.end - chunk.start <= CHUNK_LENGTH_MAX for chunk in chunks)


@pytest.mark.parametrize("sign", ["-", " ", "a", "\t", "漢", "\r\n"])
def test_chunks_of_a_long_line_are_short_whatever_it_is_made_of(sign: str) -> None:
    text = f"x{sign * 40_000}x"
    chunks = split_chunks(text, 0, len(text), [])
    assert "".join(text[chunk.start : chunk.end] for chunk in chunks) == text
    assert max(chunk.end - chunk.start for chunk in chunks) <= CHUNK_LENGTH_MAX


@pytest.mark.parametrize("fence", ["```", "~~~~", "   ```"])
def test_nothing_is_cut_inside_a_fence(fence: str) -> None:
    text = f"Before.\n\n{fence}py\n" + "code = 1\n\n> ```\n- ```\n\n" * 2_000 + f"{fence}\n\nAfter.\n"
    chunks = split_chunks(text, 0, len(text), [])
    first, *inside, last = chunks
    assert len(inside) > 2
    assert not first.prefix
    assert text[last.start :] == "After.\n"
    assert all(chunk.prefix == f"{fence}py\n" for chunk in inside)
    assert [chunk.is_continued for chunk in chunks[-3:]] == [True, False, False]


@pytest.mark.parametrize("container", ["- ", "1. ", "10) ", "> ", "- > ", "- - ", "* 2. "])
@pytest.mark.parametrize("end", ["```\n", ""])
def test_code_in_a_list_or_quote_ends_with_it(container: str, end: str) -> None:
    inner = "".join(sign if sign == ">" else " " for sign in container)
    text = f"Before.\n\n{container}```sh\n{inner}pip install x\n{inner if end else ''}{end}\n" + _PROSE * 800
    assert len(split_chunks(text, 0, len(text), [])) > 5
    for chunk in read_chunks(text)[1:]:
        assert {line.text for line in chunk.lines} == {_PROSE.strip(), ""}


def test_a_long_table_goes_on_with_its_head() -> None:
    text = "Intro.\n\n| a | b |\n|---|--:|\n" + "| one | 1 |\n" * 3_000
    chunks = split_chunks(text, 0, len(text), [])
    assert {chunk.prefix for chunk in chunks[1:]} == {"| a | b |\n|---|--:|\n"}
    heads = "| | 2023 | 2023 |\n|---|---|---|\n| | Gross | Net |\n"
    in_two_rows = f"Intro.\n\n{heads}" + "| one | 1 | 2 |\n" * 3_000
    assert {chunk.prefix for chunk in split_chunks(in_two_rows, 0, len(in_two_rows), [])[1:]} == {heads}
    rows = [line.text for chunk in read_chunks(text)[1:] for line in chunk.lines if line.text.strip()]
    assert set(rows) == {"one │ 1"}


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_front_matter_is_a_table_whose_words_are_where_they_stand(line_end: str) -> None:
    text = line_end.join(
        ("---", "title: Boats on lakes", "url: http://a.b", "tags:", "  - oars", "", "# note", "---", "# T", "")
    )
    start = text.index("on lakes")
    lines = make_lines(text)
    lines.highlight(Highlights(quote=Span(doc="", start=start, end=start + 2), words=("boats",)))
    front = lines.get_chunk_lines(0).lines
    assert [line.text.rstrip() for line in front] == [
        "title │ Boats on lakes",
        "url   │ http://a.b",
        "tags  │",
        "      │ - oars",
        "      │ # note",
        "",
    ]
    for line in front[:-1]:
        assert text[line.block_start : line.block_end].strip()
    marked = [(each.start, each.end) for each in lines.iter_highlights(LocatedLine(0, front[0]))]
    assert [front[0].text[first:last] for first, last in marked] == ["Boats", "on"]


@pytest.mark.slow
@pytest.mark.parametrize("name", list_documents("books/*.md")[::4])
def test_a_book_in_chunks_reads_as_it_does_whole(name: str) -> None:
    text = read_document(name)[:150_000]
    whole = make_lines(text, width=80)
    front = [chunk for chunk in whole.chunks if chunk.is_front_matter]
    whole.chunks[:] = [*front, TextChunk(start=front[0].end if front else 0, end=len(text))]
    shown, expected = (
        [line.text for chunk in chunks for line in chunk.lines if line.text.strip()]
        for chunks in (
            read_chunks(text, width=80),
            [whole.get_chunk_lines(number) for number in range(len(whole.chunks))],
        )
    )
    assert shown == expected


_BOOK = "".join(
    f"## Section {number}\n\n" + f"Words of section {number} that are wrapped. " * (number % 40 + 3) + "\n\n"
    for number in range(300)
)


def _read_all(lines: LazyLines) -> list[Line]:
    return [line for chunk in range(len(lines.chunks)) for line in lines.get_chunk_lines(chunk).lines]


_SHORT = _BOOK[: _BOOK.index("## Section 30")]
_SHORT_WHOLE = _read_all(make_lines(_SHORT))


@given(st.lists(st.integers(0, len(_SHORT_WHOLE)), max_size=12))
def test_lines_are_in_order_wherever_one_looks_first(looked_at: list[int]) -> None:
    lines = make_lines(_SHORT)
    for y in looked_at:
        lines.lay_out_from(y, 20)
        measured = len(lines)
        for shown in range(y, y + 20):
            lines.get_line(shown)
        assert len(lines) == measured, "to draw measured lines moves none"
    assert _read_all(lines) == _SHORT_WHOLE
    assert len(lines) == len(_SHORT_WHOLE)
    assert [lines.get_line(y) for y in (0, len(_SHORT_WHOLE) - 1)] == [
        (0, _SHORT_WHOLE[0]),
        (len(lines.chunks) - 1, _SHORT_WHOLE[-1]),
    ]
    assert lines.get_line(len(_SHORT_WHOLE)) is None
    assert lines.get_line(-1) is None
