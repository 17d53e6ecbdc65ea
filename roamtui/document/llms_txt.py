"""What sites write for models: an llms.txt, a list of links, and an llms-full.txt, all pages of a site in one file.

In a list each link is a row below its section, and its own text the lines of its item. Two rules keep own texts in
order without a gap: text after a list belongs to the last link before it, and where an item has several links the last
of them holds the lines, the others begin there and are empty. All links stand below the section, none below another.

Of pages in one file one thing differs from CommonMark: a boundary, as programs write it between pages, is no Markdown.
Each page is read as the file of its own that it was, so that front matter in the middle makes no heading and a fence
that a page leaves open ends with it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from roamtui.document.document import Columns, Document, NodeRow, build_columns
from roamtui.document.front_matter import find_body, measure_front_matter
from roamtui.document.headings import restore_offsets, scan_headings
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
from roamtui.document.markdown.parser import read_markdown
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line, shorten
from roamtui.sources.web.urls import resolve_href

_NAME = re.compile(r"llms(?!-full)[\w.-]*\.(?:txt|md)", re.IGNORECASE)
_ITEM_LINE = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$", re.MULTILINE)
_LINK_START = re.compile(r"(?:\*\*)?\[[^\]\n]+\]\([^)\s][^)\n]*\)|<?https?://")
_SHAPE = re.compile(r"\s*# [^\n]+\n\s*>[^\n]*\n")
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
        NodeRow(NodeKind.LINK, 0, title or make_title_from_url(url), start, url)
        for start, title, href in _list_links(text)
        if not href.startswith("#") and (url := resolve_href(base or "", href)) is not None
    ]
    if not links:
        return columns
    kept = [
        NodeRow(kind, level, title, start, url)
        for kind, level, title, start, url in zip(
            columns.kinds, columns.levels, columns.titles, columns.starts, columns.urls, strict=False
        )
        if kind is not NodeKind.TEXT
    ]
    if not kept and links[0].start:
        kept = [NodeRow(NodeKind.PREAMBLE, 0, "", 0)]
    return build_columns(list(_merge(kept, links)), len(text))


def _merge(sections: Sequence[NodeRow], links: Sequence[NodeRow]) -> Iterator[NodeRow]:
    """Yield sections and links in order, each link one level below the section that it stands in."""
    position = 0
    level = 0
    for link in links:
        while position < len(sections) and sections[position].start <= link.start:
            level = sections[position].level
            yield sections[position]
            position += 1
        yield NodeRow(NodeKind.LINK, level + 1, link.title, link.start, link.url)
    yield from sections[position:]


def make_title_from_url(url: str) -> str:
    """Return an address as the title of a link that has no words."""
    return shorten(sanitise_line(url.partition("://")[2].rstrip("/")), _TITLE_LENGTH_MAX)


def _list_links(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the links in the list items of a text: where the line of the item begins, title and address."""
    begin = find_body(text)
    markdown = read_markdown(text[begin:], start=begin)
    last = 0
    for start, words in _list_words(markdown.blocks):
        for title, href in _iter_links(words, markdown.links, text):
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


def _iter_links(words: Inline, links: Sequence[Link], source: str) -> Iterator[tuple[str, str]]:
    """Yield title and address of each link among the words of an item; bare addresses where it has no link."""
    kinds = {number: link for number, link in enumerate(links) if not (link.is_mark or link.is_image)}
    if not any(word.link in kinds for word in words):
        yield from _iter_bare_urls("".join(" " if word.emphasis & Emphasis.CODE else word.text for word in words))
        return
    before = ""
    for number, group in groupby(words, key=lambda word: word.link):
        text = "".join(word.text for word in group)
        if number is None or number not in kinds:
            before = _name_bare(text)
            continue
        href = kinds[number].href
        is_autolink = text == href and f"<{text}>" in source
        yield shorten(before if is_autolink else sanitise_line(text), _TITLE_LENGTH_MAX), href
        before = ""


