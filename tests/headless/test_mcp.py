"""`roamtui mcp`, asked by the SDK's own client, in the same process and over stdin and stdout."""

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mcp import Client, StdioServerParameters, types

from roamtui.agent.tools import expand, search
from roamtui.bootstrap import Bootstrap, open_library
from roamtui.conversation.state import OpenSectionOptions
from roamtui.document.library import Library
from roamtui.document.loader import Loader
from roamtui.errors import RoamtuiError
from roamtui.headless.mcp import CALL_TOKENS_MAX, McpSession, make_mcp_server
from roamtui.search.keyword import KeywordSearcher
from tests.outline.documents import write_words
from tests.real_documents import PROJECT_DIR
from tests.search.libraries import id_of, make_library

HANDBOOK = PROJECT_DIR / "examples" / "handbook.md"


WAIT_SECONDS = 120


async def call(client: Client, name: str, **arguments: object) -> str:
    return read_text(await client.call_tool(name, arguments))


def read_text(result: types.CallToolResult) -> str:
    return "\n".join(content.text for content in result.content if isinstance(content, types.TextContent))


def list_ids(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\[([0-9a-f]{8})\]", text)))


def open_served(make_searcher: Callable[[Library], KeywordSearcher] = KeywordSearcher) -> McpSession:
    library = open_library((str(HANDBOOK),))
    return McpSession(lambda: (library, None), options=OpenSectionOptions(), make_searcher=make_searcher)


async def test_a_wrong_call_is_answered_in_words() -> None:
    async with Client(make_mcp_server(open_served())) as client:
        for name, arguments, words in (
            (
                "expand_sections",
                {"section_ids": ["ffffffff", {"a": 7}]},
                'No section is called "ffffffff" in the document.',
            ),
            ("expand_sections", {"section_ids": ["ffffffff"] * 25}, "5 more ids were not opened"),
            ("search_sections", {"query": "fee", "within": "ffffffff"}, "no section is called"),
            ("outline", {"budget": "much"}, "About the library"),
            ("list_documents", {"offset": 3, "limit": None}, "one document"),
        ):
            result = await client.call_tool(name, arguments)
            assert (name, result.is_error) == (name, False)
            assert words in read_text(result)
        unknown = await client.call_tool("no\x1b[31mthing", {})
        assert unknown.is_error
        assert read_text(unknown).startswith('There is no tool "no␛[31mthing". The tools are list_documents, outline')


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("expand_sections", {}, "needs section_ids"),
        ("expand_sections", {"section_ids": []}, "needs section_ids"),
        ("collapse_sections", {"section_ids": [" "]}, "needs section_ids"),
        ("search_sections", {"query": None}, "needs queries"),
        ("check_quotes", {"text": " "}, "needs a text"),
        ("check_quotes", {"text": '"Loans last from 3 days"', "document": "no.md"}, "is no document or section"),
    ],
)
async def test_missing_or_wrong_arguments_are_an_error(name: str, arguments: dict[str, object], words: str) -> None:
    async with Client(make_mcp_server(open_served())) as client:
        result = await client.call_tool(name, arguments)
    assert result.is_error
    assert words in read_text(result)


LOANS = "Loans last from 3 to 14 days according to class"
PLACE = "[87920c79] The Tallow Street Tool Library Handbook > Borrowing > Loan lengths, line 168"


@pytest.mark.parametrize(
    ("text", "document", "expected"),
    [
        (f'It says "{LOANS}".', "", f'1. found: "{LOANS}"\n   {PLACE}'),
        (f"> {LOANS}", "Loan lengths", f'1. found: "{LOANS}"\n   {PLACE}'),
        (f"> {LOANS}", "Fees and deposits", f'1. elsewhere: "{LOANS}"\n   {PLACE}'),
        (f'"{LOANS}" [00000000].', "", "1 quote: 1 elsewhere."),
        ('"according to class"', "", f"   In full: {LOANS}"),
        ('"Loans last from 3 to 15 days according to class"', "", f'   nearest: "{LOANS}" in {PLACE}'),
        ("“Purple cows fly to Mars”", "", "1 not_found in the document."),
        ('"Too short" \0 \ud800 "', "", "No quote to check"),
        (
            "".join(f'"the quote with number {number}" ' for number in range(61)),
            "",
            "not_found in the document. 1 quote left out",
        ),
    ],
)
async def test_quotes_of_another_assistant_are_checked(text: str, document: str, expected: str) -> None:
    checked = await open_served().call("check_quotes", {"text": text, "document": document})
    assert expected in checked


async def test_what_changed_on_disk_is_read_again_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.headless.mcp._CHECK_SECONDS", 0)
    (tmp_path / "one.md").write_text("# One\n\nThe old words.\n", "utf-8")
    (tmp_path / "two.md").write_text("# Two\n\nOther words.\n", "utf-8")
    sources = (str(tmp_path),)
    reads = 0

    def read() -> tuple[Library, Loader | None]:
        nonlocal reads
        reads += 1
        return Bootstrap().open(sources)

    served = McpSession(read, options=OpenSectionOptions(), make_searcher=KeywordSearcher, sources=sources)
    async with Client(make_mcp_server(served)) as client:
        first = await call(client, "search_sections", query="old words")
        assert "The old words." in first
        ids = list_ids(first)
        await call(client, "expand_sections", section_ids=ids)
        assert "is open already" in await call(client, "expand_sections", section_ids=ids)
        assert reads == 1
        (tmp_path / "one.md").write_text("# One\n\nSome newer words.\n", "utf-8")
        (tmp_path / "three.md").write_text("# Three\n\nThe third.\n", "utf-8")
        again = await call(client, "expand_sections", section_ids=ids)
        assert "Some newer words." in again
        assert "(The source has changed and was read again." in again
        listed = await call(client, "list_documents")
        assert listed.startswith("Documents 1 to 3 of 3:")
        assert "has changed" not in listed
        assert "third" in await call(client, "search_sections", query="third")
    assert reads == 2


