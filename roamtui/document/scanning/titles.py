"""Inline source of a heading into its title: text and code of the inline tokens, joined."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

    from roamtui.document.scanning.found import FoundHeadings

_NESTING_MAX = 100
"""Brackets deeper than this inside a title stay text, so that none of ``[[[[[…`` is looked at again and again."""
_PARSED_MAX = 100_000
"""Characters; a longer heading is its own title, since inline parsing is not linear."""

_ACTIVE = re.compile(r"[\\`*_\[<&\n]")
"""What an inline rule of the commonmark preset could act on; ``!`` and ``]`` do nothing without ``[``."""
_CODE = re.compile(r"`([^`]+)`")
_QUIET = re.compile(r"[^\\`*_\[<&\n]*(?:(?:(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])|&(?![#A-Za-z]))[^\\`*_\[<&\n]*)*")
"""Text in which nothing is marked: an underscore between letters or an ampersand before a space does nothing."""
_LINK = re.compile(r"(?<![!\\])\[([^\\`*_\[\]<&\n]*)\]\((?:https?://|[/#.])[^\s()<>\[\]`]*(?: \"[^\"\\`\n]*\")?\)")
"""A link whose text holds no mark and whose address cannot be refused."""
_SPACED_LINE_END = re.compile(r"[ \t]\n|\n[ \t]")
_EMPHASIS = re.compile(
    r"(?<![^ ])(\*\*?|__?)(?=[\0!-~])((?![\\`*_\[<&])[^\n]"
    r"(?:[^\\`*_\[<&\n]*(?![\\`*_\[<&])[\0!-~])?)\1(?![^ ])"
)
"""Emphasis of unmarked text between spaces: its marks can only open and only close."""
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


class TitleReader:
    """Reads titles of one document, each distinct content once."""

    def __init__(self, env: dict[str, Any]) -> None:
        """Make a reader.

        Args:
            env: markdown-it-py's environment, with the document's link definitions under `references`.
        """
        self._env = env
        self._known: dict[str, str] = {}

    def read_all(self, found: FoundHeadings, text: str) -> list[str]:
        """Return the title of each heading found in `text`."""
        titles = found.contents.copy()
        is_active = _ACTIVE.search
        for row in found.unread:
            content = titles[row]
            if not content:
                titles[row] = read_blank_title(text, found.offsets[row], found.levels[row])
            elif is_active(content):
                titles[row] = self._read_marked(content)
            else:
                titles[row] = content.strip(" \t")
        return titles

    def _read_marked(self, content: str) -> str:
        title = self._known.get(content)
        if title is None:
            title = _read_simple(content)
            if title is None:
                title = parse_title(content, self._env)
            self._known[content] = title
        return title


def parse_title(content: str, env: dict[str, Any]) -> str:
    """Return a title by markdown-it-py's inline rules alone."""
    if len(content) > _PARSED_MAX:
        return content.replace("\n", " ")
    parts = []
    for token in _make_parser().parseInline(content, env)[0].children or ():
        match token.type:
            case "text" | "code_inline" | "text_special":
                parts.append(token.content)
            case "softbreak" | "hardbreak":
                parts.append(" ")
            case _:
                pass
    return "".join(parts).strip(" \t")


def _read_simple(content: str) -> str | None:
    """Return a title whose marks are easy to tell, each whole by itself with nothing marked around it, else None.

    A link leaves NUL at both ends of its text, which no content holds: an underscore beside it is not between letters.
    """
    if "``" in content or len(content) > _PARSED_MAX or _SPACED_LINE_END.search(content):
        return None
    parts = _CODE.split(content.replace("\n", " "))
    for index in range(0, len(parts), 2):
        part = _LINK.sub("\0\\1\0", parts[index])
        if len(parts) == 1 and "\\" not in part:
            part = _EMPHASIS.sub(r"\2", part)
        if not _QUIET.fullmatch(_ESCAPE.sub("!", part)):
            return None
        parts[index] = _ESCAPE.sub(r"\1", part).replace("\0", "")
    for index in range(1, len(parts), 2):
        code = parts[index]
        if code[0] == " " == code[-1] and code.strip(" "):
            parts[index] = code[1:-1]
    return "".join(parts).strip(" \t")


def read_blank_title(text: str, offset: int, level: int) -> str:
    """Return what the specification leaves where markdown-it-py strips a title to nothing: spaces and tabs alone go."""
    end = text.find("\n", offset)
    line = text[offset:] if end < 0 else text[offset:end]
    marked = line.strip(" \t")
    if not marked.startswith("#"):
        return ""
    title = marked.removeprefix("#" * level).strip(" \t")
    unclosed = title.rstrip("#")
    return unclosed.rstrip(" \t") if unclosed[-1:] in ("", " ", "\t") else title


@lru_cache(maxsize=1)
def _make_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - often not needed

    return MarkdownIt("commonmark", {"maxNesting": _NESTING_MAX}).enable("table")
