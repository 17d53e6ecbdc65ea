"""PowerPoint presentations as Markdown: one that python-pptx wrote, and hostile ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.document.source_loader import build_library
from roamtui.errors import SourceError
from roamtui.sources.convert.conversion import convert
from roamtui.sources.convert.pptx import convert_pptx
from roamtui.sources.read import read_file
from tests.sources.convert.outlines import read_outline
from tests.sources.convert.sample_books import pack
from tests.sources.convert.sample_files import FILES, read_sample, replace_part

_TALK = read_sample("talk.pptx")
_SLIDES = "ppt/slides/slide{}.xml"


def test_each_slide_is_a_section_with_its_text_in_reading_order_tables_and_notes() -> None:
    converted = convert_pptx(_TALK, "talk.pptx")
    assert converted.title == "Boat talk"
    assert read_outline(converted.text) == [
        (1, "Boats"),
        (1, "Why *steel*?"),
        (1, "Slide 3: at the top"),
        (1, "Costs (hidden)"),
    ]
    assert "A talk of one hour\n\n**Notes:**\n\nGreet everyone.\n\nThen begin.\n" in converted.text
    assert "- It lasts\n  - Since 1843\n- It can be mended\n" in converted.text
    assert "at the top\n\nleft column\n\nright column\n\nfoot # mark\n" in converted.text
    assert "| Part | 2024 |  |\n| --- | --- | --- |\n| Keel | 1,200 | EUR |\n" in converted.text
    assert "[the yard](https://example.com/steel)" in converted.text
    assert "![A keel]()" in converted.text
    assert converted.lost == "1 picture, 1 chart"


def test_a_citation_names_the_slide() -> None:
    library = build_library(read_file(Path(FILES / "talk.pptx")))
    assert [library.node(section_id).page for section_id in library.walk()] == [1, 2, 3, 4]


def test_sections_of_slides_are_above_them() -> None:
    sections = '<p14:sectionLst xmlns:p14="x"><p14:section name="Start"><p14:sldIdLst><p14:sldId id="256"/><p14:sldId '
    sections += 'id="257"/></p14:sldIdLst></p14:section><p14:section name="End"><p14:sldIdLst><p14:sldId id="258"/>'
    sections += "</p14:sldIdLst></p14:section></p14:sectionLst></p:presentation>"
    data = replace_part(_TALK, "ppt/presentation.xml", "</p:presentation>", sections)
    outline = [(1, "Start"), (2, "Boats"), (2, "Why *steel*?"), (1, "End"), (2, "Slide 3: at the top")]
    assert read_outline(convert_pptx(data, "a.pptx").text)[:5] == outline


def test_shapes_in_groups_and_with_broken_positions_are_read() -> None:
    shape = "<p:sp><p:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody></p:sp>"
    group = shape.format("deep")
    for _ in range(40):
        group = f"<p:grpSp><p:grpSpPr><a:xfrm><a:off x='9' y='1e9'/></a:xfrm></p:grpSpPr>{group}</p:grpSp>"
    data = replace_part(_TALK, _SLIDES.format(1), "</p:spTree>", f"{group}{shape.format('last')}</p:spTree>")
    text = convert_pptx(data, "a.pptx").text
    assert "deep" in text
    assert "last" in text


def test_macros_are_never_run() -> None:
    data = replace_part(_TALK, "ppt/vbaProject.bin", "", "Sub Auto_Open()")
    assert convert_pptx(data, "a.pptm").lost == "1 picture, 1 chart, macros, which are never run"


_LOL = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pack({"x": "y"}), "not a PowerPoint presentation"),
        (pack({"ppt/presentation.xml": "<x/>"}), "contains no text"),
        (replace_part(_TALK, _SLIDES.format(2), "<p:sld ", f"{_LOL}<p:sld "), "declares XML entities"),
        (replace_part(_TALK, _SLIDES.format(2), "</p:sld>", ""), "is damaged"),
        (pack({"ppt/presentation.xml": " " * 40_000_000}), "too large when unpacked"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "password-protected"),
        (replace_part(_TALK, _SLIDES.format(2), "</p:spTree>", "<p:grpSp>" * 5_000), "is damaged"),
    ],
    ids=["no slides", "empty", "entities", "no XML", "bomb", "no zip", "deep"],
)
def test_an_unreadable_file_is_refused_in_one_sentence(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        convert(data, "a.pptx")
