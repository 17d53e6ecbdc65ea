"""Containers that dialects of Markdown add, such as `::: tip`, `!!! note` and the components of MDX.

They are rewritten, before the text is parsed, to alerts and `<details>` elements. With block rules for them,
markdown-it-py would lose headings.
"""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from markdown_it.token import Token

from roamtui.document.text import normalise_line_ends
from roamtui.markdown.fences import update_fence
from roamtui.markdown.inline import TagStarts, is_html_element
from roamtui.markdown.rules import get_parser

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
_OPTION = re.compile(r"(?: {4,}|\t)\s*(?:[\w-]+:(?: .*)?|- .*)|[ \t]*:[\w-]+:(?: .*)?")
"""A line after the opening mark that sets an option, as in pymdownx and MyST."""
_SIGN = re.compile(r"</?[A-Z]|:::|///|!!!|\?\?\?|===")
"""A text without any of these signs has no containers."""
_END_TAG = re.compile(r"[ \t]*</([A-Z]\w*)>[ \t]*")
_CODE_OR_TAG = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,}).*(?:\n(?![ \t]*(?P=fence)).*)*+(?:\n.*)?"
    r"|(?<!`)(?P<ticks>`++)[^`\n]++(?P=ticks)(?!`)"
    r"|<(?P<end>/?)(?P<name>[A-Z]\w*+(?:\.\w++)*+)"
    r"(?P<attributes>(?:[^<>\"'{}/]|/(?!>)|\"[^\"]{0,2000}+\"|'[^']{0,2000}+'|\{(?:[^{}]|\{[^{}]*+\})*+\})*+)(?P<empty>/?)>",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
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


def _read_mark(line: str) -> _Mark | None:
    """Return the mark that a line consists of, or None."""
    if match := _FENCED.fullmatch(line):
        return _to_fenced_mark(match)
    if match := _END_TAG.fullmatch(line):
        return _Mark(fence=match[1].lower(), is_end=True)
    match = _INDENTED.fullmatch(line)
    if match is None:
        return None
    sign, kind, title = match["sign"], (match["kind"] or "").lower(), match["title"] or ""
    if bool(kind) == sign.startswith("="):  # tabs have only titles, alerts and folds have kinds
        return None
    if sign.startswith("!"):
        return _Mark(fence=sign, alert=kind, title=_drop_kind(title, kind))
    label = ": ".join(filter(None, (kind.capitalize(), title)))
    return _Mark(fence=sign, title=label) if label else None


def _to_fenced_mark(match: re.Match[str]) -> _Mark | None:
    fence, kind, rest = match["fence"], (match["kind"] or "").lower(), match["rest"] or ""
    if not kind:
        return _Mark(fence=fence, is_end=True)
    attributes, brace, after = rest.partition("}") if match["brace"] else (rest, "", _BRACES.sub("", rest))
    title = _read_attributes(attributes).get("title") or after.strip(" \t|")
    if title.startswith("[") and title.endswith("]"):
        title = title[1:-1]
    return _make_mark(fence, kind, title, is_known=bool(brace))


def _iter_tags(text: str, starts: TagStarts) -> Iterator[re.Match[str]]:
    """Yield the tags of components that are not in code. `starts` holds the tags of the whole text."""
    for match in _CODE_OR_TAG.finditer(text) if "<" in text else ():
        name = match["name"]
        if name is None or name.isupper() or is_html_element(name.lower()):
            continue
        is_known = name.lower() in _KNOWN
        other = "<" if match["end"] else "</"
        if is_known or match["empty"] or f"{other}{name.lower()}" in starts:
            yield match


def _to_mark(tag: re.Match[str]) -> _Mark:
    """Convert the tag of a component to a mark."""
    name = tag["name"].lower()
    if tag["end"]:
        return _Mark(fence=name, is_end=True)
    attributes = _read_attributes(tag["attributes"])
    titles = (attributes.get(key, "") for key in ("title", "label", "header", "value"))
    kind = attributes.get("type", "").lower() if name in _GENERAL_ALERTS else name
    mark = _make_mark(name, kind if kind in _ALERTS else name, next(filter(None, titles), ""), is_known=True)
    assert mark is not None
    return _Mark(
        fence=name,
        alert=mark.alert,
        title=mark.title,
        href=attributes.get("href", "") if mark.title else "",
        is_empty=bool(tag["empty"]),
    )


