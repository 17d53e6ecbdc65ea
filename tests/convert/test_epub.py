"""EPUB books as Markdown: chapters in reading order, with titles and levels from the navigation."""

import io
import zipfile

import pytest

from roamtui.convert.epub import convert_epub
from tests.convert.samples import make_epub_parts, pack, read_outline, remove_part, replace_part

_CHAPTERS = {
    "one.xhtml": '<a id="p1"/><h2>Chapter 1<br/>Hulls</h2><p>A hull.</p><h3><a id="wood"/>Wood</h3>'
    "<p>Oak.</p><h4>Oak</h4>",
    "two 2.xhtml": '<p class="title">SAILS &amp; MASTS</p><p>They catch wind.</p><h1>Jib</h1><p>In front.</p>',
    "three.xhtml": '<p>Last words of two.</p><div id="end"><p>It ends.</p></div>',
}
_NAV = (
    '<ol><li><span>Part One</span><ol><li><a href="text/one.xhtml">Hulls</a>'
    '<ol><li><a href="text/one.xhtml#wood">Wood</a>'
    '</li></ol></li><li><a href="text/two%202.xhtml">Sails &amp; <i>masts</i></a></li></ol></li>'
    '<li><a href="text/three.xhtml#end">The end</a></li></ol>'
)
_OUTLINE = [
    *((1, "Part One"), (2, "Chapter 1 Hulls"), (3, "Wood"), (4, "Oak"), (2, "SAILS & MASTS"), (3, "Jib")),
    (1, "The end"),
]


_POINT = '<navPoint><navLabel><text>{}</text></navLabel><content src="text/{}"/>{}</navPoint>'
_HULLS = _POINT.format("Hulls", "one.xhtml", _POINT.format("Wood", "one.xhtml#wood", ""))
_PART = _HULLS + _POINT.format("Sails &amp; masts", "two%202.xhtml", "")
_NCX = _POINT.format("Part One", "one.xhtml", _PART) + _POINT.format("The end", "three.xhtml#end", "")


