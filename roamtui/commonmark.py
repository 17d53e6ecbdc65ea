"""Parse CommonMark 0.31.2 with markdown-it-py, with a limit on how deeply quotes and lists may nest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from roamtui.text import normalise_line_ends

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.parser_block import RuleFuncBlockType
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token
    from markdown_it.utils import EnvType

Definitions = dict[str, dict[str, Any]]
"""Link definitions by normalised label, in the form of markdown-it-py's environment."""
_LEVEL_MAX = 100
"""Maximum depth of nested containers. A list counts twice. Each takes three stack frames."""
_NESTING_MAX = _LEVEL_MAX + 10
"""Depth beyond which markdown-it-py silently drops text. Blocks cannot reach it, and nested brackets in a
line that reach it do not overflow Python's stack."""
_FENCE_OR_HTML = re.compile(r"^ {0,3}(?:```|~~~|<)", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n\n(?=\S)")
"""Blank lines before a line without indent."""
TOO_DEEP = "too_deep"
"""Key in the parser's environment that is set if a list or quote was too deep and became text."""


def parse_blocks(source: str, env: EnvType, parser: MarkdownIt | None = None) -> list[Token]:
    """Parse a text into the tokens of its blocks. `env` gets link definitions and `TOO_DEEP`.

    Without a `parser`, the text is CommonMark with tables.
    """
    if not source:
        return []
    source = source.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if not source.endswith("\n"):
        source += "\n"  # without it, html_block reads past the end in a quoted list ("> - <?php\n>")
    parser = parser or _get_table_parser()
    tokens: list[Token] = []
    parser.block.parse(source, parser, env, tokens)
    return tokens


def parse_link_definitions(text: str, edges: Sequence[int]) -> Definitions:
    """Parse the link definitions of a text, by normalised label. Footnotes are left out.

    `edges` are the offsets at which top-level blocks start, such as headings, and the end. The text between
    two of them can be parsed separately. So can the text between lines without indent that follow a blank
    line, if no fence or HTML block can hold them: such a line ends every other block, or is the next item
    of a list. Text without ``]:`` defines nothing.
    """
    env: EnvType = {}
    for begin, end in pairwise(edges):
        if text.find("]:", begin, end) >= 0:
            source = normalise_line_ends(text[begin:end])
            parts = [source] if _FENCE_OR_HTML.search(source) else _BLANK_LINES.split(source)
            for part in parts:
                if "]:" in part:
                    parse_blocks(part, env)
    definitions: Definitions = env.get("references", {})
    return {label: definitions[label] for label in definitions if not label.startswith("^")}


def list_heading_rows(tokens: Iterable[Token]) -> list[int]:
    """List the first line of each heading outside quotes and lists."""
    headings = (token for token in tokens if token.type == "heading_open" and token.level == 0)
    return [heading.map[0] for heading in headings if heading.map]


def make_markdown_parser(*rules: str) -> MarkdownIt:
    """Make a CommonMark parser with more `rules`. Quotes and lists that nest too deeply become text."""
    from markdown_it import MarkdownIt, rules_block  # noqa: PLC0415 - often not needed

    parser = MarkdownIt("commonmark").enable(rules)
    parser.options["maxNesting"] = _NESTING_MAX
    interrupted = ["paragraph", "reference", "blockquote"]
    ruler = parser.block.ruler
    ruler.at("blockquote", partial(limit_depth, rules_block.blockquote), {"alt": [*interrupted, "list"]})
    ruler.at("list", partial(limit_depth, rules_block.list_block), {"alt": interrupted})
    return parser


def limit_depth(rule: RuleFuncBlockType, state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - as the parser calls its rules
    """Call the rule of a container block, unless containers nest too deeply."""
    if silent or state.level < _LEVEL_MAX:
        return rule(state, start, end, silent)
    is_silent = True
    if rule(state, start, end, is_silent):
        state.env[TOO_DEEP] = True
    return False


@lru_cache(maxsize=1)
def _get_table_parser() -> MarkdownIt:
    return make_markdown_parser("table")
