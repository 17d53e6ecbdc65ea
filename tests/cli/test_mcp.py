"""`roamtui mcp`: errors before a client is served."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import RunCommand


def test_without_the_extra_one_sentence_says_how_to_get_it(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "roamtui.headless.mcp", raising=False)
    result = run("mcp", garden)
    assert (result.code, result.out) == (1, "")
    assert result.err == "roamtui: `roamtui mcp` needs an extra. Install it with: pip install 'roamtui[mcp]'\n"