def _unpack(data: bytes) -> dict[str, str | bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("navigation", [{"nav": _NAV}, {"ncx": _NCX}])
def test_the_navigation_gives_titles_and_levels(navigation: dict[str, str]) -> None:
    converted = convert_epub(pack(make_epub_parts(_CHAPTERS, **navigation)), "a.epub")
    assert converted.title == "The Book of Boats"
    assert read_outline(converted.text) == _OUTLINE
    assert converted.text.index("Last words of two.") < converted.text.index("# The end\n\nIt ends.")


def test_a_point_without_a_heading_gets_one() -> None:
    nav = '<ol><li><a href="text/one.xhtml#x">Hulls</a></li><li><a href="text/one.xhtml">Keels</a></li></ol>'
    page = "<p><img src='a.png' alt='Logo'/></p><h2>Keels</h2><p>a</p><h2>Ribs</h2><h2>Hulls</h2>"
    converted = convert_epub(pack(make_epub_parts({"one.xhtml": page}, nav=nav)), "a.epub")
    assert converted.text == "# Hulls\n\n![Logo](OEBPS/text/a.png)\n\n# Keels\n\na\n\n## Ribs\n\n## Hulls\n"


def test_a_first_line_that_is_the_title_becomes_the_heading() -> None:
    nav = '<ol><li><a href="text/one.xhtml">Hulls</a></li></ol>'
    parts = make_epub_parts({"one.xhtml": "<div><p> </p><p>Hulls</p></div><p>Hulls are deep.</p>"}, nav=nav)
    assert convert_epub(pack(parts), "a.epub").text == "# Hulls\n\nHulls are deep.\n"


def test_a_part_with_two_places_in_the_spine_is_read_once() -> None:
    parts = make_epub_parts({"one.xhtml": "<p>a</p>"})
    opf = str(parts["OEBPS/content.opf"]).replace("</spine>", '<itemref idref="z"/></spine>')
    item = '<item id="z" href="text/one.xhtml" media-type="application/xhtml+xml"/></manifest>'
    parts["OEBPS/content.opf"] = opf.replace("</manifest>", item)
    assert convert_epub(pack(parts), "a.epub").text == "a\n"


def test_an_empty_navigation_gives_way_to_the_ncx() -> None:
    parts = make_epub_parts(_CHAPTERS, nav="<ol/>", ncx=_NCX)
    opf = str(parts["OEBPS/content.opf"])
    parts["OEBPS/content.opf"] = opf.replace("</spine>", '<itemref idref="ncx"/></spine>')
    assert read_outline(convert_epub(pack(parts), "a.epub").text) == _OUTLINE


def test_a_style_sheet_of_the_book_raises_figures_and_names_fonts_of_signs() -> None:
    parts = make_epub_parts({"one.xhtml": '<p>10<span class="s">3</span></p>'})
    item = '<item id="c" href="a.css" media-type="text/css"/></manifest>'
    parts["OEBPS/content.opf"] = str(parts["OEBPS/content.opf"]).replace("</manifest>", item)
    parts["OEBPS/a.css"] = "span.s { vertical-align:super }"
    assert convert_epub(pack(parts), "a.epub").text == "10<sup>3</sup>\n"
    parts["OEBPS/a.css"] = "span.s { font-family: Wingdings }"
    parts["OEBPS/text/one.xhtml"] = str(parts["OEBPS/text/one.xhtml"]).replace("3", "\u00fc")
    assert convert_epub(pack(parts), "a.epub").text == "10✓\n"


def test_chapters_of_any_type_of_xml_are_read_even_if_their_names_differ_in_case() -> None:
    chapters = {"one.xhtml": "<p>A hull.</p>", "Two.xhtml": "<p>A sail.</p>", "three.svg": "An oar."}
    parts = make_epub_parts(chapters)
    opf = parts["OEBPS/content.opf"]
    assert isinstance(opf, str)
    opf = opf.replace("application/xhtml+xml", "text/xml", 1).replace("Two", "TWO")
    parts["OEBPS/content.opf"] = opf.replace('svg" media-type="application/xhtml+xml', 'svg" media-type="image/svg+xml')
    parts["OEBPS/text/three.svg"] = '<svg xmlns="http://www.w3.org/2000/svg"><text>An oar.</text></svg>'
    assert convert_epub(pack(parts), "a.epub").text == "A hull.\n\nA sail.\n\nAn oar.\n"


def test_a_damaged_or_missing_chapter_costs_no_other_and_is_named() -> None:
    chapters = {f"{name}.xhtml": f"<p>{name} {'words ' * 90}</p>" for name in ("one", "two")}
    data = pack(make_epub_parts(chapters))
    damaged = replace_part(data, "OEBPS/text/two.xhtml", "two words", "two  word")
    with zipfile.ZipFile(io.BytesIO(damaged)) as archive:
        sum_of_part = archive.getinfo("OEBPS/text/two.xhtml").CRC.to_bytes(4, "little")
    converted = convert_epub(damaged.replace(sum_of_part, bytes(4)), "a.epub")
    assert converted.text.startswith("one words words")
    cut = convert_epub(remove_part(data, "OEBPS/text/two.xhtml"), "a.epub")
    assert cut.text == converted.text
    note = "not all of it can be read, because a part is damaged: OEBPS/text/two.xhtml."
    assert converted.notes == cut.notes == (note,)


@pytest.mark.parametrize("stored", ["f\u00fcnf", "fu\u0308nf"])
def test_a_chapter_is_found_whose_name_does_not_say_that_it_is_utf8(stored: str) -> None:
    data = pack(make_epub_parts({"f\u00fcnf.xhtml": "<p>A hull."}))
    placeholder = "x" * len(stored.encode())
    renamed = pack({name.replace("f\u00fcnf", placeholder): part for name, part in _unpack(data).items()})
    assert convert_epub(renamed.replace(placeholder.encode(), stored.encode()), "a.epub").text == "A hull.\n"


@pytest.mark.parametrize("stored", ["a%20b.xhtml", "A%20b.xhtml", "a b.xhtml"])
def test_a_chapter_is_found_under_the_name_in_its_link_as_written_and_as_meant(stored: str) -> None:
    nav = '<ol><li><a href="text/a%20b.xhtml#x">Hulls</a></li></ol>'
    parts = make_epub_parts({"a b.xhtml": "<p id='x'>A hull.</p>"}, nav=nav)
    parts[f"OEBPS/text/{stored}"] = parts.pop("OEBPS/text/a b.xhtml")
    assert convert_epub(pack(parts), "a.epub").text == "# Hulls\n\nA hull.\n"


def test_the_mark_of_a_note_never_joins_a_number() -> None:
    page = '<p>In 2024<a epub:type="noteref" href="#n">1<b>2</b></a>, 50<sup>3</sup> ships.</p>'
    text = convert_epub(pack(make_epub_parts({"one.xhtml": page})), "a.epub").text
    assert text == "In 2024[<sup>1**2**</sup>](#n), 50<sup>3</sup> ships.\n"


def test_a_link_inside_a_book_leads_to_the_heading_of_its_target() -> None:
    chapters = {
        "one.xhtml": '<h1>One</h1><p><a href="two.xhtml">a</a> <a href="two.xhtml#n">b</a> <a href="#n">c</a></p>'
        '<h2 id="n">Oars</h2><p><a href="two.xhtml#p">d</a> <a href="none.xhtml#n">e</a></p>',
        "two.xhtml": '<h1>Two</h1><h2 id="n">Sails</h2><p id="p">Wide.</p>',
    }
    text = convert_epub(pack(make_epub_parts(chapters)), "a.epub").text
    assert "[a](#two) [b](#n) [c](#one-n)\n\n## Oars {#one-n}\n\n[d](#n) [e](none.xhtml#n)" in text
    assert text.endswith("# Two\n\n## Sails {#n}\n\nWide.\n")
