"""The outline near some sections: what stands beside and below them, in few tokens."""

import re

import pytest

from roamtui.outline.neighbourhood import render_neighbourhood
from roamtui.text import estimate_tokens
from tests.search.libraries import id_of, make_library

_TEXT = "".join(
    f"## Chapter {chapter}\n\n" + "".join(f"### Part {chapter}.{part}\n\nWords of it.\n\n" for part in range(30))
    for chapter in range(200)
)
LIBRARY = make_library(f"# Manual\n\n{_TEXT}")


def test_neighbours_are_named_with_ids() -> None:
    text = render_neighbourhood(LIBRARY, [id_of(LIBRARY, "Part 7.3")], 130)
    assert f"[{id_of(LIBRARY, 'Chapter 7')}] Chapter 7" in text
    for title in ("Part 7.4", "Part 7.5"):
        assert f"[{id_of(LIBRARY, title)}] {title} (" in text
    assert "Part 7.3 (" not in text, "the hit has a line of its own"


@pytest.mark.parametrize("tokens_max", [0, 20, 60, 130, 200])
def test_it_keeps_to_its_budget(tokens_max: int) -> None:
    text = render_neighbourhood(LIBRARY, [id_of(LIBRARY, f"Part {chapter}.3") for chapter in range(9)], tokens_max)
    assert estimate_tokens(text) <= tokens_max
    ids = re.findall(r"\[(\w{8})\]", text)
    assert set(ids) <= {LIBRARY.root_id, *LIBRARY.walk()}
