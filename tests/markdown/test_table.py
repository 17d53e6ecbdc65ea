import pytest

from roamtui.markdown.table import compute_width_limit


@pytest.mark.parametrize(
    ("widths", "room", "expected"),
    [
        ([3, 4], 7, [3, 4]),
        ([3, 4], 100, [3, 4]),
        ([30, 4, 20], 34, [15, 4, 15]),
        ([30, 4, 20], 35, [15, 4, 15]),
        ([30, 4, 20], 52, [28, 4, 20]),
        ([9, 9, 9], 8, [2, 2, 2]),
        ([9, 9, 9], 2, [0, 0, 0]),
        ([9, 9], -5, [0, 0]),
        ([], 10, []),
    ],
)
def test_only_the_widest_columns_are_narrowed(widths: list[int], room: int, expected: list[int]) -> None:
    limit = compute_width_limit(widths, room)
    assert [min(width, limit) for width in widths] == expected
