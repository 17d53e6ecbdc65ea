"""Pages of a long text cover it, and end where a reader would turn the page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.tokens import estimate_tokens
from roamtui.outline.pages import PAGE_TOKENS, split_pages
from tests.outline.documents import find_id, make_library, open_section, write_words

_LONG = write_words(20_000)


def test_no_page_is_far_too_long_where_a_text_turns_to_numbers() -> None:
    text = write_words(6_000) + "12345 67890\n" * 2_000
    assert all(estimate_tokens(text[start:end]) <= 1.25 * PAGE_TOKENS for start, end in split_pages(text))


@given(st.text(alphabet="a 1\n\r漢", max_size=300), st.integers(1, 400))
def test_pages_cover_any_text_without_gap_or_overlap(text: str, times: int) -> None:
    whole = text * times
    pages = split_pages(whole)
    assert [start for start, _ in pages] == [0, *(end for _, end in pages[:-1])]
    assert pages[-1][1] == len(whole)
    if len(pages) > 1:
        assert all(start < end for start, end in pages)


def test_all_pages_of_a_section_are_its_own_text() -> None:
    library = make_library(f"# Short\n\n# Long\n\n{_LONG}\n## Below\n\nMore.\n")
    section_id = find_id(library, "Long")
    blocks = [open_section(library, section_id)]
    while f"The next is [{section_id}:{len(blocks) + 1}]" in blocks[-1].text:
        blocks.append(open_section(library, f"{section_id}:{len(blocks) + 1}"))
    assert len(blocks) > 5
    assert "It is the last." in blocks[-1].text
    assert "".join(library.text_at(span) for block in blocks for span in block.spans) == library.own_text(section_id)
    assert all(f"(Page {number} of {len(blocks)} " in block.text for number, block in enumerate(blocks, start=1))
    assert "## Below" not in blocks[-1].text
    below = find_id(library, "Below")
    assert f"- [{below}] Below" in blocks[0].text
    assert f"listed with its first page, [{section_id}:1]" in blocks[-1].text


def test_line_ranges_of_pages_follow_one_another() -> None:
    library = make_library(f"# Long\n\n{_LONG}")
    section_id = find_id(library, "Long")
    lines = str(library.root.text).splitlines()
    last = 0
    for number in range(1, len(split_pages(library.own_text(section_id))) + 1):
        head = open_section(library, f"{section_id}:{number}").text.splitlines()[0]
        first, end = (int(part) for part in head.rpartition("lines ")[2].rstrip(")").split("-"))
        assert first == last + 1
        last = end
    assert last == len(lines)
