"""Convert an EPUB book to Markdown: its chapters in order, with titles from the navigation.

No entity of the XML is expanded, and no other file is read.
"""

import posixpath
from bisect import bisect_left
from functools import partial
from typing import Any
from urllib.parse import unquote

from roamtui.convert.converted import ConvertedText
from roamtui.convert.decode import decode_html
from roamtui.convert.html import write_blocks
from roamtui.convert.html_elements import BLOCKS, HEADINGS
from roamtui.convert.html_links import name_headings
from roamtui.convert.html_tree import read_page, read_style_sheet
from roamtui.convert.xml_elements import get_attribute, join_text
from roamtui.convert.zip_package import ZipPackage
from roamtui.errors import SourceError
from roamtui.text import normalise_letters

_TEXT_CIPHER = b"xmlenc#aes"
"""Algorithm of encrypted text; obfuscated fonts use another one."""
_PAGE_TYPES = ("xml", "html", "x-oeb1-document")
"""What the media type of a page ends with. The page may be a drawing (SVG)."""
_NavigationPoint = tuple[int, str, str]
"""An entry of the contents: its level from 1, its title, and an element's id, or "" for a whole part."""


def convert_epub(data: bytes, name: str) -> ConvertedText:
    """Convert a book to Markdown."""
    package = ZipPackage(data, name)
    if _TEXT_CIPHER in package.read("META-INF/encryption.xml"):
        raise SourceError(f"{name} is protected by DRM. Open a copy without it.")
    container = package.parse("META-INF/container.xml")
    book_part = next((element.get("full-path", "") for element in container.iter("{*}rootfile")), "")
    root = package.parse(book_part)
    items = {item.get("id", ""): item for item in root.iter("{*}item")}
    part_names = {
        key: _resolve_href(package, item.get("href", ""), book_part)[0] for key, item in items.items()
    }
    types = {key: item.get("media-type", "").partition(";")[0].strip().lower() for key, item in items.items()}
    nav = [key for key, item in items.items() if "nav" in item.get("properties", "").split()]
    ncx = [key for key, media_type in types.items() if media_type.endswith("ncx+xml")]
    tables = (_read_navigation(package, part_names[key]) for key in (*nav, *ncx))
    points = next(filter(None, tables), {})
    listed = dict.fromkeys(element.get("idref", "") for element in root.iter("{*}itemref"))
    pages = [key for key in listed if types.get(key, "").endswith(_PAGE_TYPES) and key not in (*nav, *ncx)]
    sheets = [part_names[key] for key, media_type in types.items() if media_type == "text/css"]
    styles = read_style_sheet("".join(decode_html(package.read(part))[0] for part in sheets))
    trees: dict[str, Any] = {}
    above = (0, 0)
    for part in dict.fromkeys(part_names[key] for key in pages):
        source, _ = decode_html(package.read(part, is_needed=True))
        page, _ = read_page(source, image_base=part, styles=styles)
        _superscript_note_marks(page)
        above = _set_headings(page, points.get(part, []), above)
        trees[part] = page
    name_headings(trees, partial(_resolve_href, package))
    blocks = [block for page in trees.values() for block in write_blocks(page)]
    title = next((join_text(element) for element in root.iter("{*}title")), "")
    return ConvertedText(text="\n\n".join(blocks) + "\n", title=title, notes=package.list_damage())


def _superscript_note_marks(page: Any) -> None:
    """Put the marks of notes into `sup` elements. In the page, perhaps only a style raises them."""
    for link in page.iter("a"):
        is_mark = "noteref" in f"{link.get('epub:type', '')} {link.get('role', '')}"
        if is_mark and next(link.iter("sup"), None) is None and next(link.iterancestors("sup"), None) is None:
            raised = link.makeelement("sup")
            link.addprevious(raised)
            raised.append(link)
            raised.tail = link.tail
            link.tail = None


