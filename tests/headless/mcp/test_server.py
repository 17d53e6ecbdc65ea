"""What a client is told, by the SDK's own client in the same process."""

from __future__ import annotations

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from pathlib import Path

from mcp import Client
from mcp.shared.exceptions import MCPError

from roamtui.conversation.state import KeepOptions
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.headless.mcp import make_server, read_section
from roamtui.headless.mcp_session import SharedLibrary
from roamtui.libraries import open_library, open_partly
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.watching import FileStamps
from tests.headless.mcp.clients import call, list_ids, read_text
from tests.outline.documents import find_id, make_library, write_words
from tests.real_documents import PROJECT_DIR

HANDBOOK = PROJECT_DIR / "examples" / "handbook.md"


def open_shared(*, has_search: bool = True) -> SharedLibrary:
    return SharedLibrary(
        lambda: (open_library((str(HANDBOOK),)), None),
        options=KeepOptions(),
        make_searcher=KeywordSearcher if has_search else None,
    )


async def test_a_wrong_call_is_answered_in_words() -> None:
    async with Client(make_server(open_shared())) as client:
        for name, arguments, words in (
            ("expand_sections", {}, "needs section_ids"),
            ("expand_sections", {"section_ids": ["ffffffff", {"a": 7}]}, '"ffffffff" is no section id'),
            ("expand_sections", {"section_ids": ["ffffffff"] * 25}, "5 more ids were not opened"),
            ("search_sections", {"query": None}, "needs a query"),
            ("search_sections", {"query": "fee", "limit": [], "within": "ffffffff"}, "is no section id"),
            ("outline", {"budget": "much"}, "About the library"),
            ("list_documents", {"offset": -3, "limit": True}, "one document"),
        ):
            result = await client.call_tool(name, arguments)
            assert (name, result.is_error) == (name, False)
            assert words in read_text(result)
        unknown = await client.call_tool("no\x1b[31mthing", {})
        assert unknown.is_error
        assert read_text(unknown).startswith('There is no tool "no␛[31mthing". The tools are list_documents, outline')


async def test_sections_are_resources() -> None:
    async with Client(make_server(open_shared())) as client:
        listed = (await client.list_resources()).resources
        assert [resource.name for resource in listed][:3] == ["About the library", "Membership", "Borrowing"]
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["roamtui://section/{id}"]
        page = (await client.read_resource(listed[1].uri)).contents[0]
        text = HANDBOOK.read_text("utf-8")
        assert page.model_dump()["text"] == text[text.index("## Membership") : text.index("## Borrowing")]
        with pytest.raises(MCPError, match='no section "ffffffff"'):
            await client.read_resource("roamtui://section/ffffffff")


def test_a_section_is_given_to_the_letter_until_it_is_very_long() -> None:
    library = make_library(f"# Book\n\n## One\n\n{write_words(600)}\n\n## Two\n\n{write_words(50_000)}")
    one, two, book = (find_id(library, title) for title in ("One", "Two", "Book"))
    assert read_section(library, f"roamtui://section/{one}") == library.text(one)
    shown = read_section(library, f"roamtui://section/{book}")
    assert len(shown) < len(library.text(book)) / 10
    assert one in shown
    assert two in shown


async def test_what_changed_on_disk_is_read_again_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.headless.mcp_session._LOOK_SECONDS", 0)
    (tmp_path / "one.md").write_text("# One\n\nThe old words.\n", "utf-8")
    (tmp_path / "two.md").write_text("# Two\n\nOther words.\n", "utf-8")
    sources = (str(tmp_path),)
    shared = SharedLibrary(
        lambda: open_partly(sources),
        options=KeepOptions(),
        make_searcher=KeywordSearcher,
        look=FileStamps(sources).look,
    )
    async with Client(make_server(shared)) as client:
        first = await call(client, "search_sections", query="old words", limit=1)
        assert "The old words." in first
        ids = list_ids(first)
        await call(client, "expand_sections", section_ids=ids)
        assert "is open already" in await call(client, "expand_sections", section_ids=ids)
        (tmp_path / "one.md").write_text("# One\n\nSome newer words.\n", "utf-8")
        (tmp_path / "three.md").write_text("# Three\n\nThe third.\n", "utf-8")
        again = await call(client, "expand_sections", section_ids=ids)
        assert "Some newer words." in again
        assert "(The source has changed and was read again." in again
        listed = await call(client, "list_documents")
        assert listed.startswith("Documents 1 to 3 of 3:")
        assert "has changed" not in listed
        assert "third" in await call(client, "search_sections", query="third")


async def test_a_source_that_is_gone_stays_as_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.headless.mcp_session._LOOK_SECONDS", 0)
    path = tmp_path / "one.md"
    path.write_text("# One\n\nThe old words.\n", "utf-8")
    sources = (str(path),)
    shared = SharedLibrary(lambda: open_partly(sources), options=KeepOptions(), look=FileStamps(sources).look)
    async with Client(make_server(shared)) as client:
        assert "One" in await call(client, "outline")
        path.unlink()
        assert "One" in await call(client, "outline")
        path.write_text("# Another\n\nNew.\n", "utf-8")
        assert "Another" in await call(client, "outline")


async def test_what_fails_at_first_is_told_and_tried_again() -> None:
    problems = [RoamtuiError("The index cannot be written."), KeyError("a defect")]

    def make_searcher(library: Library) -> KeywordSearcher:
        if problems:
            raise problems.pop(0)
        return KeywordSearcher(library)

    shared = SharedLibrary(
        lambda: (open_library((str(HANDBOOK),)), None), options=KeepOptions(), make_searcher=make_searcher
    )
    async with Client(make_server(shared)) as client:
        told = [await client.call_tool("outline", {}) for _ in range(3)]
    assert [result.is_error for result in told] == [True, True, False]
    assert read_text(told[0]) == "The index cannot be written."
    assert read_text(told[1]) == "A defect in roamtui stopped this call (KeyError). Another call may work."
