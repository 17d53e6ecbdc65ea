"""Starts `roamtui mcp` and connects the SDK's own client to it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
from mcp import Client, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client

from tests.real_documents import PROJECT_DIR

TOKEN = "a-token-for-tests-alone"  # noqa: S105 - opens nothing but a test's own server
WAIT_SECONDS = 120
_PROGRAM = ("-m", "roamtui", "mcp")


@asynccontextmanager
async def connect_stdio(*arguments: str | Path, mode: str = "auto") -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable, args=[*_PROGRAM, *map(str, arguments)], cwd=PROJECT_DIR, env=dict(os.environ)
    )
    async with Client(parameters, mode=mode, read_timeout_seconds=WAIT_SECONDS) as client:
        yield client


def find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ServedHttp:
    """The program while it serves HTTP."""

    def __init__(self, process: subprocess.Popen[str], port: int, greeting: str) -> None:
        self.process = process
        self.port = port
        self.greeting = greeting

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @asynccontextmanager
    async def connect(self, mode: str = "auto", token: str = TOKEN) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=mode, read_timeout_seconds=WAIT_SECONDS) as client:
                yield client


@contextmanager
def serve_http(*arguments: str | Path, token: str = TOKEN, **variables: str) -> Iterator[ServedHttp]:
    port = find_port()
    command = [sys.executable, *_PROGRAM, *map(str, arguments), "--http", "--port", str(port)]
    environ = {**os.environ, "ROAMTUI_MCP_TOKEN": token, **variables}
    with subprocess.Popen(command, cwd=PROJECT_DIR, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield ServedHttp(process, port, process.stderr.readline())
        finally:
            process.kill()


async def call(client: Client, name: str, **arguments: object) -> str:
    result = await client.call_tool(name, arguments)
    return read_text(result)


def read_text(result: types.CallToolResult) -> str:
    assert all(isinstance(content, types.TextContent) for content in result.content)
    return "\n".join(content.text for content in result.content if isinstance(content, types.TextContent))


def list_ids(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\[([0-9a-f]{8})\]", text)))
