"""An EPUB book into Markdown: its chapters in reading order, with the titles and levels that its navigation gives.

Its XML is read by the tokens alone: no entity is expanded and no other file is looked up.
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
from roamtui.sources.convert.escaping import escape_marks, write_heading
from roamtui.sources.convert.html import convert_html, decode_html
from roamtui.sources.convert.html_tree import Tag, iter_tags, read_first_text, read_tokens
from roamtui.sources.convert.zip_package import ZipPackage

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_CIPHER = b"xmlenc#aes"
"""What encrypts text; fonts are scrambled in another way."""
_CHAPTERS_MAX = 5_000
_DRAWING_TYPE = "image/svg+xml"
_PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", _DRAWING_TYPE})
_POINTS_MAX = 20_000
_TITLE_LENGTH_MAX = 500
_PLACE = re.compile("\ue000(\\d+)\ue001")
"""Number of an entry, in the text where it leads to, between characters that no book uses."""
_ADDRESS = re.compile(r"\]\([^)\n]*\)")
_ID = re.compile(r"""<([a-zA-Z][\w:]*)[^<>]{0,2000}?\sid\s*=\s*["']([^"'<>]{1,300})["'][^<>]*>""")
_MARKED_BEFORE = frozenset({"table", "thead", "tbody", "tr", "ul", "ol", "dl"})
"""Elements in which no text can stand."""
_DRAWING = re.compile(r"(?<=<)(/?)(?:[\w-]{1,20}:)?svg(?=[\s/>])")
_DRAWN_TEXT = frozenset({"title", "desc", "text"})
"""Elements of a drawing that hold words."""
_UNMARKED = frozenset({"html", "head", "title", "script", "style", "meta", "link"})
_HEADING = re.compile(r"(#{1,6}) (.*)")
_FENCE = re.compile(r"(`{3,})")
_NOT_LETTERS = re.compile(r"[\W_]+")
_SIMILAR_LENGTH_MIN = 4
_SHARE_MIN = 0.3
"""Of a title's letters, which the other one has to have that it ends in."""
_DISTANCE_MAX = 8
"""Blocks from the beginning of a chapter within which its title stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    """What the package document of a book says."""

    title: str
    chapters: Mapping[str, str]
    """Names of the parts in reading order, each with that of the part to read in its place: mostly the same."""
    drawings: frozenset[str]
    """Parts that are drawings."""
    navigation: str
    """Name of the part that is the table of contents, empty where there is none."""
    is_ncx: bool


def convert_epub(data: bytes, name: str, *, report: PageReport | None = None) -> ConvertedText:
    """Return a book as Markdown."""
    package = ZipPackage(data, name)
    if _CIPHER in (package.read(_ENCRYPTION) or b""):
        raise SourceError(f"{name} is protected against copying and cannot be read.")
    book = _read_book(package)
    points: dict[str, list[NavigationPoint]] = {}
    if book.navigation:
        source = decode_html(package.read(book.navigation) or b"")[0]
        for point in read_navigation(source, book.navigation, is_ncx=book.is_ncx):
            points.setdefault(point.part_name, []).append(point)
    texts, missing, is_empty, shift = [], 0, True, 0
    for number, (chapter, read) in enumerate(islice(book.chapters.items(), _CHAPTERS_MAX)):
        if report is not None:
            report(number, len(book.chapters), "")
        content = package.read(read)
        if content is None:
            missing += 1
        else:
            here = [*points.get(chapter, []), *(points.get(read, []) if read != chapter else [])]
            source = decode_html(content)[0]
            page = convert_html(_read_drawing(source) if read in book.drawings else insert_entry_markers(source, here))
            words = _PLACE.sub("", _ADDRESS.sub("]", page.text))  # were it only those that stand for pictures
            is_empty = is_empty and not any(map(str.isalnum, words))
            text, shift = adjust_heading_levels(page.text, here, shift)
            texts.append(text)
    if is_empty:
        raise SourceError(f"{name} holds no text; its pages may be pictures.")
    notes = [f"{missing} of its chapters are missing."] if missing else []
    if len(book.chapters) > _CHAPTERS_MAX:
        notes.append(f"Only the first {_CHAPTERS_MAX:,} of {len(book.chapters):,} chapters were read.")
    return ConvertedText(text="\n".join(filter(None, texts)), title=book.title, notes=tuple(notes))


def _read_book(package: ZipPackage) -> _Book:
    container = decode_html(package.read(_CONTAINER) or b"")[0]
    root = next((tag.attributes.get("full-path", "") for tag in iter_tags(container, "rootfile")), "")
    content = package.read(root)
    if content is None:
        raise SourceError(f"{package.name} is no EPUB book, or a damaged one. Convert it anew.")
    source = decode_html(content)[0]
    items = {tag.attributes.get("id", ""): tag.attributes for tag in iter_tags(source, "item")}
    places = {key: split_href(item.get("href", ""), root)[0] for key, item in items.items()}
    nav = next((key for key, item in items.items() if "nav" in item.get("properties", "").split()), "")
    spine = next(iter_tags(source, "spine"), None)
    ncx = spine.attributes.get("toc", "") if spine is not None else ""
    if ncx not in items:
        ncx = next((key for key, item in items.items() if item.get("media-type", "").endswith("ncx+xml")), "")
    listed = [tag.attributes.get("idref", "") for tag in iter_tags(source, "itemref")]
    readable = {key: _resolve_fallback(key, items) for key in listed if key in items and key != nav}
    return _Book(
        title=read_first_text(source, "dc:title", "title"),
        chapters={places[key]: places[read] for key, read in readable.items()},
        drawings=frozenset(places[key] for key, item in items.items() if item.get("media-type") == _DRAWING_TYPE),
        navigation=places.get(nav or ncx, ""),
        is_ncx=not nav,
    )


def _resolve_fallback(key: str, items: Mapping[str, Mapping[str, str]]) -> str:
    """Return the first part with text among an item of the manifest and what may stand in for it, else its own."""
    seen: dict[str, None] = {}
    while key in items and key not in seen:
        if items[key].get("media-type", "") in _PAGE_TYPES:
            return key
        seen[key] = None
        key = items[key].get("fallback", "")
    return next(iter(seen))


def _read_drawing(source: str) -> str:
    """Return the words of a drawing as a page."""
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
class NavigationPoint:
    """An entry of the table of contents."""

    level: int
    """From 1 on."""
    title: str
    part_name: str
    """The file that it leads to."""
    fragment: str = ""
    """Id of the place within that file, empty for its beginning."""


def read_navigation(source: str, part_name: str, *, is_ncx: bool) -> list[NavigationPoint]:
    """Return the table of contents in order; an entry that leads nowhere leads where the next one does."""
    found = _read_ncx(source) if is_ncx else _read_lists(source)
    entries = [entry for _, entry in zip(range(_POINTS_MAX), found, strict=False)]
    points: list[NavigationPoint] = []
    place = ("", "")
    for level, title, address in reversed(entries):
        if address:
            place = split_href(address, part_name)
        if title and place[0]:
            points.append(NavigationPoint(level=level, title=title, part_name=place[0], fragment=place[1]))
    points.reverse()
    return points


def split_href(address: str, part_name: str) -> tuple[str, str]:
    """Return the part that an address in another part leads to, and the place within it."""
    path, _, fragment = address.partition("#")
    folder = posixpath.dirname(part_name)
    located = posixpath.normpath(posixpath.join(folder, unquote(path))) if path else part_name
    return located, unquote(fragment)


def _read_lists(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and address from nested lists in the first table of contents."""
    level = 0
    title: list[str] = []
    address = opened = ""
    for token in _cut_to_contents(source):
        if isinstance(token, str):
            title.append(token)
        elif token.name == "ol":
            level += -1 if token.is_end else 1
        elif not opened and token.name in ("a", "span") and not token.is_end:
            opened, address, title = token.name, token.attributes.get("href", ""), []
        elif opened and token.name == "img" and not token.is_end:
            title.append(f" {token.attributes.get('alt') or token.attributes.get('title', '')} ")
        elif opened and token.is_end and token.name in (opened, "li"):
            yield max(level, 1), _join(title), address
            opened = ""


