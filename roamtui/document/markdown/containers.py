"""The marks of containers that dialects of Markdown add, such as `::: tip`, `!!! note` and the components of MDX.

Block rules of markdown-it-py for them would lose headings, so marks are looked for in the parsed text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from roamtui.document.markdown.inline import TagStarts, is_html_element

_ALERTS = frozenset(
    (
        *(
            "abstract",
            "attention",
            "bug",
            "caution",
            "check",
            "danger",
            "error",
            "example",
            "failure",
            "hint",
            "important",
        ),
        *("info", "note", "question", "quote", "seealso", "success", "summary", "tip", "todo", "warning"),
    )
)
_FOLDS = frozenset({"accordion", "collapse", "details", "dropdown", "expandable"})
"""Containers that a page shows folded."""
_PARTS = frozenset({"card", "step", "tab", "tab-item", "tabitem"})
_WRAPPERS = frozenset({"code-group", "tab-set", "tabs"})
"""Containers that only arrange others."""
_GENERAL_ALERTS = frozenset({"admonition", "callout"})
"""Containers of MyST and MDX whose title or attribute names the kind of alert."""
_KNOWN = _ALERTS | _FOLDS | _PARTS | _WRAPPERS | _GENERAL_ALERTS

_FENCED = re.compile(
    r"[ \t]*(?P<fence>:{3,}|/{3,})[ \t]*(?:(?P<brace>\{)?[ \t]*\.?(?P<kind>[A-Za-z][\w-]*+)(?![.:(])(?P<rest>.*))?"
)
_INCLUSION = re.compile(
    r"\{\*[ \t]+(?P<a>[^\s*]+).*\*\}"
    r"|\{\{#(?:rustdoc_)?(?:include|playground)[ \t]+(?P<b>[^\s}]+).*\}\}"
    r"|-{1,2}8<-{1,2}[ \t]+\"(?P<c>[^\"]+)\".*"
    r"|:::[ \t]+(?P<name>[A-Za-z_]\w*+(?:\.\w++)++)[ \t]*"
)
"""A file that MdInclude, mdBook or pymdownx puts in this place, or an object that mkdocstrings describes here."""
_INDENTED = re.compile(
    r"(?P<sign>!!!|\?\?\?\+?|===[!+]?)[ \t]+(?P<kind>[A-Za-z][\w-]*+)?(?:[ \t]+[\w-]++)*+[ \t]*"
    r"(?:\"(?P<title>.*)\")?[ \t]*"
)
_ATTRIBUTE = re.compile(r"([\w-]++)[ \t]*=[ \t]*(?:\"([^\"]*)\"|'([^']*)'|\{[ \t]*[\"'`]([^\"'`]*)[\"'`][ \t]*\})")
_BRACES = re.compile(r"\{[^{}]*\}")
OPTION = re.compile(r"(?: {4,}|\t)\s*(?:[\w-]+:(?: .*)?|- .*)|[ \t]*:[\w-]+:(?: .*)?")
"""A line after the opening mark that sets an option, as in pymdownx and MyST."""
_TAG_START = re.compile(r"</?[A-Z]")
_CODE_OR_TAG = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,}).*(?:\n(?![ \t]*(?P=fence)).*)*+(?:\n.*)?"
    r"|(?<!`)(?P<ticks>`++)[^`\n]++(?P=ticks)(?!`)"
    r"|<(?P<end>/?)(?P<name>[A-Z]\w*+(?:\.\w++)*+)"
    r"(?P<attributes>(?:[^<>\"'{}/]|/(?!>)|\"[^\"]{0,2000}+\"|'[^']{0,2000}+'|\{(?:[^{}]|\{[^{}]*+\})*+\})*+)(?P<empty>/?)>",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A line or a tag that opens or closes a container."""

    fence: str
    """What the mark at the other end must have too: colons, slashes, or the name of a component."""
    alert: str = ""
    """Kind of alert, or empty."""
    title: str = ""
    """Its title in Markdown. Without one, and if it is no alert, only its content is shown."""
    href: str = ""
    """Where the title leads, or empty."""
    is_open: bool = True
    """Whether a page shows the content initially."""
    is_end: bool = False
    is_empty: bool = False
    """Whether it is a component without content."""

    @property
    def is_indented(self) -> bool:
        """Whether the content is indented, and no other mark closes the container."""
        return self.fence[0] in "!?="


