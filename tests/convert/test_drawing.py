"""Pictures and pages are drawn in a subprocess: exactly the wanted part, within limits, or there is one sentence."""

import pytest

from roamtui.convert import subprocess_job
from roamtui.convert.conversion import draw
from roamtui.convert.drawing import Drawing, DrawingRequest
from roamtui.errors import SourceError
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.sources.sample_pictures import make_bomb, make_png

_RED, _BLUE = (255, 0, 0), (0, 0, 255)
_PDF = make_pdf([lay_out("# Boats"), lay_out("# Hulls", "", "A hull is made", "of oak and tar.", "It is black.")])


def _draw(data: bytes, name: str = "a.png", **request: object) -> Drawing:
    return draw(DrawingRequest(**{"width": 2, "height": 4, **request}), data, name)  # type: ignore[arg-type]


def _rows(drawing: Drawing, width: int) -> list[tuple[int, ...]]:
    return [tuple(drawing.data[start : start + 3]) for start in range(0, len(drawing.data), width * 3)]


def test_a_picture_is_scaled_and_cut() -> None:
    data = make_png(8, 8, _RED, _BLUE)
    drawing = _draw(data, width=8, height=8)
    red, *_, blue = _rows(drawing, 8)
    assert (red, blue) == (_RED, _BLUE)
    part = _draw(data, width=4, height=4, zoom=4, centre=(0.5, 0.99))
    assert part.viewport.box == (0.375, 0.75, 0.625, 1.0)
    assert all(blue > 250 for _, _, blue in _rows(part, 4))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (make_bomb(13_000), r"^a\.png is too large to show: 169 million pixels\. Open it in a viewer\.$"),
        (make_png(300, 300)[:150], r"^Could not draw a\.png: it is damaged"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", r"^Could not draw a\.png: it is damaged"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(data: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        _draw(data)


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess_job, "_DRAWING_SECONDS_MAX", 0.2)
    monkeypatch.setattr(subprocess_job, "_COMMAND", ("-c", "import signal; signal.pause()"))
    with pytest.raises(SourceError, match=r"^a\.png takes more than 0\.2 seconds to draw"):
        _draw(b"")


def test_without_pillow_one_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys; sys.modules['PIL'] = None; from roamtui.convert import child; child.main(sys.argv[1:])"
    monkeypatch.setattr(subprocess_job, "_COMMAND", ("-P", "-c", program))
    with pytest.raises(SourceError, match=r'^To open a\.png, install its reader: `pip install "roamtui\[images\]"`\.$'):
        _draw(make_png(8, 8))


def test_a_page_is_drawn_with_its_quote_marked() -> None:
    size = {"width": 306, "height": 396, "page": 1}
    plain, marked = _draw(_PDF, "a.pdf", **size), _draw(_PDF, "a.pdf", **size, quote="**made of oak** and tar")
    assert (len(plain.data), plain.marks) == (306 * 396 * 3, ())
    first, second = marked.marks
    assert first[1] < second[1] < 0.2, "two lines near the top of the page"
    assert first[0] > second[0], "the quote starts within its first line"
    yellow = {index // 3 for index in range(2, len(plain.data), 3) if plain.data[index] != marked.data[index]}
    assert yellow
    assert all(0.05 < index // 306 / 396 < 0.2 for index in yellow)
    near = _draw(_PDF, "a.pdf", page=1, width=100, height=50, zoom=40, quote="oak").viewport
    assert near.box[1] < second[1] < near.box[3], "the view starts at the quote"


def test_a_page_that_is_missing_or_damaged_is_one_sentence() -> None:
    for data, message in ((_PDF, r"a\.pdf has no page 8\."), (b"%PDF-1.4 broken", "a damaged PDF")):
        with pytest.raises(SourceError, match=message):
            _draw(data, "a.pdf", page=7)
