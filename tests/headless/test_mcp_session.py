"""What one client has open, without the protocol."""

from __future__ import annotations

from roamtui.conversation.state import OpenSectionOptions
from roamtui.document.library import Library
from roamtui.headless.mcp_session import CALL_TOKENS_MAX, McpSession
from tests.outline.documents import find_id, make_library, write_words

CHAPTERS = 6


def make_book(words: int) -> Library:
    chapters = [f"## Chapter {number}\n\n{write_words(words, seed=number)}" for number in range(1, CHAPTERS + 1)]
    return make_library("# Book\n\n" + "\n".join(chapters))


def start_session(library: Library, options: OpenSectionOptions | None = None) -> McpSession:
    return McpSession(lambda: (library, None), options=options or OpenSectionOptions())


async def test_one_call_delivers_no_more_than_clients_take() -> None:
    library = make_book(2_500)
    client = start_session(library, OpenSectionOptions(budget_tokens=1_000_000))
    ids = [find_id(library, f"Chapter {number}") for number in range(1, CHAPTERS + 1)]
    reply = await client.call("expand_sections", {"section_ids": [f"{section_id}:1" for section_id in ids]})
    assert client.conversation.state.open_tokens <= CALL_TOKENS_MAX
    assert f"[{ids[-1]}] Book > Chapter {CHAPTERS}: no room for its ~" in reply
    assert "no room" not in (await client.call("expand_sections", {"section_ids": f"{ids[-1]}:1"}))


async def test_past_the_budget_the_oldest_is_closed_and_named() -> None:
    library = make_book(600)
    client = start_session(library, OpenSectionOptions(budget_tokens=4_000))
    replies = []
    for number in range(1, CHAPTERS + 1):
        section_id = find_id(library, f"Chapter {number}")
        replies.append(await client.call("expand_sections", {"section_ids": [section_id]}))
    first, last = find_id(library, "Chapter 1"), find_id(library, f"Chapter {CHAPTERS}")
    assert any(f"(Closed, because much is open: {first}" in reply for reply in replies)
    assert first not in client.conversation.state.open_ids
    assert last in client.conversation.state.open_ids
    assert "word" in (await client.call("expand_sections", {"section_ids": [first]}))
