"""OpenDocument texts as Markdown: a file that LibreOffice wrote, and hostile ones."""

from __future__ import annotations

import pytest

from roamtui.errors import SourceError
from roamtui.sources.convert.conversion import convert
from roamtui.sources.convert.odt import convert_odt
from tests.sources.convert.outlines import read_outline
from tests.sources.convert.sample_books import pack
from tests.sources.convert.sample_files import BOMB, read_sample, replace_part

_HANDBOOK = read_sample("handbook.odt")
_FORMULAS = read_sample("formulas.odt")
_PARAGRAPH = "It needs paint."


def test_a_file_of_libreoffice_keeps_its_outline_and_text() -> None:
    converted = convert_odt(_HANDBOOK, "handbook.odt")
    assert converted.title == "The boat handbook"
    assert read_outline(converted.text) == [
        (1, "Boat handbook"),
        (2, "Hulls & keels"),
        (3, "Costs"),
        (2, "Commands"),
    ]
    assert "A **steel** hull[^1] lasts *longer*; see [the yard](https://example.com/steel).\\\n" in converted.text
    assert "[^1]: Since 1843.\n\n### Costs" in converted.text
    assert "\\# not a heading \\<b>" in converted.text
    assert "- Check the seams.\n  - Every spring.\n- Paint the keel." in converted.text
    assert "| Part | Price |  |\n| --- | --- | --- |\n| Keel | 1,200 | EUR |" in converted.text
    assert "```\npump  --start\npump --stop\n```" in converted.text
    assert "> Dry boats last." in converted.text
    assert "In a box: close the valve." in converted.text
    assert "Deleted words" not in converted.text
    assert "Hulls 1" not in converted.text


def test_what_is_left_out_is_said_in_the_note() -> None:
    converted = convert(_HANDBOOK, "handbook.odt")
    assert converted is not None
    assert converted.notes == (
        "handbook.odt: converted from ODT without 1 picture, 1 comment; line numbers refer to the converted text.",
    )


def test_a_formula_of_libreoffice_is_code() -> None:
    converted = convert_odt(_FORMULAS, "formulas.odt")
    assert converted.text == "# Speed\n\nHull speed is `v = 2.43 sqrt { L over 1 } < 9` knots.\n"
    assert converted.lost == ""


@pytest.mark.parametrize("start", ['<!DOCTYPE math:math PUBLIC "-//OpenOffice.org//DTD" "math.dtd"><math', "<<math"])
def test_a_formula_that_cannot_be_read_does_not_keep_the_text_from_being_read(start: str) -> None:
    data = replace_part(_FORMULAS, "Object 1/content.xml", "<math", start)
    converted = convert_odt(data, "formulas.odt")
    assert converted.text == "# Speed\n\nHull speed is knots.\n"
    assert converted.lost == "1 embedded object"


def test_each_box_is_read_once_wherever_it_is() -> None:
    start, end = "<draw:custom-shape><text:p>", "</text:p></draw:custom-shape>"
    shapes = "".join(f"{start}shape{number}," for number in range(30)) + end * 30
    boxes = "<draw:text-box><text:p>outer<draw:frame><draw:text-box><text:p>inner</text:p></draw:text-box></draw:frame>"
    heading = '<text:h text:outline-level="1">Head<draw:frame><draw:text-box><text:p>side</text:p></draw:text-box>'
    added = f"<text:p>{shapes}</text:p><text:p><draw:frame>{boxes}</text:p></draw:text-box></draw:frame></text:p>"
    added += f"{heading}</draw:frame></text:h></office:text>"
    text = convert_odt(replace_part(_HANDBOOK, "content.xml", "</office:text>", added), "a.odt").text
    words = [*(f"shape{number}," for number in range(30)), "outer", "inner", "# Head\n", "side"]
    assert [text.count(word) for word in words] == [1] * len(words)


def test_macros_are_never_run() -> None:
    data = replace_part(_HANDBOOK, "Basic/Standard/Module1.xml", "", "<module>Sub Main</module>")
    converted = convert_odt(data, "a.odt")
    assert converted.lost == "1 picture, 1 comment, macros, which are never run"
    assert "Sub Main" not in converted.text


def test_a_section_that_includes_the_file_itself_is_not_followed() -> None:
    section = (
        '<text:section text:name="S"><text:section-source xlink:href="a.odt"/><text:p>Here.</text:p></text:section>'
    )
    data = replace_part(_HANDBOOK, "content.xml", "</office:text>", f"{section}</office:text>")
    assert convert_odt(data, "a.odt").text.endswith("Here.\n")


_LOL = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pack({"mimetype": "application/vnd.oasis.opendocument.text"}), "not an OpenDocument text"),
        (pack({"content.xml": "<x><y>"}), "is damaged"),
        (pack({"content.xml": f"{_LOL}<x>&a;</x>"}), "declares XML entities"),
        (replace_part(_HANDBOOK, "META-INF/manifest.xml", "</manifest:manifest>", "<encryption-data/>"), "password"),
        (BOMB, "too large when unpacked"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "password-protected"),
        (pack({"content.xml": "<a>" * 100_000}), "is damaged"),
        (pack({"content.xml": '<b xmlns="o"><body><text/></body></b>'}), "contains no text"),
    ],
    ids=["empty", "no XML", "entities", "encrypted", "bomb", "no zip", "deep", "no text"],
)
def test_an_unreadable_file_is_refused_in_one_sentence(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        convert(data, "a.odt")
