"""Ids after headings, and how a quote loses them."""

from hypothesis import given
from hypothesis import strategies as st

from roamtui.outline.id_marks import annotate_with_ids, strip_ids
from tests.outline.documents import find_id, make_library


def test_an_id_stands_after_each_heading_but_that_of_the_section() -> None:
    library = make_library("# A\n\nText.\n\n## B\t \r\n\nText.\n\nC\n---\n\nSee [it](#b).\n")
    a, b, c = (find_id(library, title) for title in "ABC")
    text = annotate_with_ids(library, library.get_content_span(a), section_id=a)
    assert text == f"# A\n\nText.\n\n## B [{b}]\t \r\n\nText.\n\nC [{c}]\n---\n\nSee [it](#b)."


def test_long_urls_are_shortened() -> None:
    address = "https://example.org/" + "x" * 200
    library = make_library(f"See [it]({address}).\n")
    assert annotate_with_ids(library, library.own_span(next(library.walk()))) == f"See [it]({address[:60]}…)."


_LINES = st.sampled_from(["# One", "## Two ##", "Text.", "", "===", "- item", "> # Quoted", "```", "[a](b)"])


@given(st.lists(_LINES, max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_a_quote_loses_the_ids_that_were_copied(lines: list[str], line_end: str) -> None:
    library = make_library(line_end.join(["# Top", *lines]))
    span = library.get_content_span(next(library.walk()))
    assert strip_ids(annotate_with_ids(library, span)) == library.clean_text(span).rstrip()
