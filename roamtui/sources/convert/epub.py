"""Convert an EPUB book to Markdown: its chapters in reading order, with titles and levels from its navigation.

No entity of the XML is expanded, and no other file is read.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import unquote

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.escaping import escape_inline, write_heading
from roamtui.sources.convert.html import convert_html
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
_ID = re.compile(r"""<([a-zA-Z][\w:]*)(?![\w:])[^<>]{0,2000}?\sid\s*=\s*["']([^"'<>]{1,300})["'][^<>]*>""")
_ELEMENTS_WITHOUT_TEXT = frozenset({"table", "thead", "tbody", "tr", "ul", "ol", "dl"})
"""Elements that must not contain text directly. Markers are therefore inserted before them, not inside."""
_WITHOUT_MARKER = frozenset({"html", "head", "title", "script", "style", "meta", "link"})
_HEADING = re.compile(r"(#{1,6}) (.*)")
_FENCE = re.compile(r"(`{3,})")
_NOT_LETTERS = re.compile(r"[\W_]+")
_SIMILAR_LENGTH_MIN = 4
"""Titles with fewer letters and digits are similar only if they are the same."""
_ENDING_SHARE_MIN = 0.3
"""If a title ends with a shorter one, they are similar only if the shorter has at least this share of its length."""
_TITLE_DISTANCE_MAX = 8
"""Maximum number of blocks to search for a title, from the start of the chapter or from the title found before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    """The content of a book's package document."""

    title: str
    chapters: Sequence[str]
    """Parts in reading order."""
    navigation: str
    """Part with the table of contents; empty if there is none."""


def convert_epub(data: bytes, name: str) -> ConvertedText:
    """Convert a book to Markdown."""
    package = ZipPackage(data, name)
    if _TEXT_CIPHER in (package.read(_ENCRYPTION) or b""):
        raise SourceError(f"{name} is protected by DRM and cannot be read.")
    book = _read_book(package)
    points: dict[str, list[_NavigationPoint]] = {}
    if book.navigation:
        root = parse_xml(package.read(book.navigation) or b"")
        entries = list(islice((*_read_ncx(root), *_read_nav(root)), _NAVIGATION_POINTS_MAX))
        target = ("", "")
        # From the last to the first, because an entry without a target leads to the target of the next one.
        for level, title, href in reversed(entries):
            target = _split_href(href, book.navigation) if href else target
            if title and target[0]:
                point = _NavigationPoint(level=level, title=title[:_TITLE_LENGTH_MAX], fragment=target[1])
                points.setdefault(target[0], []).append(point)
        for part_points in points.values():
            part_points.reverse()
    texts, missing, is_empty, shift = [], 0, True, 0
    for part in book.chapters[:_CHAPTERS_MAX]:
        chapter = package.read(part)
        if chapter is None:
            missing += 1
            continue
        chapter_points = points.get(part, [])
        page = convert_html(_insert_markers(decode_html(chapter)[0], chapter_points), image_base=part)
        words = _MARKER.sub("", _LINK_TARGET.sub("]", page.text))  # the alternative text of an image counts as text
        is_empty = is_empty and not any(map(str.isalnum, words))
        text, shift = _adjust_heading_levels(page.text, chapter_points, shift)
        texts.append(text)
    if is_empty:
        raise SourceError(f"{name} contains no text; its pages may be images.")
    notes = [f"{missing} of its chapters are missing."] if missing else []
    if len(book.chapters) > _CHAPTERS_MAX:
        notes.append(f"Only the first {_CHAPTERS_MAX:,} of {len(book.chapters):,} chapters were read.")
    return ConvertedText(text="\n".join(filter(None, texts)), title=book.title, notes=tuple(notes))