def _iter_bare_urls(text: str) -> Iterator[tuple[str, str]]:
    """Yield each address that stands in a text without marks; its title is what stands before it."""
    end = 0
    for match in _BARE.finditer(text):
        before = _name_bare(text[end : match.start()])
        url = match.group().rstrip(_BARE_END)
        end = match.start() + len(url)
        yield shorten(before, _TITLE_LENGTH_MAX), url


def _name_bare(before: str) -> str:
    """Return the title of an address that stands there itself: the words before it."""
    return sanitise_line(before).strip(_NO_TITLE).strip("\"'")


_LEVEL_MAX = 6
_FULL_NAME = re.compile(r"(?:[\w.-]+[-_.])?llms-(?:[\w.]+-)?full\.(?:txt|md|mdx)", re.IGNORECASE)
_NAMED_MIN = 2
"""Boundaries of one kind, each with an address, that a file with such a name must have."""
_UNNAMED_MIN = 3
"""Boundaries of one kind that any other must have."""
_UNNAMED_LENGTH_MAX = 8_000_000
"""Characters of a file that is taken for one by its boundaries alone."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
# Blanks and closing marks around a title are stripped later: a pattern that did so would backtrack for hours.
_TITLE_LINE = r"#{1,6}[ \t](?P<title>[^\n]+)\n"
_URL_LINE = (
    r"(?:>[ \t]*)?\**(?:Source|URL|Url|source|url)(?: URL)?:\**[ \t]*<?(?P<url>(?:https?://|/)[^\s<>]*)>?[ \t]*\n"
)
_RULE_LINE = r"-{3,}[ \t]*\n"
_ATTRIBUTE = re.compile(r"\b(title|name|url|href|source|path|src)\s*=\s*(?:\"([^\"\n]*)\"|'([^'\n]*)')", re.IGNORECASE)
_ELEMENT = re.compile(r"<(title|url|source|path)>[ \t]*([^<\s](?:[^<\n]*[^<\s])?)[ \t]*</\1>", re.IGNORECASE)
_YAML_LINE = re.compile(
    r"^(title|url|source|source_url|canonical_url|permalink|slug|path)[ \t]*:[ \t]*((?:\S.*)?)$", re.M
)
_NO_LINE_END = re.compile(r"[^\n]")
_KEY_LINE = r"[A-Za-z_][\w.-]*[ \t]*:(?:[ \t][^\n]*)?\n"
_FRONT_MATTER = re.compile(
    rf"^---[ \t]*\n(?P<yaml>{_KEY_LINE}(?:{_KEY_LINE}|[ \t]+\S[^\n]*\n|- [^\n]*\n|\#[^\n]*\n)*?)(?:---|\.\.\.)[ \t]*\n",
    re.MULTILINE,
)
_ADDRESS_NAMES = ("url", "source_url", "canonical_url", "href", "source", "src", "permalink", "path", "slug")

_STRONG = {
    "title and address": re.compile(
        rf"^(?:{_RULE_LINE}\n?)?(?P<marks>{_TITLE_LINE})\n?{_URL_LINE}(?:{_RULE_LINE})?", re.MULTILINE
    ),
    "rule and address": re.compile(rf"^[-=*_]{{3,}}[ \t]*\n\n?{_URL_LINE}(?:\n?{_RULE_LINE})?", re.MULTILINE),
    "front matter": _FRONT_MATTER,
    "tag": re.compile(
        r"^<(?:page|doc|document)(?P<attributes>(?:[ \t][^<>\n]*)?)>[ \t]*\n"
        r"(?P<elements>(?:[ \t]*<(?:title|url|source|path|content|document_content)>[^\n]*\n)*)",
        re.MULTILINE | re.IGNORECASE,
    ),
    "comment": re.compile(
        r"^<!--[ \t]*(?:docs?[_ -]?page|page|source|url)\b[ \t]*+[:=]?(?P<comment>[^\n]*?)-->[ \t]*\n",
        re.MULTILINE | re.IGNORECASE,
    ),
    "crawler's mark": re.compile(
        rf"^<\|(?=[\w-]*page-\d)[\w-]++\|>[ \t]*\n\n?(?:(?P<marks>{_TITLE_LINE}))?", re.MULTILINE
    ),
    "skip link": re.compile(
        rf"^(?P<marks>{_TITLE_LINE})\n?\[Skip to (?:main )?content\]\((?P<url>[^)\s#]++)[^)\n]*\)[^\n]*\n", re.MULTILINE
    ),
}
"""What programs write between pages, each with an address or a sign that nothing else has."""
_WEAK = re.compile(rf"(?:(?<=\n\n)|\A){_RULE_LINE}\n(?P<marks>{_TITLE_LINE})", re.MULTILINE)
"""A rule and a title: enough only in a file that says by its name what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageBoundary:
    """Where a page begins."""

    start: int
    """Offset of its first character."""
    body_start: int
    """Offset of the first character of the page's own Markdown."""
    level: int = 0
    """Level of the title if that is written as a heading, else 0."""
    title: str = ""
    """As written, Markdown and all; empty where the boundary names none."""
    url: str = ""
    """Address, or path below the site's; empty where it names none."""


