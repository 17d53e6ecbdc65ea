"""A stamp changes with the file, and costs no reading of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roamtui.sources.stamp import stamp_source


def test_a_file_that_nobody_wrote_has_the_same_stamp(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# A\n", "utf-8")
    before = stamp_source(str(file))
    assert before is not None
    assert file.read_text("utf-8") == "# A\n"
    assert stamp_source(str(file)) == before


def test_writing_replacing_and_growing_change_it(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# A\n", "utf-8")
    stamps = [stamp_source(str(file))]
    os.utime(file, ns=(1, 1))
    stamps.append(stamp_source(str(file)))
    file.write_text("# A longer\n", "utf-8")
    os.utime(file, ns=(1, 1))
    stamps.append(stamp_source(str(file)))
    other = tmp_path / "b.md"
    other.write_text("# Replaces\n", "utf-8")
    os.utime(other, ns=(1, 1))
    other.replace(file)
    stamps.append(stamp_source(str(file)))
    assert None not in stamps
    assert len(set(stamps)) == 4


@pytest.mark.parametrize("source", ["-", "https://example.org/a.md", "no/such/file.md", "nul\0.md", ""])
def test_what_is_no_file_has_none(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert stamp_source(source) is None


def test_a_folder_has_none(tmp_path: Path) -> None:
    assert stamp_source(str(tmp_path)) is None
