"""Parses Markdown into markdown-it-py's tokens, with our own rules for formulas, links, footnotes and marks.

Our rules never change where a block begins or ends.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import Enum, auto
from functools import cache
from operator import itemgetter

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline, link
from markdown_it.token import Token
from markdown_it.utils import EnvType

from roamtui.commonmark import make_markdown_parser, parse_blocks
from roamtui.markdown.extensions import enable_extensions, is_lossless, may_have_extensions, read_footnote
from roamtui.markdown.formulas import FORMULA, convert_match, get_formula
from roamtui.markdown.inline_source import LabelledMark, join_fragments

_WIKILINK = re.compile(r"!?\[\[(?![\s\[])([^\[\]\n]{1,200})(?<!\s)\]\](?![(\[])")


class Dialect(Enum):
    """The kind of a text, which decides its rules."""

    DOCUMENT = auto()
    ANSWER = auto()
    """A model's answer. It has no footnotes and no definition lists, and most HTML tags in it are words."""


def parse_block_tokens(text: str, env: EnvType, dialect: Dialect) -> list[Token]:
    """Parse a text into the tokens of its blocks, but not the inline texts in them.

    If extensions would hide headings or words of a text, it is parsed without them.
    """
    plain = parse_blocks(text, env, _get_block_parser(dialect))
    if dialect is Dialect.ANSWER or not may_have_extensions(text):
        return plain
    tokens = parse_blocks(text, env, _get_block_parser(dialect, has_extensions=True))
    return tokens if is_lossless(tokens, plain) else plain


@cache
def _get_block_parser(dialect: Dialect, *, has_extensions: bool = False) -> MarkdownIt:
    parser = make_markdown_parser("table")
    parser.block.ruler.at("reference", _read_reference)
    if dialect is Dialect.ANSWER:
        parser.disable("html_block")
    if has_extensions:
        enable_extensions(parser)
    return parser


@cache
def get_inline_parser(dialect: Dialect) -> MarkdownIt:
    """Return the parser of inline texts. It needs the text's `source_map` and `marks` in its environment."""
    parser = make_markdown_parser("strikethrough")
    parser.inline.ruler2.at("fragments_join", join_fragments)
    parser.inline.ruler.at("text", _read_text)
    parser.inline.ruler.before("newline", "mark", _read_mark)
    parser.inline.ruler.before("escape", "formula", _read_formula)
    parser.inline.ruler.before("link", "wikilink", _read_wikilink)
    if dialect is Dialect.DOCUMENT:
        parser.inline.ruler.after("link", "footnote", read_footnote)
    return parser


def _read_reference(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001
    """Parse a link definition, but keep the definition of a footnote as text."""
    if state.src.startswith("[^", state.bMarks[start_line] + state.tShift[start_line]):
        return False
    return reference(state, start_line, end_line, silent)


def _read_text(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse text as the rule of markdown-it-py does, but only up to the next mark."""
    marks: Sequence[LabelledMark] = state.env["marks"]
    ends = [state.posMax]
    if marks:
        offset = state.env["source_map"].locate(state.pos)
        following = bisect_left(marks, offset, key=itemgetter(0))
        ends += (state.pos + start - offset for start, *_ in marks[following : following + 1])
    if (terminator := state.md.inline.terminator_re.search(state.src, state.pos)) is not None:
        ends.append(terminator.start())
    words = state.src[state.pos : min(ends)]
    if not silent:
        state.append_pending(words)
    state.pos += len(words)
    return bool(words)


def _read_mark(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse marks that are not links."""
    marks: Sequence[LabelledMark] = state.env["marks"]
    if not marks:
        return False
    offset = state.env["source_map"].locate(state.pos)
    first = bisect_left(marks, offset, key=itemgetter(0))
    marks = marks[first : bisect_right(marks, offset, key=itemgetter(0))]
    end = state.pos + marks[0][1] - offset if marks else state.posMax + 1
    if end > state.posMax or _is_link(state):
        return False
    for index, (_, _, label) in enumerate(marks if not silent else (), start=first):
        token = state.push("mark", "", 0)
        token.content = label
        token.info = str(index)
        token.meta["end"] = end
    state.pos = end
    return True


def _is_link(state: StateInline) -> bool:
    """Return whether a link begins here whose text looks like a mark."""
    if state.src[state.pos] != "[":
        return False
    start = state.pos
    is_link = link(state, silent=True)
    state.pos = start
    return is_link


def _read_formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse a formula, which could be read as escapes and emphasis. It becomes text, or if unknown, code."""
    if state.src[state.pos] not in "$\\" or (match := FORMULA.match(state.src, state.pos)) is None:
        return False
    formula = get_formula(match)
    if formula and not silent:
        text = convert_match(match)
        token = state.push("text_special" if text else "code_inline", "", 0)
        token.content = text or formula
        token.meta["end"] = match.end()
    state.pos = match.end() if formula else state.pos
    return bool(formula)


def _read_wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse a link such as `[[Name#Part|words]]`, unless a link definition has the text as its label.

    A link does not follow a letter or digit directly, and `[[3]]`, the mark of a note, is not a link.
    """
    match = _WIKILINK.match(state.src, state.pos) if state.src[state.pos] in "![" else None
    if match is None or state.src[state.pos - 1 : state.pos].isalnum():
        return False
    target, _, words = match[1].partition("|")
    is_label = normalizeReference(match[1]) in state.env.get("references", {})
    if is_label or not any(map(str.isalpha, target)):
        return False
    if not silent:
        state.push("link_open", "a", 1).attrSet("href", f"[[{target.strip()}]]")
        token = state.push("text_special", "", 0)
        token.content = words.strip() or target.strip().lstrip("#!?").replace("#", " › ")
        token.meta["end"] = match.end()
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True
