"""What a client is told, by the SDK's own client in the same process."""

from __future__ import annotations

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client
from mcp.shared.exceptions import MCPError

from roamtui.conversation.state import KeepOptions
from roamtui.headless.mcp.server import make_server
from roamtui.headless.mcp.shelf import Shelf
from roamtui.libraries import open_library
from roamtui.search.keyword import KeywordSearcher
from tests.headless.mcp.clients import read_text
from tests.real_documents import PROJECT_DIR

HANDBOOK = PROJECT_DIR / "examples" / "handbook.md"


def open_shelf(*, has_search: bool = True) -> Shelf:
    library = open_library((str(HANDBOOK),))
    return Shelf(library, None, KeywordSearcher if has_search else None, KeepOptions())


async def test_a_wrong_call_is_answered_in_words() -> None:
    async with Client(make_server(open_shelf())) as client:
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
    async with Client(make_server(open_shelf())) as client:
        listed = (await client.list_resources()).resources
        assert [resource.name for resource in listed][:3] == ["About the library", "Membership", "Borrowing"]
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["roamtui://section/{id}"]
        page = (await client.read_resource(listed[1].uri)).contents[0]
        text = HANDBOOK.read_text("utf-8")
        assert page.model_dump()["text"] == text[text.index("## Membership") : text.index("## Borrowing")]
        with pytest.raises(MCPError, match='no section "ffffffff"'):
            await client.read_resource("roamtui://section/ffffffff")


async def test_without_search_there_is_no_search_tool() -> None:
    async with Client(make_server(open_shelf(has_search=False))) as client:
        assert "search_sections" not in [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("search_sections", {"query": "fee"})
        assert result.is_error
        assert read_text(result).startswith('There is no tool "search_sections".')
