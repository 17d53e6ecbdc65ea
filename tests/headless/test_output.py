"""What is written in pieces is what would be written at once."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from roamtui.headless.output import write_json, write_json_with_rows

_HEAD = {"source": "a \ud800.md", "title": "\u2028 ]}"}


@pytest.mark.parametrize("count", [0, 1, 2, 999, 1_000, 1_001, 2_000])
def test_json_with_rows_is_the_json_of_the_whole(capfdbinary: pytest.CaptureFixture[bytes], count: int) -> None:
    rows = [{"id": f"{row:x}", "path": ["a\n  b", "\udfff"], "parent": None, "below": []} for row in range(count)]
    write_json({**_HEAD, "sections": rows})
    whole = capfdbinary.readouterr().out
    write_json_with_rows(_HEAD, "sections", iter(rows))
    assert capfdbinary.readouterr().out == whole
    assert len(json.loads(whole)["sections"]) == count


def test_rows_are_written_before_the_last_is_made(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    def make_rows() -> Iterator[int]:
        yield from range(5_000)
        raise KeyError

    with pytest.raises(KeyError):
        write_json_with_rows(_HEAD, "sections", make_rows())
    assert b"    3000," in capfdbinary.readouterr().out
