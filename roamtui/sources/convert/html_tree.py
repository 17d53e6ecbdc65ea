"""Parse a page into a shallow tree of the elements that Markdown can express.

libxml2 reads the tags, so each start tag has an end tag, in order, even if the page is broken. Navigation and hidden
elements are left out. No heading is invented or lost, and the depth of the tree is limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from lxml.etree import HTMLParser, XMLSyntaxError

from roamtui.sources.decode import replace_surrogates

_CHUNK_BYTES = 1 << 14
_OPEN_ELEMENTS_MAX = 2_000
"""If more elements are open, a new parser reads on, because libxml2 searches all of them at each stray end tag."""
_HEADING_TAG = re.compile(r"<(/?)(h[1-6])(?=[\s/>])", re.IGNORECASE)
_HEADING_PREFIX = "as-"
"""Prefix that hides heading names from libxml2, which would end a heading at a paragraph inside it."""
_NON_TEXT = frozenset({"script", "style", "svg", "noscript", "iframe", "xmp", "noembed", "noframes"})
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
"""Inline elements that Markdown can express. All others are replaced with their text."""
_PERMALINK_CLASSES = frozenset(
    {
        *("headerlink", "header-anchor", "heading-anchor", "hash-link", "permalink", "anchor", "anchorjs-link"),
        "heading-link",
    }
)
_HIDDEN_NAMES = frozenset(
    {"nav", "footer", "template", "select", "object", "audio", "video", "canvas", "button", "textarea", "dialog"}
)
_HIDDEN_ROLES = frozenset(
    {"navigation", "contentinfo", "search", "menu", "menubar", "toolbar", "dialog", "alertdialog"}
)
_HIDDEN_CLASSES = frozenset(
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
_LANGUAGE_CLASS = re.compile(
    r"^(?:language|lang|highlight-source|highlight-text|highlight|brush:)-?([A-Za-z0-9+#._-]{1,30})$"
)
_NOT_A_LANGUAGE = frozenset({"default", "none", "notranslate", "plaintext", "nohighlight", "wrapper", "text", "source"})
_LANGUAGE_ATTRIBUTES = ("data-language", "data-lang", "data-code-lang")
_LANGUAGE_NAME = re.compile(r"^[A-Za-z0-9+#._-]{1,30}$")
_REGIONS = frozenset({"main", "article"})
_ENDS_HEADING = HEADINGS | {"p", "ul", "ol", "dl", "table", "pre", "blockquote"}
_NESTABLE = LISTS | {"blockquote"}
_NESTING_DEPTH_MAX = 16
"""Maximum number of lists and quotes inside each other. Deeper ones become plain blocks."""
_TREE_DEPTH_MAX = 64
_LANGUAGE_TAGS = 3
"""Number of tags that may name the language of a code block: its own tag and those around it."""
_TITLE_LENGTH_MAX = 300
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad\\s]+")
_ANCHOR_SIGNS = frozenset({"", "#", "¶", "§", "🔗", "⚓", "∞", "link", "permalink", "anchor"})
_HREF_LENGTH_MAX = 2_000
_SCHEMES = frozenset({"", "http", "https", "mailto"})
_NEEDS_QUOTING = re.compile(r"[\x00-\x20<>()\\\x7f-\x9f\u2028\u2029]")
_SPACES_AND_CONTROLS = "".join(map(chr, range(33)))


class _Tag(NamedTuple):
    """A start tag or an end tag."""

    name: str
    """In lower case."""
    attributes: dict[str, str]
    """Empty for an end tag."""
    is_end: bool


class _TokenCollector:
    """Collects the tokens that the parser reads, except for elements such as scripts."""

    def __init__(self) -> None:
        self.tokens: list[_Tag | str] = []
        self.depth = 0
        self._skipped_depth = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        if self._skipped_depth or name in _NON_TEXT:
            self._skipped_depth += 1
        else:
            tag_name = name.removeprefix(_HEADING_PREFIX)
            self.tokens.append(_Tag(tag_name, dict(attributes), is_end=False))

    def end(self, name: str) -> None:
        self.depth -= 1
        if self._skipped_depth:
            self._skipped_depth -= 1
        else:
            self.tokens.append(_Tag(name.removeprefix(_HEADING_PREFIX), {}, is_end=True))

    def data(self, text: str) -> None:
        if not self._skipped_depth:
            self.tokens.append(text)

    def close(self) -> None:
        pass


def _read_tokens(source: str) -> Iterator[_Tag | str]:
    """Yield the tags and text of HTML, with character references decoded.

    Comments, declarations, scripts, styles and SVG are skipped. Unclosed elements end where browsers end them.
    """
    data = _HEADING_TAG.sub(rf"<\1{_HEADING_PREFIX}\2", replace_surrogates(source)).encode()
    collector = _TokenCollector()
    parser = _make_parser(collector)
    start = 0
    while start < len(data):
        end = data.find(b"<", start + _CHUNK_BYTES)
        end = len(data) if end < 0 else end
        if collector.depth > _OPEN_ELEMENTS_MAX:
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
    with suppress(XMLSyntaxError):  # raised if the source was empty
        parser.close()


def _is_hidden(name: str, attributes: Mapping[str, str]) -> bool:
    """Check whether an element is invisible, or part of the navigation around the text."""
    if name in _HIDDEN_NAMES or attributes.get("role", "").lower() in _HIDDEN_ROLES:
        return True
    if "hidden" in attributes and attributes.get("role") != "tabpanel":
        return True
    if attributes.get("aria-hidden", "").lower() == "true" and name != "pre":
        return True
    if "style" in attributes and _HIDING_STYLE.search(attributes["style"][:2_000]):
        return True
    classes = attributes.get("class")
    return bool(classes) and not _HIDDEN_CLASSES.isdisjoint(_split_classes(attributes))


def _split_classes(attributes: Mapping[str, str]) -> list[str]:
    return attributes.get("class", "")[:2_000].split()


def _extract_code_language(attributes: Mapping[str, str]) -> str:
    """Return the programming language that the attributes of an element declare, or an empty string."""
    for attribute in _LANGUAGE_ATTRIBUTES:
        value = attributes.get(attribute, "").lower()
        if value not in _NOT_A_LANGUAGE and _LANGUAGE_NAME.match(value):
            return value
    classes = _split_classes(attributes)
    for previous, name in zip(["", *classes], classes, strict=False):
        match = _LANGUAGE_CLASS.match(f"brush:{name}" if previous == "brush:" else name)
        if match and match[1].lower() not in _NOT_A_LANGUAGE:
            return match[1].lower()
    return ""


def make_absolute_href(href: str, base_url: str | None) -> str:
    """Return a link target, quoted for Markdown and absolute if `base_url` is given, or an empty string if invalid."""
    href = href.strip(_SPACES_AND_CONTROLS).replace("\t", "").replace("\n", "").replace("\r", "")
    if not href or len(href) > _HREF_LENGTH_MAX:
        return ""
    try:
        if base_url:
            href = urljoin(base_url, href)
        if urlsplit(href).scheme.lower() not in _SCHEMES:
            return ""
    except ValueError:
        return ""
    return _NEEDS_QUOTING.sub(lambda match: quote(match[0]), href)


def is_anchor_sign(text: str) -> bool:
    """Check whether a text is empty or only the sign of a permalink, such as `¶`."""
    return _INVISIBLE.sub("", text).casefold() in _ANCHOR_SIGNS


@dataclass(slots=True, eq=False)
class Element:
    """A node of the page tree. The root, `main` and `article` produce no Markdown of their own."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str | None] = field(default_factory=list)
    """None marks the end of a line. Code blocks have only text children."""
    visible_before: int = 0
    """Number of visible texts and images before this element. It shows whether anything visible was added since."""

    def walk(self) -> Iterator[Element]:
        """Yield this element and all its descendants, in order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()

    def add_text(self, text: str) -> None:
        """Append text to the last child if that is text too, otherwise as a new child."""
        if self.children and isinstance(self.children[-1], str):
            text = self.children.pop() + text  # type: ignore[operator]
        self.children.append(text)


def read_page(source: str, base_url: str | None, image_base: str | None = None) -> tuple[Element, str]:
    """Return the tree of a page, and its title."""
    builder = _TreeBuilder(base_url, image_base)
    for token in _read_tokens(source.replace("\0", "")):
        if isinstance(token, str):
            builder.add_text(token)
        elif token.is_end:
            builder.end()
        else:
            builder.start(token)
    return builder.root, " ".join("".join(builder.title).split())[:_TITLE_LENGTH_MAX]


class _TreeBuilder:
    """Builds the tree of a page. Every tag that starts must also end, in order."""

    def __init__(self, base_url: str | None, image_base: str | None = None) -> None:
        self.root = Element("")
        self.title: list[str] = []
        self._base_url = base_url
        self._image_base = image_base
        self._path = [self.root]
        """Open elements, outermost first."""
        self._tags: list[tuple[_Tag, Element | None]] = []
        """Open tags with their elements; None for a tag without an element."""
        self._hidden_depth = 0
        """Number of open tags up to and including the one that hides its content; 0 outside hidden content."""
        self._link = ""
        """Target of the open link, which also applies to the blocks inside the link."""
        self._visible_count = 0

    def add_text(self, text: str) -> None:
        if self._tags and self._tags[-1][0].name == "title":
            self.title.append(text)
        elif self._hidden_depth:
            return
        elif self._path[-1].name == "pre":
            self._path[-1].add_text(text.replace("\r", "").replace("\N{NO-BREAK SPACE}", " "))
            self._visible_count += 1
        else:
            if text.strip():
                self._resume_link()
            self._visible_count += not is_anchor_sign(text)
            self._path[-1].add_text(text)

    def start(self, tag: _Tag) -> None:
        element = None
        if self._hidden_depth:
            pass
        elif _is_hidden(tag.name, tag.attributes):
            self._hidden_depth = len(self._tags) + 1
            self._end_line(tag.name)
        elif tag.name in BLOCKS:
            element = self._start_block(tag)
        elif self._path[-1].name == "pre":
            code = self._path[-1]
            if tag.name == "br":
                code.add_text("\n")
            code.attributes["language"] = code.attributes["language"] or _extract_code_language(tag.attributes)
        elif tag.name == "a":
            self._end_link()
            href = tag.attributes.get("href", "")
            is_fragment = href.startswith("#")
            is_permalink = is_fragment or not _PERMALINK_CLASSES.isdisjoint(_split_classes(tag.attributes))
            # A heading that links to itself is plain text in Markdown.
            is_self_link = is_fragment and self._path[-1].name in HEADINGS
            self._link = "" if is_self_link else make_absolute_href(href, self._base_url)
            element = self._push("a", {"href": self._link, **({"is-permalink": ""} if is_permalink else {})})
        elif tag.name in INLINE:
            self._resume_link()
            element = self._push(tag.name)
        else:
            self._add_void_element(tag)
        self._tags.append((tag, element))

    def end(self) -> None:
        tag, element = self._tags.pop()
        if self._hidden_depth:
            if len(self._tags) < self._hidden_depth:
                self._hidden_depth = 0
                self._end_line(tag.name)
            return
        self._end_line(tag.name)
        if tag.name == "a":
            self._end_link()
            self._link = ""
        elif element in self._path:
            del self._path[self._path.index(element) :]

    def _end_line(self, name: str) -> None:
        """If an element with this name is a block, end the open line and the inline elements in it."""
        if name not in BLOCKS:
            return
        while self._path[-1].name in INLINE:
            self._path.pop()
        inner = self._path[-1]
        if inner.name != "pre":
            inner.children.append(None)
        elif inner.children and not str(inner.children[-1]).endswith("\n"):
            inner.add_text("\n")

    def _end_link(self) -> None:
        """End the innermost link of the open line, if there is one."""
        for index in range(len(self._path) - 1, 0, -1):
            if self._path[index].name not in INLINE:
                return
            if self._path[index].name == "a":
                del self._path[index:]
                return

    def _push(self, name: str, attributes: dict[str, str] | None = None) -> Element | None:
        if len(self._path) >= _TREE_DEPTH_MAX:
            return None
        element = Element(name, attributes or {}, visible_before=self._visible_count)
        self._path[-1].children.append(element)
        self._path.append(element)
        return element

    def _resume_link(self) -> None:
        """Start the open link again in a block inside it, because a Markdown link cannot span blocks."""
        if self._link and all(element.name != "a" for element in self._path):
            self._push("a", {"href": self._link})

    def _add_void_element(self, tag: _Tag) -> None:
        match tag.name:
            case "base" if self._base_url and "href" in tag.attributes:
                self._base_url = make_absolute_href(tag.attributes["href"], self._base_url) or self._base_url
            case "br":
                self._path[-1].children.append(Element("br"))
            case "hr" if not self._is_confined():
                self._end_line("p")
                self._path[-1].children.append(Element("hr"))
            case "img":
                # Pages that load images late keep the URL in data-src.
                source = tag.attributes.get("src") or tag.attributes.get("data-src") or ""
                source = make_absolute_href(source, self._image_base or self._base_url)
                image = {"alt": tag.attributes.get("alt", ""), "src": source}
                if any(image.values()):
                    self._resume_link()
                    self._visible_count += 1
                    self._path[-1].children.append(Element("img", image))
            case _:
                pass

    def _start_block(self, tag: _Tag) -> Element | None:
        name = tag.name
        # An open heading or code block ends if an element that cannot be inside it starts.
        for index, element in enumerate(self._path):
            if (is_heading := element.name in HEADINGS) or element.name == "pre":
                if name in HEADINGS or (
                    is_heading and name in _ENDS_HEADING and self._visible_count > element.visible_before
                ):
                    del self._path[index:]
                break
        self._end_line(name)
        if self._path[-1].name == "pre":
            return None
        if name in HEADINGS or name == "pre":
            # Outside quotes, a heading ends the list or table around it, and code ends the table around it.
            for index, element in enumerate(self._path):
                if element.name == "blockquote":
                    break
                if element.name == "table" or (element.name in LISTS and name != "pre"):
                    if self._visible_count == element.visible_before:  # it shows nothing yet
                        self._path[index - 1].children.remove(element)
                    del self._path[index:]
                    break
        if self._is_confined():
            return None
        if name == "pre":
            enclosing = [
                tag.attributes,
                *(open_tag.attributes for open_tag, _ in reversed(self._tags[1 - _LANGUAGE_TAGS :])),
            ]
            return self._push("pre", {"language": next(filter(None, map(_extract_code_language, enclosing)), "")})
        if name in HEADINGS or name == "dt":
            return self._push(name)
        return self._start_container(tag)

    def _start_container(self, tag: _Tag) -> Element | None:
        """Open a region, a list, a quote, a table, or a part of a list or table, if it is allowed here."""
        name, outer = tag.name, self._path[-1].name
        role = tag.attributes.get("role", "").lower()
        if name in _REGIONS or role in _REGIONS:
            return self._push(name if name in _REGIONS else role)
        fits = {"li": outer in LISTS, "tr": outer == "table", "td": outer == "tr", "th": outer == "tr"}
        if name in fits:
            return self._push(name, tag.attributes) if fits[name] else None
        if outer in ("table", "tr"):
            return None
        nested = sum(element.name in _NESTABLE for element in self._path)
        if name == "table" or (name in _NESTABLE and nested < _NESTING_DEPTH_MAX):
            return self._push(name, tag.attributes)
        return None

    def _is_confined(self) -> bool:
        """Check whether a heading or a table cell is open. Its content must stay on one line."""
        return any(element.name in HEADINGS or element.name in CELLS for element in self._path)
