"""Pages are drawn in a subprocess: exactly the wanted part, within limits, or there is one sentence."""

import pytest

from roamtui.convert import subprocess_job
from roamtui.convert.conversion import draw
from roamtui.convert.drawing import Drawing, DrawingRequest
from roamtui.errors import SourceError
from tests.convert.sample_pdf import lay_out, make_pdf

_PDF = make_pdf([lay_out("# Boats"), lay_out("# Hulls", "", "A hull is made", "of oak and tar.", "It is black.")])


def _draw(data: bytes, **request: object) -> Drawing:
    return draw(DrawingRequest(**{"width": 2, "height": 4, "page": 0, **request}), data, "a.pdf")  # type: ignore[arg-type]


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DrawingRequest, "seconds_max", 0.2)
    monkeypatch.setattr(subprocess_job, "_COMMAND", ("-c", "import signal; signal.pause()"))
    with pytest.raises(SourceError, match=r"^a\.pdf takes more than 0\.2 seconds to draw"):
        _draw(b"")


def test_a_page_is_drawn_with_its_quote_marked() -> None:
    size = {"width": 306, "height": 396, "page": 1}
    plain, marked = _draw(_PDF, **size), _draw(_PDF, **size, quote="**made of oak** and tar")
    assert (len(plain.data), plain.marks) == (306 * 396 * 3, ())
    first, second = marked.marks
    assert first[1] < second[1] < 0.2, "two lines near the top of the page"
    assert first[0] > second[0], "the quote starts within its first line"
    yellow = {index // 3 for index in range(2, len(plain.data), 3) if plain.data[index] != marked.data[index]}
    assert yellow
    assert all(0.05 < index // 306 / 396 < 0.2 for index in yellow)
    near = _draw(_PDF, page=1, width=100, height=50, zoom=40, quote="oak").viewport
    assert near.box[1] < second[1] < near.box[3], "the view starts at the quote"


def test_a_page_that_is_missing_or_damaged_is_one_sentence() -> None:
    for data, message in ((_PDF, r"a\.pdf has no page 8\."), (b"%PDF-1.4 broken", "a damaged PDF")):
        with pytest.raises(SourceError, match=message):
            _draw(data, page=7)
