"""What the documentation says of keys and options is what the program does."""

from __future__ import annotations

import pytest

from docs.write_reference import fill_blocks, list_pages


def test_generated_parts_of_every_page_are_up_to_date() -> None:
    stale = [page.name for page in list_pages() if fill_blocks(page.read_text("utf-8")) != page.read_text("utf-8")]
    assert stale == [], "run `make docs`"


@pytest.mark.parametrize("name", ["roamtui --help", "roamtui ask --help"])
def test_a_block_is_made_anew_between_its_marks(name: str) -> None:
    made = fill_blocks(f"Before\n<!-- {name} -->\nstale\n<!-- /{name} -->\nAfter\n")
    assert made.startswith(f"Before\n<!-- {name} -->\n```text\nusage: {name.removesuffix(' --help')} ")
    assert made.endswith(f"```\n<!-- /{name} -->\nAfter\n")
    assert "stale" not in made
    assert fill_blocks(made) == made
