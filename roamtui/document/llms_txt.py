"""An llms.txt, and other pages that are lists of links: each link of a list is a row below its section.

A link's own text is the lines of its list item. Two rules keep own texts in order without a gap: text after a list
belongs to the last link before it, and where an item has several links the last of them holds the lines, the others
begin there and are empty. Lists within lists are flat: all their links stand below the section, none below another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from roamtui.document.columns import Columns, Row, build_columns
from roamtui.document.lines import find_line_starts, normalise_line_ends
from roamtui.document.node import NodeKind
from roamtui.document.parse import measure_front_matter
from roamtui.document.plain import plain_line, shorten
from roamtui.document.scanning.blocks import parse_blocks
from roamtui.sources.web.address import resolve_link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_NAME = re.compile(r"llms(?!-full)[\w.-]*\.(?:txt|md)", re.IGNORECASE)
_ITEM_LINE = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$", re.MULTILINE)
_LINK_START = re.compile(r"(?:\*\*)?\[[^\]\n]+\]\([^)\s]+[^)\n]*\)|<?https?://")
_SHAPE = re.compile(r"\s*# [^\n]+\n\s*>[ \t]*[^\n]*\n")
_SECTION = re.compile(r"^## ", re.MULTILINE)
_BARE = re.compile(r"https?://[^\s<>\"'`|\u3001\u3002\uff08\uff09\uff0c\uff5c\u300d\u300f\u300b]+")
_BARE_END = ".,;:!?)*_]"
_SIMPLE_ITEM = re.compile(r"\[([^\\`*_\[\]<&!\n]+)\]\(([^\s()<>\\&]+)\)[^\[\]`<\\]*")
"""A link without marks in its text, and words after it in which no other link can be."""
_NO_TITLE = " \t:\uff1a|\uff5c-\u2013\u2014>\u2192,;\u3001\uff0c."
_TITLE_LENGTH_MAX = 300
_LINKS_MIN = 3
_ITEMS_SHARE_MIN = 0.7
"""Share of list items that must be links where a text is taken for a list of links by its shape alone."""
_TEXT_SHARE_MIN = 0.5
"""Share of all characters that must stand in such items."""
_LENGTH_MAX = 1_500_000
"""Characters; a longer text is no list of links for a reader."""


@dataclass(frozen=True, slots=True)
class _Item:
    line: int
    links: tuple[tuple[str, str], ...]
    """Title and address of each, as they stand there."""


def is_link_list(text: str, name: str = "", *, is_fetched: bool = False) -> bool:
    """Return whether a text is an llms.txt, by its name or by its shape.

    By shape alone: title and block quote at the start, lists of links below H2, and little else.

    Args:
        text: Markdown.
        name: The file's name, or the last part of an address.
        is_fetched: Whether it is a page that a link led to; such a list of links need have neither title nor quote.
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
    """Return the rows of a parsed text with one more for each link in its lists.

    Args:
        columns: Rows of the headings alone; those of paragraphs, where a text has no heading, give way to the links.
        text: What they are rows of.
        base: Address that relative links are resolved against; without one they stay text.
    """
    starts = find_line_starts(text)
    links = [
        Row(NodeKind.LINK, 0, title, starts[item.line], url)
        for item in _list_items(text)
        for title, url in _resolve_all(item.links, base)
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


def _resolve_all(links: Sequence[tuple[str, str]], base: str | None) -> Iterator[tuple[str, str]]:
    for title, href in links:
        url = None if href.startswith("#") else resolve_link(base or "", href)
        if url is not None:
            yield title or name_address(url), url


def name_address(url: str) -> str:
    """Return an address as the title of a link that has no words."""
    return shorten(plain_line(url.partition("://")[2].rstrip("/")), _TITLE_LENGTH_MAX)


def _list_items(text: str) -> list[_Item]:
    """Return the list items of a text that have links, in order."""
    normal = normalise_line_ends(text)
    front = normal[: measure_front_matter(normal)]
    source = "\n" * front.count("\n") + normal[len(front) :].replace("\0", "\N{REPLACEMENT CHARACTER}")
    env: dict[str, object] = {}
    items: list[_Item] = []
    open_lines: list[int] = []
    for token in parse_blocks(source, env):
        if token.type == "list_item_open" and token.map is not None:
            open_lines.append(token.map[0])
        elif token.type == "list_item_close":
            open_lines.pop()
        elif token.type == "inline" and open_lines and ("http" in token.content or "[" in token.content):
            line = max(open_lines[-1], items[-1].line if items else 0)
            links = _find_simple_link(token.content) or tuple(_find_links(_parse_inline(token.content, env)))
            if links:
                items.append(_Item(line, links))
    return items


def _find_simple_link(content: str) -> tuple[tuple[str, str], ...]:
    """Return the link of an item in which nothing else could be one: most items, at a hundredth of the cost."""
    match = _SIMPLE_ITEM.fullmatch(content)
    return ((shorten(plain_line(match[1]), _TITLE_LENGTH_MAX), match[2]),) if match is not None else ()


def _parse_inline(content: str, env: dict[str, object]) -> list[Token]:
    parser = _make_parser()
    tokens: list[Token] = []
    parser.inline.parse(content, parser, env, tokens)
    return tokens


def _find_links(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yield title and address of each link among the inline tokens of an item; bare addresses where it has no link."""
    if not any(token.type == "link_open" for token in tokens):
        yield from _find_bare("".join(token.content if token.type == "text" else " " for token in tokens))
        return
    href = ""
    words: list[str] = []
    before = ""
    for token in tokens:
        if token.type == "link_open":
            href, before, words = str(token.attrs.get("href", "")), _name_bare("".join(words)), []
        elif token.type == "link_close":
            title = plain_line("".join(words))
            yield shorten(before if token.markup == "autolink" else title, _TITLE_LENGTH_MAX), href
            words = []
        else:
            words.append(token.content or " " * (token.type in ("softbreak", "hardbreak")))


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


@lru_cache(maxsize=1)
def _make_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - only lists of links need it

    return MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
