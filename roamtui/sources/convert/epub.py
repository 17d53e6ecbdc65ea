"""Convert an EPUB book to Markdown: its chapters in reading order, with titles and levels from its navigation.

The XML is only tokenised: no entity is expanded and no other file is read.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText, PageReport
from roamtui.sources.convert.escaping import escape_inline, write_heading
from roamtui.sources.convert.html import convert_html, decode_html
from roamtui.sources.convert.html_tree import Tag, iter_tags, read_first_text, read_tokens
from roamtui.sources.convert.zip_package import ZipPackage

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_TEXT_CIPHER = b"xmlenc#aes"
"""Algorithm of encrypted text; obfuscated fonts use another one."""
_CHAPTERS_MAX = 5_000
_DRAWING_TYPE = "image/svg+xml"
_PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", _DRAWING_TYPE})
_NAVIGATION_POINTS_MAX = 20_000
_TITLE_LENGTH_MAX = 500
_MARKER = re.compile("\ue000(\\d+)\ue001")
"""Number of a navigation point between private-use characters. It marks the place that the point leads to."""
_LINK_TARGET = re.compile(r"\]\([^()\n]*\)")
_ID = re.compile(r"""<([a-zA-Z][\w:]*)(?![\w:])[^<>]{0,2000}?\sid\s*=\s*["']([^"'<>]{1,300})["'][^<>]*>""")
_ELEMENTS_WITHOUT_TEXT = frozenset({"table", "thead", "tbody", "tr", "ul", "ol", "dl"})
"""Elements that must not contain text directly. Markers are therefore inserted before them, not inside."""
_DRAWING = re.compile(r"(?<=<)(/?)(?:[\w-]{1,20}:)?svg(?=[\s/>])")
_DRAWN_TEXT = frozenset({"title", "desc", "text"})
"""Elements of an SVG drawing that contain text."""
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
    chapters: Mapping[str, str]
    """Parts in reading order, each mapped to the part to read: itself, or its fallback if it is not a page."""
    drawings: frozenset[str]
    """Parts that are SVG drawings."""
    navigation: str
    """Part with the table of contents; empty if there is none."""
    is_ncx: bool


def convert_epub(data: bytes, name: str, *, report: PageReport | None = None) -> ConvertedText:
    """Convert a book to Markdown."""
    package = ZipPackage(data, name)
    if _TEXT_CIPHER in (package.read(_ENCRYPTION) or b""):
        raise SourceError(f"{name} is protected by DRM and cannot be read.")
    book = _read_book(package)
    points: dict[str, list[_NavigationPoint]] = {}
    if book.navigation:
        source = decode_html(package.read(book.navigation) or b"")[0]
        entries = list(islice(_read_ncx(source) if book.is_ncx else _read_nav(source), _NAVIGATION_POINTS_MAX))
        target = ("", "")
        # From the last to the first, because an entry without a target leads to the target of the next one.
        for level, title, href in reversed(entries):
            target = _split_href(href, book.navigation) if href else target
            if title and target[0]:
                point = _NavigationPoint(level=level, title=title, fragment=target[1])
                points.setdefault(target[0], []).append(point)
        for part_points in points.values():
            part_points.reverse()
    texts, missing, is_empty, shift = [], 0, True, 0
    for number, (part, read_part) in enumerate(islice(book.chapters.items(), _CHAPTERS_MAX)):
        if report is not None:
            report(number, len(book.chapters), "")
        chapter = package.read(read_part)
        if chapter is None:
            missing += 1
        else:
            chapter_points = [*points.get(part, []), *(points.get(read_part, []) if read_part != part else [])]
            source = decode_html(chapter)[0]
            is_drawing = read_part in book.drawings
            source = _read_drawing(source) if is_drawing else _insert_markers(source, chapter_points)
            page = convert_html(source, image_base=read_part)
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
    container = decode_html(package.read(_CONTAINER) or b"")[0]
    root = next((tag.attributes.get("full-path", "") for tag in iter_tags(container, "rootfile")), "")
    data = package.read(root)
    if data is None:
        raise SourceError(f"{package.name} is damaged or not an EPUB book. Convert it again.")
    source = decode_html(data)[0]
    items = {tag.attributes.get("id", ""): tag.attributes for tag in iter_tags(source, "item")}
    part_names = {key: _split_href(item.get("href", ""), root)[0] for key, item in items.items()}
    nav = next((key for key, item in items.items() if "nav" in item.get("properties", "").split()), "")
    spine = next(iter_tags(source, "spine"), None)
    ncx = spine.attributes.get("toc", "") if spine is not None else ""
    if ncx not in items:
        ncx = next((key for key, item in items.items() if item.get("media-type", "").endswith("ncx+xml")), "")
    listed = [tag.attributes.get("idref", "") for tag in iter_tags(source, "itemref")]
    read_keys: dict[str, str] = {}
    for key in listed:
        if key in items and key != nav:
            # An item that is not a page names another one as its fallback.
            read_key, seen = key, {""}
            while read_key not in seen and items.get(read_key, {}).get("media-type", "") not in _PAGE_TYPES:
                seen.add(read_key)
                read_key = items.get(read_key, {}).get("fallback", "")
            read_keys[key] = key if read_key in seen else read_key
    return _Book(
        title=read_first_text(source, "dc:title", "title"),
        chapters={part_names[key]: part_names[read_key] for key, read_key in read_keys.items()},
        drawings=frozenset(part_names[key] for key, item in items.items() if item.get("media-type") == _DRAWING_TYPE),
        navigation=part_names.get(nav or ncx, ""),
        is_ncx=not nav,
    )


def _read_drawing(source: str) -> str:
    """Turn the text of an SVG drawing into an HTML page."""
    paragraphs: list[str] = []
    inside = ""
    for token in read_tokens(_DRAWING.sub(r"\1div", source)):
        if isinstance(token, str):
            if inside:
                paragraphs[-1] += html.escape(token)
        elif not inside and token.name.rpartition(":")[2] in _DRAWN_TEXT and not token.is_end:
            inside = token.name
            paragraphs.append("")
        elif token.name == inside and token.is_end:
            inside = ""
    return "".join(f"<p>{words}</p>" for words in paragraphs)


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


def _read_nav(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and href from the nested lists in the first `nav` that is a table of contents (EPUB 3)."""
    level = 0
    title: list[str] = []
    href = entry_tag = ""
    is_inside = False
    for token in read_tokens(source):
        if isinstance(token, Tag) and token.name == "nav":
            if is_inside:
                return
            is_inside = "toc" in token.attributes.get("epub:type", "toc").split() and not token.is_end
        elif not is_inside:
            continue
        elif isinstance(token, str):
            title.append(token)
        elif token.name == "ol":
            level += -1 if token.is_end else 1
        elif not entry_tag and token.name in ("a", "span") and not token.is_end:
            entry_tag, href, title = token.name, token.attributes.get("href", ""), []
        elif entry_tag and token.name == "img" and not token.is_end:
            title.append(f" {token.attributes.get('alt') or token.attributes.get('title', '')} ")
        elif entry_tag and token.is_end and token.name in (entry_tag, "li"):
            yield max(level, 1), _join_title(title), href
            entry_tag = ""


def _read_ncx(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and href of the navigation points in an NCX file (EPUB 2)."""
    level = 0
    title: list[str] = []
    is_text = False
    for token in read_tokens(source):
        if isinstance(token, str):
            if is_text:
                title.append(token)
            continue
        name = token.name.rpartition(":")[2]
        if name == "navpoint":
            level += -1 if token.is_end else 1
            title = []
        elif name == "text":
            is_text = level > 0 and not token.is_end
        elif name == "content" and not token.is_end and level > 0:
            yield level, _join_title(title), token.attributes.get("src", "")
        elif name in ("pagelist", "navlist") and not token.is_end:
            return


def _join_title(pieces: list[str]) -> str:
    return " ".join("".join(pieces).split())[:_TITLE_LENGTH_MAX]


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
