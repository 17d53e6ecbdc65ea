"""Convert reStructuredText to Markdown: headings by their adornments, code with its language.

An unknown directive, such as one of Sphinx, becomes its name and its content. No directive reads a file.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.escaping import escape_line_starts, write_code, write_heading
from roamtui.sources.decode import decode_text

_NESTED_MAX = 12
"""Nested indented blocks; deeper ones become plain lines."""
_TAB_LENGTH = 8
_ADORNMENT = re.compile(r"^(?!::$)([!-/:-@\[-`{-~])\1*$")
_SHORT_ADORNMENT = 4
"""From this length, docutils accepts an adornment that is shorter than its title."""
_ITEM = re.compile(r"^(?:(?P<bullet>[-*+•‣⁃])|\(?(?P<number>\d{1,9}|#|[A-Za-z])[.)])(?P<gap>\s+|$)")
_BULLET = re.compile(r"^[-*+•‣⁃]\s")
_EXPLICIT = re.compile(r"^\.\.(?:\s+|$)")
_DIRECTIVE = re.compile(r"^\.\.\s+(?:\|[^|]+\|\s+)?(?P<name>[A-Za-z][\w.+:-]*?)\s?::(?:\s+(?P<argument>.*))?$")
_TARGET = re.compile(r"^\.\.\s+_(?P<name>[^:`]+|`[^`]+`):\s+(?P<address>https?://\S+)$")
_NOTE = re.compile(r"^\.\.\s+(?P<mark>\[[^\]]+\])\s+(?P<text>.*)$")
_OPTION = re.compile(r"^:(?P<name>[\w-]+):(?:\s+(?P<value>.*))?$")
_FIELD = re.compile(r"^:(?P<name>(?:[^:`\n]|:[a-z]+:`[^`]*`){1,120}):(?=\s|$)\s*(?P<value>.*)$")
_TABLE = re.compile(r"^(?:=+(?:\s+=+)+|\+(?:[-=]+\+)+)\s*$")
_CODE = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "literalinclude", "math", "prompt", "doctest"})
_IMAGES = frozenset({"image", "figure"})
_HIDDEN = frozenset({"index", "meta", "highlight", "default-role", "contents", "sectnum", "currentmodule", "role"})
_EMPTY_LINES = re.compile(r"\n{3,}")
_EMPTY = "\0"
"""Replaces an empty line of code, so that empty lines in code are not merged."""
_INLINE = re.compile(
    r"``(?P<literal>[^\n]+?)``(?!`)"
    r"|(?P<role>:[A-Za-z][\w.+:-]{0,60}:)?`(?P<text>[^`\n]+)`(?P<link>__?)?"
    r"|(?<![\w\\])(?P<bare>[A-Za-z0-9](?:[\w.-]{0,60}[A-Za-z0-9])?)_(?![\w_])"
    r"|(?P<special><(?=[A-Za-z/!?])|&(?=#?\w{1,32};)|`)"
)
_TARGETED = re.compile(r"^(?P<shown>.*?)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
_PROSE_ROLES = frozenset({":doc:", ":ref:", ":term:", ":abbr:", ":title:", ":emphasis:", ":strong:", ":numref:"})
_URL = re.compile(r"^(?:https?|mailto):\S+$")


@dataclass(slots=True)
class _Writer:
    styles: list[tuple[str, bool]] = field(default_factory=list)
    """Heading adornments in the order of their levels: the character, and whether there is an overline too."""

    def convert(self, lines: list[str], depth: int = 0) -> list[str]:
        """Convert the unindented lines of a block to lines of Markdown."""
        out: list[str] = []
        position = 0
        while position < len(lines):
            line = lines[position]
            if not line:
                out.append("")
                position += 1
            elif depth >= _NESTED_MAX:
                out.append(escape_line_starts(line.strip()))
                position += 1
            else:
                written, position = self._convert_block(lines, position, depth)
                out.extend(written)
        return out

    def _convert_block(self, lines: list[str], position: int, depth: int) -> tuple[list[str], int]:
        line = lines[position]
        if depth == 0 and (title := _read_title(lines, position)) is not None:
            text, style, line_count = title
            if style not in self.styles:
                self.styles.append(style)
            heading = write_heading(self.styles.index(style) + 1, convert_inline(text))
            return ["", heading, ""], position + line_count
        if line[0] == " ":
            body, end = _read_indented(lines, position)
            return ["", *self.convert(body, depth + 1), ""], end
        if _TABLE.match(line):
            end = position + 1
            # A simple table may have empty lines inside and ends at one after a border; a grid table has none.
            while end < len(lines) and (lines[end] or not (_TABLE.match(lines[end - 1]) or line[0] == "+")):
                end += 1
            return ["", *_write_code(lines[position:end]), ""], end
        if _EXPLICIT.match(line):
            body, end = _read_indented(lines, position + 1)
            return self._convert_explicit(line, body, depth), end
        item = _ITEM.match(line)
        if item is not None and (item["gap"] or item["bullet"] or line[-1:] in ".)"):
            return self._convert_item(lines, position, item, depth)
        return self._convert_paragraph(lines, position, depth)

    def _convert_item(self, lines: list[str], position: int, item: re.Match[str], depth: int) -> tuple[list[str], int]:
        rest, end = _read_indented(lines, position + 1)
        number = item["number"]
        mark = "- " if not number else f"{number if number.isdigit() else 1}. "
        first = lines[position][item.end() :]
        if number and number.isalpha():
            first = f"({number}) {first}"
        body = self.convert([first, *rest] if first else rest, depth + 1)
        while body and not body[-1]:
            body.pop()
        while body and not body[0]:
            body.pop(0)
        if not body:
            return [mark.rstrip()], end
        inner = [" " * len(mark) + line if line else "" for line in body[1:]]
        blank = [""] if end < len(lines) and not lines[end - 1] else []
        return [mark + body[0], *inner, *blank], end

    def _convert_explicit(self, line: str, body: list[str], depth: int) -> list[str]:
        """Convert a directive, a link target or a footnote; anything else is a comment and is dropped."""
        directive = _DIRECTIVE.match(line)
        if directive is not None:
            return ["", *self._convert_directive(directive["name"], directive["argument"] or "", body, depth), ""]
        target = _TARGET.match(line)
        if target is not None:
            return [f"[{target['name'].strip('`')}]: {target['address']}"]
        note = _NOTE.match(line)
        if note is not None:
            text = escape_line_starts(convert_inline(f"\\{note['mark']} {note['text']}"))
            return ["", text, *self.convert(body, depth + 1)]
        return [""]

    def _convert_directive(self, name: str, argument: str, body: list[str], depth: int) -> list[str]:
        plain = name.rpartition(":")[2].lower()
        if plain in _HIDDEN:
            return []
        options: dict[str, str] = {}
        while body and (option := _OPTION.match(body[0])) is not None:
            options[option["name"]] = option["value"] or ""
            body = body[1:]
        if plain in _CODE:
            language = argument.split(maxsplit=1)[0] if argument and plain not in {"math", "literalinclude"} else ""
            return _write_code(body or [argument], language if language.isprintable() and "`" not in language else "")
        if plain in _IMAGES:
            image = f"![{options.get('alt', '')}]({argument.replace(' ', '%20')})"
            return [image, "", *self.convert(body, depth + 1)]
        label = escape_line_starts(f"**{name}** {convert_inline(argument)}".rstrip())
        return [label, "", *self.convert(body, depth + 1)]

    def _convert_paragraph(self, lines: list[str], position: int, depth: int) -> tuple[list[str], int]:
        end = position
        while end < len(lines) and lines[end] and (end == position or lines[end][0] != " "):
            end += 1
        text = lines[position:end]
        body, after = _read_indented(lines, end)
        if text[-1].endswith("::") and body:
            shown = [] if text == ["::"] else [*text[:-1], text[-1][:-1].rstrip(":").rstrip() + ":"]
            return [*_write_lines(shown), "", *_write_code(body), ""], after
        is_term = end < len(lines) and bool(lines[end]) and lines[end][0] == " "
        if is_term and len(text) == 1:
            rst_field = _FIELD.match(text[0])
            if rst_field is not None:
                shown = _write_lines([f"**{rst_field['name']}:** {rst_field['value']}".rstrip()])
            else:
                shown = ["", *_write_lines([f"**{text[0]}**"]), ""]
            return [*shown, *self.convert(body, depth + 1), ""], after
        return _write_lines(text), end


def convert_rst_file(data: bytes, name: str) -> ConvertedText:
    """Convert a reStructuredText file to Markdown."""
    text, notes = decode_text(data, name)
    return ConvertedText(text=convert_rst(text), notes=tuple(note.removeprefix(f"{name}: ") for note in notes))


def convert_rst(text: str) -> str:
    """Convert reStructuredText to Markdown."""
    normal = text.replace("\r\n", "\n").replace("\r", "\n").replace(_EMPTY, "")
    lines = [line.expandtabs(_TAB_LENGTH).rstrip() for line in normal.split("\n")]
    return _EMPTY_LINES.sub("\n\n", "\n".join(_Writer().convert(lines))).replace(_EMPTY, "").strip("\n") + "\n"


def _read_title(lines: list[str], position: int) -> tuple[str, tuple[str, bool], int] | None:
    """Return the title that starts at a line, its adornment style, and its number of lines, or None."""
    line = lines[position]
    below = lines[position + 1] if position + 1 < len(lines) else ""
    if _ADORNMENT.match(line) and below and position + 2 < len(lines):
        closing, title = lines[position + 2], below.strip()
        is_title = closing[:1] == line[0] and _ADORNMENT.match(closing) and _is_as_long(line, title)
        return (title, (line[0], True), 3) if is_title else None
    is_free = (position == 0 or not lines[position - 1]) and line[0] != " " and not _BULLET.match(line)
    if is_free and _ADORNMENT.match(below) and _is_as_long(below, line):
        return line, (below[0], False), 2
    return None


def _is_as_long(adornment: str, title: str) -> bool:
    width = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in title)
    return len(adornment) >= min(width, _SHORT_ADORNMENT) and not (len(adornment) < width and _ADORNMENT.match(title))


def _read_indented(lines: list[str], position: int) -> tuple[list[str], int]:
    """Return the indented lines from a position, without their common indent, and the position after them."""
    end = last = position
    while end < len(lines) and (not lines[end] or lines[end][0] == " "):
        end += 1
        if lines[end - 1]:
            last = end
    body = lines[position:last]
    indent = min((len(line) - len(line.lstrip()) for line in body if line), default=0)
    return [line[indent:] for line in body], max(last, position)


def _write_lines(lines: list[str]) -> list[str]:
    return escape_line_starts(convert_inline("\n".join(lines))).split("\n") if lines else []


def _write_code(lines: list[str], language: str = "") -> list[str]:
    return [line or _EMPTY for line in write_code("\n".join(lines).strip("\n"), language).split("\n")]


def convert_inline(text: str) -> str:
    """Convert literals, roles and links; emphasis is the same in both formats."""

    def convert_match(found: re.Match[str]) -> str:
        if found["special"]:
            return f"\\{found['special']}"
        if found["bare"]:
            return found["bare"]
        if found["literal"]:
            return _write_literal(found["literal"])
        targeted = _TARGETED.match(found["text"])
        shown = (targeted["shown"] or targeted["target"]) if targeted else found["text"]
        if found["link"]:
            is_url = targeted is not None and _URL.match(targeted["target"])
            return f"[{shown}]({targeted['target']})" if targeted and is_url else shown
        return shown if found["role"] in _PROSE_ROLES else _write_literal(shown.removeprefix("~"))

    return _INLINE.sub(convert_match, text)


def _write_literal(text: str) -> str:
    text = text.strip()
    return f"`` {text} ``" if "`" in text else f"`{text}`" if text else ""