def _read_book(package: ZipPackage) -> _Book:
    container = parse_xml(package.read(_CONTAINER) or b"")
    part = next((found.get("full-path", "") for found in container.iter("{*}rootfile")), "")
    data = package.read(part)
    if data is None:
        raise SourceError(f"{package.name} is damaged or not an EPUB book. Convert it again.")
    root = parse_xml(data)
    items = {item.get("id", ""): item for item in root.iter("{*}item")}
    part_names = {key: _split_href(item.get("href", ""), part)[0] for key, item in items.items()}
    nav = [key for key, item in items.items() if "nav" in item.get("properties", "").split()]
    ncx = [key for key, item in items.items() if item.get("media-type", "").endswith("ncx+xml")]
    listed = dict.fromkeys(found.get("idref", "") for found in root.iter("{*}itemref"))
    return _Book(
        title=next((join_text(found) for found in root.iter("{*}title")), "")[:_TITLE_LENGTH_MAX],
        chapters=[
            part_names[key]
            for key in listed
            if key in items and key not in nav and items[key].get("media-type") in _PAGE_TYPES
        ],
        navigation=next((part_names[key] for key in (*nav, *ncx)), ""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _NavigationPoint:
    """An entry of the table of contents."""

    level: int
    """From 1."""
    title: str
    fragment: str
    """Id of the element that it leads to; empty for the start of a part."""


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


@dataclass(slots=True)
class _Block:
    """Consecutive non-empty lines, or one code block."""

    text: str
    level: int = 0
    """Heading level, or 0 if the block is not a heading."""
    points: tuple[int, ...] = ()
    """Numbers of the navigation points that lead here."""

    @property
    def title(self) -> str:
        return self.text.lstrip("#").strip()


def _insert_markers(source: str, points: list[_NavigationPoint]) -> str:
    """Insert the number of each navigation point into the source of a chapter, at the element that it leads to."""
    numbers: dict[str, list[int]] = {}
    for number, point in enumerate(points):
        if point.fragment:
            numbers.setdefault(point.fragment, []).append(number)
    pieces: list[str] = []
    position = 0
    for found in _ID.finditer(source) if numbers else ():
        matching = numbers.pop(html.unescape(found[2]), None)
        if matching is None or found[1].lower() in _WITHOUT_MARKER:
            continue
        end = found.start() if found[1].lower() in _ELEMENTS_WITHOUT_TEXT else found.end()
        pieces += [source[position:end], *(f"\ue000{number}\ue001" for number in matching)]
        position = end
    return "".join([*pieces, source[position:]])


def _adjust_heading_levels(text: str, points: Sequence[_NavigationPoint], shift: int) -> tuple[str, int]:
    """Give a chapter's headings the levels of the navigation, and insert a heading for each point without one.

    `shift` is added to the level of each heading that no point leads to. Return the text, and the shift for the next
    chapter.
    """
    blocks = _split_blocks(text)
    # Points without a marker lead to the chapter as a whole or to a missing id.
    marked = {number for block in blocks for number in block.points}
    start = 0
    for number, point in enumerate(points):
        if number not in marked:
            near = range(start, min(len(blocks), start + _TITLE_DISTANCE_MAX))
            headings = [index for index in near if blocks[index].level and not blocks[index].points]
            similar = (index for index in headings if _is_similar(blocks[index].title, point.title))
            start = next(similar, start)
            if start >= len(blocks):
                blocks.append(_Block(""))
            blocks[start].points = (*blocks[start].points, number)
    out: list[str] = []
    pending: list[int] = []
    for index, block in enumerate(blocks):
        pending.extend(block.points)
        if not block.text:
            continue
        has_own_heading = bool(pending and block.level) and _is_similar(block.title, points[pending[-1]].title)
        own_point = points[pending.pop()] if has_own_heading else None
        for number in pending:
            out.append(_write_title(points[number]))
            highest = min((later.level for later in blocks[index:] if later.level), default=1)
            shift = points[number].level + 1 - highest
        if pending and not block.level and _simplify(block.text) == _simplify(points[pending[-1]].title):
            block.text = ""  # it repeats the title as a paragraph
        pending = []
        if own_point is not None:
            shift = own_point.level - block.level
            # The navigation often has the number, as in "Chapter 1. Title", where the page has only the title.
            if len(_simplify(own_point.title)) > len(_simplify(block.title)):
                block.text = escape_inline(own_point.title)
        if block.text:
            out.append(write_heading(block.level + shift, block.title) if block.level else block.text)
    out.extend(_write_title(points[number]) for number in pending)
    return "\n\n".join(out) + "\n" if out else "", shift


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


def _split_blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    lines: list[str] = []
    fence = ""
    for line in [*text.split("\n"), ""]:
        if line or fence:
            lines.append(line)
        elif lines:
            block = "\n".join(lines)
            unmarked = _MARKER.sub("", block)
            heading = _HEADING.fullmatch(unmarked)
            points = tuple(map(int, _MARKER.findall(block)))
            blocks.append(_Block(unmarked if unmarked.strip() else "", len(heading[1]) if heading else 0, points))
            lines = []
        if fence:
            fence = "" if line == fence else fence
        elif opening := _FENCE.match(line):
            fence = opening[1]
    return blocks
