"""Read the navigation of an HTML page: the list of the site's pages, in its order and nesting.

A navigation is the links in a `nav`, in an element with the role `navigation`, in an `aside`, in a frame that
one of them names, or in a list of links outside of the page's main text. The main text may list pages too.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from msgspec import Struct
from msgspec.structs import replace

from roamtui.convert.decode import decode_html, replace_surrogates
from roamtui.web.page import FetchedPage
from roamtui.web.urls import resolve_href

if TYPE_CHECKING:
    from lxml.etree import _Element

_LISTS = ("ul", "ol")
_NO_WORDS = frozenset({"button", "footer", "form", "script", "select", "style", "svg", "template"})
_LENGTH_MAX = 1_000_000
"""Bytes of a page that are read. It takes seconds to parse a page that nests more elements than this has."""
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


class Navigation(Struct, frozen=True, kw_only=True):
    """The lists of pages on one page. Each has only pages that it was asked for, each of them once."""

    site: tuple[NavigationEntry, ...] = ()
    """Its longest navigation."""
    own: tuple[NavigationEntry, ...] = ()
    """The lists of links in its own text."""
    frames: tuple[str, ...] = ()
    """URLs of frames that hold a navigation."""


def read_navigation(
    page: FetchedPage, is_page: Callable[[str], bool], *, is_frame: bool = False
) -> Navigation:
    """Read the lists of pages on an HTML page. All of a frame is a navigation.

    `is_page` tells whether a URL is one of the pages that are wanted. The page itself is none.
    """
    from lxml.etree import HTMLParser, fromstring  # noqa: PLC0415 - few sites need it

    text = replace_surrogates(decode_html(page.body[:_LENGTH_MAX], page.charset)[0])
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    root = fromstring(f"<html>{text}".encode(), parser)
    base = urljoin(page.final_url, next((each.get("href", "") for each in root.iter("base")), ""))
    areas, lists = _find_areas(root)
    holders = [root] if is_frame else areas
    frames = [*root.iter("frame"), *(frame for area in areas for frame in area.iter("iframe"))]

    def is_other(url: str) -> bool:
        return url != page.final_url and is_page(url)

    own = (entry for each in lists for entry in _iter_entries(each, base))
    return Navigation(
        site=max(
            (_keep_pages(_iter_entries(each, base), is_other) for each in holders),
            key=count_pages,
            default=(),
        ),
        own=_keep_pages(own, is_other),
        frames=tuple(filter(None, (resolve_href(base, frame.get("src", "")) for frame in frames))),
    )


def _find_areas(root: "_Element") -> tuple[list["_Element"], list["_Element"]]:
    """Find the navigations of a page, and the lists of links in its main text."""
    from lxml.etree import iterwalk  # noqa: PLC0415 - few sites need it

    areas: list[_Element] = []
    lists: list[_Element] = []
    main_depth = 0
    walker = iterwalk(root, events=("start", "end"))
    for event, element in walker:
        role = element.get("role")
        is_main = element.tag in ("main", "article") or role == "main"
        main_depth += is_main * (1 if event == "start" else -1)
        if event == "end":
            continue
        is_navigation = element.tag in ("nav", "aside") or role == "navigation"
        is_list = element.tag in _LISTS and _is_list_of_links(element)
        if is_navigation or (is_list and not main_depth):
            areas.append(element)
        elif is_list:
            lists.append(element)
        if is_navigation or element.tag in (*_LISTS, "footer"):
            walker.skip_subtree()
    return areas, lists


def count_pages(entries: tuple[NavigationEntry, ...]) -> int:
    """Count the lines that lead to pages."""
    return sum(entry.url is not None for entry in entries)


def _read_words(element: "_Element") -> str:
    return " ".join("".join(element.itertext()).split())


def _is_list_of_links(element: "_Element") -> bool:
    linked = sum(len(_read_words(link)) for link in element.iter("a"))
    return linked >= _LINKED_SHARE_MIN * len(_read_words(element))


def _iter_entries(area: "_Element", base: str) -> Iterator[NavigationEntry]:
    """Yield the lines of a navigation: its links, and the words above lists.

    A list is deeper than the item that it is in, and what follows the first line of a `section` is deeper
    than this line. A list outside of others is deeper than the words above it.
    """
    from lxml.etree import iterwalk  # noqa: PLC0415 - few sites need it

    depth = 0
    words = ""
    has_line = False  # whether the current item has its first line
    outer: list[tuple[int, bool]] = []  # depth around each open list and section, and whether it is a section
    walker = iterwalk(area, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        if event == "end":
            if tag in (*_LISTS, "section") and outer:
                depth = outer.pop()[0]
                words = ""
                has_line = False
            words += element.tail or ""
            continue
        is_link = tag == "a"
        label = "" if has_line else " ".join(words.split())
        is_titled = bool(outer) and outer[-1][1] and depth == outer[-1][0]
        if label and (tag in (*_LISTS, "nav") or (is_link and is_titled)):
            yield NavigationEntry(depth, label, None)
            has_line = True
            depth += is_titled
        if is_link:
            is_titled = is_titled and not label
            url = resolve_href(base, element.get("href", ""))
            yield NavigationEntry(depth, _read_words(element), url)
            has_line = True
            depth += is_titled
        if tag in _LISTS:
            outer.append((depth, False))
            depth += len(outer) > 1 or bool(label)
        elif tag == "section":
            outer.append((depth, True))
        if is_link or tag in _NO_WORDS:
            walker.skip_subtree()
            continue
        if tag in (*_LISTS, "li", "section"):
            words = ""
            has_line = False
        words += element.text or ""


def _keep_pages(
    entries: Iterator[NavigationEntry], is_page: Callable[[str], bool]
) -> tuple[NavigationEntry, ...]:
    """Keep the first line of each page, and the titles of deeper lines that are kept. Skip no depth."""
    urls: set[str] = set()
    lines: list[NavigationEntry] = []
    for entry in islice(entries, _ENTRIES_MAX):
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
