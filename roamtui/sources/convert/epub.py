"""Convert an EPUB book to Markdown: its chapters in reading order, with titles and levels from the navigation.

No entity of the XML is expanded, and no other file is read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.escaping import escape_inline, write_heading
from roamtui.sources.convert.html import write_main_blocks
from roamtui.sources.convert.html_tree import read_page
from roamtui.sources.convert.zip_package import ZipPackage, get_attribute, join_text
from roamtui.sources.decode import decode_html

_TEXT_CIPHER = b"xmlenc#aes"
"""Algorithm of encrypted text; obfuscated fonts use another one."""
_PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_MARKER = re.compile("\ue000(\\d+)\ue001")
"""Number of a navigation point between private-use characters. It marks the place that the point leads to."""
_HEADING = re.compile(r"(#{1,6}) (.*)")
_NOT_LETTERS = re.compile(r"[\W_]+")
_SIMILAR_LENGTH_MIN = 4
"""Titles with fewer letters and digits are similar only if they are the same."""
_ENDING_SHARE_MIN = 0.3
"""If a title ends with a shorter one, they are similar only if the shorter has at least this share of its length."""
_TITLE_DISTANCE_MAX = 8
"""Maximum number of blocks to search for a title, from the start of the chapter or from the title found before."""


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
        part_points = points.get(part, [])
        marks: dict[str, str] = {}
        for number, point in enumerate(part_points):
            marks[point.fragment] = f"{marks.get(point.fragment, '')}\ue000{number}\ue001"
        page, _ = read_page(decode_html(package.read(part))[0], image_base=part, marks=marks)
        adjusted, shift = _adjust_headings(write_main_blocks(page), part_points, shift)
        blocks += adjusted
    title = next((join_text(found) for found in root.iter("{*}title")), "")
    return ConvertedText(text="\n\n".join(blocks) + "\n", title=title)


def _read_navigation(package: ZipPackage, part: str) -> dict[str, list[_NavigationPoint]]:
    """Return the navigation points of each part, in order."""
    points: dict[str, list[_NavigationPoint]] = {}
    root = package.parse(part)
    target = ("", "")
    # From the last to the first, because an entry without a target leads to the target of the next one.
    for level, title, href in reversed([*_read_ncx(root), *_read_nav(root)]):
        target = _split_href(href, part) if href else target
        if title and target[0]:
            points.setdefault(target[0], []).insert(0, _NavigationPoint(level, title, target[1]))
    return points


def _split_href(href: str, part_name: str) -> tuple[str, str]:
    """Return the name of the part that a link in another part leads to, and the fragment of the link."""
    path, _, fragment = href.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(part_name), unquote(path))) if path else part_name
    return target, unquote(fragment)


def _read_nav(root: Any) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and href from the nested lists in the first `nav` that is a table of contents (EPUB 3)."""
    for nav in root.iter("{*}nav"):
        if get_attribute(nav, "type") in ("", "toc"):
            for item in nav.iter("{*}li"):
                for entry in [*item.iterfind("{*}a"), *item.iterfind("{*}span")][:1]:
                    pictured = " ".join(image.get("alt", "") for image in entry.iter("{*}img"))
                    yield _count_around(item, "ol"), join_text(entry) or pictured, entry.get("href", "")
            return


def _read_ncx(root: Any) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and href of the navigation points in an NCX file (EPUB 2)."""
    for point in root.iter("{*}navPoint"):
        title = " ".join(map(join_text, point.iterfind("{*}navLabel")))
        for target in point.iterfind("{*}content"):
            yield _count_around(point, "navPoint") + 1, title, target.get("src", "")


def _count_around(element: Any, name: str) -> int:
    return sum(1 for _ in element.iterancestors(f"{{*}}{name}"))


def _adjust_headings(blocks: list[str], points: list[_NavigationPoint], shift: int) -> tuple[list[str], int]:
    """Give a chapter's headings the levels of the navigation, and insert a heading for each point without one.

    `shift` is added to the level of each heading that no point leads to. Return the new blocks, and the shift for the
    next chapter.
    """
    places = {int(number): index for index, block in enumerate(blocks) for number in _MARKER.findall(block)}
    texts = [*(_MARKER.sub("", block) for block in blocks), ""]
    levels = [len(heading[1]) if (heading := _HEADING.fullmatch(text)) else 0 for text in texts]
    inserted: dict[int, list[_NavigationPoint]] = {}
    own: dict[int, _NavigationPoint] = {}
    start = 0
    for number, point in enumerate(points):
        # A point without a marker leads to the chapter as a whole or to a missing id.
        start, distance = (places[number], 2) if number in places else (start, _TITLE_DISTANCE_MAX)
        near = [index for index in range(start, min(len(blocks), start + distance)) if index not in own]
        found = next((index for index in near if _is_title(texts[index], levels[index], point.title)), None)
        if found is None:
            inserted.setdefault(start, []).append(point)
        else:
            own[found], start = point, found
    out: list[str] = []
    for index, (text, level) in enumerate(zip(texts, levels, strict=True)):
        below = min(filter(None, levels[index:]), default=1) if index in inserted or index in own else 1
        for point in inserted.get(index, ()):
            out.append(write_heading(point.level, escape_inline(point.title)))
            shift = point.level + 1 - below
        title = text.lstrip("#").strip()
        if index in own:
            point = own[index]
            # The navigation often has the number, as in "Chapter 1. Title", where the page has only the title.
            is_longer = not level or len(_simplify(point.title)) > len(_simplify(title))
            out.append(write_heading(point.level, escape_inline(point.title) if is_longer else title))
            shift = point.level - level if level else point.level + 1 - below
        else:
            out.append(write_heading(level + shift, title) if level else text)
    return [*filter(str.strip, out)], shift


def _is_title(text: str, level: int, title: str) -> bool:
    """Check whether a block has a title: a paragraph if it is the same, a heading also if one has more words."""
    first, second = _simplify(text), _simplify(title)
    short, long = sorted((first, second), key=len)
    if not level or len(short) < _SIMILAR_LENGTH_MIN:
        return first == second
    return long.startswith(short) or (long.endswith(short) and len(short) >= _ENDING_SHARE_MIN * len(long))


def _simplify(title: str) -> str:
    return _NOT_LETTERS.sub("", title).casefold()
