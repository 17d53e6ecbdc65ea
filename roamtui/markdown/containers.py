"""The marks of containers that dialects of Markdown add, such as `::: tip`, `!!! note` and the components of MDX.

With block rules for them, markdown-it-py would lose headings. Marks are therefore searched for in the parsed text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from markdown_it.token import Token

from roamtui.document.text import normalise_line_ends
from roamtui.markdown.inline import TagStarts, is_html_element

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


_COMPONENT_LINES = 50
"""Number of lines that are first searched for the end of a component. If it is not there, more lines are searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A line or a tag that opens or closes a container."""

    fence: str
    """What both marks of a container have in common: colons, slashes, or the name of a component."""
    alert: str = ""
    """Kind of alert, or empty."""
    title: str = ""
    """Its title in Markdown. If a container has no title and is not an alert, only its content is shown."""
    href: str = ""
    """Where the title leads, or empty."""
    is_end: bool = False
    is_empty: bool = False
    """Whether it is a component without content."""

    @property
    def is_indented(self) -> bool:
        """Whether the content is indented, and no other mark closes the container."""
        return self.fence[0] in "!?="


def read_mark(line: str) -> Mark | None:
    """Return the mark that a line consists of, or None."""
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
    return Mark(fence=sign, title=label) if label else None


def _to_fenced_mark(match: re.Match[str]) -> Mark | None:
    fence, kind, rest = match["fence"], (match["kind"] or "").lower(), match["rest"] or ""
    if not kind:
        return Mark(fence=fence, is_end=True)
    attributes, brace, after = rest.partition("}") if match["brace"] else (rest, "", _BRACES.sub("", rest))
    title = _read_attributes(attributes).get("title") or after.strip(" \t|")
    if title.startswith("[") and title.endswith("]"):
        title = title[1:-1]
    return _make_mark(fence, kind, title, is_known=bool(brace))


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
    """Convert the tag of a component to a mark."""
    name = tag["name"].lower()
    if tag["end"]:
        return Mark(fence=name, is_end=True)
    attributes = _read_attributes(tag["attributes"])
    titles = (attributes.get(key, "") for key in ("title", "label", "header", "value"))
    kind = attributes.get("type", "").lower() if name in _GENERAL_ALERTS else name
    mark = _make_mark(name, kind if kind in _ALERTS else name, next(filter(None, titles), ""), is_known=True)
    assert mark is not None
    return Mark(
        fence=name,
        alert=mark.alert,
        title=mark.title,
        href=attributes.get("href", "") if mark.title else "",
        is_empty=bool(tag["empty"]),
    )


def _make_mark(fence: str, kind: str, title: str, *, is_known: bool) -> Mark | None:
    """Return the opening mark of a container, or None if its kind is unknown and `is_known` is false."""
    kind = kind.removeprefix("callout-")
    if kind in _ALERTS or kind in _GENERAL_ALERTS:
        kind = "note" if kind in _GENERAL_ALERTS else kind
        return Mark(fence=fence, alert=kind, title=_drop_kind(title, kind))
    if kind in _FOLDS or kind in _PARTS:
        return Mark(fence=fence, title=title or kind.partition("-")[0].capitalize())
    return Mark(fence=fence, title=title if is_known else "") if is_known or kind in _WRAPPERS else None


def _drop_kind(title: str, kind: str) -> str:
    return "" if title.lower() == kind else title


def _read_attributes(text: str) -> dict[str, str]:
    return {key.lower(): double or single or braced for key, double, single, braced in _ATTRIBUTE.findall(text)}


class SectionLines:
    """The lines that tokens were parsed from, and the headings among them. Both are collected when needed."""

    def __init__(self, tokens: Sequence[Token], source: str, base: int) -> None:
        self._tokens, self._source, self._base = tokens, source, base

    @cached_property
    def _lines(self) -> list[str]:
        return normalise_line_ends(self._source).split("\n")

    @cached_property
    def _heading_lines(self) -> list[int]:
        level = self._tokens[0].level
        return [
            token.map[0]
            for token in self._tokens
            if token.type == "heading_open" and token.level == level and token.map
        ]

    def get_text(self, first: int, end: int) -> str:
        """Return the lines from `first` up to `end`."""
        return "\n".join(self._lines[first - self._base : end - self._base])

    def _find_heading(self, first: int) -> int:
        """Return the line of the first heading at or after line `first`, or the line after the last one."""
        headings = self._heading_lines
        after = bisect_left(headings, first)
        return headings[after] if after < len(headings) else self._base + len(self._lines)

    def find_component_end(self, first: int, starts: TagStarts) -> int:
        """Return the line after the component that starts in line `first`. It ends before the next heading."""
        limit = self._find_heading(first)
        count = _COMPONENT_LINES
        while True:
            end = min(first + count, limit)
            text = self.get_text(first, end)
            names: list[str] = []
            for tag in iter_components(text, starts):
                if tag["end"] and tag["name"] in names:
                    del names[names.index(tag["name"]) :]
                elif not tag["end"] and not tag["empty"]:
                    names.append(tag["name"])
                if not names:
                    return first + text.count("\n", 0, tag.end()) + 1
            if end == limit:
                return limit
            count *= 4


def find_next_block(tokens: Sequence[Token], index: int, end: int) -> tuple[int, int]:
    """Return the index of the first token after the blocks that start before line `end`, and the line after them."""
    end = max(end, (tokens[index].map or (0, 0))[1])
    after = index + 1
    while after < len(tokens):
        span = tokens[after].map
        if tokens[after].level == tokens[index].level and span:
            if span[0] >= end:
                break
            end = max(end, span[1])
        after += 1
    return after, end