def read_mark(line: str) -> Mark | None:
    """Return the mark that a line consists of, or None."""
    if match := _INCLUSION.fullmatch(line):
        path = match["a"] or match["b"] or match["c"]
        return Mark(fence=":::", title=f"*Part of* `{path}`" if path else f"`{match['name']}`", is_empty=True)
    if match := _FENCED.fullmatch(line):
        return _to_fenced_mark(match)
    match = _INDENTED.fullmatch(line)
    if match is None:
        return None
    sign, kind, title = match["sign"], (match["kind"] or "").lower(), match["title"] or ""
    if bool(kind) == sign.startswith("="):  # tabs have only titles, alerts and folds have kinds
        return None
    if sign.startswith("!"):
        return Mark(fence=sign, alert=kind, title=_drop_kind(title, kind))
    label = ": ".join(filter(None, (kind.capitalize(), title)))
    return Mark(fence=sign, title=label, is_open=sign != "???") if label else None


def _to_fenced_mark(match: re.Match[str]) -> Mark | None:
    fence, kind, rest = match["fence"], (match["kind"] or "").lower(), match["rest"] or ""
    if not kind:
        return Mark(fence=fence, is_end=True)
    attributes, brace, after = rest.partition("}") if match["brace"] else (rest, "", _BRACES.sub("", rest))
    title = _read_attributes(attributes).get("title") or after.strip(" \t|")
    if title.startswith("[") and title.endswith("]"):
        title = title[1:-1]
    return _make_mark(fence, kind, title, is_known=bool(brace), is_open="open" in attributes)


def iter_components(text: str, starts: TagStarts) -> Iterator[re.Match[str]]:
    """Yield the tags of components that are not in code. `starts` holds the tags of the whole text."""
    for match in _CODE_OR_TAG.finditer(text) if _TAG_START.search(text) else ():
        name = match["name"]
        if name is None or name.isupper() or is_html_element(name.lower()):
            continue
        is_known = name.lower() in _KNOWN
        other = "<" if match["end"] else "</"
        if is_known or match["empty"] or f"{other}{name.lower()}" in starts:
            yield match


def to_mark(tag: re.Match[str]) -> Mark:
    """Return the mark that a component's tag is."""
    name = tag["name"].lower()
    if tag["end"]:
        return Mark(fence=name, is_end=True)
    attributes = _read_attributes(tag["attributes"])
    titles = (attributes.get(key, "") for key in ("title", "label", "header", "value"))
    kind = attributes.get("type", "").lower() if name in _GENERAL_ALERTS else name
    mark = _make_mark(name, kind if kind in _ALERTS else name, next(filter(None, titles), ""), is_known=True)
    assert mark is not None
    is_empty, is_open = bool(tag["empty"]), mark.is_open or "open" in tag["attributes"].lower()
    return Mark(
        fence=name,
        alert=mark.alert,
        title=mark.title,
        href=attributes.get("href", "") if mark.title else "",
        is_open=is_open,
        is_empty=is_empty,
    )


def _make_mark(fence: str, kind: str, title: str, *, is_known: bool, is_open: bool = False) -> Mark | None:
    """Return the opening mark of a container, or None if it is neither of a known kind nor surely one."""
    kind = kind.removeprefix("callout-")
    if kind in _ALERTS or kind in _GENERAL_ALERTS:
        kind = "note" if kind in _GENERAL_ALERTS else kind
        return Mark(fence=fence, alert=kind, title=_drop_kind(title, kind))
    if kind in _FOLDS or kind in _PARTS:
        return Mark(fence=fence, title=title or kind.partition("-")[0].capitalize(), is_open=is_open or kind in _PARTS)
    return Mark(fence=fence, title=title if is_known else "") if is_known or kind in _WRAPPERS else None


def _drop_kind(title: str, kind: str) -> str:
    return "" if title.lower() == kind else title


def _read_attributes(text: str) -> dict[str, str]:
    return {key.lower(): double or single or braced for key, double, single, braced in _ATTRIBUTE.findall(text)}
