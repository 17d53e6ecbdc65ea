"""Convert an EPUB book to Markdown: its chapters in reading order, with titles and levels from the navigation.

No entity of the XML is expanded, and no other file is read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.escaping import escape_inline, write_heading
from roamtui.sources.convert.html import write_main_blocks
from roamtui.sources.convert.html_tree import read_page
from roamtui.sources.convert.zip_package import ZipPackage, get_attribute, join_text, parse_xml
from roamtui.sources.decode import decode_html

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_TEXT_CIPHER = b"xmlenc#aes"
"""Algorithm of encrypted text; obfuscated fonts use another one."""
_CHAPTERS_MAX = 5_000
_PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_NAVIGATION_POINTS_MAX = 20_000
_TITLE_LENGTH_MAX = 500
_MARKER = re.compile("\ue000(\\d+)\ue001")
"""Number of a navigation point between private-use characters. It marks the place that the point leads to."""
_LINK_TARGET = re.compile(r"\]\([^()\n]*\)")
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
    package = ZipPackage(data, name)
    if _TEXT_CIPHER in (package.read(_ENCRYPTION) or b""):
        raise SourceError(f"{name} is protected by DRM and cannot be read.")
    container = parse_xml(package.read(_CONTAINER) or b"")
    book_part = next((found.get("full-path", "") for found in container.iter("{*}rootfile")), "")
    book = package.read(book_part)
    if book is None:
        raise SourceError(f"{name} is damaged or not an EPUB book. Convert it again.")
    root = parse_xml(book)
    items = {item.get("id", ""): item for item in root.iter("{*}item")}
    part_names = {key: _split_href(item.get("href", ""), book_part)[0] for key, item in items.items()}
    nav = [key for key, item in items.items() if "nav" in item.get("properties", "").split()]
    ncx = [key for key, item in items.items() if item.get("media-type", "").endswith("ncx+xml")]
    points = _read_navigation(package, next((part_names[key] for key in (*nav, *ncx)), ""))
    listed = dict.fromkeys(found.get("idref", "") for found in root.iter("{*}itemref"))
    pages = [key for key in listed if key in items and items[key].get("media-type") in _PAGE_TYPES and key not in nav]
    blocks: list[str] = []
    missing, is_empty, shift = 0, True, 0
    for part in [part_names[key] for key in pages[:_CHAPTERS_MAX]]:
        chapter = package.read(part)
        if chapter is None:
            missing += 1
            continue
        part_points = points.get(part, [])
        marks: dict[str, str] = {}
        for number, point in enumerate(part_points):
            if point.fragment:
                marks[point.fragment] = f"{marks.get(point.fragment, '')}\ue000{number}\ue001"
        page, _ = read_page(decode_html(chapter)[0], image_base=part, marks=marks)
        chapter_blocks = write_main_blocks(page)
        words = _MARKER.sub("", _LINK_TARGET.sub("]", "".join(chapter_blocks)))
        is_empty = is_empty and not any(map(str.isalnum, words))  # the alternative text of an image counts as text
        adjusted, shift = _adjust_headings(chapter_blocks, part_points, shift)
        blocks += adjusted
    if is_empty:
        raise SourceError(f"{name} contains no text; its pages may be images.")
    notes = [f"{missing} of its chapters are missing."] if missing else []
    if len(pages) > _CHAPTERS_MAX:
        notes.append(f"Only the first {_CHAPTERS_MAX:,} of {len(pages):,} chapters were read.")
    title = next((join_text(found) for found in root.iter("{*}title")), "")[:_TITLE_LENGTH_MAX]
    return ConvertedText(text="\n\n".join(blocks) + "\n", title=title, notes=tuple(notes))


def _read_navigation(package: ZipPackage, part: str) -> dict[str, list[_NavigationPoint]]:
    """Return the navigation points of each part, in order."""
    points: dict[str, list[_NavigationPoint]] = {}
    root = parse_xml(package.read(part) or b"")
    target = ("", "")
    # From the last to the first, because an entry without a target leads to the target of the next one.
    for level, title, href in reversed([*islice((*_read_ncx(root), *_read_nav(root)), _NAVIGATION_POINTS_MAX)]):
        target = _split_href(href, part) if href else target
        if title and target[0]:
            points.setdefault(target[0], []).insert(0, _NavigationPoint(level, title[:_TITLE_LENGTH_MAX], target[1]))
    return points


def _split_href(href: str, part_name: str) -> tuple[str, str]:
    """Return the name of the part that a link in another part leads to, and the fragment of the link."""
    path, _, fragment = href.partition("#")
    folder = posixpath.dirname(part_name)
    target = posixpath.normpath(posixpath.join(folder, unquote(path))) if path else part_name
    return target, unquote(fragment)


def _read_nav(root: Any) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and href from the nested lists in the first `nav` that is a table of contents (EPUB 3)."""
    for nav in root.iter("{*}nav"):
        if "toc" not in get_attribute(nav, "type").split() and get_attribute(nav, "type"):
            continue
        for item in nav.iter("{*}li"):
            for entry in [*item.iterfind("{*}a"), *item.iterfind("{*}span")][:1]:
                pictured = " ".join(image.get("alt", "") for image in entry.iter("{*}img"))
                yield _count_around(item, "ol"), join_text(entry) or pictured, entry.get("href", "")
        return


