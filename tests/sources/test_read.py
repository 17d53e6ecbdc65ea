from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from roamtui.errors import SourceError
from roamtui.sources.read import read_source

_PROJECT_LIKE = "# Title\n\nWords.\n"


def _refuse(name: str | Path) -> str:
    """Return the error message for a source."""
    with pytest.raises(SourceError) as refusal:
        read_source(str(name))
    message = str(refusal.value)
    assert message.endswith((".", "?"))
    assert "\n" not in message
    assert refusal.value.exit_code == 1
    return message


def test_a_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("# Größe\n".encode()), encoding="ascii"))
    raw = read_source("-")
    assert (raw.text, raw.source, raw.name) == ("# Größe\n", "-", "standard input")


def test_the_error_for_a_missing_file_suggests_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "handbook.md").write_text(_PROJECT_LIKE)
    message = _refuse(tmp_path / "hanbook.md")
    assert message == f'There is no file {tmp_path / "hanbook.md"}. Did you mean "handbook.md"?'


@pytest.mark.parametrize("name", ["/dev/null", "a\0b.md", "x" * 5_000, ""])
def test_a_name_that_cannot_be_opened_is_refused(name: str) -> None:
    _refuse(name)
