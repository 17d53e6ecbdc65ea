"""Parse a page into a shallow tree of the elements that Markdown can express.

libxml2 reads the tags, so each start tag has an end tag, in order, even if the page is broken. Navigation and hidden
elements are left out. No heading is invented or lost, and the depth of the tree is limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import quote, urljoin, urlsplit

from lxml.etree import HTMLParser, XMLSyntaxError

from roamtui.sources.decode import replace_surrogates

_CHUNK_BYTES = 1 << 14
_OPEN_ELEMENTS_MAX = 2_000
"""If more elements are open, a new parser reads on, because libxml2 searches all of them at each stray end tag."""
_HEADING_TAG = re.compile(r"<(/?)(h[1-6])(?=[\s/>])", re.IGNORECASE)
_HEADING_PREFIX = "as-"
"""Prefix that hides heading names from libxml2, which would end a heading at a paragraph inside it."""
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
    {
        *("nav", "footer", "template", "select", "object", "audio", "video", "canvas", "button", "textarea", "dialog"),
        *("script", "style", "svg", "noscript", "iframe", "xmp", "noembed", "noframes"),
    }
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
_WITH_ELEMENT = HEADINGS | {"table", "dt"}
"""Other blocks that become elements. The rest only end lines."""
_WITHOUT_TEXT = LISTS | {"table", "thead", "tbody", "tr", "dl"}
"""Blocks that must not contain text directly. Marks are therefore inserted before them, not inside."""
_OUTSIDE_TEXT = frozenset({"html", "head", "title", "meta", "link"})
_NESTING_MAX = 16
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
    is_layout: bool = False
    """Whether this is an item, row or cell around a heading or a code block, which Markdown allows in no table."""

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


def read_page(
    source: str, base_url: str | None, image_base: str | None = None, marks: Mapping[str, str] | None = None
) -> tuple[Element, str]:
    """Return the tree of a page, and its title. `marks` are texts to insert, by the id of the element where."""
    data = _HEADING_TAG.sub(rf"<\1{_HEADING_PREFIX}\2", replace_surrogates(source.replace("\0", ""))).encode()
    builder = _TreeBuilder(base_url, image_base, marks or {})
    parser = _make_parser(builder)
    start = 0
    while start < len(data):
        end = data.find(b"<", start + _CHUNK_BYTES)
        end = len(data) if end < 0 else end
        if len(builder.open_tags) > _OPEN_ELEMENTS_MAX:
            _close(parser)
            parser = _make_parser(builder)
        parser.feed(data[start:end])
        start = end
    _close(parser)
    return builder.root, " ".join("".join(builder.title).split())[:_TITLE_LENGTH_MAX]


def _make_parser(builder: _TreeBuilder) -> HTMLParser:
    return HTMLParser(target=builder, encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)


def _close(parser: HTMLParser) -> None:
    with suppress(XMLSyntaxError):  # raised if the source was empty
        parser.close()


class _TreeBuilder:
    """Builds the tree of a page from the tags and text that the parser reports."""

    def __init__(self, base_url: str | None, image_base: str | None, marks: Mapping[str, str]) -> None:
        self.root = Element("")
        self.title: list[str] = []
        self.open_tags: list[tuple[str, Mapping[str, str], Element | None]] = []
        """Open tags, outermost first, with their elements; None for a tag without an element."""
        self._base_url = base_url
        self._image_base = image_base
        self._marks = {**marks}
        self._path = [self.root]
        """Open elements, outermost first. An inline element ends earlier than its tag if a block starts in it."""
        self._hidden_depth = 0
        """Number of open tags up to and including the one that hides its content; 0 outside hidden content."""
        self._link = ""
        """Target of the open link, which also applies to the blocks inside the link."""
        self._is_visible = False
        """Whether anything visible was read since the last heading started."""

    def data(self, text: str) -> None:
        """Add text."""
        if self.open_tags and self.open_tags[-1][0] == "title" and not self._hidden_depth:
            self.title.append(text)
        elif self._hidden_depth:
            return
        elif self._path[-1].name == "pre":
            self._path[-1].add_text(text.replace("\r", "").replace("\N{NO-BREAK SPACE}", " "))
        else:
            if text.strip():
                self._resume_link()
            self._is_visible = self._is_visible or not is_anchor_sign(text)
            self._path[-1].add_text(text)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Start an element, if Markdown can express it here."""
        name = name.removeprefix(_HEADING_PREFIX)
        attributes = dict(attributes)
        element = None
        mark = "" if self._hidden_depth or name in _OUTSIDE_TEXT else self._marks.pop(attributes.get("id", ""), "")
        if mark and name in _WITHOUT_TEXT:
            self._path[-1].add_text(mark)
        if self._hidden_depth:
            pass
        elif _is_hidden(name, attributes):
            self._hidden_depth = len(self.open_tags) + 1
            self._end_line(name)
        elif name in BLOCKS:
            element = self._start_block(name, attributes)
        elif self._path[-1].name == "pre":
            code = self._path[-1]
            if name == "br":
                code.add_text("\n")
            code.attributes["language"] = code.attributes["language"] or _extract_code_language(attributes)
        else:
            element = self._start_inline(name, attributes)
        if mark and name not in _WITHOUT_TEXT:
            self._path[-1].add_text(mark)
        self.open_tags.append((name, attributes, element))

    def end(self, _name: str) -> None:
        """End the innermost open tag."""
        name, _, element = self.open_tags.pop()
        if self._hidden_depth:
            if len(self.open_tags) < self._hidden_depth:
                self._hidden_depth = 0
                self._end_line(name)
            return
        self._end_line(name)
        if name == "a":
            self._end_link()
        elif element in self._path:
            del self._path[self._path.index(element) :]

    def close(self) -> None:
        """End all open tags."""
        while self.open_tags:
            self.end("")

    def _start_inline(self, name: str, attributes: Mapping[str, str]) -> Element | None:
        match name:
            case "a":
                self._end_link()
                href = attributes.get("href", "")
                is_fragment = href.startswith("#")
                is_permalink = is_fragment or not _PERMALINK_CLASSES.isdisjoint(_split_classes(attributes))
                # A heading that links to itself is plain text in Markdown.
                is_self_link = is_fragment and self._path[-1].name in HEADINGS
                self._link = "" if is_self_link else make_absolute_href(href, self._base_url)
                return self._push("a", {"href": self._link, **({"is-permalink": ""} if is_permalink else {})})
            case "base" if self._base_url and "href" in attributes:
                self._base_url = make_absolute_href(attributes["href"], self._base_url) or self._base_url
            case "br":
                self._path[-1].children.append(Element("br"))
            case "hr":
                self._end_line("p")
                self._path[-1].children.append(Element("hr"))
            case "img":
                # Pages that load images late keep the URL in data-src.
                source = attributes.get("src") or attributes.get("data-src") or ""
                source = make_absolute_href(source, self._image_base or self._base_url)
                image = {"alt": attributes.get("alt", ""), "src": source}
                if any(image.values()):
                    self._resume_link()
                    self._is_visible = True
                    self._path[-1].children.append(Element("img", image))
            case _ if name in INLINE:
                self._resume_link()
                return self._push(name)
            case _:
                pass
        return None

    def _start_block(self, name: str, attributes: Mapping[str, str]) -> Element | None:
        # An open heading or code block ends if an element that cannot be inside it starts.
        for index, element in enumerate(self._path):
            is_heading = element.name in HEADINGS
            if (is_heading and name in _ENDS_HEADING and self._is_visible) or (
                name in HEADINGS and (is_heading or element.name == "pre")
            ):
                del self._path[index:]
                break
        self._end_line(name)
        outer = self._path[-1].name
        if outer == "pre":
            return None
        if name in HEADINGS or name == "pre":
            for element in reversed(self._path):
                if element.name == "blockquote":
                    break
                element.is_layout = element.is_layout or name in HEADINGS or element.name not in LISTS | {"li"}
            self._is_visible = self._is_visible and name == "pre"
        if name == "pre":
            around = [attributes, *(tag[1] for tag in reversed(self.open_tags[1 - _LANGUAGE_TAGS :]))]
            return self._push("pre", {"language": next(filter(None, map(_extract_code_language, around)), "")})
        role = attributes.get("role", "").lower()
        if name in _REGIONS or role in _REGIONS:
            return self._push(name if name in _REGIONS else role)
        fits = {"li": outer in LISTS, "tr": outer == "table", "td": outer == "tr", "th": outer == "tr"}
        is_nestable = name in _NESTABLE and sum(element.name in _NESTABLE for element in self._path) < _NESTING_MAX
        if fits.get(name, outer not in ("table", "tr") and (is_nestable or name in _WITH_ELEMENT)):
            return self._push(name, attributes)
        return None

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
        self._link = ""
        for index in range(len(self._path) - 1, 0, -1):
            if self._path[index].name not in INLINE:
                return
            if self._path[index].name == "a":
                del self._path[index:]
                return

    def _push(self, name: str, attributes: Mapping[str, str] | None = None) -> Element | None:
        if len(self._path) >= _TREE_DEPTH_MAX:
            return None
        element = Element(name, {**(attributes or {})})
        self._path[-1].children.append(element)
        self._path.append(element)
        return element

    def _resume_link(self) -> None:
        """Start the open link again in a block inside it, because a Markdown link cannot span blocks."""
        if self._link and all(element.name != "a" for element in self._path):
            self._push("a", {"href": self._link})
