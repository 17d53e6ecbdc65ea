"""kitty's protocol, byte by byte, and the terminals that are known to have it."""

import pytest
from rich.cells import cell_len

from roamtui.tui.page_images import CELLS_MAX, has_images, make_placeholders
from tests.case_files import read_rows


def test_each_placeholder_names_its_row_and_column() -> None:
    assert make_placeholders(0, 2) == "\U0010eeee\u0305\u0305\U0010eeee\u0305\u030d"
    assert make_placeholders(2, 1) == "\U0010eeee\u030e\u0305"
    row = make_placeholders(CELLS_MAX - 1, CELLS_MAX)
    assert row.endswith("\U0010eeee\U0001d244\U0001d244")
    assert len(set(row)) == CELLS_MAX + 1
    assert cell_len(row) == CELLS_MAX


@pytest.mark.parametrize(("environ", "expected"), read_rows("tui/page_images", "terminals"))
def test_only_known_terminals_get_images(environ: dict[str, str], expected: bool) -> None:  # noqa: FBT001 - a row
    assert has_images(environ) is expected