def _make_mark(fence: str, kind: str, title: str, *, is_known: bool) -> _Mark | None:
    """Return the opening mark of a container, or None if its kind is unknown and `is_known` is false."""
    kind = kind.removeprefix("callout-")
    if kind in _ALERTS or kind in _GENERAL_ALERTS:
        kind = "note" if kind in _GENERAL_ALERTS else kind
        return _Mark(fence=fence, alert=kind, title=_drop_kind(title, kind))
    if kind in _FOLDS or kind in _PARTS:
        return _Mark(fence=fence, title=title or kind.partition("-")[0].capitalize())
    return _Mark(fence=fence, title=title if is_known else "") if is_known or kind in _WRAPPERS else None


def _drop_kind(title: str, kind: str) -> str:
    return "" if title.lower() == kind else title


def _read_attributes(text: str) -> dict[str, str]:
    return {key.lower(): double or single or braced for key, double, single, braced in _ATTRIBUTE.findall(text)}


_NESTING_MAX = 10
"""Maximum depth of nested containers. The text of deeper ones stays as it is."""

_Line = tuple[str, int]
"""A line of text, and the number of the source line that it comes from."""


def rewrite_containers(source: str) -> tuple[str, list[int]] | None:
    """Rewrite the containers of a text. Return None if it has none, or if a heading would be lost with them.

    The second value has, for each line of the new text, the number of the source line that it comes from.
    """
    if not _SIGN.search(source):
        return None
    before = list(enumerate(normalise_line_ends(source).split("\n")))
    lines = _rewrite([(line, number) for number, line in before], TagStarts(source))
    text, numbers = "\n".join(line for line, _ in lines), [number for _, number in lines]
    found = {numbers[row] for row in _list_headings(_parse_blocks(text))}
    return (text, numbers) if found.issuperset(_list_headings(_parse_blocks(source))) else None


def _parse_blocks(text: str) -> list[Token]:
    tokens: list[Token] = []
    get_parser().block.parse(normalise_line_ends(text), get_parser(), {}, tokens)
    return tokens


def _list_headings(tokens: Sequence[Token]) -> list[int]:
    return [token.map[0] for token in tokens if token.type == "heading_open" and token.level == 0 and token.map]


def _rewrite(lines: list[_Line], starts: TagStarts, depth: int = 0) -> list[_Line]:
    """Rewrite the containers in some lines, which are whole blocks. `starts` holds the tags of the whole text."""
    text = "\n".join(line for line, _ in lines)
    if depth >= _NESTING_MAX or not _SIGN.search(text):
        return lines
    tokens = _parse_blocks(text)
    kept = _find_kept(lines, tokens)
    # A section must look the same when it is read alone, so no container continues past its heading.
    limits = [*(() if depth else _list_headings(tokens)), len(lines)]
    texts = ("paragraph_open", "html_block")
    flat = {
        row for token in tokens if token.map and not token.level and token.type in texts for row in range(*token.map)
    }
    components = {component.first: component for component in _iter_components(text, starts, kept, limits)}
    written: list[_Line] = []
    row = 0
    while row < len(lines):
        line, number = lines[row]
        indent = len(line) - len(line.lstrip())
        mark = None if row in kept else _read_mark(line)
        after, body = row + 1, None
        if component := components.get(row):
            mark, after = component.mark, component.after
            body = [(line, lines[at][1]) for at, line in enumerate(component.body, component.body_row)]
        elif mark and mark.is_indented:
            after = _find_indented_end(lines, row + 1, indent + 4)
            body = [(_strip_indent(line, indent + 4), at) for line, at in lines[row + 1 : after]]
            mark = mark if body else None
        elif mark and not mark.is_end:
            limit = limits[bisect_right(limits, row)]
            end = _find_end(lines, row + 1, limit, mark.fence, kept)
            after = min(end + 1, limit)
            options = takewhile(lambda held: _OPTION.fullmatch(held[0]), lines[row + 1 : end])
            content = lines[row + 1 + len(list(options)) : end]
            body = [(_strip_indent(line, indent), at) for line, at in content]
        if mark is None:
            written.append((line, number))
        else:
            container = _write(mark, _rewrite(body or [], starts, depth + 1), number, lines[after - 1][1])
            outer = "" if row in flat else " " * indent  # of a list item
            written += [(outer + line if line else "", at) for line, at in container]
        if component and component.rest:
            written += _rewrite([(component.rest, lines[after - 1][1])], starts, depth + 1)
        row = after
    return written


