"""Numbers of lists are written as word processors write them."""

import pytest

from roamtui.sources.convert.numbering import format_number


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        *((1994, "lowerRoman", "mcmxciv"), (3888, "I", "MMMDCCCLXXXVIII"), (949, "i", "cmxlix"), (444, "i", "cdxliv")),
        *((5000, "i", "mmmmm"), (5001, "i", "5001"), (0, "i", "0")),
        *((26, "A", "Z"), (27, "lowerLetter", "aa"), (780, "a", "z" * 30), (781, "a", "781"), (0, "upperLetter", "0")),
        *((3, "decimalZero", "03"), (12, "decimalZero", "12"), (4, "none", ""), (4, "decimal", "4")),
        *((number, "ordinal", text) for number, text in ((1, "1st"), (22, "22nd"), (3, "3rd"), (11, "11th"))),
        *((112, "ordinal", "112th"), (110, "ordinal", "110th"), (101, "ordinal", "101st")),
        *((1, "一", "一"), (10, "chineseCounting", "十"), (11, "一", "十一"), (20, "一", "二十"), (99, "一", "九十九")),
        (100, "一", "100"),
    ],
)
def test_a_number_is_written_as_its_kind_says(number: int, kind: str, text: str) -> None:
    assert format_number(number, kind) == text
