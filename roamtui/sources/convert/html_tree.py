"""A page as a shallow tree of what Markdown has a form for: headings, lists, quotes, tables, code, words within lines.

libxml2 reads the tags: each start has its end, in order, however broken the page is. What stands around the text and
what a reader does not see is left out. No heading is invented or lost, and no page makes the tree deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from lxml.etree import HTMLParser, XMLSyntaxError

from roamtui.sources.convert.escaping import replace_surrogates

_CHUNK_BYTES = 1 << 14
_OPEN_MAX = 2_000
"""Open elements past which the next chunk is read as a page of its own: libxml2 looks through all for a stray end."""
_ATTRIBUTES_MAX = 60
_HEADING_TAG = re.compile(r"<(/?)(h[1-6])(?=[\s/>])", re.IGNORECASE)
_HEADING_MARK = "as-"
"""Before the names of headings while they are parsed: libxml2 ends a heading that it knows where a paragraph begins."""
_UNREAD = frozenset({"script", "style", "svg", "noscript", "iframe", "xmp", "noembed", "noframes"})
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"ul", "ol", "menu", "dir"})
CELLS = frozenset({"td", "th"})
BLOCKS = frozenset(
    {
        *HEADINGS,
        *LISTS,
        *CELLS,
        *("table", "thead", "tbody", "tfoot", "tr"),
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "head", "header", "hgroup", "html", "li"),
        *("main", "nav", "object", "optgroup", "option", "p", "pre", "search", "section", "select", "summary"),
        *("template", "title", "audio", "video", "canvas", "button", "textarea", "colgroup", "listing"),
    }
)
INLINE = frozenset(
    {"a", "b", "strong", "i", "em", "cite", "del", "s", "strike", "code", "kbd", "samp", "tt", "var", "q"}
)
"""Inline elements that Markdown has a form for; all others are their text."""
_PERMALINK_CLASSES = frozenset(
    {
        *("headerlink", "header-anchor", "heading-anchor", "hash-link", "permalink", "anchor", "anchorjs-link"),
        "heading-link",
    }
)
_CHROME = frozenset(
    {"nav", "footer", "template", "select", "object", "audio", "video", "canvas", "button", "textarea", "dialog"}
)
_CHROME_ROLES = frozenset(
    {"navigation", "contentinfo", "search", "menu", "menubar", "toolbar", "dialog", "alertdialog"}
)
_CHROME_CLASSES = frozenset(
    {
        *("linenos", "lineno", "linenumber", "line-number", "line-numbers", "line-numbers-rows", "gutter"),
        *("mw-editsection", "copybtn", "copy-button", "visually-hidden", "sr-only", "screen-reader-text", "skip-link"),
        *("breadcrumb", "breadcrumbs", "toc-sidebar", "table-of-contents-sidebar"),
    }
)
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:font-size|opacity)\s*:\s*0(?![.\d]*[1-9])",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(
    r"^(?:language|lang|highlight-source|highlight-text|highlight|brush:)-?([A-Za-z0-9+#._-]{1,30})$"
)
_NO_LANGUAGE = frozenset({"default", "none", "notranslate", "plaintext", "nohighlight", "wrapper", "text", "source"})
_LANGUAGE_ATTRIBUTES = ("data-language", "data-lang", "data-code-lang")
_LANGUAGE_NAME = re.compile(r"^[A-Za-z0-9+#._-]{1,30}$")
_REGIONS = frozenset({"main", "article"})
_ENDS_HEADING = HEADINGS | {"p", "ul", "ol", "dl", "table", "pre", "blockquote"}
_NESTING = LISTS | {"blockquote"}
_NESTED_MAX = 16
"""Lists and quotes within each other; deeper ones only part the text."""
_TREE_DEPTH_MAX = 64
"""Elements of the tree within each other."""
_LANGUAGE_TAGS = 3
"""Tags around a code block that may say its language."""
_TITLE_LENGTH_MAX = 300
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad\\s]+")
_MARKS = frozenset({"", "#", "¶", "§", "🔗", "⚓", "∞", "link", "permalink", "anchor"})
_ADDRESS_LENGTH_MAX = 2_000
_SCHEMES = frozenset({"", "http", "https", "mailto"})
_UNWRITABLE = re.compile(r"[\x00-\x20<>()\\\x7f-\x9f\u2028\u2029]")
_STRIPPED = "".join(map(chr, range(33)))


class Tag(NamedTuple):
    """A start tag or an end tag."""

    name: str
    """In lower case."""
    attributes: dict[str, str]
    """Empty for an end tag."""
    is_end: bool


class _TokenCollector:
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


def read_tokens(source: str) -> Iterator[Tag | str]:
    """Yield the tags and the text of HTML or XML, character references decoded.

    Comments, declarations, scripts, styles and pictures drawn in SVG are left out; elements that a page leaves open are
    ended where browsers end them.
    """
    data = _HEADING_TAG.sub(rf"<\1{_HEADING_MARK}\2", replace_surrogates(source)).encode()
    collector = _TokenCollector()
    parser = _make_parser(collector)
    start = 0
    while start < len(data):
        end = data.find(b"<", start + _CHUNK_BYTES)
        end = len(data) if end < 0 else end
        if collector.depth > _OPEN_MAX:
            _close(parser)
            parser = _make_parser(collector)
        parser.feed(data[start:end])
        yield from collector.tokens
        collector.tokens.clear()
        start = end
    _close(parser)
    yield from collector.tokens


def _make_parser(collector: _TokenCollector) -> HTMLParser:
    return HTMLParser(target=collector, encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)


def _close(parser: HTMLParser) -> None:
    with suppress(XMLSyntaxError):  # there was nothing to read
        parser.close()


def iter_tags(source: str, *names: str) -> Iterator[Tag]:
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


def _is_unseen(name: str, attributes: Mapping[str, str]) -> bool:
    """Return whether a page does not show an element, or shows it around the text rather than in it."""
    if name in _CHROME or attributes.get("role", "").lower() in _CHROME_ROLES:
        return True
    if "hidden" in attributes and attributes.get("role") != "tabpanel":
        return True
    if attributes.get("aria-hidden", "").lower() == "true" and name != "pre":
        return True
    if "style" in attributes and _HIDING_STYLE.search(attributes["style"][:2_000]):
        return True
    classes = attributes.get("class")
    return bool(classes) and not _CHROME_CLASSES.isdisjoint(_split_classes(attributes))


def _split_classes(attributes: Mapping[str, str]) -> list[str]:
    return attributes.get("class", "")[:2_000].split()


def _extract_code_language(attributes: Mapping[str, str]) -> str:
    """Return the programming language that an element says its code is in, else an empty string."""
    for attribute in _LANGUAGE_ATTRIBUTES:
        value = attributes.get(attribute, "").lower()
        if value not in _NO_LANGUAGE and _LANGUAGE_NAME.match(value):
            return value
    classes = _split_classes(attributes)
    for previous, name in zip(["", *classes], classes, strict=False):
        found = _LANGUAGE.match(f"brush:{name}" if previous == "brush:" else name)
        if found and found[1].lower() not in _NO_LANGUAGE:
            return found[1].lower()
    return ""


def make_absolute_href(address: str, base_url: str | None) -> str:
    """Return an address as it can stand in Markdown, absolute where the page's is known; empty for a bad one."""
    address = address.strip(_STRIPPED).replace("\t", "").replace("\n", "").replace("\r", "")
    if not address or len(address) > _ADDRESS_LENGTH_MAX:
        return ""
    try:
        if base_url:
            address = urljoin(base_url, address)
        if urlsplit(address).scheme.lower() not in _SCHEMES:
            return ""
    except ValueError:
        return ""
    return _UNWRITABLE.sub(lambda found: quote(found[0]), address)