def _read_ncx(root: Any) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and href of the navigation points in an NCX file (EPUB 2)."""
    for point in root.iter("{*}navPoint"):
        title = " ".join(map(join_text, point.iterfind("{*}navLabel")))
        target = point.find("{*}content")
        yield _count_around(point, "navPoint") + 1, title, target.get("src", "") if target is not None else ""


def _count_around(element: Any, name: str) -> int:
    return sum(1 for _ in element.iterancestors(f"{{*}}{name}"))


def _adjust_headings(blocks: list[str], points: list[_NavigationPoint], shift: int) -> tuple[list[str], int]:
    """Give a chapter's headings the levels of the navigation, and insert a heading for each point without one.

    `shift` is added to the level of each heading that no point leads to. Return the new blocks, and the shift for the
    next chapter.
    """
    texts = [_MARKER.sub("", block) for block in blocks]
    levels = [len(heading[1]) if (heading := _HEADING.fullmatch(text)) else 0 for text in texts]
    titles = [text.lstrip("#").strip() for text in texts]
    places = {int(number): index for index, block in enumerate(blocks) for number in _MARKER.findall(block)}
    marked = {*places.values()}
    start = 0
    # Points without a marker lead to the chapter as a whole or to a missing id.
    for number, point in enumerate(points):
        if number not in places:
            near = range(start, min(len(blocks), start + _TITLE_DISTANCE_MAX))
            headings = (index for index in near if levels[index] and index not in marked)
            start = next((index for index in headings if _is_similar(titles[index], point.title)), start)
            places[number] = start
            marked.add(start)
    out: list[str] = []
    pending: list[_NavigationPoint] = []
    for index in range(max([len(blocks), *(place + 1 for place in marked)])):
        pending += [points[number] for number, place in sorted(places.items()) if place == index]
        text, level, title = (texts[index], levels[index], titles[index]) if index < len(blocks) else ("", 0, "")
        if not text.strip():
            continue
        own = pending.pop() if pending and level and _is_similar(title, pending[-1].title) else None
        for point in pending:
            out.append(_write_title(point))
            shift = point.level + 1 - min(filter(None, levels[index:]), default=1)
        if pending and not level and _simplify(text) == _simplify(pending[-1].title):
            text = ""  # it repeats the title as a paragraph
        pending = []
        if own is not None:
            shift = own.level - level
            # The navigation often has the number, as in "Chapter 1. Title", where the page has only the title.
            if len(_simplify(own.title)) > len(_simplify(title)):
                title = escape_inline(own.title)
        out.append(write_heading(level + shift, title) if level else text)
    return [*filter(None, out), *map(_write_title, pending)], shift


def _is_similar(first: str, second: str) -> bool:
    """Check whether two titles are the same, or one starts or ends with the other."""
    first, second = _simplify(first), _simplify(second)
    short, long = sorted((first, second), key=len)
    if len(short) < _SIMILAR_LENGTH_MIN:
        return first == second
    return long.startswith(short) or (long.endswith(short) and len(short) >= _ENDING_SHARE_MIN * len(long))


def _simplify(title: str) -> str:
    return _NOT_LETTERS.sub("", title).casefold()


def _write_title(point: _NavigationPoint) -> str:
    return write_heading(point.level, escape_inline(point.title))
