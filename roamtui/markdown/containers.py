"""Rewrites containers of dialects to alerts: `::: tip`, `!!! note`, and MDX such as `<Card title="Fees">`.

This happens before the text is parsed, and adds and removes no line. With block rules for containers,
markdown-it-py would lose headings.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from roamtui.commonmark import list_heading_rows, parse_blocks
from roamtui.markdown.fences import update_fence
from roamtui.markdown.inline import HTML_ELEMENTS
from roamtui.text import normalise_line_ends

_ALERT_NAMES = """
caution check danger details error hint important info note success tip warning
"""
ALERTS = frozenset(_ALERT_NAMES.split())
"""Containers that are shown even without a title."""
_KIND_NAMES = """
abstract admonition attention bug cite deprecated example fail failure faq help missing question
quote seealso summary tab tldr todo versionadded versionchanged
"""
KINDS = ALERTS.union(_KIND_NAMES.split())
"""Names that make `!!! name` a container. After `!!!`, any other word is text."""
_SIGN = re.compile(r"^[ \t]*(?::::|!!!|\?\?\?|===[+!]? \"|<[A-Z])", re.MULTILINE)
"""A text without any of these signs has no containers."""
_FENCE = re.compile(
    r"(?P<fence>:{3,})[ \t]*(?:\{?[ \t]*\.?(?:callout-)?(?P<kind>[A-Za-z][\w-]*)"
    r"(?=[\s\[{}|]|$)\}?(?P<title>.*))?"
)
_ADMONITION = re.compile(
    r"(?:(?:!!!|\?\?\?\+?) ?(?P<kind>[A-Za-z]+)(?: inline(?: end)?)?(?!\S)|===[+!]? (?=\"))"
    r"[ \t]*(?P<title>.*)"
)
_INDENT = "    "
"""The fence of an admonition: its content is indented this far, and ends where the indent does."""
_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>[A-Z]\w*)(?P<attributes>(?:\s(?:[^<>{}]|\{[^{}]*\})*)?/?)>(?:(?P<text>.+)</(?P=name)>)?"
)
_ATTRIBUTE = re.compile(r"\b(title|label|href)=\{?([\"'`])(.*?)\2")
_BRACES = re.compile(r"\{[^{}]*\}")
_NESTING_MAX = 10
"""Maximum depth of nested containers. The marks of deeper ones stay as they are."""


class _Edge(Struct, frozen=True):
    """A line that opens or closes a container, or is a whole container."""

    fence: str
    """What the opening and the closing line have in common, such as colons."""
    first_line: str
    """The first line of its alert, or empty if only the content is shown."""
    opens: bool
    closes: bool


class _Container(Struct, kw_only=True):
    fence: str
    start: str
    """The start of its rewritten lines: the indent of the outermost container, and signs of quotes."""
    indent: int | None = None
    """Number of spaces before its content, or None before its first line."""

    def strip(self, line: str) -> str:
        """Return a line of the content without its indent."""
        line = line.expandtabs(4) if line.startswith("\t") else line
        width = _measure_indent(line)
        if line.strip() and self.indent is None:
            self.indent = width
        return line[min(width, self.indent or 0) :]


def rewrite_containers(source: str) -> str:
    """Rewrite the containers of a text. If that would hide a heading, return the text as it is."""
    if not _SIGN.search(source):
        return source
    source = normalise_line_ends(source)
    tokens = parse_blocks(source, {})
    headings = set(list_heading_rows(tokens))
    code = {row for token in tokens if token.type == "code_block" and token.map for row in range(*token.map)}
    text = "\n".join(_rewrite(source.split("\n"), headings, code))
    return text if headings.issubset(list_heading_rows(parse_blocks(text, {}))) else source


def _rewrite(lines: Sequence[str], headings: set[int], code: set[int]) -> Iterator[str]:
    stack: list[_Container] = []
    fence = ""
    widths = [_measure_indent(line.expandtabs(len(_INDENT))) if line.strip() else -1 for line in lines]
    for row in range(len(lines) - 2, -1, -1):  # a blank line belongs to what follows it
        widths[row] = widths[row + 1] if widths[row] < 0 else widths[row]
    for row, line in enumerate(lines):
        while stack and stack[-1].fence == _INDENT and widths[row] < (stack[-1].indent or 0):
            stack.pop()
        if row in headings:  # a section must look the same when it is read alone, so no container continues
            stack.clear()
        inner = stack[-1] if stack else None
        text = inner.strip(line) if inner else line
        start = inner.start if inner else ""
        is_in_fence = bool(fence)
        is_indented = _measure_indent(text) >= 4 if inner else row in code
        if is_in_fence or not is_indented:
            fence = update_fence(fence, line)
        may_be_edge = not (is_in_fence or fence or is_indented or row in headings)
        edge = _parse_edge(line.strip()) if may_be_edge else None
        if edge is None or (len(stack) >= _NESTING_MAX and edge.opens):
            yield start + text if text.strip() else start.rstrip()
        elif edge.closes:
            matching = [depth for depth, each in enumerate(stack) if each.fence == edge.fence]
            del stack[matching[-1] if matching else len(stack) :]
            yield stack[-1].start.rstrip() if stack else ""
        else:
            start = start if inner else line[: _measure_indent(line)]
            start += "> " if edge.first_line else ""
            if edge.opens:
                indent = widths[row] + len(_INDENT) if edge.fence == _INDENT else None
                stack.append(_Container(fence=edge.fence, start=start, indent=indent))
            yield (start + edge.first_line).rstrip()


def _parse_edge(line: str) -> _Edge | None:
    """Parse a line that is an edge, or return None for any other line."""
    if match := _ADMONITION.fullmatch(line):
        kind = (match["kind"] or "tab").lower()
        title = match["title"].strip()
        title = title[1:-1] if title[:1] == title[-1:] == '"' else title
        is_known = kind == "tab" or kind in KINDS
        return _Edge(_INDENT, f"[!{kind}] {title}".rstrip(), opens=True, closes=False) if is_known else None
    if match := _FENCE.fullmatch(line):
        name = match["fence"]
        kind = (match["kind"] or "").lower()
        opens = bool(kind)
        closes = not kind
        rest = match["title"] or ""
        text = ""
        attributes = _read_attributes(rest)
        title = attributes.get("title") or _BRACES.sub("", rest).strip("{}[]| \t")
    elif (match := _TAG.fullmatch(line)) and not (
        match["name"].isupper() or match["name"].lower() in HTML_ELEMENTS
    ):
        name = kind = match["name"].lower()
        attributes = _read_attributes(match["attributes"])
        text = match["text"] or ""
        closes = bool(match["end"])
        opens = not (closes or text or match["attributes"].endswith("/"))
        title = attributes.get("title") or attributes.get("label", "")
    else:
        return None
    if not title and kind not in ALERTS:
        return _Edge(name, "", opens=opens, closes=closes) if opens or closes else None
    title = f"[{title}]({attributes['href']})" if title and "href" in attributes else title
    title = ": ".join(filter(None, (title if title.lower() != kind else "", text)))
    return _Edge(name, f"[!{kind}] {title}".rstrip(), opens=opens, closes=closes)


def _read_attributes(text: str) -> dict[str, str]:
    return {key: value for key, _, value in _ATTRIBUTE.findall(text)}


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
