"""`roamtui mcp`, asked by the official SDK's client over stdin and stdout, and in the same process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest

from roamtui.agent.specs import EXPAND, SEARCH
from roamtui.bootstrap import Bootstrap, open_library
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.headless.mcp import CALL_TOKENS_MAX, McpSession
from roamtui.opening.loader import OpenedSource
from roamtui.search.searcher import Searcher
from roamtui.text import estimate_tokens
from tests.outline.documents import write_words
from tests.real_documents import PROJECT_DIR
from tests.search.libraries import id_of, make_library

if TYPE_CHECKING:
    from mcp import Client, types

HANDBOOK = PROJECT_DIR / "examples" / "handbook.md"


WAIT_SECONDS = 120


async def call(client: Client, name: str, **arguments: object) -> str:
    return read_text(await client.call_tool(name, arguments))


async def read_error(session: McpSession, name: str, arguments: dict[str, object]) -> str:
    with pytest.raises(RoamtuiError) as caught:
        await session.call(name, arguments)
    return str(caught.value)


def read_text(result: types.CallToolResult) -> str:
    return "\n".join(content.text for content in result.content if content.type == "text")


def list_ids(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\[([0-9a-f]{8})\]", text)))


def open_served() -> McpSession:
    library = open_library((str(HANDBOOK),))
    return McpSession(lambda: OpenedSource(library, None), Searcher)


async def test_a_wrong_call_is_answered_in_words() -> None:
    session = open_served()
    for name, arguments, words in (
        (
            "expand_sections",
            {"section_ids": ["ffffffff", {"a": 7}]},
            'No section is called "ffffffff" in the document.',
        ),
        ("expand_sections", {"section_ids": ["ffffffff"] * 25}, "Not opened: 5 more ids."),
        ("search_sections", {"query": "fee", "within": "ffffffff"}, "no section is called"),
        ("outline", {"budget": "much"}, "About the library"),
        ("list_documents", {"offset": 3, "limit": None}, "one document"),
    ):
        assert words in await session.call(name, arguments)
    unknown = await read_error(session, "no\x1b[31mthing", {})
    assert unknown.startswith('There is no tool "no␛[31mthing". The tools are outline, expand_sections')


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("expand_sections", {}, "needs section_ids"),
        ("expand_sections", {"section_ids": []}, "needs section_ids"),
        ("search_sections", {"query": None}, "needs queries"),
        ("check_quotes", {"text": " "}, "needs a text"),
        ("check_quotes", {"text": '"Loans last from 3 days"', "document": "no.md"}, "is no document or section"),
    ],
)
async def test_missing_or_wrong_arguments_are_an_error(name: str, arguments: dict[str, object], words: str) -> None:
    assert words in await read_error(open_served(), name, arguments)


LOANS = "Loans last from 3 to 14 days according to class"
PLACE = "[87920c79] The Tallow Street Tool Library Handbook > Borrowing > Loan lengths, line 168"


@pytest.mark.parametrize(
    ("text", "document", "expected"),
    [
        (f'It says "{LOANS}".', "", f'1. found: "{LOANS}"\n   {PLACE}'),
        (f"> {LOANS}", "Loan lengths", f'1. found: "{LOANS}"\n   {PLACE}'),
        (f"> {LOANS}", "handbook.md", f'1. found: "{LOANS}"\n   {PLACE}'),
        (f"> {LOANS}", str(HANDBOOK), f'1. found: "{LOANS}"\n   {PLACE}'),
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


async def test_a_quote_of_a_page_that_cannot_be_read_is_not_called_false(tmp_path: Path) -> None:
    (tmp_path / "fees.md").write_text("# Fees\n\nA spade costs 2 euros a day.\n", "utf-8")
    (tmp_path / "loans.md").write_bytes(bytes(range(256)))
    library = open_library((str(tmp_path),))
    session = McpSession(lambda: OpenedSource(library, None), Searcher)
    text = '"A rake is lent for nine days"'
    checked = await session.call("check_quotes", {"text": text, "document": "loans.md"})
    assert checked.startswith("1 quote: 1 unreachable in the list of files. 1 file could not be read: loans.md"), (
        checked
    )
    assert f"\n1. unreachable: {text}\n   loans.md" in checked


async def test_the_call_after_a_cancelled_one_waits_for_the_same_read() -> None:
    library = open_library((str(HANDBOOK),))
    started, may_end = threading.Event(), threading.Event()
    reads = 0

    def read() -> OpenedSource:
        nonlocal reads
        reads += 1
        started.set()
        may_end.wait(WAIT_SECONDS)
        return OpenedSource(library, None)

    session = McpSession(read, Searcher)
    first = asyncio.create_task(session.call("outline", {}))
    await asyncio.to_thread(started.wait, WAIT_SECONDS)
    first.cancel()
    await asyncio.wait([first])
    second = asyncio.create_task(session.call("outline", {}))
    await asyncio.wait([second], timeout=0.1)
    may_end.set()
    assert "Loan lengths" in await second
    assert reads == 1


async def test_what_changed_on_disk_is_read_again_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.headless.mcp._CHECK_SECONDS", 0)
    (tmp_path / "one.md").write_text("# One\n\nThe old words.\n", "utf-8")
    (tmp_path / "two.md").write_text("# Two\n\nOther words.\n", "utf-8")
    sources = (str(tmp_path),)
    reads = 0

    def read() -> OpenedSource:
        nonlocal reads
        reads += 1
        return Bootstrap().open(sources)

    served = McpSession(read, Searcher, sources)
    first = await served.call("search_sections", {"query": "old words"})
    assert "The old words." in first
    ids = list_ids(first)
    assert "The old words." in await served.call("expand_sections", {"section_ids": ids})
    assert reads == 1
    (tmp_path / "one.md").write_text("# One\n\nSome newer words.\n", "utf-8")
    (tmp_path / "three.md").write_text("# Three\n\nThe third.\n", "utf-8")
    again = await served.call("expand_sections", {"section_ids": ids})
    assert "Some newer words." in again
    assert "(The source has changed and was read again." in again
    listed = await served.call("list_documents", {})
    assert listed.startswith("Documents 1 to 3 of 3:")
    assert "has changed" not in listed
    assert "third" in await served.call("search_sections", {"query": "third"})
    assert reads == 2


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_roams_as_the_agent_does(mode: str) -> None:
    mcp = pytest.importorskip("mcp", reason="the official SDK is not installed")
    program = ["-m", "roamtui", "mcp", str(HANDBOOK)]
    parameters = mcp.StdioServerParameters(command=sys.executable, args=program, cwd=PROJECT_DIR, env=dict(os.environ))
    async with mcp.Client(parameters, mode=mode, read_timeout_seconds=WAIT_SECONDS) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools)[:2] == ["outline", "expand_sections"]
        for known in (EXPAND, SEARCH):
            assert tools[known.name].description == known.description
            assert tools[known.name].input_schema.keys() == known.parameters.keys()
        assert tools["expand_sections"].input_schema == EXPAND.parameters
        assert not [name for name, tool in tools.items() if "question" in tool.model_dump_json()]
        assert "one document" in await call(client, "list_documents")
        outline = await call(client, "outline")
        assert "Fees and deposits" in outline
        found = list_ids(await call(client, "search_sections", query="grace period"))[:2]
        assert len(found) >= 2
        assert "Classes A, B, D and F" in await call(client, "expand_sections", section_ids=found)
        again = await call(client, "expand_sections", section_ids=found)
        assert "Classes A, B, D and F" in again, "another chat of this client has not read it"
        refused = await client.call_tool("expand_sections", {})
        assert refused.is_error
        assert "needs section_ids" in read_text(refused)


CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT}).encode() + b"\n"
ODD = b'{"method": "notifications/cancelled", "params": {"requestId": []}}\n' + b"[" * 100_000 + b"\n"
ODD += b'{"method": "notifications/progress", "params": null}\n'
UNKNOWN = b'{"jsonrpc": "2.0", "id": "2", "method": "resources/list"}\n'
WRONG_PARAMS = b'{"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": []}\n'


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


def test_a_client_may_call_before_the_handshake_and_two_chats_get_the_same_text() -> None:
    call = {"name": "expand_sections", "arguments": {"section_ids": ["Fees and deposits"]}}
    requests = [{"id": number, "method": "tools/call", "params": call} for number in (2, 3)]
    lines = [json.dumps(request).encode() + b"\n" for request in ({"id": 1, "method": "tools/list"}, *requests)]
    with start_server(HANDBOOK) as (_, stdin, stdout, _):
        stdin.write(b"".join(lines) + INITIALIZE.replace(b'"id": 1', b'"id": 4'))
        stdin.flush()
        replies = {reply["id"]: reply["result"] for reply in (json.loads(stdout.readline()) for _ in range(4))}
    assert replies[1]["tools"][0]["name"] == "outline"
    assert replies[4]["serverInfo"]["name"] == "roamtui"
    assert all("Classes A, B, D and F" in replies[number]["content"][0]["text"] for number in (2, 3))


def test_a_client_of_a_version_with_batches_gets_the_one_before() -> None:
    versions = {
        "2026-07-28": "2025-11-25",
        "2025-11-25": "2025-11-25",
        "2025-06-18": "2025-06-18",
        "2025-03-26": "2024-11-05",
        "2024-11-05": "2024-11-05",
        "1.0": "2025-11-25",
    }
    given = {}
    with start_server(HANDBOOK) as (_, stdin, stdout, _):
        for version in versions:
            stdin.write(INITIALIZE.replace(b"2025-06-18", version.encode()))
            stdin.flush()
            given[version] = json.loads(stdout.readline())["result"]["protocolVersion"]
    assert given == versions


def test_a_call_that_is_cancelled_while_the_source_opens_ends_no_other() -> None:
    call = {"method": "tools/call", "params": {"name": "list_documents"}}
    replies: list[dict[str, Any]] = []
    cancelling = {"method": "notifications/cancelled", "params": {"requestId": 1}}
    with start_server(HANDBOOK) as (_, stdin, stdout, _):
        for messages in (({"id": 1, **call}, {"id": 2, "method": "ping"}), (cancelling, {"id": 3, **call})):
            stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
            stdin.flush()
            replies.append(json.loads(stdout.readline()))
    assert [reply["id"] for reply in replies] == [2, 3]
    assert not replies[1]["result"]["isError"]


def test_stdout_holds_the_protocol_alone_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    document = tmp_path / "broken.md"
    document.write_bytes(b"# Broken \xff text\n\nWords.\n")
    with start_server(document) as (process, stdin, stdout, stderr):
        stdin.write(b"no json\n[]\n" + ODD + WRONG_PARAMS + INITIALIZE + UNKNOWN)
        stdin.flush()
        replies = [json.loads(stdout.readline()) for _ in range(6)]
        codes = {reply["id"] or -number: reply.get("error", {}).get("code") for number, reply in enumerate(replies)}
        assert codes == {0: -32700, -1: -32600, -2: -32700, 3: -32602, 1: None, "2": -32601}
        assert b"broken.md" in stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_SECONDS) == -signal.SIGINT
        assert (stdout.read(), stderr.read()) == (b"", b"")


def test_an_id_that_is_neither_text_nor_a_whole_number_is_refused() -> None:
    with start_server(HANDBOOK) as (_, stdin, stdout, _):
        for wrong in (b"NaN", b"true", b"[1]", b"2.5"):
            stdin.write(b'{"id": ' + wrong + b', "method": "ping"}\n')
            stdin.flush()
            reply = json.loads(stdout.readline())
            assert (reply["id"], reply["error"]["code"]) == (None, -32600)


@pytest.mark.parametrize("sent", [INITIALIZE, b""])
def test_a_source_that_cannot_be_opened_ends_it_with_a_sentence(tmp_path: Path, sent: bytes) -> None:
    with start_server(tmp_path / "no.md") as (process, stdin, stdout, stderr):
        stdin.write(sent)
        stdin.flush()
        if not sent:
            stdin.close()
        assert process.wait(WAIT_SECONDS) == 1
        assert not sent or json.loads(stdout.readline())["id"] == 1
        assert stderr.read().decode().count("\n") == 1


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


async def test_one_call_delivers_no_more_than_clients_take() -> None:
    library = make_book(2_500)
    client = McpSession(lambda: OpenedSource(library, None))
    ids = [id_of(library, f"Chapter {number}") for number in range(1, CHAPTERS + 1)]
    reply = await client.call("expand_sections", {"section_ids": [f"{section_id}:1" for section_id in ids]})
    assert estimate_tokens(reply) <= CALL_TOKENS_MAX + 1_000
    assert f"[{ids[-1]}] Book > Chapter {CHAPTERS}: no room for its ~" in reply
    assert "no room" not in (await client.call("expand_sections", {"section_ids": f"{ids[-1]}:1"}))
