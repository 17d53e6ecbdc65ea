"""Read a page as a tree, without navigation, hidden elements and permalinks.

libxml2 repairs the tags, so the tree is sound even if the page is broken. Its depth is limited.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from lxml.etree import ErrorTypes, HTMLParser, fromstring, strip_tags

from roamtui.errors import SourceError
from roamtui.sources.decode import replace_surrogates

_DEPTH_MAX = 80
"""Maximum depth of the tree, twice that of real pages. Of deeper elements, only the text is kept."""
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
LISTS = frozenset({"ul", "ol", "menu", "dir"})
BLOCKS = frozenset(
    {
        *(*HEADINGS, *LISTS, "table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption", "colgroup"),
        *("address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "li"),
        *("main", "nav", "object", "option", "p", "pre", "search", "section", "select", "summary"),
        *("template", "audio", "video", "canvas", "button", "textarea"),
    }
)
"""Elements that start and end a line."""
_WITHOUT_MEANING = ("span", "font", "abbr", "wbr", "small", "u")
"""Elements that are removed, because a word that is partly in one must be escaped as a whole."""
_HIDDEN_NAMES = frozenset(
    {
        *("nav", "footer", "template", "select", "object", "audio", "video", "canvas", "button", "textarea"),
        *("script", "style", "svg", "noscript", "iframe"),
    }
)
_HIDDEN_ROLES = frozenset({"navigation", "contentinfo", "search", "menu", "menubar", "toolbar", "dialog"})
_HIDDEN_CLASSES = frozenset(
    {
        *("linenos", "lineno", "mw-editsection", "visually-hidden", "sr-only", "screen-reader-text", "skip-link"),
        *("breadcrumb", "breadcrumbs"),
    }
)
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:font-size|opacity)\s*:\s*0(?![.\d]*[1-9])", re.I
)
_ANCHOR_SIGNS = frozenset({"", "#", "¶", "§", "🔗", "⚓", "∞"})
"""Texts of the links that a page adds to its headings."""
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad\\s]+")
_LANGUAGE_CLASS = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-)([\w+#.-]{1,30})(?=\s|$)")
_NOT_A_LANGUAGE = frozenset({"default", "none", "notranslate", "plaintext", "nohighlight", "wrapper", "text", "source"})
_TITLE_LENGTH_MAX = 300
_ATTRIBUTE_LENGTH_MAX = 2_000
_SCHEMES = frozenset({"", "http", "https", "mailto"})
_NEEDS_QUOTING = re.compile(r"[\x00-\x20<>()\\\x7f-\x9f\u2028\u2029\ufffe\uffff]")


def read_page(source: str, base_url: str | None = None, image_base: str | None = None) -> tuple[Any, str]:
    """Return the tree of a page, and its title.

    Raises:
        SourceError: The page is nested more deeply than libxml2 allows.
    """
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    root = fromstring(f"<html>{replace_surrogates(source)}".encode(), parser)
    if parser.error_log.last_error and parser.error_log.last_error.type == ErrorTypes.ERR_RESOURCE_LIMIT:
        raise SourceError("The page has too many elements inside each other. Save it as text from a browser.")
    for element in root.xpath(f"//*[count(ancestor::*) = {_DEPTH_MAX}]"):
        strip_tags(element, "*")
    _clean(root, base_url, image_base)
    strip_tags(root, *_WITHOUT_MEANING)
    titles = (" ".join((title.text or "").split()) for title in root.iter("title"))
    return root, next(filter(None, titles), "")[:_TITLE_LENGTH_MAX]


def _clean(root: Any, base_url: str | None, image_base: str | None) -> None:
    """Empty what is hidden, and make links absolute."""
    for element in [*root.iter()]:
        if _is_hidden(element):
            element.clear(keep_tail=True)
        elif element.tag == "a":
            _clean_link(element, base_url)
        elif element.tag == "img":
            # Pages that load images late keep the URL in data-src.
            source = element.get("src") or element.get("data-src") or ""
            element.set("src", make_absolute_href(source, image_base or base_url))
        elif element.tag == "base" and base_url:
            base_url = make_absolute_href(element.get("href", ""), base_url) or base_url


def _is_hidden(element: Any) -> bool:
    """Check whether an element is invisible, or part of the navigation around the text."""
    role = element.get("role", "").lower()
    return (
        element.tag in _HIDDEN_NAMES
        or role in _HIDDEN_ROLES
        or not _HIDDEN_CLASSES.isdisjoint(element.get("class", "")[:_ATTRIBUTE_LENGTH_MAX].split())
        or (element.get("hidden") is not None and role != "tabpanel")
        or (element.get("aria-hidden") == "true" and element.tag != "pre")
        or bool(_HIDING_STYLE.search(element.get("style", "")[:_ATTRIBUTE_LENGTH_MAX]))
    )


def _clean_link(link: Any, base_url: str | None) -> None:
    """Empty a permalink, and make any other link absolute."""
    href = link.get("href", "")
    if "#" in href and _INVISIBLE.sub("", "".join(link.itertext("*"))) in _ANCHOR_SIGNS and link.find(".//img") is None:
        link.clear(keep_tail=True)
        return
    # A heading that links to itself is plain text in Markdown.
    is_self_link = href.startswith("#") and next(link.iterancestors(*HEADINGS), None) is not None
    link.set("href", "" if is_self_link else make_absolute_href(href, base_url))


def make_absolute_href(href: str, base_url: str | None) -> str:
    """Return a link target, quoted for Markdown and absolute if `base_url` is given, or an empty string if invalid."""
    try:
        target = urljoin(base_url or "", href.strip())
        is_safe = urlsplit(target).scheme.lower() in _SCHEMES and len(target) <= _ATTRIBUTE_LENGTH_MAX
    except ValueError:
        return ""
    return _NEEDS_QUOTING.sub(lambda match: quote(match[0]), target) if href.strip() and is_safe else ""


def find_code_language(code: Any) -> str:
    """Return the programming language that a code block, an element in it or one around it declares, or ""."""
    around = [element for _, element in zip(range(2), code.iterancestors(), strict=False)]
    classes = " ".join(element.get("class", "")[:_ATTRIBUTE_LENGTH_MAX] for element in (code, *around, *code.iter()))
    found = (value for value in _LANGUAGE_CLASS.findall(classes.lower()) if value not in _NOT_A_LANGUAGE)
    return str(next(found, ""))
