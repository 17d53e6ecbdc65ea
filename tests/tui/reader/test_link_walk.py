from __future__ import annotations

from roamtui.tui.reader.chunk_lines import ChunkReader
from roamtui.tui.reader.lazy_lines import LazyLines
from roamtui.tui.reader.link_walk import LinkPlace, find_link, find_link_at, find_link_line
from tests.tui.reader.sections import make_stretch, read_lines

_TEXT = (
    "# A\n\n[one](1) and [two](2)\n\n"
    + "## Filler\n\nno links here at all\n\n" * 400
    + "# B\n\n[three](3)\n\n<a name='none'></a>[four](4)\n"
)


def _make_lines(text: str = _TEXT) -> LazyLines:
    stretch = make_stretch(text)
    return LazyLines(stretch.cut(is_raw=False), ChunkReader(document=stretch.document, width=40))


def _walk(lines: LazyLines, direction: int, view: range) -> list[str]:
    hrefs: list[str] = []
    current: LinkPlace | None = None
    for _ in range(6):
        found = find_link(lines, current, direction, view)
        if found is None:
            break
        current = found
        hrefs.append(lines.read(found.chunk).links[found.number])
        y = find_link_line(lines, found)
        view = range(y, y + 10)
    return hrefs


def test_links_are_walked_in_order_over_stretches_without_any() -> None:
    assert _walk(_make_lines(), 1, range(10)) == ["1", "2", "3", "4"]


def test_links_are_walked_backwards_from_the_end_of_the_view() -> None:
    lines = _make_lines()
    for chunk in range(len(lines.chunks)):
        lines.read(chunk)
    assert _walk(lines, -1, range(len(lines) - 10, len(lines))) == ["4", "3", "2", "1"]


def test_a_link_out_of_view_is_forgotten() -> None:
    lines = _make_lines()
    first = find_link(lines, None, 1, range(10))
    assert first == LinkPlace(0, 0)
    far = find_link(lines, first, 1, range(100, 110))
    assert far is not None
    assert lines.read(far.chunk).links[far.number] == "3"


def test_stretches_without_links_are_not_laid_out() -> None:
    lines = _make_lines()
    find_link(lines, LinkPlace(0, 1), 1, range(10))
    assert lines.measured_count <= 4


def test_there_may_be_no_link() -> None:
    assert find_link(_make_lines("# A\n\ntext\n"), None, 1, range(10)) is None
    assert find_link(_make_lines(""), None, 1, range(10)) is None


def test_the_link_under_a_cell_is_found() -> None:
    (line, *_) = read_lines("日本 [one](1) two\n")
    assert [find_link_at(line, cell) for cell in (0, 4, 5, 7, 8, 30)] == [None, None, 0, 0, None, None]
