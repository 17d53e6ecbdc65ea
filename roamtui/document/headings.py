"""Finds headings exactly as CommonMark 0.31.2 has them, by markdown-it-py's own block rules.

One deliberate difference: headings inside block quotes and list items are text, not sections.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from roamtui.document.scanning.blocks import parse_blocks
from roamtui.document.scanning.scanner import Headings, HeadingScanner

if TYPE_CHECKING:
    from array import array

    from markdown_it import MarkdownIt


def count_lines(text: str, offsets: Iterable[int]) -> Iterator[int]:
    r"""Return the 0-based line of each offset."""
    offsets = tuple(offsets)
    return accumulate(map(text.count, repeat("\n"), chain((0,), offsets), offsets))


def scan_headings(text: str, start: int = 0) -> Headings:
    r"""Return the headings of a Markdown text with ``\n`` as its only line end and front matter up to `start`."""
    source = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    found = HeadingScanner(source, start).scan()
    env = {"references": _LazyReferences(source, start, found.offsets)}
    known: dict[str, str] = {}
    for row in found.unread:
        content = found.titles[row]
        if not content:
            found.titles[row] = read_blank_title(source, found.offsets[row], found.levels[row])
        elif not _ACTIVE.search(content):
            found.titles[row] = content.strip(" \t")
        else:
            if content not in known:
                simple = _read_simple(content)
                known[content] = parse_title(content, env) if simple is None else simple
            found.titles[row] = known[content]
    return found


_NESTING_MAX = 100
"""Brackets deeper than this inside a title stay text, so that none of ``[[[[[…`` is looked at again and again."""
_PARSED_MAX = 100_000
"""Characters; a longer heading is its own title, since inline parsing is not linear."""

_ACTIVE = re.compile(r"[\\`*_\[<&\n]")
"""What an inline rule of the commonmark preset could act on; ``!`` and ``]`` do nothing without ``[``."""
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"(?<![!\\])\[([^\\`*_\[\]<&\n]*)\]\((?:https?://|[/#.])[^\s()<>\[\]`]*(?: \"[^\"\\`\n]*\")?\)")
"""A link whose text holds no mark and whose address cannot be refused."""
_CONTAINER_MARKS = " \t>*+-0123456789.)"
"""What may stand before a definition on its line."""
_LABEL_END = re.compile(r"\]:")
_NO_WORD = re.compile(r"[\W_]+")


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
    """Return a title in which nothing is marked but code and links, each whole by itself; None for any other."""
    if "``" in content or "\n" in content or len(content) > _PARSED_MAX:
        return None
    parts = _CODE.split(content)
    for index in range(0, len(parts), 2):
        parts[index] = _LINK.sub(r"\1", parts[index])
        if _ACTIVE.search(parts[index]):
            return None
    for index in range(1, len(parts), 2):
        code = parts[index]
        parts[index] = code[1:-1] if code[0] == " " == code[-1] and code.strip(" ") else code
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


class _LazyReferences(Mapping[str, Any]):
    """The definitions of a text by normalised label, as markdown-it-py's environment holds them.

    A heading outside quotes and lists begins a top-level block, so the definitions between two headings are found by
    parsing what stands between them. That is done only for parts in which ``]:`` follows something like the label.
    """

    def __init__(self, text: str, start: int, headings: array[int]) -> None:
        self._text = text
        self._start = start
        self._headings = headings
        self._parts_by_word: dict[str, set[int]] | None = None
        self._references_by_part: dict[int, dict[str, Any]] = {}

    @override
    def __getitem__(self, label: str) -> Any:
        if self._parts_by_word is None:
            self._parts_by_word = self._find_parts()
        for part in sorted(self._parts_by_word.get(_reduce(label), ())):
            if part not in self._references_by_part:
                self._references_by_part[part] = self._parse(part)
            if label in self._references_by_part[part]:
                return self._references_by_part[part][label]
        raise KeyError(label)

    @override
    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError

    @override
    def __len__(self) -> int:
        raise NotImplementedError

    def _find_parts(self) -> dict[str, set[int]]:
        """Return the parts by what is left of each label-like text without marks and spaces.

        So a label over two lines of a quote is found too, with its ``>``.
        """
        from markdown_it.common.utils import normalizeReference  # noqa: PLC0415 - often not needed

        text = self._text
        parts = defaultdict(set)
        begin, looked = -1, self._start
        for found in _LABEL_END.finditer(text, self._start):
            end = found.start()
            opening = text.rfind("[", looked, end)
            while opening >= 0 and _is_escaped(text, opening):
                opening = text.rfind("[", looked, opening)
            begin, looked = max(begin, opening), end
            if _is_escaped(text, end):
                continue
            if begin >= 0 and not text[text.rfind("\n", 0, begin) + 1 : begin].strip(_CONTAINER_MARKS):
                parts[_reduce(normalizeReference(text[begin + 1 : end]))].add(bisect_right(self._headings, begin))
            begin = -1
        return dict(parts)

    def _parse(self, part: int) -> dict[str, Any]:
        begin = self._headings[part - 1] if part else self._start
        end = self._headings[part] if part < len(self._headings) else len(self._text)
        env: dict[str, Any] = {}
        parse_blocks(self._text[begin:end], env)
        references: dict[str, Any] = env.get("references", {})
        return references


def _is_escaped(text: str, offset: int) -> bool:
    first = offset
    while first and text[first - 1] == "\\":
        first -= 1
    return (offset - first) % 2 == 1


def _reduce(label: str) -> str:
    return _NO_WORD.sub("", label)
