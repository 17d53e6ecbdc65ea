"""The parser of markdown-it-py, with inline rules for formulas and wikilinks.

None of the rules changes where a block begins or ends.
"""

from __future__ import annotations

import re
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline

from roamtui.document.headings import limit_nesting
from roamtui.markdown.formulas import FORMULA, get_formula

_WIKILINK = re.compile(r"!?\[\[(?![\s\[])([^\[\]\n]{1,200})(?<!\s)\]\](?![(\[])")


@lru_cache(maxsize=1)
def get_parser() -> MarkdownIt:
    """Return the parser, which is made once."""
    parser = limit_nesting(MarkdownIt("commonmark").enable(["table", "strikethrough"]))
    parser.block.ruler.at("reference", _read_reference)
    parser.inline.ruler.before("escape", "formula", _read_formula)
    parser.inline.ruler.before("link", "wikilink", _read_wikilink)
    return parser


@lru_cache(maxsize=1)
def get_html_splitter() -> MarkdownIt:
    """Return a parser that only splits HTML into tags and text. It is made once."""
    return MarkdownIt("zero", {"html": True}).enable(["html_inline", "entity"])


def _read_reference(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001
    """Parse a link definition, but keep the definition of a footnote as text."""
    if state.src.startswith("[^", state.bMarks[start_line] + state.tShift[start_line]):
        return False
    return reference(state, start_line, end_line, silent)


def _read_formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse a formula, which markdown-it-py would take for escapes and emphasis."""
    if state.src[state.pos] not in "$\\" or (match := FORMULA.match(state.src, state.pos)) is None:
        return False
    formula = get_formula(match)
    if formula and not silent:
        state.push("formula", "", 0).content = formula
    state.pos = match.end() if formula else state.pos
    return bool(formula)


def _read_wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse a link to a name, such as `[[Name#Part|words]]`, unless a link definition has the text as its label."""
    match = _WIKILINK.match(state.src, state.pos) if state.src[state.pos] in "![" else None
    if match is None or normalizeReference(match[1]) in state.env.get("references", {}):
        return False
    if not silent:
        target, _, words = match[1].partition("|")
        state.push("link_open", "a", 1).attrSet("href", f"[[{target.strip()}]]")
        state.push("text", "", 0).content = words.strip() or target.strip().lstrip("#!?").replace("#", " › ")
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True
