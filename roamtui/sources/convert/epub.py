"""An EPUB book into Markdown: its chapters in reading order, with the titles and levels that its navigation gives.

Its XML is read by the tokens alone: no entity is expanded and no other file is looked up.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import Converted
from roamtui.sources.convert.epub_headings import Leveller, mark_places
from roamtui.sources.convert.epub_navigation import NavigationPoint, find_tags, locate_part, read_navigation
from roamtui.sources.convert.escaping import has_words
from roamtui.sources.convert.html import convert_html, decode_html
from roamtui.sources.convert.html_tokens import Tag, read_tokens
from roamtui.sources.convert.package import Package

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_CIPHER = b"xmlenc#aes"
"""What encrypts text; fonts are scrambled in another way."""
_CHAPTERS_MAX = 5_000
_PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    """What the package document of a book says."""

    title: str
    chapters: tuple[str, ...]
    """Names of the parts in reading order."""
    navigation: str
    """Name of the part that is the table of contents, empty where there is none."""
    is_ncx: bool


def convert_epub(data: bytes, name: str) -> Converted:
    """Return a book as Markdown.

    Args:
        data: The file.
        name: What to call it in an error.

    Raises:
        SourceError: It is damaged, protected, too large, or holds no text.
    """
    package = Package(data, name)
    if _CIPHER in (package.read(_ENCRYPTION) or b""):
        raise SourceError(f"{name} is protected against copying and cannot be read.")
    book = _read_book(package)
    points: Mapping[str, list[NavigationPoint]] = {}
    if book.navigation:
        source = decode_html(package.read(book.navigation) or b"")[0]
        points = _group_by_part(read_navigation(source, book.navigation, is_ncx=book.is_ncx))
    leveller = Leveller()
    texts, missing = [], 0
    for chapter in book.chapters[:_CHAPTERS_MAX]:
        content = package.read(chapter)
        if content is None:
            missing += 1
        else:
            here = points.get(chapter, [])
            page = convert_html(mark_places(decode_html(content)[0], here))
            texts.append(leveller.level_chapter(page.text, here))
    text = "\n".join(filter(None, texts))
    if not has_words(text):
        raise SourceError(f"{name} holds no text; its pages may be pictures.")
    notes = [f"{missing} of its chapters are missing."] if missing else []
    if len(book.chapters) > _CHAPTERS_MAX:
        notes.append(f"Only the first {_CHAPTERS_MAX:,} of {len(book.chapters):,} chapters were read.")
    return Converted(text=text, title=book.title, notes=tuple(notes))


def _group_by_part(points: list[NavigationPoint]) -> dict[str, list[NavigationPoint]]:
    ordered = sorted(points, key=lambda point: point.part_name)
    return {name: list(group) for name, group in groupby(ordered, key=lambda point: point.part_name)}


def _read_book(package: Package) -> _Book:
    container = decode_html(package.read(_CONTAINER) or b"")[0]
    root = next((tag.attributes.get("full-path", "") for tag in find_tags(container, "rootfile")), "")
    content = package.read(root)
    if content is None:
        raise SourceError(f"{package.name} is no EPUB book, or a damaged one. Convert it anew.")
    source = decode_html(content)[0]
    items = {tag.attributes.get("id", ""): tag.attributes for tag in find_tags(source, "item")}
    places = {key: locate_part(item.get("href", ""), root)[0] for key, item in items.items()}
    nav = next((key for key, item in items.items() if "nav" in item.get("properties", "").split()), "")
    spine = next(find_tags(source, "spine"), None)
    ncx = spine.attributes.get("toc", "") if spine is not None else ""
    if ncx not in items:
        ncx = next((key for key, item in items.items() if item.get("media-type", "").endswith("ncx+xml")), "")
    listed = [tag.attributes.get("idref", "") for tag in find_tags(source, "itemref")]
    chapters = (
        places[key] for key in listed if key in items and key != nav and items[key].get("media-type", "") in _PAGE_TYPES
    )
    return _Book(
        title=_read_title(source),
        chapters=tuple(dict.fromkeys(chapters)),
        navigation=places.get(nav or ncx, ""),
        is_ncx=not nav,
    )


def _read_title(source: str) -> str:
    is_title = False
    for token in read_tokens(source):
        if isinstance(token, Tag):
            is_title = token.name in ("dc:title", "title") and not token.is_end
        elif is_title and token.strip():
            return " ".join(token.split())[:300]
    return ""
