"""What is written to a screen."""

import os
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from roamtui.errors import RoamtuiError
from roamtui.output import check_output_path, draw_similar_characters

_WRITTEN = "╭─╮│ ▸ ▾ ↑ ❯ “ü” — … 書\N{COMBINING ACUTE ACCENT}ж ✓"


@pytest.mark.parametrize(
    ("encoding", "drawn"),
    [("ascii", '+-+| > v ^ > "u" - . ??? *'), ("latin-1", '+-+| > v ^ > "ü" - . ??? *'), ("utf-8", _WRITTEN)],
)
def test_a_screen_that_lacks_a_character_gets_a_similar_one(encoding: str, drawn: str) -> None:
    written = BytesIO()
    screen = TextIOWrapper(written, encoding=encoding)
    draw_similar_characters(screen)
    screen.write(_WRITTEN)
    screen.flush()
    assert written.getvalue().decode(encoding) == drawn


def test_only_a_file_needs_a_folder_that_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, _mode: path == Path(os.devnull))  # root may write anywhere
    check_output_path(Path(os.devnull))
    for name in ("old.md", "new.md"):
        (tmp_path / "old.md").touch()
        with pytest.raises(RoamtuiError, match="Permission denied"):
            check_output_path(tmp_path / name)