def detect_page_boundaries(text: str, name: str = "") -> list[PageBoundary]:
    r"""Return where the pages of a text begin; empty for a text that is not made of pages."""
    is_named = _FULL_NAME.fullmatch(name) is not None
    if not is_named and len(text) > _UNNAMED_LENGTH_MAX:
        return []
    found = [boundary for kind in _STRONG for boundary in _list_regular(text, kind, is_named=is_named)]
    if not found and is_named:
        after_rules = [_read_boundary(match) for match in _WEAK.finditer(text)]
        level = min((boundary.level for boundary in after_rules), default=0)
        if len(after_rules) >= _UNNAMED_MIN:
            found = [boundary for boundary in after_rules if boundary.level == level]
    apart: list[PageBoundary] = []  # of two that overlap the one that begins first, where equal the longer
    for boundary in sorted(found, key=lambda one: (one.start, -one.body_start)):
        if not apart or boundary.start >= apart[-1].body_start:
            apart.append(boundary)
    outside = _keep_outside_fences(text, apart)
    return outside if len(outside) >= (_NAMED_MIN if is_named else _UNNAMED_MIN) else []


def _list_regular(text: str, kind: str, *, is_named: bool) -> list[PageBoundary]:
    """Return the boundaries of one kind; none where they are too few, or say too little, to be a rule of the file."""
    found = [_read_boundary(match) for match in _STRONG[kind].finditer(text)]
    if kind in ("front matter", "tag"):
        found = [boundary for boundary in found if boundary.title or boundary.url]
    elif kind == "comment":
        found = [boundary for boundary in found if "/" in boundary.url]
    with_url = sum(bool(boundary.url) for boundary in found)
    enough = _NAMED_MIN if is_named and with_url == len(found) else _UNNAMED_MIN
    needs_url = not is_named and kind in ("front matter", "tag")
    return [] if len(found) < enough or (needs_url and with_url < len(found) / 2) else found


def _read_boundary(match: re.Match[str]) -> PageBoundary:
    groups = match.groupdict()
    said = dict(_iter_page_attributes(groups))
    marks = groups.get("marks") or ""
    title = (groups.get("title") or "").strip(" \t").rstrip("#").rstrip(" \t")
    address = next((said[name] for name in _ADDRESS_NAMES if said.get(name)), "")
    return PageBoundary(
        start=match.start(),
        body_start=match.end(),
        level=len(marks) - len(marks.lstrip("#")),
        title=title or said.get("title") or said.get("name") or "",
        url=groups.get("url") or address,
    )


