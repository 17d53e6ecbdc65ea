"""One line of the words that a reader sees."""

import pytest

from roamtui.markdown.units import read_visible_line
from tests.case_files import read_rows


@pytest.mark.parametrize(("piece", "line"), read_rows("markdown/visible", "pieces"))
def test_a_piece_reads_as_a_person_sees_it(piece: str, line: str) -> None:
    assert read_visible_line(piece) == line
