"""Names the headings that links inside a page or a book lead to, so that a reader can follow them."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from lxml.etree import iterwalk

from roamtui.convert.html_elements import HEADINGS
from roamtui.convert.xml_elements import join_text
from roamtui.markdown.anchors import make_anchor

NAME = "anchor"
"""The attribute of a heading with the name that is written after its title."""
_UNFIT = re.compile(r"[^\w.:-]+")
Target = tuple[str, str]
"""The name of a page, and the id of an element in it, or "" for the whole page."""


def name_headings(
    pages: Mapping[str, Any], resolve: Callable[[str, str], Target], *, keeps_hrefs: bool = False
) -> None:
    """Name the headings that links between `pages` lead to, and make the links lead to these names.

    A link to other text leads to the heading above it. `resolve` returns the target of a link in a page.
    """
    headings = {
        (name, target): heading
        for name, page in pages.items()
        for target, heading in reversed([*_iter_targets(page)])  # the first of equal ids counts
    }
    names: dict[Any, str] = {}
    taken: set[str] = set()
    for name, page in pages.items():
        for link in page.iter("a"):
            page_name, target = resolve(link.get("href", ""), name)
            heading = headings.get((page_name, target)) if link.get("href") else None
            if heading is None or not (target or len(pages) > 1):
                continue
            if heading not in names:
                own = target or PurePosixPath(page_name).stem
                own = own if own not in taken else f"{PurePosixPath(page_name).stem}-{own}"
                names[heading] = own = _UNFIT.sub("-", own)
                taken.add(own)
                if make_anchor(join_text(heading)) != own.lower():
                    heading.set(NAME, own)
            if not keeps_hrefs:
                link.set("href", f"#{names[heading]}")


def _iter_targets(page: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - lxml has no types
    """Yield each id with the heading that begins there, or with the heading above it, which may be None.

    The id "" stands for the whole page.
    """
    above: Any = None
    waiting = [""]
    for event, element in iterwalk(page, events=("start", "end")):
        is_heading = element.tag in HEADINGS
        if event == "start":
            waiting += filter(None, [element.get("id"), element.get("name") if element.tag == "a" else ""])
            above = element if is_heading else above
        text = element.text if event == "start" else element.tail
        if is_heading or (text or "").strip():
            yield from ((each, above) for each in waiting)
            waiting = []
    yield from ((each, above) for each in waiting)
