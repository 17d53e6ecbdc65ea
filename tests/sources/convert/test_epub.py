"""EPUB books as Markdown: chapters in reading order, with titles and levels from the navigation."""

from __future__ import annotations

import pytest

from roamtui.sources.convert.epub import convert_epub
from tests.sources.convert.outlines import read_outline
from tests.sources.convert.sample_books import make_epub_parts, pack

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
    *((1, "Part One"), (2, "Chapter 1 Hulls"), (3, "Wood"), (4, "Oak"), (2, "Sails & masts"), (3, "Jib")),
    (1, "The end"),
]


def _point(title: str, address: str, *inner: str) -> str:
    label = f"<navLabel><text>{title}</text></navLabel>"
    return f'<navPoint>{label}<content src="{address}"/>{"".join(inner)}</navPoint>'


_NCX = _point(
    "Part One",
    "text/one.xhtml",
    _point("Hulls", "text/one.xhtml", _point("Wood", "text/one.xhtml#wood")),
    _point("Sails &amp; masts", "text/two%202.xhtml"),
) + _point("The end", "text/three.xhtml#end")


@pytest.mark.parametrize("navigation", [{"nav": _NAV}, {"ncx": _NCX}])
def test_the_navigation_gives_titles_and_levels(navigation: dict[str, str]) -> None:
    converted = convert_epub(pack(make_epub_parts(_CHAPTERS, **navigation)), "a.epub")
    assert converted.title == "The Book of Boats"
    assert read_outline(converted.text) == _OUTLINE
    assert converted.text.index("Last words of two.") < converted.text.index("# The end\n\nIt ends.")


@pytest.mark.parametrize(
    ("body", "nav", "expected"),
    [
        (
            "<p>a</p>",
            '<li><a href="text/one.xhtml#x">Hulls</a></li><li><a href="text/one.xhtml">Keels</a></li>',
            "# Hulls\n\n# Keels\n\na\n",
        ),
        (
            "<p><img src='a.png' alt='Logo'/></p><h2>Code</h2><p>a</p>",
            '<li><a href="text/one.xhtml">Code</a></li>',
            "![Logo](OEBPS/text/a.png)\n\n# Code\n\na\n",
        ),
    ],
    ids=["missing targets", "a heading below a picture"],
)
def test_odd_chapters_and_entries_have_headings(body: str, nav: str, expected: str) -> None:
    parts = make_epub_parts({"one.xhtml": body}, nav=f"<ol>{nav}</ol>")
    assert convert_epub(pack(parts), "a.epub").text == expected


def test_names_that_lead_out_of_the_book_read_nothing_outside() -> None:
    nav = '<ol><li><a href="../../../../../etc/passwd">X</a></li></ol>'
    converted = convert_epub(
        pack(make_epub_parts({"one.xhtml": "<p>a</p>", "../../../../../etc/passwd": "<p>b</p>"}, nav=nav)), "a.epub"
    )
    assert converted.text == "a\n"