def is_anchor_sign(text: str) -> bool:
    """Return whether a reader sees no more in a text than a sign for a link to its own place."""
    return _INVISIBLE.sub("", text).casefold() in _MARKS


@dataclass(slots=True, eq=False)
class Element:
    """A part of a page; the root and a `main` or `article` are only what is in them."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str | None] = field(default_factory=list)
    """None where a line ends. Code holds texts alone."""
    seen: int = 0
    """How much a reader has seen of the page before it."""

    def walk(self) -> Iterator[Element]:
        """Yield it and all elements in it, in order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()

    def add_text(self, text: str) -> None:
        """Add text, joined to that before it."""
        if self.children and isinstance(self.children[-1], str):
            text = self.children.pop() + text  # type: ignore[operator]
        self.children.append(text)


def read_page(source: str, base_url: str | None) -> tuple[Element, str]:
    """Return the tree of a page, and what the page calls itself."""
    builder = _TreeBuilder(base_url)
    for token in read_tokens(source.replace("\0", "")):
        if isinstance(token, str):
            builder.take_text(token)
        elif token.is_end:
            builder.end()
        else:
            builder.start(token)
    return builder.root, " ".join("".join(builder.title).split())[:_TITLE_LENGTH_MAX]


class _TreeBuilder:
    """Takes the tags of a page, each of which is ended in order."""

    def __init__(self, base_url: str | None) -> None:
        self.root = Element("")
        self.title: list[str] = []
        self._base_url = base_url
        self._path = [self.root]
        """Elements that are open."""
        self._tags: list[tuple[Tag, Element | None]] = []
        """Tags that are open, each with the element that stands for it."""
        self._hidden = 0
        """How many tags were open when the one came that hides what is in it, 0 where none does."""
        self._link = ""
        """Address of the link that is open: blocks in it are links too."""
        self._seen = 0

    def take_text(self, text: str) -> None:
        if self._tags and self._tags[-1][0].name == "title":
            self.title.append(text)
        elif self._hidden:
            return
        elif self._path[-1].name == "pre":
            self._path[-1].add_text(text.replace("\r", "").replace("\N{NO-BREAK SPACE}", " "))
            self._seen += 1
        else:
            if text.strip():
                self._continue_link()
            self._seen += not is_anchor_sign(text)
            self._path[-1].add_text(text)

    def start(self, tag: Tag) -> None:
        element = None
        if self._hidden:
            pass
        elif _is_unseen(tag.name, tag.attributes):
            self._hidden = len(self._tags) + 1
            self._part(tag.name)
        elif tag.name in BLOCKS:
            element = self._start_block(tag)
        elif self._path[-1].name == "pre":
            self._start_in_code(tag)
        elif tag.name in INLINE:
            element = self._start_inline(tag)
        else:
            self._take_single(tag)
        self._tags.append((tag, element))

    def end(self) -> None:
        tag, element = self._tags.pop()
        if self._hidden:
            if len(self._tags) < self._hidden:
                self._hidden = 0
                self._part(tag.name)
            return
        self._part(tag.name)
        if tag.name == "a":
            self._leave("a")
            self._link = ""
        elif element in self._path:
            del self._path[self._path.index(element) :]

    def _part(self, name: str) -> None:
        """End the open line, and all that is open in it, where a block begins or ends."""
        if name not in BLOCKS:
            return
        while self._path[-1].name in INLINE:
            self._path.pop()
        inner = self._path[-1]
        if inner.name != "pre":
            inner.children.append(None)
        elif inner.children and not str(inner.children[-1]).endswith("\n"):
            inner.add_text("\n")

    def _leave(self, name: str) -> None:
        """End the innermost element of a name within the line."""
        for index in range(len(self._path) - 1, 0, -1):
            if self._path[index].name not in INLINE:
                return
            if self._path[index].name == name:
                del self._path[index:]
                return

    def _push(self, name: str, attributes: dict[str, str] | None = None) -> Element | None:
        if len(self._path) >= _TREE_DEPTH_MAX:
            return None
        element = Element(name, attributes or {}, seen=self._seen)
        self._path[-1].children.append(element)
        self._path.append(element)
        return element

    def _continue_link(self) -> None:
        """Begin the open link anew in a block within it."""
        if self._link and all(element.name != "a" for element in self._path):
            self._push("a", {"href": self._link})

    def _start_inline(self, tag: Tag) -> Element | None:
        if tag.name != "a":
            self._continue_link()
            return self._push(tag.name)
        self._leave("a")
        href = tag.attributes.get("href", "")
        is_inner = href.startswith("#")
        said = {"is-mark": ""} if is_inner or not _PERMALINK_CLASSES.isdisjoint(_split_classes(tag.attributes)) else {}
        address = make_absolute_href(href, self._base_url)
        if is_inner and self._path[-1].name in HEADINGS:
            address = ""
        self._link = address
        return self._push("a", {"href": address, **said})

    def _take_single(self, tag: Tag) -> None:
        """Take a tag that holds nothing."""
        is_confined = self._is_confined()
        match tag.name:
            case "base" if self._base_url and "href" in tag.attributes:
                self._base_url = make_absolute_href(tag.attributes["href"], self._base_url) or self._base_url
            case "br":
                self._path[-1].children.append(Element("br"))
            case "hr" if not is_confined:
                self._part("p")
                self._path[-1].children.append(Element("hr"))
            case "img":
                source = tag.attributes.get("src") or tag.attributes.get("data-src") or ""
                said = {"alt": tag.attributes.get("alt", ""), "src": make_absolute_href(source, self._base_url)}
                if any(said.values()):
                    self._continue_link()
                    self._seen += 1
                    self._path[-1].children.append(Element("img", said))
            case _:
                pass

    def _start_in_code(self, tag: Tag) -> None:
        code = self._path[-1]
        if tag.name == "br":
            code.add_text("\n")
        code.attributes["language"] = code.attributes["language"] or _extract_code_language(tag.attributes)

    def _start_block(self, tag: Tag) -> Element | None:
        name = tag.name
        self._end_early(name)
        self._part(name)
        if self._path[-1].name == "pre":
            return None
        if name in HEADINGS or name == "pre":
            self._close_outermost(LISTS | {"table"} if name != "pre" else frozenset({"table"}))
        if self._is_confined():
            return None
        if name == "pre":
            around = [
                tag.attributes,
                *(open_tag.attributes for open_tag, _ in reversed(self._tags[1 - _LANGUAGE_TAGS :])),
            ]
            return self._push("pre", {"language": next(filter(None, map(_extract_code_language, around)), "")})
        if name in HEADINGS or name == "dt":
            return self._push(name)
        return self._start_container(tag)

    def _start_container(self, tag: Tag) -> Element | None:
        """Open a region, a list, a quote, a table or a part of one, where there is a place for it."""
        name, outer = tag.name, self._path[-1].name
        role = tag.attributes.get("role", "").lower()
        if name in _REGIONS or role in _REGIONS:
            return self._push(name if name in _REGIONS else role)
        has_place = {"li": outer in LISTS, "tr": outer == "table", "td": outer == "tr", "th": outer == "tr"}
        if name in has_place:
            return self._push(name, tag.attributes) if has_place[name] else None
        if outer in ("table", "tr"):
            return None
        nested = sum(element.name in _NESTING for element in self._path)
        if name == "table" or (name in _NESTING and nested < _NESTED_MAX):
            return self._push(name, tag.attributes)
        return None

    def _is_confined(self) -> bool:
        """Return whether a heading or a cell is open, in which all is one line."""
        return any(element.name in HEADINGS or element.name in CELLS for element in self._path)

    def _end_early(self, name: str) -> None:
        """End a heading or a code block that something begins in which does not belong there."""
        for index, element in enumerate(self._path):
            is_heading = element.name in HEADINGS
            if not (is_heading or element.name == "pre"):
                continue
            if name in HEADINGS or (is_heading and name in _ENDS_HEADING and self._seen > element.seen):
                del self._path[index:]
            return

    def _close_outermost(self, names: frozenset[str]) -> None:
        """End the outermost open list or table, outside of quotes, and all in it; what follows in it stands free."""
        for index, element in enumerate(self._path):
            if element.name == "blockquote":
                return
            if element.name in names:
                if self._seen == element.seen:
                    self._path[index - 1].children.remove(element)
                del self._path[index:]
                return
