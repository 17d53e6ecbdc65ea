"""Ranges of many children: every child is in exactly one of them, at every depth."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roamtui.outline.ranges import LISTED_MAX, Reference, find_range, list_ranges, parse_reference, split_range
from tests.outline.documents import make_library


@given(st.integers(0, 200_000))
def test_parts_cover_a_range_in_order(count: int) -> None:
    parts = split_range(0, count)
    assert [start for start, _ in parts] == [0, *(end for _, end in parts[:-1])]
    assert parts[-1][1] == count
    assert len(parts) <= 40
    if count > LISTED_MAX:
        assert len(parts) > 1
        assert all(start < end for start, end in parts)


@given(st.integers(1, 200_000), st.data())
def test_following_ranges_leads_to_any_child_in_a_few_steps(count: int, data: st.DataObject) -> None:
    wanted = data.draw(st.integers(0, count - 1))
    steps: tuple[int, ...] = ()
    while True:
        bounds = find_range(count, steps)
        assert bounds is not None
        assert bounds[0] <= wanted < bounds[1]
        if bounds[1] - bounds[0] <= LISTED_MAX:
            break
        number = next(n for n, (start, end) in enumerate(split_range(*bounds), start=1) if start <= wanted < end)
        steps = (*steps, number)
        assert len(steps) <= 4


def test_ranges_that_are_not_there() -> None:
    assert find_range(100, (0,)) is None
    assert find_range(100, (3,)) is None
    assert find_range(100, (1, 2)) is None
    assert find_range(0, (1,)) == (0, 0)


def test_the_form_of_ids() -> None:
    assert parse_reference("0123abcd") == Reference(section_id="0123abcd")
    assert parse_reference("0123abcd:12") == Reference(section_id="0123abcd", page=12)
    assert parse_reference("0123abcd:c2.5") == Reference(section_id="0123abcd", steps=(2, 5))
    for wrong in ("", "0123abc", "0123abcde", "0123abcd:", "0123abcd:c", "0123abcd:c.", "0123abcd:-1", "ghijklmn"):
        assert parse_reference(wrong) is None
    for wrong in ("0123abcd:٢", "0123abcd:1234567", "0123abcd b9e8ef5c", "0123abcd\n:2", "0123abcd:2:3"):
        assert parse_reference(wrong) is None


def test_a_line_names_the_ends_the_number_and_the_size_of_a_range() -> None:
    library = make_library("# Cities\n\n" + "".join(f"## City {i:03}\n\nText {i}.\n\n" for i in range(130)))
    cities = next(library.walk())
    lines = list_ranges(library, cities)
    assert len(lines) == 3
    assert lines[1].startswith(f"- [{cities}:c2] City 044 … City 087 (44 sections, ~")
    children = library.children(cities)
    tokens = sum(library.node(child).tokens for child in children[44:88])
    assert lines[1].endswith(f"~{tokens} tok)")
    assert list_ranges(library, cities, (9,)) == []
    assert list_ranges(library, cities, title_length_max=0)[0].startswith(f"- [{cities}:c1] (44 sections, ~")