async def test_what_fails_at_first_is_told_and_tried_again() -> None:
    problems = [RoamtuiError("The index cannot be written."), KeyError("a defect")]

    def make_searcher(library: Library) -> KeywordSearcher:
        if problems:
            raise problems.pop(0)
        return KeywordSearcher(library)

    async with Client(make_mcp_server(open_served(make_searcher))) as client:
        results = [await client.call_tool("outline", {}) for _ in range(3)]
    assert [result.is_error for result in results] == [True, True, False]
    assert read_text(results[0]) == "The index cannot be written."
    assert read_text(results[1]) == "A defect in roamtui stopped this call (KeyError). Another may work."


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_roams_as_the_agent_does(mode: str) -> None:
    program = ["-m", "roamtui", "mcp", str(HANDBOOK)]
    parameters = StdioServerParameters(command=sys.executable, args=program, cwd=PROJECT_DIR, env=dict(os.environ))
    async with Client(parameters, mode=mode, read_timeout_seconds=WAIT_SECONDS) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools)[:2] == ["list_documents", "outline"]
        for known in (expand.TOOL.spec, search.TOOL.spec):
            assert tools[known.name].description == known.description
            assert tools[known.name].input_schema.keys() == known.parameters.keys()
        assert tools["expand_sections"].input_schema == expand.TOOL.spec.parameters
        assert not [name for name, tool in tools.items() if "question" in tool.model_dump_json()]
        assert "one document" in await call(client, "list_documents")
        outline = await call(client, "outline")
        assert "Fees and deposits" in outline
        found = list_ids(await call(client, "search_sections", query="grace period"))[:2]
        assert len(found) >= 2
        assert "Classes A, B, D and F" in await call(client, "expand_sections", section_ids=found)
        again = await call(client, "expand_sections", section_ids=found)
        assert "is open already" in again
        assert "collapse_sections" in again
        assert "Classes A, B, D and F" not in again
        assert await call(client, "collapse_sections", section_ids=found) == "\n".join(
            f"[{one}] closed" for one in found
        )
        assert "Classes A, B, D and F" in await call(client, "expand_sections", section_ids=found)


CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT}).encode() + b"\n"


@contextmanager
def start_server(document: Path) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes], IO[bytes]]]:
    """Yield the program over a document, with the three ends of its pipes."""
    command = [sys.executable, "-m", "roamtui", "mcp", str(document)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(os.environ)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            yield process, process.stdin, process.stdout, process.stderr
        finally:
            process.kill()


def test_stdout_holds_the_protocol_alone_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    document = tmp_path / "broken.md"
    document.write_bytes(b"# Broken \xff text\n\nWords.\n")
    with start_server(document) as (process, stdin, stdout, stderr):
        stdin.write(b"no json\n" + INITIALIZE)
        stdin.flush()
        assert json.loads(stdout.readline())["id"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_SECONDS) == -signal.SIGINT
        assert stdout.read() == b""
        errors = stderr.read().decode()
        assert "Traceback" not in errors
        assert errors.count("\n") == 1


def test_it_ends_when_the_client_is_gone() -> None:
    with start_server(HANDBOOK) as (process, stdin, stdout, stderr):
        stdin.write(INITIALIZE)
        stdin.close()
        assert process.wait(WAIT_SECONDS) == 0
        assert json.loads(stdout.readline())["id"] == 1
        assert stderr.read() == b""


CHAPTERS = 6


def make_book(words: int) -> Library:
    chapters = [f"## Chapter {number}\n\n{write_words(words, seed=number)}" for number in range(1, CHAPTERS + 1)]
    return make_library("# Book\n\n" + "\n".join(chapters))


def start_session(library: Library, options: OpenSectionOptions | None = None) -> McpSession:
    return McpSession(lambda: (library, None), options=options or OpenSectionOptions())


async def test_one_call_delivers_no_more_than_clients_take() -> None:
    library = make_book(2_500)
    client = start_session(library, OpenSectionOptions(budget_tokens=1_000_000))
    ids = [id_of(library, f"Chapter {number}") for number in range(1, CHAPTERS + 1)]
    reply = await client.call("expand_sections", {"section_ids": [f"{section_id}:1" for section_id in ids]})
    assert client.conversation.state.open_tokens <= CALL_TOKENS_MAX
    assert f"[{ids[-1]}] Book > Chapter {CHAPTERS}: no room for its ~" in reply
    assert "no room" not in (await client.call("expand_sections", {"section_ids": f"{ids[-1]}:1"}))


async def test_past_the_budget_the_oldest_is_closed_and_named() -> None:
    library = make_book(600)
    client = start_session(library, OpenSectionOptions(budget_tokens=4_000))
    replies = []
    for number in range(1, CHAPTERS + 1):
        section_id = id_of(library, f"Chapter {number}")
        replies.append(await client.call("expand_sections", {"section_ids": [section_id]}))
    first, last = id_of(library, "Chapter 1"), id_of(library, f"Chapter {CHAPTERS}")
    assert any(f"(Closed, because much is open: {first}" in reply for reply in replies)
    assert first not in client.conversation.state.open_sections
    assert last in client.conversation.state.open_sections
    assert "word" in (await client.call("expand_sections", {"section_ids": [first]}))
