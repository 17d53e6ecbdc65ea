"""Read the navigation of an HTML page: the list of the site's pages, in its order and nesting.

A navigation is the links in a `nav`, in an element with the role `navigation`, in an `aside`, or in a list of
links outside of the page's main text.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from roamtui.convert.conversion import parse_start
from roamtui.web.page import FetchedPage
from roamtui.web.urls import resolve_href

if TYPE_CHECKING:
    from lxml.etree import _Element

_LISTS = ("ul", "ol")
_NO_WORDS = frozenset({"button", "footer", "form", "script", "select", "style", "svg", "template"})
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

    for area in _find_areas(root):
        yield tuple(map(read_entry, islice(_iter_entries(area), _ENTRIES_MAX)))


def _find_areas(root: "_Element") -> list["_Element"]:
    from lxml.etree import iterwalk  # noqa: PLC0415 - few sites need it

    areas: list[_Element] = []
    main_depth = 0
    walker = iterwalk(root, events=("start", "end"))
    for event, element in walker:
        role = element.get("role")
        if element.tag in ("main", "article") or role == "main":
            main_depth += 1 if event == "start" else -1
        if event == "end":
            continue
        is_navigation = element.tag in ("nav", "aside") or role == "navigation"
        if is_navigation or (element.tag in _LISTS and not main_depth and _is_list_of_links(element)):
            areas.append(element)
        if is_navigation or element.tag in (*_LISTS, "footer"):
            walker.skip_subtree()
    return areas


def _read_words(element: "_Element") -> str:
    return " ".join("".join(element.itertext()).split())


def _is_list_of_links(element: "_Element") -> bool:
    linked = sum(len(_read_words(link)) for link in element.iter("a"))
    return linked >= _LINKED_SHARE_MIN * len(_read_words(element))


def _iter_entries(area: "_Element") -> Iterator[NavigationEntry]:
    """Yield the lines of a navigation: its links, each with its `href`, and the words above lists.

    A list is deeper than the line of its item, or the words above it.
    """
    from lxml.etree import iterwalk  # noqa: PLC0415 - few sites need it

    depth = 0
    words = ""
    has_line: bool | None = None  # whether the current item has its line, or None outside of items
    outer: list[tuple[int, bool | None]] = []  # depth and item around each open list
    walker = iterwalk(area, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        is_list = tag in _LISTS or _is_rest_of_section(element)
        if event == "end":
            if is_list:
                depth, has_line = outer.pop()
                words = ""
            words += element.tail or ""
            continue
        label = "" if has_line else " ".join(words.split())
        if label and (is_list or tag == "nav"):
            yield NavigationEntry(depth, label, None)
            words = ""
            has_line = has_line is not None
        if is_list:
            outer.append((depth, has_line))
            depth += bool(has_line or label)
            has_line = None
            words = ""
        if tag in ("li", "section"):
            has_line = False
            words = ""
        if tag == "a":
            yield NavigationEntry(depth, _read_words(element), element.get("href", ""))
            has_line = has_line is not None
        if tag == "a" or tag in _NO_WORDS:
            walker.skip_subtree()
        else:
            words += element.text or ""


def _is_rest_of_section(element: "_Element") -> bool:
    """Return whether an element comes after the first element of a `section`, which is its title."""
    parent = element.getparent()
    return parent is not None and parent.tag == "section" and element.getprevious() is not None


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
