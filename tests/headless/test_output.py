"""What is written in pieces is what would be written at once."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator

import pytest
from typing_extensions import override

from roamtui.headless.output import report_conversion, write_json, write_json_with_rows

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


def test_a_conversion_tells_how_far_it_is_on_one_line_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        @override
        def isatty(self) -> bool:
            return True

    for stream, written in ((Terminal(), "\rConverting a b…\rConverting a b… 7 of 1,200\n"), (io.StringIO(), "")):
        monkeypatch.setattr(sys, "stderr", stream)
        with report_conversion("folder/a\nb") as report:
            report(0, 0)
            report(7, 1_200)
            report(7, 1_200)
        assert stream.getvalue() == written
