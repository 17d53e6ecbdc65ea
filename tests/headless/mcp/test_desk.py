"""A client's desk: what it has open, without the protocol."""

from __future__ import annotations

from roamtui.conversation.state import KeepOptions
from roamtui.document.library import Library
from roamtui.headless.mcp.desk import ROOM_TOKENS, Desk
from roamtui.headless.mcp.pages import LISTED_MAX, list_pages, read_page
from roamtui.headless.mcp.shelf import Shelf
from tests.outline.documents import find_id, make_library, write_words

CHAPTERS = 6


def make_book(words: int) -> Library:
    chapters = [f"## Chapter {number}\n\n{write_words(words, seed=number)}" for number in range(1, CHAPTERS + 1)]
    return make_library("# Book\n\n" + "\n".join(chapters))


def make_desk(library: Library, options: KeepOptions | None = None) -> Desk:
    return Desk(Shelf(lambda: (library, None), options=options or KeepOptions()))


async def test_one_call_delivers_no_more_than_clients_take() -> None:
    library = make_book(2_500)
    desk = make_desk(library, KeepOptions(budget_tokens=1_000_000))
    ids = [find_id(library, f"Chapter {number}") for number in range(1, CHAPTERS + 1)]
    reply = await desk.call("expand_sections", {"section_ids": ids})
    assert desk.session.state.open_tokens <= ROOM_TOKENS
    assert f"[{ids[-1]}] Book > Chapter {CHAPTERS}: no room for its ~" in reply.text
    assert not reply.is_error
    assert "no room" not in (await desk.call("expand_sections", {"section_ids": ids[-1]})).text


async def test_past_the_budget_the_oldest_is_closed_and_named() -> None:
    library = make_book(600)
    desk = make_desk(library, KeepOptions(budget_tokens=4_000))
    replies = []
    for number in range(1, CHAPTERS + 1):
        section_id = find_id(library, f"Chapter {number}")
        replies.append((await desk.call("expand_sections", {"section_ids": [section_id]})).text)
    first, last = find_id(library, "Chapter 1"), find_id(library, f"Chapter {CHAPTERS}")
    assert any(f"(Closed, because much is open: {first}" in reply for reply in replies)
    assert first not in desk.session.state.open_ids
    assert last in desk.session.state.open_ids
    assert "word" in (await desk.call("expand_sections", {"section_ids": [first]})).text


def test_a_section_is_a_page_to_the_letter_until_it_is_very_long() -> None:
    library = make_book(600)
    chapter = find_id(library, "Chapter 2")
    assert read_page(library, f"roamtui://section/{chapter}") == library.text(chapter)
    long = make_book(12_000)
    book = find_id(long, "Book")
    page = read_page(long, f"roamtui://section/{book}")
    assert len(page) < len(long.text(book)) / 10
    assert all(find_id(long, f"Chapter {number}") in page for number in range(1, CHAPTERS + 1))


def test_the_list_of_pages_goes_on() -> None:
    library = make_library("\n".join(f"# Part {number}\n\nText.\n" for number in range(LISTED_MAX + 7)))
    pages, following = list_pages(library, 0)
    assert (len(pages), following) == (LISTED_MAX, LISTED_MAX)
    rest, end = list_pages(library, LISTED_MAX)
    assert ([page.title for page in rest][-1], end) == (f"Part {LISTED_MAX + 6}", None)
