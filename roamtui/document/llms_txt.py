"""Parse the lists of links that sites write for models, such as llms.txt.

Each link becomes a row below its section. Its own text is the lines of its list item. Two rules
keep own texts in order and without gaps. Text after a list belongs to the last link before it. If an item has
several links, the last one gets the lines, and the others start at the same offset and are empty. No link is
nested below another link.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from roamtui.document.document import Document, NodeColumns, NodeKind, NodeRow, make_columns
from roamtui.markdown.blocks import Block, BlockQuote, Emphasis, Heading, Inline, Link, List, Paragraph
from roamtui.markdown.parser import parse_markdown
from roamtui.sanitiser import sanitise_line
from roamtui.text import compute_body_start, shorten
from roamtui.web.urls import make_title_from_url, resolve_href

_BARE_URL = re.compile(r"https?://[^\s<>\"'`|\u3001\u3002\uff08\uff09\uff0c\uff5c\u300d\u300f\u300b]+")
_BARE_URL_END = ".,;:!?)*_]"
"""Characters at the end of a bare URL that do not belong to it, unless a ) closes a ( of the URL."""
_AROUND_TITLE = " \t:\uff1a|\uff5c-\u2013\u2014>\u2192,;\u3001\uff0c."
_FULL_NAME = re.compile(r"(?<![a-z])full(?![a-z])")
"""A word in the names of files that have whole pages, such as llms-full.txt."""
_TITLE_LENGTH_MAX = 300
_LENGTH_MAX = 1_500_000
"""Maximum length of a list of links, in characters."""


def add_llms_txt_links(document: Document, name: str) -> Document:
    """Add a row for each link of a document, unless its `name` says that it has whole pages."""
    if _FULL_NAME.search(name):
        return document
    if len(document.text) > _LENGTH_MAX:
        return replace(document, left_out=(*document.left_out, "the pages that a long list leads to"))
    return replace(document, columns=add_links(document.columns, document.text, document.url))


def add_links(columns: NodeColumns, text: str, base: str | None) -> NodeColumns:
    """Add a row for each link in the lists of a parsed text, and drop the rows of paragraphs."""
    links: list[NodeRow] = []
    body_start = compute_body_start(text)
    markdown = parse_markdown(text[body_start:], start=body_start)
    last_start = 0
    for start, words in _iter_item_words(markdown.blocks):
        for title, href in _iter_links(words, markdown.links):
            # A paragraph of an outer item can follow a nested item, but rows must stay in order.
            last_start = max(last_start, start)
            url = None if href.startswith("#") else resolve_href(base or "", href)
            if url is not None:
                links.append(NodeRow(NodeKind.LINK, 0, title or make_title_from_url(url), last_start, url))
    if not links:
        return columns
    sections = [row for row in columns.list_rows() if row.kind is not NodeKind.TEXT]
    if not sections and links[0].start:
        sections = [NodeRow(NodeKind.PREAMBLE, 0, "", 0)]
    rows = []
    level = 0
    # The sort is stable: a section comes before the links that start where it starts.
    for row in sorted([*sections, *links], key=lambda row: row.start):
        if row.kind is not NodeKind.LINK:
            level = row.level
        rows.append(replace(row, level=level + 1) if row.kind is NodeKind.LINK else row)
    return make_columns(rows, len(text))


def _iter_item_words(blocks: Sequence[Block], item_start: int = -1) -> Iterator[tuple[int, Inline]]:
    """Yield the start of the item and the words of each paragraph or heading in a list item."""
    for block in blocks:
        match block:
            case List():
                for item in block.items:
                    yield from _iter_item_words(item.blocks, item.start)
            case BlockQuote():
                yield from _iter_item_words(block.blocks, item_start)
            case Paragraph() | Heading() if item_start >= 0:
                yield item_start, block.words
            case _:
                pass


def _iter_links(words: Inline, links: Sequence[Link]) -> Iterator[tuple[str, str]]:
    """Yield title and href of each link in the words of an item or, if there is no link, of each bare URL."""
    has_links = False
    for number, group in groupby(words, key=lambda word: word.link_number):
        text = "".join(word.text for word in group)
        link = None if number is None else links[number]
        if link is None or link.is_reference_mark or link.is_image or _BARE_URL.fullmatch(text):
            continue
        has_links = True
        yield shorten(sanitise_line(text), _TITLE_LENGTH_MAX), link.href
    if has_links:
        return
    text = "".join(" " if word.emphasis & Emphasis.CODE else word.text for word in words)
    end = 0
    for match in _BARE_URL.finditer(text):
        url = match.group().rstrip(_BARE_URL_END)
        ending = match.group()[len(url) :]
        closing = len(ending) - len(ending.lstrip(")"))
        opened = max(0, url.count("(") - url.count(")"))
        url += ")" * min(closing, opened)
        words_before = sanitise_line(text[end : match.start()]).strip(_AROUND_TITLE).strip("\"'")
        yield shorten(words_before, _TITLE_LENGTH_MAX), url
        end = match.start() + len(url)
