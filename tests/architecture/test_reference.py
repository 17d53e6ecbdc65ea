"""What the documentation says of keys and options is what the program does."""

from __future__ import annotations

import pytest

from docs.write_reference import fill_blocks, list_pages
from tests.real_documents import PROJECT_DIR


def test_generated_parts_of_every_page_are_up_to_date() -> None:
    stale = [page.name for page in list_pages() if fill_blocks(page.read_text("utf-8")) != page.read_text("utf-8")]
    assert stale == [], "run `make docs`"


def test_the_readme_lists_the_keys() -> None:
    assert "<!-- keys -->\n|" in (PROJECT_DIR / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["roamtui --help", "roamtui ask --help"])
def test_a_block_is_made_anew_between_its_marks(name: str) -> None:
    made = fill_blocks(f"Before\n<!-- {name} -->\nstale\n<!-- /{name} -->\nAfter\n")
    assert made.startswith(f"Before\n<!-- {name} -->\n```text\nusage: {name.removesuffix(' --help')} ")
    assert made.endswith(f"```\n<!-- /{name} -->\nAfter\n")
    assert "stale" not in made
    assert fill_blocks(made) == made


def test_other_comments_stay_as_they_are() -> None:
    page = "<!-- keys of the house -->\ntext\n<!-- /keys -->\n<!-- keys -->\nno end\n"
    assert fill_blocks(page) == page
