"""What a collapsed line says of what lies below it."""

from __future__ import annotations

import pytest

from roamtui.outline.scent import find_terms, is_generic, list_child_titles, make_scent
from tests.outline.documents import find_id, make_library


@pytest.mark.parametrize("title", ["FAQ", "Other changes", "See also", "What's new", "Overview!", "1.", "§ 5", "—", ""])
def test_generic_titles(title: str) -> None:
    assert is_generic(title)


@pytest.mark.parametrize("title", ["Fees", "FAQ about fees", "Overview of fees", "C++", "Тарифы", "標題", "Über uns"])
def test_telling_titles(title: str) -> None:
    assert not is_generic(title)


def test_titles_below_and_those_below_them() -> None:
    library = make_library("# A\n\n## B\n\n### C\n\n### D\n\n## E\n\n# F\n")
    node = library.node(find_id(library, "A"))
    assert list_child_titles(library, node) == ["B", "E"]
    assert list_child_titles(library, node, is_deep=True) == ["B (C, D)", "E"]
    assert make_scent(library, node, is_deep=True) == "B (C, D); E"


def test_what_is_left_out_is_counted() -> None:
    library = make_library("# A\n\n" + "".join(f"## Part number {i}\n\n### Deep {i}\n\n" for i in range(70)) + "# B\n")
    node = library.node(find_id(library, "A"))
    titles = list_child_titles(library, node)
    assert len(titles) == 61
    assert titles[-1] == "+10 more"
    short = make_scent(library, node, length_max=60)
    assert short.endswith("; +57 more")
    assert short.startswith("Part number 0; Part number 1; ")
    many = make_library("# A\n\n## B\n\n" + "".join(f"### C{i}\n\n" for i in range(20)))
    assert list_child_titles(many, many.node(find_id(many, "A")), is_deep=True)[0].endswith("C11, +8 more)")


def test_scent_never_shows_what_it_cannot_count() -> None:
    """The numbers that are said to be left out are the numbers that are missing."""
    library = make_library("# A\n\n" + "".join(f"## Part {i} of it\n\n" for i in range(50)) + "# B\n")
    node = library.node(find_id(library, "A"))
    for length_max in range(10, 800, 37):
        scent = make_scent(library, node, length_max=length_max)
        parts = scent.split("; ")
        left_out = int(parts.pop().removeprefix("+").removesuffix(" more")) if parts[-1].endswith(" more") else 0
        assert len(parts) + left_out == 50
        assert parts


def test_terms_come_from_definitions() -> None:
    text = "# A\n\nThe `index_field` defines the order. An **import cycle** is bad.\n\nThe summary pass is slow.\n"
    library = make_library(text)
    assert find_terms(library, library.node(find_id(library, "A"))) == ["index_field", "summary pass"]


def test_terms_stand_in_the_order_of_the_text() -> None:
    text = "# A\n\nThe late frost is cold. An old pump is slow. The new valve is tight. A drip line is thin.\n"
    library = make_library(text)
    node = library.node(find_id(library, "A"))
    assert find_terms(library, node) == ["late frost", "old pump", "new valve", "drip line"]


def test_a_title_that_says_nothing_gets_the_sentence_that_defines() -> None:
    library = make_library(
        "# A\n\n## Overview\n\nRead this first. A lease is a promise to pay rent. More.\n\n# B\n\nx\n"
    )
    assert make_scent(library, library.node(find_id(library, "Overview"))) == "A lease is a promise to pay rent."
