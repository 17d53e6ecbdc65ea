"""What the elements of HTML mean for a text: which are blocks, which are decoration, which are hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"ul", "ol", "menu", "dir"})
CELLS = frozenset({"td", "th"})
TABLE_PARTS = frozenset({"table", "thead", "tbody", "tfoot", "tr", *CELLS})
VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
)
BLOCKS = frozenset(
    {
        *HEADINGS,
        *LISTS,
        *TABLE_PARTS,
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
        "headerlink",
        "header-anchor",
        "heading-anchor",
        "hash-link",
        "permalink",
        "anchor",
        "anchorjs-link",
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


def is_unseen(name: str, attributes: Mapping[str, str]) -> bool:
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
    return bool(classes) and not _CHROME_CLASSES.isdisjoint(split_classes(attributes))


def split_classes(attributes: Mapping[str, str]) -> list[str]:
    """Return the class names of an element."""
    return attributes.get("class", "")[:2_000].split()


def find_code_language(attributes: Mapping[str, str]) -> str:
    """Return the programming language that an element says its code is in, else an empty string."""
    for attribute in _LANGUAGE_ATTRIBUTES:
        value = attributes.get(attribute, "").lower()
        if value not in _NO_LANGUAGE and _LANGUAGE_NAME.match(value):
            return value
    classes = split_classes(attributes)
    for previous, name in zip(["", *classes], classes, strict=False):
        found = _LANGUAGE.match(f"brush:{name}" if previous == "brush:" else name)
        if found and found[1].lower() not in _NO_LANGUAGE:
            return found[1].lower()
    return ""


def is_permalink(attributes: Mapping[str, str]) -> bool:
    """Return whether a link says of itself that it leads to the place that it stands at."""
    return not _PERMALINK_CLASSES.isdisjoint(split_classes(attributes))