def _read_navigation(package: ZipPackage, part: str) -> dict[str, list[_NavigationPoint]]:
    """Return the points of each part, from the first contents in a `nav` (EPUB 3) or an NCX (EPUB 2)."""
    points: dict[str, list[_NavigationPoint]] = {}
    root = package.parse(part)
    contents = [nav for nav in root.iter("{*}nav") if get_attribute(nav, "type") in ("", "toc")][:1]
    items = [*(item for nav in contents for item in nav.iter("{*}li")), *root.iter("{*}navPoint")]
    target = ("", "")
    # From the last to the first, because an entry without a target leads to the target of the next one.
    for item in reversed(items):
        for entry in [*item.iterchildren("{*}a", "{*}span", "{*}navLabel")][:1]:
            link = next(item.iterchildren("{*}content"), entry)
            href = link.get("href") or link.get("src")
            target = _resolve_href(package, href, part) if href else target
            level = 1 + sum(1 for _ in item.iterancestors(item.tag))
            if target[0] and (title := join_text(entry)):
                points.setdefault(target[0], []).insert(0, (level, title, target[1]))
    return points


def _resolve_href(package: ZipPackage, href: str, part_name: str) -> tuple[str, str]:
    """Return the name of the part that a link in another part leads to, and the fragment of the link.

    Some programs name a part as the link to it is written, with `%20` in place of a space.
    """
    path, _, fragment = href.partition("#")
    written = posixpath.normpath(posixpath.join(posixpath.dirname(part_name), path)) if path else part_name
    names = [package.resolve_name(name) for name in dict.fromkeys((unquote(written), written))]
    return next(filter(package.has, names), names[0]), unquote(fragment)


def _set_headings(page: Any, points: list[_NavigationPoint], above: tuple[int, int]) -> tuple[int, int]:
    """Give a page's headings the levels of the navigation, and make or insert one for each point without one.

    Headings that the navigation does not list belong below those that it lists. `above` has the levels of the
    last listed heading in the navigation and in its page. Return those for the next page.
    """
    order = {element: number for number, element in enumerate(page.iter())}
    elements = {element.get("id"): element for element in order if element.get("id")}
    headings = [element for element in order if element.tag in HEADINGS]
    lines = [each for each in order if each.tag in ("p", "div") and _is_line(each)] if points else []
    place = page
    listed: dict[Any, tuple[int, int]] = {}
    for level, title, fragment in points:
        place = elements.get(fragment, place)
        place = next(place.iterancestors(*HEADINGS), place)
        number = bisect_left(headings, order[place], key=order.__getitem__)
        near = (heading for heading in headings[number : number + 2] if heading not in listed)
        heading = next((heading for heading in near if _is_similar("".join(heading.itertext()), title)), None)
        number = bisect_left(lines, order[place], key=order.__getitem__)
        letters = normalise_letters(title)
        if heading is None and number < len(lines) and normalise_letters(join_text(lines[number])) == letters:
            heading = lines[number]
            heading.tag = "h1"
        if heading is None:
            heading = page.makeelement("h1")
            order[heading] = order[place]
            if place.tag in ("html", "body"):
                place.insert(0, heading)
            elif place in listed:
                place.addnext(heading)
            else:
                place.addprevious(heading)
        # The navigation often has the number, as in "Chapter 1. Title", where the page has only the title.
        if len(letters) > len(normalise_letters("".join(heading.itertext()))):
            heading[:] = []
            heading.text = title
        listed[heading] = level, int(heading.tag[1])
        place = heading
    for heading in page.iter(*HEADINGS):
        above = listed.get(heading, above)
        level = above[0] if heading in listed else above[0] + max(1, int(heading.tag[1]) - above[1])
        heading.tag = f"h{min(6, level)}"
    return above


def _is_line(block: Any) -> bool:
    return next(block.iterdescendants(*BLOCKS), None) is None and bool(join_text(block))


def _is_similar(first: str, second: str) -> bool:
    """Return whether two titles are the same, except for words at the start or end of one of them."""
    short, long = sorted(map(normalise_letters, (first, second)), key=len)
    return bool(short) and (long.startswith(short) or long.endswith(short))
