"""`roamtui mcp`: errors before a client is served."""

from __future__ import annotations

import importlib.util
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
