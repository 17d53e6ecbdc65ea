"""Link definitions, looked for only when a title may need one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from roamtui.document.scanning.blocks import parse_blocks

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator

_CONTAINER_MARKS = " \t>*+-0123456789.)"
"""What may stand before a definition on its line."""
_LABEL_END = re.compile(r"\]:")
_NO_WORD = re.compile(r"[\W_]+")


class LazyReferences(Mapping[str, Any]):
    """The definitions of a text by normalised label, as markdown-it-py's environment holds them.

    A heading outside quotes and lists begins a top-level block, so the definitions between two headings are found by
    parsing what stands between them. That is done only for parts in which ``]:`` follows something like the label.
    """

    def __init__(self, text: str, start: int, headings: array[int]) -> None:
        """Make the definitions of a text.

        Args:
            text: Markdown without NUL.
            start: Where it begins.
            headings: Offset of each heading, rising.
        """
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
