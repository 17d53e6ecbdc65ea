"""Read the navigation of an HTML page: the list of the site's pages, in its order and nesting.

A navigation is the links in a `nav`, in an element with the role `navigation`, in an `aside`, or in a list of
links outside of the page's main text.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from roamtui.convert.conversion import parse_start
from roamtui.web.page import FetchedPage
from roamtui.web.urls import resolve_href

if TYPE_CHECKING:
    from lxml.etree import _Element

_AREAS_XPATH = """
(//nav | //aside | //*[@role='navigation'] | //ul | //ol)[not(
    ancestor::footer or ancestor::nav or ancestor::aside or ancestor::*[@role='navigation']
    or ((self::ul or self::ol)
        and ancestor::*[self::ul or self::ol or self::main or self::article or @role='main'])
)]
"""
_LISTS = ("ul", "ol")
_LENGTH_MAX = 1_000_000
"""Characters of a page that are read. It takes seconds to parse a page that nests more elements than this."""
_ENTRIES_MAX = 5_000
DEPTH_MAX = 4
"""Maximum depth of a line that is kept. Deeper ones get this depth."""
_LINKED_SHARE_MIN = 0.5
"""Minimum share of the text of a list of links that is in the links."""


class NavigationEntry(Struct, frozen=True):
    """A line of a navigation."""

    depth: int
    title: str
    """Not sanitised."""
    url: str | None
    """None if the line is the title of the deeper lines below it."""


def read_navigations(page: FetchedPage) -> Iterator[tuple[NavigationEntry, ...]]:
    """Yield the navigations of an HTML page."""
    root = parse_start(page.body, page.charset, _LENGTH_MAX)
    written_base = next((each.get("href", "") for each in root.iter("base")), "")
    base = resolve_href(page.final_url, written_base) or page.final_url

    def read_entry(entry: NavigationEntry) -> NavigationEntry:
        href = entry.url or ""  # menus give "#" to titles of deeper lines
        return replace(entry, url=None if href.startswith("#") else resolve_href(base, href))

    for area in root.xpath(_AREAS_XPATH):
        if area.tag not in _LISTS or _is_list_of_links(area):
            yield tuple(map(read_entry, islice(_iter_entries(area), _ENTRIES_MAX)))


def _read_words(element: "_Element") -> str:
    return " ".join("".join(element.itertext()).split())


def _is_list_of_links(element: "_Element") -> bool:
    linked = sum(len(_read_words(link)) for link in element.iter("a"))
    return linked >= _LINKED_SHARE_MIN * len(_read_words(element))


def _iter_entries(area: "_Element") -> Iterator[NavigationEntry]:
    """Yield the links of a navigation, each with its `href`, and the words of items without a link."""
    for element in area.iter("a", "li"):
        around = takewhile(lambda each: each is not area, element.iterancestors())
        depth = sum(each.tag == "li" for each in around)
        if element.tag == "a":
            yield NavigationEntry(max(0, depth - 1), _read_words(element), element.get("href", ""))
            continue
        if next(element.iter("a", *_LISTS), element).tag in _LISTS:
            text = "".join(element.xpath("text() | *[not(self::ul or self::ol)]//text()"))
            if words := " ".join(text.split()):
                yield NavigationEntry(depth, words, None)


def keep_pages(
    entries: Iterable[NavigationEntry], is_page: Callable[[str], bool]
) -> tuple[NavigationEntry, ...]:
    """Keep the first line of each page, and the titles of deeper lines that are kept. Skip no depth."""
    urls: set[str] = set()
    lines: list[NavigationEntry] = []
    for entry in entries:
        if entry.url is None or not is_page(entry.url):
            lines.append(replace(entry, url=None))
        elif entry.url not in urls and entry.title:
            urls.add(entry.url)
            lines.append(entry)
    kept: list[NavigationEntry] = []
    for entry in reversed(lines):
        if entry.url is not None or (entry.title and kept and kept[-1].depth > entry.depth):
            kept.append(entry)
    open_depths: list[int] = []
    for index, entry in enumerate(reversed(kept)):
        while open_depths and open_depths[-1] >= entry.depth:
            open_depths.pop()
        lines[index] = replace(entry, depth=min(len(open_depths), DEPTH_MAX))
        open_depths.append(entry.depth)
    return tuple(lines[: len(kept)])


def count_pages(entries: tuple[NavigationEntry, ...]) -> int:
    """Count the lines that lead to pages."""
    return sum(entry.url is not None for entry in entries)
