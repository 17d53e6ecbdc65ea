from pathlib import Path

import pytest

from roamtui.conversation.reading_positions import ReadingPosition, ReadingPositions


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b'{"a.md": ["0a"], "b.md": 3, "c.md": ["0a", 1, 2]}'])
def test_a_damaged_file_of_positions_holds_none_and_is_written_anew(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "places.json"
    path.write_bytes(data)
    positions = ReadingPositions(path)
    assert [positions.load(name) for name in ("a.md", "b.md", "c.md")] == [None] * 3
    positions.save("a.md", ReadingPosition("0a", 7, "0b"))
    assert positions.load("a.md") == ReadingPosition("0a", 7, "0b")


@pytest.mark.parametrize("data", [b"[]", b'["old.md"]', b'"old.md"', b"\xff", b'{"a.md": ["0a", 1, ""]}'])
def test_renaming_a_document_without_a_position_leaves_the_file_as_it_is(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "places.json"
    path.write_bytes(data)
    ReadingPositions(path).rename("old.md", "new.md")
    assert path.read_bytes() == data


def test_a_renamed_document_keeps_its_position(tmp_path: Path) -> None:
    positions = ReadingPositions(tmp_path / "data" / "places.json")
    for name, offset in (("old.md", 1), ("new.md", 2), ("a.md", 3)):
        positions.save(name, ReadingPosition("0a", offset, ""))
    positions.rename("old.md", "new.md")
    found = [positions.load(name) for name in ("old.md", "new.md", "a.md")]
    assert found == [None, ReadingPosition("0a", 1, ""), ReadingPosition("0a", 3, "")]
