"""An llms.txt, and other pages that are lists of links: each link of a list is a row below its section.

A link's own text is the lines of its list item. Two rules keep own texts in order without a gap: text after a list
belongs to the last link before it, and where an item has several links the last of them holds the lines, the others
begin there and are empty. Lists within lists are flat: all their links stand below the section, none below another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from roamtui.document.columns import Columns, Row, build_columns
from roamtui.document.markdown.blocks import (
    Block,
    Details,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    Paragraph,
    Quote,
)
from roamtui.document.markdown.reading import read_markdown
from roamtui.document.node import NodeKind
from roamtui.document.parse import find_body
from roamtui.document.plain import plain_line, shorten
from roamtui.sources.web.address import resolve_link

_NAME = re.compile(r"llms(?!-full)[\w.-]*\.(?:txt|md)", re.IGNORECASE)
_ITEM_LINE = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$", re.MULTILINE)
_LINK_START = re.compile(r"(?:\*\*)?\[[^\]\n]+\]\([^)\s]+[^)\n]*\)|<?https?://")
_SHAPE = re.compile(r"\s*# [^\n]+\n\s*>[ \t]*[^\n]*\n")
_SECTION = re.compile(r"^## ", re.MULTILINE)
_BARE = re.compile(r"https?://[^\s<>\"'`|\u3001\u3002\uff08\uff09\uff0c\uff5c\u300d\u300f\u300b]+")
_BARE_END = ".,;:!?)*_]"
_NO_TITLE = " \t:\uff1a|\uff5c-\u2013\u2014>\u2192,;\u3001\uff0c."
_TITLE_LENGTH_MAX = 300
_LINKS_MIN = 3
_ITEMS_SHARE_MIN = 0.7
"""Share of list items that must be links where a text is taken for a list of links by its shape alone."""
_TEXT_SHARE_MIN = 0.5
"""Share of all characters that must stand in such items."""
_LENGTH_MAX = 1_500_000
"""Characters; a longer text is no list of links for a reader."""


def is_link_list(text: str, name: str = "", *, is_fetched: bool = False) -> bool:
    """Return whether a text is an llms.txt, by its file's name or by its shape.

    By shape alone: title and block quote at the start, lists of links below H2, and little else. A page that a link
    led to need have neither title nor quote.
    """
    if len(text) > _LENGTH_MAX or ("[" not in text and "http" not in text):
        return False
    if name and _NAME.fullmatch(name):
        return True
    if text.count("](") < _LINKS_MIN or not (is_fetched or (_SHAPE.match(text) and _SECTION.search(text))):
        return False
    items = _ITEM_LINE.findall(text)
    links = [item for item in items if _LINK_START.match(item)]
    characters = sum(map(len, text.split()))
    return (
        len(links) >= max(_LINKS_MIN, _ITEMS_SHARE_MIN * len(items))
        and sum(len("".join(item.split())) for item in links) >= _TEXT_SHARE_MIN * characters
    )


def add_links(columns: Columns, text: str, base: str | None) -> Columns:
    """Return the rows of a parsed text with one more for each link in its lists, to which rows of paragraphs give way.

    Relative links are resolved against `base`; without one they stay text.
    """
    links = [
        Row(NodeKind.LINK, 0, title or name_address(url), start, url)
        for start, title, href in _list_links(text)
        if not href.startswith("#") and (url := resolve_link(base or "", href)) is not None
    ]
    if not links:
        return columns
    kept = [
        Row(kind, level, title, start, url)
        for kind, level, title, start, url in zip(
            columns.kinds, columns.levels, columns.titles, columns.starts, columns.urls, strict=False
        )
        if kind is not NodeKind.TEXT
    ]
    if not kept and links[0].start:
        kept = [Row(NodeKind.PREAMBLE, 0, "", 0)]
    return build_columns(list(_merge(kept, links)), len(text))


def _merge(sections: Sequence[Row], links: Sequence[Row]) -> Iterator[Row]:
    """Yield sections and links in order, each link one level below the section that it stands in."""
    position = 0
    level = 0
    for link in links:
        while position < len(sections) and sections[position].start <= link.start:
            level = sections[position].level
            yield sections[position]
            position += 1
        yield Row(NodeKind.LINK, level + 1, link.title, link.start, link.url)
    yield from sections[position:]


def name_address(url: str) -> str:
    """Return an address as the title of a link that has no words."""
    return shorten(plain_line(url.partition("://")[2].rstrip("/")), _TITLE_LENGTH_MAX)


def _list_links(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the links in the list items of a text: where the line of the item begins, title and address."""
    begin = find_body(text)
    markdown = read_markdown(text[begin:], start=begin)
    last = 0
    for start, words in _list_words(markdown.blocks):
        for title, href in _find_links(words, markdown.links, text):
            last = max(last, start)
            yield last, title, href


def _list_words(blocks: Sequence[Block], item_start: int = -1) -> Iterator[tuple[int, Inline]]:
    """Yield the words of each block in list items, with where the item begins."""
    for block in blocks:
        match block:
            case List():
                for item in block.items:
                    yield from _list_words(item.blocks, item.start)
            case Quote() | Details():
                yield from _list_words(block.blocks, item_start)
            case Paragraph() | Heading() if item_start >= 0:
                yield item_start, block.words
            case _:
                pass


def _find_links(words: Inline, links: Sequence[Link], source: str) -> Iterator[tuple[str, str]]:
    """Yield title and address of each link among the words of an item; bare addresses where it has no link."""
    kinds = {number: link for number, link in enumerate(links) if not (link.is_mark or link.is_image)}
    if not any(word.link in kinds for word in words):
        yield from _find_bare("".join(" " if word.emphasis & Emphasis.CODE else word.text for word in words))
        return
    before = ""
    for number, group in groupby(words, key=lambda word: word.link):
        text = "".join(word.text for word in group)
        if number is None or number not in kinds:
            before = _name_bare(text)
            continue
        href = kinds[number].href
        is_autolink = text == href and f"<{text}>" in source
        yield shorten(before if is_autolink else plain_line(text), _TITLE_LENGTH_MAX), href
        before = ""


def _find_bare(text: str) -> Iterator[tuple[str, str]]:
    """Yield each address that stands in a text without marks; its title is what stands before it."""
    end = 0
    for match in _BARE.finditer(text):
        before = _name_bare(text[end : match.start()])
        url = match.group().rstrip(_BARE_END)
        end = match.start() + len(url)
        yield shorten(before, _TITLE_LENGTH_MAX), url


def _name_bare(before: str) -> str:
    """Return the title of an address that stands there itself: the words before it."""
    return plain_line(before).strip(_NO_TITLE).strip("\"'")