def _iter_page_attributes(groups: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    """Yield what front matter, attributes, elements and comments say, by name in small letters."""
    for name, value in _YAML_LINE.findall(groups.get("yaml") or ""):
        yield name, value.rstrip().strip("\"'")
    for name, one, other in _ATTRIBUTE.findall(groups.get("attributes") or ""):
        yield name.lower(), one or other
    for name, value in _ELEMENT.findall(groups.get("elements") or ""):
        yield name.lower(), value
    comment = (groups.get("comment") or "").strip(" \t")
    named = [(name.lower(), one or other) for name, one, other in _ATTRIBUTE.findall(comment)]
    yield from named or ([("path", comment.strip("\"'"))] if comment and " " not in comment else [])


def _keep_outside_fences(text: str, boundaries: list[PageBoundary]) -> list[PageBoundary]:
    """Return the boundaries that stand in no block of code; one that a page leaves open ends at the next boundary."""
    kept: list[PageBoundary] = []
    fences = list(_FENCE.finditer(text)) if boundaries else []
    position = 0
    mark = ""
    for boundary in boundaries:
        while position < len(fences) and fences[position].start() <= boundary.start:
            mark = _after_fence(mark, fences[position])
            position += 1
        if not (mark and position < len(fences) and not _after_fence(mark, fences[position])):
            kept.append(boundary)
            mark = ""
    return kept


def _after_fence(mark: str, fence: re.Match[str]) -> str:
    """Return the mark of the fence that is open after a fence line, empty for none."""
    found, rest = fence.group(1), fence.group(2)
    if not mark:
        return "" if found[0] == "`" and "`" in rest else found
    closes = found[0] == mark[0] and len(found) >= len(mark) and not rest.strip()
    return "" if closes else mark


def split_into_pages(document: Document, normal: str, boundaries: Sequence[PageBoundary]) -> Document:
    """Return a document whose sections are the pages of its text, and what stands before the first."""
    ends = [*(boundary.start for boundary in boundaries[1:]), len(normal)]
    shown = _FRONT_MATTER.sub(lambda block: _NO_LINE_END.sub(" ", block.group()), normal)
    pages = [_read_page(shown, boundary, end) for boundary, end in zip(boundaries, ends, strict=True)]
    levels = [page.level for page, _ in pages if page.level]
    level = max(sorted(set(levels)), key=levels.count, default=1)
    opening = normal[: boundaries[0].start]
    rows = _scan(opening, measure_front_matter(opening))
    title = next((row.title for row in rows if row.level == 1), "")
    if opening and not (rows and rows[0].start == 0):
        rows.insert(0, NodeRow(NodeKind.PREAMBLE, 0, "", 0))
    for page, headings in pages:
        url = resolve_href(document.url or "", page.url) or page.url
        rows.append(replace(page, level=level, url=url))
        deeper = max(0, level + 1 - min((heading.level for heading in headings), default=_LEVEL_MAX + 1))
        rows.extend(replace(heading, level=min(_LEVEL_MAX, heading.level + deeper), url=url) for heading in headings)
    if len(normal) != len(document.text):
        starts = restore_offsets(str(document.text), normal, array("Q", (row.start for row in rows)))
        rows = [replace(row, start=start) for row, start in zip(rows, starts, strict=True)]
    return replace(document, title=title or document.title, columns=build_columns(rows, len(document.text)))


def _read_page(normal: str, boundary: PageBoundary, end: int) -> tuple[NodeRow, list[NodeRow]]:
    """Return a page, of level 0 where no heading is its title, and the headings below that.

    A heading with which its text begins is its title, unless its boundary has another one.
    """
    headings = _scan(normal[boundary.body_start : end], 0, boundary.body_start)
    named = _scan(f"# {boundary.title}", 0) if boundary.title else []
    title = named[0].title if named else ""
    level = boundary.level
    if headings and not normal[boundary.body_start : headings[0].start].strip():
        first = headings[0]
        if not level or first.title.casefold() == title.casefold():
            level = level or first.level
            title = first.title
            headings = headings[1:]
    if not title:
        title = headings[0].title if headings else boundary.url.rstrip("/").rpartition("/")[2]
    return NodeRow(NodeKind.SECTION, level, title, boundary.start, boundary.url), headings


def _scan(text: str, start: int, shift: int = 0) -> list[NodeRow]:
    """Return the headings of a text."""
    columns = scan_headings(text, start)
    return [
        NodeRow(NodeKind.SECTION, level, title, offset + shift)
        for level, title, offset in zip(columns.levels, columns.titles, columns.offsets, strict=True)
    ]
