"""Numbers of lists are written as word processors write them."""

import pytest

from roamtui.convert.list_numbers import format_list_number
from tests.case_files import read_rows


@pytest.mark.parametrize(("number", "kind", "text"), read_rows("convert/list_numbers", "numbers"))
def test_a_number_is_written_as_its_kind_says(number: int, kind: str, text: str) -> None:
    assert format_list_number(number, kind) == text
