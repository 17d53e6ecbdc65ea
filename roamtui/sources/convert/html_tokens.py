"""HTML into tags and text, read by libxml2: each start has its end, in order, however broken the page is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from lxml.etree import HTMLParser, XMLSyntaxError

from roamtui.sources.convert.escaping import replace_surrogates

_CHUNK_BYTES = 1 << 14
_DEPTH_MAX = 2_000
"""Open elements past which the next chunk is read as a page of its own: libxml2 looks through all for a stray end."""
_ATTRIBUTES_MAX = 60
_HEADING_TAG = re.compile(r"<(/?)(h[1-6])(?=[\s/>])", re.IGNORECASE)
_HEADING_MARK = "as-"
"""Before the names of headings while they are parsed: libxml2 ends a heading that it knows where a paragraph begins."""
_UNREAD = frozenset({"script", "style", "svg", "noscript", "iframe", "xmp", "noembed", "noframes"})


class Tag(NamedTuple):
    """A start tag or an end tag."""

    name: str
    """In lower case."""
    attributes: dict[str, str]
    """Empty for an end tag."""
    is_end: bool


class _Collector:
    """Takes what the parser tells, without elements that are no text."""

    def __init__(self) -> None:
        self.tokens: list[Tag | str] = []
        self.depth = 0
        self._unread = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        if self._unread or name in _UNREAD:
            self._unread += 1
        else:
            named = name.removeprefix(_HEADING_MARK)
            self.tokens.append(Tag(named, dict(islice(attributes.items(), _ATTRIBUTES_MAX)), is_end=False))

    def end(self, name: str) -> None:
        self.depth -= 1
        if self._unread:
            self._unread -= 1
        else:
            self.tokens.append(Tag(name.removeprefix(_HEADING_MARK), {}, is_end=True))

    def data(self, text: str) -> None:
        if not self._unread:
            self.tokens.append(text)

    def close(self) -> None:
        pass

    def take(self) -> list[Tag | str]:
        taken, self.tokens = self.tokens, []
        return taken


def read_tokens(source: str) -> Iterator[Tag | str]:
    """Yield the tags and the text of HTML or XML, character references decoded.

    Comments, declarations, scripts, styles and pictures drawn in SVG are left out; elements that a page leaves open are
    ended where browsers end them.
    """
    marked = _HEADING_TAG.sub(rf"<\1{_HEADING_MARK}\2", replace_surrogates(source))
    data = marked.encode()
    collector = _Collector()
    parser = _make_parser(collector)
    start = 0
    while start < len(data):
        end = data.find(b"<", start + _CHUNK_BYTES)
        end = len(data) if end < 0 else end
        if collector.depth > _DEPTH_MAX:
            _close(parser)
            parser = _make_parser(collector)
        parser.feed(data[start:end])
        yield from collector.take()
        start = end
    _close(parser)
    yield from collector.take()


def _make_parser(collector: _Collector) -> HTMLParser:
    return HTMLParser(target=collector, encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)


def _close(parser: HTMLParser) -> None:
    with suppress(XMLSyntaxError):  # there was nothing to read
        parser.close()


def find_tags(source: str, *names: str) -> Iterator[Tag]:
    """Yield the start tags of some names in XML, whatever their prefixes."""
    for token in read_tokens(source):
        if isinstance(token, Tag) and not token.is_end and token.name.rpartition(":")[2] in names:
            yield token


def read_first_text(source: str, *names: str, length_max: int = 300) -> str:
    """Return the text at the beginning of the first element of some names that has any."""
    is_inside = False
    for token in read_tokens(source):
        if isinstance(token, Tag):
            is_inside = token.name in names and not token.is_end
        elif is_inside and token.strip():
            return " ".join(token.split())[:length_max]
    return ""
