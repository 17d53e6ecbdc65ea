"""HTML into tags and text, as browsers read it, in one pass whose time grows with the length alone."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK = re.compile(r"<(?=/?[A-Za-z]|[!?])")
_TAG_NAME = re.compile(r"/?([A-Za-z][^\s/>]*+)")
_ATTRIBUTE = re.compile(r"[\s/]*+([^\s/>=]++)(?:\s*+=\s*+(\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?|[\s/=]++")
_ATTRIBUTES_MAX = 60
_LONG_NUMBER = re.compile(r"&#(?:x[0-9A-Fa-f]{9,}|[0-9]{9,});?", re.IGNORECASE)
"""Character references that no character has; long ones are refused by `int`."""
_UNREAD = ("script", "style", "svg", "noscript", "iframe", "xmp", "noembed", "noframes")
_READ_AS_TEXT = ("title", "textarea")
_SWALLOWING = ("script", "style")
"""What hides the rest of a page where it does not end."""
_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in (*_UNREAD, *_READ_AS_TEXT)}


class Tag(NamedTuple):
    """A start tag or an end tag."""

    name: str
    """In lower case."""
    attributes: dict[str, str]
    """Empty for an end tag."""
    is_end: bool


def read_tokens(source: str, *, is_xml: bool = False) -> Iterator[Tag | str]:
    """Yield the tags and the text of an HTML source, character references decoded.

    Comments, declarations, scripts, styles and pictures drawn in SVG are left out; what never ends is, too.

    Args:
        source: HTML, however broken.
        is_xml: Whether a slash at the end of a tag ends the element.
    """
    position, unended = 0, set[str]()
    while position < len(source):
        mark = _MARK.search(source, position)
        start = mark.start() if mark else len(source)
        if start > position:
            yield decode_references(source[position:start])
        tag, position = _read_tag(source, start)
        if tag is None:
            continue
        yield tag
        if tag.is_end or (tag.name not in _ENDS and not is_xml):
            continue
        if source[position - 2] == "/" and (is_xml or tag.name == "svg"):
            yield Tag(tag.name, {}, is_end=True)
        elif tag.name in _ENDS and tag.name not in unended:
            end = _ENDS[tag.name].search(source, position)
            if end is None:
                unended.add(tag.name)
                position = len(source) if tag.name in _SWALLOWING else position
                continue
            if tag.name in _READ_AS_TEXT:
                yield decode_references(source[position : end.start()])
            position = end.start()


def _read_tag(source: str, start: int) -> tuple[Tag | None, int]:
    """Return the tag at a position, None where there is none that counts, and where to read on."""
    if source[start + 1 : start + 2] in ("!", "?"):
        return None, _skip_declaration(source, start)
    named = _TAG_NAME.match(source, start + 1)
    if named is None:
        return None, len(source)
    attributes, position = _read_attributes(source, named.end())
    if position > len(source):
        return None, len(source)
    is_end = source[start + 1] == "/"
    return Tag(named[1].lower(), {} if is_end else attributes, is_end), position


def decode_references(text: str) -> str:
    """Return text with its character references decoded."""
    if "&" not in text:
        return text
    return html.unescape(_LONG_NUMBER.sub("\N{REPLACEMENT CHARACTER}", text))


def _skip_declaration(source: str, start: int) -> int:
    """Return where a comment, a document type or an instruction ends."""
    mark = "-->" if source.startswith("<!--", start) else ">"
    end = source.find(mark, start + 2)
    return len(source) if end < 0 else end + len(mark)


def _read_attributes(source: str, position: int) -> tuple[dict[str, str], int]:
    """Return the attributes of a tag and where it ends, past the source's end where it does not."""
    attributes: dict[str, str] = {}
    while position < len(source) and source[position] != ">":
        found = _ATTRIBUTE.match(source, position)
        if found is None:
            position += 1
            continue
        position = found.end()
        if found[1] and len(attributes) < _ATTRIBUTES_MAX:
            value = found[2] or ""
            if value[:1] in ('"', "'") and value[-1:] == value[:1] and len(value) > 1:
                value = value[1:-1]
            attributes.setdefault(found[1].lower(), decode_references(value))
    return attributes, position + 1