def _find_kept(lines: Sequence[_Line], tokens: Sequence[Token]) -> set[int]:
    """Return the rows of code and of headings, which are no marks."""
    types = ("code_block", "heading_open")
    kept = {row for token in tokens if token.map and token.type in types for row in range(*token.map)}
    fence = ""
    # markdown-it-py reads no fence after the tag of a component, and then takes its end for the start of another.
    for row, (line, _) in enumerate(lines):
        opened, fence = fence, update_fence(fence, line)
        if opened or fence:
            kept.add(row)
    return kept


def _strip_indent(line: str, width: int) -> str:
    line = line.expandtabs(4) if line.startswith("\t") else line
    return line[min(width, len(line) - len(line.lstrip())) :]


def _find_indented_end(lines: Sequence[_Line], row: int, indent: int) -> int:
    """Return the row after the last line, from `row` on, that has at least this indentation."""
    end = row
    for at in range(row, len(lines)):
        line = lines[at][0].expandtabs(4)
        if line.strip() and len(line) - len(line.lstrip()) < indent:
            break
        end = at + 1 if line.strip() else end
    return end


def _find_end(lines: Sequence[_Line], row: int, limit: int, fence: str, kept: set[int]) -> int:
    """Return the row of the mark that closes a container whose content starts at `row`, or `limit`."""
    depth = 1
    for at in range(row, limit):
        mark = None if at in kept else _read_mark(lines[at][0])
        if mark and mark.fence == fence:
            depth += -1 if mark.is_end else 1
        if depth == 0:
            return at
    return limit


def _write(mark: _Mark, body: list[_Line], first: int, last: int) -> list[_Line]:
    """Write a container as Markdown. `first` and `last` are the numbers of its first and last source line."""
    before, after = ("", first), ("", last)
    has_text = any(line.strip() for line, _ in body)
    title = f"[{mark.title}]({mark.href})" if mark.href else mark.title
    if mark.alert:
        quoted = [(f"[!{mark.alert}] {title}".rstrip(), first), ("", first), *body]
        return [before, *((f"> {line}".rstrip(), at) for line, at in quoted), after]
    if not title:
        return [before, *body, after]
    if not has_text:
        return [before, (title, first), after]
    head = ("<details><summary>", "", title, "", "</summary>", "")
    return [before, *((line, first) for line in head), *body, after, ("</details>", last), after]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Component:
    """A component of MDX with its content."""

    mark: _Mark
    first: int
    after: int
    """Row after its last one."""
    body: list[str]
    body_row: int
    rest: str
    """Text after its end in the last row."""


def _iter_components(text: str, starts: TagStarts, kept: set[int], limits: Sequence[int]) -> Iterator[_Component]:
    """Yield the outermost components that start a line. One that nothing closes ends before the next heading."""
    rows = [0, *(found.end() for found in re.finditer("\n", text))]
    bounds = [*rows[1:], len(text) + 1]
    outer: re.Match[str] | None = None
    names: list[str] = []
    limit = done = 0

    def find_row(offset: int) -> int:
        return bisect_right(rows, offset) - 1

    def make(opened: re.Match[str], end: int, after: int) -> _Component:
        """Make the component whose content ends at offset `end`, and whose tags end at offset `after`."""
        last = find_row(after)
        head, *others = text[opened.end() : end].split("\n")
        return _Component(
            mark=_to_mark(opened),
            first=find_row(opened.start()),
            after=last + 1,
            body=[head.strip(), *textwrap.dedent("\n".join(others)).split("\n")][: len(others) + 1],
            body_row=find_row(opened.end() - 1),
            rest=text[after : bounds[last] - 1].strip(),
        )

    for tag in [*_iter_tags(text, starts), None]:
        if outer and (tag is None or tag.start() >= limit):
            yield make(outer, limit, limit)
            outer = None
        if tag is None or tag.start() < done:
            continue
        if outer is None:
            row = find_row(tag.start())
            if tag["end"] or row in kept or text[rows[row] : tag.start()].strip():
                continue
            heading = limits[bisect_right(limits, row)]
            limit = rows[heading] - 1 if heading < len(rows) else len(text)
            outer, names = tag, []
        if tag["end"] and tag["name"] in names:
            del names[names.index(tag["name"]) :]
        elif not tag["end"] and not tag["empty"]:
            names.append(tag["name"])
        if not names:
            component = make(outer, tag.end() if outer is tag else tag.start(), tag.end())
            yield component
            outer, done = None, bounds[component.after - 1]
