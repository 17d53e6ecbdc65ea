"""`roamtui mcp`: errors before a client is served."""

from __future__ import annotations

import importlib.util
import socket
from pathlib import Path

import pytest

from tests.cli.conftest import RunCommand


def test_without_the_extra_one_sentence_says_how_to_get_it(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    result = run("mcp", garden)
    assert (result.code, result.out) == (1, "")
    assert result.err == "roamtui: `roamtui mcp` needs an extra. Install it with: pip install 'roamtui[mcp]'\n"


def test_a_token_that_is_easily_guessed_is_refused(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    monkeypatch.setenv("ROAMTUI_MCP_TOKEN", "secret")
    result = run("mcp", "--http", garden)
    assert (result.code, result.err) == (
        1,
        "roamtui: ROAMTUI_MCP_TOKEN must have at least 16 printable ASCII characters.\n",
    )


def test_a_port_that_is_taken_is_told(run: RunCommand, garden: Path) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = run("mcp", "--http", "--port", str(taken.getsockname()[1]), garden)
    assert result.code == 1
    assert "Choose another with --port." in result.err
