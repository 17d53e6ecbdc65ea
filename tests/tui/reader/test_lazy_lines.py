"""A long text as numbered lines, laid out as they are looked at, and the links in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roamtui.markdown.lines import Line
from roamtui.tui.reader.lazy_lines import LazyLines
from tests.tui.reader.sections import make_lines

_BOOK = "".join(
    f"## Section {number}\n\n" + f"Words of section {number} that are wrapped. " * (number % 40 + 3) + "\n\n"
    for number in range(300)
)


def _read_all(lines: LazyLines) -> list[Line]:
    return [line for chunk in range(len(lines.chunks)) for line in lines.get_chunk_lines(chunk).lines]


def test_only_what_is_looked_at_is_laid_out() -> None:
    lines = make_lines(_BOOK)
    assert len(lines.chunks) > 50
    assert not lines.laid_out_chunks
    lines.measure_from(0, 50)
    assert len(lines.laid_out_chunks) <= 2
    lines.get_line(len(lines) // 2)
    assert len(lines.laid_out_chunks) <= 3


_SHORT = _BOOK[: _BOOK.index("## Section 30")]
_SHORT_WHOLE = _read_all(make_lines(_SHORT))


@given(st.lists(st.integers(0, len(_SHORT_WHOLE)), max_size=12))
def test_lines_are_in_order_wherever_one_looks_first(looked_at: list[int]) -> None:
    lines = make_lines(_SHORT)
    for y in looked_at:
        lines.measure_from(y, 20)
    assert _read_all(lines) == _SHORT_WHOLE
    assert len(lines) == len(_SHORT_WHOLE)
    assert [lines.get_line(y) for y in (0, len(_SHORT_WHOLE) - 1)] == [
        (lines.locate(0), _SHORT_WHOLE[0]),
        (lines.locate(len(_SHORT_WHOLE) - 1), _SHORT_WHOLE[-1]),
    ]
    assert lines.get_line(len(_SHORT_WHOLE)) is None
    assert lines.get_line(-1) is None


_LINKED = (
    "# A\n\n[one](1) and [two](2)\n\n"
    + "## Filler\n\nno links here at all\n\n" * 400
    + "# B\n\n[three](3)\n\n<a name='none'></a>[four](4)\n"
)


def test_the_links_in_view_are_listed_in_order() -> None:
    lines = make_lines(_LINKED)
    for offset, hrefs in ((0, ["1", "2"]), (_LINKED.index("## Filler"), []), (_LINKED.index("# B"), ["3", "4"])):
        lines.measure_from(lines.get_offset_y(offset), 8)
        start = lines.get_offset_y(offset)
        listed = lines.list_links(range(start, start + 8))
        assert [shown.link.href for shown in listed] == hrefs
