from concurrent.futures import ThreadPoolExecutor
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


def test_apps_that_save_at_once_lose_no_position(tmp_path: Path) -> None:
    path, position = tmp_path / "places.json", ReadingPosition("0a", 1, "")

    def save(app: int) -> None:
        for number in range(20):
            ReadingPositions(path).save(f"{app}-{number}.md", position)

    with ThreadPoolExecutor(4) as apps:
        list(apps.map(save, range(4)))
    assert all(ReadingPositions(path).load(f"{app}-{number}.md") for app in range(4) for number in range(20))