def _cut_to_contents(source: str) -> Iterator[Tag | str]:
    """Yield what stands in the first table of contents."""
    is_inside = False
    for token in read_tokens(source):
        if isinstance(token, Tag) and token.name == "nav":
            if is_inside:
                return
            is_inside = "toc" in token.attributes.get("epub:type", "toc").split() and not token.is_end
        elif is_inside:
            yield token


def _read_ncx(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and address from the points of an NCX."""
    level = 0
    title: list[str] = []
    is_read = False
    for token in read_tokens(source):
        if isinstance(token, str):
            if is_read:
                title.append(token)
            continue
        name = token.name.rpartition(":")[2]
        if name == "navpoint":
            level += -1 if token.is_end else 1
            title = []
        elif name == "text":
            is_read = level > 0 and not token.is_end
        elif name == "content" and not token.is_end and level > 0:
            yield level, _join(title), token.attributes.get("src", "")
        elif name in ("pagelist", "navlist") and not token.is_end:
            return


def _join(title: list[str]) -> str:
    return " ".join("".join(title).split())[:_TITLE_LENGTH_MAX]


@dataclass(slots=True)
class _Block:
    """Lines of the text without an empty one between them, or one code block."""

    text: str
    level: int = 0
    """Of a heading, 0 for all else."""
    places: tuple[int, ...] = ()
    """Entries that lead here."""

    @property
    def title(self) -> str:
        return self.text.lstrip("#").strip()


def insert_entry_markers(source: str, points: list[NavigationPoint]) -> str:
    """Return the source of a chapter with the number of each entry where it leads to."""
    numbers: dict[str, list[int]] = {}
    for number, point in enumerate(points):
        if point.fragment:
            numbers.setdefault(point.fragment, []).append(number)
    pieces: list[str] = []
    position = 0
    for found in _ID.finditer(source) if numbers else ():
        here = numbers.pop(html.unescape(found[2]), None)
        if here is None or found[1].lower() in _UNMARKED:
            continue
        end = found.start() if found[1].lower() in _MARKED_BEFORE else found.end()
        pieces += [source[position:end], *(f"\ue000{number}\ue001" for number in here)]
        position = end
    return "".join([*pieces, source[position:]])


def adjust_heading_levels(text: str, points: Sequence[NavigationPoint], shift: int) -> tuple[str, int]:
    """Return a chapter with its headings' levels as in the book, and a heading where an entry finds none.

    `shift` is what is added to the levels of headings that no entry leads to; the next chapter's is returned too.
    """
    blocks = _split_blocks(text)
    _place_chapter_points(blocks, points)
    out: list[str] = []
    waiting: list[int] = []
    for index, block in enumerate(blocks):
        waiting.extend(block.places)
        if not block.text:
            continue
        is_named = bool(waiting and block.level) and _is_similar(block.title, points[waiting[-1]].title)
        named = points[waiting.pop()] if is_named else None
        for number in waiting:
            out.append(_write_title(points[number]))
            highest = min((later.level for later in blocks[index:] if later.level), default=1)
            shift = points[number].level + 1 - highest
        if waiting and not block.level and _simplify(block.text) == _simplify(points[waiting[-1]].title):
            block.text = ""
        waiting = []
        if named is not None:
            shift = named.level - block.level
            if len(_simplify(named.title)) > len(_simplify(block.title)):
                block.text = escape_marks(named.title)
        if block.text:
            out.append(write_heading(block.level + shift, block.title) if block.level else block.text)
    out.extend(_write_title(points[number]) for number in waiting)
    return "\n\n".join(out) + "\n" if out else "", shift


def _place_chapter_points(blocks: list[_Block], points: Sequence[NavigationPoint]) -> None:
    """Note the entries that lead to a chapter as a whole, and to places in it that do not exist."""
    placed = {number for block in blocks for number in block.places}
    start = 0
    for number, point in enumerate(points):
        if number in placed:
            continue
        near = range(start, min(len(blocks), start + _DISTANCE_MAX))
        headings = [index for index in near if blocks[index].level and not blocks[index].places]
        similar = [index for index in headings if _is_similar(blocks[index].title, point.title)]
        chosen = similar[0] if similar else start
        if chosen >= len(blocks):
            blocks.append(_Block(""))
        blocks[chosen].places = (*blocks[chosen].places, number)
        start = chosen


def _is_similar(first: str, second: str) -> bool:
    first, second = _simplify(first), _simplify(second)
    short, long = sorted((first, second), key=len)
    if len(short) < _SIMILAR_LENGTH_MIN:
        return first == second
    return long.startswith(short) or (long.endswith(short) and len(short) >= _SHARE_MIN * len(long))


def _simplify(title: str) -> str:
    return _NOT_LETTERS.sub("", title).casefold()


def _write_title(point: NavigationPoint) -> str:
    return write_heading(point.level, escape_marks(point.title))


def _split_blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    lines: list[str] = []
    fence = ""
    for line in [*text.split("\n"), ""]:
        if line or fence:
            lines.append(line)
        elif lines:
            block = "\n".join(lines)
            own = _PLACE.sub("", block)
            heading = _HEADING.fullmatch(own)
            places = tuple(map(int, _PLACE.findall(block)))
            blocks.append(_Block(own if own.strip() else "", len(heading[1]) if heading else 0, places))
            lines = []
        mark = _FENCE.match(line)
        fence = (mark[1] if mark else "") if not fence else "" if line == fence else fence
    return blocks
