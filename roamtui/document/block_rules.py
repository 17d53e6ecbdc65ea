"""markdown-it-py's block rules over a text or a piece of one: exact and slow, the judge of the scan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.parser_block import RuleFuncBlockType
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_LEVEL_MAX = 100
"""Containers within each other (a list counts twice, for its items too); each takes three calls of Python's stack."""
_NESTING_MAX = _LEVEL_MAX + 10
"""Past this markdown-it-py drops text in silence: more levels than blocks have, and brackets in a line, which then are
few enough for the stack."""
TOO_DEEP = "too_deep"
"""Key in a parser's environment that says whether a mark was read as text for that reason."""


def parse_blocks(source: str, env: dict[str, object]) -> list[Token]:
    """Return the block tokens of a text without NUL; definitions of reference links go into `env`, and `TOO_DEEP`."""
    if not source:
        return []
    if not source.endswith("\n"):
        source += "\n"  # without it, html_block reads past the end in a quoted list ("> - <?php\n>")
    parser = make_parser()
    tokens: list[Token] = []
    parser.block.parse(source, parser, env, tokens)
    return tokens


def limit_nesting(parser: MarkdownIt) -> MarkdownIt:
    """Have a parser read the marks of quotes and lists as text where they nest too deep for Python's stack."""
    from markdown_it.rules_block import blockquote, list_block  # noqa: PLC0415 - often not needed

    parser.options["maxNesting"] = _NESTING_MAX
    interrupted = ["paragraph", "reference", "blockquote"]
    ruler = parser.block.ruler
    ruler.at("blockquote", partial(_read_container, blockquote), {"alt": [*interrupted, "list"]})
    ruler.at("list", partial(_read_container, list_block), {"alt": interrupted})
    return parser


def _read_container(rule: RuleFuncBlockType, state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - as the parser calls its rules
    if silent or state.level < _LEVEL_MAX:
        return rule(state, start, end, silent)
    is_silent = True
    if rule(state, start, end, is_silent):
        state.env[TOO_DEEP] = True
    return False


def list_headings(tokens: list[Token]) -> Iterator[tuple[int, str, int]]:
    """Yield level, content and line of each heading outside quotes and lists."""
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            yield int(token.tag[1]), tokens[index + 1].content, token.map[0]


def find_starts(source: str) -> list[int]:
    r"""Return the offset of each line that ends at ``\n``, and of the end."""
    return [0, *(match.end() for match in re.finditer("\n", source))]


@lru_cache(maxsize=1)
def make_parser() -> MarkdownIt:
    """Return the parser whose rules these are."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - often not needed

    return limit_nesting(MarkdownIt("commonmark").enable("table"))
