"""Convert an EPUB book to Markdown: its chapters in reading order, with titles and levels from the navigation.

No entity of the XML is expanded, and no other file is read.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import takewhile
from typing import Any, NamedTuple
from urllib.parse import unquote

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.html import write_blocks
from roamtui.sources.convert.html_tree import HEADINGS, read_page
from roamtui.sources.convert.zip_package import ZipPackage, get_attribute, join_text
from roamtui.sources.decode import decode_html

_TEXT_CIPHER = b"xmlenc#aes"
"""Algorithm of encrypted text; obfuscated fonts use another one."""
_PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_NOT_LETTERS = re.compile(r"[\W_]+")
_SIMILAR_LENGTH_MIN = 4
"""Titles with fewer letters and digits are similar only if they are the same."""
_ENDING_SHARE_MIN = 0.3
"""If a title ends with a shorter one, they are similar only if the shorter has at least this share of its length."""
_TITLE_DISTANCE_MAX = 4
"""Maximum number of headings and paragraphs to search for a title, from the place that the navigation leads to."""


class _NavigationPoint(NamedTuple):
    """An entry of the table of contents."""

    level: int
    """From 1."""
    title: str
    fragment: str
    """Id of the element that it leads to; empty for the start of a part."""


def convert_epub(data: bytes, name: str) -> ConvertedText:
    """Convert a book to Markdown."""
    package = ZipPackage(data)
    if _TEXT_CIPHER in package.read("META-INF/encryption.xml"):
        raise SourceError(f"{name} is protected by DRM and cannot be read.")
    container = package.parse("META-INF/container.xml")
    book_part = next((found.get("full-path", "") for found in container.iter("{*}rootfile")), "")
    root = package.parse(book_part)
    items = {item.get("id", ""): item for item in root.iter("{*}item")}
    part_names = {key: _split_href(item.get("href", ""), book_part)[0] for key, item in items.items()}
    nav = [key for key, item in items.items() if "nav" in item.get("properties", "").split()]
    ncx = [key for key, item in items.items() if item.get("media-type", "").endswith("ncx+xml")]
    points = _read_navigation(package, next((part_names[key] for key in (*nav, *ncx)), ""))
    listed = dict.fromkeys(found.get("idref", "") for found in root.iter("{*}itemref"))
    pages = [key for key in listed if key in items and items[key].get("media-type") in _PAGE_TYPES and key not in nav]
    blocks: list[str] = []
    shift = 0
    for part in (part_names[key] for key in pages):
        page, _ = read_page(decode_html(package.read(part))[0], image_base=part)
        shift = _set_headings(page, points.get(part, []), shift)
        blocks += write_blocks(page)
    title = next((join_text(found) for found in root.iter("{*}title")), "")
    return ConvertedText(text="\n\n".join(blocks) + "\n", title=title)


def _read_navigation(package: ZipPackage, part: str) -> dict[str, list[_NavigationPoint]]:
    """Return the navigation points of each part, in order."""
    points: dict[str, list[_NavigationPoint]] = {}
    target = ("", "")
    # From the last to the first, because an entry without a target leads to the target of the next one.
    for level, title, href in reversed([*_read_entries(package.parse(part))]):
        target = _split_href(href, part) if href else target
        if title and target[0]:
            points.setdefault(target[0], []).insert(0, _NavigationPoint(level, title, target[1]))
    return points


def _split_href(href: str, part_name: str) -> tuple[str, str]:
    """Return the name of the part that a link in another part leads to, and the fragment of the link."""
    path, _, fragment = href.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(part_name), unquote(path))) if path else part_name
    return target, unquote(fragment)


def _read_entries(root: Any) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and href from the first table of contents in a `nav` (EPUB 3), or from an NCX (EPUB 2)."""
    contents = [nav for nav in root.iter("{*}nav") if get_attribute(nav, "type") in ("", "toc")][:1]
    for item in [*(item for nav in contents for item in nav.iter("{*}li")), *root.iter("{*}navPoint")]:
        for entry in [*item.iterchildren("{*}a", "{*}span", "{*}navLabel")][:1]:
            target = next(item.iterchildren("{*}content"), entry)
            title = join_text(entry) or " ".join(image.get("alt", "") for image in entry.iter("{*}img"))
            level = 1 + sum(1 for _ in item.iterancestors(item.tag))
            yield level, title, target.get("href") or target.get("src") or ""


def _set_headings(page: Any, points: list[_NavigationPoint], shift: int) -> int:
    """Give a page's headings the levels of the navigation, and insert a heading for each point without one.

    `shift` is added to the level of each heading that no point leads to. Return the shift for the next page.
    """
    order = {element: number for number, element in enumerate(page.iter())}
    elements = {element.get("id"): element for element in order if element.get("id")}
    titles = [element for element in order if element.tag in (*HEADINGS, "p")]
    place = page.find("body")
    place = page if place is None else place
    own: dict[Any, tuple[int, int]] = {}
    """By heading: the level to set, and that of the page."""
    for point in points:
        place = elements.get(point.fragment, place)
        place = next(place.iterancestors(*HEADINGS), place)
        start = bisect_left(titles, order[place], key=order.__getitem__)
        near = (title for title in titles[start : start + _TITLE_DISTANCE_MAX] if title not in own)
        heading = next((title for title in near if _has_title(title, point.title)), None)
        if heading is None:
            heading = page.makeelement("p")
            order[heading] = order[place]
            if place.tag in ("html", "body"):
                place.insert(0, heading)
            elif place in own:
                place.addnext(heading)
            else:
                place.addprevious(heading)
        # The navigation often has the number, as in "Chapter 1. Title", where the page has only the title.
        if heading.tag == "p" or len(_simplify(point.title)) > len(_simplify("".join(heading.itertext()))):
            heading[:], heading.text = [], point.title
        own[heading] = point.level, int(heading.tag[1:] or 0)
        heading.tag = "h1"
        place = heading
    headings = [*page.iter(*HEADINGS)]
    for number, heading in enumerate(headings):
        level, old_level = own.get(heading, (0, 0))
        if level:
            below = takewhile(lambda heading: heading not in own, headings[number + 1 :])
            # What the navigation does not list belongs to what it lists.
            shift = level - min(old_level or 6, min((int(heading.tag[1]) for heading in below), default=6) - 1)
        heading.tag = f"h{max(1, min(6, level or int(heading.tag[1]) + shift))}"
    return shift


def _has_title(element: Any, title: str) -> bool:
    """Check whether a paragraph is the same as a title, or a heading is the same, longer or shorter."""
    first, second = _simplify("".join(element.itertext())), _simplify(title)
    short, long = sorted((first, second), key=len)
    if element.tag not in HEADINGS or len(short) < _SIMILAR_LENGTH_MIN:
        return first == second
    return long.startswith(short) or (long.endswith(short) and len(short) >= _ENDING_SHARE_MIN * len(long))


def _simplify(title: str) -> str:
    return _NOT_LETTERS.sub("", title).casefold()
