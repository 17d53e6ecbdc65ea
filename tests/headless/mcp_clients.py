"""Starts `roamtui mcp` and connects the SDK's own client to it."""

import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client, StdioServerParameters, types

from tests.real_documents import PROJECT_DIR

WAIT_SECONDS = 120
_PROGRAM = ("-m", "roamtui", "mcp")


@asynccontextmanager
async def connect_stdio(*arguments: str | Path, mode: str = "auto") -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable, args=[*_PROGRAM, *map(str, arguments)], cwd=PROJECT_DIR, env=dict(os.environ)
    )
    async with Client(parameters, mode=mode, read_timeout_seconds=WAIT_SECONDS) as client:
        yield client


async def call(client: Client, name: str, **arguments: object) -> str:
    result = await client.call_tool(name, arguments)
    return read_text(result)


def read_text(result: types.CallToolResult) -> str:
    assert all(isinstance(content, types.TextContent) for content in result.content)
    return "\n".join(content.text for content in result.content if isinstance(content, types.TextContent))


def list_ids(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\[([0-9a-f]{8})\]", text)))
