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
