"""The Markdown parser of the reader: CommonMark with tables and struck text, for one chunk at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, MutableMapping
from functools import lru_cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLink
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block import StateBlock, reference

if TYPE_CHECKING:
    from markdown_it.token import Token
from typing_extensions import override

NESTING_MAX = 40
"""Containers inside each other that are laid out; the parser drops in silence what is nested deeper."""
_LABEL_LENGTH_MAX = 200
"""Characters of a link's label that are looked at; CommonMark allows 999."""
_DEFINITION = re.compile(
    r" {0,3}\[(?P<label>(?!\^)[^\[\]\r\n]{1,200})\]:[ \t]*(?:\r\n?|\n)?[ \t]*(?P<href><[^<>\r\n]*>|[^\s<]\S*)",
)
_Definitions = dict[str, dict[str, str]]


class TooDeepError(Exception):
    """A chunk nests deeper than can be laid out."""


class References(MutableMapping[str, dict[str, str]]):
    """Link definitions of a whole document, looked for when a chunk first asks for one that it does not have."""

    def __init__(self, find: Callable[[], _Definitions]) -> None:
        self._find = find
        self._own: _Definitions = {}

    @override
    def __getitem__(self, label: str) -> dict[str, str]:
        return self._own[label] if label in self._own else self._find()[label]

    @override
    def __setitem__(self, label: str, definition: dict[str, str]) -> None:
        self._own[label] = definition

    @override
    def __delitem__(self, label: str) -> None:
        del self._own[label]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter({**self._find(), **self._own})

    @override
    def __len__(self) -> int:
        return len({**self._find(), **self._own})


def parse_markdown(text: str, find_definitions: Callable[[], _Definitions]) -> list[Token]:
    """Return the tokens of a chunk.

    Args:
        text: The chunk.
        find_definitions: Gives the link definitions of the whole document.

    Raises:
        TooDeepError: It nests too deep.
    """
    # Without a line end at its end, an HTML block in a quoted list makes the parser read past the end.
    source = text if text.endswith("\n") else f"{text}\n"
    tokens = _make_parser().parse(source, {"references": References(find_definitions)})
    if any(token.level >= NESTING_MAX - 1 for token in tokens):
        raise TooDeepError
    return tokens


def find_definitions(text: str) -> _Definitions:
    """Return the link definitions of a text by their normalised labels; the first one of a label counts."""
    definitions: _Definitions = {}
    mark = text.find("]:")
    while mark >= 0:
        # Looking backwards from the rare mark is far quicker than looking at the start of each line.
        line_start = max(text.rfind(end, max(0, mark - _LABEL_LENGTH_MAX), mark) for end in "\n\r") + 1
        match = _DEFINITION.match(text, line_start)
        if match and match.end("label") == mark:
            href = match["href"].removeprefix("<").removesuffix(">")
            definitions.setdefault(normalizeReference(match["label"]), {"title": "", "href": normalizeLink(href)})
        mark = text.find("]:", mark + 2)
    return definitions


@lru_cache(maxsize=1)
def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": NESTING_MAX}).enable(["table", "strikethrough"])
    parser.block.ruler.at("reference", _read_reference)
    return parser


def _read_reference(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001
    """Read a link definition, but leave a footnote's text where it stands."""
    if state.src.startswith("[^", state.bMarks[start_line] + state.tShift[start_line]):
        return False
    return reference(state, start_line, end_line, silent)
