"""What is written to a screen."""

import os
from pathlib import Path

import pytest

from roamtui.errors import RoamtuiError
from roamtui.output import check_output_path


def test_only_a_file_needs_a_folder_that_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, _mode: path == Path(os.devnull))  # root may write anywhere
    check_output_path(Path(os.devnull), [""])
    for name in ("old.md", "new.md"):
        (tmp_path / "old.md").touch()
        with pytest.raises(RoamtuiError, match="Permission denied"):
            check_output_path(tmp_path / name, [Path(name).suffix])
