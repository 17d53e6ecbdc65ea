"""`roamtui mcp` over stdin and stdout, asked by the SDK's own client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from roamtui.agent.tools.expand import ExpandTool
from roamtui.agent.tools.search import SearchTool
from tests.headless.mcp.clients import WAIT_SECONDS, call, connect_stdio, list_ids, read_text
from tests.real_documents import PROJECT_DIR

HANDBOOK = PROJECT_DIR / "examples" / "handbook.md"
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
FILES = 210


@ERAS
async def test_a_client_roams_as_the_agent_does(mode: str) -> None:
    async with connect_stdio(HANDBOOK, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools)[:2] == ["list_documents", "outline"]
        for known in (ExpandTool.spec, SearchTool().spec):
            assert tools[known.name].description == known.description
            assert tools[known.name].input_schema.keys() == known.parameters.keys()
        assert tools["expand_sections"].input_schema == ExpandTool.spec.parameters
        assert not [name for name, tool in tools.items() if "question" in tool.model_dump_json()]
        assert "one document" in await call(client, "list_documents")
        outline = await call(client, "outline", budget=800)
        assert "Fees and deposits" in outline
        found = list_ids(await call(client, "search_sections", query="grace period", limit=2))
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that is too large to be read at the start."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(FILES):
        text = f"# Note {number}\n\nWords of note {number}.\n\n## Detail\n\n{'More words. ' * 500}\n"
        (folder / f"note-{number:03}.md").write_text(text, "utf-8")
    return folder


async def test_a_client_hears_how_far_reading_is(folder: Path) -> None:
    heard: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert message is None
        heard.append((progress, total))

    async with connect_stdio(folder) as client:
        result = await client.call_tool("list_documents", {"limit": 2, "offset": 5}, progress_callback=hear)
    assert read_text(result).startswith(f"Documents 6 to 7 of {FILES}:\n[")
    assert "note-005.md" in read_text(result)
    assert "Words of note 5." in read_text(result)
    assert f"({FILES - 7} more: call list_documents with offset 7.)" in read_text(result)
    assert [heard[0], heard[-1]] == [(0, FILES), (FILES, FILES)]
    assert heard == sorted(heard)


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


def test_it_ends_in_silence_when_nobody_reads_its_answers() -> None:
    with start_server(HANDBOOK) as (process, stdin, stdout, stderr):
        stdout.close()
        stdin.write(INITIALIZE)
        stdin.close()
        assert process.wait(WAIT_SECONDS) == 0
        assert stderr.read() == b""
